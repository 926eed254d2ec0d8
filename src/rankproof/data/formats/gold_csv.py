"""Gold sets as CSV with a header: `query,ideal_page,category`, one ideal page on each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats import Sample, reads, writes
from rankproof.data.gold import GoldSet, Query
from rankproof.data.ids import Ids
from rankproof.data.lines import decode_text
from rankproof.data.numbers import parse_number
from rankproof.data.qrels import Qrels
from rankproof.data.table import group_rows
from rankproof.errors import BadInput, NothingToEvaluate, nearest

_FORM = "query,ideal_page,category with that header"
_NAMES = {
    "id": ("query_id", "id"),
    "query": ("query",),
    "page": ("ideal_page", "doc_id"),
    "grade": ("grade",),
    # A sole column of notes holds the category.
    "group": ("category", "group", "persona", "notes"),
    "notes": ("notes",),
}


def _names(row: list[str]) -> list[str]:
    return [name.strip().lower() for name in row]


def _is_gold_csv(sample: Sample) -> bool:
    if sample.folder or sample.suffix in {".json", ".jsonl", ".ndjson", ".tsv", ".parquet"}:
        return False
    names = _names(sample.first_line.decode(errors="replace").split(","))
    return sample.suffix == ".csv" or ("query" in names and not set(names).isdisjoint(_NAMES["page"]))


class _Records:
    """The records of a CSV text with the line on which each begins; comments and blank lines between them left out."""

    def __init__(self, text: str) -> None:
        self._lines = io.StringIO(text, newline="")
        self._number = 0
        self._begins: int | None = None

    def __iter__(self) -> Iterator[tuple[int, list[str] | csv.Error]]:
        rows = csv.reader(self._fed(), strict=True)
        while True:
            self._begins = None
            row: list[str] | csv.Error
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as exc:
                row = exc
            yield self._begins or self._number, row

    def _fed(self) -> Iterator[str]:
        for line in self._lines:
            self._number += 1
            if self._begins is None:
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                self._begins = self._number
            yield line


@reads("gold", "csv", _FORM, when=_is_gold_csv)
def read_gold_csv(path: PathLike) -> GoldSet:
    """Queries and their ideal pages; several rows of one query add up."""
    source = source_name(path)
    faults = Faults(source)
    records = iter(_Records(decode_text(read_bytes(path), source)))
    columns, width = _columns(records, source)
    queries: dict[str, Query] = {}
    judged: list[tuple[str, str, float, int]] = []
    for line, row in records:
        if isinstance(row, csv.Error):
            faults.add(f"the row cannot be taken apart ({row}); look at its quotes", line)
            continue
        if len(row) != width:
            faults.add(f"{len(row)} columns where the header has {width}: {','.join(row)[:60]!r}", line)
            continue
        cells = {what: row[column].strip() for what, column in columns.items()}
        query_id, page, grade = cells.get("id", cells["query"]), cells["page"], parse_number(_grade(cells))
        if not query_id or not page:
            faults.add(f"the {'ideal_page' if query_id else 'query'} is empty: {','.join(row)[:60]!r}", line)
        elif grade is None:
            faults.add(f"grade {cells['grade']!r} is not a number", line)
        else:
            query = Query(query_id, cells["query"], cells.get("group") or None, cells.get("notes", ""))
            queries[query_id] = _merged(queries.get(query_id, query), query, faults, line)
            judged.append((query_id, page, grade, line))
    faults.raise_any()
    if not judged:
        raise NothingToEvaluate(f"{source}: there is no query in it")
    return GoldSet(tuple(queries.values()), _qrels(judged, source), source)


def _grade(cells: dict[str, str]) -> bytes:
    return cells.get("grade", "1").encode()


def _columns(records: Iterator[tuple[int, list[str] | csv.Error]], source: str) -> tuple[dict[str, int], int]:
    """Which column holds what, and how many there are."""
    line, header = next(records, (1, []))
    if isinstance(header, csv.Error):
        raise BadInput.of(source, f"the header cannot be taken apart ({header})", line)
    names = _names(header)
    columns: dict[str, int] = {}
    for what, spellings in _NAMES.items():
        found = [name for name in spellings if name in names and names.index(name) not in columns.values()]
        if found:
            columns[what] = names.index(found[0])
    if "query" not in columns or "page" not in columns:
        raise BadInput.of(source, f"the header is {','.join(header)[:80]!r}; it needs query and ideal_page", line)
    known = {name for spellings in _NAMES.values() for name in spellings}
    faults = Faults(source)
    for at, name in enumerate(names):
        if name in names[:at]:
            faults.add(f"the header has two columns {name!r}; keep one of them", line)
        elif name not in known and (meant := nearest(name, known)):
            faults.add(f"the header has {name!r}. Did you mean {' or '.join(map(repr, meant))}?", line)
    faults.raise_any()
    return columns, len(header)


def _merged(known: Query, again: Query, faults: Faults, line: int) -> Query:
    """One query of two rows, which must not contradict each other."""
    for what in ("text", "group", "notes"):
        one, other = getattr(known, what), getattr(again, what)
        if one and other and one != other:
            faults.add(f"query {known.id!r} has the {what} {other!r} here and {one!r} above; make them one", line)
    return Query(known.id, known.text or again.text, known.group or again.group, known.notes or again.notes)


def _qrels(judged: list[tuple[str, str, float, int]], source: str) -> Qrels:
    queries, pages, grades, lines = zip(*judged, strict=True)
    table = group_rows(
        Ids.of(queries), Ids.of(pages), np.array(grades, np.float64), source=source, lines=np.array(lines, np.int64)
    )
    return Qrels(table, source=source)


@reads("qrels", "csv", _FORM, when=_is_gold_csv)
def read_gold_csv_qrels(path: PathLike) -> Qrels:
    """The judgments of a gold set in CSV."""
    return read_gold_csv(path).qrels


@writes("gold", "csv", ".csv")
def write_gold_csv(gold: GoldSet, path: PathLike) -> None:
    """The gold set as CSV; ids, notes and grades have a column only where they say something."""
    source = source_name(path)
    grades = gold.qrels.to_dict()
    _refuse_what_is_lost(gold, grades, source)
    has = {
        "query_id": any(query.id != query.text for query in gold.queries),
        "query": True,
        "ideal_page": True,
        "category": True,
        "notes": any(query.notes for query in gold.queries),
        "grade": any(grade != 1 for row in grades.values() for grade in row.values()),
    }
    out = [[name for name in has if has[name]]]
    for query in gold.queries:
        for page, grade in grades[query.id].items():
            row = dict(zip(has, (query.id, query.text, page, query.group or "", query.notes, repr(grade)), strict=True))
            out.append([_cell(row[name], source) for name in has if has[name]])
    write_whole(path, "".join(",".join(row) + "\n" for row in out).encode())


def _refuse_what_is_lost(gold: GoldSet, grades: dict[str, dict[str, float]], source: str) -> None:
    faults = Faults(source)
    way_out = "write ground-truth JSON (.json) instead"
    for query in gold.queries:
        if not grades.get(query.id):
            faults.add(f"query {query.id!r} has no judgment, and a CSV row needs an ideal page; {way_out}")
        elif query.no_answer:
            faults.add(f"query {query.id!r} is marked as having no answer, which CSV cannot say; {way_out}")
    for query_id in sorted(grades.keys() - {query.id for query in gold.queries}):
        faults.add(f"query {query_id!r} is judged, but it is not among the queries of the gold set")
    faults.raise_any()


def _cell(text: str, source: str) -> str:
    if text != text.strip():
        raise BadInput.of(source, f"{text!r} has white space at its ends, which CSV does not keep")
    if text.startswith("#") or any(sign in text for sign in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
