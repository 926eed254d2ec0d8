"""Texts as long vectors of ±1, the majority of the vectors of their tokens (a vector symbolic architecture).

The vector of a token follows from a seed and the token alone: SHAKE-256 of both is its bits, the same on every platform
and in every release of every library. Kanerva, Hyperdimensional Computing, 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import shake_256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankproof.retrieval.postings import Postings

DIMENSIONS = 10_000
SEED = 42

_WORD = 8
_BYTES_AT_ONCE = 64
"""How many bytes of all vectors are worked on together: few enough that a large vocabulary stays small unpacked."""
_LARGEST_INT16 = np.iinfo(np.int16).max


@dataclass(frozen=True)
class Vectors:
    """The vectors of texts: a bit for each dimension, 1 for +1, in words of 64 bits filled up with zeros."""

    words: NDArray[np.uint64]
    """One row for each text."""
    empty: NDArray[np.bool_]
    """Whether the text has no token; such a text has no direction."""
    dimensions: int

    def __len__(self) -> int:
        return len(self.words)

    def similarities(self, other: Vectors, row: int = 0) -> NDArray[np.float64]:
        """The cosine of each text to one text of another set; 0 where either is empty.

        For vectors of ±1 that is the share of dimensions in which they agree, less the share in which they differ.
        """
        if other.empty[row]:
            return np.zeros(len(self))
        differing = np.bitwise_count(self.words ^ other.words[row]).sum(axis=1, dtype=np.int64)
        return np.where(self.empty, 0.0, (self.dimensions - 2 * differing) / self.dimensions)


def encode(token_lists: Iterable[Sequence[str]], *, dimensions: int = DIMENSIONS, seed: int = SEED) -> Vectors:
    """The vectors of texts that were cut into tokens; `dimensions` is a multiple of 8.

    In each dimension the majority of the tokens decides, a token that stands twice counting twice. Where there is none,
    a fixed vector of the seed does. Two texts that are both undecided in a dimension agree there; so texts of few
    tokens, an even number of them, are a little alike whatever they say: by 1/4 if they have two tokens each.
    """
    postings = Postings.of(token_lists)
    bits = _token_bits(list(postings.vocabulary), dimensions, seed)
    ties = _bits(f"{seed}\0ties", dimensions)
    lengths = postings.lengths[:, None]
    counts = _counts_by_text(postings)
    packed = np.zeros((postings.n_documents, -(-dimensions // (8 * _WORD)) * _WORD), np.uint8)
    for begin in range(0, dimensions // 8, _BYTES_AT_ONCE):
        part = slice(begin, min(begin + _BYTES_AT_ONCE, dimensions // 8))
        ones = counts @ np.unpackbits(bits[:, part], axis=1).astype(counts.dtype)
        surplus = 2 * ones.astype(np.int64) - lengths
        tied = np.unpackbits(ties[part]).astype(bool)
        packed[:, part] = np.packbits((surplus > 0) | ((surplus == 0) & tied), axis=1)
    empty = postings.lengths == 0
    packed[empty] = 0
    return Vectors(packed.view(np.uint64), empty, dimensions)


def _counts_by_text(postings: Postings) -> Any:
    """Texts × tokens; the smallest numbers that hold every sum, because small ones are added faster."""
    from scipy.sparse import csc_matrix

    longest = int(postings.lengths.max(initial=0))
    kind = np.int16 if longest <= _LARGEST_INT16 else np.int64
    shape = (postings.n_documents, len(postings.vocabulary))
    return csc_matrix((postings.counts.astype(kind), postings.documents, postings.starts), shape=shape).tocsr()


def _token_bits(tokens: Sequence[str], dimensions: int, seed: int) -> NDArray[np.uint8]:
    rows = [_bits(f"{seed}\0token\0{token}", dimensions) for token in tokens]
    return np.array(rows, np.uint8).reshape(len(rows), dimensions // 8)


def _bits(name: str, dimensions: int) -> NDArray[np.uint8]:
    return np.frombuffer(shake_256(name.encode()).digest(dimensions // 8), np.uint8)
