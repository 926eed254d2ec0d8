"""What `eval` found, for eyes and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankproof.errors import count
from rankproof.evaluation import Evaluation, Expected, Miss, Mode
from rankproof.measures.registry import Measure
from rankproof.reports.comparison import comparison_data, differences_text
from rankproof.reports.json import SCHEMA_VERSION, dump, rules_data
from rankproof.reports.text import foundation, number, printable, table, with_interval
from rankproof.stats.intervals import Interval

if TYPE_CHECKING:
    from rankproof.failures import Analysis

_SHOWN_MISSES = 10
_SHOWN_REASONS = 10


def evaluation_text(found: Evaluation, *, shown: int = _SHOWN_MISSES, intervals: bool = True) -> str:
    """Figures with intervals, per group, the misses, and everything that is not in the figures."""
    parts = [_figures(found, intervals)]
    if found.group_sizes:
        parts.append(_by_group(found, intervals))
    if found.comparison is not None:
        parts.append(differences_text(found.comparison))
    parts += [_misses_text(mode, shown) for mode in found.modes if shown]
    parts += [part for part in (_stale_text(found), _left_out_text(found), _unmeasured_text(found)) if part]
    coverages = [(mode.name, mode.scores.coverage) for mode in found.modes]
    parts.append(foundation(coverages, found.preset, found.measures))
    return "\n\n".join(parts) + "\n"


def _figures(found: Evaluation, intervals: bool) -> str:
    header = ["measure", *(printable(mode.name) for mode in found.modes)]
    rows = []
    for measure in found.measures:
        cells = [_cell(mode.scores.of(measure).mean(), mode.intervals[measure], intervals) for mode in found.modes]
        rows.append([str(measure), *cells])
    level = f", {found.level * 100:g} % intervals" if intervals else ""
    return f"{count(found.n_scored, 'query', 'queries')} scored of {found.n_queries:,}{level}\n{table(header, rows)}"


def _cell(mean: float, interval: Interval, shown: bool) -> str:
    return with_interval(number(mean), interval) if shown else number(mean)


def _by_group(found: Evaluation, intervals: bool) -> str:
    header = ["group", "queries", "measure", *(mode.name for mode in found.modes)]
    rows = []
    for group in found.modes[0].by_group:
        for i, measure in enumerate(found.measures):
            cells = [_cell(*mode.by_group[group][measure], intervals) for mode in found.modes]
            size = f"{found.group_sizes[group]:,}"
            rows.append([group if i == 0 else "", size if i == 0 else "", str(measure), *cells])
    return table(header, rows)


def _misses_text(mode: Mode, shown: int) -> str:
    name = printable(mode.name)
    if not mode.misses:
        return f"{name}: no miss, the first result is relevant for every query that has a relevant document."
    kinds = [count(n, *words) for n, words in _kinds(mode.misses) if n]
    lines = [f"{name}: {count(len(mode.misses), 'miss', 'misses')} ({', '.join(kinds)})"]
    for miss in mode.misses[:shown]:
        names = dict.fromkeys((printable(miss.query.id), printable(miss.query.text)))
        lines.append(f"  {'  '.join(filter(None, names))}")
        returned = ", ".join(_returned(doc_id, grade) for doc_id, grade in miss.returned) or "nothing"
        lines.append(f"      returned  {returned}")
        lines += [f"      expected  {_expected(one)}" for one in miss.expected]
    more = len(mode.misses) - shown
    if more > 0:
        lines.append(f"  … and {more:,} more; --misses {len(mode.misses)} shows them, --format json has all")
    return "\n".join(lines)


def _kinds(misses: Sequence[Miss]) -> list[tuple[int, tuple[str, str]]]:
    words = {
        "wrong": ("with a wrong first result", "with a wrong first result"),
        "partial": ("with a first result that answers in part", "with a first result that answers in part"),
        "nothing": ("without any result", "without any result"),
    }
    return [(sum(miss.kind == kind for miss in misses), said) for kind, said in words.items()]


def _returned(doc_id: str, grade: float | None) -> str:
    said = "unjudged" if grade is None else f"{grade:g}"
    return f"{printable(doc_id)} ({said})"


def _expected(one: Expected) -> str:
    # What the last stage made of it is the result itself.
    earlier = one.stages[:-1] if one.rank is not None else one.stages
    places = [f"rank {rank} after {printable(stage)}" for stage, rank in earlier if rank is not None]
    if one.rank is not None:
        where = f"rank {one.rank}"
    else:
        where = "not among the results" if places else "not found by any stage"
    return f"{printable(one.doc_id)}: {'; '.join([where, *places])}"


def _stale_text(found: Evaluation) -> str:
    if not found.stale:
        return ""
    judgments = count(len(found.stale), "judgment names a document", "judgments name documents")
    lines = [f"stale gold: {judgments} that the corpus does not have; not counted as misses"]
    for one in found.stale[:_SHOWN_REASONS]:
        hint = f"; nearest: {', '.join(map(printable, one.nearest))}" if one.nearest else ""
        lines.append(f"  {printable(one.query_id)}: {printable(one.doc_id)}{hint}")
    return _cut(lines, len(found.stale))


def _left_out_text(found: Evaluation) -> str:
    lines = []
    if found.no_answer:
        queries = count(len(found.no_answer), "query has", "queries have")
        lines.append(f"{queries} no answer in the corpus, as labelled, and left the means")
    if found.unjudged:
        queries = count(len(found.unjudged), "query has", "queries have")
        lines.append(f"{queries} no judgment and left the means: {', '.join(map(printable, found.unjudged[:5]))}")
    return "\n".join(lines)


def _unmeasured_text(found: Evaluation) -> str:
    if not found.unmeasured:
        return ""
    queries = count(len(found.unmeasured), "query", "queries")
    lines = [f"NOT MEASURED: {queries} failed and left the means of all pipelines"]
    for query_id, reasons in list(found.unmeasured.items())[:_SHOWN_REASONS]:
        said = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        lines.append(f"  {printable(query_id)}: {printable(said)}")
    return _cut(lines, len(found.unmeasured))


def _cut(lines: list[str], total: int) -> str:
    more = total - _SHOWN_REASONS
    return "\n".join([*lines, f"  … and {more:,} more"] if more > 0 else lines)


def evaluation_json(found: Evaluation, *, analyses: Sequence[Analysis] = ()) -> str:
    """For programs: everything, the misses in full."""
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "measures": [str(measure) for measure in found.measures],
        "level": found.level,
        "n_queries": found.n_queries,
        "n_scored": found.n_scored,
        "modes": [_mode_data(mode) for mode in found.modes],
        "stale": [
            {"query_id": one.query_id, "doc_id": one.doc_id, "nearest": list(one.nearest)} for one in found.stale
        ],
        "no_answer": list(found.no_answer),
        "unjudged": list(found.unjudged),
        "unmeasured": {query_id: dict(reasons) for query_id, reasons in found.unmeasured.items()},
        "group_sizes": dict(found.group_sizes),
        **rules_data(found.preset),
    }
    if analyses:
        from rankproof.reports.failures import analysis_data

        data["analyses"] = [analysis_data(one) for one in analyses]
    if found.comparison is not None:
        data["comparisons"] = [comparison_data(one) for one in found.comparison.comparisons]
    return dump(data)


def _mode_data(mode: Mode) -> dict[str, Any]:
    return {
        "name": mode.name,
        "digest": mode.run.digest,
        "mean": mode.scores.mean(),
        "interval": {str(measure): interval.as_list() for measure, interval in mode.intervals.items()},
        "by_group": {group: _group_data(figures) for group, figures in mode.by_group.items()},
        "coverage": mode.scores.coverage.as_dict(),
        "n_degraded": len(mode.run.of_state("degraded")),
        "n_not_measured": len(mode.run.of_state("not measured")),
        "misses": [_miss_data(miss) for miss in mode.misses],
    }


def _group_data(figures: Any) -> dict[str, Any]:
    measures: dict[Measure, tuple[float, Interval]] = dict(figures)
    return {str(m): {"mean": mean, "interval": interval.as_list()} for m, (mean, interval) in measures.items()}


def _miss_data(miss: Miss) -> dict[str, Any]:
    return {
        "query_id": miss.query.id,
        "query": miss.query.text,
        "group": miss.query.group,
        "kind": miss.kind,
        "returned": [{"doc_id": doc_id, "grade": grade} for doc_id, grade in miss.returned],
        "expected": [
            {
                "doc_id": one.doc_id, "grade": one.grade, "rank": one.rank,
                "stages": [{"stage": stage, "rank": rank} for stage, rank in one.stages],
            }
            for one in miss.expected
        ],
    }  # fmt: skip
