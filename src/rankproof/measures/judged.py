"""What every measure may look at: the judged documents of each query, by rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Hits:
    """The judged documents that were retrieved, by query and rank. Unjudged documents are the gaps between ranks."""

    query: Ints
    rank: Ints
    grade: Floats
    above: Ints
    """How many documents of the query have a greater score."""
    tied: Ints
    """How many have the same score, this one included."""

    def take(self, rows: Ints) -> Hits:
        """Some of the hits."""
        return Hits(self.query[rows], self.rank[rows], self.grade[rows], self.above[rows], self.tied[rows])


@dataclass(frozen=True)
class Ideal:
    """All judged documents of each query by descending grade, place counted from 1."""

    query: Ints
    place: Ints
    grade: Floats


@dataclass(frozen=True)
class Relevant:
    """The retrieved documents whose grade reaches a threshold."""

    query: Ints
    rank: Ints
    nth: Ints
    """How many relevant documents stand at this rank or above, this one included."""
    total: Ints
    """How many documents of each query are relevant, retrieved or not."""


@dataclass(frozen=True)
class Judged:
    """Every query's judged documents: all that a measure may look at."""

    hits: Hits
    ideal: Ideal
    n_retrieved: Ints
    max_grade: float = 0.0
    """The highest grade of all judgments, whichever queries are scored; at least 0."""
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.n_retrieved)

    def total(self, query: Ints, weights: Any = None) -> Floats:
        """The sum of the weights (or the number of rows) of each query."""
        return np.bincount(query, weights, minlength=self.n_queries).astype(np.float64, copy=False)

    def relevant(self, rel: float) -> Relevant:
        """The retrieved documents with a grade of at least `rel`."""
        key = ("relevant", rel)
        if key not in self._memo:
            chosen = np.flatnonzero(self.hits.grade >= rel)
            query, rank = self.hits.query[chosen], self.hits.rank[chosen]
            total = np.bincount(self.ideal.query[self.ideal.grade >= rel], minlength=self.n_queries)
            self._memo[key] = Relevant(query, rank, running_count(query), total)
        found: Relevant = self._memo[key]
        return found

    def found(self, rel: float, k: int | None = None) -> Floats:
        """How many relevant documents stand at rank k or above."""
        relevant = self.relevant(rel)
        return self.total(relevant.query if k is None else relevant.query[relevant.rank <= k])

    def cut(self, k: int | None) -> Hits:
        """The hits at rank k or above."""
        if k is None:
            return self.hits
        key = ("cut", k)
        if key not in self._memo:
            chosen = np.flatnonzero(self.hits.rank <= k)
            self._memo[key] = self.hits.take(chosen)
        kept: Hits = self._memo[key]
        return kept

    def condensed(self) -> Judged:
        """The same with the unjudged documents taken out of every ranking."""
        if "condensed" not in self._memo:
            hits = self.hits
            n_judged = np.bincount(hits.query, minlength=self.n_queries)
            ranks = running_count(hits.query)
            # With the unjudged gone a tie holds its judged members only.
            first = np.concatenate(([True], (np.diff(hits.query) != 0) | (np.diff(hits.above) != 0)))[: len(ranks)]
            group = np.cumsum(first) - 1
            above = (ranks - 1)[first][group] if len(ranks) else ranks
            tied = np.bincount(group)[group] if len(ranks) else ranks
            condensed = Hits(hits.query, ranks, hits.grade, above, tied)
            self._memo["condensed"] = Judged(condensed, self.ideal, n_judged, self.max_grade)
        judged: Judged = self._memo["condensed"]
        return judged


def running_count(query: Ints) -> Ints:
    """1, 2, 3 … within each run of equal query numbers."""
    position = np.arange(1, len(query) + 1)
    if not len(query):
        return position
    first = np.flatnonzero(np.concatenate(([True], query[1:] != query[:-1])))
    counted: Ints = position - np.repeat(first, np.diff(np.append(first, len(query))))
    return counted


def share(part: Floats, whole: Any) -> Floats:
    """part / whole, and 0 where the whole is nothing."""
    whole = np.asarray(whole, np.float64)
    shares: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return shares


def running_total(query: Ints, weights: Floats, n_queries: int) -> Floats:
    """The sum of the weights of a query up to and including each row."""
    summed = np.cumsum(weights)
    starts = np.searchsorted(query, np.arange(n_queries))
    before = np.concatenate(([0.0], summed))[starts]
    within: Floats = summed - before[query]
    return within


def ideal_gain_at(judged: Judged, query: Ints, rank: Ints, rel: float) -> Floats:
    """The most gain that the query's judgments allow by the given rank, grades below the threshold being nothing."""
    best = judged.ideal
    gained = running_total(best.query, np.where(best.grade >= rel, best.grade, 0.0), judged.n_queries)
    starts = np.searchsorted(best.query, np.arange(judged.n_queries))
    counts = np.bincount(best.query, minlength=judged.n_queries)
    at: Floats = gained[starts[query] + np.minimum(rank, counts[query]) - 1]
    return at
