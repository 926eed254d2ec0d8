"""Scores read back from files: what `rankproof score --per-query --format json` wrote, or what trec_eval -q printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, head, read_bytes, source_name
from rankproof.data.json_text import parse_json
from rankproof.data.lines import decode_text, numbered_lines
from rankproof.errors import BadInput, NothingToEvaluate, RankproofError, UnknownName
from rankproof.measures.parse import parse_measure
from rankproof.measures.registry import Measure
from rankproof.scoring.rules import Preset, Rules
from rankproof.scoring.scores import Coverage, Scores

NOT_RECORDED = Preset("not recorded", "the file does not say under which rules its figures were made")

_ALL = "all"
_SCHEMA_VERSION = 1


def is_score_file(path: PathLike) -> bool:
    """Whether a file begins as our own scores do: a JSON object that speaks of measures, not of documents."""
    if os.path.isdir(path):
        return False
    start = _start(path)
    return start.startswith(b"{") and all(key in start for key in (b'"defaults"', b'"measures"', b'"preset"'))


def read_scores(path: PathLike) -> list[Scores]:
    """The scores of each run in a file, with the value of every query."""
    return _from_json(path) if _start(path).startswith(b"{") else [_from_trec(path)]


def _start(path: PathLike) -> bytes:
    return head(path).lstrip(b"\xef\xbb\xbf \t\r\n")


def _from_json(path: PathLike) -> list[Scores]:
    source = source_name(path)
    data = parse_json(read_bytes(path), source)
    if not isinstance(data.get("runs"), list) or not data["runs"] or data.get("schema_version") != _SCHEMA_VERSION:
        raise BadInput.of(source, f"is not a file of scores with schema_version {_SCHEMA_VERSION}; {_HOW_TO_MAKE_ONE}")
    try:
        preset = _preset(data)
        return [_run(run, data, preset, source) for run in data["runs"]]
    except (KeyError, TypeError, AttributeError, ValueError) as exc:
        raise BadInput.of(source, f"is not a file of scores as we write it ({exc!r}); {_HOW_TO_MAKE_ONE}") from exc


_HOW_TO_MAKE_ONE = "`rankproof score QRELS RUN --per-query --format json -o scores.json` makes one"


def _preset(data: Mapping[str, Any]) -> Preset:
    defaults = {str(name): dict(parameters) for name, parameters in data["defaults"].items()}
    return Preset(str(data["preset"]), "as recorded with the scores", Rules(**data["rules"]), defaults)


def _run(run: Mapping[str, Any], data: Mapping[str, Any], preset: Preset, source: str) -> Scores:
    if "by_query" not in run:
        raise BadInput.of(source, f"has no value for each query, only means; {_HOW_TO_MAKE_ONE}")
    measures = tuple(parse_measure(name) for name in data["measures"])
    by_query: dict[str, dict[str, float]] = run["by_query"]
    if not by_query:
        raise NothingToEvaluate(f"{source}: there is no query in it")
    values = np.array([[row[name] for row in by_query.values()] for name in data["measures"]], np.float64)
    coverage = Coverage(**{**run["coverage"], **_typed(run["coverage"])})
    return Scores(
        measures, list(by_query), values, lambda: coverage, preset, str(run["name"]),
        find_judgments=_saying(str(data.get("judgments", ""))),
    )  # fmt: skip


def _saying(text: str) -> Callable[[], str]:
    return lambda: text


def _typed(coverage: Mapping[str, Any]) -> dict[str, Any]:
    by_cutoff = {name: {int(k): v for k, v in coverage[name].items()} for name in ("judged_at", "tied_at")}
    return {**by_cutoff, **{name: tuple(coverage[name]) for name in ("missing", "extra", "no_relevant")}}


def _from_trec(path: PathLike) -> Scores:
    """From lines of measure, query and value; means over `all` queries are left out."""
    source = source_name(path)
    faults = Faults(source)
    values: dict[Measure, dict[str, float]] = {}
    for number, name, query, text in _trec_rows(path, source, faults):
        try:
            measure = parse_measure(name)
            value = float(text)
        except UnknownName as exc:
            faults.add(str(exc), number)
        except (ValueError, RankproofError):
            faults.add(f"value {text!r} of {name} is not a number", number)
        else:
            if not np.isfinite(value):
                faults.add(f"value {text!r} of {name} is not a finite number", number)
            elif query in values.setdefault(measure, {}):
                faults.add(f"{name} stands twice for query {query!r}", number)
            else:
                values[measure][query] = value
    faults.raise_any()
    if not values:
        raise NothingToEvaluate(f"{source}: no value of a single query in it; trec_eval prints them with -q")
    queries = list(next(iter(values.values())))
    for measure, row in values.items():
        if row.keys() != set(queries):
            faults.add(f"{measure} has values for other queries than {next(iter(values))}")
    faults.raise_any()
    table = np.array([[row[query] for query in queries] for row in values.values()])
    coverage = Coverage(len(queries), len(queries), len(queries), 0, 0, 0)
    return Scores(tuple(values), queries, table, lambda: coverage, NOT_RECORDED, Path(source).name)


def _trec_rows(path: PathLike, source: str, faults: Faults) -> Iterator[tuple[int, str, str, str]]:
    data = read_bytes(path)
    decode_text(data, source, 1)
    for number, line in numbered_lines(data):
        cells = line.decode().split()
        if len(cells) != 3:
            faults.add(f"{len(cells)} columns where 3 belong (measure, query, value)", number)
        elif cells[1] != _ALL:
            yield number, *cells  # type: ignore[misc]
