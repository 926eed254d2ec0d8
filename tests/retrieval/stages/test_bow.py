"""Token counts compared by cosine."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.data.gold import Query
from rankproof.retrieval.stage import RetrieverStage, stage_class
from rankproof.retrieval.stages.bow import Bow
from rankproof.testing import check_retriever
from tests.retrieval.texts import ask, ids, place_of


def test_by_hand() -> None:
    place = place_of({"a": "wing wing lift", "b": "wing drag", "c": "heat"})
    found = {hit.doc_id: hit.score for hit in ask(Bow().open(place), "wing lift").hits}
    # a: (2 · 1 + 1 · 1) / (√5 · √2); b: 1 / (√2 · √2).
    assert found == pytest.approx({"a": 3 / sqrt(10), "b": 0.5}, abs=1e-15)


def test_the_title_is_part_of_the_text() -> None:
    assert ids(ask(Bow().open(place_of({"a": "lift"}, titles={"a": "wing"})), "wing")) == ["a"]


def test_texts_of_the_same_proportions_tie_to_the_last_digit() -> None:
    place = place_of({"c": "u v", "b": "u v " * 3, "a": "u v " * 7})
    answer = ask(Bow().open(place), "u w")
    assert ids(answer) == ["a", "b", "c"]
    assert {hit.score for hit in answer.hits} == {0.5}


def test_ties_go_by_the_order_of_the_corpus_on_request() -> None:
    place = place_of({"c": "u", "a": "u u", "b": "u"})
    assert ids(ask(Bow(ties="corpus").open(place), "u")) == ["c", "a", "b"]


def test_what_shares_no_token_is_not_returned_and_empty_text_is_like_nothing() -> None:
    retriever = Bow().open(place_of({"a": "", "b": "wing", "c": "lift"}))
    assert ids(ask(retriever, "wing")) == ["b"]
    assert ids(ask(retriever, "")) == []


def test_identifiers_count_as_their_parts() -> None:
    place = place_of({"a": "RFC-9110", "b": "RFC 9110"})
    assert [hit.score for hit in ask(Bow().open(place), "rfc 9110").hits] == [1.0, 1.0]


def test_stems_and_stop_words_are_those_of_the_options() -> None:
    place = place_of({"a": "the wings", "b": "the lift"})
    assert ids(ask(Bow(language="english", stop_words="english").open(place), "the wing")) == ["a"]


def test_it_is_found_by_its_name_and_keeps_the_promises_of_a_retriever() -> None:
    assert stage_class("bow", RetrieverStage) is Bow
    place = place_of({"b": "wing wing lift", "a": "wing drag", "c": "heat", "d": "wing drag", "e": ""})
    check_retriever(Bow().open(place), [Query(text, text) for text in ("wing", "lift drag", "", "none")], k=3)


words = st.lists(st.sampled_from("uvwxyz"), max_size=8)


@settings(deadline=None)
@given(st.lists(words, min_size=1, max_size=6), words)
def test_scores_are_the_cosines_of_the_counts(texts: list[list[str]], query: list[str]) -> None:
    place = place_of({f"d{i}": " ".join(text) for i, text in enumerate(texts)})
    found = {hit.doc_id: hit.score for hit in ask(Bow().open(place), " ".join(query)).hits}
    asked = Counter(query)
    expected = {}
    for i, text in enumerate(texts):
        had = Counter(text)
        product = sum(had[token] * n for token, n in asked.items())
        if product:
            lengths = sqrt(sum(n * n for n in had.values())) * sqrt(sum(n * n for n in asked.values()))
            expected[f"d{i}"] = product / lengths
    assert found == pytest.approx(expected, abs=1e-12)
    assert all(0 < score <= 1 for score in found.values())
