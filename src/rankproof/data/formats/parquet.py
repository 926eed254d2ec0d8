"""Parquet files with a query, a document and a number column."""

from __future__ import annotations

import io
from typing import Any

from rankproof.data.columns import table_from_frame
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats import Noun, Sample, reads, writes
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.data.table import Table
from rankproof.errors import BadInput, MissingExtra, NothingToEvaluate

_MAGIC = b"PAR1"


def _is_parquet(sample: Sample) -> bool:
    return not sample.folder and (sample.suffix == ".parquet" or sample.head.startswith(_MAGIC))


@reads("qrels", "parquet", "Parquet with query_id, doc_id and grade", when=_is_parquet)
def read_parquet_qrels(path: PathLike) -> Qrels:
    """Judgments from a Parquet file."""
    return Qrels(_table(path, "qrels"), source=source_name(path))


@reads("run", "parquet", "Parquet with query_id, doc_id and score", when=_is_parquet)
def read_parquet_run(path: PathLike) -> Run:
    """A run from a Parquet file."""
    return Run(_table(path, "run"), source=source_name(path))


def _polars(what: str) -> Any:
    try:
        import polars
    except ImportError as exc:
        raise MissingExtra(what, "columns") from exc
    return polars


def _table(path: PathLike, noun: Noun) -> Table:
    polars = _polars("reading Parquet")
    source = source_name(path)
    data = read_bytes(path)
    if not (data.startswith(_MAGIC) and data.endswith(_MAGIC)):
        raise BadInput.of(source, "this is not a whole Parquet file; copy or write it again")
    errors = polars.exceptions
    try:
        frame = polars.read_parquet(io.BytesIO(data))
    except (errors.PolarsError, errors.PanicException, OSError, ValueError) as exc:
        raise BadInput.of(source, f"the Parquet file is damaged: {str(exc).splitlines()[0]}") from exc
    table = table_from_frame(frame, noun, source=source)
    if not len(table):
        raise NothingToEvaluate(f"{source}: there is no row in it")
    return table


@writes("qrels", "parquet", ".parquet")
def write_parquet_qrels(qrels: Qrels, path: PathLike) -> None:
    """Judgments as a Parquet file; the grades are integers where all of them are whole."""
    _write(qrels.table, "grade", [grade for row in qrels.to_dict().values() for grade in row.values()], path)


@writes("run", "parquet", ".parquet")
def write_parquet_run(run: Run, path: PathLike) -> None:
    """A run as a Parquet file, in the order given."""
    _write(run.table, "score", run.table.values.tolist(), path)


def _write(table: Table, noun: str, values: list[Any], path: PathLike) -> None:
    queries = [table.query_ids[number] for number in table.row_query.tolist()]
    frame = _polars("writing Parquet").DataFrame({"query_id": queries, "doc_id": table.doc_ids, noun: values})
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_whole(path, buffer.getvalue())
