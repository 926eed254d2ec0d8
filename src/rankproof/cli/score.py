"""`rankproof score`: files to numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankproof.cli.options import DEFAULT_MEASURES, groups_option, measures_option, output_options, preset_option
from rankproof.cli.output import write_result
from rankproof.cli.scored import score_runs

if TYPE_CHECKING:
    from rankproof.comparison import Findings
    from rankproof.measures.registry import Measure
    from rankproof.project.metrics import MetricsConfig
    from rankproof.scoring.scores import Scores
    from rankproof.stats.intervals import Interval


@click.command("score", short_help="Score runs against judgments.")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@measures_option(more="trec_eval's and ranx's names work too; `rankproof measures` lists all. ")
@preset_option
@click.option("--per-query", "-q", "per_query", is_flag=True, help="Also the value of every query.")
@groups_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "tsv", "trec"]),
    default="table",
    show_default=True,
    help="`trec` is what trec_eval prints.",
)
@click.option(
    "--metrics-config", "metrics_file", metavar="FILE",
    help="A YAML file with a block `retrieval_metrics`: what to measure, and what to say about chance.",
)  # fmt: skip
@output_options
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], preset: str, per_query: bool,
    groups_file: str | None, form: str, metrics_file: str | None, output: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Score one or more RUNS against the judgments in QRELS, side by side.

    \b
    rankproof score qrels.txt bm25.run dense.run -m nDCG@10 -m RR
    rankproof score qrels.txt bm25.run -m official --format trec
    zcat bm25.run.gz | rankproof score qrels.txt - -m nDCG@10 --format json
    """
    from rankproof.data.groups import read_groups
    from rankproof.measures.parse import parse_measures

    config = None
    if metrics_file is not None:
        from rankproof.project.metrics import read_metrics_config

        config = read_metrics_config(metrics_file)
    chosen = parse_measures(measures or (config.measures if config is not None else DEFAULT_MEASURES))
    groups = read_groups(groups_file) if groups_file is not None else None
    scores = score_runs(qrels, runs, chosen, preset, quiet)
    intervals, found = _statistics(scores, config) if config is not None else (None, None)
    write_result(_rendered(scores, form, per_query, groups, intervals, found), output)


def _statistics(scores: list[Scores], config: MetricsConfig) -> tuple[list[dict[Measure, Interval]] | None, Any]:
    """The intervals and the comparison with the first run, as far as the configuration asks for them."""
    from rankproof.comparison import Method, compare, intervals_of

    intervals = [intervals_of(one, 1 - config.alpha) for one in scores] if config.intervals else None
    if not config.tests or len(scores) < 2:
        return intervals, None
    return intervals, compare(scores, method=Method(alpha=config.alpha, level=1 - config.alpha))


def _rendered(
    scores: list[Scores], form: str, per_query: bool, groups: dict[str, str] | None,
    intervals: list[dict[Measure, Interval]] | None, found: Findings | None,
) -> str:  # fmt: skip
    if form == "json":
        from rankproof.reports.comparison import comparison_data
        from rankproof.reports.json import scores_json

        tests = None if found is None else [comparison_data(one) for one in found.comparisons]
        return scores_json(scores, per_query=per_query, groups=groups, intervals=intervals, comparisons=tests)
    if form in ("csv", "tsv"):
        from rankproof.reports.csv import scores_csv

        return scores_csv(scores, delimiter="," if form == "csv" else "\t", per_query=per_query, groups=groups)
    if form == "trec":
        from rankproof.reports.trec import scores_trec

        return scores_trec(scores, per_query=per_query)
    from rankproof.reports.text import scores_text

    text = scores_text(scores, per_query=per_query, groups=groups, intervals=intervals)
    if found is None:
        return text
    from rankproof.reports.comparison import differences_text

    return f"{text}\n{differences_text(found)}\n"
