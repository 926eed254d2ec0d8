"""`rankproof log`: what was tried, what was accepted, and why."""

from __future__ import annotations

import click

from rankproof.cli.options import format_option, output_options
from rankproof.cli.output import plot_room, remark, write_result
from rankproof.errors import NothingToEvaluate


@click.command("log", short_help="List the changes that were accepted or rejected.")
@click.argument("folder", default=".")
@click.option("--last", "shown", type=click.IntRange(0), default=20, show_default=True, help="How many; 0: all.")
@format_option("text", "json", "markdown", "svg")
@output_options
def command(folder: str, shown: int, form: str, output: str | None, quiet: bool) -> None:
    """List every change to the project in FOLDER that was accepted or rejected, with its figures, the newest first.

    The log is rankproof-log.jsonl beside rankproof.yaml; `rankproof baseline accept` and `reject` write it.
    """
    from rankproof.experiments import FILE, read_log
    from rankproof.project.project import find_project
    from rankproof.reports.experiments import log_json, log_markdown, log_svg, log_text

    path = find_project(folder).parent / FILE
    torn: list[str] = []
    experiments = read_log(path, torn) if path.exists() else []
    for line in torn:
        remark(f"{line}; the line was left out", quiet)
    if not experiments:
        raise NothingToEvaluate(
            f"There is no {FILE} yet: `rankproof baseline accept` and `rankproof baseline reject` write into it."
        )
    if form == "text":
        width, ascii_only = plot_room(output)
        text = log_text(experiments, shown=shown, width=width, ascii=ascii_only)
    elif form == "svg":
        drawn = log_svg(experiments)
        if drawn is None:
            raise NothingToEvaluate("No change was accepted yet, so there is nothing to draw.")
        text = drawn
    else:
        forms = {"json": log_json, "markdown": log_markdown}
        text = forms[form](experiments, shown=shown)
    write_result(text, output)
