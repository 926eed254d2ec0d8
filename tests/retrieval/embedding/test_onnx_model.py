"""A folder with a graph and a tokenizer is a model; what it does can be worked out by hand on a small one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from rankproof.errors import BadInput, MissingExtra, NotMeasured, UsageError
from rankproof.retrieval.embedding.model import ModelOptions
from rankproof.retrieval.embedding.onnx_model import OnnxModel
from tests.retrieval.embedding.tiny import one_hot_model, one_hot_table, write_graph, write_json, write_tokenizer


def model_of(folder: Path, *, max_length: int | None = None, pooling: str | None = None) -> OnnxModel:
    return OnnxModel(folder, ModelOptions(max_length, pooling), None)  # type: ignore[arg-type]


def test_a_text_is_the_mean_of_its_tokens_marks_included_at_length_1(tmp_path: Path) -> None:
    found = model_of(one_hot_model(tmp_path)).encode(["cat dog", "cat cat"])
    # [CLS] cat dog [SEP]: (1, 1, 0, 1) / 4, of length √3 / 4; [CLS] cat cat [SEP]: (2, 0, 0, 1) / 4.
    assert found[0] == pytest.approx([3**-0.5, 3**-0.5, 0, 3**-0.5])
    assert found[1] == pytest.approx([2 / 5**0.5, 0, 0, 1 / 5**0.5])
    assert found.dtype == np.float32


def test_a_text_with_nothing_between_its_marks_is_the_zero_vector(tmp_path: Path) -> None:
    found = model_of(one_hot_model(tmp_path)).encode(["", "~", "cat"])
    assert found.any(axis=1).tolist() == [False, False, True]


def test_pooling_cls_takes_the_first_token(tmp_path: Path) -> None:
    found = model_of(one_hot_model(tmp_path), pooling="cls").encode(["cat dog"])
    assert found.tolist() == [[0, 0, 0, 1]]


@pytest.mark.parametrize(
    "config", [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}]
)
def test_the_models_own_pooling_is_taken_unless_another_is_asked_for(tmp_path: Path, config: dict[str, object]) -> None:
    write_json(one_hot_model(tmp_path) / "1_Pooling" / "config.json", config)
    assert model_of(tmp_path).encode(["cat"]).tolist() == [[0, 0, 0, 1]]
    assert model_of(tmp_path, pooling="mean").encode(["cat"])[0] == pytest.approx([2**-0.5, 0, 0, 2**-0.5])


def test_a_pooling_that_is_not_known_is_refused(tmp_path: Path) -> None:
    write_json(one_hot_model(tmp_path) / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(UsageError, match="pools tokens by 'max'; set `pooling: mean` or `pooling: cls`"):
        model_of(tmp_path).encode(["cat"])


def test_a_layer_after_the_graph_is_not_left_out_silently(tmp_path: Path) -> None:
    kinds = ["Transformer", "Pooling", "Dense", "Normalize"]
    write_json(
        one_hot_model(tmp_path) / "modules.json", [{"type": f"sentence_transformers.models.{kind}"} for kind in kinds]
    )
    with pytest.raises(BadInput, match=r"modules.json: the model ends in a Dense layer"):
        model_of(tmp_path).encode(["cat"])


def test_a_graph_that_pools_by_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    write_graph(
        tmp_path / "onnx" / "model.onnx",
        [
            helper.make_node("Gather", ["table", "input_ids"], ["token_embeddings"]),
            helper.make_node("ReduceSum", ["token_embeddings", "axis"], ["sentence_embedding"], keepdims=0),
        ],
        {"table": one_hot_table(), "axis": np.array([1])},
        ["input_ids"],
        {"token_embeddings": ["texts", "tokens", 4], "sentence_embedding": ["texts", 4]},
    )
    assert model_of(tmp_path).encode(["fish fish"])[0] == pytest.approx([0, 0, 2 / 5**0.5, 1 / 5**0.5])
    assert model_of(tmp_path, pooling="cls").encode(["fish fish"]).tolist() == [[0, 0, 0, 1]]


def test_token_vectors_leave_the_marks_out(tmp_path: Path) -> None:
    found = model_of(one_hot_model(tmp_path)).encode_tokens(["cat bird", ""])
    assert found[0] == pytest.approx(np.array([[1, 0, 0, 0], [2**-0.5, 0, 2**-0.5, 0]]))
    assert found[1].shape == (0, 4)


def test_a_text_depends_neither_on_those_beside_it_nor_on_the_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(one_hot_model(tmp_path, np.random.default_rng(3).normal(size=(7, 4)).astype(np.float32)))
    texts = ["cat", "cat dog fish bird", "bird " * 50, "dog dog"]
    alone = np.concatenate([model.encode([text]) for text in texts])
    assert (model.encode(texts) == alone).all()
    assert (model.encode(texts[::-1])[::-1] == alone).all()
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert (model.encode(texts) == alone).all()


def test_only_the_first_tokens_are_read(tmp_path: Path) -> None:
    model = model_of(one_hot_model(tmp_path), max_length=3)
    assert model.encode(["cat dog fish"]).tolist() == model.encode(["cat"]).tolist()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 512),
        ({"config.json": {"max_position_embeddings": 64}}, 64),
        ({"config.json": {"max_position_embeddings": 64}, "tokenizer_config.json": {"model_max_length": 10**30}}, 64),
        ({"sentence_bert_config.json": {"max_seq_length": 32}, "tokenizer_config.json": {"model_max_length": 48}}, 32),
    ],
)
def test_the_length_is_what_the_model_says(tmp_path: Path, files: dict[str, object], expected: int) -> None:
    one_hot_model(tmp_path)
    for name, value in files.items():
        write_json(tmp_path / name, value)
    assert model_of(tmp_path).folder.max_length == expected


def test_a_length_beyond_the_model_is_refused(tmp_path: Path) -> None:
    write_json(one_hot_model(tmp_path) / "config.json", {"max_position_embeddings": 64})
    with pytest.raises(UsageError, match=r"max_length is 65, and the model in .* reads 64 tokens at most"):
        model_of(tmp_path, max_length=65)


def test_the_digest_is_that_of_the_content_not_of_the_place(tmp_path: Path) -> None:
    first = model_of(one_hot_model(tmp_path / "one"))
    assert model_of(one_hot_model(tmp_path / "two")).digest == first.digest
    assert model_of(one_hot_model(tmp_path / "other", one_hot_table() * 2)).digest != first.digest
    assert model_of(tmp_path / "one", max_length=5).digest != first.digest
    assert model_of(tmp_path / "one", pooling="cls").digest != first.digest
    (tmp_path / "one" / "model.onnx_data").write_bytes(b"weights")
    assert model_of(tmp_path / "one").digest != first.digest
    tokenizer = tmp_path / "two" / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"bird"', '"crow"'))
    assert model_of(tmp_path / "two").digest != first.digest


def test_what_is_missing_or_broken_in_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no model.onnx here"):
        model_of(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(BadInput, match=r"there is no tokenizer.json here"):
        model_of(tmp_path)
    (tmp_path / "tokenizer.json").write_text("[]")
    with pytest.raises(BadInput, match=r"tokenizer.json: this is no tokenizer"):
        model_of(tmp_path).encode(["cat"])
    write_tokenizer(tmp_path)
    with pytest.raises(BadInput, match=r"model.onnx: this graph cannot be loaded: .*INVALID_PROTOBUF"):
        model_of(tmp_path).encode(["cat"])


def test_an_input_that_a_text_cannot_fill_is_named(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    node = helper.make_node("Gather", ["table", "pixels"], ["last_hidden_state"])
    shape = {"last_hidden_state": ["texts", "tokens", 4]}
    write_graph(tmp_path / "model.onnx", [node], {"table": one_hot_table()}, ["pixels"], shape)
    with pytest.raises(UsageError, match="wants the input 'pixels'"):
        model_of(tmp_path).encode(["cat"])


def test_a_vector_that_is_not_finite_is_not_measured(tmp_path: Path) -> None:
    model = model_of(one_hot_model(tmp_path, np.full((7, 4), np.nan, np.float32)))
    with pytest.raises(NotMeasured, match="no finite vector for the text 'cat'"):
        model.encode(["cat"])


def test_a_graph_that_fails_is_not_measured(tmp_path: Path) -> None:
    model = model_of(one_hot_model(tmp_path, one_hot_table()[:3]))
    with pytest.raises(NotMeasured, match=r"the model in .* fails: .*"):
        model.encode(["cat"])


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_without_its_libraries_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    folder = one_hot_model(tmp_path)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=r"An ONNX model needs: pip install \"rankproof\[dense\]\""):
        model_of(folder).encode(["cat"])
