"""Place the judged documents in a dict of dicts, without ever putting the whole of it into columns.

Only the scores of the judged documents are looked up. How many scores are greater is told by one pass over the
values of each query: a list that is already in order is sorted by merely being looked through, and a bisection in it
counts. Everything runs inside C functions of the interpreter, driven by `map`.
"""

from __future__ import annotations

import gc
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice, repeat
from operator import ge, gt, lt
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rankproof.data.run import Run
from rankproof.measures.judged import Floats, Ints
from rankproof.scoring.placement.facts import Order, Placement, Prepared
from rankproof.scoring.placement.table import descending, tie_span

_BATCH = 8192
"""Scores handled at once, so that their lists stay in the processor's cache."""
_SMALL = 100_000
"""Results up to which every id is looked at."""

Scores = dict[str, float]


def suits(run: Run) -> bool:
    """Whether the run is a plain dict of dicts with string ids, as far as a glance tells."""
    mapping = run.mapping
    if type(mapping) is not dict or not mapping:
        return False
    rows = mapping.values()
    return (
        set(map(type, mapping)) == {str}
        and set(map(type, rows)) == {dict}
        and {type(next(iter(row))) for row in rows if row} <= {str}
    )


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
            n_retrieved, at_most, below = counted
            above, tied = n_retrieved[query] - at_most, at_most - below
            place = np.zeros(len(hit), np.int64)
            shared = np.flatnonzero(tied > 1)
            if len(shared) and order is not None:
                self._order_ties(place, shared, _Tied(hit, query, above, tied, low, high), order)
        except (TypeError, ValueError, OverflowError):
            return None
        extra = tuple(self.extra[:20])
        return Placement(hit, above, tied, place, n_retrieved, n_retrieved > 0, extra, self.n_extra)

    def _odd_ids(self, hit: Ints, row_query: Ints) -> bool:
        """Whether documents have ids that are no strings, so that one may have been missed under another type.

        In a big run with few judgments only the ids that were missed are tried as integers: the others change nothing.
        """
        missed = np.ones(len(row_query), np.bool_)
        missed[hit] = False
        n_results = sum(map(len, self.rows))
        if n_results <= max(_SMALL, 32 * int(missed.sum())):
            try:
                deque(map("".join, self.rows), 0)
            except TypeError:
                return True
            return False
        doc_ids = self.prepared.qrels.table.doc_ids
        for j, q in zip(np.flatnonzero(missed).tolist(), row_query[missed].tolist(), strict=True):
            if doc_ids[j].isdecimal() and int(doc_ids[j]) in cast(dict[Any, float], self.rows[q]):
                return True
        return False

    def _count(self, query: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints, Ints] | None:
        """How many scores each query has, and for each hit how many are at most `high`, and how many below `low`.

        None where a score is not finite: the sum of a query's scores is, unless one of them is not or they are huge.
        """
        rows = self.rows
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        counts = np.bincount(query, minlength=len(rows))
        edges = np.concatenate(([0], np.cumsum(counts))).tolist()
        at_most, below = np.empty(len(query), np.int64), np.empty(len(query), np.int64)
        way = self._way(len(query))
        batch = 8 * _BATCH if way is _bisect_arrays else _BATCH
        step = max(1, batch * len(rows) // max(1, int(lengths.sum())))
        sums: list[float] = list(map(sum, map(dict.values, self.extra_rows)))
        for a in range(0, len(rows), step):
            b = min(a + step, len(rows))
            hits = slice(edges[a], edges[b])
            values = list(map(list, map(dict.values, rows[a:b])))
            sums += map(sum, values)
            at_most[hits], below[hits] = way(values, lengths[a:b], counts[a:b], low[hits], high[hits])
        return (lengths, at_most, below) if np.isfinite(np.array(sums, np.float64)).all() else None

    def _way(self, n_hits: int) -> Callable[..., tuple[Ints, Ints]]:
        """How to count: in arrays where hits are many, by comparing where they are few and the scores in disorder."""
        if n_hits > 8 * len(self.rows):
            return _bisect_arrays
        sampled = self.rows[:: max(1, len(self.rows) // 8)]
        falling = all(_falling(list(row.values())) for row in sampled)
        return _bisect if falling or n_hits > 2 * len(self.rows) else _compare

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


def _falling(values: list[float]) -> bool:
    """Whether the scores come best first."""
    return all(map(ge, values, islice(values, 1, None)))


def _bisect(values: list[list[float]], lengths: Ints, counts: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints]:
    """Count in sorted lists. Runs come best first: turned round they are in order, and sorting is one look."""
    deque(map(list.reverse, values), 0)
    deque(map(list.sort, values), 0)
    each = values if (counts == 1).all() else list(chain.from_iterable(map(repeat, values, counts.tolist())))
    at_most = np.fromiter(map(bisect_right, each, high.tolist()), np.int64, len(high))
    return at_most, np.fromiter(map(bisect_left, each, low.tolist()), np.int64, len(low))


def _bisect_arrays(
    values: list[list[float]], lengths: Ints, counts: Ints, low: Floats, high: Floats
) -> tuple[Ints, Ints]:  # fmt: skip
    """Count in sorted arrays, all hits at once."""
    starts = np.concatenate(([0], np.cumsum(lengths)))
    flat = np.fromiter(chain.from_iterable(values), np.float64, int(starts[-1]))
    ordered, _ = descending(flat, starts)
    group = np.repeat(np.arange(len(values)), counts)
    begin, end = starts[group], starts[group + 1]
    first, last = tie_span(ordered, begin, end, low, high)
    return end - first, end - last


def _compare(
    values: list[list[float]], lengths: Ints, counts: Ints, low: Floats, high: Floats
) -> tuple[Ints, Ints]:  # fmt: skip
    """Count by comparing every score with every hit of its query: cheaper than sorting where hits are few."""
    flat = np.fromiter(chain.from_iterable(values), np.float64, int(lengths.sum()))
    group = np.repeat(np.arange(len(values)), counts)
    size = lengths[group]
    if not len(size):
        return size, size
    begin = np.cumsum(size) - size
    first = (np.cumsum(lengths) - lengths)[group]
    each = flat[np.arange(int(size.sum())) + np.repeat(first - begin, size)]
    at_most = np.add.reduceat(each <= np.repeat(high, size), begin, dtype=np.int64)
    return at_most, np.add.reduceat(each < np.repeat(low, size), begin, dtype=np.int64)


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
