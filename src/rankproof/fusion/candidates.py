"""Runs laid over each other, once for all queries: everything that a method of fusion may look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankproof.data.ids import Ids, salted
from rankproof.data.run import Run
from rankproof.data.table import Table
from rankproof.errors import NothingToEvaluate
from rankproof.fusion.order import Floats, Ints, blocks, ranked_rows, running_count


@dataclass(frozen=True)
class Listed:
    """What one run returned, by query and rank."""

    rows: Ints
    """Which candidate."""
    query: Ints
    scores: Floats
    rank: Ints
    counts: Ints
    """How many documents the run returned for each query."""

    @cached_property
    def ends(self) -> Ints:
        """Where the list of each query ends."""
        return np.cumsum(self.counts)

    def first(self, values: Floats) -> Floats:
        """For each row, the value at the head of its list."""
        heads: Floats = values[(self.ends - self.counts)[self.query]]
        return heads

    def last(self, values: Floats) -> Floats:
        """For each row, the value at the foot of its list."""
        feet: Floats = values[self.ends[self.query] - 1]
        return feet

    def total(self, values: Floats) -> Floats:
        """For each row, the sum over its list, added up from the head down."""
        sums = np.bincount(self.query, values, minlength=len(self.counts)).astype(np.float64, copy=False)
        return sums[self.query]


@dataclass(frozen=True)
class Candidates:
    """One row for each document that any of the runs returned for a query.

    Rows stand by query, then by the first run that has the document and its rank there; queries by their id. So
    nothing that is worked out from them depends on the order in which the runs were written down.
    """

    query_ids: list[str]
    starts: Ints
    """Where the rows of each query begin, and the end of the last."""
    docs: Ids
    scores: Floats
    """Rows × runs; NaN where the run does not have the document."""
    ranks: Ints
    """Rows × runs, from 1; 0 where the run does not have the document. Equal scores rank by id, from high to low."""
    n_returned: Ints
    """Queries × runs: how many documents each run returned."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What several fusions of the same candidates need, such as normalised scores."""

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def n_runs(self) -> int:
        """How many runs were laid over each other."""
        return int(self.ranks.shape[1])

    @cached_property
    def n_rows(self) -> Ints:
        """How many documents each query has, whichever run returned them."""
        return np.diff(self.starts)

    @cached_property
    def query(self) -> Ints:
        """The number of the query of each row."""
        return np.repeat(np.arange(len(self.query_ids)), self.n_rows)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Rows × runs: whether the run has the document."""
        return self.ranks > 0

    @cached_property
    def n_present(self) -> Ints:
        """How many runs have each document."""
        n: Ints = self.present.sum(axis=1)
        return n

    def overlap(self) -> float:
        """The share of a query's documents that more than one run returned; the mean over the queries."""
        shared = np.bincount(self.query[self.n_present > 1], minlength=len(self.query_ids))
        return float((shared / self.n_rows).mean())

    def listed(self, run: int) -> Listed:
        """The rows of one run."""
        rows = np.flatnonzero(self.present[:, run])
        query, rank, counts = self.query[rows], self.ranks[rows, run], self.n_returned[:, run]
        place = (np.cumsum(counts) - counts)[query] + rank - 1
        by_rank = np.empty_like(rows)
        by_rank[place] = rows
        return Listed(by_rank, self.query[by_rank], self.scores[by_rank, run], self.ranks[by_rank, run], counts)

    def of_queries(self, query_ids: Sequence[str]) -> Candidates:
        """The candidates of some of the queries."""
        wanted = set(query_ids)
        chosen = np.array([query in wanted for query in self.query_ids], np.bool_)
        rows = np.flatnonzero(chosen[self.query])
        return Candidates(
            [query for query in self.query_ids if query in wanted],
            _edges(self.n_rows[chosen]),
            self.docs.take(rows),
            np.asfortranarray(self.scores[rows]),
            np.asfortranarray(self.ranks[rows]),
            self.n_returned[chosen],
        )


def lay_over(runs: Sequence[Run]) -> Candidates:
    """Find for every document which of the runs have it, with which score and at which rank."""
    tables = [run.table for run in runs]
    query_ids = sorted({query for table in tables for query in _answered(table)})
    if not query_ids:
        raise NothingToEvaluate("The runs hold no results, so there is nothing to fuse.")
    docs = _joined([table.docs for table in tables])
    offsets = _edges(np.array([len(table) for table in tables]))
    number = {query: i for i, query in enumerate(query_ids)}
    sides = [_Side.of(table, int(offset), number) for table, offset in zip(tables, offsets[:-1], strict=True)]
    origin, query = np.empty(len(docs), np.int64), np.empty(len(docs), np.int64)
    n_rows = 0
    edges = _edges(np.sum([side.counts for side in sides], axis=0))
    for begin, end in blocks(edges):
        first, last = np.searchsorted(edges, [begin, end]).tolist()
        united = _united(docs, [side.part(first, last) for side in sides])
        rows = slice(n_rows, n_rows + len(united.origin))
        origin[rows], query[rows] = united.origin, united.query
        for side, place in zip(sides, united.places, strict=True):
            side.place[side.starts[first] : side.starts[last]] = place + n_rows
        n_rows = rows.stop
    return _gathered(query_ids, sides, docs.take(origin[:n_rows]), query[:n_rows])


def _answered(table: Table) -> list[str]:
    """The queries that have a result."""
    return [query for query, n in zip(table.query_ids, table.counts.tolist(), strict=True) if n]


@dataclass(frozen=True)
class _Side:
    """One run while it is being laid over the others, by query and rank."""

    rows: Ints
    """Rows in the ids of all runs."""
    query: Ints
    scores: Floats
    counts: Ints
    """How many documents each query has."""
    place: Ints
    """Among the candidates; filled in as they are found."""

    @classmethod
    def of(cls, table: Table, offset: int, number: Mapping[str, int]) -> _Side:
        """The rows of a table that begin at the offset in the ids of all runs."""
        # A query without results has no number; nor has it a row.
        query = np.array([number.get(query, -1) for query in table.query_ids], np.int64)[table.row_query]
        order = ranked_rows(query, table.values, table.docs)
        counts = np.bincount(query, minlength=len(number))
        return cls(order + offset, query[order], table.values[order], counts, np.empty_like(order))

    @cached_property
    def starts(self) -> Ints:
        """Where the rows of each query begin, and the end of the last."""
        return _edges(self.counts)

    def part(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Rows and queries from one query up to, and without, another."""
        rows = slice(self.starts[first], self.starts[last])
        return self.rows[rows], self.query[rows]


class _United(NamedTuple):
    """The distinct documents of some queries, in the order of candidates."""

    origin: Ints
    """A row in the ids of all runs."""
    query: Ints
    places: list[Ints]
    """For each run, which of the documents its rows are."""


def _united(docs: Ids, parts: Sequence[tuple[Ints, Ints]]) -> _United:
    rows, query = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    home = _first_alike(docs.take(rows), query)
    homes = np.flatnonzero(home == np.arange(len(home)))
    homes = homes[np.argsort(query[homes], kind="stable")]
    place = np.empty_like(home)
    place[homes] = np.arange(len(homes))
    cuts = np.cumsum([len(part) for part, _ in parts])[:-1]
    return _United(rows[homes], query[homes], np.split(place[home], cuts))


def _first_alike(docs: Ids, query: Ints) -> Ints:
    """For each row, the first row with the same document and query."""
    keys = salted(docs.hashes(), query)
    order = np.argsort(keys)
    same = keys[order[1:]] == keys[order[:-1]]
    if not bool(docs.take(order[1:][same]).equal(docs.take(order[:-1][same])).all()):
        # Different documents have the same hash, which happens once in ages: look at the ids themselves.
        seen: dict[tuple[int, str], int] = {}
        pairs = zip(query.tolist(), docs.strings(), strict=True)
        return np.array([seen.setdefault(pair, row) for row, pair in enumerate(pairs)], np.int64)
    heads = np.flatnonzero(np.concatenate(([True], ~same)))
    first = np.empty_like(order)
    first[order] = np.repeat(np.minimum.reduceat(order, heads), np.diff(np.append(heads, len(order))))
    return first


def _gathered(query_ids: list[str], sides: Sequence[_Side], docs: Ids, query: Ints) -> Candidates:
    # Column by column in memory, since a method looks at one run at a time.
    scores = np.full((len(docs), len(sides)), np.nan, order="F")
    ranks = np.zeros((len(docs), len(sides)), np.int64, order="F")
    for i, side in enumerate(sides):
        scores[side.place, i] = side.scores
        ranks[side.place, i] = running_count(side.starts)
    starts = _edges(np.bincount(query, minlength=len(query_ids)))
    return Candidates(query_ids, starts, docs, scores, ranks, np.stack([side.counts for side in sides], axis=1))


def _edges(counts: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(counts)))


def _joined(columns: Sequence[Ids]) -> Ids:
    """The ids of several columns as one."""
    sizes = [len(ids.buffer) for ids in columns]
    shifts = np.cumsum([0, *sizes[:-1]])
    start = [ids.start + shift for ids, shift in zip(columns, shifts, strict=True)]
    end = [ids.end + shift for ids, shift in zip(columns, shifts, strict=True)]
    return Ids(np.concatenate([ids.buffer for ids in columns]), np.concatenate(start), np.concatenate(end))
