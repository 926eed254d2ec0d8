"""`rankproof fuse`: several runs made into one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli.output import remark, work_progress, write_result
from rankproof.errors import UsageError, count

if TYPE_CHECKING:
    from rankproof.data.run import Run
    from rankproof.fusion.candidates import Candidates


@click.command("fuse", short_help="Make one run of several.")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--by",
    metavar="METHOD",
    help="rrf, weighted, combsum, combmnz, combanz, combmax, combmin, combmed, isr, borda or condorcet. "
    "Default: rrf; with --tune weighted.",
)
@click.option("--k", type=float, metavar="NUMBER", help="Of rrf: how little the first ranks stand out. Default: 60.")
@click.option("--weights", metavar="W,W…", help="Of rrf and weighted: one number for each run, as in 0.3,0.7.")
@click.option(
    "--normalize",
    metavar="NAME",
    help="How methods that look at scores bring them to one scale: none, min-max, z-score, rank, max or sum. "
    "Default: min-max.",
)
@click.option(
    "--depth", type=click.IntRange(1), default=1000, show_default=True, help="Documents to keep for each query."
)
@click.option("--tag", metavar="NAME", help="What the run calls itself. Default: rankproof- and the method.")
@click.option(
    "--tune",
    "qrels",
    metavar="QRELS",
    help="Choose the weights on a part of these judgments and print what they score on the rest; the fused run is "
    "written with -o only.",
)
@click.option("-m", "--measure", metavar="NAME", help="With --tune: what to tune for. Default: nDCG@10.")
@click.option(
    "--split", type=float, metavar="SHARE", help="With --tune: the part of the queries to choose on. Default: 0.5."
)
@click.option("--step", type=float, help="With --tune: how far apart the weights lie that are tried. Default: 0.1.")
@click.option("--seed", type=int, help="With --tune: of the hash that parts the queries. Default: 0.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), help="With --tune: of what is printed. Default: text."
)
@click.option("-o", "--output", metavar="FILE", help="Write the run to a file, in the format of its suffix.")
@click.option("--quiet", is_flag=True, help="No progress and no remarks.")
def command(
    runs: tuple[str, ...], by: str | None, k: float | None, weights: str | None, normalize: str | None, depth: int,
    tag: str | None, qrels: str | None, output: str | None, quiet: bool, **tuning: Any,
) -> None:  # fmt: skip
    """Fuse two or more RUNS and print the result as a TREC run.

    Queries come by their id, documents by fused score, equal ones by id from high to low.

    \b
    rankproof fuse bm25.run dense.run -o hybrid.run
    rankproof fuse bm25.run dense.run --by weighted --weights 0.3,0.7 --normalize z-score
    rankproof fuse bm25.run dense.run --tune qrels.txt -m nDCG@10 -o hybrid.run
    """
    options = {name: value for name, value in tuning.items() if value is not None}
    method: dict[str, Any] = {"normalize": normalize, "k": k}
    target = _Target(depth, tag, output, quiet)
    if qrels is not None:
        if weights is not None:
            raise UsageError("Either give the weights or have them tuned; leave out --weights or --tune.")
        _tune(runs, qrels, target, by=by or "weighted", **method, **options)
        return
    if options:
        raise UsageError(
            f"--{next(iter(options)).replace('form', 'format')} says how to tune weights; it goes with --tune QRELS."
        )
    _fuse(runs, target, by=by or "rrf", weights=_numbers(weights), **method)


@dataclass(frozen=True)
class _Target:
    """What becomes of the fused run."""

    depth: int
    tag: str | None
    output: str | None
    quiet: bool

    def write(self, run: Run) -> None:
        run.write(self.output or "-", format="trec" if self.output in (None, "-") else None)

    def say_what_was_fused(self, candidates: Candidates) -> None:
        queries = count(len(candidates.query_ids), "query", "queries")
        documents = count(len(candidates), "document", "documents")
        overlap = f"{candidates.overlap():.1%} of a query's documents stand in more than one run"
        remark(f"{candidates.n_runs} runs: {queries}, {documents}; in the mean {overlap}", self.quiet)


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as exc:
        raise UsageError(f"Weights are numbers with commas between them, as in 0.3,0.7; {text!r} is not.") from exc


def _fuse(runs: tuple[str, ...], target: _Target, *, by: str, **method: Any) -> None:
    from rankproof.data.run import Run
    from rankproof.fusion.candidates import lay_over
    from rankproof.fusion.fuse import fused_run
    from rankproof.fusion.registry import choose

    fusion = choose(by, len(runs), **method)
    candidates = lay_over([Run.read(run) for run in runs])
    target.say_what_was_fused(candidates)
    target.write(fused_run(candidates, fusion, depth=target.depth, name=target.tag))


def _tune(
    runs: tuple[str, ...], qrels: str, target: _Target, *, measure: str = "nDCG@10", split: float = 0.5,
    form: str = "text", **options: Any,
) -> None:  # fmt: skip
    from rankproof.reports.tuning import tuning_json, tuning_text
    from rankproof.tuning import tune_weights

    with work_progress("weights", target.quiet) as progress:
        found = tune_weights(
            runs, qrels, measure, train_share=split, depth=target.depth, progress=progress, **options
        )  # fmt: skip
    target.say_what_was_fused(found.candidates)
    if target.output is not None:
        target.write(found.run(depth=target.depth, name=target.tag))
    write_result(tuning_json(found) if form == "json" else tuning_text(found), None)
