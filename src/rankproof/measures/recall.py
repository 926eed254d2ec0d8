"""Recall and success."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankproof.measures.judged import Floats, Judged, share
from rankproof.measures.precision import expected_found
from rankproof.measures.registry import measure


@measure("R", aliases=("recall",), perfect=None)
def recall(judged: Judged, *, k: int, rel: float = 1, of: Literal["all", "any"] = "all") -> Floats:
    """Share of the relevant documents that stand among the first k. No relevant document: 0.

    `of="any"`: 1 as soon as one of them does, which some call the recall of a query with one ideal answer.
    """
    found = judged.found(rel, k)
    if of == "any":
        return (found > 0).astype(np.float64)
    return share(found, judged.relevant(rel).total)


@recall.expected
def expected_recall(judged: Judged, *, k: int, rel: float = 1, of: Literal["all", "any"] = "all") -> Floats:
    """The mean number found, as a share of the relevant documents."""
    if of == "any":
        from rankproof.errors import NotMeasured

        raise NotMeasured("R(of='any') has no exact mean over ties.")
    return share(expected_found(judged, k, rel), judged.relevant(rel).total)


@measure("Success", aliases=("hit", "hit_rate", "hitrate", "Hit"))
def success(judged: Judged, *, k: int, rel: float = 1) -> Floats:
    """1 if a relevant document stands among the first k, else 0."""
    return (judged.found(rel, k) > 0).astype(np.float64)
