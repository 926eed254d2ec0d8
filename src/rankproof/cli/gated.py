"""A project held against its rules and its baseline, for the verbs that need the verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankproof.cli.output import remark
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankproof.baseline import Baseline
    from rankproof.cli.evaluated import Evaluated
    from rankproof.evaluation import Evaluation, Mode
    from rankproof.gate import Measured, Outcome, Rules, Verdict
    from rankproof.project.project import Project
    from rankproof.scoring.scores import Scores


_REASON = 200
"""Characters of a reason that are told."""


@dataclass(frozen=True)
class Gated:
    """The verdict on every rule for each pipeline, and what it rests on."""

    evaluated: Evaluated
    rules: Rules
    baseline: Baseline | None
    verdicts: Mapping[str, Sequence[Verdict]]

    @property
    def outcome(self) -> Outcome:
        """The outcome over all pipelines."""
        from rankproof.reports.gate import outcome_of

        return outcome_of(self.verdicts)


def gate_project(
    project: Project, modes: tuple[str, ...] = (), *, baseline_file: str | None = None, top: int = 5,
    quiet: bool = False,
) -> Gated:  # fmt: skip
    """Run the pipelines, those of the baseline unless some are named, and judge them by the rules of the project.

    Before that, loader and measures are proven: raises SelfTestFailed if the gold itself does not score 1.
    """
    from rankproof.cli.evaluated import evaluate_project
    from rankproof.measures.parse import parse_measures
    from rankproof.self_test import self_test

    rules = rules_of(project)
    baseline = _baseline(project, baseline_file, rules)
    names = modes or (tuple(baseline.scores) if baseline is not None else ())
    kept = [str(measure) for floors in baseline.floors.values() for measure in floors] if baseline is not None else []
    measures = tuple(dict.fromkeys((*gate_measures(project), *kept)))
    self_test(project.gold().qrels, parse_measures(measures), project.preset)
    ungated = [name for name in project.pipelines if name not in names]
    if ungated and names and not modes:
        remark(f"not in the baseline, and so not gated: {', '.join(ungated)}", quiet)
    evaluated = evaluate_project(project, names, measures, top=top, quiet=quiet)
    return Gated(evaluated, rules, baseline, _verdicts(evaluated, rules, baseline))


def rules_of(project: Project) -> Rules:
    """The rules under `gate:` in the project file."""
    from rankproof.gate import Drop, Rules, may_fall
    from rankproof.measures.parse import parse_measure

    settings = project.gate
    if not has_rules(project):
        raise UsageError("There is no rule to gate by; add `gate: {max_drop: {nDCG@10: 0.01}}` to rankproof.yaml.")
    for name in settings.max_drop:
        if not may_fall(parse_measure(name)):
            raise UsageError(
                f"`max_drop` of {name} says nothing: a fall of it is no loss, or it is no mean. Give it a floor."
            )
    return Rules(
        floors={parse_measure(name): floor for name, floor in settings.floors.items()},
        max_drop={parse_measure(n): Drop(drop.absolute, drop.relative) for n, drop in settings.max_drop.items()},
        margin=settings.margin,
        min_group=settings.groups.min_size,
        coverage=settings.coverage,
        latency=settings.latency,
    )


def gate_measures(project: Project) -> tuple[str, ...]:
    """The measures of the project, and those that only its rules name."""
    return tuple(dict.fromkeys((*map(str, project.measures), *project.gate.floors, *project.gate.max_drop)))


def has_rules(project: Project) -> bool:
    """Whether the project says when quality counts as worse."""
    gate = project.gate
    return bool(gate.floors or gate.max_drop or gate.margin is not None or gate.latency is not None)


def _baseline(project: Project, given: str | None, rules: Rules) -> Baseline | None:
    from rankproof.baseline import FILE, read_baseline

    path = given or str(project.folder / FILE)
    if given is None and not (project.folder / FILE).exists():
        if rules.max_drop or rules.margin is not None:
            raise UsageError(f"There is no {FILE} to compare with; `rankproof baseline record` makes one.")
        return None
    return read_baseline(path)


def _verdicts(evaluated: Evaluated, rules: Rules, baseline: Baseline | None) -> dict[str, list[Verdict]]:
    from rankproof.baseline import check_comparable
    from rankproof.gate import Case, judge_all

    found = evaluated.found
    if baseline is not None:
        check_comparable(baseline, [mode.scores for mode in found.modes], evaluated.gold.qrels.digest)
    cases = {}
    for mode in found.modes:
        now = _measured(mode, found, evaluated.gold.groups, None if baseline is None else baseline.of(mode.name))
        if baseline is None:
            cases[mode.name] = Case(rules, now, None)
        else:
            kept = baseline.floors.get(mode.name, {})
            floors = {**kept, **{m: max(floor, kept.get(m, floor)) for m, floor in rules.floors.items()}}
            cases[mode.name] = Case(replace(rules, floors=floors), now, baseline.of(mode.name))
    return judge_all(cases)


def _measured(mode: Mode, found: Evaluation, groups: Mapping[str, str], before: Scores | None) -> Measured:
    from rankproof.gate import Measured

    seconds = [answer.seconds for answer in mode.run.answers if answer.seconds is not None]
    reason = next((why for of_mode in found.unmeasured.values() for why in of_mode.values()), "")
    left_out = {f"failed ({reason.removeprefix('not measured: ')[:_REASON]})": list(found.unmeasured)}
    scored, gone = set(mode.scores.query_ids), [one.query_id for one in found.stale]
    if before is None:
        left_out[_STALE] = [query for query in dict.fromkeys(gone) if query not in scored]
    elif before.judgments != mode.scores.judgments:
        # Without a relevant document the rest is easier to find: the figures are no longer those of the baseline.
        left_out[_STALE] = list(dict.fromkeys(gone))
    told = scored.union(*left_out.values())
    left_out["in the baseline and no longer scored"] = [
        query for query in (before.query_ids if before is not None else ()) if query not in told
    ]
    return Measured(mode.scores, left_out, groups, seconds)


_STALE = "without a relevant document that left the corpus (`rankproof gold stale` says what became of it)"
