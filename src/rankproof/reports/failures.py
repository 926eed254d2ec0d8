"""Why queries failed, for eyes and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankproof.comparison import Comparison
from rankproof.errors import count
from rankproof.failures import ADVICE, CLASSES, DECIDING_SHARE, Analysis, Failure
from rankproof.reports.comparison import interval_words, p_words, signed
from rankproof.reports.text import printable, table


def analysis_text(found: Analysis, *, shown: int = 10, tried: Sequence[Comparison] = ()) -> str:
    """The classes, overall and per group, the failures with their evidence, and what to do."""
    name = printable(found.mode)
    failed = f"{count(len(found.failures), 'failure', 'failures')} in {count(found.n_queries, 'query', 'queries')}"
    parts = [f"{name}: {failed} ({found.failure_rate:.0%})"]
    if found.failures:
        parts[0] += f"\n{_distribution(found)}"
        parts.append(_listed(found.failures, shown))
    parts += [part for part in (_unjudged(found), _stale(found)) if part]
    parts.append(f"{_decisions(found)}recommendation: {found.verdict}")
    if tried:
        parts.append("\n".join(_tried(one) for one in tried))
    return "\n\n".join(parts)


def _distribution(found: Analysis) -> str:
    groups = found.group_names() if found.groups else []
    header = ["class", "failures", "share", *groups]
    rows = []
    everything = found.distribution()
    by_group = {group: found.distribution(group) for group in groups}
    for kind in sorted(CLASSES, key=lambda kind: -everything[kind]):
        n = everything[kind]
        rows.append([kind, f"{n:,}", f"{n / len(found.failures):.0%}", *(str(by_group[g][kind]) for g in groups)])
    return table(header, rows)


def _listed(failures: Sequence[Failure], shown: int) -> str:
    lines = []
    for failure in failures[:shown]:
        names = dict.fromkeys((printable(failure.query.id), printable(failure.query.text)))
        lines.append(f"  {failure.kind}  {'  '.join(filter(None, names))}")
        lines += [f"      {printable(sentence)}" for sentence in failure.evidence]
        if failure.crowded:
            above = count(failure.crowded, "result above it repeats", "results above it repeat")
            lines.append(f"      duplicate-crowding: {above} another one")
    more = len(failures) - shown
    if more > 0:
        lines.append(f"  … and {more:,} more; --misses {len(failures)} shows them, --format json has all")
    return "\n".join(lines)


def _unjudged(found: Analysis) -> str:
    if not found.unjudged_top:
        return ""
    queries = count(len(found.unjudged_top), "query has", "queries have")
    some = ", ".join(map(printable, found.unjudged_top[:5]))
    return f"unjudged-top: {queries} a first result that nobody judged; no failures yet, label these first: {some}"


def _stale(found: Analysis) -> str:
    if not found.stale:
        return ""
    judgments = count(len(found.stale), "judgment names", "judgments name")
    some = ", ".join(printable(one.doc_id) for one in found.stale[:5])
    return (
        f"stale-gold: {judgments} a document that the corpus does not have; no failures, `rankproof gold stale` says "
        f"what became of them: {some}"
    )


def _decisions(found: Analysis) -> str:
    if not found.decisions:
        return ""
    rows = [[d.kind, f"{d.share:.0%}", d.advice] for d in found.decisions]
    return f"{table([f'over {DECIDING_SHARE:.0%} of the failures', 'share', 'what helps'], rows)}\n\n"


def _tried(one: Comparison) -> str:
    return (
        f"tried: {printable(one.candidate)} − {printable(one.baseline)} in {one.measure}: {signed(one.difference)}, "
        f"{one.interval.level * 100:g} % interval {interval_words(one.interval)}, p = {p_words(one.p_value)}"
    )


def analysis_data(found: Analysis) -> dict[str, Any]:
    """An analysis as plain data."""
    return {
        "mode": found.mode,
        "n_queries": found.n_queries,
        "n_failures": len(found.failures),
        "failure_rate": found.failure_rate,
        "distribution": dict(found.distribution()),
        "by_group": {group: dict(found.distribution(group)) for group in found.group_names()} if found.groups else {},
        "unjudged_top": list(found.unjudged_top),
        "stale_gold": [
            {"query_id": one.query_id, "doc_id": one.doc_id, "nearest": list(one.nearest)} for one in found.stale
        ],
        "decisions": [{"class": d.kind, "share": d.share, "advice": d.advice} for d in found.decisions],
        "advice": dict(ADVICE),
        "recommendation": found.verdict,
        "failures": [
            {
                "query_id": failure.query.id,
                "query": failure.query.text,
                "class": failure.kind,
                "evidence": list(failure.evidence),
                "expected": None if failure.expected is None else failure.expected.doc_id,
                "duplicates_above": failure.crowded,
            }
            for failure in found.failures
        ],
    }
