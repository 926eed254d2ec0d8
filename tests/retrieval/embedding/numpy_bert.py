"""A BERT encoder in NumPy and float64, formula by formula: what the exported graph is held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Array = NDArray[np.float64]


def forward(weights: Mapping[str, NDArray[Any]], config: Mapping[str, Any], ids: Sequence[int]) -> Array:
    """The vector of each token of one text."""

    def weight(name: str, rows: Sequence[int] | slice = slice(None)) -> Array:
        return weights[name][rows].astype(np.float64)

    def linear(x: Array, name: str) -> Array:
        return x @ weight(f"{name}.weight").T + weight(f"{name}.bias")

    def normalised(x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(x.var(axis=-1, keepdims=True) + config["layer_norm_eps"])
        return np.asarray(scaled * weight(f"{name}.weight") + weight(f"{name}.bias"))

    def softmax(x: Array) -> Array:
        raised = np.exp(x - x.max(axis=-1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=-1, keepdims=True))

    words = weight("embeddings.word_embeddings.weight", list(ids))
    places = weight("embeddings.position_embeddings.weight", slice(len(ids)))
    segments = weight("embeddings.token_type_embeddings.weight", [0])
    x = normalised(words + places + segments, "embeddings.LayerNorm")
    size = config["hidden_size"] // config["num_attention_heads"]
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        query, key, value = (linear(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for head in range(config["num_attention_heads"]):
            part = slice(head * size, (head + 1) * size)
            heads.append(softmax(query[:, part] @ key[:, part].T / np.sqrt(size)) @ value[:, part])
        mixed = linear(np.concatenate(heads, axis=1), f"{layer}.attention.output.dense")
        x = normalised(mixed + x, f"{layer}.attention.output.LayerNorm")
        wide = linear(x, f"{layer}.intermediate.dense")
        wide = wide * (1 + erf(wide / np.sqrt(2))) / 2
        x = normalised(linear(wide, f"{layer}.output.dense") + x, f"{layer}.output.LayerNorm")
    return x
