"""The experiment log: a line for its file, a table and a curve for eyes, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rankproof.errors import count
from rankproof.experiments import Change, Experiment, measures_of
from rankproof.reports.charts import line_chart
from rankproof.reports.comparison import p_words
from rankproof.reports.figures import Figure, Series
from rankproof.reports.json import SCHEMA_VERSION, dump
from rankproof.reports.markdown import escaped
from rankproof.reports.plot import line_plot
from rankproof.reports.text import printable, table

_SIGNS = {"accepted": "✓", "rejected": "✗"}
_WORTH_DRAWING = 3
_SHORT = 48
"""How much of a reason the table shows; the other forms have it in full."""


def experiment_line(experiment: Experiment) -> str:
    """The experiment as it stands in the log."""
    return json.dumps(_data(experiment), sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def log_text(
    experiments: Sequence[Experiment], *, shown: int, width: int = 72, ascii: bool = False  # noqa: A002
) -> str:  # fmt: skip
    """The newest first, and how the first measure went from one accepted change to the next."""
    header = ["date", "decision", "why", "pipeline", "measure", "baseline", "value", "difference", "p"]
    rows = [
        [
            one.date if first else "",
            f"{_SIGNS[one.decision]} {one.decision}" if first else "",
            _short(printable(one.why)) if first else "",
            printable(name),
            change.measure,
            f"{change.baseline:.4f}",
            f"{change.value:.4f}",
            f"{change.difference:+.4f}",
            p_words(change.p_value),
        ]
        for one in _newest(experiments, shown)
        for first, name, change in _rows(one)
    ]
    parts = [table(header, rows, n_text=5)]
    given_up = [f"{one.date}: gave up {gone}" for one in _newest(experiments, shown) if (gone := _given_up(one))]
    parts += ["\n".join(given_up)] if given_up else []
    figure = _figure(experiments)
    if figure is not None:
        parts.append(line_plot(figure, width=width, ascii=ascii).rstrip("\n"))
    n_accepted = sum(one.decision == "accepted" for one in experiments)
    n_changes = count(len(experiments), "change", "changes")
    parts.append(f"{n_changes}: {n_accepted} accepted, {len(experiments) - n_accepted} rejected")
    return "\n\n".join(parts) + "\n"


def log_markdown(experiments: Sequence[Experiment], *, shown: int) -> str:
    """One row per measure, the newest change first."""
    lines = [
        "| date | decision | pipeline | measure | baseline | value | difference | p | why |",
        "| :-- | :-- | :-- | :-- | --: | --: | --: | --: | :-- |",
    ]
    for one in _newest(experiments, shown):
        for first, name, change in _rows(one):
            lines.append(
                f"| {escaped(one.date) if first else ''} | {one.decision if first else ''} | {escaped(name)} "
                f"| {escaped(change.measure)} | {change.baseline:.4f} | {change.value:.4f} | {change.difference:+.4f} "
                f"| {p_words(change.p_value)} | {escaped(_why(one)) if first else ''} |"
            )
    return "\n".join(lines) + "\n"


def log_json(experiments: Sequence[Experiment], *, shown: int) -> str:
    """For programs; the newest first."""
    return dump({"schema_version": SCHEMA_VERSION, "experiments": [_data(one) for one in _newest(experiments, shown)]})


def log_svg(experiments: Sequence[Experiment]) -> str | None:
    """How the measures went from one accepted change to the next; None while there is nothing to draw."""
    figure = _figure(experiments, least=1)
    return None if figure is None else line_chart(figure)


def _newest(experiments: Sequence[Experiment], shown: int) -> list[Experiment]:
    return list(reversed(experiments))[: shown or None]


def _rows(one: Experiment) -> list[tuple[bool, str, Change]]:
    rows = [(name, change) for name, changes in one.changes.items() for change in changes]
    return [(i == 0, name, change) for i, (name, change) in enumerate(rows)]


def _why(one: Experiment) -> str:
    return one.why + (f" (gave up {_given_up(one)})" if one.lowered else "")


def _given_up(one: Experiment) -> str:
    gone = [
        f"{printable(name)} {measure} ≥ {floor:g}"
        for name, floors in one.lowered.items()
        for measure, floor in floors.items()
    ]
    return ", ".join(gone)


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


def _figure(experiments: Sequence[Experiment], least: int = _WORTH_DRAWING) -> Figure | None:
    """The measure that comes first, for each pipeline: where it began and what each accepted change made of it."""
    accepted = [one for one in experiments if one.decision == "accepted"]
    if len(accepted) < least:
        return None
    measure = measures_of(accepted)[0][1] if measures_of(accepted) else ""
    series = []
    for name in dict.fromkeys(name for name, of in measures_of(accepted) if of == measure):
        values = [
            (nth, change)
            for nth, one in enumerate(accepted, 1)
            for change in one.changes.get(name, ())
            if change.measure == measure
        ]
        start = (float(values[0][0] - 1), values[0][1].baseline)
        series.append(Series(name, [start, *((float(nth), change.value) for nth, change in values)]))
    if not series:
        return None
    title = f"{measure} from one accepted change to the next"
    return Figure(series, "accepted changes", measure, title, x_whole=True)


def _data(one: Experiment) -> dict[str, Any]:
    return {
        "date": one.date,
        "decision": one.decision,
        "why": one.why,
        "outcome": one.outcome,
        "n_queries": one.n_queries,
        "changes": {
            name: [
                {
                    "measure": change.measure, "baseline": change.baseline, "value": change.value, "low": change.low,
                    "high": change.high, "p_value": change.p_value,
                }
                for change in changes
            ]
            for name, changes in one.changes.items()
        },
        "lowered": {name: dict(floors) for name, floors in one.lowered.items()},
        "pipelines": dict(one.pipelines),
        "gold": one.gold,
        "corpus": one.corpus,
    }  # fmt: skip
