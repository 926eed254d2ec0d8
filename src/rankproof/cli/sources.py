"""What `label` and `serve` put before people: queries, documents and results, from files or from the project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rankproof.cli.output import stage_progress
from rankproof.errors import NotMeasured, UsageError

if TYPE_CHECKING:
    from rankproof.data.corpus import Corpus
    from rankproof.data.gold import GoldSet
    from rankproof.data.run import Run
    from rankproof.labeling.pool import Pool
    from rankproof.project.project import Project

DEFAULT_OUT = "data/retrieval-ground-truth.json"

_F = TypeVar("_F", bound=Callable[..., Any])

_JUDGING = (
    click.option("--queries", metavar="FILE", help="The queries: a gold set in any format. Default: the project's."),
    click.option("--corpus", "corpus_file", metavar="PATH", help="The documents. Default: the project's."),
    click.option("--run", "run_files", multiple=True, metavar="FILE", help="Results to judge; may be repeated."),
    click.option(
        "--pipeline", "pipelines", multiple=True, metavar="NAME", help="A pipeline of the project; may be repeated."
    ),
    click.option("--annotator", metavar="NAME", help="Who judges. Default: the name of the user."),
    click.option(
        "--out", metavar="FILE", help=f"The ground-truth file. Default: {DEFAULT_OUT}, from the project's folder."
    ),
    click.option("--labels", metavar="FOLDER", help="Where the journals are. Default: labels/ beside the file."),
    click.option(
        "--depth", type=click.IntRange(1), default=5, show_default=True, help="Results to take from each run."
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Of the order in which documents are shown."),
    click.option("--unjudged-only", is_flag=True, help="Leave out what the gold set judges; else that comes last."),
    click.option("--show-rank", is_flag=True, help="Show system, rank and score, which may lead the judge."),
    click.option(
        "--group-by", "groups_file", metavar="FILE", help="Groups of queries. Default: those of the gold set."
    ),
    click.option("--guideline", metavar="FILE", help="A text on how to judge, shown by a key."),
    click.option("--force-unlock", is_flag=True, help="Take over the lock of a host that is gone."),
)


def judging_options(function: _F) -> _F:
    """What is judged, by whom, and where the labels go."""
    for option in reversed(_JUDGING):
        function = option(function)
    return function


class Sources:
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


def read_guideline(path: str) -> str:
    """The text on how to judge."""
    from rankproof.data.files import read_bytes
    from rankproof.data.lines import decode_text

    return decode_text(read_bytes(path), path, 1)


def user_name() -> str:
    """Who is at the keyboard."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError) as exc:
        raise UsageError("The name of the user is not known; give one with --annotator.") from exc
