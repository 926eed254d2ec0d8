"""Place the judged documents in a dict of dicts, without ever putting the whole of it into columns.

Only the scores of the judged documents are looked up. How many scores are greater is told by one pass over the
values of each query: a list that is already in order is sorted by merely being looked through, and a bisection in it
counts. Everything runs inside C functions of the interpreter, driven by `map`.
"""

from __future__ import annotations

import gc
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from rankproof.data.run import Run
from rankproof.measures.judged import Floats, Ints
from rankproof.scoring.placement.facts import Order, Placement, Prepared

_BATCH = 8192
"""Scores handled at once, so that their lists stay in the processor's cache."""

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
            self.n_extra = 0
        else:
            nothing: Scores = {}
            self.rows = list(map(mapping.get, query_ids, repeat(nothing)))
            number = prepared.number
            self.extra = [query for query, row in mapping.items() if row and query not in number]
            self.n_extra = len(self.extra)

    def place(self, order: Order | None) -> Placement | None:
        table = self.prepared.qrels.table
        n_retrieved = np.fromiter(map(len, self.rows), np.int64, len(self.rows))
        sought = chain.from_iterable(map(repeat, self.rows, table.counts.tolist()))
        try:
            scores = np.fromiter(
                map(dict.get, sought, table.doc_ids, repeat(np.nan)), np.float64, len(table.doc_ids)
            )  # fmt: skip
        except (TypeError, ValueError, OverflowError):
            return None
        hit = np.flatnonzero(scores == scores)
        query, score = table.row_query[hit], scores[hit]
        if not self._sane():
            return None
        low, high = _single_precision_interval(score) if self.single else (score, score)
        at_most, below = self._count(query, low, high)
        n = n_retrieved[query]
        above, tied = n - at_most, at_most - below
        if self._odd_ids(hit, table.row_query):
            return None
        place = np.zeros(len(hit), np.int64)
        shared = np.flatnonzero(tied > 1)
        if len(shared) and order is not None:
            try:
                self._order_ties(place, shared, hit, query, above, tied, low, high, order)
            except TypeError:
                return None
        return Placement(
            hit, above, tied, place, n_retrieved, n_retrieved > 0, tuple(self.extra[:20]), self.n_extra
        )  # fmt: skip

    def _sane(self) -> bool:
        """Whether all scores are finite numbers: their sum is, unless one of them is not or they are huge."""
        try:
            sums = list(map(sum, map(dict.values, self.mapping.values())))
            return bool(np.isfinite(np.array(sums, np.float64)).all())
        except (TypeError, OverflowError, ValueError):
            return False

    def _odd_ids(self, hit: Ints, row_query: Ints) -> bool:
        """Whether a query where a judged document was not found has ids that are no strings.

        Such an id could be the missed document under another type; where all were found it changes nothing.
        """
        found = np.zeros(len(row_query), np.bool_)
        found[hit] = True
        lacking = np.unique(row_query[~found]).tolist()
        try:
            deque(map("".join, map(self.rows.__getitem__, lacking)), 0)
        except TypeError:
            return True
        return False

    def _count(self, query: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints]:
        """For each hit, how many scores of its query are at most `high`, and how many lie below `low`."""
        at_most, below = np.empty(len(query), np.int64), np.empty(len(query), np.int64)
        if not len(query):
            return at_most, below
        first = np.flatnonzero(np.concatenate(([True], query[1:] != query[:-1])))
        queries = query[first].tolist()
        counts = np.diff(np.append(first, len(query))).tolist()
        rows = self.rows if len(queries) == len(self.rows) else [self.rows[q] for q in queries]
        mean_length = max(1, sum(map(len, rows)) // len(rows))
        step = max(1, _BATCH // mean_length)
        highs, lows = high.tolist(), low.tolist()
        edges = [*first.tolist(), len(query)]
        for a in range(0, len(rows), step):
            b = min(a + step, len(rows))
            x, y = edges[a], edges[b]
            values = list(map(list, map(dict.values, rows[a:b])))
            # Runs come best first: turned round they are in order, and sorting is one look.
            deque(map(list.reverse, values), 0)
            deque(map(list.sort, values), 0)
            each: Sequence[list[float]] = values
            if y - x != b - a:
                each = list(chain.from_iterable(map(repeat, values, counts[a:b])))
            at_most[x:y] = np.fromiter(map(bisect_right, each, highs[x:y]), np.int64, y - x)
            below[x:y] = np.fromiter(map(bisect_left, each, lows[x:y]), np.int64, y - x)
        return at_most, below

    def _order_ties(
        self, place: Ints, shared: Ints, hit: Ints, query: Ints, above: Ints, tied: Ints,
        low: Floats, high: Floats, order: Order,
    ) -> None:  # fmt: skip
        """Fill in the places of the hits that share their score with others."""
        doc_ids = self.prepared.qrels.table.doc_ids
        last, members = -1, dict[float, list[str]]()
        for j in shared.tolist():
            q = int(query[j])
            if q != last:
                last, members, row = q, {}, self.rows[q]
                keys, values = list(row), list(row.values())
            lowest, highest, doc = float(low[j]), float(high[j]), doc_ids[int(hit[j])]
            a, size = int(above[j]), int(tied[j])
            group = members.get(lowest)
            if group is None:
                group = _tie(keys, values, a, size, lowest, highest)
                if order != "input":
                    group.sort()
                members[lowest] = group
            if order == "input":
                place[j] = group.index(doc)
            else:
                ahead = bisect_left(group, doc)
                place[j] = ahead if order == "id" else len(group) - 1 - ahead


def _tie(keys: list[str], values: list[float], above: int, size: int, low: float, high: float) -> list[str]:
    """The documents whose score lies in [low, high]; in a run in rank order they are the next `size` after `above`."""
    window = values[above : above + size]
    if low <= min(window) and max(window) <= high:
        return keys[above : above + size]
    return [key for key, value in zip(keys, values, strict=True) if low <= value <= high]


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
