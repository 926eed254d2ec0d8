"""Sakai's Q-measure."""

from __future__ import annotations

import numpy as np

from rankproof.measures.judged import Floats, Judged, ideal_gain_at, running_total, share
from rankproof.measures.registry import measure


@measure("Q", aliases=("q-measure", "q_measure", "qmeasure"))
def q_measure(judged: Judged, *, k: int | None = None, beta: float = 1.0, rel: float = 1) -> Floats:
    """Average precision for graded judgments: the blended ratio at the rank of every relevant document.

    Sakai, 2004. At a relevant document of rank r: (relevant so far + beta · gain so far) / (r + beta · the most gain
    possible by r). Divided by the number of relevant documents, at most k.
    """
    hits = judged.hits
    relevant = judged.relevant(rel)
    chosen = hits.grade >= rel
    gained = running_total(hits.query, np.where(chosen, hits.grade, 0.0), judged.n_queries)[chosen]
    most = ideal_gain_at(judged, relevant.query, relevant.rank, rel)
    ratio = (relevant.nth + beta * gained) / (relevant.rank + beta * most)
    if k is not None:
        ratio = np.where(relevant.rank <= k, ratio, 0.0)
    whole = relevant.total if k is None else np.minimum(relevant.total, k)
    return share(judged.total(relevant.query, ratio), whole)
