"""`rankproof report`: one HTML page about a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankproof.cli.output import remark, write_result
from rankproof.errors import NotMeasured, count

if TYPE_CHECKING:
    from rankproof.baseline import Baseline
    from rankproof.cli.evaluated import Evaluated
    from rankproof.failures import Analysis
    from rankproof.gate import Verdict
    from rankproof.project.project import Project
    from rankproof.report import Standard

OUTPUT = "rankproof-report.html"


@click.command("report", short_help="Write one HTML page about a project.")
@click.argument("folder", default=".")
@click.option(
    "--mode", "modes", multiple=True, metavar="NAME", help="A pipeline. Default: those of the baseline, or all."
)
@click.option("--baseline", "baseline_file", metavar="FILE", help="Default: rankproof-baseline.json, if it is there.")
@click.option("--no-gate", is_flag=True, help="Without rules, and without a baseline unless --baseline names one.")
@click.option("-o", "--output", default=OUTPUT, show_default=True, metavar="FILE", help="Where the page is written.")
@click.option("--quiet", is_flag=True, help="No progress and no remarks.")
def command(
    folder: str, modes: tuple[str, ...], baseline_file: str | None, no_gate: bool, output: str, quiet: bool
) -> None:  # fmt: skip
    """Write one HTML file about the project in FOLDER: verdict, figures, groups, differences, failures and queries.

    The file opens from disk and makes no request. The exit code is 0 whatever the verdict; `rankproof gate` decides
    builds. Queries that could not be measured are listed on the page, and the exit code is 4.

    \b
    rankproof report
    rankproof report --mode keyword --mode hybrid --no-gate -o hybrid.html
    """
    from rankproof.project.project import load_project
    from rankproof.report import build
    from rankproof.reports.html.page import report_html

    project = load_project(folder)
    evaluated, standard = _held(project, modes, baseline_file, no_gate=no_gate, quiet=quiet)
    for note in standard.notes:
        remark(note, quiet)
    library = evaluated.place.library
    report = build(
        evaluated.found, evaluated.gold, corpus=None if library is None else library.documents,
        analyses=_analyses(evaluated, project), standard=standard,
    )  # fmt: skip
    page = report_html(report)
    write_result(page, output)
    if output != "-":
        remark(f"the report is in {output} ({len(page.encode()) / 1000:,.0f} kB)", quiet)
    unmeasured = evaluated.found.unmeasured
    if unmeasured:
        failed = count(len(unmeasured), "query", "queries")
        raise NotMeasured(f"{failed} could not be measured; the figures are without them.")


def _held(
    project: Project, modes: tuple[str, ...], baseline_file: str | None, *, no_gate: bool, quiet: bool
) -> tuple[Evaluated, Standard]:
    """The figures, and what they are held against: rules and baseline as far as there are any."""
    from rankproof.baseline import FILE
    from rankproof.cli.gated import gate_project, has_rules
    from rankproof.report import Standard

    there = baseline_file is not None or (not no_gate and (project.folder / FILE).exists())
    if no_gate or not has_rules(project):
        return _without_rules(project, modes, baseline_file or str(project.folder / FILE) if there else None, quiet)
    if not there and (project.gate.max_drop or project.gate.margin is not None):
        return _without_baseline(project, modes, quiet)
    gated = gate_project(project, modes, baseline_file=baseline_file, quiet=quiet)
    return gated.evaluated, Standard(gated.verdicts, gated.baseline)


def _without_rules(
    project: Project, modes: tuple[str, ...], baseline_file: str | None, quiet: bool
) -> tuple[Evaluated, Standard]:
    from rankproof.baseline import check_comparable, read_baseline
    from rankproof.cli.evaluated import evaluate_project
    from rankproof.report import Standard

    baseline: Baseline | None = None if baseline_file is None else read_baseline(baseline_file)
    names = modes or (tuple(baseline.scores) if baseline is not None else ())
    evaluated = evaluate_project(project, names, (), quiet=quiet)
    if baseline is not None:
        scores = [mode.scores for mode in evaluated.found.modes]
        check_comparable(baseline, scores, evaluated.gold.qrels.digest)
    return evaluated, Standard(baseline=baseline)


def _without_baseline(project: Project, modes: tuple[str, ...], quiet: bool) -> tuple[Evaluated, Standard]:
    """The rules that need no baseline are judged; the others stay open, and the page says so."""
    from dataclasses import replace

    from rankproof.baseline import FILE
    from rankproof.cli.evaluated import evaluate_project
    from rankproof.cli.gated import gate_project, has_rules, rules_of
    from rankproof.gate import Measured, judge
    from rankproof.measures.parse import parse_measures
    from rankproof.report import Standard

    rules = rules_of(project)
    measures = tuple(dict.fromkeys((*map(str, project.measures), *map(str, (*rules.floors, *rules.max_drop)))))
    rest = replace(
        project,
        gate=project.gate.model_copy(update={"max_drop": {}, "margin": None}),
        measures=parse_measures(measures) if measures else (),
    )
    judged: dict[str, list[Verdict]] = {}
    if has_rules(rest):
        gated = gate_project(rest, modes, quiet=quiet)
        evaluated = gated.evaluated
        judged = {name: list(verdicts) for name, verdicts in gated.verdicts.items()}
    else:
        evaluated = evaluate_project(rest, modes, (), quiet=quiet)
    needing = replace(rules, floors={}, latency=None)
    for mode in evaluated.found.modes:
        _, *undecided = judge(needing, Measured(mode.scores), None)
        judged[mode.name] = [*judged.get(mode.name, []), *undecided]
    note = f"There is no {FILE}, so what may fall is not judged; `rankproof baseline record` makes one."
    return evaluated, Standard(judged, None, (note,))


def _analyses(evaluated: Evaluated, project: Project) -> list[Analysis]:
    from rankproof.cli.analysis import analyses

    if evaluated.place.library is None:
        return []
    return analyses(evaluated.found, project, evaluated.place, evaluated.gold, k=evaluated.request.shown)
