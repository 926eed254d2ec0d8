"""`rankproof eval`: pipelines over a gold set, from queries to figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankproof.cli.evaluated import DEFAULT_MEASURES, Evaluated
from rankproof.cli.options import format_option, measures_option, output_options
from rankproof.cli.output import remark, write_result
from rankproof.errors import BadInput, NotMeasured, count

if TYPE_CHECKING:
    from rankproof.comparison import Comparison
    from rankproof.evaluation import Evaluation
    from rankproof.failures import Analysis
    from rankproof.project.project import Project


@click.command("eval", short_help="Run pipelines over a gold set and score them.")
@click.argument("folder", default=".")
@click.option("--mode", "modes", multiple=True, metavar="NAME", help="A pipeline; may be repeated. Default: all.")
@click.option("--gold", metavar="FILE", help="Another gold set than the project's.")
@click.option("--corpus", metavar="PATH", help="Another corpus than the project's.")
@measures_option(f"the project's, or {', '.join(DEFAULT_MEASURES)}")
@click.option("--preset", metavar="NAME", help="The rules for scoring. Default: the project's.")
@click.option("--group-by", "groups_file", metavar="FILE", help="Groups of queries. Default: those of the gold set.")
@click.option("--level", type=float, help="Of the intervals. Default: the project's, or 0.95.")
@click.option("--misses", "shown", type=click.IntRange(0), default=10, show_default=True, help="How many to list.")
@click.option("--top", type=click.IntRange(1), default=5, show_default=True, help="Results to list for a miss.")
@click.option("--analyze", is_flag=True, help="Say why each miss failed, and what to do about it.")
@click.option("--what-if", is_flag=True, help="With --analyze: try the recommended change where that can be done.")
@click.option("--save", metavar="FOLDER", help="Where runs and scores are put. Default: runs/ in the project's cache.")
@click.option("--no-cache", is_flag=True, help="Ask every query again; keep nothing.")
@format_option("text", "json")
@output_options
def command(
    folder: str, modes: tuple[str, ...], gold: str | None, corpus: str | None, measures: tuple[str, ...],
    preset: str | None, groups_file: str | None, level: float | None, shown: int, top: int, save: str | None,
    no_cache: bool, analyze: bool, what_if: bool, form: str, output: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Run the pipelines of the project in FOLDER over its gold set: figures with intervals, per group, and the misses.

    A query that a stage fails on is not measured: it leaves the means, is listed with the reason, and the command ends
    with exit code 4.

    \b
    rankproof eval
    rankproof eval --mode keyword --mode hybrid -m nDCG@10 -m RR
    """
    from rankproof.cli.evaluated import evaluate_project
    from rankproof.project.project import load_project
    from rankproof.reports.evaluation import evaluation_json, evaluation_text

    project = load_project(
        folder, gold=gold, corpus=corpus, preset=preset, groups=groups_file, cache=False if no_cache else None
    )
    evaluated = evaluate_project(project, modes, measures, level=level, top=top, quiet=quiet)
    found = evaluated.found
    analysed = _analysed(evaluated, project, what_if) if analyze or what_if else []
    try:
        _save(found, Path(save) if save is not None else project.saved_runs, quiet)
    except (BadInput, OSError) as exc:
        # The figures are there all the same; only who asked for the files must have them.
        if save is not None:
            raise
        remark(f"runs and scores were not saved: {exc}", quiet)
    intervals = project.metrics is None or project.metrics.intervals
    if form == "json":
        text = evaluation_json(found, analyses=[analysis for analysis, _ in analysed])
    else:
        parts = [evaluation_text(found, shown=0 if analysed else shown, intervals=intervals)]
        if analysed:
            from rankproof.reports.failures import analysis_text
        parts += [analysis_text(analysis, shown=shown, tried=tried) + "\n" for analysis, tried in analysed]
        text = "\n".join(parts)
    write_result(text, output)
    if found.unmeasured:
        queries_failed = count(len(found.unmeasured), "query", "queries")
        raise NotMeasured(f"{queries_failed} could not be measured; the figures are without them.")


def _analysed(
    evaluated: Evaluated, project: Project, what_if: bool
) -> list[tuple[Analysis, tuple[Comparison, ...]]]:  # fmt: skip
    from rankproof.cli import analysis

    found, place, gold, request = evaluated.found, evaluated.place, evaluated.gold, evaluated.request
    analysed = analysis.analyses(found, project, place, gold, k=request.shown)
    tried = [analysis.what_if(one, project, place, gold, request) if what_if else () for one in analysed]
    return list(zip(analysed, tried, strict=True))


def _has_space(name: str) -> bool:
    return len(name.split()) != 1


def _save(found: Evaluation, folder: Path | None, quiet: bool) -> None:
    """Put each run and its scores into files, so that `score` and `compare` can go on from them."""
    from rankproof.data.files import write_whole
    from rankproof.reports.json import scores_json

    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for mode in found.modes:
        run = mode.run.to_run()
        if len(run):
            # A TREC file parts its columns by white space, so ids that hold some go into JSON.
            names = (*run.query_ids, *run.table.doc_ids)
            run.write(folder / (f"{mode.name}.run.json" if any(map(_has_space, names)) else f"{mode.name}.run"))
        write_whole(folder / f"{mode.name}.scores.json", scores_json([mode.scores], per_query=True).encode())
    remark(f"runs and scores are in {folder}", quiet)
