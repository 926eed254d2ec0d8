"""Sakai's Q-measure."""

from __future__ import annotations

import numpy as np

from rankproof.measures.average_precision import running_total
from rankproof.measures.judged import Floats, Judged, share
from rankproof.measures.registry import measure


@measure("Q", aliases=("q-measure", "q_measure", "qmeasure"))
def q_measure(judged: Judged, *, k: int | None = None, beta: float = 1.0, rel: float = 1) -> Floats:
    """Average precision for graded judgments: the blended ratio at the rank of every relevant document.

    Sakai, 2004. At a relevant document of rank r: (relevant so far + beta · gain so far) / (r + beta · the most gain
    possible by r). Divided by the number of relevant documents, at most k.
    """
    hits, best = judged.hits, judged.ideal
    worth = np.where(hits.grade >= rel, hits.grade, 0.0)
    gained = running_total(hits.query, worth, judged.n_queries)
    ideal_gain = running_total(best.query, np.where(best.grade >= rel, best.grade, 0.0), judged.n_queries)
    starts = np.searchsorted(best.query, np.arange(judged.n_queries))
    counts = np.bincount(best.query, minlength=judged.n_queries)
    relevant = judged.relevant(rel)
    chosen = hits.grade >= rel
    at = starts[relevant.query] + np.minimum(relevant.rank, counts[relevant.query]) - 1
    ratio = (relevant.nth + beta * gained[chosen]) / (relevant.rank + beta * ideal_gain[at])
    if k is not None:
        ratio = np.where(relevant.rank <= k, ratio, 0.0)
    whole = relevant.total if k is None else np.minimum(relevant.total, k)
    return share(judged.total(relevant.query, ratio), whole)
