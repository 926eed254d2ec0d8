"""Which documents have each token."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.retrieval.postings import Postings


def test_by_hand() -> None:
    postings = Postings.of([["b", "a", "b"], [], ["a"]])
    assert postings.vocabulary == {"b": 0, "a": 1}
    assert postings.starts.tolist() == [0, 1, 3]
    assert postings.documents.tolist() == [0, 0, 2]
    assert postings.counts.tolist() == [2, 1, 1]
    assert postings.lengths.tolist() == [3, 0, 1]
    assert postings.frequencies.tolist() == [1, 2]


def test_sums_add_up_the_weights_of_the_tokens_asked_for() -> None:
    postings = Postings.of([["b", "a", "b"], [], ["a"]])
    weights = np.array([0.5, 2.0, 3.0])
    assert postings.sums({"a": 1, "b": 2, "c": 9}, weights).tolist() == [3.0, 0.0, 3.0]
    assert postings.sums({}, weights).tolist() == [0.0, 0.0, 0.0]


def test_no_document_has_no_posting() -> None:
    postings = Postings.of([])
    assert (postings.n_documents, postings.starts.tolist(), postings.documents.tolist()) == (0, [0], [])


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from("uvwxyz"), max_size=9), max_size=9))
def test_every_count_of_every_document_is_there_once(texts: list[list[str]]) -> None:
    postings = Postings.of(texts)
    found = [Counter[str]() for _ in texts]
    for token, number in postings.vocabulary.items():
        row = slice(postings.starts[number], postings.starts[number + 1])
        documents = postings.documents[row].tolist()
        assert documents == sorted(set(documents))
        for document, count in zip(documents, postings.counts[row].tolist(), strict=True):
            found[document][token] = count
    assert found == [Counter(text) for text in texts]
