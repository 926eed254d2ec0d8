"""`rankproof baseline`: keep what was measured, so that later builds can be held against it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankproof.cli.options import measures_option
from rankproof.cli.output import remark, text_room, write_result
from rankproof.errors import BadInput, NotMeasured, UsageError, count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankproof.baseline import Baseline, Floors
    from rankproof.cli.evaluated import Evaluated
    from rankproof.cli.gated import Gated
    from rankproof.evaluation import Mode
    from rankproof.experiments import Decision, Experiment
    from rankproof.gate import Rules
    from rankproof.measures.registry import Measure
    from rankproof.project.project import Project


@click.group("baseline", short_help="Keep what was measured, for later builds to be held against.")
def command() -> None:
    """Keep what was measured in a small file beside the code, for `rankproof gate` to hold later builds against."""


_mode_option = click.option(
    "--mode", "modes", multiple=True, metavar="NAME", help="A pipeline; may be repeated. Default: all."
)
_quiet_option = click.option("--quiet", is_flag=True, help="No progress and no remarks.")


@command.command("record")
@click.argument("folder", default=".")
@_mode_option
@measures_option("the project's")
@click.option("-o", "--output", metavar="FILE", help="Default: rankproof-baseline.json beside rankproof.yaml.")
@_quiet_option
def record(
    folder: str, modes: tuple[str, ...], measures: tuple[str, ...], output: str | None, quiet: bool
) -> None:  # fmt: skip
    """Run the pipelines of the project in FOLDER and keep their scores.

    Nothing is kept if a query could not be measured: a baseline has no holes. Floors that a ratchet has put into the
    file stay.
    """
    from rankproof.baseline import FILE
    from rankproof.cli.evaluated import evaluate_project
    from rankproof.cli.gated import gate_measures
    from rankproof.project.project import load_project

    project = load_project(folder)
    path = output or str(project.folder / FILE)
    kept = _kept(path, quiet)
    _refuse_to_leave_out(kept, modes)
    evaluated = evaluate_project(project, modes, measures or gate_measures(project), quiet=quiet)
    floors = kept.floors if kept is not None else {}
    _write(evaluated, path, floors)
    remark(f"the baseline of {count(evaluated.found.n_scored, 'query', 'queries')} is in {Path(path).name}", quiet)
    for mode in evaluated.found.modes:
        means = mode.scores.mean()
        for measure, floor in floors.get(mode.name, {}).items():
            if str(measure) in means and means[str(measure)] < floor - 1e-12:
                below = f"{measure} of {mode.name} is {means[str(measure)]:.4f}, below the floor {floor:g} in the file"
                remark(f"{below}; `rankproof baseline accept --lower --why …` lowers it", quiet)


@command.command("accept")
@click.argument("folder", default=".")
@_mode_option
@click.option("--ratchet", is_flag=True, help="Raise the floors to what is reached now, less what max_drop allows.")
@click.option("--lower", is_flag=True, help="Accept worse figures, and lower the floors that they miss; needs --why.")
@click.option("--why", default="", metavar="TEXT", help="The reason, for the experiment log.")
@_quiet_option
def accept(folder: str, modes: tuple[str, ...], ratchet: bool, lower: bool, why: str, quiet: bool) -> int:
    """Make what the project in FOLDER reaches now the baseline, and write the change into the experiment log.

    What the gate calls worse is not accepted without `--lower --why`, and what could not be measured never is. Floors
    stand in the baseline file; `--ratchet` raises them, and only `--lower` lowers one.

    \b
    rankproof baseline accept --ratchet --why "titles count twice"
    """
    from rankproof import experiments
    from rankproof.baseline import FILE, ratcheted
    from rankproof.cli.gate import EXIT_CODES
    from rankproof.data.files import check_appendable
    from rankproof.project.project import load_project
    from rankproof.reports.gate import gate_text

    if lower and not why.strip():
        raise UsageError("--lower gives up quality that was reached; say why with --why.")
    project = load_project(folder)
    gated = _gated(project, modes, quiet)
    _refuse_to_leave_out(gated.baseline, modes)
    _refuse_holes(gated.evaluated)
    has_holes = any(one.rule == "coverage" and one.outcome != "pass" for of in gated.verdicts.values() for one in of)
    if has_holes or (gated.outcome != "pass" and not lower):
        write_result(gate_text(gated.verdicts, width=text_room(None)), None)
        way_out = "" if has_holes else " `--lower --why …` accepts it all the same."
        remark(f"not accepted: quality is not shown to be kept.{way_out}", False)
        return EXIT_CODES[gated.outcome]
    _refuse_below_project(gated)
    assert gated.baseline is not None
    floors: dict[str, dict[Measure, float]] = {}
    lowered: dict[str, dict[str, float]] = {}
    for mode in gated.evaluated.found.modes:
        before = gated.baseline.floors.get(mode.name, {})
        reached = _reached(mode, gated.rules, before)
        floors[mode.name] = ratcheted(before, reached, raise_them=ratchet, lower_them=lower)
        lowered[mode.name] = {str(m): floor for m, floor in before.items() if floors[mode.name][m] < floor}
    path = str(project.folder / FILE)
    # All is worked out before the first file is written, so that hardly a moment lies between baseline and log.
    experiment = _experiment(gated, "accepted", why, {name: gone for name, gone in lowered.items() if gone})
    check_appendable(project.folder / experiments.FILE)
    _write(gated.evaluated, path, floors)
    _log(project, experiment, quiet)
    for name, of_mode in floors.items():
        for measure, floor in of_mode.items():
            if floor != gated.baseline.floors.get(name, {}).get(measure):
                remark(f"{name}: the floor of {measure} is now {floor:g}", quiet)
    remark(f"accepted; the baseline is in {Path(path).name}", quiet)
    return 0


@command.command("reject")
@click.argument("folder", default=".")
@_mode_option
@click.option("--why", required=True, metavar="TEXT", help="The reason, for the experiment log.")
@_quiet_option
def reject(folder: str, modes: tuple[str, ...], why: str, quiet: bool) -> None:
    """Write what the project in FOLDER reaches now into the experiment log as rejected; the baseline stays."""
    from rankproof.project.project import load_project

    project = load_project(folder)
    gated = _gated(project, modes, quiet)
    _log(project, _experiment(gated, "rejected", why, {}), quiet)
    remark("rejected; the baseline stays as it was", quiet)


def _gated(project: Project, modes: tuple[str, ...], quiet: bool) -> Gated:
    from rankproof.baseline import FILE
    from rankproof.cli.gated import gate_project

    if not (project.folder / FILE).exists():
        raise UsageError(f"There is no {FILE} that this could be a change to; `rankproof baseline record` makes one.")
    return gate_project(project, modes, quiet=quiet)


def _kept(path: str, quiet: bool) -> Baseline | None:
    """What the file holds so far."""
    from rankproof.baseline import read_baseline

    if not os.path.exists(path):
        return None
    try:
        return read_baseline(path)
    except BadInput as exc:
        remark(f"{exc}; floors that stood in it are not kept", quiet)
        return None


def _refuse_to_leave_out(kept: Baseline | None, modes: tuple[str, ...]) -> None:
    """A pipeline that is not named would leave the file, and with it the gate."""
    others = [name for name in kept.scores if name not in modes] if kept is not None and modes else []
    if others:
        raise UsageError(
            f"The baseline also holds {', '.join(others)}, which would be lost. Name every pipeline that is to stay "
            "with --mode, or none; or delete the file first."
        )


def _refuse_holes(evaluated: Evaluated) -> None:
    found = evaluated.found
    if found.unmeasured:
        failed = count(len(found.unmeasured), "query", "queries")
        reason = next(iter(next(iter(found.unmeasured.values())).values()))
        raise NotMeasured(f"{failed} could not be measured, so no baseline was recorded. The first: {reason}")


def _refuse_below_project(gated: Gated) -> None:
    """A floor that somebody wrote into the project file is not lowered behind their back."""
    for mode in gated.evaluated.found.modes:
        means = mode.scores.mean()
        for measure, floor in gated.rules.floors.items():
            if means[str(measure)] < floor - 1e-12:
                raise UsageError(
                    f"{measure} of {mode.name!r} is {means[str(measure)]:.4f}, below the floor {floor:g} that stands "
                    "under `gate:` in the project file. Lower it there if that is meant, where the change is reviewed."
                )


def _reached(mode: Mode, rules: Rules, before: Mapping[Measure, float]) -> dict[Measure, float]:
    """What the measures that have a rule reach, less what they may fall by."""
    means = mode.scores.mean()
    reached = {}
    for measure in dict.fromkeys((*rules.floors, *rules.max_drop, *before)):
        value, drop = means[str(measure)], rules.max_drop.get(measure)
        reached[measure] = value - (drop.allowed(value) if drop is not None else 0.0)
    return reached


def _write(evaluated: Evaluated, path: str, floors: Floors) -> None:
    from rankproof.reports.gate import baseline_json

    _refuse_holes(evaluated)
    library = evaluated.place.library
    text = baseline_json(
        evaluated.found, gold=evaluated.gold.qrels.digest, corpus=None if library is None else library.digest,
        groups=evaluated.gold.groups, floors=floors,
    )  # fmt: skip
    write_result(text, path)


def _experiment(gated: Gated, decision: Decision, why: str, lowered: dict[str, dict[str, float]]) -> Experiment:
    from rankproof.experiments import Experiment, changes_of

    assert gated.baseline is not None
    found, library = gated.evaluated.found, gated.evaluated.place.library
    return Experiment(
        decision, _today(), why.strip(), gated.outcome, found.n_scored,
        {mode.name: changes_of(gated.baseline.of(mode.name), mode.scores) for mode in found.modes},
        lowered,
        {mode.name: mode.run.digest for mode in found.modes},
        gated.evaluated.gold.qrels.digest,
        None if library is None else library.digest,
    )  # fmt: skip


def _today() -> str:
    """The date in UTC, or that of SOURCE_DATE_EPOCH where a build must come out the same every time."""
    from datetime import UTC, datetime

    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return now.date().isoformat()


def _log(project: Project, experiment: Experiment, quiet: bool) -> None:
    from rankproof.data.files import append_line
    from rankproof.experiments import FILE
    from rankproof.reports.experiments import experiment_line

    append_line(project.folder / FILE, experiment_line(experiment))
    remark(f"written down in {FILE}", quiet)
