"""Cross-encoders: the stage is proven with a model that counts common words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rankproof.data.gold import Query
from rankproof.errors import MissingExtra, NotMeasured, UsageError
from rankproof.retrieval.answers import Hit
from rankproof.retrieval.stage import RerankerStage, stage_class
from rankproof.retrieval.stages.cross_encoder import CrossEncoder
from rankproof.testing import check_reranker
from tests.retrieval.embedding.tiny import common_words_model, one_hot_model, place_of

DOCUMENTS = {"a": "fish", "b": "cat dog cat", "c": "dog", "d": "dog"}
HITS = [Hit(doc_id, 1.0) for doc_id in DOCUMENTS]


def test_the_name_leads_to_the_stage() -> None:
    assert stage_class("cross_encoder", RerankerStage) is CrossEncoder


def test_documents_come_by_logit_equal_ones_by_id(tmp_path: Path) -> None:
    common_words_model(tmp_path / "model")
    reranker = CrossEncoder(model="model").open(place_of(tmp_path, DOCUMENTS))
    found = reranker.rerank(Query("q", "cat dog"), HITS[::-1])
    # Common words, and 1 for the mark that ends both texts.
    assert found == (Hit("b", 4.0), Hit("c", 2.0), Hit("d", 2.0), Hit("a", 1.0))


def test_it_keeps_the_promises_of_a_reranker(tmp_path: Path) -> None:
    common_words_model(tmp_path / "model")
    reranker = CrossEncoder(model="model").open(place_of(tmp_path, DOCUMENTS))
    forwards = check_reranker(reranker, Query("q", "dog"), HITS)
    assert check_reranker(reranker, Query("q", "dog"), HITS[::-1]) == forwards


def test_a_pair_is_cut_to_the_length_that_was_asked_for(tmp_path: Path) -> None:
    common_words_model(tmp_path / "model")
    place = place_of(tmp_path, {"a": "cat cat cat cat cat"})
    # [CLS] cat [SEP] cat cat [SEP]: two pairs of cats and one of marks.
    assert CrossEncoder(model="model", max_length=6).open(place).rerank(Query("q", "cat"), [Hit("a", 1.0)]) == (
        Hit("a", 3.0),
    )


def test_a_query_without_text_and_a_document_that_is_gone_are_not_measured(tmp_path: Path) -> None:
    common_words_model(tmp_path / "model")
    reranker = CrossEncoder(model="model").open(place_of(tmp_path, DOCUMENTS))
    with pytest.raises(NotMeasured, match="the query has no text"):
        reranker.rerank(Query("q", ""), HITS)
    with pytest.raises(NotMeasured, match="document 'x' was returned"):
        reranker.rerank(Query("q", "cat"), [Hit("x", 1.0)])


def test_a_model_with_several_logits_is_not_measured(tmp_path: Path) -> None:
    common_words_model(tmp_path / "model", logits=3)
    with pytest.raises(NotMeasured, match="3 logits for a pair, and a cross-encoder for ranking gives one"):
        CrossEncoder(model="model").open(place_of(tmp_path, DOCUMENTS)).rerank(Query("q", "cat"), HITS)


def test_a_model_that_embeds_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    with pytest.raises(UsageError, match="'model' is no cross-encoder: it gives last_hidden_state with 3 axes"):
        CrossEncoder(model="model").open(place_of(tmp_path, DOCUMENTS))


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder of that name beside the project file"):
        CrossEncoder(model="models/reranker").open(place_of(tmp_path, DOCUMENTS))


def test_without_its_libraries_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    common_words_model(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"rankproof\[dense\]"):
        CrossEncoder(model="model").open(place_of(tmp_path, DOCUMENTS))


def test_behaviour_is_the_model_by_content(tmp_path: Path) -> None:
    for name in ("one", "same"):
        common_words_model(tmp_path / name)
    place = place_of(tmp_path, DOCUMENTS)
    plain = CrossEncoder(model="one").behaviour(place)
    assert CrossEncoder(model="same").behaviour(place) == plain
    assert CrossEncoder(model="one", max_length=9).behaviour(place) != plain
