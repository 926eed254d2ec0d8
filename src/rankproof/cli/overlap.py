"""`rankproof overlap`: how much runs have in common, without any judgments."""

from __future__ import annotations

import click

from rankproof.cli.options import format_option, output_options
from rankproof.cli.output import remark, write_result
from rankproof.errors import count


@click.command("overlap", short_help="Say how much runs have in common.")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-p",
    "persistence",
    type=float,
    default=0.9,
    show_default=True,
    help="How much the depths below count: with 0.9 the first ten ranks make up 86% of the value.",
)
@click.option("--depth", type=int, default=100, show_default=True, help="The last rank that is looked at.")
@format_option("text", "json", "csv")
@output_options
def command(
    runs: tuple[str, ...], persistence: float, depth: int, form: str, output: str | None, quiet: bool
) -> None:  # fmt: skip
    """Compare every two of the RUNS: rank-biased overlap, and the share of documents in common at 1, 5, 10 and 100.

    It needs no judgments. A low overlap says that a change touched what people see, not whether it is better.

    \b
    rankproof overlap old.run new.run
    rankproof overlap bm25.run dense.run hybrid.run -p 0.95 --depth 1000
    """
    from rankproof.agreement import overlap
    from rankproof.data.run import Run
    from rankproof.reports import agreement as reports

    held = [Run.read(path) for path in runs]
    for run in held:
        results, queries = count(len(run), "result", "results"), count(len(run.query_ids), "query", "queries")
        remark(f"{run.source}: {results} for {queries}", quiet)
    found = overlap(held, p=persistence, depth=depth)
    render = {"text": reports.overlaps_text, "json": reports.overlaps_json, "csv": reports.overlaps_csv}
    write_result(render[form](found), output)
