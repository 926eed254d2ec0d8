"""`rankproof gate`: may the build pass?"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankproof.cli.options import format_option, output_options
from rankproof.cli.output import remark, text_room, write_result
from rankproof.errors import RankproofError

if TYPE_CHECKING:
    from rankproof.gate import Outcome
    from rankproof.reports.gate import Verdicts

EXIT_CODES: dict[Outcome, int] = {"pass": 0, "worse": 1, "not measured": 4}

_STEP_BYTES = 1 << 20
"""What GitHub takes of all summaries of a step."""


@click.command("gate", short_help="Say whether the build may pass.")
@click.argument("folder", default=".")
@click.option(
    "--mode", "modes", multiple=True, metavar="NAME", help="A pipeline. Default: those of the baseline, or all."
)
@click.option("--baseline", "baseline_file", metavar="FILE", help="Default: rankproof-baseline.json, if it is there.")
@click.option("--junit", metavar="FILE", help="Also write JUnit XML, one case per rule.")
@click.option("--markdown", metavar="FILE", help="Also write Markdown, for a comment on the change.")
@click.option(
    "--github/--no-github", default=None,
    help="Also write the summary of the step and annotations. Default: if GITHUB_ACTIONS is `true`.",
)  # fmt: skip
@format_option("text", "json", "markdown")
@output_options
def command(
    folder: str, modes: tuple[str, ...], baseline_file: str | None, junit: str | None, markdown: str | None,
    github: bool | None, form: str, output: str | None, quiet: bool,
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
    from rankproof.project.project import FILE, load_project
    from rankproof.reports.gate import gate_json, gate_markdown, gate_text, undecided

    on_github = os.environ.get("GITHUB_ACTIONS") == "true" if github is None else github
    beside = _Beside(junit, markdown, on_github, quiet)
    try:
        project = load_project(folder)
        gated = gate_project(project, modes, baseline_file=baseline_file, quiet=quiet)
    except RankproofError as exc:
        # What an earlier build left must not stand for this one. A report that cannot be written hides no error.
        with suppress(RankproofError):
            beside.write(undecided(str(exc)), Path(folder) if Path(folder).is_file() else Path(folder, FILE))
        raise
    forms = {"json": gate_json, "markdown": gate_markdown}
    text = forms[form](gated.verdicts) if form in forms else gate_text(gated.verdicts, width=text_room(output))
    if on_github and form == "text" and output is None:
        from rankproof.reports.github import for_log

        text = for_log(text)
    try:
        write_result(text, output)
    finally:
        beside.write(gated.verdicts, project.file)
    return EXIT_CODES[gated.outcome]


@dataclass(frozen=True)
class _Beside:
    """What is written beside the result, for the build system."""

    junit: str | None
    markdown: str | None
    github: bool
    quiet: bool

    def write(self, verdicts: Verdicts, project_file: Path) -> None:
        from rankproof.reports.gate import gate_junit, gate_markdown

        if self.github:
            from rankproof.reports.github import annotations

            for line in annotations(verdicts, _from_workspace(project_file)):
                click.echo(line, err=True)
            _summarise(verdicts, self.quiet)
        if self.junit is not None:
            write_result(gate_junit(verdicts), self.junit)
        if self.markdown is not None:
            write_result(gate_markdown(verdicts), self.markdown)


def _summarise(verdicts: Verdicts, quiet: bool) -> None:
    """Append to the summary of the step; a gate does not fail because its summary cannot be written."""
    from rankproof.reports.github import SUMMARY_BYTES, step_summary

    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with open(path, "ab") as file:
            before = file.tell()
            room = min(SUMMARY_BYTES, _STEP_BYTES - before - 1)
            text = step_summary(verdicts, most=room).encode()
            if len(text) > room:
                remark("the summary of the step is full, so the gate is not in it", quiet)
                return
            file.write(b"\n" + text if before else text)
    except OSError as exc:
        remark(f"the summary of the step cannot be written: {exc.strerror or exc}", quiet)


def _from_workspace(file: Path) -> str:
    """The path as GitHub knows it, from the root of the repository."""
    root, whole = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve(), file.resolve()
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else file.name
