"""`rankproof discriminate`: how many pairs of systems a measure tells apart."""

from __future__ import annotations

import click

from rankproof.cli.options import DEFAULT_MEASURES, format_option, measures_option, output_options, preset_option
from rankproof.cli.output import work_progress, write_result
from rankproof.cli.scored import score_runs


@click.command("discriminate", short_help="Say how many pairs of systems a measure tells apart.")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@measures_option()
@click.option("--alpha", type=float, default=0.05, show_default=True, help="A pair is told apart if p is below.")
@click.option("--permutations", type=int, default=100_000, show_default=True, help="Of each randomisation test.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random permutations.")
@preset_option
@format_option("text", "json", "csv")
@click.option("--svg", metavar="FILE", help="Also draw the p-values of all pairs, one curve for each measure.")
@output_options
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], alpha: float, permutations: int, seed: int,
    preset: str, form: str, svg: str | None, output: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Test every two of the RUNS under each measure, and say how many pairs it tells apart (discriminative power).

    Of two measures that mean the same to you, the one with more power needs fewer queries.

    \b
    rankproof discriminate qrels.txt *.run -m nDCG@10 -m AP -m P@10
    """
    from rankproof.agreement import discriminate
    from rankproof.measures.parse import parse_measures
    from rankproof.reports import agreement as reports

    chosen = parse_measures(measures or DEFAULT_MEASURES)
    scores = score_runs(qrels, runs, chosen, preset, quiet)
    with work_progress("permutations", quiet) as progress:
        found = discriminate(scores, alpha=alpha, permutations=permutations, seed=seed, progress=progress)
    render = {
        "text": reports.discriminations_text,
        "json": reports.discriminations_json,
        "csv": reports.discriminations_csv,
    }
    write_result(render[form](found), output)
    if svg is not None:
        write_result(reports.discriminations_svg(found), svg)
