"""Reciprocal rank."""

from __future__ import annotations

import numpy as np

from rankproof.measures.judged import Floats, Judged
from rankproof.measures.registry import measure


@measure("RR", aliases=("MRR", "recip_rank", "reciprocal_rank"))
def reciprocal_rank(judged: Judged, *, k: int | None = None, rel: float = 1) -> Floats:
    """One over the rank of the first relevant document; 0 if there is none (among the first k)."""
    relevant = judged.relevant(rel)
    first = relevant.nth == 1
    if k is not None:
        first &= relevant.rank <= k
    values = np.zeros(judged.n_queries)
    values[relevant.query[first]] = 1.0 / relevant.rank[first]
    return values


@reciprocal_rank.expected
def expected_reciprocal_rank(judged: Judged, *, k: int | None = None, rel: float = 1) -> Floats:
    """The mean over where the first of m relevant documents falls in the first tie that has any.

    It stands at place x of t with probability C(t − x, m − 1) / C(t, m), built up here from one place to the next.
    """
    hits = judged.hits
    values = np.zeros(judged.n_queries)
    relevant = hits.grade >= rel
    query, above, tied = hits.query[relevant], hits.above[relevant], hits.tied[relevant]
    if not len(query):
        return values
    first_above = np.full(judged.n_queries, np.iinfo(np.int64).max)
    np.minimum.at(first_above, query, above)
    in_first = above == first_above[query]
    m = np.bincount(query[in_first], minlength=judged.n_queries)
    size = np.zeros(judged.n_queries, np.int64)
    size[query[in_first]] = tied[in_first]
    for q in np.flatnonzero(m).tolist():
        a, t, n = int(first_above[q]), int(size[q]), int(m[q])
        chance = n / t
        for place in range(1, t - n + 2):
            if k is None or a + place <= k:
                values[q] += chance / (a + place)
            if t - place:
                chance *= (t - place - n + 1) / (t - place)
    return values
