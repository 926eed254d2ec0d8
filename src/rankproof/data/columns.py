"""Judgments and runs from data frames and Arrow tables."""

from __future__ import annotations

from typing import Any

from rankproof.data.table import Table, table_from_columns
from rankproof.errors import BadInput, MissingExtra

_NAMES = {
    "query": ("query_id", "qid", "q_id", "query", "query-id", "topic", "topic_id"),
    "document": ("doc_id", "docid", "docno", "did", "document_id", "doc", "corpus-id", "corpus_id"),
    "qrels": ("grade", "relevance", "rel", "label", "judgment", "score"),
    "run": ("score", "sim", "similarity"),
}
_NOUN = {"qrels": "grade", "run": "score"}


def is_columnar(data: object) -> bool:
    """Whether this is a data frame or table: anything that speaks Arrow, or pandas."""
    return hasattr(data, "__arrow_c_stream__") or (hasattr(data, "columns") and hasattr(data, "iloc"))


def table_from_frame(data: Any, noun: str, *, source: str) -> Table:
    """A frame with a query, a document and a number column, under any of their usual names."""
    names = [str(name) for name in _column_names(data)]
    query, doc = (_pick(names, _NAMES[kind], kind, source) for kind in ("query", "document"))
    value = _pick(names, _NAMES[noun], _NOUN[noun], source)
    columns = _lists(data, (query, doc, value))
    return table_from_columns(*columns, source=source, noun=_NOUN[noun])


def _pick(names: list[str], wanted: tuple[str, ...], kind: str, source: str) -> str:
    for candidate in wanted:
        for name in names:
            if name.lower() == candidate:
                return name
    message = f"no column for the {kind} among {', '.join(map(repr, names))}; call it {wanted[0]!r}"
    raise BadInput.of(source, message)


def _column_names(data: Any) -> Any:
    if hasattr(data, "column_names"):
        return data.column_names
    if hasattr(data, "columns"):
        return data.columns
    return _polars_frame(data).columns


def _lists(data: Any, names: tuple[str, ...]) -> list[list[Any]]:
    if hasattr(data, "iloc"):
        return [data[name].tolist() for name in names]
    if hasattr(data, "to_pydict"):
        selected = data.select(list(names)).to_pydict()
        return [selected[name] for name in names]
    if not hasattr(data, "get_column"):
        data = _polars_frame(data)
    return [data.get_column(name).to_list() for name in names]


def _polars_frame(data: Any) -> Any:
    try:
        import polars
    except ImportError as exc:
        raise MissingExtra("reading Arrow streams", "columns") from exc
    return polars.DataFrame(data)
