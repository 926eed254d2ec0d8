"""Which words of a document the query asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rankproof.retrieval.analysis import STOP_WORDS, folded

_WORD = re.compile(r"\w+")
_STOP = frozenset(word for words in STOP_WORDS.values() for word in words.split())
_SHARED, _REST = 5, 4


class Piece(NamedTuple):
    """A piece of a text."""

    text: str
    matches: bool
    """Whether it is a word of the query."""


class Words:
    """The words of a query that are worth marking in a document."""

    def __init__(self, query: str) -> None:
        words = [folded(word) for word in _WORD.findall(query)]
        # A query of nothing but small words means them.
        self.words = frozenset(word for word in words if word not in _STOP) or frozenset(words)
        # What has digits in it is the name of one thing, and has no other forms.
        self._stems = frozenset(word[:_SHARED] for word in self.words if len(word) >= _SHARED and word.isalpha())

    def pieces(self, text: str) -> Iterator[Piece]:
        """The text cut where marked words begin and end; put together again it is the text."""
        end = 0
        for found in _WORD.finditer(text):
            if not self._match(folded(found.group())):
                continue
            if found.start() > end:
                yield Piece(text[end : found.start()], False)
            yield Piece(found.group(), True)
            end = found.end()
        if end < len(text):
            yield Piece(text[end:], False)

    def _match(self, word: str) -> bool:
        """Whether it is a word of the query, or another form of one: the same beginning, and little behind it."""
        if word in self.words:
            return True
        if word[:_SHARED] not in self._stems or not word.isalpha():
            return False
        return any(_is_form(word, other) for other in self.words if other[:_SHARED] == word[:_SHARED])


def _is_form(one: str, other: str) -> bool:
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= _SHARED and max(len(one), len(other)) - shared <= _REST
