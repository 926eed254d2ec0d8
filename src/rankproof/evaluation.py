"""From the runs of pipelines and a gold set to figures, misses and what could not be measured: pure, runs in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rankproof.comparison import Findings, Method, compare
from rankproof.data.corpus import Corpus
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate, NotMeasured, nearest
from rankproof.measures.registry import Measure
from rankproof.retrieval.pipeline import PipelineRun
from rankproof.scoring.evaluate import Evaluator
from rankproof.scoring.rules import Preset
from rankproof.scoring.scores import NO_GROUP, Scores
from rankproof.stats.intervals import Interval, mean_intervals

MissKind = Literal["wrong", "partial", "nothing"]
"""The first result is not relevant; it is relevant in part only; there is no result."""


@dataclass(frozen=True)
class Stale:
    """A judgment of a document that the corpus does not have: old gold, not a miss."""

    query_id: str
    doc_id: str
    nearest: tuple[str, ...]
    """Documents whose names look like it."""


@dataclass(frozen=True)
class Expected:
    """A document that should have come first, and where it stood after each stage; None where it was not."""

    doc_id: str
    grade: float
    rank: int | None
    stages: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Miss:
    """A query whose first result is not what it should be."""

    query: Query
    kind: MissKind
    returned: tuple[tuple[str, float | None], ...]
    """The first results with their grades; None where nobody judged."""
    expected: tuple[Expected, ...]


@dataclass(frozen=True)
class Mode:
    """One pipeline: its run, its figures and its misses."""

    run: PipelineRun
    scores: Scores
    intervals: Mapping[Measure, Interval]
    by_group: Mapping[str, Mapping[Measure, tuple[float, Interval]]]
    misses: tuple[Miss, ...]

    @property
    def name(self) -> str:
        """What the pipeline is called."""
        return self.run.name


@dataclass(frozen=True)
class Evaluation:
    """What was found about one or more pipelines on one gold set."""

    modes: tuple[Mode, ...]
    measures: tuple[Measure, ...]
    preset: Preset
    n_queries: int
    """Queries of the gold set."""
    n_scored: int
    stale: tuple[Stale, ...]
    no_answer: tuple[str, ...]
    """Queries to which the corpus has no answer, as somebody found; they leave the means."""
    unjudged: tuple[str, ...]
    """Queries without any judgment; they leave the means too."""
    unmeasured: Mapping[str, Mapping[str, str]]
    """Query → pipeline → why it could not be measured there. Such a query leaves the means of all pipelines."""
    level: float
    group_sizes: Mapping[str, int]
    comparison: Findings | None = None
    """The first pipeline against the others."""


@dataclass(frozen=True)
class Request:
    """What is to be found out."""

    measures: tuple[Measure, ...]
    preset: Preset
    level: float = 0.95
    shown: int = 5
    """How many results of a miss are listed."""
    test: bool = True
    """Whether the first pipeline is tested against the others."""
    alpha: float = 0.05


def evaluate_runs(gold: GoldSet, runs: Sequence[PipelineRun], request: Request, corpus: Corpus | None) -> Evaluation:
    """The figures of each run on the queries that all of them could be measured on."""
    stale = find_stale(gold, corpus) if corpus is not None else ()
    no_answer = tuple(query.id for query in gold.queries if query.no_answer)
    unmeasured = _unmeasured(runs)
    judged = gold.qrels.to_dict()
    grades = _without_stale(judged, stale)
    unjudged = tuple(query.id for query in gold.queries if not query.no_answer and not judged.get(query.id))
    left = {q: row for q, row in grades.items() if row and q not in unmeasured and q not in set(no_answer)}
    _check_something_left(gold, left, stale, unmeasured)
    evaluator = Evaluator(Qrels.from_dict(left, source=gold.source), preset=request.preset)
    queries = {query.id: query for query in gold.queries}
    groups = {q: group for q, group in gold.groups.items() if q in left}
    modes = tuple(_mode(run, evaluator, request, left, queries, groups) for run in runs)
    sizes = modes[0].scores.group_sizes(groups) if groups else {}
    comparison = None
    if len(modes) > 1 and request.test:
        comparison = compare([mode.scores for mode in modes], method=Method(level=request.level, alpha=request.alpha))
    return Evaluation(
        modes, request.measures, request.preset, len(gold.queries), len(modes[0].scores.query_ids), stale, no_answer,
        unjudged, unmeasured, request.level, sizes, comparison,
    )  # fmt: skip


def find_stale(gold: GoldSet, corpus: Corpus) -> tuple[Stale, ...]:
    """The relevant documents of the gold set that the corpus does not have."""
    found = []
    for query_id, row in gold.qrels.to_dict().items():
        for doc_id, grade in row.items():
            if grade > 0 and doc_id not in corpus.by_id:
                found.append(Stale(query_id, doc_id, nearest(doc_id, corpus.by_id)))
    return tuple(found)


def _without_stale(grades: Mapping[str, Mapping[str, float]], stale: Iterable[Stale]) -> dict[str, dict[str, float]]:
    """The judgments without stale ones; a query that loses all its relevant documents by that is left out."""
    gone = {(one.query_id, one.doc_id) for one in stale}
    touched = {one.query_id for one in stale}
    kept = {q: {d: g for d, g in row.items() if (q, d) not in gone} for q, row in grades.items()}
    return {q: row for q, row in kept.items() if q not in touched or any(grade > 0 for grade in row.values())}


def _unmeasured(runs: Sequence[PipelineRun]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for run in runs:
        for state in ("not measured", "degraded"):
            for query_id, reason in run.of_state(state).items():
                found.setdefault(query_id, {})[run.name] = f"{state}: {reason}"
    return found


def _check_something_left(
    gold: GoldSet, left: Mapping[str, object], stale: Sequence[Stale], unmeasured: Mapping[str, Mapping[str, str]]
) -> None:
    if left:
        return
    if unmeasured:
        reason = next(iter(next(iter(unmeasured.values())).values()))
        raise NotMeasured(f"No query could be measured. The first failed because: {reason}")
    if stale:
        one = stale[0]
        hint = f" Did you mean {one.nearest[0]!r}?" if one.nearest else ""
        raise BadInput.of(
            gold.source,
            f"no relevant document of the gold set is in the corpus; the first is {one.doc_id!r} of query "
            f"{one.query_id!r}.{hint} Check that both use the same names.",
        )
    raise NothingToEvaluate(f"{gold.source}: no query has a judgment; label some first")


def _mode(
    run: PipelineRun, evaluator: Evaluator, request: Request, grades: Mapping[str, Mapping[str, float]],
    queries: Mapping[str, Query], groups: Mapping[str, str],
) -> Mode:  # fmt: skip
    scores = replace(evaluator.evaluate(run.to_run(), request.measures, may_be_empty=True), name=run.name)
    everything = list(range(len(scores.query_ids)))
    intervals = _with_intervals(scores, everything, request.level)
    members: dict[str, list[int]] = {}
    for i, query_id in enumerate(scores.query_ids if groups else []):
        members.setdefault(groups.get(query_id, NO_GROUP), []).append(i)
    names = sorted(members, key=lambda name: (name == NO_GROUP, name))
    by_group = {name: _with_intervals(scores, members[name], request.level) for name in names}
    return Mode(
        run,
        scores,
        {measure: interval for measure, (_, interval) in intervals.items()},
        by_group,
        tuple(_misses(run, grades, queries, request)),
    )


def _with_intervals(scores: Scores, columns: list[int], level: float) -> dict[Measure, tuple[float, Interval]]:
    values = scores.values[:, columns]
    intervals = mean_intervals(values.T, level=level, bounds=[measure.bounds for measure in scores.measures])
    means = values.mean(axis=1).tolist()
    return {m: (mean, interval) for m, mean, interval in zip(scores.measures, means, intervals, strict=True)}


def relevant_from(preset: Preset) -> float:
    """The grade from which a document answers its query, as reciprocal rank counts it under the preset."""
    return float(preset.defaults.get("RR", {}).get("rel", 1))


def _misses(
    run: PipelineRun, grades: Mapping[str, Mapping[str, float]], queries: Mapping[str, Query], request: Request
) -> Iterable[Miss]:
    needed = relevant_from(request.preset)
    for query, answer in zip(run.queries, run.answers, strict=True):
        row = grades.get(query.id)
        if row is None or not any(grade >= needed for grade in row.values()):
            continue
        ids = [hit.doc_id for hit in answer.hits]
        first = row.get(ids[0], 0.0) if ids else None
        if first is not None and first >= needed:
            continue
        kind: MissKind = "nothing" if first is None else "partial" if first > 0 else "wrong"
        expected = [
            Expected(doc_id, grade, _rank(ids, doc_id), tuple((s, _rank(found, doc_id)) for s, found in answer.trail))
            for doc_id, grade in sorted(row.items(), key=lambda item: (-item[1], item[0]))
            if grade >= needed
        ]
        returned = tuple((doc_id, row.get(doc_id)) for doc_id in ids[: request.shown])
        yield Miss(queries[query.id], kind, returned, tuple(expected))


def _rank(ids: Sequence[str], doc_id: str) -> int | None:
    return ids.index(doc_id) + 1 if doc_id in ids else None
