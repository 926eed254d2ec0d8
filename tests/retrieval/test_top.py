"""The best out of many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.retrieval.top import best, in_tie_order
from tests.retrieval.texts import place_of


@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, [2]), (2, [2, 0]), (3, [2, 0, 1]), (4, [2, 0, 1, 4]), (5, [2, 0, 1, 4, 3]), (9, [2, 0, 1, 4, 3])],
)
def test_the_greatest_come_first_and_of_equal_ones_the_first(k: int, expected: list[int]) -> None:
    assert best(np.array([5.0, 5.0, 7.0, -1.0, 5.0]), k).tolist() == expected


def test_of_nothing_nothing_is_best() -> None:
    assert best(np.zeros(0), 3).tolist() == []


def test_ties_go_by_id_or_as_the_corpus_has_them() -> None:
    corpus = place_of({"b": "", "a": "", "B": ""}).corpus
    assert [document.id for document in in_tie_order(corpus, "id")] == ["B", "a", "b"]
    assert [document.id for document in in_tie_order(corpus, "corpus")] == ["b", "a", "B"]


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 35))
def test_it_is_the_head_of_a_stable_sort(scores: list[int], k: int) -> None:
    everything = sorted(range(len(scores)), key=lambda place: -scores[place])
    assert best(np.array(scores, np.float64), k).tolist() == everything[:k]
