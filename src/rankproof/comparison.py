"""Is B better than A? Paired statistics over scores: pure, scores in, findings out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from rankproof.errors import UnknownName, UsageError
from rankproof.measures.registry import Measure
from rankproof.scoring.alike import check_alike, distinct_names
from rankproof.scoring.rules import Preset
from rankproof.scoring.scores import NO_GROUP, Coverage, Scores
from rankproof.stats.corrections import Correction, adjust
from rankproof.stats.effects import Effect, paired_differences, paired_effects
from rankproof.stats.intervals import RESAMPLES, Interval, IntervalMethod, check_level, mean_intervals
from rankproof.stats.margins import MarginTest, check_margin, margin_tests
from rankproof.stats.paired import PERMUTATIONS, TestName, paired_tests
from rankproof.stats.power import smallest_difference
from rankproof.stats.resampling import Floats, Progress
from rankproof.stats.unpaired import welch_test

Test = TestName | Literal["welch"]
Verdict = Literal["better", "worse", "not shown"]

_SHOWN = 5
_POWER = 0.8


@dataclass(frozen=True)
class Method:
    """How systems are compared."""

    test: Test = "randomization"
    permutations: int = PERMUTATIONS
    interval: IntervalMethod = "t"
    level: float = 0.95
    resamples: int = RESAMPLES
    correction: Correction = "holm"
    alpha: float = 0.05
    seed: int = 0
    margin: float | None = None
    """The loss that one could live with; if given, the candidate is also tested for being no worse than that."""

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0 < self.alpha < 1:
            raise UsageError(f"A significance level lies between 0 and 1, as in 0.05; {self.alpha:g} does not.")
        tests = (*get_args(TestName), "welch")
        if self.test not in tests:
            raise UnknownName("test", self.test, tests)
        if self.margin is not None:
            check_margin(self.margin)
            if self.test == "welch":
                raise UsageError("A margin is tested on paired differences; leave out the test `welch`.")
        if self.seed < 0:
            raise UsageError(f"A seed is a whole number from 0 on, not {self.seed}.")


class QueryDifference(NamedTuple):
    """One query, and what each system scores on it."""

    query_id: str
    baseline: float
    candidate: float
    difference: float


@dataclass(frozen=True)
class Comparison:
    """A candidate against a baseline under one measure."""

    baseline: str
    candidate: str
    measure: Measure
    mean_baseline: float
    mean_candidate: float
    interval: Interval
    """Of the difference, candidate − baseline."""
    p_value: float
    p_adjusted: float
    exact: bool
    effect: Effect
    verdict: Verdict
    alpha: float
    """What the p-value is held to."""
    margin: MarginTest | None
    best: tuple[QueryDifference, ...]
    worst: tuple[QueryDifference, ...]
    group: str | None = None

    @property
    def difference(self) -> float:
        """Candidate − baseline, in the mean."""
        return self.mean_candidate - self.mean_baseline

    @cached_property
    def smallest_visible(self) -> float | None:
        """The smallest true difference that so many queries, varying so much, show four times out of five."""
        if not self.effect.sd or self.alpha >= _POWER:
            return None
        return smallest_difference(self.effect.n, self.effect.sd, alpha=self.alpha, power=_POWER)


@dataclass(frozen=True)
class System:
    """One of the systems compared: what it scores by itself."""

    name: str
    means: Mapping[Measure, float]
    intervals: Mapping[Measure, Interval]
    coverage: Coverage


@dataclass(frozen=True)
class Findings:
    """Everything that was found about some systems on the same queries."""

    systems: tuple[System, ...]
    measures: tuple[Measure, ...]
    n_queries: int
    method: Method
    preset: Preset
    comparisons: tuple[Comparison, ...]
    by_group: tuple[Comparison, ...] = ()
    """The same within each group; a family of tests of its own."""
    notes: tuple[str, ...] = field(default=())

    def of(self, measure: Measure) -> list[Comparison]:
        """The comparisons under one measure."""
        return [one for one in self.comparisons if one.measure == measure]


def compare(
    scores: Sequence[Scores], *, baseline: str | None = None, all_pairs: bool = False, method: Method | None = None,
    groups: Mapping[str, str] | None = None, shown: int = _SHOWN, progress: Progress | None = None,
) -> Findings:  # fmt: skip
    """Compare systems that were scored on the same queries, against the same judgments, under the same rules.

    Every other system is compared with the baseline, which is the first unless named; with `all_pairs`, every system
    with every later one. All tests, measures × pairs, are one family for the correction.
    """
    method = method or Method()
    if len(scores) < 2:
        raise UsageError("A comparison takes at least two runs.")
    check_alike(scores)
    for measure in scores[0].measures:
        if measure.aggregate == "geometric":
            raise UsageError(f"{measure} is no mean over queries, so it cannot be tested; compare AP instead.")
    names = distinct_names([one.name for one in scores])
    pairs = _pairs(names, baseline, all_pairs)
    measures = scores[0].measures
    # Signs and resamples go by the place of a query, so the places must not depend on the order in a file.
    query_ids = sorted(scores[0].query_ids)
    columns = np.stack([_values(one, query_ids) for one in scores])
    task = _Task(names, measures, query_ids, columns, pairs, method, shown)
    systems = tuple(map(task.system, range(len(names)), [one.coverage for one in scores]))
    comparisons = task.comparisons(progress)
    by_group = _within_groups(task, groups) if groups is not None else ()
    notes = _notes(scores)
    return Findings(systems, measures, columns.shape[2], method, scores[0].preset, comparisons, by_group, notes)


def intervals_of(scores: Scores, level: float = 0.95) -> dict[Measure, Interval]:
    """The t interval of the mean of each measure."""
    bounds = [measure.bounds for measure in scores.measures]
    return dict(zip(scores.measures, mean_intervals(scores.values.T, level=level, bounds=bounds), strict=True))


@dataclass(frozen=True)
class _Task:
    """Values of systems × measures × queries, and which systems meet."""

    names: list[str]
    measures: tuple[Measure, ...]
    query_ids: list[str]
    values: Floats
    pairs: list[tuple[int, int]]
    """(candidate, baseline)"""
    method: Method
    shown: int

    def among(self, rows: list[int]) -> _Task:
        """The same on some of the queries only."""
        return replace(self, query_ids=[self.query_ids[i] for i in rows], values=self.values[:, :, rows])

    def system(self, i: int, coverage: Coverage) -> System:
        """What one system scores by itself."""
        method = self.method
        intervals = mean_intervals(
            self.values[i].T, level=method.level, method=method.interval, bounds=[m.bounds for m in self.measures],
            resamples=method.resamples, seed=method.seed,
        )  # fmt: skip
        means = dict(zip(self.measures, self.values[i].mean(axis=1).tolist(), strict=True))
        return System(self.names[i], means, dict(zip(self.measures, intervals, strict=True)), coverage)

    def comparisons(self, progress: Progress | None = None) -> tuple[Comparison, ...]:
        """One per pair and measure, the p-values adjusted over all of them."""
        return self.adjusted(self.unadjusted(progress))

    def adjusted(self, found: Iterable[Comparison]) -> tuple[Comparison, ...]:
        """The comparisons as one family."""
        family = list(found)
        p_adjusted = adjust(np.array([one.p_value for one in family]), self.method.correction).tolist()
        return tuple(
            replace(one, p_adjusted=p, verdict=_verdict(one.difference, p, self.method.alpha))
            for one, p in zip(family, p_adjusted, strict=True)
        )

    def unadjusted(self, progress: Progress | None = None) -> list[Comparison]:
        """One per pair and measure."""
        n_measures, method = len(self.measures), self.method
        columns = self.values.reshape(-1, self.values.shape[2]).T
        tests = [(c * n_measures + m, b * n_measures + m) for c, b in self.pairs for m in range(n_measures)]
        candidates, baselines = (columns[:, [test[side] for test in tests]] for side in (0, 1))
        differences = paired_differences(candidates, baselines)
        effects = paired_effects(differences)
        if method.test == "welch":
            p_values, exact, intervals = _welch(candidates, baselines, method)
        else:
            found = paired_tests(
                columns, tests, test=method.test, permutations=method.permutations, seed=method.seed, progress=progress
            )
            p_values, exact = [one.p_value for one in found], [one.exact for one in found]
            bounds = [_bounds_of_difference(self.measures[candidate % n_measures]) for candidate, _ in tests]
            intervals = mean_intervals(
                differences, level=method.level, method=method.interval, bounds=bounds, resamples=method.resamples,
                seed=method.seed,
            )  # fmt: skip
        margins = self._margins(differences)
        means = columns.mean(axis=0).tolist()
        return [
            Comparison(
                baseline=self.names[base // n_measures],
                candidate=self.names[cand // n_measures],
                measure=self.measures[cand % n_measures],
                mean_baseline=means[base],
                mean_candidate=means[cand],
                interval=intervals[i],
                p_value=p_values[i],
                p_adjusted=p_values[i],
                exact=exact[i],
                effect=effects[i],
                verdict="not shown",
                alpha=method.alpha,
                margin=margins[i],
                best=self._extreme(i, candidates, baselines, differences, best=True),
                worst=self._extreme(i, candidates, baselines, differences, best=False),
            )
            for i, (cand, base) in enumerate(tests)
        ]

    def _margins(self, differences: Floats) -> Sequence[MarginTest | None]:
        method = self.method
        if method.margin is None or method.test == "welch":
            return [None] * differences.shape[1]
        return margin_tests(
            differences, method.margin, test=method.test, permutations=method.permutations, seed=method.seed
        )

    def _extreme(
        self, i: int, candidates: Floats, baselines: Floats, differences: Floats, *, best: bool
    ) -> tuple[QueryDifference, ...]:
        column = differences[:, i]
        order = np.argsort(-column if best else column, kind="stable")[: self.shown]
        return tuple(
            QueryDifference(
                self.query_ids[row], float(baselines[row, i]), float(candidates[row, i]), float(column[row])
            )
            for row in order.tolist()
            if (column[row] > 0 if best else column[row] < 0)
        )


def _pairs(names: list[str], baseline: str | None, all_pairs: bool) -> list[tuple[int, int]]:
    if baseline is not None and baseline not in names:
        raise UnknownName("run to compare with", baseline, names)
    base = 0 if baseline is None else names.index(baseline)
    if all_pairs:
        if baseline is not None:
            raise UsageError("Either one baseline or all pairs; leave out one of the two.")
        return [(j, i) for i in range(len(names)) for j in range(i + 1, len(names))]
    return [(i, base) for i in range(len(names)) if i != base]


def _values(scores: Scores, query_ids: list[str]) -> Floats:
    """Measures × queries, the queries in the given order."""
    place = {query: i for i, query in enumerate(scores.query_ids)}
    return scores.values[:, [place[query] for query in query_ids]]


def _bounds_of_difference(measure: Measure) -> tuple[float, float]:
    least, greatest = measure.bounds
    return least - greatest, greatest - least


def _welch(candidates: Floats, baselines: Floats, method: Method) -> tuple[list[float], list[bool], list[Interval]]:
    found = [welch_test(c, b, level=method.level) for c, b in zip(candidates.T, baselines.T, strict=True)]
    no_spread = "no interval: neither system varies"
    intervals = [Interval(w.low, w.high, method.level, "t", "" if w.low is not None else no_spread) for w in found]
    return [w.p_value for w in found], [False] * len(found), intervals


def _verdict(difference: float, p_adjusted: float, alpha: float) -> Verdict:
    if p_adjusted >= alpha:
        return "not shown"
    return "better" if difference > 0 else "worse"


def _within_groups(task: _Task, groups: Mapping[str, str]) -> tuple[Comparison, ...]:
    members: dict[str, list[int]] = {}
    for row, query in enumerate(task.query_ids):
        members.setdefault(groups.get(query, NO_GROUP), []).append(row)
    names = sorted(members, key=lambda name: (name == NO_GROUP, name))
    found = [replace(one, group=name) for name in names for one in task.among(members[name]).unadjusted()]
    return task.adjusted(found)


def _notes(scores: Sequence[Scores]) -> tuple[str, ...]:
    if any(not one.judgments for one in scores):
        return ("the files do not say which judgments they rest on; that they are the same could not be checked",)
    return ()
