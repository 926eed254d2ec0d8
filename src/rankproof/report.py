"""Everything that one page says about an evaluation: the verdict in words, figures, curves and queries; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import Literal, NamedTuple

from rankproof.baseline import Baseline
from rankproof.comparison import Comparison, Findings, Method, compare
from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import count
from rankproof.evaluation import Evaluation, MissKind, Mode, Stale, relevant_from
from rankproof.failures import Analysis, Failure
from rankproof.gate import Outcome, Verdict, overall
from rankproof.measures.parse import parse_measure
from rankproof.measures.registry import Measure
from rankproof.retrieval.answers import Answer
from rankproof.scoring.evaluate import Evaluator
from rankproof.scoring.rules import Preset
from rankproof.scoring.scores import NO_GROUP, Coverage, Scores, shared_queries
from rankproof.stats.effects import paired_differences
from rankproof.stats.resampling import Floats

State = Literal["scored", "not measured", "no answer", "not judged", "stale", "left out"]
"""What became of a query: `stale` lost all its relevant documents from the corpus, `left out` by the rules."""

DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)
RANKS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 100))
RANK_LABELS = (*(f"{low}" if low == high else f"≤{high}" for low, high in RANKS), ">100", "none")
"""The classes of ranks in as few characters as fit below a column; `none` is not among the results."""
RETURNED = 5
"""How many results of a query are kept for the page."""
EXPECTED = 8
"""How many relevant documents of a query are kept for the page."""
TITLE = 80
"""Characters of a title that are kept."""


@dataclass(frozen=True)
class Standard:
    """What the figures are held against: verdicts on rules, and the baseline."""

    verdicts: Mapping[str, Sequence[Verdict]] = field(default_factory=dict)
    """Pipeline → the verdict on each rule; empty if there are no rules."""
    baseline: Baseline | None = None
    notes: tuple[str, ...] = ()
    """What a reader must know about it, such as that a baseline is asked for and missing."""


class Level(NamedTuple):
    """A mean and its interval, where there is one."""

    value: float
    low: float | None
    high: float | None


class Cell(NamedTuple):
    """A mean within a group, and how far it is from what it is held against."""

    value: float
    change: float | None


@dataclass(frozen=True)
class GroupRow:
    """One group of queries: pipelines × measures."""

    name: str
    size: int
    cells: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class PipelineFigures:
    """The figures of one pipeline over all queries."""

    name: str
    levels: tuple[Level, ...]
    """One for each measure."""
    changes: tuple[float | None, ...]
    """From what it is held against, for each measure; None where there is nothing."""
    n_missed: int
    coverage: Coverage
    digest: str
    digest_before: str | None
    """What the pipeline was when the baseline was recorded."""
    before: tuple[float | None, ...] = ()
    """The means that it is held against, for each measure."""


@dataclass(frozen=True)
class Against:
    """One pipeline held against its baseline, or against the first pipeline."""

    pipeline: str
    other: str | None
    """The first pipeline; None for the baseline."""
    comparisons: tuple[Comparison, ...]
    """One for each measure; none if no test was asked for."""
    differences: tuple[float, ...]
    """Of the main measure, query by query, the largest gain first."""

    @property
    def held_to(self) -> str:
        """What it is held against, in words."""
        return "the baseline" if self.other is None else self.other


@dataclass(frozen=True)
class Place:
    """Where a document stood in the results of a pipeline, and after each of its stages."""

    rank: int | None
    stages: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Wanted:
    """A relevant document of a query."""

    doc_id: str
    grade: float
    places: tuple[Place, ...]
    """One for each pipeline."""


@dataclass(frozen=True)
class PipelineAnswer:
    """What one pipeline made of one query."""

    values: tuple[float, ...]
    """One for each measure; none if the query was not scored."""
    before: tuple[float, ...]
    """The same of what it is held against, if there is anything."""
    changes: tuple[float, ...]
    first: int | None
    """The rank of the first relevant document."""
    missed: MissKind | None
    failure: Failure | None
    returned: tuple[tuple[str, float | None], ...]
    n_returned: int
    reason: str
    """Why it could not be measured."""


@dataclass(frozen=True)
class QueryRow:
    """One query and what each pipeline made of it."""

    query: Query
    state: State
    answers: tuple[PipelineAnswer, ...]
    expected: tuple[Wanted, ...]
    n_expected: int


@dataclass(frozen=True)
class Report:
    """All that the page shows."""

    title: str
    outcome: Outcome | None
    """None where there are no rules to judge by."""
    words: tuple[str, ...]
    """The verdict in sentences."""
    notes: tuple[str, ...]
    measures: tuple[Measure, ...]
    main: Measure
    """The measure that queries are ordered by: that of the first broken rule, else the first."""
    level: float
    n_queries: int
    n_scored: int
    pipelines: tuple[PipelineFigures, ...]
    verdicts: tuple[tuple[str, tuple[Verdict, ...]], ...]
    groups: tuple[GroupRow, ...]
    against: tuple[Against, ...]
    findings: tuple[Findings, ...]
    """The tests behind the differences, for how they were made."""
    histogram: tuple[tuple[int, ...], ...]
    """Pipeline → queries by the rank of the first relevant document, as RANK_LABELS says."""
    depths: tuple[int, ...]
    curves: Mapping[str, tuple[tuple[float, ...], ...]]
    """Measure family → pipeline → mean at each depth."""
    analyses: tuple[Analysis, ...]
    queries: tuple[QueryRow, ...]
    titles: Mapping[str, str]
    """Document → its title or the beginning of its text, for those that the queries name."""
    stale: tuple[Stale, ...]
    no_answer: tuple[str, ...]
    unjudged: tuple[str, ...]
    unmeasured: Mapping[str, Mapping[str, str]]
    preset: Preset
    gold: str
    """The digest of the judgments."""
    baseline: str | None
    """The name of the file that the figures are held against."""


def build(
    found: Evaluation, gold: GoldSet, *, corpus: Corpus | None = None, analyses: Sequence[Analysis] = (),
    standard: Standard | None = None,
) -> Report:  # fmt: skip
    """What the page says about an evaluation.

    With a baseline each pipeline is held against its own values there, without one against the first pipeline.
    """
    standard = standard or Standard()
    grades = _grades(found, gold)
    held, findings = _held(found, standard.baseline)
    main = _main(found, standard)
    against = tuple(_against(one, found.measures.index(main)) for one in held if one is not None)
    verdicts = tuple((name, tuple(rows)) for name, rows in standard.verdicts.items())
    outcome = overall(verdict for _, rows in verdicts for verdict in rows) if verdicts else None
    depths, curves = _curves(found, grades)
    pipelines = _Pipelines(
        found, [_Answers.of(mode) for mode in found.modes], held,
        [{failure.query.id: failure for failure in one.failures} for one in analyses],
    )  # fmt: skip
    rows = tuple(pipelines.row(query, grades.get(query.id, {})) for query in gold.queries)
    before = standard.baseline.pipelines if standard.baseline is not None else {}
    return Report(
        title=f"{', '.join(mode.name for mode in found.modes)} on {PurePath(gold.source).name}",
        outcome=outcome,
        words=tuple(_words(found, verdicts, outcome, against, found.measures.index(main))),
        notes=standard.notes,
        measures=found.measures,
        main=main,
        level=found.level,
        n_queries=found.n_queries,
        n_scored=found.n_scored,
        pipelines=tuple(
            _figures(mode, one, before.get(mode.name)) for mode, one in zip(found.modes, held, strict=True)
        ),
        verdicts=verdicts,
        groups=tuple(_groups(found, gold.groups, held)),
        against=against,
        findings=findings,
        histogram=tuple(_histogram(i, rows) for i in range(len(found.modes))),
        depths=depths,
        curves=curves,
        analyses=tuple(analyses),
        queries=rows,
        titles=_titles(rows, corpus),
        stale=found.stale,
        no_answer=found.no_answer,
        unjudged=found.unjudged,
        unmeasured=found.unmeasured,
        preset=found.preset,
        gold=gold.qrels.digest,
        baseline=None if standard.baseline is None else PurePath(standard.baseline.source).name,
    )


def _grades(found: Evaluation, gold: GoldSet) -> dict[str, dict[str, float]]:
    """The judgments of the scored queries, without those of documents that the corpus does not have."""
    scored = {query_id for mode in found.modes for query_id in mode.scores.query_ids}
    gone = {(one.query_id, one.doc_id) for one in found.stale}
    every = gold.qrels.to_dict()
    return {q: {d: g for d, g in row.items() if (q, d) not in gone} for q, row in every.items() if q in scored}


def _main(found: Evaluation, standard: Standard) -> Measure:
    broken = [v.measure for rows in standard.verdicts.values() for v in rows if v.outcome == "worse" and v.measure]
    return parse_measure(broken[0]) if broken else found.measures[0]


@dataclass(frozen=True)
class _Held:
    """A pipeline beside what it is held against, on the queries that both have."""

    pipeline: str
    other: str | None
    query_ids: list[str]
    before: Floats
    """Measures × queries."""
    changes: Floats
    comparisons: tuple[Comparison, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        return {query_id: i for i, query_id in enumerate(self.query_ids)}

    def within(self, group: str, groups: Mapping[str, str]) -> Sequence[float | None]:
        """The mean change of each measure in a group of queries."""
        columns = [i for i, query_id in enumerate(self.query_ids) if groups.get(query_id, NO_GROUP) == group]
        if not columns:
            return [None] * len(self.changes)
        changes: list[float | None] = self.changes[:, columns].mean(axis=1).tolist()
        return changes


def _held(found: Evaluation, baseline: Baseline | None) -> tuple[list[_Held | None], tuple[Findings, ...]]:
    if baseline is not None:
        made = [_against_baseline(mode, baseline.of(mode.name), found) for mode in found.modes]
        return [held for held, _ in made], tuple(findings for _, findings in made if findings is not None)
    first, *others = found.modes
    n = len(found.measures)
    comparisons = found.comparison.comparisons if found.comparison is not None else ()
    pairs = [
        _pair(mode.scores, first.scores, first.name, comparisons[i * n : (i + 1) * n]) for i, mode in enumerate(others)
    ]
    return [None, *pairs], (found.comparison,) if found.comparison is not None else ()


def _against_baseline(mode: Mode, before: Scores, found: Evaluation) -> tuple[_Held | None, Findings | None]:
    shared = sorted({*mode.scores.query_ids} & {*before.query_ids})
    if not shared:
        return None, None
    other = replace(_among(before.only(mode.scores.measures), shared), name="baseline", preset=mode.scores.preset)
    now = _among(mode.scores, shared)
    tested = all(measure.aggregate != "geometric" for measure in found.measures)
    method = found.comparison.method if found.comparison is not None else Method(level=found.level)
    findings = compare([other, now], method=method) if tested else None
    comparisons = findings.comparisons if findings is not None else ()
    return _pair(now, other, None, comparisons), findings


def _among(scores: Scores, query_ids: Sequence[str]) -> Scores:
    """The scores of some queries; of which judgments they were made is settled by the digest of the gold set."""
    place = {query_id: i for i, query_id in enumerate(scores.query_ids)}
    columns = [place[query_id] for query_id in query_ids]
    return replace(scores, query_ids=list(query_ids), values=scores.values[:, columns], find_judgments=str)


def _pair(now: Scores, other: Scores, name: str | None, comparisons: tuple[Comparison, ...]) -> _Held | None:
    shared, here, there = shared_queries(now, other)
    if not shared:
        return None
    values, before = now.values[:, here], other.values[:, there]
    return _Held(now.name, name, shared, before, paired_differences(values, before), comparisons)


def _against(held: _Held, row: int) -> Against:
    differences = tuple(sorted(held.changes[row].tolist(), reverse=True))
    return Against(held.pipeline, held.other, held.comparisons, differences)


def _figures(mode: Mode, held: _Held | None, digest_before: str | None) -> PipelineFigures:
    means = mode.scores.mean()
    levels = tuple(
        Level(means[str(measure)], mode.intervals[measure].low, mode.intervals[measure].high)
        if measure.aggregate == "mean"
        else Level(means[str(measure)], None, None)
        for measure in mode.scores.measures
    )
    nothing = [None] * len(levels)
    changes = nothing if held is None else held.changes.mean(axis=1).tolist()
    before = nothing if held is None else held.before.mean(axis=1).tolist()
    return PipelineFigures(
        mode.name, levels, tuple(changes), len(mode.misses), mode.scores.coverage, mode.run.digest, digest_before,
        tuple(before),
    )  # fmt: skip


def _groups(found: Evaluation, groups: Mapping[str, str], held: Sequence[_Held | None]) -> Iterable[GroupRow]:
    for name in found.modes[0].by_group:
        cells = []
        for mode, one in zip(found.modes, held, strict=True):
            changes = [None] * len(found.measures) if one is None else one.within(name, groups)
            means = [mode.by_group[name][measure][0] for measure in found.measures]
            cells.append(tuple(Cell(mean, change) for mean, change in zip(means, changes, strict=True)))
        yield GroupRow(name, found.group_sizes[name], tuple(cells))


def _curves(
    found: Evaluation, grades: Mapping[str, Mapping[str, float]]
) -> tuple[tuple[int, ...], dict[str, tuple[tuple[float, ...], ...]]]:
    deepest = max((len(answer.hits) for mode in found.modes for answer in mode.run.answers), default=0)
    depths = tuple(depth for depth in DEPTHS if depth <= max(1, deepest))
    evaluator = Evaluator(Qrels.from_dict(grades), preset=found.preset)
    names = {family: [f"{family}@{depth}" for depth in depths] for family in ("R", "nDCG")}
    wanted = [name for of_family in names.values() for name in of_family]
    means = [evaluator.evaluate(mode.run.to_run(), wanted, may_be_empty=True) for mode in found.modes]
    rows = [one.values.mean(axis=1).tolist() for one in means]
    n = len(depths)
    return depths, {"R": tuple(tuple(row[:n]) for row in rows), "nDCG": tuple(tuple(row[n:]) for row in rows)}


@dataclass(frozen=True)
class _Answers:
    """The answers of a pipeline and its values, by query."""

    mode: Mode
    answers: Mapping[str, Answer]
    values: Mapping[str, tuple[float, ...]]
    missed: Mapping[str, MissKind]

    @classmethod
    def of(cls, mode: Mode) -> _Answers:
        values = dict(zip(mode.scores.query_ids, map(tuple, mode.scores.values.T.tolist()), strict=True))
        answers = {query.id: answer for query, answer in zip(mode.run.queries, mode.run.answers, strict=True)}
        return cls(mode, answers, values, {miss.query.id: miss.kind for miss in mode.misses})


@dataclass(frozen=True)
class _Pipelines:
    """What is known of each pipeline, in one order."""

    found: Evaluation
    answers: Sequence[_Answers]
    held: Sequence[_Held | None]
    failures: Sequence[Mapping[str, Failure]]
    """By query; none if nothing was analysed."""

    def row(self, query: Query, grades: Mapping[str, float]) -> QueryRow:
        """One query in all of them."""
        needed = relevant_from(self.found.preset)
        relevant = sorted((item for item in grades.items() if item[1] >= needed), key=lambda item: (-item[1], item[0]))
        given = [one.answers[query.id] for one in self.answers]
        made = [self._answer(i, query.id, grades, {doc_id for doc_id, _ in relevant}) for i in range(len(given))]
        expected = tuple(
            Wanted(doc_id, grade, tuple(_place(answer, doc_id) for answer in given))
            for doc_id, grade in relevant[:EXPECTED]
        )
        return QueryRow(query, _state(query.id, self.found, self.answers), tuple(made), expected, len(relevant))

    def _answer(self, i: int, query_id: str, grades: Mapping[str, float], relevant: set[str]) -> PipelineAnswer:
        one = self.answers[i]
        answer = one.answers[query_id]
        before, changes = _before(self.held[i], query_id)
        return PipelineAnswer(
            values=one.values.get(query_id, ()),
            before=before,
            changes=changes,
            first=next((rank for rank, hit in enumerate(answer.hits, 1) if hit.doc_id in relevant), None),
            missed=one.missed.get(query_id),
            failure=self.failures[i].get(query_id) if self.failures else None,
            returned=tuple((hit.doc_id, grades.get(hit.doc_id)) for hit in answer.hits[:RETURNED]),
            n_returned=len(answer.hits),
            reason=self.found.unmeasured.get(query_id, {}).get(one.mode.name, ""),
        )


def _before(held: _Held | None, query_id: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if held is None or (place := held.places.get(query_id)) is None:
        return (), ()
    return tuple(held.before[:, place].tolist()), tuple(held.changes[:, place].tolist())


def _state(query_id: str, found: Evaluation, answers: Sequence[_Answers]) -> State:
    if query_id in found.unmeasured:
        return "not measured"
    if any(query_id in one.values for one in answers):
        return "scored"
    if query_id in found.no_answer:
        return "no answer"
    if query_id in found.unjudged:
        return "not judged"
    return "stale" if any(one.query_id == query_id for one in found.stale) else "left out"


def _place(answer: Answer, doc_id: str) -> Place:
    rank = next((rank for rank, hit in enumerate(answer.hits, 1) if hit.doc_id == doc_id), None)
    stages = ((stage, ids.index(doc_id) + 1 if doc_id in ids else None) for stage, ids in answer.trail)
    return Place(rank, tuple(stages))


def _histogram(i: int, rows: Sequence[QueryRow]) -> tuple[int, ...]:
    """Only queries that have a relevant document: of the others no rank could be had."""
    counts = [0] * len(RANK_LABELS)
    for row in rows:
        if row.state != "scored" or not row.n_expected:
            continue
        first = row.answers[i].first
        within = [place for place, (low, high) in enumerate(RANKS) if first is not None and low <= first <= high]
        counts[within[0] if within else -1 if first is None else -2] += 1
    return tuple(counts)


def _titles(rows: Iterable[QueryRow], corpus: Corpus | None) -> dict[str, str]:
    if corpus is None:
        return {}
    named = {doc_id for row in rows for answer in row.answers for doc_id, _ in answer.returned}
    named |= {one.doc_id for row in rows for one in row.expected}
    return {doc_id: _title(corpus.by_id[doc_id]) for doc_id in sorted(named) if doc_id in corpus.by_id}


def _title(document: Document) -> str:
    words = " ".join((document.title or document.text[: 4 * TITLE]).split())
    return words if len(words) <= TITLE else words[: TITLE - 1].rstrip() + "…"


def _words(
    found: Evaluation, verdicts: Sequence[tuple[str, tuple[Verdict, ...]]], outcome: Outcome | None,
    against: Sequence[Against], row: int,
) -> Iterator[str]:  # fmt: skip
    """What somebody who reads no further must know."""
    if outcome is not None:
        yield _of_rules([(name, verdict) for name, rows in verdicts for verdict in rows], outcome)
    tested = [one for one in against if one.comparisons]
    # The first broken rule says it already, with the same figures.
    if tested and outcome != "worse":
        yield _of_difference(tested, row)
    if not tested or outcome is None:
        yield _of_level(found, row)


def _of_rules(verdicts: Sequence[tuple[str, Verdict]], outcome: Outcome) -> str:
    rules = count(len(verdicts), "rule", "rules")
    if outcome == "pass":
        return "The one rule holds." if len(verdicts) == 1 else f"All {rules} hold."
    name, first = next(one for one in verdicts if one[1].outcome == outcome)
    n = sum(verdict.outcome == outcome for _, verdict in verdicts)
    if outcome == "worse":
        groups = dict.fromkeys(v.group for _, v in verdicts if v.outcome == outcome and v.group != first.group)
        named = ", ".join(group for group in groups if group is not None)
        where = f" {'Other groups' if first.group else 'Groups'} that fell: {named}." if named else ""
        broken = f"{n:,} of {rules} {'is' if n == 1 else 'are'} broken"
        return f"Quality is worse: {broken}. {_broken(name, first)}{where}"
    return f"No verdict: {n:,} of {rules} could not be decided. {name}, {first.rule}: {first.why}."


def _broken(name: str, verdict: Verdict) -> str:
    if verdict.baseline is None or verdict.value is None or verdict.p_value is None:
        return f"{name}, {verdict.rule}: {verdict.why}."
    fell = f"{verdict.measure} of {name} fell from {verdict.baseline:.3f} to {verdict.value:.3f}"
    where = f" in the group {verdict.group}" if verdict.group is not None else ""
    return f"{fell}{where}, which is more than chance (p = {verdict.p_value:.2g})."


def _of_difference(against: Sequence[Against], row: int) -> str:
    """The pipeline that differs most surely, and by how much."""
    one = min(against, key=lambda held: held.comparisons[row].p_adjusted)
    found = one.comparisons[row]
    other = "its baseline" if one.other is None else one.other
    figures = f"{found.measure} {found.mean_candidate:.4f} against {found.mean_baseline:.4f}"
    if not found.effect.wins and not found.effect.losses:
        return f"{one.pipeline} scores the same as {other} on every query in {found.measure}."
    if found.verdict != "not shown":
        sure = f"by {abs(found.difference):.4f}, which is more than chance (p = {found.p_adjusted:.2g})"
        return f"{one.pipeline} is {found.verdict} than {other}: {figures}, {found.verdict} {sure}."
    said = f"{one.pipeline} cannot be told from {other}: {figures}, a difference that may be chance"
    if found.smallest_visible is None:
        return f"{said} (p = {found.p_adjusted:.2g})."
    queries = count(found.effect.n, "query", "queries")
    return (
        f"{said} (p = {found.p_adjusted:.2g}); with {queries} a change below {found.smallest_visible:.2g} cannot be "
        "told from noise."
    )


def _of_level(found: Evaluation, row: int) -> str:
    """The best pipeline by itself."""
    best = max(found.modes, key=lambda mode: float(mode.scores.values[row].mean()))
    measure, interval = found.measures[row], best.intervals[found.measures[row]]
    said = f"{best.name} reaches {measure} {float(best.scores.values[row].mean()):.4f}"
    if interval.low is not None and interval.high is not None:
        said += f"; over all such queries most likely between {interval.low:.2f} and {interval.high:.2f}"
    missed = f"{len(best.misses):,} of {count(found.n_scored, 'query', 'queries')}"
    return f"{said}. The first result is not what was asked for in {missed} ({len(best.misses) / found.n_scored:.0%})."
