"""The Retrieval Quality of a story, for eyes and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankproof.comparison import Findings
from rankproof.errors import count
from rankproof.reports.comparison import comparison_data, differences_text, verdict_sentences
from rankproof.reports.json import SCHEMA_VERSION, dump, rules_data
from rankproof.reports.text import number, printable, table
from rankproof.scoring.rules import PRESETS
from rankproof.story.quality import PRESET, Found, Quality, means_of

_SHOWN_MISSES = 10
_SHOWN_NAMES = 10
_LONGEST_QUERY = 90
_NAMES = {
    "mrr": "RQ, the mean reciprocal rank",
    "recall_at_k": "recall at topK, else at 5",
    "recall_at_5": "recall at 5",
    "recall_at_10": "recall at 10",
}
_SHORT = {"mrr": "MRR", "recall_at_5": "R@5"}
_REASONS = {
    "no_scenes": "the story has no scene",
    "no_text": "no scene of the story has a word in it",
    "no_ground_truth": "no query names a relevant scene",
}


def quality_text(found: Sequence[Quality], comparison: Findings | None = None, *, shown: int = _SHOWN_MISSES) -> str:
    """The verdict in words, the figures side by side, by kind of query, and the misses with what came first."""
    parts = ["\n".join(map(_verdict, found))]
    measured = [one for one in found if one.value is not None]
    if measured:
        parts.append(_figures(measured))
        if any(one.query.group for one in measured[0].found):
            parts.append(_by_group(measured))
    if comparison is not None:
        parts.append("\n".join([differences_text(comparison), *verdict_sentences(comparison)]))
    parts += [_misses(one, shown) for one in measured]
    parts.append("\n".join(_foundation(found)))
    return "\n\n".join(parts) + "\n"


def reason_words(one: Quality) -> str:
    """Why there is no value, in words."""
    return "" if one.reason is None else f"{_REASONS[one.reason]} ({one.reason})"


def _verdict(one: Quality) -> str:
    if one.value is None:
        return f"RQ not measured with profile {one.profile}: {reason_words(one)}."
    said = "passes, above" if one.passed else "FAILS, not above"
    ends = None if one.interval is None else one.interval.as_list()
    interval = "" if ends is None else f"; 95 % interval {ends[0]:.3f} to {ends[1]:.3f}"
    return (
        f"RQ {number(one.value)} with profile {one.profile}: {said} the threshold of {one.threshold:g} "
        f"({count(len(one.found), 'query', 'queries')}{interval})"
    )


def _figures(found: Sequence[Quality]) -> str:
    rows = [[said, *(number(one.means[name]) for one in found)] for name, said in _NAMES.items()]
    rows.append(["first scene relevant", *(f"{len(one.found) - len(one.misses):,}" for one in found)])
    rows.append(["scenes in the index", *(f"{one.index.scenes:,}" for one in found)])
    rows.append(["bytes of the index", *(f"{one.index.bytes:,}" for one in found)])
    return table(["", *(one.profile for one in found)], rows)


def _by_group(found: Sequence[Quality]) -> str:
    header = ["group", "queries", *(f"{one.profile} {said}" for said in _SHORT.values() for one in found)]
    groups = [one.by_group() for one in found]
    rows = []
    for name, members in groups[0].items():
        means = [means_of(group[name]) for group in groups]
        cells = [number(mean[measure]) for measure in _SHORT for mean in means]
        rows.append([name, f"{len(members):,}", *cells])
    return table(header, rows)


def _misses(one: Quality, shown: int) -> str:
    misses = one.misses
    if not misses:
        return f"{one.profile}: no miss, the first scene is relevant for every labelled query."
    lines = [f"{one.profile}: {count(len(misses), 'miss', 'misses')}, the first scene not being relevant; worst first"]
    for miss in misses[:shown]:
        names = dict.fromkeys((printable(miss.query.id), _cut(printable(miss.query.text))))
        lines.append(f"  {'  '.join(filter(None, names))}")
        lines.append(f"      came first  {printable(miss.first)} ({miss.similarity:.4f})")
        relevant = ", ".join(map(printable, miss.relevant))
        lines.append(f"      relevant    {relevant}, the first of them at rank {miss.rank:,}")
    more = len(misses) - shown
    if more > 0:
        lines.append(f"  … and {more:,} more; --misses {len(misses)} shows them, --format json has all")
    return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_QUERY else f"{text[:_LONGEST_QUERY]}…"


def _foundation(found: Sequence[Quality]) -> list[str]:
    first = found[0]
    n = len(first.found) + len(first.skipped)
    lines = [f"{count(n, 'query', 'queries')}, {len(first.found):,} scored"]
    if first.skipped:
        names = ", ".join(printable(query.id) for query in first.skipped[:_SHOWN_NAMES])
        more = f" and {len(first.skipped) - _SHOWN_NAMES:,} more" if len(first.skipped) > _SHOWN_NAMES else ""
        lines.append(f"{len(first.skipped):,} skipped (no_ground_truth): {names}{more}")
    if first.index.empty_scenes:
        lines.append(f"{count(first.index.empty_scenes, 'scene has', 'scenes have')} no text and came last each time")
    for one in found:
        blind = [row.query.id for row in one.found if row.similarity <= 0]
        if blind:
            like = count(len(blind), "query is", "queries are")
            lines.append(f"{one.profile}: {like} like no scene at all, so that what came first there means nothing")
    preset = PRESETS[PRESET]
    lines.append(f"rules: {preset.name} ({preset.rules})")
    return lines


def quality_json(found: Sequence[Quality], comparison: Findings | None = None) -> str:
    """For programs: the first profile's value and verdict, then every profile in full."""
    first = found[0]
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "metric": "RQ",
        "profile": first.profile,
        "value": first.value,
        "pass": first.passed,
        "threshold": first.threshold,
        "reason": first.reason,
        "profiles": [_profile_data(one) for one in found],
        "comparisons": [] if comparison is None else [comparison_data(one) for one in comparison.comparisons],
        **rules_data(PRESETS[PRESET]),
    }
    return dump(data)


def _profile_data(one: Quality) -> dict[str, Any]:
    return {
        "profile": one.profile,
        "value": one.value,
        "pass": one.passed,
        "reason": one.reason,
        "interval": None if one.interval is None else one.interval.as_list(),
        **one.means,
        "n_queries": len(one.found) + len(one.skipped),
        "n_scored": len(one.found),
        "by_group": {name: {"n": len(rows), **means_of(rows)} for name, rows in one.by_group().items()},
        "index": {
            "scenes": one.index.scenes,
            "empty_scenes": one.index.empty_scenes,
            "bytes": one.index.bytes,
        },
        "queries": [_query_data(row) for row in one.found],
        "skipped": [{"id": q.id, "query": q.text, "reason": "no_ground_truth"} for q in one.skipped],
    }


def _query_data(row: Found) -> dict[str, Any]:
    return {
        "id": row.query.id,
        "query": row.query.text,
        "group": row.query.group,
        "k": row.k,
        "relevant": list(row.relevant),
        "rank": row.rank,
        "reciprocal_rank": row.reciprocal_rank,
        "recall_at_k": row.recall_at_k,
        "recall_at_5": row.recall_at_5,
        "recall_at_10": row.recall_at_10,
        "first": {"scene": row.first, "similarity": row.similarity},
    }
