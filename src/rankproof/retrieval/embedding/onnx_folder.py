"""A folder with an ONNX graph and its tokenizer, run one text at a time.

Texts are not put into batches. Alone, a text needs no padding, and what becomes of it depends neither on its neighbours
nor on the number of threads; several threads each take a text, which is as fast as batches are on processors.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankproof.errors import BadInput, MissingExtra, NotMeasured, UsageError
from rankproof.retrieval.digest import digest_of
from rankproof.retrieval.embedding.bert_onnx import VERSION, bert_graph
from rankproof.retrieval.embedding.model_files import file_digest, settings
from rankproof.retrieval.embedding.sealed import read_sealed, write_sealed

_GRAPHS = ("model.onnx", "onnx/model.onnx")
_WEIGHTS = "model.safetensors"
_MAX_LENGTH = 512
"""How many tokens are read if the model does not say."""

_FEEDS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""Input of a graph → the part of the tokenizer's encoding that goes into it."""

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class Output(NamedTuple):
    """What a graph gives: its name, and how many axes it has, the batch included."""

    name: str
    axes: int


class OnnxFolder:
    """A model as a folder: model.onnx, or the weights of a BERT from which the graph is built once; tokenizer.json."""

    def __init__(self, folder: Path, max_length: int | None, store: Path | None) -> None:
        self.folder = folder
        self.store = store
        self.graph = next((folder / name for name in _GRAPHS if (folder / name).is_file()), None)
        if self.graph is None and not (folder / _WEIGHTS).is_file():
            raise BadInput.of(str(folder), "there is no model.onnx here; export the model to ONNX first")
        if not (folder / "tokenizer.json").is_file():
            raise BadInput.of(str(folder), "there is no tokenizer.json here; save the model's fast tokenizer beside it")
        self.max_length = self._checked_length(max_length)

    @cached_property
    def digest(self) -> str:
        """Of graph and tokenizer, and of how much of a text is read."""
        tokenizer = file_digest(self.folder / "tokenizer.json")
        return digest_of([self._graph_digest, tokenizer, self.max_length])

    @cached_property
    def tokenizer(self) -> Any:
        """Cuts texts into tokens, at most `max_length` of them."""
        try:
            from tokenizers import Tokenizer
        except ImportError as exc:
            raise MissingExtra("An ONNX model", "dense") from exc
        path = self.folder / "tokenizer.json"
        try:
            found = Tokenizer.from_file(str(path))
        except Exception as exc:  # The library raises nothing narrower.
            raise BadInput.of(str(path), f"this is no tokenizer: {exc}") from exc
        found.no_padding()
        found.enable_truncation(self.max_length)
        return found

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """What the graph gives."""
        return tuple(Output(output.name, len(output.shape)) for output in self._session.get_outputs())

    def run(self, encodings: Sequence[Any], output: str) -> list[NDArray[np.float32]]:
        """One output of the graph for each encoded text."""
        inputs = {one.name: _INTEGERS.get(one.type) for one in self._session.get_inputs()}
        strange = [name for name, kind in inputs.items() if name not in _FEEDS or kind is None]
        if strange:
            raise UsageError(
                f"{self.folder}: the graph wants the input {strange[0]!r}; a text can fill {', '.join(_FEEDS)} only."
            )

        def alone(encoding: Any) -> NDArray[np.float32]:
            feed = {name: np.array([getattr(encoding, _FEEDS[name])], kind) for name, kind in inputs.items()}
            try:
                (found,) = self._session.run([output], feed)
            except Exception as exc:  # The library raises nothing narrower.
                raise NotMeasured(f"the model in {self.folder} fails: {str(exc).splitlines()[0]}") from exc
            return np.asarray(found[0], np.float32)

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return list(threads.map(alone, encodings))

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError as exc:
            raise MissingExtra("An ONNX model", "dense") from exc
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        graph = str(self.graph) if self.graph is not None else self._built()
        try:
            return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as exc:  # The library raises nothing narrower.
            reason = str(exc).splitlines()[0]
            raise BadInput.of(str(self.graph or self.folder), f"this graph cannot be loaded: {reason}") from exc

    def _built(self) -> bytes:
        """The graph of the weights: from the store, or built now and kept there."""
        path = None if self.store is None else self.store / "models" / f"{self._graph_digest[:32]}.onnx.sealed"
        kept = None if path is None else read_sealed(path)
        if kept is not None:
            return bytes(kept)
        graph = bert_graph(self.folder)
        if path is not None:
            write_sealed(path, graph)
        return graph

    @cached_property
    def _graph_digest(self) -> str:
        if self.graph is None:
            weights, config = self.folder / _WEIGHTS, self.folder / "config.json"
            return digest_of([VERSION, file_digest(weights), file_digest(config)])
        # Weights that are too large for a graph lie in files beside it.
        beside = [path for path in self.graph.parent.iterdir() if path.name.endswith((".onnx_data", ".data"))]
        return digest_of([file_digest(path) for path in (self.graph, *sorted(beside))])

    def _checked_length(self, asked: int | None) -> int:
        positions = settings(self.folder, "config.json").get("max_position_embeddings", _MAX_LENGTH)
        known = settings(self.folder, "sentence_bert_config.json").get("max_seq_length")
        known = known or settings(self.folder, "tokenizer_config.json").get("model_max_length")
        if not isinstance(positions, int) or not isinstance(known, int | None):
            raise BadInput.of(str(self.folder), "the settings name a length that is no whole number")
        if asked is not None and asked > positions:
            raise UsageError(f"max_length is {asked}, and the model in {self.folder} reads {positions} tokens at most.")
        return asked or min(known or positions, positions)
