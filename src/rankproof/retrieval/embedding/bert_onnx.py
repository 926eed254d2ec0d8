"""The ONNX graph of a BERT encoder, built from its weights without the framework that trained it.

Devlin et al., NAACL 2019: embeddings of word, position and segment are added; each layer attends to all tokens, then
applies two linear maps with a GELU between them; every sum is normalised. The graph gives one vector per token.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankproof.errors import BadInput, MissingExtra
from rankproof.retrieval.embedding.model_files import settings

VERSION = 1
"""Raised whenever the graph of the same weights changes."""

OUTPUT = "last_hidden_state"

_OPSET, _IR = 17, 9
_FAR_BELOW = -1e9
"""Added to the attention that goes to a masked token; its exponential is 0."""

_NEEDED = ("hidden_size", "num_hidden_layers", "num_attention_heads", "layer_norm_eps")


def bert_graph(folder: Path) -> bytes:
    """The serialised graph of the model in a folder with model.safetensors and config.json."""
    try:
        import onnx
        from safetensors.numpy import load_file
    except ImportError as exc:
        raise MissingExtra("Building the ONNX graph of a model", "dense") from exc
    config = _checked(settings(folder, "config.json"), folder)
    try:
        weights = load_file(folder / "model.safetensors")
    except Exception as exc:  # The library raises nothing narrower.
        raise BadInput.of(str(folder / "model.safetensors"), f"these are no weights: {exc}") from exc
    try:
        built = _Encoder(onnx, config, {name.removeprefix("bert."): array for name, array in weights.items()}).model()
    except KeyError as exc:
        raise BadInput.of(str(folder / "model.safetensors"), f"a BERT has the weights {exc}, and these do not") from exc
    return bytes(built.SerializeToString(deterministic=True))


def _checked(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    source = str(folder / "config.json")
    kind, curve = config.get("model_type"), config.get("hidden_act")
    position = config.get("position_embedding_type", "absolute")
    if (kind, curve, position) != ("bert", "gelu", "absolute"):
        raise BadInput.of(
            source,
            f"a graph can be built of a bert with gelu and absolute positions; this is {kind!r} with {curve!r} and "
            f"{position!r}. Export it to model.onnx with its own tools",
        )
    missing = [name for name in _NEEDED if name not in config]
    if missing:
        raise BadInput.of(source, f"there is no {missing[0]!r} in the settings of this model")
    return config


class _Encoder:
    """Collects nodes and weights; each step returns the name of the value that it makes."""

    def __init__(self, onnx: Any, config: dict[str, Any], weights: dict[str, NDArray[Any]]) -> None:
        self.onnx = onnx
        self.config = config
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def model(self) -> Any:
        """The whole graph."""
        helper, kinds = self.onnx.helper, self.onnx.TensorProto
        hidden = self._embeddings()
        bias = self._mask_bias()
        for number in range(self.config["num_hidden_layers"]):
            hidden = self._layer(f"encoder.layer.{number}", hidden, bias)
        self.nodes.append(helper.make_node("Identity", [hidden], [OUTPUT]))
        inputs = [
            helper.make_tensor_value_info(name, kinds.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        shape = ["texts", "tokens", self.config["hidden_size"]]
        outputs = [helper.make_tensor_value_info(OUTPUT, kinds.FLOAT, shape)]
        graph = helper.make_graph(self.nodes, "bert", inputs, outputs, list(self.constants.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)

    def _embeddings(self) -> str:
        words = self._node("Gather", self._weight("embeddings.word_embeddings.weight"), "input_ids")
        segments = self._node("Gather", self._weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
        n_tokens = self._node("Shape", "input_ids", start=1, end=2)
        zero = self._constant("zero", np.array([0], np.int64))
        positions = self._node("Slice", self._weight("embeddings.position_embeddings.weight"), zero, n_tokens, zero)
        total = self._node("Add", self._node("Add", words, positions), segments)
        return self._normalised(total, "embeddings.LayerNorm")

    def _mask_bias(self) -> str:
        """What is added to attention: nothing for a token that is there, very little for one that is masked."""
        there = self._node("Cast", "attention_mask", to=self.onnx.TensorProto.BOOL)
        bias = self._node("Where", there, self._scalar("none", 0.0), self._scalar("far_below", _FAR_BELOW))
        return self._node("Unsqueeze", bias, self._constant("heads_and_queries", np.array([1, 2], np.int64)))

    def _layer(self, name: str, hidden: str, bias: str) -> str:
        attended = self._linear(
            self._attention(f"{name}.attention.self", hidden, bias), f"{name}.attention.output.dense"
        )
        hidden = self._normalised(self._node("Add", attended, hidden), f"{name}.attention.output.LayerNorm")
        widened = self._gelu(self._linear(hidden, f"{name}.intermediate.dense"))
        narrowed = self._linear(widened, f"{name}.output.dense")
        return self._normalised(self._node("Add", narrowed, hidden), f"{name}.output.LayerNorm")

    def _attention(self, name: str, hidden: str, bias: str) -> str:
        """softmax(q·kᵀ / √d + bias)·v for each head, the heads side by side again."""
        size, n_heads = self.config["hidden_size"], self.config["num_attention_heads"]
        per_head = size // n_heads
        split = self._constant("split", np.array([0, 0, n_heads, per_head], np.int64))
        joined = self._constant("joined", np.array([0, 0, size], np.int64))

        def head(part: str, order: list[int]) -> str:
            return self._node(
                "Transpose", self._node("Reshape", self._linear(hidden, f"{name}.{part}"), split), perm=order
            )

        products = self._node("MatMul", head("query", [0, 2, 1, 3]), head("key", [0, 2, 3, 1]))
        scaled = self._node("Div", products, self._scalar("root", math.sqrt(per_head)))
        shares = self._node("Softmax", self._node("Add", scaled, bias), axis=-1)
        mixed = self._node("MatMul", shares, head("value", [0, 2, 1, 3]))
        return self._node("Reshape", self._node("Transpose", mixed, perm=[0, 2, 1, 3]), joined)

    def _gelu(self, value: str) -> str:
        """x · (1 + erf(x / √2)) / 2"""
        curve = self._node("Erf", self._node("Div", value, self._scalar("root_two", math.sqrt(2))))
        raised = self._node("Add", curve, self._scalar("one", 1.0))
        return self._node("Mul", self._node("Mul", value, raised), self._scalar("half", 0.5))

    def _linear(self, value: str, name: str) -> str:
        matrix = self._constant(f"{name}.weight", self.weights[f"{name}.weight"].T.astype(np.float32))
        return self._node("Add", self._node("MatMul", value, matrix), self._weight(f"{name}.bias"))

    def _normalised(self, value: str, name: str) -> str:
        scale, shift = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("LayerNormalization", value, scale, shift, axis=-1, epsilon=self.config["layer_norm_eps"])

    def _weight(self, name: str) -> str:
        return self._constant(name, self.weights[name].astype(np.float32))

    def _scalar(self, name: str, value: float) -> str:
        return self._constant(name, np.array(value, np.float32))

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        if name not in self.constants:
            self.constants[name] = self.onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [output], **attributes))
        return output
