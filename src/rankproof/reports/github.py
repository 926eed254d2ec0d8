"""Verdicts for GitHub: the summary of a step, and the annotations beside a change."""

# Without the import from __future__, whose name the function `annotations` takes.
import math
import re
from collections.abc import Iterator

from rankproof.errors import count
from rankproof.gate import Verdict
from rankproof.reports.gate import Verdicts, gate_markdown
from rankproof.reports.text import printable

SUMMARY_BYTES = 900 << 10
"""What one summary may hold; GitHub takes 1 MiB of a step and shows nothing of more."""

MOST_ANNOTATIONS = 10
"""How many annotations GitHub shows of one kind and step."""

_HEADING = "## rankproof gate\n\n"
_LONGEST_TITLE = 200
_LONGEST_MESSAGE = 2000


def step_summary(verdicts: Verdicts, *, most: int = SUMMARY_BYTES) -> str:
    """The verdict, a table per pipeline and the queries that fell furthest, in at most so many bytes."""
    return _HEADING + gate_markdown(verdicts, most=most - len(_HEADING))


def annotations(verdicts: Verdicts, file: str = "rankproof.yaml") -> list[str]:
    """Workflow commands, worst first: what was not measured, what is worse by the size of the loss, what may be noise.

    There are ten at most; the last one counts the rest.
    """
    told = [(mode, one) for mode, of_mode in verdicts.items() for one in of_mode if _kind(one) is not None]
    ranked = sorted(told, key=lambda pair: _urgency(pair[1]))
    shown = ranked[:MOST_ANNOTATIONS]
    more = [""] * len(shown)
    if len(ranked) > len(shown):
        more[-1] = f"\n{count(len(ranked) - len(shown), 'more rule', 'more rules')} to tell of: see the log."
    return [_command(mode, one, file, rest) for (mode, one), rest in zip(shown, more, strict=True)]


def for_log(text: str) -> str:
    """The text so that no line of it is taken for a workflow command."""
    return re.sub(r"^([^\S\n]*):(?=:)", r"\1: ", text, flags=re.MULTILINE).replace("##[", "## [")


_KINDS = {
    "not measured": ("error", "Not measured"),
    "worse": ("error", "Quality is worse"),
    "noise": ("notice", "A drop that may be noise"),
}


def _kind(verdict: Verdict) -> str | None:
    if verdict.noise:
        return "noise"
    return None if verdict.outcome == "pass" else verdict.outcome


def _urgency(verdict: Verdict) -> tuple[int, float]:
    # A broken floor or limit has no baseline to be a loss from; it was promised whatever came before.
    known = verdict.baseline is not None and verdict.value is not None
    loss = (verdict.baseline or 0.0) - (verdict.value or 0.0) if known else math.inf
    return list(_KINDS).index(_kind(verdict) or "noise"), -loss


def _command(mode: str, verdict: Verdict, file: str, rest: str) -> str:
    level, title = _KINDS[_kind(verdict) or "noise"]
    message = f"{mode}: {verdict.rule}: {verdict.why}"
    if verdict.worst:
        message += "\nWorst queries: " + ", ".join(f"{query} {change:+.4f}" for query, change in verdict.worst)
    properties = f"file={_property(file)},title={_property(title)}"
    return f"::{level} {properties}::{_data(_clipped(message, _LONGEST_MESSAGE) + rest)}"


def _data(text: str) -> str:
    """The text so that it stays one line, and nothing in it is taken for a command."""
    lines = "\n".join(map(printable, _inert(text)))
    return lines.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(_clipped(text, _LONGEST_TITLE)).replace(":", "%3A").replace(",", "%2C")


def _inert(text: str) -> Iterator[str]:
    # `::` at the start of a line and `##[` anywhere in it are what the runner looks for. Whoever shows an annotation
    # may cut it into lines anew, so that no `::` is left in it.
    for line in text.splitlines():
        while "::" in line:
            line = line.replace("::", ": :")
        yield for_log(line)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
