"""`rankproof baseline`: keep what was measured, so that later builds can be held against it."""

from __future__ import annotations

from pathlib import Path

import click

from rankproof.cli.options import measures_option
from rankproof.cli.output import remark, write_result
from rankproof.errors import NotMeasured, count


@click.group("baseline", short_help="Keep what was measured, for later builds to be held against.")
def command() -> None:
    """Keep what was measured in a small file beside the code, for `rankproof gate` to hold later builds against."""


@command.command("record")
@click.argument("folder", default=".")
@click.option("--mode", "modes", multiple=True, metavar="NAME", help="A pipeline; may be repeated. Default: all.")
@measures_option("the project's")
@click.option("-o", "--output", metavar="FILE", help="Default: rankproof-baseline.json beside rankproof.yaml.")
@click.option("--quiet", is_flag=True, help="No progress and no remarks.")
def record(
    folder: str, modes: tuple[str, ...], measures: tuple[str, ...], output: str | None, quiet: bool
) -> None:  # fmt: skip
    """Run the pipelines of the project in FOLDER and keep their scores.

    Nothing is kept if a query could not be measured: a baseline has no holes.
    """
    from rankproof.baseline import FILE
    from rankproof.cli.evaluated import evaluate_project
    from rankproof.project.project import load_project
    from rankproof.reports.gate import baseline_json

    project = load_project(folder)
    evaluated = evaluate_project(project, modes, measures, quiet=quiet)
    found = evaluated.found
    if found.unmeasured:
        failed = count(len(found.unmeasured), "query", "queries")
        reason = next(iter(next(iter(found.unmeasured.values())).values()))
        raise NotMeasured(f"{failed} could not be measured, so no baseline was recorded. The first: {reason}")
    library = evaluated.place.library
    text = baseline_json(
        found, gold=evaluated.gold.qrels.digest, corpus=None if library is None else library.digest,
        groups=evaluated.gold.groups,
    )  # fmt: skip
    path = output or str(project.folder / FILE)
    write_result(text, path)
    remark(f"the baseline of {count(found.n_scored, 'query', 'queries')} is in {Path(path).name}", quiet)
