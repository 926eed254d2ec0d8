"""The experiment log: every change that was accepted or rejected, with its figures and the reason.

One line of JSON for each, the newest last, in a file that is kept with the code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from rankproof.data.files import PathLike, read_bytes, source_name
from rankproof.data.json_text import parse_json
from rankproof.data.lines import numbered_lines
from rankproof.errors import BadInput
from rankproof.scoring.scores import Scores, shared_queries
from rankproof.stats.effects import paired_differences
from rankproof.stats.intervals import mean_interval
from rankproof.stats.paired import paired_test

FILE = "rankproof-log.jsonl"

Decision = Literal["accepted", "rejected"]


@dataclass(frozen=True)
class Change:
    """What became of one measure, on the queries that both were measured on."""

    measure: str
    baseline: float
    value: float
    low: float | None
    """The 95 % interval of the difference; one query has none."""
    high: float | None
    p_value: float
    """Of "nothing changed", by the paired randomisation test."""

    @property
    def difference(self) -> float:
        """Value − baseline."""
        return self.value - self.baseline


@dataclass(frozen=True)
class Experiment:
    """A change that was tried, and what was decided about it."""

    decision: Decision
    date: str
    why: str
    outcome: str
    """What the gate said."""
    n_queries: int
    changes: Mapping[str, tuple[Change, ...]]
    """Pipeline → its measures."""
    lowered: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Pipeline → measure → the floor that was given up for a lower one."""
    pipelines: Mapping[str, str] = field(default_factory=dict)
    """Pipeline → the digest of its behaviour."""
    gold: str = ""
    corpus: str | None = None


def changes_of(before: Scores, now: Scores) -> tuple[Change, ...]:
    """What became of each measure that both have."""
    shared, here, there = shared_queries(now, before)
    if not shared:
        return ()
    found = []
    for measure in now.measures:
        if measure not in before.measures:
            continue
        value, baseline = now.of(measure)[here], before.of(measure)[there]
        differences = paired_differences(value, baseline)
        interval = mean_interval(differences)
        p_value = paired_test(differences).p_value
        found.append(
            Change(str(measure), float(baseline.mean()), float(value.mean()), interval.low, interval.high, p_value)
        )
    return tuple(found)


def read_log(path: PathLike, torn: list[str]) -> list[Experiment]:
    """The experiments of a log, oldest first; lines that a crash has torn are left out and told in `torn`."""
    source = source_name(path)
    found = []
    for line, text in numbered_lines(read_bytes(path)):
        try:
            data = parse_json(text, source, line)
        except BadInput as exc:
            torn.append(str(exc))
        else:
            found.append(_experiment(data, source, line))
    return found


def _experiment(data: Any, source: str, line: int) -> Experiment:
    if not isinstance(data, dict) or data.get("decision") not in get_args(Decision):
        raise BadInput.of(source, f"is no experiment: its decision is not one of {', '.join(get_args(Decision))}", line)
    try:
        return Experiment(
            data["decision"], str(data["date"]), str(data["why"]), str(data["outcome"]), int(data["n_queries"]),
            {name: tuple(map(_change, rows)) for name, rows in data["changes"].items()},
            data.get("lowered", {}), data.get("pipelines", {}), data.get("gold", ""), data.get("corpus"),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise BadInput.of(source, f"is no experiment as we write it ({exc!r})", line) from exc


def _change(row: Mapping[str, Any]) -> Change:
    return Change(
        str(row["measure"]), float(row["baseline"]), float(row["value"]), row["low"], row["high"], float(row["p_value"])
    )


def measures_of(experiments: Sequence[Experiment]) -> list[tuple[str, str]]:
    """Each pipeline and measure that the experiments speak of, as they first come."""
    pairs = ((name, row.measure) for one in experiments for name, rows in one.changes.items() for row in rows)
    return list(dict.fromkeys(pairs))
