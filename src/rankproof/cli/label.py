"""`rankproof label`: people judge results, and what they say is on disk before it is acknowledged."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankproof.cli.output import remark, stage_progress
from rankproof.errors import NotMeasured, UsageError, count

if TYPE_CHECKING:
    from rankproof.data.corpus import Corpus
    from rankproof.data.gold import GoldSet
    from rankproof.data.run import Run
    from rankproof.labeling.pool import Pool
    from rankproof.labeling.session import Session
    from rankproof.project.project import Project

DEFAULT_OUT = "data/retrieval-ground-truth.json"


@click.command("label", short_help="Judge results, one document after the other.")
@click.argument("folder", default=".")
@click.option("--plain", is_flag=True, help="Prompts line by line: for pipes, plain terminals and screen readers.")
@click.option("--queries", metavar="FILE", help="The queries: a gold set in any format. Default: the project's.")
@click.option("--corpus", "corpus_file", metavar="PATH", help="The documents. Default: the project's.")
@click.option("--run", "run_files", multiple=True, metavar="FILE", help="Results to judge; may be repeated.")
@click.option(
    "--pipeline", "pipelines", multiple=True, metavar="NAME", help="A pipeline of the project; may be repeated."
)
@click.option("--annotator", metavar="NAME", help="Who judges. Default: the name of the user.")
@click.option(
    "--out", metavar="FILE", help=f"The ground-truth file. Default: {DEFAULT_OUT}, from the project's folder."
)
@click.option("--labels", metavar="FOLDER", help="Where the journals are. Default: labels/ beside the file.")
@click.option("--depth", type=click.IntRange(1), default=5, show_default=True, help="Results to take from each run.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order in which documents are shown.")
@click.option("--query", "query_number", type=int, metavar="N", help="Begin at query N, counted from 1.")
@click.option("--resume/--restart", default=True, help="Go on (the default), or start over and keep a backup.")
@click.option("--unjudged-only", is_flag=True, help="Leave out what the gold set judges; else that comes last.")
@click.option("--show-rank", is_flag=True, help="Show system, rank and score, which may lead the judge.")
@click.option("--group-by", "groups_file", metavar="FILE", help="Groups of queries. Default: those of the gold set.")
@click.option("--guideline", metavar="FILE", help="A text on how to judge, shown by the key h.")
@click.option("--force-unlock", is_flag=True, help="Take over the lock of a host that is gone.")
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
    text = None if guideline is None else _guideline(guideline)
    sources = _Sources(folder, queries, corpus_file, run_files, pipelines, groups_file, quiet)
    target = Path(out) if out is not None else sources.folder / DEFAULT_OUT
    pool = sources.pool(target, depth=depth, seed=seed, unjudged_only=unjudged_only)
    with Session.open(
        pool, target, annotator or _user(), labels=labels, show_rank=show_rank, restart=not resume,
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


class _Sources:
    """Where queries, documents and results come from: files, or the project where no file is named."""

    def __init__(
        self, folder: str, queries: str | None, corpus: str | None, runs: tuple[str, ...], pipelines: tuple[str, ...],
        groups: str | None, quiet: bool,
    ) -> None:  # fmt: skip
        self.queries, self.corpus_file, self.runs = queries, corpus, runs
        self.pipelines, self.groups, self.quiet = pipelines, groups, quiet
        self.project: Project | None = None
        if queries is None or corpus is None or not runs or pipelines:
            self.project = _project(folder, queries, corpus, groups, bool(runs))
        self.folder = Path() if self.project is None else self.project.folder

    def pool(self, target: Path, *, depth: int, seed: int, unjudged_only: bool) -> Pool:
        """The pool of all results that are to be judged."""
        from rankproof.labeling.pool import make_pool

        gold = self._gold()
        # What the file itself says is the journal's matter; only what others judged changes the order.
        own = Path(gold.source).resolve() == target.resolve()
        return make_pool(
            gold.queries, self._runs(gold, depth), self._corpus(), depth=depth, seed=seed,
            judged=None if own else gold.qrels.to_dict(), then="leave out" if unjudged_only else "last",
        )  # fmt: skip

    def _gold(self) -> GoldSet:
        from rankproof.data.gold import GoldSet
        from rankproof.data.groups import read_groups

        if self.project is None:
            assert self.queries is not None
            gold = GoldSet.read(self.queries)
            groups = gold.groups if self.groups is None else read_groups(self.groups)
        else:
            gold, groups = self.project.gold(), self.project.groups()
        return replace(gold, queries=tuple(replace(query, group=groups.get(query.id)) for query in gold.queries))

    def _corpus(self) -> Corpus:
        from rankproof.data.corpus import Corpus

        if self.project is None:
            assert self.corpus_file is not None
            return Corpus.read(self.corpus_file)
        library = self.project.library()
        if library is None:
            raise UsageError("The project names no corpus; add `corpus:` to rankproof.yaml or give --corpus.")
        return library.documents

    def _runs(self, gold: GoldSet, depth: int) -> list[Run]:
        from rankproof.data.run import Run

        runs = []
        for path in self.runs:
            run = Run.read(path)
            run.name = run.name or Path(path).name
            runs.append(run)
        if self.project is None or (self.runs and not self.pipelines):
            return runs
        return [*runs, *self._pipeline_runs(self.project, gold)]

    def _pipeline_runs(self, project: Project, gold: GoldSet) -> list[Run]:
        from rankproof.retrieval.pipeline import Runner

        names = self.pipelines or tuple(project.pipelines)
        if not names:
            raise UsageError("The project names no pipeline; add one under `pipelines:`, or give --run FILE.")
        with stage_progress(self.quiet) as progress:
            runner = Runner(project.pipelines, project.place(progress), cache=project.answers)
            done = [runner.run(name, gold.queries) for name in names]
        for run in done:
            for state in ("not measured", "degraded"):
                for query_id, reason in list(run.of_state(state).items())[:1]:
                    # A pool with holes would look like one in which nothing was found.
                    raise NotMeasured(f"The pipeline {run.name!r} failed for query {query_id!r}: {reason}")
        return [run.to_run() for run in done]


def _project(folder: str, queries: str | None, corpus: str | None, groups: str | None, has_runs: bool) -> Project:
    from rankproof.project.project import load_project

    try:
        return load_project(folder, gold=queries, corpus=corpus, groups=groups)
    except UsageError as exc:
        given = {"--queries": queries is not None, "--corpus": corpus is not None, "--run": has_runs}
        lacking = " and ".join(option for option, there in given.items() if not there)
        if not lacking or lacking.count("--") == len(given):
            raise
        raise UsageError(f"{exc} Without a project, {lacking} must be given.") from exc


def _guideline(path: str) -> str:
    from rankproof.data.files import read_bytes
    from rankproof.data.lines import decode_text

    return decode_text(read_bytes(path), path, 1)


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError) as exc:
        raise UsageError("The name of the user is not known; give one with --annotator.") from exc


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
