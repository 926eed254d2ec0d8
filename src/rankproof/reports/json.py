"""Findings as JSON: sorted keys, no clock, no absolute path; the contract for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.measures.registry import Measure
from rankproof.scoring.explain import Explanation
from rankproof.scoring.rules import Preset
from rankproof.scoring.scores import Scores
from rankproof.stats.intervals import Interval

SCHEMA_VERSION = 1


def dump(data: Mapping[str, Any]) -> str:
    """The data as text that is the same for the same data."""
    return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def rules_data(preset: Preset) -> dict[str, Any]:
    """A preset as plain data."""
    defaults = {name: dict(parameters) for name, parameters in preset.defaults.items()}
    return {"preset": preset.name, "rules": preset.rules.as_dict(), "defaults": defaults}


def scores_json(
    scores: Sequence[Scores], *, per_query: bool = False, groups: Mapping[str, str] | None = None,
    intervals: Sequence[Mapping[Measure, Interval]] | None = None,
    comparisons: Sequence[Mapping[str, Any]] | None = None,
) -> str:  # fmt: skip
    """Scores of one or more runs."""
    data = scores_data(scores, per_query=per_query, groups=groups)
    if intervals is not None:
        for run, own in zip(data["runs"], intervals, strict=True):
            run["interval"] = {str(measure): interval.as_list() for measure, interval in own.items()}
    if comparisons is not None:
        data["comparisons"] = list(comparisons)
    return dump(data)


def scores_data(
    scores: Sequence[Scores], *, per_query: bool = False, groups: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Scores of one or more runs as plain data."""
    runs = []
    for one in scores:
        run: dict[str, Any] = {"name": one.name, "mean": one.mean(), "coverage": one.coverage.as_dict()}
        if per_query:
            run["by_query"] = one.by_query()
        if groups is not None:
            run["by_group"] = one.by_group(groups)
            run["group_sizes"] = one.group_sizes(groups)
        runs.append(run)
    head: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "measures": [str(m) for m in scores[0].measures]}
    if per_query:
        # With the values of each query this is a file that `compare` reads, which must know what they rest on.
        head["judgments"] = scores[0].judgments
    return {**head, **rules_data(scores[0].preset), "runs": runs}


def explanation_json(found: Explanation) -> str:
    """Why two presets differ."""
    differences = [
        {
            "measure": str(d.measure),
            "first": d.first,
            "second": d.second,
            "difference": d.total,
            "together": d.together,
            "changes": [
                {
                    "rule": c.rule, "first": c.first, "second": c.second, "mean": c.mean, "effect": c.effect,
                    "queries": list(c.queries), "refusal": c.refusal,
                }
                for c in d.changes
            ],
        }
        for d in found.differences
    ]  # fmt: skip
    presets = {"first": rules_data(found.first), "second": rules_data(found.second)}
    head = {"schema_version": SCHEMA_VERSION, "refusals": list(found.refusals)}
    return dump({**head, "presets": presets, "differences": differences})
