"""Scores: one value per measure and query, with what they rest on. Everything later consumes this."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankproof.errors import MissingExtra, UnknownName
from rankproof.measures.judged import Floats
from rankproof.measures.parse import parse_measure
from rankproof.measures.registry import Aggregate, Measure
from rankproof.scoring.rules import Preset

GEOMETRIC_FLOOR = 0.00001
"""What a query counts at least in a geometric mean, as in trec_eval."""

NO_GROUP = "(no group)"


@dataclass(frozen=True)
class Coverage:
    """What a figure rests on: how many queries, and how much of what was returned somebody judged."""

    n_judged_queries: int
    n_run_queries: int
    n_scored: int
    n_missing: int
    n_extra: int
    n_no_relevant: int
    judged_at: Mapping[int, float] = field(default_factory=dict)
    """Cut-off → mean of Judged@k: the share of the documents down to it that are judged."""
    tied_at: Mapping[int, int] = field(default_factory=dict)
    """Cut-off → number of queries where it falls inside a tie that holds a judged document."""
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    no_relevant: tuple[str, ...] = ()
    n_fractional: int = 0
    """Judgments with a grade between 0 and 1, which a threshold of 1 does not count as relevant."""

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "n_judged_queries": self.n_judged_queries,
            "n_run_queries": self.n_run_queries,
            "n_scored": self.n_scored,
            "n_missing": self.n_missing,
            "n_extra": self.n_extra,
            "n_no_relevant": self.n_no_relevant,
            "judged_at": {str(k): v for k, v in self.judged_at.items()},
            "tied_at": {str(k): v for k, v in self.tied_at.items()},
            "missing": list(self.missing),
            "extra": list(self.extra),
            "no_relevant": list(self.no_relevant),
            "n_fractional": self.n_fractional,
        }

    def __str__(self) -> str:
        parts = [f"{self.n_scored:,} of {self.n_judged_queries:,} judged queries scored"]
        if self.n_missing:
            parts.append(f"{self.n_missing:,} missing from the run")
        if self.n_extra:
            parts.append(f"{self.n_extra:,} in the run but not judged")
        if self.n_no_relevant:
            parts.append(f"{self.n_no_relevant:,} without a relevant document")
        parts += [f"judged@{k} {value:.1%}" for k, value in self.judged_at.items()]
        parts += [f"{n:,} cut by a tie at {k}" for k, n in self.tied_at.items() if n]
        return " · ".join(parts)


@dataclass(frozen=True)
class Scores:
    """The values of every measure for every scored query."""

    measures: tuple[Measure, ...]
    query_ids: list[str]
    values: Floats
    """One row per measure, one column per query."""
    find_coverage: Callable[[], Coverage] = field(repr=False, compare=False)
    """Works out the coverage when it is first asked for."""
    preset: Preset
    name: str = "run"
    tag: str = ""
    """What the run calls itself, where its file says so."""
    find_judgments: Callable[[], str] = field(default=str, repr=False, compare=False)
    """Works out the digest of the judgments when it is first asked for."""

    @cached_property
    def coverage(self) -> Coverage:
        """What the figures rest on."""
        return self.find_coverage()

    @cached_property
    def judgments(self) -> str:
        """The digest of the judgments that the run was scored against; empty if it is not known."""
        return self.find_judgments()

    def mean(self) -> dict[str, float]:
        """Canonical name → value over all queries: the mean; of counts the sum, of GMAP the geometric mean."""
        return {str(m): self._over(m.aggregate, row) for m, row in zip(self.measures, self.values, strict=True)}

    def by_query(self) -> dict[str, dict[str, float]]:
        """Query → canonical name → value."""
        names = [str(measure) for measure in self.measures]
        columns = self.values.T.tolist()
        return {query: dict(zip(names, row, strict=True)) for query, row in zip(self.query_ids, columns, strict=True)}

    def by_group(self, groups: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """Group → canonical name → value over its queries; queries without a group come last, under "(no group)"."""
        members: dict[str, list[int]] = {}
        for i, query in enumerate(self.query_ids):
            members.setdefault(groups.get(query, NO_GROUP), []).append(i)
        names = sorted(members, key=lambda name: (name == NO_GROUP, name))
        return {name: self._of(members[name]) for name in names}

    def group_sizes(self, groups: Mapping[str, str]) -> dict[str, int]:
        """Group → how many scored queries it has."""
        sizes: dict[str, int] = {}
        for query in self.query_ids:
            name = groups.get(query, NO_GROUP)
            sizes[name] = sizes.get(name, 0) + 1
        return sizes

    def of(self, measure: str | Measure) -> Floats:
        """The value of each query under one measure."""
        wanted = parse_measure(measure)
        if wanted not in self.measures:
            raise UnknownName("measure among the scores", str(wanted), map(str, self.measures))
        row: Floats = self.values[self.measures.index(wanted)]
        return row

    def only(self, measures: Sequence[Measure]) -> Scores:
        """The same scores under some of the measures, in the order given."""
        return replace(self, measures=tuple(measures), values=np.stack([self.of(measure) for measure in measures]))

    def _of(self, columns: list[int]) -> dict[str, float]:
        chosen = self.values[:, columns]
        return {str(m): self._over(m.aggregate, row) for m, row in zip(self.measures, chosen, strict=True)}

    def _over(self, aggregate: Aggregate, row: Floats) -> float:
        if aggregate == "sum":
            return float(row.sum())
        if aggregate == "geometric":
            return math.exp(float(np.log(np.maximum(row, GEOMETRIC_FLOOR)).mean()))
        decimals = self.preset.rules.round_mean
        mean = float(row.mean())
        return mean if decimals is None else round(mean, decimals)

    def _columns(self) -> dict[str, Any]:
        named = zip(self.measures, self.values, strict=True)
        return {"query_id": self.query_ids, **{str(measure): row for measure, row in named}}

    def to_pandas(self) -> Any:
        """A pandas data frame: one row per query, one column per measure."""
        try:
            import pandas
        except ImportError as exc:
            raise MissingExtra("a pandas frame (pip install pandas)", "columns") from exc
        return pandas.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """A polars data frame: one row per query, one column per measure."""
        try:
            import polars
        except ImportError as exc:
            raise MissingExtra("a polars frame", "columns") from exc
        return polars.DataFrame(self._columns())

    def to_arrow(self) -> Any:
        """An Arrow table: one row per query, one column per measure."""
        try:
            import pyarrow
        except ImportError as exc:
            raise MissingExtra("an Arrow table (pip install pyarrow)", "columns") from exc
        return pyarrow.table(self._columns())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{value:.4f}</td></tr>"
            for name, value in self.mean().items()
        )
        rules = f"{self.preset.name}: {self.preset.rules}"
        return (
            f"<table><caption>{html.escape(self.name)}</caption>{cells}</table>"
            f"<p>{html.escape(str(self.coverage))}<br><small>{html.escape(rules)}</small></p>"
        )

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value:.4f}" for name, value in self.mean().items())
        return f"<Scores of {self.name!r}: {figures}; {self.coverage}>"


def shared_queries(one: Scores, other: Scores) -> tuple[list[str], list[int], list[int]]:
    """The queries that both have, by id, and where each has them: no order of lines in a file decides a draw."""
    here, there = ({query: i for i, query in enumerate(scores.query_ids)} for scores in (one, other))
    shared = sorted(here.keys() & there.keys())
    return shared, [here[query] for query in shared], [there[query] for query in shared]
