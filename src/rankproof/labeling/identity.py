"""What a document is known by: its id where there is one, else the beginning of its header with its content."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from hashlib import sha256

from rankproof.data.corpus import Corpus, Document
from rankproof.errors import BadInput

HEADER_LENGTH = 100


def header_of(document: Document) -> str:
    """The first 100 characters of the title, or of the first line of the text where there is no title."""
    lines = (line.strip() for line in document.text.splitlines())
    header = document.title.strip() or next((line for line in lines if line), "") or document.id
    return header[:HEADER_LENGTH]


def fingerprint_of(text: str) -> str:
    """The digest of a document's text; the same text has the same one wherever it stands."""
    return f"sha256:{sha256(text.encode(errors='surrogatepass')).hexdigest()}"


class Matcher:
    """Finds the document of a corpus that a label speaks of."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    @cached_property
    def _by_header(self) -> dict[str, list[Document]]:
        found: dict[str, list[Document]] = {}
        for document in self.corpus:
            found.setdefault(header_of(document), []).append(document)
        return found

    def find(self, name: str, fingerprint: str | None = None) -> Document | None:
        """The document of this id; if there is none, the one with this header and content.

        Two documents that fit are an error, not a guess.
        """
        if name in self.corpus.by_id:
            return self.corpus.by_id[name]
        fitting = self._by_header.get(name[:HEADER_LENGTH], [])
        if fingerprint is not None:
            fitting = [document for document in fitting if fingerprint_of(document.text) == fingerprint]
        if len(fitting) > 1:
            same = "and content " if fingerprint is not None else ""
            raise BadInput.of(
                self.corpus.source,
                f"{_listed(d.id for d in fitting)} have the header {same}{name[:HEADER_LENGTH]!r} that a label names;"
                " give the label the 'id' of the one that was meant",
            )
        return fitting[0] if fitting else None


def _listed(ids: Iterable[str]) -> str:
    names = [repr(one) for one in ids]
    shown = ", ".join(names[:3])
    return f"documents {shown}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")
