"""Rows of (query, document, number), grouped by query: what judgments and runs have in common."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import methodcaller
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankproof.data.faults import Faults
from rankproof.data.ids import Ids, Words, refuse_half_characters, salted
from rankproof.data.lookup import RowIndex
from rankproof.errors import MAX_FAULTS


class Table:
    """Rows grouped by query, queries in order of first appearance, rows of a query in the order given.

    Ids come as columns of bytes or as lists of strings; the other form is made when somebody asks for it.
    """

    def __init__(
        self,
        starts: NDArray[np.int64],
        values: NDArray[np.float64],
        *,
        queries: Ids | list[str],
        docs: Ids | list[str],
    ) -> None:
        self.starts = starts
        """Where the rows of each query begin, and the end of the last."""
        self.values = values
        self.__dict__["queries" if isinstance(queries, Ids) else "query_ids"] = queries
        self.__dict__["docs" if isinstance(docs, Ids) else "doc_ids"] = docs

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def queries(self) -> Ids:
        """The queries as a column of ids."""
        return Ids.of(self.query_ids)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each query has."""
        return np.diff(self.starts)

    @cached_property
    def row_query(self) -> NDArray[np.int64]:
        """The number of the query of each row."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def query_ids(self) -> list[str]:
        """The queries."""
        return self.queries.strings()

    @cached_property
    def docs(self) -> Ids:
        """The document of each row, as a column of ids."""
        return Ids.of(self.doc_ids)

    @cached_property
    def doc_ids(self) -> list[str]:
        """The document of each row."""
        return self.docs.strings()

    @cached_property
    def doc_hashes(self) -> Words:
        """The unsalted hash of the document of each row."""
        return self.docs.hashes()

    @cached_property
    def index(self) -> RowIndex:
        """Finds a row by query number and document."""
        return RowIndex(salted(self.doc_hashes, self.row_query))

    def nested(self) -> dict[str, dict[str, float]]:
        """The rows as a dict of dicts."""
        docs, values, starts = self.doc_ids, self.values.tolist(), self.starts.tolist()
        return {
            query: dict(zip(docs[a:b], values[a:b], strict=True))
            for query, a, b in zip(self.query_ids, starts[:-1], starts[1:], strict=True)
        }


def group_rows(
    queries: Ids, docs: Ids, values: NDArray[np.float64], *, source: str, lines: NDArray[np.int64] | None = None
) -> Table:
    """Rows in any order as a table; a document that stands twice under one query is refused."""
    if not len(values):
        return empty_table()
    run_starts = np.concatenate(([0], np.flatnonzero(queries.differs_from_previous()) + 1))
    starts = np.append(run_starts, len(values))
    distinct = queries.take(run_starts)
    if len(RowIndex(name_keys(distinct)).repeated()):
        # A query comes back after others: bring its rows together.
        number: dict[str, int] = {}
        run_query = np.array([number.setdefault(name, len(number)) for name in distinct.strings()], np.int64)
        row_query = np.repeat(run_query, np.diff(starts))
        order = np.argsort(row_query, kind="stable")
        docs, values = docs.take(order), values[order]
        lines = None if lines is None else lines[order]
        starts = np.concatenate(([0], np.cumsum(np.bincount(row_query, minlength=len(number)))))
        distinct = Ids.of(list(number))
    table = Table(starts, values, queries=distinct, docs=docs)
    refuse_repeats(table, source=source, lines=lines)
    return table


def name_keys(names: Ids) -> Words:
    """A key for every name, whatever its row."""
    return salted(names.hashes(), np.zeros(len(names), np.int64))


def refuse_repeats(table: Table, *, source: str, lines: NDArray[np.int64] | None = None) -> None:
    """Raise BadInput if a document stands twice under one query."""
    pairs = table.index.repeated()
    if not len(pairs):
        return
    pairs = pairs[table.docs.take(pairs[:, 0]).equal(table.docs.take(pairs[:, 1]))]
    places = pairs if lines is None else np.sort(lines[pairs], axis=1)
    order = np.lexsort((places[:, 0], places[:, 1]))
    faults = Faults(source)
    for at in order[:MAX_FAULTS].tolist():
        one, again = pairs[at].tolist()
        query = table.query_ids[int(np.searchsorted(table.starts, one, "right")) - 1]
        where = "" if lines is None else f" (first on line {places[at, 0]})"
        message = repeat_message(table.docs[one], query, where, table.values[one], table.values[again])
        faults.add(message, None if lines is None else int(places[at, 1]))
    faults.add_more(len(order) - min(len(order), MAX_FAULTS))
    faults.raise_any()


def repeat_message(doc: str, query: str, where: str, one: float, other: float) -> str:
    """What is said of a document that stands twice."""
    values = f"both times with {one:g}" if one == other else f"once with {one:g} and once with {other:g}"
    return f"document {doc!r} stands twice for query {query!r}{where}, {values}; keep one of them"


def table_from_mapping(
    data: Mapping[Any, Mapping[Any, Any]], *, source: str, noun: str, none_is_absent: bool = False
) -> Table:
    """A dict of dicts as a table; ids may be str or int (not both), numbers anything that is a real number."""
    faults = Faults(source)
    rows = list(data.values())
    if not all(issubclass(kind, Mapping) for kind in set(map(type, rows))):
        for query, row in data.items():
            if not isinstance(cast(Any, row), Mapping):
                faults.add(f"query {query!r} holds {type(row).__name__}, not a dict of document to {noun}")
    faults.raise_any()
    query_ids = id_strings(list(data), "query", faults)
    docs: list[Any] = list(chain.from_iterable(rows))
    values: list[Any] = list(chain.from_iterable(map(methodcaller("values"), rows)))
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    if none_is_absent and None in values:
        kept = [value is not None for value in values]
        row_query = np.repeat(np.arange(len(rows)), counts)[kept]
        counts = np.bincount(row_query, minlength=len(rows))
        docs = [doc for doc, keep in zip(docs, kept, strict=True) if keep]
        values = [value for value in values if value is not None]
    doc_ids = id_strings(docs, "document", faults)
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    for ids in (query_ids, doc_ids):
        refuse_half_characters(ids)

    def where(row: int) -> str:
        query = query_ids[int(np.searchsorted(starts, row, "right")) - 1]
        return f"query {query!r}, document {doc_ids[row]!r}"

    numbers = real_numbers(values, noun, faults, where)
    faults.raise_any()
    return Table(starts, numbers, queries=query_ids, docs=doc_ids)


def id_strings(ids: list[Any], kind: str, faults: Faults) -> list[str]:
    """The ids as strings: all str, or all int. A mixture is refused, because 7 and '7' would not meet."""
    kinds = set(map(type, ids))
    if kinds <= {str}:
        return ids
    numbers = {k for k in kinds if issubclass(k, (int, np.integer)) and not issubclass(k, bool)}
    texts = {k for k in kinds if issubclass(k, str)}
    if kinds in (numbers, texts):
        return [str(i) for i in ids]
    strange = kinds - numbers - texts
    if strange:
        sample = next(i for i in ids if type(i) in strange)
        faults.add(f"{kind} id {sample!r} is of type {type(sample).__name__}; ids are str (or all of them int)")
    else:
        text = next(i for i in ids if type(i) in texts)
        number = next(i for i in ids if type(i) in numbers)
        faults.add(f"{kind} ids are of mixed types: {text!r} is str, {number!r} is int; make all of them str")
    return [str(i) for i in ids]


def real_numbers(values: Sequence[Any], noun: str, faults: Faults, where: Any) -> NDArray[np.float64]:
    """The values as float64; text, None, NaN and infinities are refused with their place."""
    kinds = set(map(type, values))
    good = all(issubclass(k, (int, float, np.integer, np.floating, np.bool_)) for k in kinds)
    if good:
        try:
            numbers = np.array(values, np.float64)
        except OverflowError:
            good = False
        else:
            if bool(np.isfinite(numbers).all()):
                return numbers
    for row, value in enumerate(values):
        if not isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
            faults.add(f"{where(row)}: {noun} {value!r} is not a number")
        elif not abs(cast(Any, value)) <= sys.float_info.max:
            faults.add(f"{where(row)}: {noun} {value!r} is not a finite number")
    return np.zeros(len(values))


def table_from_rows(rows: Iterable[Sequence[Any]], *, source: str, noun: str) -> Table:
    """Tuples (query, document, number) in any order as a table."""
    faults = Faults(source)
    kept: list[Sequence[Any]] = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, (str, bytes)) or not isinstance(row, Sequence) or len(row) != 3:
            faults.add(f"row {number} is {row!r}, not (query, document, {noun})")
        else:
            kept.append(row)
    faults.raise_any()
    return table_from_columns(*zip(*kept, strict=True), source=source, noun=noun) if kept else empty_table()


def table_from_columns(
    queries: Sequence[Any], docs: Sequence[Any], values: Sequence[Any], *, source: str, noun: str
) -> Table:
    """Three columns of equal length as a table."""
    faults = Faults(source)
    query_ids = id_strings(list(queries), "query", faults)
    doc_ids = id_strings(list(docs), "document", faults)
    numbers = real_numbers(
        list(values), noun, faults, lambda row: f"query {query_ids[row]!r}, document {doc_ids[row]!r}"
    )
    faults.raise_any()
    return group_rows(Ids.of(query_ids), Ids.of(doc_ids), numbers, source=source)


def empty_table() -> Table:
    """No rows at all."""
    return Table(np.zeros(1, np.int64), np.zeros(0), queries=[], docs=[])
