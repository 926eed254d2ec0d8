"""`rankproof label`: people judge results, and what they say is on disk before it is acknowledged."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankproof.cli.output import remark
from rankproof.cli.sources import DEFAULT_OUT, Sources, judging_options, read_guideline, user_name
from rankproof.errors import count

if TYPE_CHECKING:
    from rankproof.labeling.session import Session


@click.command("label", short_help="Judge results, one document after the other.")
@click.argument("folder", default=".")
@click.option("--plain", is_flag=True, help="Prompts line by line: for pipes, plain terminals and screen readers.")
@judging_options
@click.option("--query", "query_number", type=int, metavar="N", help="Begin at query N, counted from 1.")
@click.option("--resume/--restart", default=True, help="Go on (the default), or start over and keep a backup.")
@click.option("--mend", is_flag=True, help="Set damaged lines of the journal aside and keep the others.")
@click.option("--quiet", is_flag=True, help="No progress and no remarks.")
def command(
    folder: str, plain: bool, queries: str | None, corpus_file: str | None, run_files: tuple[str, ...],
    pipelines: tuple[str, ...], annotator: str | None, out: str | None, labels: str | None, depth: int, seed: int,
    query_number: int | None, resume: bool, unjudged_only: bool, show_rank: bool, groups_file: str | None,
    guideline: str | None, force_unlock: bool, mend: bool, quiet: bool,
) -> int:  # fmt: skip
    """Judge the results of runs, or of pipelines of the project in FOLDER, as relevant, partial or not relevant.

    The best results of all runs are pooled and shown in shuffled order. Each judgment is on disk before `saved` is
    said: it is appended to a journal of the annotator, and the ground-truth file is written from the journals after
    each query. Labels that are there are continued, never overwritten.

    \b
    rankproof label --pipeline keyword --pipeline vector --depth 10
    rankproof label --plain --queries queries.tsv --corpus corpus.jsonl --run bm25.run
    """
    from rankproof.labeling.session import Session

    if not plain:
        from rankproof.terminal.app import require_screen

        require_screen()
    text = None if guideline is None else read_guideline(guideline)
    sources = Sources(folder, queries, corpus_file, run_files, pipelines, groups_file, quiet)
    target = Path(out) if out is not None else sources.folder / DEFAULT_OUT
    pool = sources.pool(target, depth=depth, seed=seed, unjudged_only=unjudged_only)
    with Session.open(
        pool, target, annotator or user_name(), labels=labels, show_rank=show_rank, restart=not resume,
        force_unlock=force_unlock, mend=mend,
    ) as session:  # fmt: skip
        if plain:
            for notice in session.notices:
                remark(notice, quiet)
        if query_number is not None:
            session.go_to(query_number)
        elif plain and session.finished:
            remark("Everything is judged already; --query N shows a query again.", quiet)
            return 0
        code = _talk(session, text) if plain else _show(session, text, target)
        behind = session.close()
    if behind:
        remark(behind, quiet=False)
    remark(f"{target}: {count(session.current.n_judged, 'judgment', 'judgments')} by {session.annotator}", quiet)
    return code


def _show(session: Session, guideline: str | None, file: Path) -> int:
    from rankproof.terminal.app import run_labeller

    return run_labeller(session, guideline=guideline, file=file)


def _talk(session: Session, guideline: str | None) -> int:
    from rankproof.labeling.plain import Plain

    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            # A terminal that lacks a character, or a byte that is none, must not end the session.
            stream.reconfigure(errors="replace")

    def say(text: str) -> None:
        click.echo(text)

    def ask(prompt: str) -> str | None:
        click.echo(prompt, nl=False)
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            click.echo("")
        return line.rstrip("\r\n") if line else None

    try:
        Plain(session, ask, say, guideline=guideline).run()
    except BrokenPipeError:
        # Whoever read our prompts has gone, which ends the session as the end of the input does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
