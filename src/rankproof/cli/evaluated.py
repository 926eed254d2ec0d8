"""A project's pipelines run and scored, for the verbs that need their figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankproof.cli.output import remark, stage_progress
from rankproof.errors import UsageError, count

if TYPE_CHECKING:
    from rankproof.data.gold import GoldSet
    from rankproof.evaluation import Evaluation, Request
    from rankproof.project.project import Project
    from rankproof.retrieval.stage import Place

DEFAULT_MEASURES = ("RR", "P@1", "P@5", "nDCG@5")


@dataclass(frozen=True)
class Evaluated:
    """The figures, and what they were made of."""

    found: Evaluation
    gold: GoldSet
    place: Place
    request: Request


def evaluate_project(
    project: Project, modes: tuple[str, ...], measures: tuple[str, ...], *, level: float | None = None, top: int = 5,
    quiet: bool = False,
) -> Evaluated:  # fmt: skip
    """Run the pipelines, all unless some are named, and score them."""
    from rankproof.evaluation import Request, evaluate_runs
    from rankproof.measures.parse import parse_measures
    from rankproof.retrieval.pipeline import Runner

    chosen = parse_measures(measures or project.measures or DEFAULT_MEASURES)
    names = modes or tuple(project.pipelines)
    if not names:
        raise UsageError("The project names no pipeline; add one under `pipelines:` in rankproof.yaml.")
    metrics = project.metrics
    request = Request(
        chosen, project.preset, level or (1 - metrics.alpha if metrics else 0.95), top,
        test=metrics is None or metrics.tests, alpha=metrics.alpha if metrics else 0.05,
    )  # fmt: skip
    gold = _with_groups(project.gold(), project.groups())
    remark(f"{gold.source}: {count(len(gold.queries), 'query', 'queries')}", quiet)
    with stage_progress(quiet) as progress:
        place = project.place(progress)
        if place.library is not None and gold.meta.get("queries"):
            # Labels may call a document by its header where it had no id.
            from rankproof.labeling.identity import Matcher
            from rankproof.labeling.truth import with_corpus_ids

            gold = with_corpus_ids(gold, Matcher(place.library.documents))
        batch = metrics.batch_size if metrics else None
        runner = Runner(project.pipelines, place, cache=project.answers, batch=batch)
        runs = [runner.run(name, gold.queries) for name in names]
    found = evaluate_runs(gold, runs, request, None if place.library is None else place.library.documents)
    return Evaluated(found, gold, place, request)


def _with_groups(gold: GoldSet, groups: dict[str, str]) -> GoldSet:
    queries = tuple(replace(query, group=groups.get(query.id)) for query in gold.queries)
    return replace(gold, queries=queries)
