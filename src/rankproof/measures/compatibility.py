"""Similarity of the ranking to an ideal one."""

from __future__ import annotations

import numpy as np

from rankproof.errors import UsageError
from rankproof.measures.judged import Floats, Ints, Judged, running_count, share
from rankproof.measures.registry import measure


@measure("Compat", aliases=("compatibility", "compat", "RBO", "rbo"))
def compatibility(judged: Judged, *, p: float = 0.95, k: int = 1000) -> Floats:
    """Rank-biased overlap of the ranking with the ideal ranking nearest to it, as a share of the highest possible.

    Clarke, Vtyurina & Smucker, TOIS 2021. The ideal ranking holds the documents of positive grade, best first, those
    of one grade in the order of the ranking. Both are looked at down to rank k.
    """
    if not 0 < p < 1:
        raise UsageError(f"The patience p of Compat lies between 0 and 1, not {p!r}.")
    depth = np.arange(1, k + 1)
    weight = p ** (depth - 1.0) / depth
    # A document is in the overlap from the deeper of its two ranks on: `from_here[r]` is the weight of r and below.
    from_here = np.concatenate(([0.0], np.cumsum(weight[::-1])[::-1], [0.0]))
    from_here[0] = from_here[1]

    def worth(rank: Ints) -> Floats:
        return from_here[np.minimum(rank, k + 1)]

    best = judged.ideal
    wanted = best.grade > 0
    highest = judged.total(best.query[wanted], worth(best.place[wanted]))
    hits = judged.hits
    found = np.flatnonzero(hits.grade > 0)
    order = found[np.lexsort((hits.rank[found], -hits.grade[found], hits.query[found]))]
    query, grade, rank = hits.query[order], hits.grade[order], hits.rank[order]
    # Place in the ideal ranking: after all judged documents of a higher grade, then by our own order.
    class_of = np.stack([query, -grade.view(np.int64)]) if len(order) else np.zeros((2, 0), np.int64)
    changes = np.concatenate(([True], (np.diff(class_of, axis=1) != 0).any(axis=0)))[: len(order)]
    within = running_count(np.cumsum(changes))
    place = _number_better(judged, query, grade) + within
    return np.minimum(share(judged.total(query, worth(np.maximum(rank, place))), highest), 1.0)


def _number_better(judged: Judged, query: Ints, grade: Floats) -> Ints:
    """For each document, how many judged ones of its query have a higher grade."""
    best = judged.ideal
    levels, code = np.unique(np.concatenate([best.grade, grade]), return_inverse=True)
    span = len(levels) + 1
    # The ideal rows are sorted by query, then by falling grade: so are these keys, rising.
    keys = best.query * span + (len(levels) - code[: len(best.grade)])
    sought = query * span + (len(levels) - code[len(best.grade) :])
    starts = np.searchsorted(best.query, query)
    better: Ints = np.searchsorted(keys, sought) - starts
    return better
