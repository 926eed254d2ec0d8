"""Which documents have each token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.retrieval.postings import Postings, Sums
from rankproof.retrieval.top import best


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


def as_it_is(texts: Sequence[str]) -> tuple[bytes, list[int]]:
    """Texts that are cut already."""
    parts = [text.encode() for text in texts]
    return b" ".join(parts), [len(part) for part in parts]


words = st.text("ab-1é\u4e00", min_size=1, max_size=20)


@settings(deadline=None)
@given(st.lists(st.lists(words, max_size=9), max_size=9), st.integers(1, 60), st.integers(1, 20))
def test_texts_have_the_postings_of_their_tokens(texts: list[list[str]], block: int, table: int) -> None:
    # A piece is its parts: several tokens, one or none.
    def tokens_of(piece: str) -> list[str]:
        return [part for part in piece.split("-") if part]

    expected = Postings.of([[token for piece in text for token in tokens_of(piece)] for text in texts])
    with pytest.MonkeyPatch.context() as patch:
        # In a table of two places, nearly all pieces are one too many.
        patch.setattr("rankproof.retrieval.pieces._BLOCK", block)
        patch.setattr("rankproof.retrieval.pieces._TABLE", table)
        found = Postings.of_texts(map(" ".join, texts), as_it_is, tokens_of)
    assert found.lengths.tolist() == expected.lengths.tolist()
    assert _rows(found) == _rows(expected)


def test_pieces_that_differ_after_sixteen_bytes_only_are_not_the_same() -> None:
    texts = ["0123456789abcdefX 0123456789abcdef", " 0123456789abcdefY  0123456789abcdefX ", ""]
    postings = Postings.of_texts(texts, as_it_is, lambda piece: [piece])
    assert _rows(postings) == {
        "0123456789abcdefX": [(0, 1), (1, 1)],
        "0123456789abcdef": [(0, 1)],
        "0123456789abcdefY": [(1, 1)],
    }
    assert postings.lengths.tolist() == [2, 2, 0]


def _rows(postings: Postings) -> dict[str, list[tuple[int, int]]]:
    """Token → its documents and how often they have it."""
    rows = {}
    for token in postings.vocabulary:
        part = postings.row(token)
        assert part is not None
        rows[token] = list(zip(postings.documents[part].tolist(), postings.counts[part].tolist(), strict=True))
    return rows


asked_for = st.dictionaries(st.sampled_from("uvwxyz?"), st.integers(1, 3), max_size=5)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("uvwxyz"), max_size=9), max_size=40),
    st.lists(asked_for, max_size=3),
    st.integers(1, 9),
    st.integers(0, 3),
)
def test_the_best_sums_are_among_those_found_to_the_last_digit(
    texts: list[list[str]], asked: list[dict[str, int]], k: int, seed: int
) -> None:
    postings = Postings.of(texts)
    # Few different weights, so that many sums tie; some are 0.
    weights = np.random.default_rng(seed).choice([0.0, 0.1, 0.2, 0.3, 7.7], len(postings.documents))
    found = list(Sums(postings, weights).best(asked, k))
    assert len(found) == len(asked)
    for tokens, (documents, sums) in zip(asked, found, strict=True):
        everything = postings.sums(tokens, weights)
        ranked = [place for place in best(everything, len(texts)).tolist() if everything[place] > 0]
        assert documents[best(sums, k)].tolist() == ranked[:k]
        assert documents.tolist() == sorted(set(documents.tolist()))
        assert sums.tolist() == everything[documents].tolist()


def test_what_nobody_has_finds_nothing() -> None:
    [(documents, sums)] = Sums(Postings.of([["a"]]), np.ones(1)).best([{"b": 1}], 3)
    assert (documents.tolist(), sums.tolist()) == ([], [])
