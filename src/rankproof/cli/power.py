"""`rankproof power`: how many queries it takes to see a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankproof.cli.options import format_option, measures_option, output_options, preset_option
from rankproof.cli.output import plot_room, write_result
from rankproof.cli.scored import score_runs
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.planning import Plan

DEFAULT_MEASURE = "nDCG@10"


@click.command("power", short_help="Say how many queries it takes to see a difference.")
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1)
@measures_option(DEFAULT_MEASURE)
@click.option("--difference", type=float, default=0.02, show_default=True, help="The difference that you want to see.")
@click.option("--power", type=float, default=0.8, show_default=True, help="How surely you want to see it.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of the test.")
@click.option(
    "--correlation", type=float, metavar="R",
    help="With one run: how its queries are assumed to correlate with those of another system. Default: 0.7.",
)  # fmt: skip
@click.option("--sd", type=float, metavar="X", help="Instead of files: the standard deviation of the differences.")
@click.option("--queries", "n", type=int, metavar="N", help="With --sd: how many queries you have.")
@preset_option
@format_option("text", "json")
@click.option("--svg", metavar="FILE", help="Also draw the curve.")
@output_options
def command(
    qrels: str | None, runs: tuple[str, ...], measures: tuple[str, ...], correlation: float | None, sd: float | None,
    n: int | None, preset: str, form: str, svg: str | None, output: str | None, quiet: bool, **goal: Any,
) -> None:  # fmt: skip
    """Say how many queries it takes to see a difference, and the smallest one that the queries at hand can show.

    From judgments and two RUNS, whose differences tell how much queries vary; from one run, with an assumption on
    the other; or from a standard deviation that you know.

    \b
    rankproof power qrels.txt bm25.run dense.run -m nDCG@10 --difference 0.02
    rankproof power qrels.txt bm25.run -m nDCG@10 -m RR@10 --correlation 0.8
    rankproof power --sd 0.2 --queries 55 --difference 0.02
    """
    if svg == "-" and output in (None, "-"):
        raise UsageError("The answer and the drawing cannot both go to stdout; name a file for one of them.")
    if sd is None and n is None:
        plans = _from_runs(qrels, runs, measures, correlation, preset, quiet, goal)
    else:
        plans = _from_spread(sd, n, qrels, measures, correlation, goal)
    from rankproof.reports.power import plans_json, plans_svg, plans_text

    width, ascii_only = plot_room(output)
    write_result(plans_json(plans) if form == "json" else plans_text(plans, width=width, ascii=ascii_only), output)
    if svg is not None:
        write_result(plans_svg(plans), svg)


def _from_runs(
    qrels: str | None, runs: tuple[str, ...], measures: tuple[str, ...], correlation: float | None, preset: str,
    quiet: bool, goal: dict[str, float],
) -> list[Plan]:  # fmt: skip
    from rankproof.measures.parse import parse_measures
    from rankproof.planning import plan

    if qrels is None or not 1 <= len(runs) <= 2:
        raise UsageError(
            "Give judgments and one or two runs: rankproof power QRELS BASELINE.run CANDIDATE.run\n"
            "or what you know of the differences: rankproof power --sd 0.2 --queries 55"
        )
    chosen = parse_measures(measures or (DEFAULT_MEASURE,))
    scores = score_runs(qrels, runs, chosen, preset, quiet)
    return [plan(scores, measure, correlation=correlation, **goal) for measure in chosen]


def _from_spread(
    sd: float | None, n: int | None, qrels: str | None, measures: tuple[str, ...], correlation: float | None,
    goal: dict[str, float],
) -> list[Plan]:  # fmt: skip
    from rankproof.planning import plan_from_spread

    if sd is None or n is None:
        raise UsageError("--sd and --queries go together, as in --sd 0.2 --queries 55.")
    if qrels is not None or correlation is not None:
        given = "files" if qrels is not None else "--correlation"
        raise UsageError(f"--sd says how much differences vary, so leave out {given}; or leave out --sd and --queries.")
    if len(measures) > 1:
        raise UsageError("--sd belongs to one measure; name one with -m, or none.")
    return [plan_from_spread(sd, n, measure=measures[0] if measures else None, **goal)]
