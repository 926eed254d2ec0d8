"""Profiles: how texts become vectors, and how alike a query and each scene are.

The stages `vsa` and `bow` count and encode with the same functions; they return what they find, and here every scene is
ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankproof.errors import UnknownName
from rankproof.retrieval.analysis import Analyser
from rankproof.retrieval.token_counts import TokenCounts
from rankproof.retrieval.vsa_vectors import Vectors, encode

Tokens = Sequence[Sequence[str]]


class Index(Protocol):
    """Texts made ready for being compared with others."""

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""
        ...

    def similarities(self, asked: Tokens) -> Iterator[NDArray[np.float64]]:
        """For each of the other texts, the cosine of every text to it; 0 where either has no token."""
        ...


@dataclass(frozen=True)
class _VsaIndex:
    vectors: Vectors

    @property
    def n_bytes(self) -> int:
        return self.vectors.words.nbytes

    def similarities(self, asked: Tokens) -> Iterator[NDArray[np.float64]]:
        encoded = encode(asked, dimensions=self.vectors.dimensions)
        for row in range(len(encoded)):
            yield self.vectors.similarities(encoded, row)


@dataclass(frozen=True)
class _BowIndex:
    counts: TokenCounts

    @property
    def n_bytes(self) -> int:
        postings = self.counts.postings
        rows = (postings.starts, postings.documents, self.counts.counts, self.counts.squares)
        return sum(row.nbytes for row in rows) + sum(len(token.encode()) for token in postings.vocabulary)

    def similarities(self, asked: Tokens) -> Iterator[NDArray[np.float64]]:
        for tokens in asked:
            yield self.counts.cosines(Counter(tokens))


PROFILES: Mapping[str, Callable[[Tokens], Index]] = {
    "vsa": lambda texts: _VsaIndex(encode(texts)),
    "bow": lambda texts: _BowIndex(TokenCounts.of(texts)),
}
"""Name → the index of tokenised texts."""

ALIASES = {"basic": "bow"}


def profile_name(name: str) -> str:
    """The profile that is meant by a name."""
    plain = ALIASES.get(name, name)
    if plain not in PROFILES:
        raise UnknownName("profile", name, [*PROFILES, *ALIASES])
    return plain


@dataclass(frozen=True)
class Ranker:
    """Scenes that can be searched."""

    index: Index
    worded: NDArray[np.bool_]
    """Whether a scene has a word; one without is like nothing, which is no reason to show it."""
    analyser: Analyser

    @classmethod
    def of(cls, texts: Sequence[str], profile: str) -> Ranker:
        """The texts of scenes, in story order."""
        analyser = Analyser(identifiers=False)
        tokens = [analyser.tokens(text) for text in texts]
        worded = np.array([bool(one) for one in tokens], bool)
        return cls(PROFILES[profile_name(profile)](tokens), worded, analyser)

    def rankings(self, queries: Sequence[str]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """For each query all scenes by their place in the story, best first, and the similarity of each scene.

        Similarity descending, ties in story order; scenes without a word come after all others, also after those that
        are less like the query than nothing.
        """
        for similarities in self.index.similarities([self.analyser.tokens(query) for query in queries]):
            # The last key counts first, and lexsort leaves equal ones in their order.
            yield np.lexsort((-similarities, ~self.worded)), similarities
