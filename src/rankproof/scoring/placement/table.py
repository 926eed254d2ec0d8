"""Place the judged documents in rows that lie in columns: a whole run, or one block of a file."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankproof.data.ids import Ids, Words, salted
from rankproof.data.lookup import RowIndex
from rankproof.measures.judged import Floats, Ints
from rankproof.scoring.placement.facts import Order, Prepared


@dataclass(frozen=True)
class Ranked:
    """Rows grouped by query."""

    starts: Ints
    """Where each group begins, and the end of the last."""
    docs: Ids
    scores: Floats
    index: RowIndex
    """By document and number of the group."""


@dataclass(frozen=True)
class Found:
    """Judged documents in these rows: which judgment, and where."""

    row: Ints
    above: Ints
    tied: Ints
    place: Ints


def place_rows(prepared: Prepared, ranked: Ranked, query_of_group: Ints, order: Order | None) -> Found:
    """Look the judged documents of each group's query up (-1: not judged) and count who stands before them."""
    judged_table = prepared.qrels.table
    groups = np.flatnonzero(query_of_group >= 0)
    queries = query_of_group[groups]
    counts = judged_table.counts[queries]
    group = np.repeat(groups, counts)
    judgment = _ranges(judged_table.starts[queries], counts)
    row = ranked.index.find(salted(judged_table.doc_hashes[judgment], group))
    hit = np.flatnonzero(row >= 0)
    row, judgment, group = row[hit], judgment[hit], group[hit]
    same = ranked.docs.take(row).equal(judged_table.docs.take(judgment))
    if not same.all():
        row, judgment, group = row[same], judgment[same], group[same]
    ordered, ranking = descending(ranked.scores, ranked.starts) if len(row) else (ranked.scores, None)
    return _count(ranked, ordered, ranking, row, judgment, group, order)


def _ranges(start: Ints, count: Ints) -> Ints:
    """start[0], start[0] + 1, … for count[0] numbers, then the same for the next."""
    ends = np.cumsum(count)
    numbers: Ints = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - (ends - count), count)
    return numbers


def falls(scores: Floats, starts: Ints) -> bool:
    """Whether the scores of every group come best first."""
    borders = starts[1:-1]
    rises = scores[1:] > scores[:-1]
    rises[borders[(borders > 0) & (borders < len(scores))] - 1] = False
    return not rises.any()


def descending(scores: Floats, starts: Ints) -> tuple[Floats, Ints | None]:
    """The scores from high to low within each group, and which row each of them belongs to (None: as they stand)."""
    if falls(scores, starts):
        return scores, None
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ranking = np.lexsort((-scores, group))
    return scores[ranking], ranking


def _count(
    ranked: Ranked, ordered: Floats, ranking: Ints | None, row: Ints, judgment: Ints, group: Ints, order: Order | None
) -> Found:
    begin, end = ranked.starts[group], ranked.starts[group + 1]
    score = ranked.scores[row]
    if ranking is None:
        # In order as it stands: only the neighbours can have the same score.
        first, last = row.copy(), row + 1
        unsure = np.flatnonzero(~_stands_alone(ordered, row, begin, end))
    else:
        first, last = np.empty_like(row), np.empty_like(row)
        unsure = np.arange(len(row))
    first[unsure], last[unsure] = tie_span(ordered, begin[unsure], end[unsure], score[unsure], score[unsure])
    above, tied = first - begin, last - first
    place = np.zeros_like(above)
    shared = np.flatnonzero(tied > 1)
    if len(shared) and order is not None:
        place[shared] = _places(ranked, ranking, row[shared], first[shared], tied[shared], order)
    return Found(judgment, above, tied, place)


def _stands_alone(ordered: Floats, row: Ints, begin: Ints, end: Ints) -> NDArray[np.bool_]:
    """Which of the rows have no neighbour of the same score in their group."""
    score = ordered[row]
    like_previous = (row > begin) & (ordered[np.maximum(row - 1, 0)] == score)
    like_next = (row + 1 < end) & (ordered[np.minimum(row + 1, len(ordered) - 1)] == score)
    alone: NDArray[np.bool_] = ~(like_previous | like_next)
    return alone


def tie_span(ordered: Floats, begin: Ints, end: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints]:
    """For each hit, the first and one past the last position in [begin, end) whose score lies in [low, high]."""
    first = _bisect(ordered, begin, end, high, before_equal=True)
    last = first + 1
    shared = np.flatnonzero((last < end) & (ordered[np.minimum(last, len(ordered) - 1)] >= low))
    if len(shared):
        last[shared] = _bisect(ordered, last[shared], end[shared], low[shared], before_equal=False)
    return first, last


def _bisect(ordered: Floats, low: Ints, high: Ints, score: Floats, *, before_equal: bool) -> Ints:
    """For many searches at once: the first position in [low, high) of a falling list that is not before the score."""
    low, high = low.copy(), high.copy()
    while True:
        active = low < high
        if not active.any():
            return low
        middle = np.minimum((low + high) >> 1, len(ordered) - 1)
        value = ordered[middle]
        ahead = active & ((value > score) if before_equal else (value >= score))
        low = np.where(ahead, middle + 1, low)
        high = np.where(active & ~ahead, middle, high)


_PAIRS_AT_ONCE = 1 << 20


def _places(ranked: Ranked, ranking: Ints | None, row: Ints, first: Ints, tied: Ints, order: Order) -> Ints:
    """How many of the rows that share a row's score come before it in the given order."""
    places = np.zeros(len(row), np.int64)
    batch = np.cumsum(tied) // _PAIRS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(row)]
    for a, b in itertools.pairwise(bounds):
        one = np.repeat(np.arange(a, b), tied[a:b])
        position = _ranges(first[a:b], tied[a:b])
        other = position if ranking is None else ranking[position]
        mine = row[one]
        if order == "input":
            before: NDArray[np.bool_] = other < mine
        elif order == "trec":
            before = ranked.docs.take(other).greater(ranked.docs.take(mine))
        else:
            before = ranked.docs.take(mine).greater(ranked.docs.take(other))
        places += np.bincount(one[before], minlength=len(row))
    return places


def row_keys(docs: Ids, starts: Ints) -> Words:
    """A key for every row: its document and the number of its group."""
    return salted(docs.hashes(), np.repeat(np.arange(len(starts) - 1), np.diff(starts)))
