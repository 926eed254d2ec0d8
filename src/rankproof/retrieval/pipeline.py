"""Pipelines: named chains of stages, run over queries, their answers kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankproof import __version__
from rankproof.data.corpus import Corpus
from rankproof.data.gold import Query
from rankproof.data.run import Run
from rankproof.errors import NotMeasured, UnknownName, UsageError
from rankproof.fusion.fuse import fuse
from rankproof.retrieval.answers import Answer, Hit, checked, ordered
from rankproof.retrieval.cache import AnswerFile
from rankproof.retrieval.digest import digest_of
from rankproof.retrieval.stage import Library, Place, RerankerStage, Retriever, RetrieverStage, Stage, TextStage

DEPTH = 100
_CHUNKS_PER_DOCUMENT = 4
"""How many times as many chunks are fetched as documents are wanted."""


@dataclass(frozen=True)
class Fuse:
    """Several pipelines joined into one."""

    of: tuple[str, ...]
    by: str = "rrf"
    options: Mapping[str, Any] = field(default_factory=dict)
    """Weights, normalisation and other parameters of the method."""


@dataclass(frozen=True)
class Named:
    """A stage under the name by which the project file calls it."""

    name: str
    stage: Stage


@dataclass(frozen=True)
class Pipeline:
    """Where hits come from, and what is done to them. Exactly one of `retrieve`, `fuse` and `base` is given."""

    name: str
    retrieve: Named | None = None
    fuse: Fuse | None = None
    base: str | None = None
    """Another pipeline whose hits are taken."""
    prepare: tuple[Named, ...] = ()
    """What is done to the text of queries and documents first."""
    rerank: tuple[Named, ...] = ()
    depth: int = DEPTH
    """How many documents are fetched, and handed to the rerankers."""
    top: int | None = None
    """How many are returned in the end; all if it is None."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The pipelines that it takes hits from."""
        if self.fuse is not None:
            return self.fuse.of
        return () if self.base is None else (self.base,)

    @property
    def stages(self) -> tuple[Named, ...]:
        """Its stages, first to last."""
        first = () if self.retrieve is None else (self.retrieve,)
        return (*self.prepare, *first, *self.rerank)


@dataclass(frozen=True)
class PipelineRun:
    """What a pipeline answered to each query."""

    name: str
    queries: tuple[Query, ...]
    answers: tuple[Answer, ...]
    digest: str
    """What the pipeline was: behaviour, files and corpus."""
    n_kept: int = 0
    """How many answers were there from before."""

    @cached_property
    def by_query(self) -> dict[str, Answer]:
        """The answer to each query, by its id."""
        return {query.id: answer for query, answer in zip(self.queries, self.answers, strict=True)}

    def of_state(self, state: str) -> dict[str, str]:
        """Query → reason, for the queries in a state."""
        both = zip(self.queries, self.answers, strict=True)
        return {query.id: answer.reason for query, answer in both if answer.state == state}

    def to_run(self) -> Run:
        """The measured answers as a run. Equal scores are set apart by the least possible, so that every rule on ties
        keeps the order in which the pipeline returned them."""
        both = zip(self.queries, self.answers, strict=True)
        return Run.from_dict(
            {query.id: _strictly_falling(answer.hits) for query, answer in both if answer.hits},
            name=self.name,
        )


def _strictly_falling(hits: Sequence[Hit]) -> dict[str, float]:
    scores: dict[str, float] = {}
    last = np.inf
    for hit in hits:
        last = min(hit.score, float(np.nextafter(last, -np.inf)))
        scores[hit.doc_id] = last
    return scores


class Runner:
    """Runs pipelines over queries; each pipeline once, whoever takes hits from it."""

    def __init__(
        self, pipelines: Mapping[str, Pipeline], place: Place, *, cache: Path | None = None, batch: int | None = None
    ) -> None:
        self.pipelines = pipelines
        self.place = place
        self.cache = cache
        self.batch = batch
        """How many queries go to a stage at once; all unless given."""
        self._done: dict[tuple[str, tuple[Query, ...]], PipelineRun] = {}
        for name in pipelines:
            self._refuse_circles(name, ())

    def run(self, name: str, queries: Sequence[Query]) -> PipelineRun:
        """The answers of a pipeline to all queries; those kept from before are not asked for again."""
        asked = tuple(queries)
        if (name, asked) in self._done:
            return self._done[name, asked]
        pipeline = self._pipeline(name)
        key = digest_of(self.behaviour(name))
        kept = AnswerFile(self.cache, key) if self.cache is not None else None
        answers: dict[Query, Answer] = {}
        for query in asked:
            before = kept.get(query) if kept is not None else None
            if before is not None:
                answers[query] = before
        missing = [query for query in dict.fromkeys(asked) if query not in answers]
        done = len(asked) - len(missing)
        n_kept = done
        for query, answer in zip(missing, self._fresh(pipeline, missing), strict=True):
            answers[query] = answer
            if kept is not None:
                kept.put(query, answer)
            done += 1
            self.place.progress(name, done, len(asked))
        if kept is not None and self.is_volatile(name):
            kept.forget()
        found = tuple(answers[query] for query in asked)
        self._done[name, asked] = PipelineRun(name, asked, found, key, n_kept)
        return self._done[name, asked]

    def behaviour(self, name: str) -> dict[str, Any]:
        """Everything that the answers of a pipeline depend on, besides the query."""
        return {
            "rankproof": __version__,
            "config": self.config(name),
            "corpus": self.place.library.digest if self._reads_corpus(name) and self.place.library else None,
        }

    def config(self, name: str) -> dict[str, Any]:
        """The part of the behaviour that the project file decides, contents of the files it names included."""
        pipeline = self._pipeline(name)
        return {
            "stages": [[named.name, named.stage.behaviour(self.place)] for named in pipeline.stages],
            "fuse": None if pipeline.fuse is None else [pipeline.fuse.by, dict(pipeline.fuse.options)],
            "of": [self.config(other) for other in pipeline.inputs],
            "depth": pipeline.depth,
            "top": pipeline.top,
        }

    def _reads_corpus(self, name: str) -> bool:
        pipeline = self._pipeline(name)
        return any(named.stage.reads_corpus for named in pipeline.stages) or any(
            map(self._reads_corpus, pipeline.inputs)
        )

    def is_volatile(self, name: str) -> bool:
        """Whether the answers may change although nothing here did."""
        pipeline = self._pipeline(name)
        return any(named.stage.volatile for named in pipeline.stages) or any(map(self.is_volatile, pipeline.inputs))

    def _pipeline(self, name: str) -> Pipeline:
        if name not in self.pipelines:
            raise UnknownName("pipeline", name, self.pipelines)
        return self.pipelines[name]

    def _refuse_circles(self, name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " → ".join((*path[path.index(name) :], name))
            raise UsageError(f"Pipelines take hits from each other in a circle: {circle}.")
        for other in self._pipeline(name).inputs:
            self._refuse_circles(other, (*path, name))

    def _fresh(self, pipeline: Pipeline, queries: Sequence[Query]) -> Iterator[Answer]:
        if not queries:
            return
        rerankers = [(named.name, _reranker(named).open(self.place)) for named in pipeline.rerank]
        for query, answer in zip(queries, self._found(pipeline, queries), strict=True):
            for name, reranker in rerankers:
                if answer.state != "measured":
                    break
                start = time.perf_counter()
                try:
                    hits = checked(reranker.rerank(query, answer.hits[: pipeline.depth]))
                except NotMeasured as exc:
                    answer = answer.degraded(f"{name}: {exc}")
                else:
                    answer = answer.after(name, hits).lasting(time.perf_counter() - start)
            yield replace(answer, hits=answer.hits[: pipeline.top])

    def _found(self, pipeline: Pipeline, queries: Sequence[Query]) -> Iterable[Answer]:
        if pipeline.retrieve is not None:
            return self._retrieved(pipeline, pipeline.retrieve, queries)
        if pipeline.fuse is not None:
            return self._fused(pipeline, pipeline.fuse, queries)
        if pipeline.base is not None:
            return self.run(pipeline.base, queries).answers
        raise UsageError(f"The pipeline {pipeline.name!r} has no `retrieve`, `fuse` or `from`, so it finds nothing.")

    def _retrieved(self, pipeline: Pipeline, named: Named, queries: Sequence[Query]) -> Iterator[Answer]:
        rewrite = [_text_stage(one).open(self.place) for one in pipeline.prepare]
        place = _rewritten(self.place, rewrite) if rewrite else self.place
        asked = [replace(query, text=_apply(rewrite, query.text)) for query in queries] if rewrite else queries
        library = place.library
        cut_up = library is not None and bool(library.document_of)
        depth = pipeline.depth * _CHUNKS_PER_DOCUMENT if cut_up else pipeline.depth
        for answer in self._answers(_retriever(named).open(place), asked, depth):
            if answer.state == "not measured":
                yield answer
                continue
            try:
                hits = checked(answer.hits)
            except NotMeasured as exc:
                yield Answer.failed(f"{named.name}: {exc}")
                continue
            if cut_up and library is not None:
                hits = roll_up(hits, library)
            yield answer.after(named.name, hits[: pipeline.depth])

    def _answers(self, retriever: Retriever, queries: Sequence[Query], depth: int) -> Iterator[Answer]:
        step = self.batch or max(len(queries), 1)
        for start in range(0, len(queries), step):
            yield from retriever.search(queries[start : start + step], depth)

    def _fused(self, pipeline: Pipeline, how: Fuse, queries: Sequence[Query]) -> Iterator[Answer]:
        runs = [self.run(name, queries) for name in how.of]
        whole = [
            query.id
            for i, query in enumerate(queries)
            if all(run.answers[i].state == "measured" for run in runs) and any(run.answers[i].hits for run in runs)
        ]
        sides = [_side(run, set(whole)) for run in runs]
        fused = fuse(sides, by=how.by, depth=pipeline.depth, **how.options).to_dict() if whole else {}
        for i, query in enumerate(queries):
            bad = [(run.name, run.answers[i]) for run in runs if run.answers[i].state != "measured"]
            if bad:
                yield Answer.failed("; ".join(f"{name}: {answer.reason}" for name, answer in bad))
                continue
            trail = tuple(step for run in runs for step in run.answers[i].trail)
            hits = ordered(Hit(doc_id, score) for doc_id, score in fused.get(query.id, {}).items())
            yield Answer(trail=trail).after(how.by, hits)


def _side(run: PipelineRun, query_ids: set[str]) -> dict[str, dict[str, float]]:
    both = zip(run.queries, run.answers, strict=True)
    # Ranks are those that the pipeline gave, also where scores are equal.
    return {q.id: _strictly_falling(a.hits) for q, a in both if q.id in query_ids and a.hits}


def roll_up(hits: Sequence[Hit], library: Library) -> tuple[Hit, ...]:
    """Documents for chunks: the score of the best chunk, or the sum or mean over the chunks that were found."""
    scores: dict[str, list[float]] = {}
    for hit in hits:
        scores.setdefault(library.document_of.get(hit.doc_id, hit.doc_id), []).append(hit.score)
    totals: dict[str, Callable[[list[float]], float]] = {
        "best": max,
        "sum": sum,
        "mean": lambda found: sum(found) / len(found),
    }
    return ordered(Hit(doc_id, totals[library.roll_up](found)) for doc_id, found in scores.items())


def _rewritten(place: Place, rewrite: Sequence[Callable[[str], str]]) -> Place:
    if place.library is None:
        return place
    pieces = [
        replace(piece, title=_apply(rewrite, piece.title), text=_apply(rewrite, piece.text))
        for piece in place.library.pieces
    ]
    return replace(place, library=replace(place.library, pieces=Corpus(tuple(pieces), place.library.pieces.source)))


def _apply(rewrite: Sequence[Callable[[str], str]], text: str) -> str:
    for function in rewrite:
        text = function(text)
    return text


def _retriever(named: Named) -> RetrieverStage:
    if not isinstance(named.stage, RetrieverStage):
        raise UsageError(f"{named.name!r} does not retrieve; it cannot stand under `retrieve`.")
    return named.stage


def _reranker(named: Named) -> RerankerStage:
    if not isinstance(named.stage, RerankerStage):
        raise UsageError(f"{named.name!r} does not rerank; it cannot stand under `rerank`.")
    return named.stage


def _text_stage(named: Named) -> TextStage:
    if not isinstance(named.stage, TextStage):
        raise UsageError(f"{named.name!r} does not rewrite text; it cannot stand under `prepare`.")
    return named.stage
