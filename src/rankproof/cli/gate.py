"""`rankproof gate`: may the build pass?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankproof.cli.options import format_option, output_options
from rankproof.cli.output import write_result
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.baseline import Baseline
    from rankproof.cli.evaluated import Evaluated
    from rankproof.gate import Outcome, Rules, Verdict
    from rankproof.project.project import Project

EXIT_CODES: dict[Outcome, int] = {"pass": 0, "worse": 1, "not measured": 4}


@click.command("gate", short_help="Say whether the build may pass.")
@click.argument("folder", default=".")
@click.option(
    "--mode", "modes", multiple=True, metavar="NAME", help="A pipeline. Default: those of the baseline, or all."
)
@click.option("--baseline", "baseline_file", metavar="FILE", help="Default: rankproof-baseline.json, if it is there.")
@click.option("--junit", metavar="FILE", help="Also write JUnit XML, one case per rule.")
@format_option("text", "json", "markdown")
@output_options
def command(
    folder: str, modes: tuple[str, ...], baseline_file: str | None, junit: str | None, form: str, output: str | None,
    quiet: bool,
) -> int:  # fmt: skip
    """Hold the project in FOLDER against the rules under `gate:` and against its baseline.

    Exit code 0: every rule passes. 1: quality is worse, with proof. 4: a rule could not be decided. A drop that cannot
    be told from noise passes, and says how many queries would tell. Before anything is judged, loader and measures are
    proven: a retriever that returns the gold must score 1, one that finds nothing 0.

    \b
    rankproof baseline record
    rankproof gate --junit gate.xml
    """
    from rankproof.cli.evaluated import evaluate_project
    from rankproof.measures.parse import parse_measures
    from rankproof.project.project import load_project
    from rankproof.reports.gate import gate_json, gate_junit, gate_markdown, gate_text, outcome_of
    from rankproof.self_test import self_test

    project = load_project(folder)
    rules = _rules(project)
    baseline = _baseline(project, baseline_file, rules)
    names = modes or (tuple(baseline.scores) if baseline is not None else ())
    wanted = [str(measure) for measure in (*rules.floors, *rules.max_drop)]
    measures = tuple(dict.fromkeys((*map(str, project.measures), *wanted)))
    self_test(project.gold().qrels, parse_measures(measures), project.preset)
    evaluated = evaluate_project(project, names, measures, quiet=quiet)
    verdicts = _verdicts(evaluated, rules, baseline)
    forms = {"text": gate_text, "json": gate_json, "markdown": gate_markdown}
    write_result(forms[form](verdicts), output)
    if junit is not None:
        write_result(gate_junit(verdicts), junit)
    return EXIT_CODES[outcome_of(verdicts)]


def _rules(project: Project) -> Rules:
    from rankproof.gate import Drop, Rules
    from rankproof.measures.parse import parse_measure

    settings = project.gate
    if not settings.floors and not settings.max_drop and settings.margin is None:
        raise UsageError("There is no rule to gate by; add `gate: {max_drop: {nDCG@10: 0.01}}` to rankproof.yaml.")
    return Rules(
        floors={parse_measure(name): floor for name, floor in settings.floors.items()},
        max_drop={parse_measure(n): Drop(drop.absolute, drop.relative) for n, drop in settings.max_drop.items()},
        margin=settings.margin or None,
        min_group=settings.groups.min_size,
        coverage=settings.coverage,
    )


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
    from rankproof.gate import Measured, judge

    found = evaluated.found
    if baseline is not None:
        check_comparable(baseline, [mode.scores for mode in found.modes], evaluated.gold.qrels.digest)
    verdicts = {}
    for mode in found.modes:
        seconds = [answer.seconds for answer in mode.run.answers if answer.seconds is not None]
        asked = found.n_scored + len(found.unmeasured)
        now = Measured(mode.scores, asked, evaluated.gold.groups, seconds)
        verdicts[mode.name] = judge(rules, now, None if baseline is None else baseline.of(mode.name))
    return verdicts
