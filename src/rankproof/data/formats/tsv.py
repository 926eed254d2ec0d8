"""Tab-separated lines without a header: judgments (`query document grade`) and queries (`query text`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats import Sample, reads, writes
from rankproof.data.gold import GoldSet, Query
from rankproof.data.lines import Layout, mostly_columns, read_rows, text_lines
from rankproof.data.qrels import Qrels
from rankproof.data.table import Table, empty_table, group_rows
from rankproof.errors import BadInput, NothingToEvaluate

QRELS = Layout(3, query=0, doc=1, value=2, noun="grade", form="query TAB document TAB grade", separator=b"\t")
_QUERIES = "query TAB text"
_HEADER_IDS, _HEADER_TEXTS = {"qid", "id", "_id", "query_id", "query-id"}, {"query", "text", "query_text"}
_NO_CELL = re.compile(r"[\x00-\x08\t\r\n]|\A\s|\s\Z|\A\Z", re.ASCII)


def has_beir_header(sample: Sample) -> bool:
    """Whether the first line is the header of BEIR's judgments."""
    names = [name.strip().lower() for name in sample.first_line.split(b"\t")]
    return names == [b"query-id", b"corpus-id", b"score"]


def _has_columns(sample: Sample, columns: int) -> bool:
    if sample.folder or sample.suffix in {".json", ".jsonl", ".ndjson", ".csv", ".parquet"}:
        return False
    if sample.head.startswith(b"PAR1") or sample.begins_with(b"{"):
        return False
    return mostly_columns(sample.head, columns, b"\t")


@reads("qrels", "tsv", QRELS.form, when=lambda sample: _has_columns(sample, 3) and not has_beir_header(sample))
def read_tsv_qrels(path: PathLike) -> Qrels:
    """Judgments from lines of query, document and grade."""
    source = source_name(path)
    return Qrels(tabbed_table(read_bytes(path), source), source=source)


def tabbed_table(text: bytes, source: str, first_line: int = 1) -> Table:
    """The judgments of a text that begins on this line of its file."""
    faults = Faults(source)
    rows = read_rows(text, QRELS, faults, first_line)
    faults.raise_any()
    if not len(rows):
        raise NothingToEvaluate(f"{source}: there is no judgment in it")
    lines = rows.lines if rows.lines is not None else np.arange(first_line, first_line + len(rows))
    return group_rows(rows.queries, rows.docs, rows.values, source=source, lines=lines)


@reads("gold", "tsv-queries", _QUERIES, when=lambda sample: _has_columns(sample, 2))
def read_tsv_queries(path: PathLike) -> GoldSet:
    """Queries from lines of id and text, with no judgments."""
    source = source_name(path)
    faults = Faults(source)
    queries: dict[str, Query] = {}
    first: dict[str, int] = {}
    for number, line in text_lines(read_bytes(path), faults):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            faults.add(f"{len(cells)} columns where an id and a text belong ({_QUERIES}): {line[:60]!r}", number)
        elif not first and cells[0].lower() in _HEADER_IDS and cells[1].lower() in _HEADER_TEXTS:
            faults.add(f"this is a header ({line!r}), and these files have none; take the line out", number)
        elif cells[0] in first:
            faults.add(f"query {cells[0]!r} stands twice (first on line {first[cells[0]]}); keep one", number)
        else:
            first[cells[0]] = number
            queries[cells[0]] = Query(cells[0], cells[1])
    faults.raise_any()
    if not queries:
        raise NothingToEvaluate(f"{source}: there is no query in it")
    return GoldSet(tuple(queries.values()), Qrels(empty_table(), source=source), source)


@writes("qrels", "tsv", ".tsv")
def write_tsv_qrels(qrels: Qrels, path: PathLike) -> None:
    """Judgments as lines of query, document and grade."""
    write_whole(path, "".join(tabbed_lines(qrels, path)).encode())


def tabbed_lines(qrels: Qrels, path: PathLike) -> Iterator[str]:
    """One line for each judgment."""
    for query, row in qrels.to_dict().items():
        for doc, grade in row.items():
            yield f"{_cell(query, path, begins_line=True)}\t{_cell(doc, path)}\t{grade!r}\n"


def _cell(text: str, path: PathLike, *, begins_line: bool = False) -> str:
    # At the beginning of a line a hash would make it a comment, and a byte order mark would be lost.
    if _NO_CELL.search(text) or (begins_line and text[0] in "#\ufeff"):
        hint = "JSON and Parquet files can hold every id"
        raise BadInput.of(source_name(path), f"{text!r} cannot be one column of a TSV file; {hint}")
    return text
