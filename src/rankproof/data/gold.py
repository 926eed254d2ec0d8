"""Gold sets: queries with their text and group, and the judgments that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankproof.data.files import PathLike
from rankproof.data.qrels import Qrels


@dataclass(frozen=True)
class Query:
    """A question that the gold set asks."""

    id: str
    text: str = ""
    group: str | None = None
    notes: str = ""
    no_answer: bool = False
    """Whether somebody found that the corpus has no answer to it."""


@dataclass(frozen=True)
class GoldSet:
    """Queries and their judgments."""

    queries: tuple[Query, ...]
    qrels: Qrels
    source: str = "gold"
    meta: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: PathLike, *, format: str | None = None) -> GoldSet:  # noqa: A002
        """A gold set from a file or folder; the format is told by its content or suffix unless named."""
        from rankproof.data.formats import read_gold

        return read_gold(path, format)

    def write(self, path: PathLike, *, format: str | None = None) -> None:  # noqa: A002
        """Write the gold set, in the format of the suffix unless named."""
        from rankproof.data.formats import write_gold

        write_gold(self, path, format)

    @property
    def groups(self) -> dict[str, str]:
        """The group of each query that has one."""
        return {query.id: query.group for query in self.queries if query.group}

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"<GoldSet: {len(self.queries):,} queries, {len(self.qrels):,} judgments>"
