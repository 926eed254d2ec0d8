"""Cross-encoders: a model reads query and document together and says how well they go with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import PositiveInt

from rankproof.data.gold import Query
from rankproof.errors import NotMeasured, UsageError
from rankproof.retrieval.answers import Hit, ordered
from rankproof.retrieval.embedding.model import model_folder
from rankproof.retrieval.embedding.onnx_folder import OnnxFolder
from rankproof.retrieval.stage import Place, Reranker, RerankerStage


class CrossEncoder(RerankerStage):
    """Reorders documents by the logit of a cross-encoder that runs here."""

    model: str
    """The path of a folder with model.onnx and tokenizer.json."""
    max_length: PositiveInt | None = None
    """How many tokens of query and document together are read; what the model says if it is not given."""

    def behaviour(self, place: Place) -> dict[str, Any]:
        """The model by its content."""
        return {"model": self._folder(place).digest}

    def open(self, place: Place) -> Reranker:
        """Load the model."""
        folder = self._folder(place)
        logits = [output for output in folder.outputs if output.axes == 2]
        if len(logits) != 1:
            raise UsageError(
                f"The model in {self.model!r} is no cross-encoder: it gives {_listed(folder)}, not one logit. "
                "Export it with its classification head."
            )
        return _CrossEncoderReranker(folder, logits[0].name, place)

    def _folder(self, place: Place) -> OnnxFolder:
        return OnnxFolder(model_folder(self.model, place), self.max_length, None)


def _listed(folder: OnnxFolder) -> str:
    return ", ".join(f"{output.name} with {output.axes} axes" for output in folder.outputs) or "nothing"


@dataclass(frozen=True)
class _CrossEncoderReranker:
    folder: OnnxFolder
    output: str
    place: Place

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The documents in the order of their logits."""
        if not hits:
            return ()
        if not query.text.strip():
            raise NotMeasured("the query has no text")
        pairs = [(query.text, self.place.text_of(hit.doc_id)) for hit in hits]
        found = self.folder.run(self.folder.tokenizer.encode_batch(pairs), self.output)
        return ordered(Hit(hit.doc_id, _logit(made.tolist(), hit)) for hit, made in zip(hits, found, strict=True))


def _logit(made: list[float], hit: Hit) -> float:
    if len(made) != 1:
        raise NotMeasured(f"the model gives {len(made)} logits for a pair, and a cross-encoder for ranking gives one")
    if not math.isfinite(made[0]):
        raise NotMeasured(f"the model gives {made[0]} for document {hit.doc_id!r}")
    return made[0]
