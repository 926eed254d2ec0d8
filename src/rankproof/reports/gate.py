"""Baselines and verdicts: JSON for the repository, text for eyes, JUnit and Markdown for the build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from rankproof.baseline import VERSION, Floors
from rankproof.evaluation import Evaluation
from rankproof.gate import Outcome, Verdict, overall
from rankproof.reports.json import SCHEMA_VERSION, dump, scores_data
from rankproof.reports.markdown import escaped
from rankproof.reports.text import printable, table

Verdicts = Mapping[str, Sequence[Verdict]]
"""Pipeline → the verdict on each rule."""

_SIGNS = {"pass": "✓", "worse": "✗", "not measured": "?"}
_WORDS: Mapping[Outcome, str] = {
    "pass": "The gate passes.",
    "worse": "The gate does not pass: quality is worse.",
    "not measured": "The gate does not pass: not everything could be measured.",
}


def baseline_json(
    found: Evaluation, *, gold: str, corpus: str | None, groups: Mapping[str, str], floors: Floors
) -> str:  # fmt: skip
    """The baseline as it is kept with the code."""
    data = scores_data([mode.scores for mode in found.modes], per_query=True, groups=groups or None)
    extras = {
        "baseline_version": VERSION,
        "gold": gold,
        "corpus": corpus,
        "pipelines": {mode.name: mode.run.digest for mode in found.modes},
        "floors": {
            mode.name: {str(measure): floor for measure, floor in floors[mode.name].items()}
            for mode in found.modes
            if floors.get(mode.name)
        },
    }
    return dump({**data, **extras})


def outcome_of(verdicts: Verdicts) -> Outcome:
    """The outcome over all pipelines."""
    return overall(verdict for of_mode in verdicts.values() for verdict in of_mode)


def gate_text(verdicts: Verdicts) -> str:
    """One row per rule, the queries that fell furthest, and the verdict in words."""
    parts = []
    for mode, of_mode in verdicts.items():
        rows = [[f"{_SIGNS[v.outcome]} {v.rule}", v.outcome, v.why] for v in of_mode]
        parts.append(f"{printable(mode)}\n{table(['rule', 'outcome', 'why'], rows, n_text=3)}")
        for verdict in of_mode:
            if verdict.outcome == "worse" and verdict.worst:
                worst = ", ".join(f"{printable(query)} {change:+.4f}" for query, change in verdict.worst)
                parts.append(f"{verdict.rule}, worst queries: {worst}")
    return "\n\n".join([*parts, _WORDS[outcome_of(verdicts)]]) + "\n"


def gate_markdown(verdicts: Verdicts) -> str:
    """For a comment on a change."""
    lines = [f"**{_WORDS[outcome_of(verdicts)]}**", "", "| | pipeline | rule | why |", "| :-- | :-- | :-- | :-- |"]
    for mode, of_mode in verdicts.items():
        lines += [f"| {_SIGNS[v.outcome]} | {escaped(mode)} | {escaped(v.rule)} | {escaped(v.why)} |" for v in of_mode]
    return "\n".join(lines) + "\n"


def gate_json(verdicts: Verdicts) -> str:
    """For programs."""
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "outcome": outcome_of(verdicts),
        "pipelines": {mode: [_data(verdict) for verdict in of_mode] for mode, of_mode in verdicts.items()},
    }
    return dump(data)


def _data(verdict: Verdict) -> dict[str, Any]:
    return {
        "rule": verdict.rule,
        "outcome": verdict.outcome,
        "why": verdict.why,
        "measure": verdict.measure or None,
        "group": verdict.group,
        "baseline": verdict.baseline,
        "value": verdict.value,
        "p_value": verdict.p_value,
        "worst": [{"query_id": query, "difference": change} for query, change in verdict.worst],
    }


def gate_junit(verdicts: Verdicts) -> str:
    """JUnit XML: one case per rule; worse is a failure, not measured an error."""
    root = ElementTree.Element("testsuites", name="rankproof gate")
    for mode, of_mode in verdicts.items():
        outcomes = [verdict.outcome for verdict in of_mode]
        suite = ElementTree.SubElement(
            root, "testsuite", name=_plain(mode), tests=str(len(of_mode)), failures=str(outcomes.count("worse")),
            errors=str(outcomes.count("not measured")),
        )  # fmt: skip
        for verdict in of_mode:
            case = ElementTree.SubElement(suite, "testcase", classname=_plain(mode), name=_plain(verdict.rule))
            if verdict.outcome != "pass":
                kind = "failure" if verdict.outcome == "worse" else "error"
                ElementTree.SubElement(case, kind, message=_plain(verdict.why), type=verdict.outcome)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _plain(text: str) -> str:
    """Without characters that XML cannot hold."""
    return printable(text)
