"""BM25: by hand, against another implementation, and on a collection with judgments."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rankproof import evaluate
from rankproof.data.gold import Query
from rankproof.errors import UnknownName, UsageError
from rankproof.retrieval.analysis import Analyser
from rankproof.retrieval.pipeline import Named, Pipeline, Runner
from rankproof.retrieval.stage import Place, RetrieverStage, stage_class
from rankproof.retrieval.stages.bm25 import Bm25
from rankproof.testing import check_retriever
from tests.retrieval.texts import CRANFIELD, ask, cranfield, ids, needs_cranfield, place_of

THREE = {"a": "wing wing lift", "b": "wing drag", "c": "heat"}
# Two tokens to a document on average: k1 · (1 − b + b · length / 2) is 1.65 for a, 1.2 for b and 0.75 for c.


def scores(stage: Bm25, text: str, place: Place | None = None) -> dict[str, float]:
    return {hit.doc_id: hit.score for hit in ask(stage.open(place or place_of(THREE)), text).hits}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # Two of three documents have it: idf is ln(1 + 1.5 / 2.5).
        ("wing", {"a": log(1.6) * 2 / (2 + 1.65), "b": log(1.6) * 1 / (1 + 1.2)}),
        # One of three: ln(1 + 2.5 / 1.5).
        ("heat", {"c": log(8 / 3) / (1 + 0.75)}),
        ("lift wing", {"a": log(8 / 3) / (1 + 1.65) + log(1.6) * 2 / (2 + 1.65), "b": log(1.6) / (1 + 1.2)}),
        ("heat heat", {"c": 2 * log(8 / 3) / (1 + 0.75)}),
        ("unknown", {}),
        ("", {}),
    ],
)
def test_by_hand(query: str, expected: dict[str, float]) -> None:
    found = scores(Bm25(), query)
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-15)


def test_robertsons_idf_is_smaller_and_never_below_0() -> None:
    found = scores(Bm25(variant="robertson"), "heat wing")
    # Of ln(1.5 / 2.5) for wing nothing is left, so a and b score 0 and are not returned.
    assert found == pytest.approx({"c": log(2.5 / 1.5) / (1 + 0.75)}, abs=1e-15)


def test_k1_0_asks_only_whether_a_token_is_there() -> None:
    assert scores(Bm25(k1=0), "wing") == pytest.approx({"a": log(1.6), "b": log(1.6)}, abs=1e-15)


def test_b_0_leaves_the_length_aside() -> None:
    assert scores(Bm25(b=0), "lift") == pytest.approx({"a": log(8 / 3) / 2.2}, abs=1e-15)


def test_the_title_counts_as_often_as_told() -> None:
    place = place_of({"a": "lift", "b": "lift"}, titles={"a": "wing", "b": "drag"})
    assert ids(ask(Bm25().open(place), "wing")) == ["a"]
    assert ids(ask(Bm25(title_weight=0).open(place), "wing")) == []
    once, thrice = (scores(Bm25(title_weight=weight, b=0), "wing", place)["a"] for weight in (1, 3))
    assert (once, thrice) == pytest.approx((log(2) / 2.2, log(2) * 3 / 4.2), abs=1e-15)


def test_equal_scores_go_by_id_also_where_the_list_is_cut() -> None:
    place = place_of({"b": "wing", "c": "wing", "a": "wing", "d": "lift"})
    retriever = Bm25().open(place)
    assert ids(ask(retriever, "wing")) == ["a", "b", "c"]
    assert ids(ask(retriever, "wing", k=2)) == ["a", "b"]


def test_equal_scores_go_by_the_order_of_the_corpus_on_request() -> None:
    place = place_of({"b": "wing", "c": "wing", "a": "wing"})
    assert ids(ask(Bm25(ties="corpus").open(place), "wing", k=2)) == ["b", "c"]


@pytest.mark.parametrize("texts", [{}, {"a": ""}, {"a": "", "b": " … "}])
def test_a_corpus_without_a_word_has_nothing_to_find(texts: dict[str, str]) -> None:
    assert ids(ask(Bm25().open(place_of(texts)), "wing")) == []


def test_an_empty_document_among_others_is_never_found() -> None:
    assert ids(ask(Bm25().open(place_of({"a": "", "b": "wing"})), "wing")) == ["b"]


def test_an_identifier_is_found_by_its_parts_and_best_as_it_stands() -> None:
    place = place_of({"a": "see RFC-9110 there", "b": "see RFC 9110 there", "c": "nothing of the kind"})
    retriever = Bm25().open(place)
    assert ids(ask(retriever, "RFC-9110")) == ["a", "b"]
    assert sorted(ids(ask(retriever, "rfc 9110"))) == ["a", "b"]


def test_stems_and_stop_words_are_those_of_the_options() -> None:
    place = place_of({"a": "the wings", "b": "the lift"})
    assert ids(ask(Bm25().open(place), "the wing")) == ["a", "b"]
    assert ids(ask(Bm25(language="english", stop_words="english").open(place), "the wing")) == ["a"]
    assert ids(ask(Bm25(stop_words=["the"]).open(place), "the wings")) == ["a"]
    with pytest.raises(UnknownName, match="Did you mean 'swedish'"):
        Bm25(language="swedisch").open(place)


@pytest.mark.parametrize("options", [{"k1": -1}, {"k1": float("inf")}, {"b": 1.1}, {"variant": "okapi"}, {"k2": 1}])
def test_options_that_make_no_sense_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Bm25.model_validate(options)


def test_it_needs_a_corpus() -> None:
    with pytest.raises(UsageError, match="This pipeline reads a corpus"):
        Bm25().open(Place(CRANFIELD))


def test_it_is_found_by_its_name_and_keeps_the_promises_of_a_retriever() -> None:
    assert stage_class("bm25", RetrieverStage) is Bm25
    place = place_of({"b": "wing wing lift", "a": "wing drag", "c": "heat", "d": "wing drag", "e": ""})
    check_retriever(Bm25().open(place), [Query(text, text) for text in ("wing", "lift drag", "", "none")], k=3)


def test_the_stemmers_at_work_are_part_of_its_behaviour() -> None:
    place = place_of(THREE)
    assert Bm25().behaviour(place)["stemmer"] is None
    assert Bm25(language="english").behaviour(place)["stemmer"]


words = st.lists(st.sampled_from("uvwxyz"), max_size=6).map(" ".join)


@settings(deadline=None)
@given(st.lists(words, min_size=1, max_size=8), words, st.integers(1, 9))
def test_the_best_of_few_are_the_first_of_all(texts: list[str], query: str, k: int) -> None:
    retriever = Bm25().open(place_of({f"d{i}": text for i, text in enumerate(texts)}))
    everything = ask(retriever, query, k=len(texts)).hits
    assert list(everything) == sorted(everything, key=lambda hit: (-hit.score, hit.doc_id))
    assert ask(retriever, query, k).hits == everything[:k]
    found = {hit.doc_id for hit in everything}
    assert found == {f"d{i}" for i, text in enumerate(texts) if set(text.split()) & set(query.split())}


@needs_cranfield
def test_scores_equal_those_of_bm25s_on_the_same_tokens() -> None:
    bm25s = pytest.importorskip("bm25s")
    place = cranfield()
    assert place.gold is not None
    analyser = Analyser(language="english")
    theirs = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    theirs.index([analyser.tokens(f"{doc.title} {doc.text}") for doc in place.corpus], show_progress=False)
    numbers = {document.id: number for number, document in enumerate(place.corpus)}
    ours = Bm25(k1=0.9, b=0.4, language="english").open(place)
    queries = place.gold.queries[:50]
    for query, answer in zip(queries, ours.search(queries, 1400), strict=True):
        expected = theirs.get_scores(analyser.tokens(query.text))
        found = np.zeros(1400)
        for hit in answer.hits:
            found[numbers[hit.doc_id]] = hit.score
        assert found == pytest.approx(expected, abs=1e-5)


@needs_cranfield
def test_it_ranks_cranfield_as_well_as_others_do() -> None:
    place = cranfield()
    assert place.gold is not None
    pipeline = Pipeline("keyword", retrieve=Named("bm25", Bm25(k1=0.9, b=0.4, language="english")), depth=100)
    run = Runner({"keyword": pipeline}, place).run("keyword", place.gold.queries).to_run()
    # bm25s with the same parameters and stemmer, and a tokenizer of its own: .351.
    assert evaluate(place.gold.qrels, run, ["nDCG@10"]).mean()["nDCG@10"] == pytest.approx(0.350, abs=0.002)
