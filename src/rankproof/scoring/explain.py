"""Why two presets give different numbers: which rule, and on which queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.errors import BadInput, NotMeasured, RankproofError, UsageError
from rankproof.measures.parse import parse_measures
from rankproof.measures.registry import Measure, family
from rankproof.scoring.evaluate import Evaluator, Measures
from rankproof.scoring.rules import Preset, preset
from rankproof.scoring.scores import Scores

SAME = 1e-12
"""Values nearer to each other than this are the same number computed in another order."""


@dataclass(frozen=True)
class Change:
    """What one rule alone does to one measure."""

    rule: str
    first: Any
    second: Any
    mean: float | None
    """The value with only this rule changed; None where the rule refuses the input."""
    effect: float | None
    queries: tuple[str, ...]
    """Queries whose value it changes, or that it drops or adds; the largest change first."""
    refusal: str = ""


@dataclass(frozen=True)
class Difference:
    """Two values of one measure, and what lies between them."""

    measure: Measure
    first: float | None
    second: float | None
    changes: tuple[Change, ...]
    """Every rule that differs between the presets, those with an effect first."""

    @property
    def total(self) -> float | None:
        """Second less first."""
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def together(self) -> float | None:
        """What the rules do only in combination: the part of the difference that no single rule explains."""
        if self.total is None:
            return None
        return self.total - sum(change.effect or 0.0 for change in self.changes)


@dataclass(frozen=True)
class Explanation:
    """Two presets on the same input, measure by measure."""

    first: Preset
    second: Preset
    differences: tuple[Difference, ...]
    refusals: tuple[str, ...] = ()
    """What a preset says where it refuses the input altogether."""


def explain(qrels: Any, run: Any, measures: Measures, first: str | Preset, second: str | Preset) -> Explanation:
    """Score a run under two presets and name the rules and the queries that make the numbers differ."""
    one, two = preset(first), preset(second)
    if one == two:
        raise UsageError(f"Both presets are {one.name!r}; name two different ones.")
    chosen = parse_measures(measures)
    judged, held = Qrels.of(qrels), Run.of(run)
    outcome = {name: _scores(judged, held, chosen, p) for name, p in (("first", one), ("second", two))}
    base = outcome["first"]
    steps = [(step, _scores(judged, held, chosen, step.preset)) for step in _steps(one, two)]
    differences = []
    for position, measure in enumerate(chosen):
        values = [_mean(outcome[name], position) for name in ("first", "second")]
        changes = [
            _change(step, base, scores, position)
            for step, scores in steps
            if step.family is None or step.family == measure.family
        ]
        changes.sort(key=lambda change: -abs(change.effect or 0.0))
        differences.append(Difference(measure, values[0], values[1], tuple(changes)))
    refusals = tuple(f"{p.name}: {outcome[n]}" for n, p in (("first", one), ("second", two)) if _refused(outcome[n]))
    return Explanation(one, two, tuple(differences), refusals)


def _refused(outcome: Scores | RankproofError) -> bool:
    return isinstance(outcome, RankproofError)


def _scores(qrels: Qrels, run: Run, measures: tuple[Measure, ...], chosen: Preset) -> Scores | RankproofError:
    try:
        return Evaluator(qrels, preset=chosen).evaluate(run, measures)
    except (BadInput, NotMeasured) as refusal:
        return refusal


def _mean(scores: Scores | RankproofError, position: int) -> float | None:
    return None if isinstance(scores, RankproofError) else list(scores.mean().values())[position]


class _Step(NamedTuple):
    """The first preset with one rule, or one parameter default of a measure, as in the second."""

    rule: str
    first: Any
    second: Any
    preset: Preset
    family: str | None = None
    """The measure whose parameter it is."""


def _steps(one: Preset, two: Preset) -> Iterator[_Step]:
    """The first preset with one rule of the second at a time."""
    theirs = two.rules.as_dict()
    for rule, value in one.rules.as_dict().items():
        if value != theirs[rule]:
            yield _Step(rule, value, theirs[rule], one.with_rules(**{rule: theirs[rule]}))
    for name in sorted({*one.defaults, *two.defaults}):
        own = family(name).parameters
        a, b = ({**own, **p.defaults.get(name, {})} for p in (one, two))
        for parameter in own:
            if a[parameter] != b[parameter]:
                changed = {**dict(one.defaults.get(name, {})), parameter: b[parameter]}
                step = replace(one, defaults={**one.defaults, name: changed})
                yield _Step(f"{name}({parameter})", a[parameter], b[parameter], step, name)


def _change(step: _Step, base: Scores | RankproofError, scores: Scores | RankproofError, position: int) -> Change:
    rule, a, b = step.rule, step.first, step.second
    if isinstance(scores, RankproofError):
        return Change(rule, a, b, None, None, (), str(scores).splitlines()[0])
    mean = _mean(scores, position)
    if isinstance(base, RankproofError):
        return Change(rule, a, b, mean, None, ())
    before = dict(zip(base.query_ids, base.values[position].tolist(), strict=True))
    after = dict(zip(scores.query_ids, scores.values[position].tolist(), strict=True))
    moved = {q: abs(after[q] - before[q]) if q in before and q in after else 1.0 for q in {**before, **after}}
    queries = [q for q in sorted(moved, key=lambda q: (-moved[q], q)) if moved[q] > SAME]
    effect = (mean or 0.0) - (_mean(base, position) or 0.0)
    return Change(rule, a, b, mean, 0.0 if abs(effect) <= SAME else effect, tuple(queries))
