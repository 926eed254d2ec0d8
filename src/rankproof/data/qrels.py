"""Judgments: how relevant a document is to a query, as somebody said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike
from rankproof.data.table import Table, table_from_mapping, table_from_rows
from rankproof.errors import BadInput

LARGEST_GRADE = 2**31


class Qrels:
    """The judgments of a set of queries."""

    def __init__(self, table: Table, *, source: str = "qrels") -> None:
        self.table = table
        self.source = source
        _refuse_huge_grades(table, source)

    @classmethod
    def of(cls, data: Any) -> Qrels:
        """Judgments from whatever holds them: Qrels, a gold set, a path, a dict of dicts, tuples, a data frame."""
        from rankproof.data.columns import is_columnar, table_from_frame
        from rankproof.data.formats import is_path, read_qrels

        if isinstance(data, Qrels):
            return data
        judged = getattr(data, "qrels", None)
        if isinstance(judged, Qrels):
            return judged
        if is_path(data):
            return read_qrels(data)
        if isinstance(data, Mapping):
            return cls.from_dict(data)
        if is_columnar(data):
            return cls(table_from_frame(data, "qrels", source="qrels"))
        if isinstance(data, Iterable):
            return cls.from_rows(data)
        raise BadInput.of("qrels", f"cannot make judgments of a {type(data).__name__}")

    @classmethod
    def from_dict(cls, data: Mapping[Any, Mapping[Any, Any]], *, source: str = "qrels") -> Qrels:
        """Judgments from query → document → grade; a grade of None means that nobody judged the document."""
        return cls(table_from_mapping(data, source=source, noun="grade", none_is_absent=True), source=source)

    @classmethod
    def from_rows(cls, rows: Iterable[Any], *, source: str = "qrels") -> Qrels:
        """Judgments from (query, document, grade) tuples in any order."""
        return cls(table_from_rows(rows, source=source, noun="grade"), source=source)

    @classmethod
    def read(cls, path: PathLike, *, format: str | None = None) -> Qrels:  # noqa: A002
        """Judgments from a file; the format is told by its content or suffix unless named."""
        from rankproof.data.formats import read_qrels

        return read_qrels(path, format)

    def write(self, path: PathLike, *, format: str | None = None) -> None:  # noqa: A002
        """Write the judgments to a file, in the format of its suffix unless named."""
        from rankproof.data.formats import write_qrels

        write_qrels(self, path, format)

    @property
    def query_ids(self) -> list[str]:
        """The judged queries, in order of first appearance."""
        return self.table.query_ids

    @cached_property
    def digest(self) -> str:
        """What the judgments are, in whatever order they stand: the same where all of them are the same."""
        table = self.table
        queries = table.query_ids
        rows = zip(table.row_query.tolist(), table.doc_ids, table.values.tolist(), strict=True)
        lines = sorted(f"{queries[query]}\0{doc}\0{grade!r}\n" for query, doc, grade in rows)
        return f"sha256:{sha256(''.join(lines).encode()).hexdigest()}"

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The judgments as query → document → grade; whole grades are ints."""
        nested = self.table.nested()
        if bool((self.table.values == np.floor(self.table.values)).all()):
            return {query: {doc: int(grade) for doc, grade in row.items()} for query, row in nested.items()}
        return nested

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"<Qrels: {len(self):,} judgments of {len(self.query_ids):,} queries>"


def _refuse_huge_grades(table: Table, source: str) -> None:
    huge = np.flatnonzero(np.abs(table.values) > LARGEST_GRADE)
    if not len(huge):
        return
    faults = Faults(source)
    for row in huge.tolist():
        query = table.query_ids[int(np.searchsorted(table.starts, row, "right")) - 1]
        faults.add(f"query {query!r}, document {table.docs[row]!r}: grade {table.values[row]:g} is beyond ±2^31")
    faults.raise_any()
