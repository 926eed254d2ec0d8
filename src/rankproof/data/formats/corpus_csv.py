"""Corpora as CSV with a header: `id,title,text`, one document on each row; other columns become metadata."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rankproof.data.corpus import Corpus, Document
from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name
from rankproof.data.formats import Sample, reads
from rankproof.data.formats.gold_csv import _Records
from rankproof.data.lines import decode_text
from rankproof.errors import BadInput, NothingToEvaluate, nearest

_NAMES = {"id": ("id", "_id", "doc_id"), "title": ("title", "header"), "text": ("text",)}
_LONGEST_CELL = 1 << 30


def _is_corpus_csv(sample: Sample) -> bool:
    return sample.folder is None and sample.suffix == ".csv"


@reads("corpus", "csv", "id,title,text with that header", when=_is_corpus_csv)
def read_corpus_csv(path: PathLike, *, columns: Mapping[str, str] | None = None) -> Corpus:
    """Documents from CSV; `columns` says what the columns of id, title and text are called where it is not that."""
    source = source_name(path)
    faults = Faults(source)
    documents: list[Document] = []
    first: dict[str, int] = {}
    with _long_cells():
        records = iter(_Records(decode_text(read_bytes(path), source)))
        header, at = _header(records, source, columns or {})
        for line, row in records:
            if isinstance(row, csv.Error):
                faults.add(f"the row cannot be taken apart ({row}); look at its quotes", line)
                continue
            if len(row) != len(header):
                faults.add(f"{len(row)} columns where the header has {len(header)}: {','.join(row)[:60]!r}", line)
                continue
            doc_id = row[at["id"]].strip()
            if not doc_id:
                faults.add(f"the {header[at['id']]} is empty: {','.join(row)[:60]!r}", line)
            elif first.setdefault(doc_id, line) != line:
                faults.add(f"document {doc_id!r} stands twice (first on line {first[doc_id]}); keep one of them", line)
            else:
                title = row[at["title"]].strip() if "title" in at else ""
                rest = {header[i]: cell for i, cell in enumerate(row) if i not in at.values()}
                documents.append(Document(doc_id, row[at["text"]], title, rest))
    faults.raise_any()
    if not documents:
        raise NothingToEvaluate(f"{source}: there is no document in it")
    return Corpus(tuple(documents), source)


@contextmanager
def _long_cells() -> Iterator[None]:
    """A document may be longer than what the csv module takes for a cell; its limit is one for the whole process."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _header(
    records: Iterator[tuple[int, list[str] | csv.Error]], source: str, columns: Mapping[str, str]
) -> tuple[list[str], dict[str, int]]:
    """The names of the columns, and which of them hold id, title and text."""
    line, row = next(records, (1, []))
    if isinstance(row, csv.Error):
        raise BadInput.of(source, f"the header cannot be taken apart ({row})", line)
    if not row:
        raise NothingToEvaluate(f"{source}: the file is empty")
    header = [name.strip() for name in row]
    names = [name.lower() for name in header]
    faults = Faults(source)
    for i, name in enumerate(names):
        if name in names[:i]:
            faults.add(f"the header has two columns {header[i]!r}; keep one of them", line)
    at = {}
    for what, spellings in _NAMES.items():
        wanted = [columns[what].strip().lower()] if what in columns else list(spellings)
        found = [name for name in wanted if name in names]
        if found:
            at[what] = names.index(found[0])
        elif what in columns or what != "title":
            faults.add(_no_column(columns.get(what, what), header), line)
    faults.raise_any()
    return header, at


def _no_column(name: str, header: list[str]) -> str:
    meant = nearest(name, header)
    hint = f" Did you mean {' or '.join(map(repr, meant))}?" if meant else ""
    return f"the header is {','.join(header)[:80]!r}; it has no column {name!r}.{hint}"
