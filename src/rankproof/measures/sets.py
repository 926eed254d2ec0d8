"""Measures of the set returned, whatever its order."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankproof.measures.judged import Floats, Judged, share
from rankproof.measures.precision import f_score
from rankproof.measures.registry import measure


@measure(
    "SetP", aliases=("set_P",), shortcuts={"set_relative_P": {"denominator": "attainable"}}, perfect=None, ordered=False
)
def set_precision(
    judged: Judged, *, rel: float = 1, denominator: Literal["returned", "attainable"] = "returned"
) -> Floats:
    """Share of all documents returned that are relevant; `attainable` divides by at most the relevant ones."""
    whole = judged.n_retrieved
    if denominator == "attainable":
        whole = np.minimum(whole, judged.relevant(rel).total)
    return share(judged.found(rel), whole)


@measure("SetR", aliases=("set_recall",), perfect=None, ordered=False)
def set_recall(judged: Judged, *, rel: float = 1) -> Floats:
    """Share of the relevant documents that were returned at all."""
    return share(judged.found(rel), judged.relevant(rel).total)


@measure("SetF", aliases=("set_F",), perfect=None, ordered=False)
def set_f(judged: Judged, *, beta: float = 1.0, rel: float = 1) -> Floats:
    """Harmonic mean of the precision and the recall of the set returned."""
    return f_score(set_precision.function(judged, rel=rel), set_recall.function(judged, rel=rel), beta)
