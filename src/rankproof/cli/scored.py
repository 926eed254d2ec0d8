"""Runs scored against judgments, with what a person wants to see while that happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankproof.cli.output import file_progress, remark
from rankproof.errors import count

if TYPE_CHECKING:
    from rankproof.measures.registry import Measure
    from rankproof.scoring.scores import Scores


def score_runs(
    qrels: str, runs: tuple[str, ...], measures: tuple[Measure, ...], preset: str, quiet: bool
) -> list[Scores]:  # fmt: skip
    """The scores of each run."""
    from rankproof.scoring.evaluate import Evaluator

    evaluator = Evaluator(qrels, preset=preset)
    judged = evaluator.prepared.qrels
    judgments, queries = count(len(judged), "judgment", "judgments"), count(len(judged.query_ids), "query", "queries")
    remark(f"{judged.source}: {judgments} of {queries}", quiet)
    scores = []
    for run in runs:
        with file_progress(run, quiet) as progress:
            scores.append(evaluator.evaluate(run, measures, progress=progress))
    return scores
