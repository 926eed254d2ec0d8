"""Interpolated precision at levels of recall."""

from __future__ import annotations

import numpy as np

from rankproof.errors import UsageError
from rankproof.measures.judged import Floats, Judged
from rankproof.measures.registry import measure


@measure("IPrec", aliases=("iprec", "iprec_at_recall"), perfect=None)
def interpolated_precision(judged: Judged, *, k: float, rel: float = 1) -> Floats:
    """The highest precision at any rank where recall is at least the given level, written IPrec@0.1.

    As trec_eval counts: the level stands for (level · relevant + 0.9) relevant documents, decimals cut off.
    """
    if not 0 <= k <= 1:
        raise UsageError(f"IPrec is taken at a recall between 0 and 1, not {k!r}.")
    relevant = judged.relevant(rel)
    wanted = np.floor(k * relevant.total + 0.9).astype(np.int64)
    enough = relevant.nth >= wanted[relevant.query]
    precision = relevant.nth[enough] / relevant.rank[enough]
    values = np.zeros(judged.n_queries)
    np.maximum.at(values, relevant.query[enough], precision)
    return values


@measure("IPrec11", aliases=("11pt_avg", "11pt", "iprec_11pt"), perfect=None)
def eleven_points(judged: Judged, *, rel: float = 1) -> Floats:
    """Mean of the interpolated precision at recall 0, 0.1, … 1."""
    levels = [interpolated_precision.function(judged, k=level / 10, rel=rel) for level in range(11)]
    mean: Floats = np.mean(levels, axis=0)
    return mean
