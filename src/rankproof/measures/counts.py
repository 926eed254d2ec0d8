"""Plain counts, summed over queries rather than averaged."""

from __future__ import annotations

import numpy as np

from rankproof.measures.judged import Floats, Judged
from rankproof.measures.registry import measure

_COUNT = (0.0, np.inf)


@measure("NumQ", aliases=("num_q",), aggregate="sum", bounds=(1.0, 1.0), perfect=None, ordered=False)
def n_queries(judged: Judged) -> Floats:
    """How many queries were scored."""
    return np.ones(judged.n_queries)


@measure("NumRet", aliases=("num_ret",), aggregate="sum", bounds=_COUNT, perfect=None, ordered=False)
def n_retrieved(judged: Judged) -> Floats:
    """How many documents were returned."""
    return judged.n_retrieved.astype(np.float64)


@measure("NumRel", aliases=("num_rel",), aggregate="sum", bounds=_COUNT, perfect=None, ordered=False)
def n_relevant(judged: Judged, *, rel: float = 1) -> Floats:
    """How many documents are judged relevant."""
    return judged.relevant(rel).total.astype(np.float64)


@measure("NumRelRet", aliases=("num_rel_ret",), shortcuts={"hits": {}}, aggregate="sum", bounds=_COUNT, perfect=None)
def n_relevant_retrieved(judged: Judged, *, k: int | None = None, rel: float = 1) -> Floats:
    """How many relevant documents were returned (among the first k)."""
    return judged.found(rel, k)


@measure(
    "NumNonrelRet", aliases=("num_nonrel_judged_ret",), aggregate="sum", bounds=_COUNT, perfect=None, ordered=False
)
def n_not_relevant_retrieved(judged: Judged, *, rel: float = 1) -> Floats:
    """How many documents judged non-relevant were returned; negative grades count as unjudged."""
    grade = judged.hits.grade
    return judged.total(judged.hits.query[(grade >= 0) & (grade < rel)])


@measure("Utility", aliases=("utility",), bounds=(-np.inf, np.inf), perfect=None, ordered=False)
def utility(judged: Judged, *, rel: float = 1) -> Floats:
    """Relevant documents returned, less all others returned."""
    found = judged.found(rel)
    return found - (judged.n_retrieved - found)
