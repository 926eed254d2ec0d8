"""Maximal marginal relevance."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rankproof.data.gold import Query
from rankproof.errors import NotMeasured
from rankproof.retrieval.answers import Hit, ordered
from rankproof.retrieval.stage import Place, RerankerStage, stage_class
from rankproof.retrieval.stages.mmr import Mmr
from rankproof.testing import check_reranker
from tests.retrieval.texts import place_of

QUERY = Query("q", "wing")
PLACE = place_of({"a": "wing lift", "b": "wing lift", "c": "wing drag", "d": "heat"})
HITS = [Hit("a", 10.0), Hit("b", 9.0), Hit("c", 8.0), Hit("d", 6.0)]
# Relevance by min-max: 1, 3/4, 1/2, 0. Cosines: a and b 1, a or b and c 1/2, d and any other 0.


def reranked(hits: list[Hit], place: Place = PLACE, *, weight: float = 0.5, **options: Any) -> list[tuple[str, float]]:
    reranker = Mmr.model_validate({"lambda": weight, **options}).open(place)
    return [(hit.doc_id, hit.score) for hit in reranker.rerank(QUERY, hits)]


def test_by_hand() -> None:
    # After a (½ · 1): b has ½ · ¾ − ½ · 1, c ½ · ½ − ½ · ½, d 0 − 0. c and d tie and go by id; then d; then b.
    expected = [("a", 0.5), ("c", 0.0), ("d", 0.0), ("b", -0.125)]
    found = reranked(HITS, weight=0.5)
    assert [doc_id for doc_id, _ in found] == [doc_id for doc_id, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-15)


def test_lambda_1_is_relevance_alone() -> None:
    assert reranked(HITS, weight=1) == [("a", 1.0), ("b", 0.75), ("c", 0.5), ("d", 0.0)]


def test_lambda_0_is_diversity_alone() -> None:
    # All are equal at first, so a is taken; d is unlike it, c is half like it, b is the same text.
    found = reranked(HITS, weight=0)
    assert [doc_id for doc_id, _ in found] == ["a", "d", "c", "b"]
    assert [score for _, score in found] == pytest.approx([0.0, 0.0, -0.5, -1.0], abs=1e-15)


def test_the_nearest_of_the_documents_taken_counts() -> None:
    place = place_of({"a": "u", "b": "v", "c": "u v", "d": "w w x"})
    hits = [Hit("a", 4.0), Hit("b", 3.0), Hit("c", 2.0), Hit("d", 1.0)]
    found = dict(reranked(hits, place, weight=0.5))
    # c is as near to a as to b, and no nearer to both together: ½ · ⅓ − ½ · 1/√2.
    assert found["c"] == pytest.approx(1 / 6 - 1 / sqrt(8), abs=1e-15)


def test_only_the_first_k_are_reordered_and_the_others_follow_in_their_order() -> None:
    found = reranked(HITS, weight=0, k=2)
    assert found == [("a", 0.0), ("b", pytest.approx(-1.0)), ("c", -2.0), ("d", -3.0)]


def test_hits_that_score_alike_are_all_fully_relevant() -> None:
    hits = [Hit("b", 1.0), Hit("a", 1.0), Hit("d", 1.0)]
    assert [doc_id for doc_id, _ in reranked(hits)] == ["a", "d", "b"]
    assert reranked([Hit("d", 3.0)]) == [("d", 0.5)]


def test_the_order_in_which_hits_come_changes_nothing() -> None:
    assert reranked(HITS[::-1]) == reranked(HITS)


def test_scores_that_are_far_apart_are_scaled_without_overflow() -> None:
    hits = [Hit("a", 1.7e308), Hit("b", -1.7e308)]
    assert [doc_id for doc_id, _ in reranked(hits, weight=1)] == ["a", "b"]


def test_stop_words_and_stems_change_what_is_alike() -> None:
    place = place_of({"a": "the wings", "b": "the wing", "c": "the heat"})
    hits = [Hit("a", 3.0), Hit("b", 2.0), Hit("c", 1.0)]
    assert dict(reranked(hits, place))["b"] == pytest.approx(0.25 - 0.25)
    found = reranked(hits, place, language="english", stop_words="english")
    assert [doc_id for doc_id, _ in found] == ["a", "c", "b"]


def test_a_document_that_the_corpus_does_not_have_is_not_passed_on() -> None:
    with pytest.raises(NotMeasured, match="document 'x' was returned, and the corpus does not have it"):
        reranked([Hit("a", 2.0), Hit("x", 1.0)])


@pytest.mark.parametrize("options", [{"lambda": 1.1}, {"lambda": -0.1}, {"k": 0}, {"diversity": 1}])
def test_options_that_make_no_sense_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Mmr.model_validate(options)


def test_it_is_found_by_its_name_and_keeps_the_promises_of_a_reranker() -> None:
    assert stage_class("mmr", RerankerStage) is Mmr
    check_reranker(Mmr().open(PLACE), QUERY, HITS)


def test_lambda_is_part_of_its_behaviour() -> None:
    one, other = (Mmr.model_validate({"lambda": weight}).behaviour(PLACE) for weight in (0.3, 0.7))
    assert one != other


texts = st.lists(st.lists(st.sampled_from("uvwxyz"), max_size=5).map(" ".join), min_size=1, max_size=8)
scores = st.lists(st.integers(-3, 3), min_size=8, max_size=8)


@settings(deadline=None)
@given(texts, scores, st.sampled_from([0, 0.3, 0.5, 0.9, 1]))
def test_scores_never_rise_and_equal_ones_go_by_id(found: list[str], given_scores: list[int], weight: float) -> None:
    place = place_of({f"d{i}": text for i, text in enumerate(found)})
    hits = [Hit(f"d{i}", float(score)) for i, (_, score) in enumerate(zip(found, given_scores, strict=False))]
    reordered = Mmr.model_validate({"lambda": weight}).open(place).rerank(QUERY, hits)
    assert sorted(hit.doc_id for hit in reordered) == sorted(hit.doc_id for hit in hits)
    assert tuple(reordered) == ordered(reordered)
