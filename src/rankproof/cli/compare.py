"""`rankproof compare`: is B better than A?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli.options import DEFAULT_MEASURES, groups_option, measures_option, output_options, preset_option
from rankproof.cli.output import work_progress, write_result
from rankproof.cli.scored import score_runs
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.comparison import Findings
    from rankproof.scoring.scores import Scores


@click.command("compare", short_help="Say whether one run is better than another, with proof.")
@click.argument("files", nargs=-1, metavar="QRELS BASELINE CANDIDATE...")
@measures_option(f"{', '.join(DEFAULT_MEASURES)}; of score files all")
@click.option("--baseline", metavar="NAME", help="Which run the others are compared with. Default: the first.")
@click.option("--all-pairs", is_flag=True, help="Every run against every other.")
@click.option(
    "--test",
    type=click.Choice(["randomization", "t", "wilcoxon", "sign", "welch"]),
    default="randomization",
    show_default=True,
    help="All are paired but `welch`.",
)
@click.option("--permutations", type=int, default=100_000, show_default=True, help="Of the randomisation test.")
@click.option(
    "--interval", type=click.Choice(["t", "percentile", "bca"]), default="t", show_default=True,
    help="Of the difference; the last two are bootstraps.",
)  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--resamples", type=int, default=10_000, show_default=True, help="Of a bootstrap.")
@click.option(
    "--correction", type=click.Choice(["holm", "bonferroni", "bh", "none"]), default="holm", show_default=True,
    help="For many tests at once; `bh` is Benjamini–Hochberg.",
)  # fmt: skip
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level that p is held against.")
@click.option(
    "--margin", type=float, metavar="LOSS",
    help="Also test whether the candidate is worse by less than this, and within it of the baseline.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of permutations and resamples.")
@preset_option
@groups_option
@click.option("--show", "shown", type=click.IntRange(0), default=5, show_default=True, help="Best and worst queries.")
@click.option("--scores", "score_files", is_flag=True, help="All files are scores per query, as of trec_eval -q.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "csv", "markdown", "latex"]),
    default="text",
    show_default=True,
)
@click.option("--configA", "config_a", metavar="FILE", help="A/B: the baseline, a configuration instead of a run.")
@click.option("--configB", "config_b", metavar="FILE", help="A/B: the candidate.")
@click.option("--queries", metavar="FILE", help="A/B: the queries, as lines of id, tab, text.")
@click.option("--truth", metavar="FILE", help="A/B: the judgments, as lines of query, document, grade.")
@click.option("--corpus", metavar="PATH", help="A/B: the documents that both search.")
@click.option("--k", type=click.IntRange(1), default=10, show_default=True, help="A/B: results that count.")
@click.option("--out", metavar="FILE", help="A/B: where the JSON goes; stdout unless given.")
@click.option("--csv", "csv_file", metavar="FILE", help="A/B: also one row per query and system.")
@click.option("--emit-traces", is_flag=True, help="A/B: write traces, where the configurations open the gates.")
@click.option("--svg", metavar="FILE", help="Also draw the differences with their intervals.")
@output_options
def command(
    files: tuple[str, ...], measures: tuple[str, ...], baseline: str | None, all_pairs: bool, preset: str,
    groups_file: str | None, shown: int, score_files: bool, form: str, svg: str | None, output: str | None, quiet: bool,
    config_a: str | None, config_b: str | None, queries: str | None, truth: str | None, corpus: str | None, k: int,
    out: str | None, csv_file: str | None, emit_traces: bool, **method: Any,
) -> None:  # fmt: skip
    """Compare runs that were made for the same queries: differences, intervals, p-values, and what they mean.

    FILES are judgments and two or more runs, or two or more files of scores per query (`rankproof score --per-query
    --format json`, or with --scores what trec_eval -q prints). The first run is the baseline.

    \b
    rankproof compare qrels.txt bm25.run dense.run -m nDCG@10
    rankproof compare qrels.txt bm25.run dense.run hybrid.run --all-pairs --format latex
    rankproof compare monday.json friday.json --margin 0.01

    With --configA and --configB, two configurations are run over a corpus and compared without any chance: recall, MRR
    and nDCG at k, as JSON and CSV that are the same to the byte everywhere.

    \b
    rankproof compare --corpus corpus.jsonl --queries queries.tsv --truth qrels.tsv \\
        --configA a.yaml --configB b.yaml --k 10 --out ab.json --csv ab.csv
    """
    if config_a is not None or config_b is not None:
        from rankproof.cli.ab import AbFiles, run_ab

        if files:
            raise UsageError(
                "Either runs or configurations are compared; leave out the runs, or --configA and --configB."
            )
        run_ab(AbFiles.of(corpus, queries, truth, config_a, config_b), k, out or output, csv_file, emit_traces, quiet)
        return
    if not files:
        raise UsageError("Give judgments and at least two runs: rankproof compare QRELS BASELINE.run CANDIDATE.run")
    from rankproof.comparison import Method, compare
    from rankproof.data.groups import read_groups
    from rankproof.scoring.score_file import is_score_file

    chosen = Method(**method)
    groups = read_groups(groups_file) if groups_file is not None else None
    if score_files or is_score_file(files[0]):
        scores = _from_score_files(files, measures)
    else:
        scores = _from_runs(files, measures, preset, quiet)
    with work_progress("permutations", quiet) as progress:
        found = compare(
            _named_apart(scores, files[-len(scores) :]), baseline=baseline, all_pairs=all_pairs, method=chosen,
            groups=groups, shown=shown, progress=progress,
        )  # fmt: skip
    write_result(_rendered(found, form), output)
    if svg is not None:
        from rankproof.reports.comparison import comparison_svg

        write_result(comparison_svg(found), svg)


def _from_runs(files: tuple[str, ...], measures: tuple[str, ...], preset: str, quiet: bool) -> list[Scores]:
    from rankproof.measures.parse import parse_measures

    if len(files) < 3:
        raise UsageError("Give judgments and at least two runs: rankproof compare QRELS BASELINE.run CANDIDATE.run")
    return score_runs(files[0], files[1:], parse_measures(measures or DEFAULT_MEASURES), preset, quiet)


def _from_score_files(files: tuple[str, ...], measures: tuple[str, ...]) -> list[Scores]:
    from rankproof.measures.parse import parse_measures
    from rankproof.scoring.score_file import read_scores

    scores = [one for path in files for one in read_scores(path)]
    shared = [m for m in scores[0].measures if all(m in one.measures for one in scores)]
    wanted = parse_measures(measures) if measures else tuple(shared)
    if not wanted:
        raise UsageError("The files have no measure in common.")
    return [one.only(wanted) for one in scores]


def _named_apart(scores: list[Scores], paths: tuple[str, ...]) -> list[Scores]:
    """Runs whose files have the same name go by their paths."""
    times = Counter(one.name for one in scores)
    if len(paths) < len(scores):
        return scores
    return [one if times[one.name] == 1 else replace(one, name=path) for one, path in zip(scores, paths, strict=True)]


def _rendered(found: Findings, form: str) -> str:
    from rankproof.reports import comparison

    forms = {
        "text": comparison.comparison_text,
        "json": comparison.comparison_json,
        "csv": comparison.comparison_csv,
        "markdown": comparison.comparison_markdown,
        "latex": comparison.comparison_latex,
    }
    return forms[form](found)
