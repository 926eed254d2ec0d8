"""`rankproof serve`: label in the browser, and look at annotators, runs and scores."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankproof.cli.output import remark
from rankproof.cli.sources import DEFAULT_OUT, Sources, judging_options, read_guideline, user_name
from rankproof.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from rankproof.labeling.pool import Pool
    from rankproof.labeling.session import Session
    from rankproof.web.desk import Desk
    from rankproof.web.shelf import Shelf


@click.command("serve", short_help="Label in the browser, and look at runs and scores.")
@click.argument("folder", default=".")
@judging_options
@click.option("--adjudicate", is_flag=True, help="The annotator has the last word where the others disagree.")
@click.option("--runs-only", is_flag=True, help="Show saved runs and scores; label nothing.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="0 is any free one. Default: one that stays the same for the same labels.",
)
@click.option("--allow-remote", is_flag=True, help="Let --host be an address that other machines reach.")
@click.option("--open/--no-open", "open_browser", default=False, help="Open the browser. Default: --no-open.")
@click.option("--quiet", is_flag=True, help="No progress and no remarks.")
def command(
    folder: str, queries: str | None, corpus_file: str | None, run_files: tuple[str, ...], pipelines: tuple[str, ...],
    annotator: str | None, adjudicate: bool, out: str | None, labels: str | None, depth: int, seed: int,
    unjudged_only: bool, show_rank: bool, groups_file: str | None, guideline: str | None, force_unlock: bool,
    runs_only: bool, host: str, port: int | None, allow_remote: bool, open_browser: bool, quiet: bool,
) -> None:  # fmt: skip
    """Serve a page on this machine: the labeller of `rankproof label`, progress, agreement, and the saved runs.

    It prints an address with a token; only who has that can open the page. Ctrl-C ends it. Every judgment is on disk
    before the page says `saved`.

    \b
    rankproof serve
    rankproof serve --queries queries.tsv --corpus corpus.jsonl --run bm25.run --annotator anna
    """
    try:
        from rankproof.web.app import Site, make_app
        from rankproof.web.server import access_to, bind, is_loopback, serve, usual_port
    except ModuleNotFoundError as exc:
        raise MissingExtra("The local page", "serve") from exc

    if not is_loopback(host) and not allow_remote:
        raise UsageError(
            f"{host} is not this machine alone: who reaches it and learns the token can read the documents and change"
            " the labels. --allow-remote says that you want that."
        )
    sources = Sources(folder, queries, corpus_file, run_files, pipelines, groups_file, quiet)
    target = Path(out) if out is not None else sources.folder / DEFAULT_OUT
    place = _Place(target, target.parent / "labels" if labels is None else Path(labels), annotator or user_name())
    with ExitStack() as closing:
        desk = None
        if not runs_only:
            pool = sources.pool(target, depth=depth, seed=seed, unjudged_only=unjudged_only)
            session = place.session(pool, closing, show_rank=show_rank, force_unlock=force_unlock)
            text = None if guideline is None else read_guideline(guideline)
            desk = place.desk(session, guideline=text, adjudicates=adjudicate)
            for notice in session.notices:
                remark(notice, quiet)
        opened = closing.enter_context(
            bind(host, usual_port(place.name) if port is None else port, or_any=port is None)
        )  # fmt: skip
        access = access_to(opened)
        app = make_app(Site(desk, _shelf(sources)), access, complain=lambda told: remark(f"rankproof: {told}", False))
        address = f"{access.address}/?token={access.token}"

        def ready() -> None:
            if not is_loopback(host):
                remark(
                    f"WARNING: {host} is reached from other machines. What passes is not encrypted, and who learns the"
                    " address below can read the documents and change the labels.",
                    False,
                )
            click.echo(address)
            remark("Open this address in a browser. Ctrl-C ends the page.", quiet)
            if open_browser:
                import webbrowser

                webbrowser.open(address)

        serve(app, opened, ready)
    remark("The page has ended; everything that it called saved is on disk.", quiet)


@dataclass(frozen=True)
class _Place:
    """Where labels go, and whose they are."""

    target: Path
    labels: Path
    annotator: str

    @property
    def name(self) -> str:
        """The same at each start for the same labels."""
        return f"{self.labels.resolve()}\0{self.annotator}"

    def session(self, pool: Pool, closing: ExitStack, *, show_rank: bool, force_unlock: bool) -> Session:
        """The session, closed with everything else at the end."""
        from rankproof.labeling.session import Session

        session = Session.open(
            pool, self.target, self.annotator, labels=self.labels, show_rank=show_rank, force_unlock=force_unlock
        )

        def close() -> None:
            behind = session.close()
            if behind:
                remark(behind, quiet=False)

        closing.callback(close)
        return session

    def desk(self, session: Session, *, guideline: str | None, adjudicates: bool) -> Desk:
        """The session as the page sees it."""
        from rankproof.web.desk import Desk

        return Desk(session, self.target, self.labels, guideline=guideline, adjudicates=adjudicates)


def _shelf(sources: Sources) -> Shelf:
    """The saved runs, with queries, judgments and documents as far as they are known."""
    from rankproof.web.shelf import Shelf

    folder = Path(".rankproof/runs") if sources.project is None else sources.project.saved_runs
    gold = corpus = None
    with suppress(UsageError):
        gold = sources._gold()
    with suppress(UsageError):
        corpus = sources._corpus()
    return Shelf(folder, gold, corpus)
