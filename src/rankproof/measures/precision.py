"""Precision, F and R-precision."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rankproof.measures.judged import Floats, Ints, Judged, share
from rankproof.measures.registry import measure

Denominator = Literal["k", "returned", "attainable"]


def _denominator(judged: Judged, k: int, rel: float, denominator: Denominator) -> Any:
    if denominator == "returned":
        return np.minimum(k, judged.n_retrieved)
    if denominator == "attainable":
        return np.minimum(k, judged.relevant(rel).total)
    return np.full(judged.n_queries, k)


@measure("P", aliases=("precision",), shortcuts={"relative_P": {"denominator": "attainable"}}, perfect=None)
def precision(judged: Judged, *, k: int, rel: float = 1, denominator: Denominator = "k") -> Floats:
    """Share of the first k documents that are relevant.

    `denominator`: k, even where fewer were returned; `returned`, the number returned up to k; `attainable`, the
    number of relevant documents up to k (trec_eval's relative_P).
    """
    return share(judged.found(rel, k), _denominator(judged, k, rel, denominator))


@precision.expected
def expected_precision(judged: Judged, *, k: int, rel: float = 1, denominator: Denominator = "k") -> Floats:
    """A tie that the cut-off splits counts by the share of it that is inside."""
    return share(expected_found(judged, k, rel), _denominator(judged, k, rel, denominator))


def expected_found(judged: Judged, k: int | None, rel: float) -> Floats:
    """How many relevant documents stand at rank k or above, in the mean over the orders of ties."""
    hits = judged.hits
    inside = np.ones(len(hits.rank)) if k is None else np.clip((k - hits.above) / hits.tied, 0.0, 1.0)
    return judged.total(hits.query, np.where(hits.grade >= rel, inside, 0.0))


@measure("Rprec", aliases=("R-precision", "r_precision", "rprec"), shortcuts={"Rprec_mult": {}}, perfect=None)
def r_precision(judged: Judged, *, rel: float = 1, mult: float = 1.0) -> Floats:
    """Precision at R, the number of relevant documents of the query, or at a multiple of it."""
    relevant = judged.relevant(rel)
    # trec_eval rounds the multiple up by adding 0.9 before it cuts the decimals off.
    depth: Ints = relevant.total if mult == 1 else np.floor(mult * relevant.total + 0.9).astype(np.int64)
    inside = relevant.rank <= depth[relevant.query]
    return share(judged.total(relevant.query[inside]), depth)


def f_score(precision: Floats, recall: Floats, beta: float) -> Floats:
    """The weighted harmonic mean of precision and recall; beta² times as much weight on recall."""
    squared = beta * beta
    return share((1 + squared) * precision * recall, squared * precision + recall)


@measure("F", aliases=("f1",), perfect=None)
def f(judged: Judged, *, k: int, beta: float = 1.0, rel: float = 1) -> Floats:
    """Harmonic mean of precision and recall of the first k documents; `beta` above 1 favours recall."""
    found = judged.found(rel, k)
    return f_score(found / k, share(found, judged.relevant(rel).total), beta)
