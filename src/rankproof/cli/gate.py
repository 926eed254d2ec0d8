"""`rankproof gate`: may the build pass?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankproof.cli.options import format_option, output_options
from rankproof.cli.output import write_result

if TYPE_CHECKING:
    from rankproof.gate import Outcome

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
    from rankproof.cli.gated import gate_project
    from rankproof.project.project import load_project
    from rankproof.reports.gate import gate_json, gate_junit, gate_markdown, gate_text

    gated = gate_project(load_project(folder), modes, baseline_file=baseline_file, quiet=quiet)
    forms = {"text": gate_text, "json": gate_json, "markdown": gate_markdown}
    write_result(forms[form](gated.verdicts), output)
    if junit is not None:
        write_result(gate_junit(gated.verdicts), junit)
    return EXIT_CODES[gated.outcome]
