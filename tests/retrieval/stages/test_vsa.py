"""Texts as long random vectors, as a retriever."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rankproof.data.gold import Query
from rankproof.retrieval.stage import RetrieverStage, stage_class
from rankproof.retrieval.stages.vsa import Vsa
from rankproof.testing import check_retriever
from tests.retrieval.texts import ask, ids, place_of


def test_the_more_alike_the_better_and_what_is_like_nothing_is_at_about_0() -> None:
    place = place_of({"a": "heat", "b": "wing lift drag", "c": "Wing lift"})
    answer = ask(Vsa().open(place), "wing, LIFT")
    assert ids(answer) == ["c", "b", "a"]
    assert [hit.score for hit in answer.hits] == pytest.approx([1.0, 0.5, 0.0], abs=0.05)


def test_an_empty_document_is_never_first_though_all_others_are_below_0() -> None:
    # Of many documents of one strange word each, about half point away from the query.
    away = [
        hit.doc_id
        for hit in ask(Vsa().open(place_of({f"w{i}": f"w{i}" for i in range(20)})), "wing", k=20).hits
        if hit.score < 0
    ]
    assert away
    answer = ask(Vsa().open(place_of({"0 empty": "", **{word: word for word in away}})), "wing", k=20)
    assert ids(answer) == away


def test_an_empty_query_is_like_nothing() -> None:
    assert ids(ask(Vsa().open(place_of({"a": "", "b": "wing"})), " … ")) == []


def test_equal_similarities_go_by_id_or_in_the_order_of_the_corpus() -> None:
    place = place_of({"c": "wing lift", "a": "lift wing", "b": "heat"})
    assert ids(ask(Vsa().open(place), "lift"))[:2] == ["a", "c"]
    assert ids(ask(Vsa(ties="corpus").open(place), "lift"))[:2] == ["c", "a"]


@settings(deadline=None)
@given(st.permutations(["wing", "lift", "drag", "heat", "wing"]))
def test_the_order_of_words_changes_nothing(words: list[str]) -> None:
    retriever = Vsa(dimensions=1000).open(place_of({"a": "wing heat", "b": "lift drag", "c": "drag"}))
    assert ask(retriever, " ".join(words)) == ask(retriever, "wing wing lift drag heat")


@pytest.mark.parametrize("dimensions", [0, 63, 1001])
def test_dimensions_are_a_multiple_of_8_and_not_too_few(dimensions: int) -> None:
    with pytest.raises(ValidationError):
        Vsa(dimensions=dimensions)


def test_it_is_found_by_its_name_and_keeps_the_promises_of_a_retriever() -> None:
    assert stage_class("vsa", RetrieverStage) is Vsa
    place = place_of({"b": "wing wing lift", "a": "wing drag", "c": "heat", "d": "wing drag", "e": ""})
    check_retriever(Vsa().open(place), [Query(text, text) for text in ("wing", "lift drag", "", "none")], k=3)
