"""Embedding models that are ONNX graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from rankproof.errors import BadInput, UsageError
from rankproof.retrieval.digest import digest_of
from rankproof.retrieval.embedding.model import ModelOptions, Pooling, Rows, unit
from rankproof.retrieval.embedding.model_files import module_kinds, settings
from rankproof.retrieval.embedding.onnx_folder import OnnxFolder

_POOLED = "sentence_embedding"
"""The name that exporters give to the vector of a whole text."""


class OnnxModel:
    """A transformer whose graph and tokenizer lie in a folder."""

    batch_size = 128

    def __init__(self, folder: Path, options: ModelOptions, store: Path | None) -> None:
        self.folder = OnnxFolder(folder, options.max_length, store)
        self.asked_pooling = options.pooling

    @cached_property
    def digest(self) -> str:
        """Of the files, and of how texts are cut and tokens pooled."""
        return digest_of([self.folder.digest, self.asked_pooling, self._own_pooling])

    @cached_property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self.encode(["x"]).shape[1])

    def encode(self, texts: Sequence[str]) -> Rows:
        """One row per text; one that has nothing between its marks has the zero vector."""
        encodings = self.folder.tokenizer.encode_batch(list(texts))
        names = [output.name for output in self.folder.outputs]
        if _POOLED in names and self.asked_pooling is None:
            found = self.folder.run(encodings, _POOLED)
        else:
            pooling = self._pooling()
            tokens = self.folder.run(encodings, self._token_output())
            found = [made[0] if pooling == "cls" else made.mean(axis=0) for made in tokens]
        rows = np.stack([unit(made, text) for made, text in zip(found, texts, strict=True)])
        rows[[all(encoding.special_tokens_mask) for encoding in encodings]] = 0
        return rows

    def encode_tokens(self, texts: Sequence[str]) -> list[Rows]:
        """For each text one row per token, the marks around it left out."""
        encodings = self.folder.tokenizer.encode_batch(list(texts))
        found = self.folder.run(encodings, self._token_output())
        return [
            unit(made[np.array(encoding.special_tokens_mask) == 0], text)
            for made, encoding, text in zip(found, encodings, texts, strict=True)
        ]

    def _token_output(self) -> str:
        for output in self.folder.outputs:
            if output.axes == 3:
                return output.name
        raise UsageError(
            f"{self.folder.folder}: the graph gives no vector for each token; export it with its last_hidden_state."
        )

    def _pooling(self) -> Pooling:
        """As asked for, or as the model's own settings say."""
        folder = self.folder.folder
        strange = [kind for kind in module_kinds(folder) if kind not in ("Transformer", "Pooling", "Normalize")]
        if strange:
            raise BadInput.of(
                str(folder / "modules.json"),
                f"the model ends in a {strange[0]} layer, which its graph of tokens does not have; "
                f"export the whole of it with the output {_POOLED}",
            )
        chosen = self.asked_pooling or self._own_pooling
        if chosen not in ("mean", "cls"):
            raise UsageError(f"{folder}: the model pools tokens by {chosen!r}; set `pooling: mean` or `pooling: cls`.")
        return "cls" if chosen == "cls" else "mean"

    @cached_property
    def _own_pooling(self) -> str:
        found = settings(self.folder.folder / "1_Pooling", "config.json")
        if "pooling_mode" in found:
            return str(found["pooling_mode"])
        modes = [name for name, on in found.items() if name.startswith("pooling_mode_") and on is True]
        words = [name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token") for name in modes]
        return "+".join(words) or "mean"
