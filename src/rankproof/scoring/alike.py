"""Whether scores can be set side by side: made of the same queries, judgments, rules and measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankproof.errors import BadInput
from rankproof.scoring.scores import Scores

_SHOWN = 5


def check_alike(scores: Sequence[Scores]) -> None:
    """Refuse scores that were not made in the same way of the same things, and say what differs."""
    first = scores[0]
    for other in scores[1:]:
        _check_rules(first, other)
        _check_measures(first, other)
        if first.judgments and other.judgments and first.judgments != other.judgments:
            raise _apart(
                f"{first.name} and {other.name} were scored against different judgments "
                f"({_short(first.judgments)} and {_short(other.judgments)})",
                "Score both against the same judgments.",
            )
        _check_queries(first, other)


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names, a repeated one with a number behind it."""
    found: dict[str, None] = {}
    for name in names:
        numbered, n = name, 1
        while numbered in found:
            n += 1
            numbered = f"{name} ({n})"
        found[numbered] = None
    return list(found)


def _apart(what: str, way_out: str) -> BadInput:
    return BadInput.of("scores", f"{what}. {way_out}")


def _short(digest: str) -> str:
    return digest[:19]


def _check_rules(first: Scores, other: Scores) -> None:
    ours, theirs = first.preset.rules.as_dict(), other.preset.rules.as_dict()
    apart = [f"{name}={ours[name]} and {name}={theirs[name]}" for name in ours if ours[name] != theirs[name]]
    for name in sorted({*first.preset.defaults, *other.preset.defaults}):
        one, two = first.preset.defaults.get(name, {}), other.preset.defaults.get(name, {})
        if dict(one) != dict(two) and any(measure.family == name for measure in first.measures):
            apart.append(f"{name} with {dict(one)} and with {dict(two)}")
    if apart:
        raise _apart(
            f"{first.name} and {other.name} were scored under different rules: {'; '.join(apart)}",
            "Score both under one preset.",
        )


def _check_measures(first: Scores, other: Scores) -> None:
    if first.measures != other.measures:
        ours, theirs = (", ".join(map(str, one.measures)) for one in (first, other))
        raise _apart(
            f"{first.name} and {other.name} were scored by different measures ({ours} and {theirs})",
            "Score both by the same.",
        )


def _check_queries(first: Scores, other: Scores) -> None:
    ours, theirs = set(first.query_ids), set(other.query_ids)
    if ours == theirs:
        return
    sides = []
    for name, only in ((first.name, ours - theirs), (other.name, theirs - ours)):
        if only:
            sides.append(f"only {name} has {_listed(sorted(only))}")
    way_out = "Score both against the same gold set."
    if first.preset.rules.missing == "skip":
        way_out = "Under these rules a query missing from a run is left out; under the preset `default` it counts 0."
    raise _apart(f"The runs were scored on different queries: {'; '.join(sides)}", way_out)


def _listed(queries: list[str]) -> str:
    shown, more = ", ".join(queries[:_SHOWN]), len(queries) - _SHOWN
    return f"{shown} (and {more:,} more)" if more > 0 else shown
