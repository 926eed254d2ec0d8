"""Scores as comma- or tab-separated values: one row per run and measure, group or query."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from rankproof.scoring.scores import Scores

ALL = "all"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def scores_csv(
    scores: Sequence[Scores], *, delimiter: str = ",", per_query: bool = False, groups: Mapping[str, str] | None = None
) -> str:
    """Columns run, query (`all` for the mean), group where asked for, measure, value in full precision."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    header = ["run", "query", "measure", "value"]
    writer.writerow(["run", "group", *header[1:]] if groups is not None else header)
    for one in scores:
        for group, query, measure, value in _rows(one, per_query, groups):
            cells = [one.name, query, measure, repr(value)]
            if groups is not None:
                cells.insert(1, group)
            writer.writerow([*map(harmless, cells[:-1]), cells[-1]])
    return out.getvalue()


def _rows(
    scores: Scores, per_query: bool, groups: Mapping[str, str] | None
) -> Iterator[tuple[str, str, str, float]]:  # fmt: skip
    if per_query:
        for query, values in scores.by_query().items():
            for measure, value in values.items():
                yield (groups or {}).get(query, ""), query, measure, value
    for group, values in (scores.by_group(groups) if groups is not None else {}).items():
        for measure, value in values.items():
            yield group, ALL, measure, value
    for measure, value in scores.mean().items():
        yield ALL, ALL, measure, value


def harmless(cell: str) -> str:
    """The cell so that no spreadsheet takes it for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
