"""Baselines and verdicts: JSON for the repository, text for eyes, JUnit and Markdown for the build."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from rankproof.baseline import VERSION, Floors
from rankproof.errors import count
from rankproof.evaluation import Evaluation
from rankproof.gate import Outcome, Verdict, overall
from rankproof.reports.json import SCHEMA_VERSION, dump, scores_data
from rankproof.reports.markdown import escaped
from rankproof.reports.text import printable, table

Verdicts = Mapping[str, Sequence[Verdict]]
"""Pipeline → the verdict on each rule."""

COMMENT_BYTES = 60 << 10
"""What a comment may hold; GitHub takes 65,536 characters."""

_SIGNS = {"pass": "✓", "worse": "✗", "not measured": "?"}
_WORST_FIRST: Sequence[Outcome] = ("not measured", "worse", "pass")
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


def undecided(why: str) -> Verdicts:
    """What is told where no rule could even be held against a figure."""
    return {"rankproof": [Verdict("gate", "not measured", why)]}


def gate_text(verdicts: Verdicts, *, width: int | None = None) -> str:
    """One row per rule, the queries that fell furthest, and the verdict in words; in a given width if there is one."""
    parts = []
    for mode, of_mode in verdicts.items():
        rows = [[f"{_SIGNS[v.outcome]} {v.rule}", v.outcome, v.why] for v in of_mode]
        parts.append(f"{printable(mode)}\n{table(['rule', 'outcome', 'why'], rows, n_text=3, width=width)}")
        for verdict in of_mode:
            if verdict.outcome == "worse" and verdict.worst:
                worst = ", ".join(f"{printable(query)} {change:+.4f}" for query, change in verdict.worst)
                said = f"{printable(verdict.rule)}, worst queries: {worst}"
                parts.append(
                    said
                    if width is None
                    else textwrap.fill(said, width, subsequent_indent="  ", break_on_hyphens=False)
                )
    return "\n\n".join([*parts, _WORDS[outcome_of(verdicts)]]) + "\n"


def gate_markdown(verdicts: Verdicts, *, most: int = COMMENT_BYTES) -> str:
    """For a comment on a change: the verdict, a table per pipeline, the queries that fell furthest.

    It has at most so many bytes; rows that do not fit are left out from the end and counted.
    """
    return _fitted(f"**{_WORDS[outcome_of(verdicts)]}**\n", _sections(verdicts), most)


class _Section(NamedTuple):
    """A table: what stands above its rows, the rows, and what stands below."""

    above: str
    rows: list[str]
    below: str = ""


def _sections(verdicts: Verdicts) -> Iterator[_Section]:
    for mode, of_mode in verdicts.items():
        worst_first = sorted(of_mode, key=lambda verdict: _WORST_FIRST.index(verdict.outcome))
        rows = [f"| {_SIGNS[v.outcome]} | {harmless(v.rule)} | {harmless(v.why)} |\n" for v in worst_first]
        yield _Section(f"\n**{harmless(mode)}**\n\n| | rule | why |\n| :-- | :-- | :-- |\n", rows)
    for mode, of_mode in verdicts.items():
        for verdict in of_mode:
            if verdict.outcome != "pass" and verdict.worst:
                title = f"{_harmless_html(mode)}: {_harmless_html(verdict.rule)}, worst queries"
                head = f"\n<details>\n<summary>{title}</summary>\n\n| query | change |\n| :-- | --: |\n"
                rows = [f"| {harmless(query)} | {change:+.4f} |\n" for query, change in verdict.worst]
                yield _Section(head, rows, "\n</details>\n")


def _fitted(head: str, sections: Iterable[_Section], most: int) -> str:
    """Whole rows from the top, as many as fit, and how many were left out."""
    parts, left_out = [head], 0
    room = most - len(head.encode()) - _CLOSING_BYTES
    for section in sections:
        needed = len(f"{section.above}{section.below}".encode())
        kept: list[str] = []
        for row in [] if left_out else section.rows:
            needed += len(row.encode())
            if needed > room:
                break
            kept.append(row)
        left_out += len(section.rows) - len(kept)
        if kept:
            parts += [section.above, *kept, section.below]
            room -= sum(len(part.encode()) for part in (section.above, *kept, section.below))
    if left_out:
        parts.append(
            f"\n{count(left_out, 'row does', 'rows do')} not fit and {'was' if left_out == 1 else 'were'} left out.\n"
        )
    return "".join(parts)


_CLOSING_BYTES = 80
_LONGEST = 500
_LINKED = re.compile(r"@|#|:(?=//)|\bwww(?=\.)|\bGH-", re.IGNORECASE)


def harmless(text: str) -> str:
    """The text for Markdown on a Git host: no markup, no mention of a person, no link; cut if it is very long."""
    return _unlinked(escaped(_clipped(text)))


def _harmless_html(text: str) -> str:
    return _unlinked(html.escape(printable(_clipped(text)), quote=False))


def _unlinked(text: str) -> str:
    # Git hosts look for people, issues and addresses after the markup has gone, so that no escape helps against it;
    # a space of no width does.
    return _LINKED.sub(lambda found: f"{found[0]}&#8203;", text)


def _clipped(text: str) -> str:
    line = " ".join(text.splitlines())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


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
        "noise": verdict.noise,
        "worst": [{"query_id": query, "difference": change} for query, change in verdict.worst],
    }


def gate_junit(verdicts: Verdicts) -> str:
    """JUnit XML: one case per rule; worse is a failure, not measured an error. Nothing in it is from a clock."""
    every = [verdict for of_mode in verdicts.values() for verdict in of_mode]
    root = ElementTree.Element("testsuites", {"name": "rankproof gate", **_counts(every)})
    for mode, of_mode in verdicts.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": _plain(mode), **_counts(of_mode)})
        for verdict in of_mode:
            case = ElementTree.SubElement(
                suite, "testcase", classname=_plain(mode), name=_plain(verdict.rule), time="0"
            )  # fmt: skip
            if verdict.outcome == "pass":
                ElementTree.SubElement(case, "system-out").text = _plain(verdict.why)
                continue
            kind = "failure" if verdict.outcome == "worse" else "error"
            lines = [*verdict.why.splitlines(), *(f"{query} {change:+.4f}" for query, change in verdict.worst)]
            told = ElementTree.SubElement(case, kind, message=_plain(lines[0] if lines else ""), type=verdict.outcome)
            told.text = "\n".join(map(_plain, lines))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _counts(verdicts: Sequence[Verdict]) -> dict[str, str]:
    outcomes = [verdict.outcome for verdict in verdicts]
    failures, errors = outcomes.count("worse"), outcomes.count("not measured")
    return {
        "tests": str(len(outcomes)), "failures": str(failures), "errors": str(errors), "skipped": "0", "time": "0"
    }  # fmt: skip


def _plain(text: str) -> str:
    """Without characters that XML cannot hold."""
    return re.sub("[\ufffe\uffff]", "\ufffd", printable(text))
