"""`rankproof init`: a project file, written after a look at what is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankproof.cli.output import write_result

if TYPE_CHECKING:
    from rankproof.project.starter import Started


@click.command("init", short_help="Write a project file after a look at the folder.")
@click.argument("folder", default=".")
@click.option("--gold", metavar="FILE", help="The gold set, if it is not the one that would be found.")
@click.option("--corpus", metavar="PATH", help="The documents: a file, a folder, or a pattern such as 'docs/**/*.md'.")
@click.option("--force", is_flag=True, help="Overwrite a rankproof.yaml that is there.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
def command(folder: str, gold: str | None, corpus: str | None, force: bool, quiet: bool) -> None:
    """Look at FOLDER and write a rankproof.yaml for it, with comments.

    Looks for pages (.md, .markdown, .txt), BEIR folders, JSON lines and CSV files, and for gold sets. Where there is no
    gold set, an empty gold.csv is written as well. Nothing is overwritten, and either all is written or nothing.
    Exits with 5 if there is nothing to search.

    \b
    rankproof init
    rankproof init wiki --corpus 'wiki/pages/**/*.md' --gold wiki/gold.csv
    """
    from rankproof.project.starter import start_project

    started = start_project(Path(folder), gold=gold, corpus=corpus, force=force)
    if not quiet:
        write_result(_told(started, folder), None)


def _told(started: Started, folder: str) -> str:
    lines = ["Saw:", *(f"  {line}" for line in started.saw), "Wrote:"]
    lines += [f"  {(Path(folder) / name).as_posix()}" for name in started.wrote]
    lines.append("Next:")
    go = "" if folder == "." else f"cd {folder}; "
    if not started.has_gold:
        lines.append(f"  add queries to {(Path(folder) / 'gold.csv').as_posix()}: its comments show how")
    lines.append(f"  {go}rankproof eval")
    if not started.has_vectors:
        lines.append('  pip install "rankproof[dense]" to search by meaning as well; see the comments')
    return "\n".join(lines) + "\n"
