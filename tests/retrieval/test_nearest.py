"""The nearest vectors are the nearest, in one order, however they are looked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankproof.errors import MissingExtra
from rankproof.retrieval import nearest
from rankproof.retrieval.nearest import Exact, Hnsw, Neighbours

Halves = NDArray[np.float16]


def unit_vectors(n_rows: int, dimensions: int, *, seed: int) -> Halves:
    rows = np.random.default_rng(seed).normal(size=(n_rows, dimensions))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float16)


def brute(vectors: Halves, query: Halves, k: int) -> list[tuple[int, float]]:
    """One dot product after the other."""
    scores = [sum(float(x) * float(y) for x, y in zip(row, query, strict=True)) for row in vectors]
    return sorted(enumerate(scores), key=lambda pair: (-pair[1], pair[0]))[:k]


def pairs(found: Iterable[Neighbours]) -> list[list[tuple[int, float]]]:
    return [list(zip(one.rows.tolist(), one.scores.tolist(), strict=True)) for one in found]


def test_by_hand() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.5, 0.5], [1, 0]], np.float16)
    queries = np.array([[1, 0], [0, 1]], np.float16)
    assert pairs(Exact(vectors).search(queries, 3)) == [[(0, 1.0), (3, 1.0), (2, 0.5)], [(1, 1.0), (2, 0.5), (0, 0.0)]]


@pytest.mark.parametrize("k", [1, 7, 100, 999, 1000, 5000])
def test_the_nearest_and_their_scores_are_those_of_one_product_after_the_other(k: int) -> None:
    vectors, queries = unit_vectors(1000, 24, seed=1), unit_vectors(3, 24, seed=2)
    assert pairs(Exact(vectors).search(queries, k)) == [brute(vectors, query, k) for query in queries]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from([-0.5, 0.0, 0.25, 0.5])] * 2), min_size=0, max_size=300),
    st.integers(1, 12),
)
def test_equal_scores_come_in_the_order_of_rows(rows: list[tuple[float, float]], k: int) -> None:
    vectors = np.array(rows, np.float16).reshape(-1, 2)
    query = np.array([0.5, 0.25], np.float16)
    assert pairs(Exact(vectors).search(query[np.newaxis], k)) == [brute(vectors, query, k)]


def test_equal_vectors_far_apart_have_equal_scores_and_come_in_the_order_of_rows() -> None:
    vectors = unit_vectors(5000, 48, seed=3)
    query = unit_vectors(1, 48, seed=4)
    best = next(Exact(vectors).search(query, 1)).rows[0]
    twins = [3, 700, 1234, 4999]
    vectors[twins] = vectors[best]
    (found,) = Exact(vectors).search(query, 5)
    assert found.rows.tolist() == sorted({*twins, int(best)})
    assert len(set(found.scores.tolist())) == 1


def test_neither_the_batch_nor_the_block_changes_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, queries = unit_vectors(2000, 24, seed=5), unit_vectors(20, 24, seed=6)
    together = pairs(Exact(vectors).search(queries, 10))
    assert [pairs(Exact(vectors).search(query[np.newaxis], 10))[0] for query in queries] == together
    assert [found[:3] for found in together] == pairs(Exact(vectors).search(queries, 3))
    monkeypatch.setattr(nearest, "_CELLS", 5000)
    monkeypatch.setattr(nearest, "_BLOCK", 8)
    assert pairs(Exact(vectors).search(queries, 10)) == together


def test_nothing_to_search_or_nothing_asked_gives_nothing() -> None:
    empty = np.zeros((0, 4), np.float16)
    assert pairs(Exact(empty).search(np.ones((2, 4), np.float16), 5)) == [[], []]
    assert pairs(Exact(np.ones((2, 4), np.float16)).search(empty, 5)) == []
    assert pairs(Hnsw(empty, m=8, ef=16).search(np.ones((2, 4), np.float16), 5)) == [[], []]


def clustered(n_rows: int, *, seed: int) -> Halves:
    """Vectors as models make them: on a surface of few dimensions within a space of many."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, 12)) @ np.random.default_rng(0).normal(size=(12, 64))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float16)


def test_the_graph_finds_99_of_100_of_the_nearest_ten() -> None:
    vectors, queries = clustered(10_000, seed=1), clustered(100, seed=2)
    exact = list(Exact(vectors).search(queries, 10))
    walked = list(Hnsw(vectors, m=16, ef=128).search(queries, 10))
    shared = [len(set(one.rows) & set(other.rows)) / 10 for one, other in zip(exact, walked, strict=True)]
    assert np.mean(shared) >= 0.99
    for query, found in zip(queries, walked, strict=True):
        score = dict(brute(vectors[found.rows], query, 10))
        assert found.scores.tolist() == [score[place] for place in range(10)]


def test_the_graph_is_the_same_each_time_it_is_built() -> None:
    vectors, queries = clustered(2000, seed=1), clustered(50, seed=2)
    once, again = (Hnsw(vectors, m=4, ef=8) for _ in range(2))
    assert pairs(once.search(queries, 5)) == pairs(again.search(queries, 5))


def test_the_first_of_few_are_the_first_of_many() -> None:
    index, queries = Hnsw(clustered(2000, seed=1), m=4, ef=20), clustered(50, seed=2)
    ten = pairs(index.search(queries, 10))
    assert pairs(index.search(queries, 1)) == [found[:1] for found in ten]
    assert [pairs(index.search(query[np.newaxis], 10))[0] for query in queries] == ten


def test_a_graph_is_kept_and_a_damaged_one_built_again(tmp_path: Path) -> None:
    vectors, queries = clustered(500, seed=1), clustered(5, seed=2)
    first = pairs(Hnsw(vectors, m=8, ef=32, folder=tmp_path).search(queries, 5))
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    assert pairs(Hnsw(vectors, m=8, ef=32, folder=tmp_path).search(queries, 5)) == first
    kept.write_bytes(whole[:-1])
    assert pairs(Hnsw(vectors, m=8, ef=32, folder=tmp_path).search(queries, 5)) == first
    assert kept.read_bytes() == whole
    Hnsw(vectors[1:], m=8, ef=32, folder=tmp_path)
    Hnsw(vectors, m=9, ef=32, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_without_usearch_the_extra_and_the_other_way_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usearch", None)
    with pytest.raises(MissingExtra, match=r"`search: exact` does without\) needs: pip install \"rankproof\[ann\]\""):
        Hnsw(unit_vectors(3, 4, seed=1), m=8, ef=8)
