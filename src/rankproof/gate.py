"""May the build pass? Rules held against what was measured: pure, figures in, a verdict for each rule out.

Every rule has one of three outcomes. `worse` needs proof: a drop that cannot be told from noise passes, and says how
many queries it would take to tell. `not measured` is neither: the rule could not be decided, and a build must not pass
on it. All drops that are tested, pipelines × measures × groups, are one family, so that many groups raise no more false
alarms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from rankproof.errors import NotMeasured, count
from rankproof.measures.registry import Measure
from rankproof.scoring.scores import NO_GROUP, Scores, shared_queries
from rankproof.stats.corrections import adjust
from rankproof.stats.effects import paired_differences
from rankproof.stats.intervals import standard_deviation
from rankproof.stats.margins import margin_tests
from rankproof.stats.paired import PERMUTATIONS, paired_tests
from rankproof.stats.power import queries_needed
from rankproof.stats.resampling import Floats

Outcome = Literal["pass", "worse", "not measured"]

_SHOWN = 5
_NO_QUALITY = ("Judged", "Unjudged", "RBPResidual")
"""What says how much was judged, not how good it is."""
_ROUNDING = 1e-12
"""What is allowed to the last digit is allowed, whatever the rounding of a mean or a difference says."""


@dataclass(frozen=True)
class Drop:
    """How far a measure may fall below the baseline: by so much, or by such a share of it."""

    absolute: float | None = None
    relative: float | None = None

    def allowed(self, baseline: float) -> float:
        """The fall that is allowed from this value."""
        return self.absolute if self.absolute is not None else (self.relative or 0.0) * abs(baseline)

    def __str__(self) -> str:
        return f"{self.absolute:g}" if self.absolute is not None else f"{self.relative or 0:.1%}"


@dataclass(frozen=True)
class Rules:
    """When quality counts as worse."""

    floors: Mapping[Measure, float] = field(default_factory=dict)
    max_drop: Mapping[Measure, Drop] = field(default_factory=dict)
    margin: float | None = None
    """The loss that must be shown not to be there, for every measure."""
    min_group: int = 5
    """Groups with fewer queries are not judged."""
    coverage: float = 1.0
    """The share of queries that must have been measured."""
    latency: float | None = None
    """The most seconds that nineteen queries of twenty may take."""
    alpha: float = 0.05
    permutations: int = PERMUTATIONS
    seed: int = 0


@dataclass(frozen=True)
class Verdict:
    """What became of one rule."""

    rule: str
    """Such as `floor RR` or `max_drop nDCG@10, group hr`."""
    outcome: Outcome
    why: str
    measure: str = ""
    group: str | None = None
    baseline: float | None = None
    value: float | None = None
    p_value: float | None = None
    worst: tuple[tuple[str, float], ...] = ()
    """The queries that fell furthest, with their differences."""
    noise: bool = False
    """Whether it fell by more than is allowed, and passes because that may be chance."""


@dataclass(frozen=True)
class Measured:
    """What is held against the rules."""

    scores: Scores
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Why queries that should have been measured were not, such as `failed`, and which."""
    groups: Mapping[str, str] = field(default_factory=dict)
    seconds: Sequence[float] = ()
    """How long each query took, where that is known."""


@dataclass(frozen=True)
class Case:
    """One pipeline: the rules, what was measured, and the baseline, which is None if there is none."""

    rules: Rules
    now: Measured
    baseline: Scores | None


def judge(rules: Rules, now: Measured, baseline: Scores | None) -> list[Verdict]:
    """The verdict on every rule for one pipeline."""
    return judge_all({"": Case(rules, now, baseline)})[""]


def judge_all(cases: Mapping[str, Case]) -> dict[str, list[Verdict]]:
    """The verdicts for each pipeline; the drops of all of them are one family of tests."""
    falls = {name: list(_falls_of(case)) for name, case in cases.items()}
    proofs = _adjusted([fall for of_case in falls.values() for fall in of_case], cases)
    return {name: list(_verdicts(case, falls[name], proofs)) for name, case in cases.items()}


def _verdicts(case: Case, falls: Sequence[_Fall], proofs: Mapping[_Fall, _Proof]) -> Iterable[Verdict]:
    rules, now = case.rules, case.now
    yield _coverage(rules, now)
    yield from (_floor(measure, floor, now.scores) for measure, floor in rules.floors.items())
    if case.baseline is None:
        yield from (Verdict(f"max_drop {m}", "not measured", _NO_BASELINE, str(m)) for m in rules.max_drop)
    yield from (_drop(rules, fall, proofs[fall]) for fall in falls)
    if rules.margin is not None:
        gated = [measure for measure in now.scores.measures if may_fall(measure)]
        yield from (_margin(rules, rules.margin, measure, now, case.baseline) for measure in gated)
    if rules.latency is not None:
        yield _latency(rules.latency, now.seconds)


def may_fall(measure: Measure) -> bool:
    """Whether a fall of the measure is a loss, query by query."""
    return measure.aggregate == "mean" and measure.family not in _NO_QUALITY


def overall(verdicts: Iterable[Verdict]) -> Outcome:
    """What could not be measured decides before what is worse: the figures are not to be trusted then."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if "not measured" in outcomes:
        return "not measured"
    return "worse" if "worse" in outcomes else "pass"


def _coverage(rules: Rules, now: Measured) -> Verdict:
    left_out = {query for queries in now.left_out.values() for query in queries}
    n = sum(query not in left_out for query in now.scores.query_ids)
    n_asked = n + len(left_out)
    share = n / n_asked if n_asked else 0.0
    said = f"{n:,} of {count(n_asked, 'query', 'queries')} measured ({share:.1%})"
    for why, queries in now.left_out.items():
        if queries:
            more = f" and {len(queries) - _SHOWN:,} more" if len(queries) > _SHOWN else ""
            said += f"; {len(queries):,} {why}: {', '.join(queries[:_SHOWN])}{more}"
    if share < rules.coverage:
        return Verdict("coverage", "not measured", f"{said}; {rules.coverage:.1%} must be", value=share)
    return Verdict("coverage", "pass", said, value=share)


def _floor(measure: Measure, floor: float, scores: Scores) -> Verdict:
    value = scores.mean()[str(measure)]
    rule = f"floor {measure}"
    if value < floor - _ROUNDING:
        return Verdict(rule, "worse", f"{value:.4f} is below the floor {floor:g}", str(measure), value=value)
    return Verdict(rule, "pass", f"{value:.4f}, at or above the floor {floor:g}", str(measure), value=value)


@dataclass(frozen=True, eq=False)
class _Fall:
    """A measure, over all queries or within a group, now and before."""

    measure: Measure
    group: str | None
    pair: _Pair
    p_value: float
    """Of "it did not fall", by itself."""

    @property
    def least_p(self) -> float:
        """The p-value if every query that changed had fallen: signs are all that the test throws."""
        return 0.5 ** int(np.count_nonzero(self.pair.differences))


class _Proof(NamedTuple):
    """The p-value within the family, and what a p-value by itself must lie below to count."""

    p_value: float
    alpha: float
    within_reach: bool
    """Whether so few changed queries could show a fall at all."""


def _falls_of(case: Case) -> Iterable[_Fall]:
    if case.baseline is None:
        return
    for measure in case.rules.max_drop:
        for group, pair in _parts(case.rules, measure, case.now, case.baseline):
            yield _Fall(measure, group, pair, _p_value(case.rules, pair))


def _adjusted(falls: Sequence[_Fall], cases: Mapping[str, Case]) -> dict[_Fall, _Proof]:
    """Holm's correction over those that could show anything (Tarone, Biometrics 46, 1990).

    Which they are depends on how many queries changed, not on the direction, so that leaving the others out costs no
    false alarms: a group in which nothing changed does not make it harder for one in which everything did.
    """
    alpha = min((case.rules.alpha for case in cases.values()), default=0.05)
    least = [fall.least_p for fall in falls]
    n_tests = next(n for n in range(1, len(least) + 2) if sum(p <= alpha / n for p in least) <= n)
    tested = [fall for fall in falls if fall.least_p <= alpha / n_tests]
    adjusted = adjust([fall.p_value for fall in tested], "holm").tolist() if tested else []
    out_of_reach = {fall: _Proof(1.0, alpha / n_tests, False) for fall in falls}
    return out_of_reach | {fall: _Proof(p, alpha / len(tested), True) for fall, p in zip(tested, adjusted, strict=True)}


def _parts(rules: Rules, measure: Measure, now: Measured, baseline: Scores) -> Iterable[tuple[str | None, _Pair]]:
    """All queries, and each group that is large enough."""
    pair = _Pair.of(measure, now.scores, baseline)
    yield None, pair
    members: dict[str, list[int]] = {}
    for row, query in enumerate(pair.query_ids if now.groups else []):
        members.setdefault(now.groups.get(query, NO_GROUP), []).append(row)
    for group in sorted(members, key=lambda name: (name == NO_GROUP, name)):
        if len(members[group]) >= rules.min_group:
            yield group, pair.among(members[group])


def _p_value(rules: Rules, pair: _Pair) -> float:
    """Of "it did not fall"."""
    if not len(pair.query_ids):
        return 1.0
    columns = pair.differences[:, None]
    (test,) = paired_tests(columns, alternative="less", permutations=rules.permutations, seed=rules.seed)
    return test.p_value


_NOTHING_SHARED = "no query is in both the baseline and this run"
_NO_BASELINE = "there is no baseline to compare with; `rankproof baseline record` makes one"


@dataclass(frozen=True)
class _Pair:
    """The values of one measure now and in the baseline, query by query."""

    query_ids: list[str]
    now: Floats
    before: Floats

    @classmethod
    def of(cls, measure: Measure, now: Scores, baseline: Scores) -> _Pair:
        shared, here, there = shared_queries(now, baseline)
        return cls(shared, now.of(measure)[here], baseline.of(measure)[there])

    def among(self, rows: list[int]) -> _Pair:
        return _Pair([self.query_ids[i] for i in rows], self.now[rows], self.before[rows])

    @property
    def differences(self) -> Floats:
        return paired_differences(self.now, self.before)

    def worst(self) -> tuple[tuple[str, float], ...]:
        order = np.argsort(self.differences, kind="stable")[:_SHOWN].tolist()
        return tuple((self.query_ids[i], float(self.differences[i])) for i in order if self.differences[i] < 0)


def _drop(rules: Rules, fall: _Fall, proof: _Proof) -> Verdict:
    measure, group, pair, drop = fall.measure, fall.group, fall.pair, rules.max_drop[fall.measure]
    rule = f"max_drop {measure}" + ("" if group is None else f", group {group}")
    if not len(pair.query_ids):
        return Verdict(rule, "not measured", _NOTHING_SHARED, str(measure), group)
    before, now = float(pair.before.mean()), float(pair.now.mean())
    fallen, allowed = before - now, drop.allowed(before)
    verdict = Verdict(rule, "pass", f"{before:.4f} → {now:.4f}; may fall by {drop}", str(measure), group, before, now)
    if fallen <= allowed + _ROUNDING:
        return verdict
    change = f"{before:.4f} → {now:.4f} fell by {fallen:.4f}"
    p = proof.p_value
    verdict = replace(verdict, p_value=p, worst=pair.worst())
    if proof.within_reach and p < rules.alpha:
        return replace(verdict, outcome="worse", why=f"{change}, more than {drop} (p = {p:.2g})")
    proven = f"p = {p:.2g}"
    if not proof.within_reach:
        n = int(np.count_nonzero(pair.differences))
        proven = f"{count(n, 'query that changed is', 'queries that changed are')} too few to show it"
    noise = f"which cannot be told from noise ({proven}){_would_take(fallen, pair, proof.alpha)}"
    return replace(verdict, why=f"{change}, {noise}", noise=True)


def _would_take(fallen: float, pair: _Pair, alpha: float) -> str:
    """How many such queries would show the fall, looking one way as the gate does."""
    if len(pair.query_ids) < 2:
        return ""
    sd = float(standard_deviation(pair.differences[:, None])[0])
    try:
        needed = queries_needed(fallen, sd, alpha=2 * alpha)
    except NotMeasured:
        return ""
    if needed <= len(pair.query_ids):
        return ""
    return f"; {needed:,} queries would tell, there are {len(pair.query_ids):,}"


def _margin(rules: Rules, margin: float, measure: Measure, now: Measured, baseline: Scores | None) -> Verdict:
    rule = f"margin {measure}"
    if baseline is None:
        return Verdict(rule, "not measured", _NO_BASELINE, str(measure))
    pair = _Pair.of(measure, now.scores, baseline)
    if not len(pair.query_ids):
        return Verdict(rule, "not measured", _NOTHING_SHARED, str(measure))
    columns = pair.differences[:, None]
    (found,) = margin_tests(columns, margin, permutations=rules.permutations, seed=rules.seed)
    shifted = columns + margin
    (below,) = paired_tests(shifted, alternative="less", permutations=rules.permutations, seed=rules.seed)
    before, value = float(pair.before.mean()), float(pair.now.mean())
    change, p = f"{before:.4f} → {value:.4f}", found.non_inferiority_p
    verdict = Verdict(rule, "pass", "", str(measure), None, before, value, p, pair.worst())
    if p < rules.alpha:
        return replace(verdict, why=f"{change}, shown not to be worse by {margin:g} (p = {p:.2g})")
    if below.p_value < rules.alpha:
        why = f"{change}, shown to be worse by more than {margin:g} (p = {below.p_value:.2g})"
        return replace(verdict, outcome="worse", why=why, p_value=below.p_value)
    why = (
        f"{change}: {count(len(pair.query_ids), 'query does', 'queries do')} not show that it is no worse by {margin:g}"
    )
    return replace(verdict, outcome="not measured", why=why)


def _latency(limit: float, seconds: Sequence[float]) -> Verdict:
    if not seconds:
        return Verdict("latency", "not measured", "the run has no times")
    ranked = sorted(seconds)
    slow = ranked[max(0, math.ceil(0.95 * len(ranked)) - 1)]
    said = f"19 of 20 queries take {slow:.3f} s at most; {limit:g} s are allowed"
    return Verdict("latency", "worse" if slow > limit else "pass", said, value=slow)
