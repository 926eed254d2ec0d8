"""Place the judged documents in a dict of dicts, without ever putting the whole of it into columns.

Only the scores of the judged documents are looked up. How many scores are greater is told by one pass over the
values, a batch of queries at a time: in order, as runs usually are, by bisection, else by comparing or sorting.
Ids are looked at only where a tie holds a judged document. The loops run inside C functions, driven by `map`.
"""

from __future__ import annotations

import gc
import math
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice, repeat
from operator import ge, gt, lt
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rankproof.data.run import Run
from rankproof.measures.judged import Floats, Ints
from rankproof.scoring.placement.facts import Order, Placement, Prepared
from rankproof.scoring.placement.table import descending, falls, tie_span

_LIST_BATCH, _ARRAY_BATCH = 8192, 65_536
"""Scores handled at once, so that they stay in the processor's cache."""
_LONG = 64
"""Results from which a ranking is long: worth a step of its own."""
_SMALL = 100_000
"""Results up to which every id is looked at."""

Scores = dict[str, float]


def suits(run: Run) -> bool:
    """Whether the run is a plain dict of dicts with string ids, as far as a glance tells."""
    mapping = run.mapping
    if not isinstance(mapping, dict) or not mapping:
        return False
    rows = mapping.values()
    return set(map(type, mapping)) == {str} and all(issubclass(kind, dict) for kind in set(map(type, rows)))


def place_dicts(prepared: Prepared, run: Run, *, order: Order | None, single: bool) -> Placement | None:
    """Where the judged documents stand; None where the dicts hold something unusual that the checks must look at."""
    mapping: dict[str, Scores] = run.mapping  # type: ignore[assignment]
    with _collector_paused():
        return _Lookup(prepared, mapping, single).place(order)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Millions of short-lived lists would make the garbage collector look through everything again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Lookup:
    def __init__(self, prepared: Prepared, mapping: dict[str, Scores], single: bool) -> None:
        self.prepared, self.mapping, self.single = prepared, mapping, single
        query_ids = prepared.qrels.query_ids
        if len(mapping) == len(query_ids) and list(mapping) == query_ids:
            self.rows: list[Scores] = list(mapping.values())
            self.extra: list[str] = []
            self.extra_rows: list[Scores] = []
        else:
            nothing: Scores = {}
            self.rows = list(map(mapping.get, query_ids, repeat(nothing)))
            number = prepared.number
            self.extra = [query for query, row in mapping.items() if row and query not in number]
            self.extra_rows = [mapping[query] for query in self.extra]
        self.n_extra = len(self.extra)
        self.lengths = np.fromiter(map(len, self.rows), np.int64, len(self.rows))

    def place(self, order: Order | None) -> Placement | None:
        table = self.prepared.qrels.table
        sought = chain.from_iterable(map(repeat, self.rows, table.counts.tolist()))
        fetched = map(dict.get, sought, table.doc_ids, repeat(np.nan))
        try:
            scores = np.fromiter(fetched, np.float64, len(table.doc_ids))
            hit = np.flatnonzero(scores == scores)
            query, score = table.row_query[hit], scores[hit]
            low, high = _single_precision_interval(score) if self.single else (score, score)
            counted = self._count(query, low, high)
            if counted is None or self._odd_ids(hit, table.row_query):
                return None
            above, tied = counted
            place = np.zeros(len(hit), np.int64)
            shared = np.flatnonzero(tied > 1)
            if len(shared) and order is not None:
                self._order_ties(place, shared, _Tied(hit, query, above, tied, low, high), order)
        except (TypeError, ValueError, OverflowError):
            return None
        extra = tuple(self.extra[:20])
        return Placement(hit, above, tied, place, self.lengths, self.lengths > 0, extra, self.n_extra)

    def _odd_ids(self, hit: Ints, row_query: Ints) -> bool:
        """Whether documents have ids that are no strings, so that one may have been missed under another type.

        Where that is much cheaper, only the ids that were missed are tried as integers: the others change nothing.
        """
        missed = np.ones(len(row_query), np.bool_)
        missed[hit] = False
        lacking = np.flatnonzero(np.bincount(row_query[missed], minlength=len(self.rows)))
        rows = self.rows if int(self.lengths.sum()) <= _SMALL else [self.rows[q] for q in lacking.tolist()]
        if sum(map(len, rows)) <= max(_SMALL, 100 * int(missed.sum())):
            try:
                deque(map("".join, rows), 0)
            except TypeError:
                return True
            return False
        doc_ids = self.prepared.qrels.table.doc_ids
        for j, q in zip(np.flatnonzero(missed).tolist(), row_query[missed].tolist(), strict=True):
            if doc_ids[j].isdecimal() and int(doc_ids[j]) in cast(dict[Any, float], self.rows[q]):
                return True
        return False

    def _count(self, query: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints] | None:
        """For each hit, how many scores are greater, and how many are the same; None where a score is not finite."""
        counts = np.bincount(query, minlength=len(self.rows))
        edges = np.concatenate(([0], np.cumsum(counts))).tolist()
        above, tied = np.empty(len(query), np.int64), np.empty(len(query), np.int64)
        if not all(map(_finite, map(_scores, map(dict.values, self.extra_rows)))):
            return None
        in_lists = self._long_and_in_order(len(query))
        n_results = max(1, int(self.lengths.sum()))
        step = max(1, (_LIST_BATCH if in_lists else _ARRAY_BATCH) * len(self.rows) // n_results)
        rank = _rank_in_lists if in_lists else _rank_in_arrays
        for a in range(0, len(self.rows), step):
            b, hits = min(a + step, len(self.rows)), slice(edges[a], edges[min(a + step, len(self.rows))])
            found = rank(self.rows[a:b], self.lengths[a:b], counts[a:b], low[hits], high[hits])
            if found is None:
                return None
            above[hits], tied[hits] = found
        return above, tied

    def _long_and_in_order(self, n_hits: int) -> bool:
        """Whether rankings are long, come best first and have few judged documents: then lists are quicker."""
        if n_hits > 8 * len(self.rows) or int(self.lengths.sum()) < _LONG * len(self.rows):
            return False
        sampled = [list(row.values()) for row in self.rows[:: max(1, len(self.rows) // 8)]]
        return all(all(map(ge, values, islice(values, 1, None))) for values in sampled)

    def _order_ties(self, place: Ints, shared: Ints, hits: _Tied, order: Order) -> None:
        """Fill in the places of the hits that share their score with others."""
        doc_ids = self.prepared.qrels.table.doc_ids
        sharing = np.bincount(hits.query[shared], minlength=len(self.rows)).tolist()
        groups: dict[float, list[str]] = {}
        last = -1
        columns = (shared, hits.query[shared], hits.row[shared], hits.above[shared], hits.tied[shared])
        bounds = (hits.low[shared], hits.high[shared])
        for j, q, row, above, size, low, high in zip(*(c.tolist() for c in (*columns, *bounds)), strict=True):
            if q != last:
                last, groups = q, {}
            doc = doc_ids[row]
            group = groups.get(low)
            if group is None:
                group = _tie(self.rows[q], above, size, low, high)
                if order != "input" and sharing[q] > 2:
                    group.sort()
                groups[low] = group
            if order == "input":
                place[j] = group.index(doc)
            elif sharing[q] > 2:
                before = bisect_left(group, doc)
                place[j] = before if order == "id" else size - 1 - before
            else:
                place[j] = sum(map(gt if order == "id" else lt, repeat(doc), group))


class _Tied(NamedTuple):
    """The hits, in columns."""

    row: Ints
    query: Ints
    above: Ints
    tied: Ints
    low: Floats
    high: Floats


def _scores(values: Iterable[float]) -> Floats:
    """The numbers as an array; unlike NumPy, `array` takes no text for a number."""
    return np.frombuffer(array("d", list(values)), np.float64)


def _finite(scores: Floats) -> bool:
    return bool(np.isfinite(scores).all())


def _rank_in_lists(
    rows: list[Scores], lengths: Ints, counts: Ints, low: Floats, high: Floats
) -> tuple[Ints, Ints] | None:
    """For each hit, how many scores of its row are greater than `high`, and how many lie from `low` to `high`.

    Scores come best first: turned round they are in order, and sorting is merely looking them through.
    """
    values = list(map(list, map(dict.values, rows)))
    # The sum is finite, unless a score is not or they are huge.
    if not math.isfinite(sum(map(sum, values))):
        return None
    deque(map(list.reverse, values), 0)
    deque(map(list.sort, values), 0)
    each = list(chain.from_iterable(map(repeat, values, counts.tolist())))
    at_most = np.fromiter(map(bisect_right, each, high.tolist()), np.int64, len(high))
    below = np.fromiter(map(bisect_left, each, low.tolist()), np.int64, len(low))
    return np.repeat(lengths, counts) - at_most, at_most - below


def _rank_in_arrays(
    rows: list[Scores], lengths: Ints, counts: Ints, low: Floats, high: Floats
) -> tuple[Ints, Ints] | None:
    """The same in arrays, for all hits at once."""
    scores = _scores(chain.from_iterable(map(dict.values, rows)))
    if not _finite(scores):
        return None
    starts = np.concatenate(([0], np.cumsum(lengths)))
    group = np.repeat(np.arange(len(rows)), counts)
    begin, end = starts[group], starts[group + 1]
    if 0 < len(group) <= 2 * len(rows) and not falls(scores, starts):
        return _compare(scores, begin, end - begin, low, high)
    ordered, _ = descending(scores, starts)
    first, last = tie_span(ordered, begin, end, low, high)
    return first - begin, last - first


def _compare(scores: Floats, begin: Ints, size: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints]:
    """Count by comparing each hit with every score of its group: cheaper than sorting where hits are few."""
    if int(size.sum()) >= _LONG * len(size):
        slices = [scores[a : a + n] for a, n in zip(begin.tolist(), size.tolist(), strict=True)]
        above = np.array([np.count_nonzero(one > h) for one, h in zip(slices, high.tolist(), strict=True)], np.int64)
        reached = [np.count_nonzero(one >= h) for one, h in zip(slices, low.tolist(), strict=True)]
        return above, np.array(reached, np.int64) - above
    offset = np.cumsum(size) - size
    each = scores[np.arange(int(size.sum())) + np.repeat(begin - offset, size)]
    above = np.add.reduceat(each > np.repeat(high, size), offset, dtype=np.int64)
    return above, np.add.reduceat(each >= np.repeat(low, size), offset, dtype=np.int64) - above


def _tie(row: Scores, above: int, size: int, low: float, high: float) -> list[str]:
    """The documents whose score lies in [low, high]; in a run in rank order they are the next `size` after `above`."""
    window = list(islice(row.values(), above, above + size))
    if low <= min(window) and max(window) <= high:
        return list(islice(row, above, above + size))
    return [doc for doc, score in row.items() if low <= score <= high]


def _single_precision_interval(score: Floats) -> tuple[Floats, Floats]:
    """For each score, the least and the greatest double that rounds to the same single-precision number."""
    with np.errstate(over="ignore"):
        near = score.astype(np.float32)
    up = np.nextafter(near, np.float32(np.inf)).astype(np.float64)
    down = np.nextafter(near, np.float32(-np.inf)).astype(np.float64)
    middle = near.astype(np.float64)
    high, low = (middle + up) / 2, (middle + down) / 2
    # A tie rounds to the even neighbour: of an odd number the halfway points belong to its neighbours.
    odd: NDArray[np.bool_] = (near.view(np.int32) & 1).astype(np.bool_)
    return np.where(odd, np.nextafter(low, np.inf), low), np.where(odd, np.nextafter(high, -np.inf), high)
