"""Runs: what a system returned for each query, with scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from rankproof.data.files import PathLike
from rankproof.data.table import Table, table_from_mapping, table_from_rows
from rankproof.errors import BadInput


class Run:
    """The results of one system. Ranks follow the scores; ties are a matter of the rules, not of the run."""

    def __init__(
        self, table: Table | None = None, *, mapping: Mapping[Any, Mapping[Any, Any]] | None = None,
        name: str | None = None, source: str = "run",
    ) -> None:  # fmt: skip
        self._given = table
        self.mapping = mapping
        self.name = name
        self.source = source

    @classmethod
    def of(cls, data: Any, *, name: str | None = None) -> Run:
        """A run from whatever holds it: a Run, a path, a dict of dicts, tuples, a data frame."""
        from rankproof.data.columns import is_columnar, table_from_frame
        from rankproof.data.formats import is_path, read_run

        if isinstance(data, Run):
            return data
        if is_path(data):
            return read_run(data)
        if isinstance(data, Mapping):
            return cls.from_dict(data, name=name)
        if is_columnar(data):
            return cls(table_from_frame(data, "run", source="run"), name=name)
        if isinstance(data, Iterable):
            return cls.from_rows(data, name=name)
        raise BadInput.of("run", f"cannot make a run of a {type(data).__name__}")

    @classmethod
    def from_dict(cls, data: Mapping[Any, Mapping[Any, Any]], *, name: str | None = None) -> Run:
        """A run from query → document → score. The mapping is kept, not copied; do not change it afterwards."""
        return cls(mapping=data, name=name)

    @classmethod
    def from_rows(cls, rows: Iterable[Any], *, name: str | None = None, source: str = "run") -> Run:
        """A run from (query, document, score) tuples in any order."""
        return cls(table_from_rows(rows, source=source, noun="score"), name=name, source=source)

    @classmethod
    def read(cls, path: PathLike, *, format: str | None = None) -> Run:  # noqa: A002
        """A run from a file; the format is told by its content or suffix unless named."""
        from rankproof.data.formats import read_run

        return read_run(path, format)

    def write(self, path: PathLike, *, format: str | None = None) -> None:  # noqa: A002
        """Write the run to a file, in the format of its suffix unless named."""
        from rankproof.data.formats import write_run

        write_run(self, path, format)

    @cached_property
    def table(self) -> Table:
        """The rows in columns."""
        if self._given is not None:
            return self._given
        return table_from_mapping(self.mapping or {}, source=self.source, noun="score")

    @property
    def query_ids(self) -> list[str]:
        """The queries of the run, in order of first appearance."""
        return self.table.query_ids

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The run as query → document → score, in the order given."""
        return self.table.nested()

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        called = f" {self.name!r}" if self.name else ""
        return f"<Run{called}: {len(self):,} results for {len(self.query_ids):,} queries>"
