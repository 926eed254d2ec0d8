"""Do measures, judgments and runs agree? Orders of systems, overlap of runs, discriminative power of measures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankproof.data.ids import Ids, salted
from rankproof.data.lookup import RowIndex
from rankproof.data.run import Run
from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.measures.judged import Floats, Ints, running_count
from rankproof.measures.registry import Measure
from rankproof.scoring.alike import check_alike, distinct_names
from rankproof.scoring.scores import Scores
from rankproof.stats.correlation import Shared, kendall_tau, rbo_of_queries, symmetric_tau_ap, tau_ap
from rankproof.stats.distributions import t_quantile
from rankproof.stats.effects import paired_differences
from rankproof.stats.intervals import Interval, mean_interval, standard_deviation
from rankproof.stats.paired import PERMUTATIONS, paired_tests
from rankproof.stats.resampling import Progress

FEW_SYSTEMS = 4
"""With so many systems or fewer, τ says little."""

OVERLAP_CUTOFFS = (1, 5, 10, 100)

_DECIMALS = 12
"""Means are compared to so many: the same values added up in another order differ in the last bits."""

_SHOWN = 3


class Swap(NamedTuple):
    """Two systems that two orders put the other way round."""

    above: str
    """The one that the first order puts above the other."""
    below: str
    first: float
    """How far apart their means are in the first order, above − below: positive."""
    second: float
    """The same in the second order: negative."""


@dataclass(frozen=True)
class Order:
    """The systems under one measure and one set of judgments."""

    measure: Measure
    judgments: str
    means: Mapping[str, float]
    """System → mean, best first; equal means in the order given."""

    @property
    def ranks(self) -> dict[str, int]:
        """System → rank; equal means share the better rank."""
        values = list(self.means.values())
        return {system: 1 + values.index(mean) for system, mean in self.means.items()}


@dataclass(frozen=True)
class Correlation:
    """How far two orders of the same systems agree."""

    first: Order
    second: Order
    tau: float | None
    """Kendall's τ-b; None, undefined, where one order ties all systems."""
    tau_ap: float | None
    """τ_AP: of two measures the mean of both directions, of two sets of judgments with the first as reference."""
    n_pairs: int
    n_tied: int
    """Pairs of systems that one of the orders, or both, cannot tell apart."""
    swaps: tuple[Swap, ...]
    """Pairs that stand the other way round, by the smaller of the two differences, largest first: the top of the list
    is what both orders are most decided about."""


@dataclass(frozen=True)
class Correlations:
    """Orders of systems, and how far they agree."""

    systems: tuple[str, ...]
    orders: tuple[Order, ...]
    between_measures: tuple[Correlation, ...]
    """Every pair of measures, under the first judgments."""
    between_judgments: tuple[Correlation, ...]
    """Every measure, under the first and the other judgments."""
    scores: tuple[Scores, ...] = field(repr=False)
    against: tuple[Scores, ...] = field(repr=False)
    remarks: tuple[str, ...] = ()


def correlate(
    scores: Sequence[Scores],
    against: Sequence[Scores] | None = None,
    *,
    judgments: tuple[str, str] = ("judgments", "other judgments"),
) -> Correlations:
    """Do measures put systems in the same order; and do other judgments, if `against` has scores by them?

    `scores` holds the scores of each system under all measures, `against` those of the same systems by other
    judgments. `judgments` names the two in reports.
    """
    systems = _systems(scores, least=2, what="An order of systems")
    if against is not None and [one.name for one in against] != [one.name for one in scores]:
        raise UsageError("The other judgments have scores of other systems; score the same runs against both.")
    if against is not None and against[0].measures != scores[0].measures:
        raise UsageError("The other judgments have scores under other measures; score the runs under the same.")
    if against is None and len(scores[0].measures) < 2:
        raise UsageError("Name two measures or more, or other judgments to compare with: one order agrees with itself.")
    names = distinct_names(judgments)
    if against is not None:
        check_alike(against)
    orders = _orders(scores, systems, names[0])
    others = () if against is None else _orders(against, systems, names[1])
    return Correlations(
        systems=systems,
        orders=(*orders, *others),
        between_measures=tuple(_correlation(a, b, systems) for a, b in itertools.combinations(orders, 2)),
        between_judgments=tuple(
            _correlation(first, second, systems, first_is_reference=True)
            for first in orders
            for second in others
            if first.measure == second.measure
        ),
        scores=tuple(scores),
        against=tuple(against or ()),
        remarks=_remarks_on_few(len(systems)),
    )


def _remarks_on_few(n: int) -> tuple[str, ...]:
    if n > FEW_SYSTEMS:
        return ()
    return (f"with {n} systems τ says little: two orders drawn by lot are the same 1 time in {math.factorial(n)}",)


def _systems(scores: Sequence[Scores], *, least: int, what: str) -> tuple[str, ...]:
    """A name for each system, no two the same."""
    if len(scores) < least:
        raise UsageError(f"{what} takes {least} runs or more, not {len(scores)}; add the runs of other systems.")
    check_alike(scores)
    return tuple(distinct_names(one.name for one in scores))


def _orders(scores: Sequence[Scores], systems: tuple[str, ...], judgments: str) -> tuple[Order, ...]:
    means = [one.mean() for one in scores]
    found = []
    for measure in scores[0].measures:
        of_system = {
            system: round(mean[str(measure)], _DECIMALS) for system, mean in zip(systems, means, strict=True)
        }  # fmt: skip
        ranked = sorted(of_system.items(), key=lambda item: -item[1])
        found.append(Order(measure, judgments, dict(ranked)))
    return tuple(found)


def _correlation(
    first: Order, second: Order, systems: tuple[str, ...], *, first_is_reference: bool = False
) -> Correlation:
    one, two = ([order.means[system] for system in systems] for order in (first, second))
    swaps, n_tied, n_pairs = [], 0, 0
    for i, j in itertools.combinations(range(len(systems)), 2):
        n_pairs += 1
        if one[i] == one[j] or two[i] == two[j]:
            n_tied += 1
            continue
        above, below = (i, j) if one[i] > one[j] else (j, i)
        if two[above] < two[below]:
            apart = (round(values[above] - values[below], _DECIMALS) for values in (one, two))
            swaps.append(Swap(systems[above], systems[below], *apart))
    swaps.sort(key=lambda swap: (-min(swap.first, -swap.second), swap.above, swap.below))
    of_top = tau_ap if first_is_reference else symmetric_tau_ap
    return Correlation(first, second, kendall_tau(one, two), of_top(one, two), n_pairs, n_tied, tuple(swaps))


@dataclass(frozen=True)
class RunOverlap:
    """How much two runs have in common."""

    first: str
    second: str
    rbo: float
    """The mean over the queries that both runs have."""
    interval: Interval
    minimum: float
    """The mean of what it is at least, whatever follows below."""
    maximum: float
    overlap_at: Mapping[int, float]
    """Cut-off → mean share of the documents down to it that are in common. Of rankings that end above the cut-off, the
    share of the longer."""
    query_ids: tuple[str, ...]
    """The queries that both runs have, by id."""
    by_query: Floats = field(repr=False, compare=False)
    """The rank-biased overlap of each of them."""
    only_first: tuple[str, ...]
    """Queries that the second run does not have; they are in no figure."""
    only_second: tuple[str, ...]

    def least(self, n: int = 10) -> tuple[tuple[str, float], ...]:
        """The queries on which the runs agree least, with their overlap."""
        worst = np.argsort(self.by_query, kind="stable")[:n].tolist()
        return tuple((self.query_ids[i], float(self.by_query[i])) for i in worst)


@dataclass(frozen=True)
class Overlaps:
    """How much every two of some runs have in common."""

    runs: tuple[str, ...]
    p: float
    depth: int
    pairs: tuple[RunOverlap, ...]


def overlap(runs: Iterable[Any], *, p: float = 0.9, depth: int = 100, level: float = 0.95) -> Overlaps:
    """How much every two runs have in common: rank-biased overlap, and the share of documents at a few cut-offs.

    Documents are ranked by score, ties by id, descending in bytes, as trec_eval does; what stands below `depth` is not
    looked at. A query that only one of two runs has enters no figure of theirs and is listed. `level` is that of the
    interval of the mean.
    """
    given = [Run.of(run) for run in runs]
    if len(given) < 2:
        raise UsageError(f"An overlap takes 2 runs or more, not {len(given)}; add another run.")
    if depth < 1:
        raise UsageError(f"The depth is the last rank that is looked at, 1 or more; {depth} is none.")
    # A run from a file goes by the name of the file, without its folder.
    names = tuple(distinct_names(run.name or Path(run.source).name for run in given))
    queries = sorted({query for run in given for query in run.query_ids})
    number = {query: i for i, query in enumerate(queries)}
    rankings = [_Ranking.of(name, run, number, depth) for name, run in zip(names, given, strict=True)]
    pairs = [_run_overlap(a, b, queries, p, depth, level) for a, b in itertools.combinations(rankings, 2)]
    return Overlaps(names, p, depth, tuple(pairs))


class _Ranking(NamedTuple):
    """A run down to some depth: rows by number of the query, then by rank."""

    name: str
    query: Ints
    rank: Ints
    docs: Ids
    counts: Ints
    """How many rows each query has."""

    @classmethod
    def of(cls, name: str, run: Run, number: Mapping[str, int], depth: int) -> _Ranking:
        table = run.table
        query_of_group = np.array([number[query] for query in table.query_ids], np.int64)
        row_query = query_of_group[table.row_query] if len(table) else table.row_query
        rows = np.lexsort((-table.values, row_query))
        rows = _ties_by_id(rows, row_query[rows], table.values[rows], table.docs)
        rank = running_count(row_query[rows])
        kept = rank <= depth
        rows = rows[kept]
        counts = np.bincount(row_query[rows], minlength=len(number))
        return cls(name, row_query[rows], rank[kept], table.docs.take(rows), counts)


def _ties_by_id(rows: Ints, query: Ints, score: Floats, docs: Ids) -> Ints:
    """Rows in order of score, those of equal score by id, descending in bytes."""
    like_next = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    if not like_next.any():
        return rows
    begins = np.concatenate(([True], ~like_next))
    tied = np.flatnonzero(~begins | np.concatenate((like_next, [False])))
    ids = docs.take(rows[tied]).bytes_list()
    by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__, reverse=True))
    group = np.cumsum(begins)[tied]
    ordered = rows.copy()
    ordered[tied] = rows[tied[by_id[np.argsort(group[by_id], kind="stable")]]]
    return ordered


def _run_overlap(
    first: _Ranking, second: _Ranking, queries: list[str], p: float, depth: int, level: float
) -> RunOverlap:
    has = [ranking.counts > 0 for ranking in (first, second)]
    both = has[0] & has[1]
    if not both.any():
        samples = [", ".join(repr(queries[i]) for i in np.flatnonzero(one)[:_SHOWN].tolist()) for one in has]
        if not all(samples):
            empty = first.name if not samples[0] else second.name
            raise NothingToEvaluate(f"{empty}: the run holds no results")
        message = f"no query is in both: {first.name} has {samples[0]} …, {second.name} has {samples[1]} …"
        raise BadInput.of(second.name, f"{message}. Check that both runs use the same query ids.")
    shared = _shared(first, second, both)
    found = rbo_of_queries(shared, p)
    longer = np.maximum(shared.n_first, shared.n_second)
    deeper = np.maximum(shared.first_rank, shared.second_rank)
    overlap_at = {}
    for k in OVERLAP_CUTOFFS:
        if k <= depth:
            common = np.bincount(shared.query[deeper <= k], minlength=len(longer))
            overlap_at[k] = float((common / np.minimum(longer, k)).mean())
    return RunOverlap(
        first=first.name,
        second=second.name,
        rbo=float(found.extrapolated.mean()),
        interval=mean_interval(found.extrapolated, level=level, bounds=(0.0, 1.0)),
        minimum=float(found.minimum.mean()),
        maximum=float(found.maximum.mean()),
        overlap_at=overlap_at,
        query_ids=tuple(queries[i] for i in np.flatnonzero(both).tolist()),
        by_query=found.extrapolated,
        only_first=tuple(queries[i] for i in np.flatnonzero(has[0] & ~both).tolist()),
        only_second=tuple(queries[i] for i in np.flatnonzero(has[1] & ~both).tolist()),
    )


def _shared(first: _Ranking, second: _Ranking, both: NDArray[np.bool_]) -> Shared:
    """The documents that stand in both rankings of a query; queries are numbered anew among those of both."""
    index = RowIndex(salted(second.docs.hashes(), second.query))
    there = index.find(salted(first.docs.hashes(), first.query))
    here = np.flatnonzero(there >= 0)
    there = there[here]
    same = first.docs.take(here).equal(second.docs.take(there))
    here, there = here[same], there[same]
    renumbered = np.cumsum(both) - 1
    return Shared(
        renumbered[first.query[here]], first.rank[here], second.rank[there], first.counts[both], second.counts[both]
    )


class SystemPair(NamedTuple):
    """Two systems, how far their means are apart, and how likely chance alone puts them so far apart."""

    above: str
    below: str
    difference: float
    p_value: float


@dataclass(frozen=True)
class Discrimination:
    """How well one measure tells systems apart."""

    measure: Measure
    asl: tuple[SystemPair, ...]
    """Every pair of systems by falling p-value: the curve of achieved significance levels."""
    n_significant: int
    smallest_significant: float | None
    """The smallest difference seen from which on every pair is significant; None if the largest one is not."""
    estimated_required: float | None
    """The difference that would be significant for every pair, by Student's t from the widest spread of differences;
    None with a single query."""

    @property
    def share(self) -> float:
        """Discriminative power: the share of pairs that are significant."""
        return self.n_significant / len(self.asl)


@dataclass(frozen=True)
class Discriminations:
    """How well measures tell the same systems apart on the same queries."""

    systems: tuple[str, ...]
    measures: tuple[Discrimination, ...]
    alpha: float
    permutations: int
    seed: int
    scores: tuple[Scores, ...] = field(repr=False)


def discriminate(
    scores: Sequence[Scores],
    *,
    alpha: float = 0.05,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Discriminations:
    """How many pairs of systems does each measure tell apart? Discriminative power (Sakai, SIGIR 2006).

    Every pair is tested with the two-sided paired randomisation test on the values of each query. The p-values are
    not corrected for their number: they compare measures, and do not prove that one system beats another.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"A significance level lies between 0 and 1, as in 0.05; {alpha:g} does not.")
    systems = _systems(scores, least=3, what="Discriminative power")
    by_id = sorted(scores[0].query_ids)
    found = []
    for i, measure in enumerate(scores[0].measures):
        columns = np.stack([_by_query_id(one.query_ids, one.values[i], by_id) for one in scores], axis=1)
        found.append(_discrimination(measure, columns, systems, alpha, permutations, seed, progress))
    return Discriminations(systems, tuple(found), alpha, permutations, seed, tuple(scores))


def _by_query_id(query_ids: list[str], values: Floats, wanted: list[str]) -> Floats:
    # In one order whatever the order of lines in the files, so that random signs meet the same queries.
    if query_ids == wanted:
        return values
    number = {query: i for i, query in enumerate(query_ids)}
    return values[[number[query] for query in wanted]]


def _discrimination(
    measure: Measure, columns: Floats, systems: tuple[str, ...], alpha: float, permutations: int, seed: int,
    progress: Progress | None,
) -> Discrimination:  # fmt: skip
    pairs = list(itertools.combinations(range(len(systems)), 2))
    tests = paired_tests(columns, pairs, permutations=permutations, seed=seed, progress=progress)
    one, other = (columns[:, [pair[side] for pair in pairs]] for side in (0, 1))
    differences = paired_differences(one, other)
    tested = []
    for (i, j), mean, test in zip(pairs, differences.mean(axis=0).round(_DECIMALS).tolist(), tests, strict=True):
        above, below = (i, j) if mean >= 0 else (j, i)
        tested.append(SystemPair(systems[above], systems[below], abs(mean), test.p_value))
    tested.sort(key=lambda pair: (-pair.p_value, pair.difference, pair.above, pair.below))
    significant = [pair.difference for pair in tested if pair.p_value < alpha]
    doubtful = max((pair.difference for pair in tested if pair.p_value >= alpha), default=-1.0)
    smallest = min((difference for difference in significant if difference > doubtful), default=None)
    required = _required(differences, alpha) if len(columns) > 1 else None
    return Discrimination(measure, tuple(tested), len(significant), smallest, required)


def _required(differences: Floats, alpha: float) -> float:
    """The mean difference that is significant for the pair whose differences spread most."""
    n = len(differences)
    return t_quantile(1 - alpha / 2, n - 1) * float(standard_deviation(differences).max()) / math.sqrt(n)
