"""The vectors nearest to a query: all of them compared, or a graph of neighbours walked.

Vectors are float16. The product of two such numbers is a multiple of 2⁻⁴⁸, so a float64 holds the dot product of two
vectors of length 1 without any rounding: scores are exact, whatever the order of summation, the number of threads or
the batch, and equal vectors have equal scores. Rows of equal score come in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankproof.errors import MissingExtra
from rankproof.retrieval.digest import digest_of
from rankproof.retrieval.embedding.sealed import read_sealed, write_sealed

Halves = NDArray[np.float16]

_QUERIES, _CELLS = 256, 1 << 25
"""How many queries are compared at once, and how many scores may lie in memory for it."""
_BLOCK, _BLOCKS_PER_HIT = 64, 4
_BUILD_EF = 128


class Neighbours(NamedTuple):
    """The rows nearest to a query, best first, and their dot products with it."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


class Exact:
    """Compares each query with every vector."""

    def __init__(self, vectors: Halves) -> None:
        self.vectors = vectors
        n_rows, dimensions = vectors.shape
        self._padded = np.zeros((-(-n_rows // _BLOCK) * _BLOCK, dimensions), np.float32)
        self._padded[:n_rows] = vectors
        self._longest = _longest(self._padded)

    def search(self, queries: Halves, k: int) -> Iterator[Neighbours]:
        """The k nearest to each query."""
        batch = max(1, min(_QUERIES, _CELLS // max(1, len(self._padded))))
        for start in range(0, len(queries), batch):
            yield from self._batch(queries[start : start + batch], k)

    def _batch(self, queries: Halves, k: int) -> Iterator[Neighbours]:
        n_rows, n_queries = len(self.vectors), len(queries)
        rough = queries.astype(np.float32) @ self._padded.T
        rough[:, n_rows:] = -np.inf
        width = _block_width(rough.shape[1], k)
        blocks = rough.reshape(n_queries, -1, width)
        best = blocks.max(axis=2)
        # k rows truly score at least `least` less one error, and rounding may hide another of a row that beats them.
        least = self._least(best, k) - 2 * self._error(queries)
        query, block = np.nonzero(best >= least[:, np.newaxis])
        near, place = np.nonzero(blocks[query, block] >= least[query, np.newaxis])
        rows = block[near] * width + place
        ends = np.searchsorted(query[near], np.arange(n_queries + 1))
        for i, one in enumerate(queries):
            yield _ranked(self.vectors, one, rows[ends[i] : ends[i + 1]], k)

    def _least(self, best: NDArray[np.float32], k: int) -> NDArray[np.float32]:
        """A score that at least k rows of each query reach, if there are as many: the k-th best of the blocks' best."""
        n_blocks = best.shape[1]
        lowest = np.full(len(best), np.finfo(np.float32).min)
        if k >= n_blocks:
            return lowest
        # A block may hold nothing but padding.
        return np.maximum(np.partition(best, n_blocks - k, axis=1)[:, n_blocks - k], lowest)

    def _error(self, queries: Halves) -> float:
        """How far a float32 dot product may be from the true one, in whatever order it is summed, and half as much."""
        return float(1.5 * queries.shape[1] * 2**-24 * _longest(queries.astype(np.float32)) * self._longest)


def _longest(vectors: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0)))


def _block_width(n_rows: int, k: int) -> int:
    """Wide blocks are quick to look through, but there must be many more of them than hits."""
    width = _BLOCK
    while width > 1 and n_rows // width < _BLOCKS_PER_HIT * k:
        width //= 2
    return width


def _ranked(vectors: Halves, query: Halves, rows: NDArray[np.int64], k: int) -> Neighbours:
    scores = vectors[rows].astype(np.float64) @ query.astype(np.float64)
    order = np.lexsort((rows, -scores))[:k]
    return Neighbours(rows[order], scores[order])


class Hnsw:
    """Walks a graph of neighbours (Malkov & Yashunin, TPAMI 2020): quick, and now and then past one of the nearest.

    `m` is the number of neighbours of a vector, `ef` that of the candidates kept while walking. The graph is built by
    one thread, because its order of insertion decides what is found; it is kept in `folder` if that is given.
    """

    def __init__(self, vectors: Halves, *, m: int, ef: int, folder: Path | None = None) -> None:
        self.vectors = vectors
        self.ef = ef
        self._index = _index(np.ascontiguousarray(vectors), m, folder)

    def search(self, queries: Halves, k: int) -> Iterator[Neighbours]:
        """About the k nearest to each query; their scores are exact."""
        # As many candidates whatever k is, so that the first of few are the first of many.
        n_candidates = min(max(k, self.ef), len(self.vectors))
        self._index.expansion_search = n_candidates
        for start in range(0, len(queries), _QUERIES):
            batch = queries[start : start + _QUERIES]
            found = self._index.search(batch, n_candidates).keys if n_candidates else []
            for query, rows in zip(batch, np.reshape(found, (len(batch), -1)), strict=True):
                yield _ranked(self.vectors, query, rows.astype(np.int64), k)


def _index(vectors: Halves, m: int, folder: Path | None) -> Any:
    try:
        import usearch
        from usearch.index import Index
    except ImportError as exc:
        raise MissingExtra("Approximate search (`search: exact` does without)", "ann") from exc
    index = Index(ndim=vectors.shape[1], metric="ip", dtype="f16", connectivity=m, expansion_add=_BUILD_EF)
    built_from = [usearch.__version__, m, _BUILD_EF, list(vectors.shape), sha256(vectors.data).hexdigest()]
    path = None if folder is None else folder / f"{digest_of(built_from)[:32]}.hnsw.sealed"
    kept = None if path is None else read_sealed(path)
    if kept is not None:
        index.load(bytes(kept))
        return index
    index.add(np.arange(len(vectors)), vectors, threads=1)
    if path is not None:
        write_sealed(path, index.save() or b"")
    return index
