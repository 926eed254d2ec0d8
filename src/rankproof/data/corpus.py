"""Corpora: the documents that are searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rankproof.data.files import PathLike


@dataclass(frozen=True, slots=True)
class Document:
    """One document: what can be found."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Corpus:
    """Documents in a fixed order, each id once."""

    documents: tuple[Document, ...]
    source: str = "corpus"

    @classmethod
    def read(cls, path: PathLike, *, format: str | None = None) -> Corpus:  # noqa: A002
        """A corpus from a file or folder; the format is told by its content or suffix unless named."""
        from rankproof.data.formats import read_corpus

        return read_corpus(path, format)

    def write(self, path: PathLike, *, format: str | None = None) -> None:  # noqa: A002
        """Write the corpus, in the format of the suffix unless named."""
        from rankproof.data.formats import write_corpus

        write_corpus(self, path, format)

    @cached_property
    def by_id(self) -> dict[str, Document]:
        """Each document by its id."""
        return {document.id: document for document in self.documents}

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return f"<Corpus: {len(self.documents):,} documents>"
