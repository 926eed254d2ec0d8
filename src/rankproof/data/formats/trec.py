"""TREC qrels (`query iteration document grade`) and runs (`query Q0 document rank score tag`)."""

from __future__ import annotations

import numpy as np

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats import Sample, reads, writes
from rankproof.data.lines import Layout, mostly_columns, read_rows
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.data.table import Table, group_rows
from rankproof.errors import BadInput, NothingToEvaluate

QRELS = Layout(4, query=0, doc=2, value=3, noun="grade", form="query iteration document grade")
RUN = Layout(6, query=0, doc=2, value=4, noun="score", form="query Q0 document rank score tag")


def _looks_like(columns: int, sample: Sample) -> bool:
    if sample.folder or sample.suffix in {".json", ".jsonl", ".ndjson", ".csv", ".parquet"}:
        return False
    if b"\0" in sample.head[:4] or sample.head.startswith(b"PAR1") or sample.begins_with(b"{"):
        return False
    if sample.suffix == ".tsv" and mostly_columns(sample.head, 3, b"\t"):
        return False
    return mostly_columns(sample.head, columns)


@reads("qrels", "trec", QRELS.form, when=lambda sample: _looks_like(QRELS.columns, sample))
def read_trec_qrels(path: PathLike) -> Qrels:
    """Judgments from a TREC qrels file."""
    return Qrels(read_table(path, QRELS), source=source_name(path))


@reads("run", "trec", RUN.form, when=lambda sample: _looks_like(RUN.columns, sample))
def read_trec_run(path: PathLike) -> Run:
    """A run from a TREC run file; the rank column is not used, as in trec_eval."""
    return Run(read_table(path, RUN), source=source_name(path))


def read_table(path: PathLike, layout: Layout) -> Table:
    """All rows of a file of this layout, checked."""
    source = source_name(path)
    faults = Faults(source)
    rows = read_rows(read_bytes(path), layout, faults)
    faults.raise_any()
    if not len(rows):
        raise NothingToEvaluate(f"{source}: there is no row in it")
    lines = rows.lines if rows.lines is not None else np.arange(1, len(rows) + 1)
    return group_rows(rows.queries, rows.docs, rows.values, source=source, lines=lines)


@writes("qrels", "trec", ".qrels", ".txt", ".trec")
def write_trec_qrels(qrels: Qrels, path: PathLike) -> None:
    """Judgments as a TREC qrels file; whole grades are written without a point."""
    out = []
    for query, row in qrels.to_dict().items():
        for doc, grade in row.items():
            out.append(f"{_word(query, path, begins_line=True)} 0 {_word(doc, path)} {grade!r}\n")
    write_whole(path, "".join(out).encode())


@writes("run", "trec", ".run", ".txt", ".trec")
def write_trec_run(run: Run, path: PathLike) -> None:
    """A run as a TREC run file, by descending score; equal scores keep their order."""
    tag = _word(run.name or "rankproof", path)
    out = []
    for query, row in run.to_dict().items():
        ranked = sorted(row.items(), key=lambda item: -item[1])
        for rank, (doc, score) in enumerate(ranked, 1):
            out.append(f"{_word(query, path, begins_line=True)} Q0 {_word(doc, path)} {rank} {score!r} {tag}\n")
    write_whole(path, "".join(out).encode())


def _word(text: str, path: PathLike, *, begins_line: bool = False) -> str:
    # At the beginning of a line a hash would make it a comment, and a byte order mark would be lost.
    if not text or any(ord(c) <= 32 for c in text) or (begins_line and text[0] in "#\ufeff"):
        hint = "JSON and Parquet files can hold every id"
        raise BadInput.of(source_name(path), f"{text!r} cannot be one column of a TREC file; {hint}")
    return text
