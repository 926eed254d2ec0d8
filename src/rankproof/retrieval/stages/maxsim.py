"""Late interaction: each token of the query looks for the token of the document that is most like it.

Khattab & Zaharia, SIGIR 2020: the score of a document is the sum, over the tokens of the query, of the greatest dot
product with a token of the document.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from rankproof.data.gold import Query
from rankproof.errors import NotMeasured
from rankproof.retrieval.answers import Hit, ordered
from rankproof.retrieval.embedding.model import ModelOptions, TokenModel, open_token_model
from rankproof.retrieval.embedding.store import VectorStore, token_store
from rankproof.retrieval.stage import Place, Reranker, RerankerStage, idle

_DOCUMENTS = 32
"""How many documents are compared at once."""


class MaxSim(RerankerStage):
    """Reorders documents by late interaction over the token vectors of a model that runs here."""

    model: str = "minilm"
    """`minilm`, or the path of a folder with model.onnx and tokenizer.json."""
    query_prefix: str = ""
    """What the model wants before a query."""
    document_prefix: str = ""
    """What the model wants before a document."""
    max_length: PositiveInt | None = None
    """How many tokens of a text are read; what the model says if it is not given."""
    batch_size: PositiveInt | None = idle(None)
    """How many documents are embedded between two saves."""

    def behaviour(self, place: Place) -> dict[str, Any]:
        """The model by its content."""
        return {"model": self._model(place).digest, "prefixes": [self.query_prefix, self.document_prefix]}

    def open(self, place: Place) -> Reranker:
        """Load the model; documents are embedded when they are first found."""
        model = self._model(place)
        # A graph without vectors for tokens is refused here, not at the first query.
        model.encode_tokens(["x"])
        return _MaxSimReranker(self, model, place, token_store(model, place))

    def _model(self, place: Place) -> TokenModel:
        return open_token_model(self.model, place, ModelOptions(self.max_length))


@dataclass(frozen=True)
class _MaxSimReranker:
    options: MaxSim
    model: TokenModel
    place: Place
    store: VectorStore

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The documents in the order of their sums of greatest products."""
        if not hits:
            return ()
        if not query.text.strip():
            raise NotMeasured("the query has no text")
        texts = [self.options.document_prefix + self.place.text_of(hit.doc_id) for hit in hits]
        documents = self.store.fetch(
            texts,
            self.model.encode_tokens,
            batch_size=self.options.batch_size or self.model.batch_size,
            progress=self.place.progress,
        )
        (tokens,) = self.model.encode_tokens([self.options.query_prefix + query.text])
        if not len(tokens):
            raise NotMeasured("the query has no word that the model knows")
        scores = max_sims(tokens.astype(np.float16), documents)
        return ordered(Hit(hit.doc_id, score) for hit, score in zip(hits, scores, strict=True))


def max_sims(query: NDArray[np.float16], documents: Sequence[NDArray[np.float16]]) -> list[float]:
    """For each document the sum over query tokens of the greatest dot product with one of its tokens; 0 if it has none.

    Products of float16 vectors of length 1 are exact in float64, so equal documents have equal scores.
    """
    scores = [0.0] * len(documents)
    filled = [i for i, document in enumerate(documents) if len(document)]
    asked = query.astype(np.float64).T
    for start in range(0, len(filled), _DOCUMENTS):
        some = filled[start : start + _DOCUMENTS]
        products = np.concatenate([documents[i] for i in some]).astype(np.float64) @ asked
        begins = np.cumsum([0, *(len(documents[i]) for i in some[:-1])])
        for i, greatest in zip(some, np.maximum.reduceat(products, begins), strict=True):
            scores[i] = math.fsum(greatest)
    return scores
