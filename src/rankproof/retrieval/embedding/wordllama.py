"""WordLlama: a table of token vectors, 256 numbers each. Light, quick, and good enough to begin with.

The table and the tokenizer are read out of the wordllama package as files. The package itself is not imported: it would
load an HTTP client, which fetches what it misses, and set up logging for the whole program.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.errors import MissingExtra, UsageError
from rankproof.retrieval.digest import digest_of
from rankproof.retrieval.embedding.model import ModelOptions, Rows, unit
from rankproof.retrieval.embedding.model_files import file_digest

_WEIGHTS, _TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"


class WordLlama:
    """The mean of the vectors of a text's tokens, whatever their order."""

    dimensions = 256
    batch_size = 512

    def __init__(self, options: ModelOptions) -> None:
        if options.pooling == "cls":
            raise UsageError("The model wordllama has no first token to take; leave `pooling` out.")
        self.max_length = options.max_length
        spec = find_spec("wordllama")
        if spec is None or spec.origin is None:
            raise MissingExtra("The model wordllama", "dense")
        self._weights, self._tokenizer = (Path(spec.origin).parent / name for name in (_WEIGHTS, _TOKENIZER))
        if not (self._weights.is_file() and self._tokenizer.is_file()):
            raise UsageError("The installed wordllama has no weights in it: pip install 'wordllama>=0.2.2'")

    @cached_property
    def digest(self) -> str:
        """Of table and tokenizer, and of how much of a text is read."""
        return digest_of(["wordllama", file_digest(self._weights), file_digest(self._tokenizer), self.max_length])

    def encode(self, texts: Sequence[str]) -> Rows:
        """One row per text."""
        table, tokenizer = self._loaded
        # The table may be smaller than the vocabulary; the package itself takes the last row then.
        found = [
            np.minimum(encoding.ids, len(table) - 1)
            for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ]
        rows = [unit(table[ids].mean(axis=0), text) for ids, text in zip(found, texts, strict=True) if len(ids)]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        vectors[[i for i, ids in enumerate(found) if len(ids)]] = np.reshape(rows, (-1, self.dimensions))
        return vectors

    @cached_property
    def _loaded(self) -> tuple[Rows, Any]:
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError as exc:
            raise MissingExtra("The model wordllama", "dense") from exc
        tokenizer = Tokenizer.from_file(str(self._tokenizer))
        tokenizer.no_padding()
        if self.max_length is None:
            tokenizer.no_truncation()
        else:
            tokenizer.enable_truncation(self.max_length)
        return load_file(self._weights)["embedding.weight"].astype(np.float32), tokenizer
