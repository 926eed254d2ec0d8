"""The judgments made ready for look-ups, and what a look-up finds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankproof.data.ids import Ids, Words
from rankproof.data.lookup import RowIndex
from rankproof.data.qrels import Qrels
from rankproof.data.table import name_keys
from rankproof.measures.judged import Floats, Ideal, Ints, running_count

Order = Literal["trec", "id", "input"]
"""How documents of one score follow each other: id descending, id ascending, as given."""


@dataclass(frozen=True)
class Prepared:
    """Judgments, with everything that is needed of them for any run worked out once."""

    qrels: Qrels

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each judged query."""
        return {query: i for i, query in enumerate(self.qrels.query_ids)}

    @cached_property
    def _query_index(self) -> RowIndex:
        return RowIndex(name_keys(self.qrels.table.queries))

    def query_numbers(self, queries: Ids, keys: Words) -> Ints:
        """The number of each of these queries, or -1 where it is not judged."""
        numbers = self._query_index.find(keys)
        known = np.flatnonzero(numbers >= 0)
        same = self.qrels.table.queries.take(numbers[known]).equal(queries.take(known))
        numbers[known[~same]] = -1
        return numbers

    @property
    def n_queries(self) -> int:
        """How many queries are judged."""
        return len(self.qrels.query_ids)

    @cached_property
    def query(self) -> Ints:
        """The query number of each judgment."""
        return self.qrels.table.row_query

    @cached_property
    def ideal(self) -> Ideal:
        """All judgments, best first."""
        grade, query = self.qrels.table.values, self.query
        if len(grade) and (grade == grade[0]).all():
            return Ideal(query, running_count(query), grade)
        top, span = self.max_grade, self.max_grade - float(grade.min()) + 1
        if span * self.n_queries < 2**52 and bool((grade == np.floor(grade)).all()):
            # Query and grade as one whole number: sorting those is quicker than finding an order for both.
            keys = query * span + (top - grade)
            keys.sort()
            return Ideal(query, running_count(query), top - (keys - query * span))
        order = np.lexsort((-grade, query))
        return Ideal(query, running_count(query), grade[order])

    @cached_property
    def max_grade(self) -> float:
        """The highest grade given, at least 0."""
        return float(self.qrels.table.values.max(initial=0.0))

    @cached_property
    def has_relevant(self) -> NDArray[np.bool_]:
        """Which queries have a document of positive grade."""
        positive = self.qrels.table.values > 0
        return np.bincount(self.query[positive], minlength=self.n_queries) > 0


@dataclass(frozen=True)
class Placement:
    """Where each judged document that was retrieved stands; scores and unjudged documents are forgotten.

    Ranks follow by the rule on ties: `above` documents come first for sure, `place` of the `tied` ones by the order.
    """

    row: Ints
    """Which judgment."""
    above: Ints
    """How many documents of the query have a greater score."""
    tied: Ints
    """How many have the same score, itself included."""
    place: Ints
    """How many of the tied ones come before it."""
    n_retrieved: Ints
    """Documents returned for each judged query."""
    in_run: NDArray[np.bool_]
    """Which judged queries the run has."""
    extra: tuple[str, ...]
    """Queries of the run that nobody judged, the first ones."""
    n_extra: int
    tag: str = ""
    """What the run calls itself."""

    @property
    def n_run_queries(self) -> int:
        """How many queries the run has."""
        return int(self.in_run.sum()) + self.n_extra


def f32(scores: Floats) -> Floats:
    """The scores as single precision sees them."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)
