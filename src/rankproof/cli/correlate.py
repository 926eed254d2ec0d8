"""`rankproof correlate`: do measures, or judgments, put systems in the same order?"""

from __future__ import annotations

from pathlib import Path

import click

from rankproof.cli.options import DEFAULT_MEASURES, format_option, measures_option, output_options, preset_option
from rankproof.cli.output import write_result
from rankproof.cli.scored import score_runs


@click.command("correlate", short_help="Say whether measures or judgments order systems alike.")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@measures_option()
@click.option("--against", metavar="QRELS", help="Other judgments: also compare the orders under both, per measure.")
@preset_option
@format_option("text", "json", "csv")
@output_options
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], against: str | None, preset: str, form: str,
    output: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Order the systems behind the RUNS by each measure, and say how far the orders agree.

    Kendall's τ counts all pairs of systems alike; τ_AP counts those at the top for more. The pairs that change places
    are listed.

    \b
    rankproof correlate qrels.txt *.run -m nDCG@10 -m AP -m RR
    rankproof correlate qrels.txt *.run -m nDCG@10 --against llm-judgments.txt
    """
    from rankproof.agreement import correlate
    from rankproof.measures.parse import parse_measures
    from rankproof.reports import agreement as reports

    chosen = parse_measures(measures or DEFAULT_MEASURES)
    scores = score_runs(qrels, runs, chosen, preset, quiet)
    others = score_runs(against, runs, chosen, preset, quiet) if against is not None else None
    found = correlate(scores, others, judgments=(Path(qrels).name, Path(against or "").name))
    render = {"text": reports.correlations_text, "json": reports.correlations_json, "csv": reports.correlations_csv}
    write_result(render[form](found), output)
