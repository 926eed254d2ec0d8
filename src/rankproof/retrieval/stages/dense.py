"""Dense retrieval: documents whose vectors lie nearest to that of the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.errors import NotMeasured
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.embedding.model import EmbeddingModel, ModelOptions, Pooling, open_model
from rankproof.retrieval.embedding.store import text_vectors
from rankproof.retrieval.nearest import Exact, Hnsw
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage, idle

_BATCH = 256
"""How many queries are embedded and compared at once."""


class Dense(RetrieverStage):
    """Embeds documents and queries with a model that runs here, and returns the nearest documents."""

    model: str = "wordllama"
    """`wordllama`, `minilm`, or the path of a folder with model.onnx and tokenizer.json."""
    search: Literal["auto", "exact", "hnsw"] = "auto"
    """Compare with every document, or walk a graph; `auto` walks if there are more than `hnsw_above` documents."""
    hnsw_above: PositiveInt = 200_000
    m: PositiveInt = 16
    """Neighbours of a document in the graph."""
    ef: PositiveInt = 128
    """Candidates kept while walking the graph: more are slower and miss less."""
    query_prefix: str = ""
    """What the model wants before a query, such as `query: `."""
    document_prefix: str = ""
    """What the model wants before a document, such as `passage: `."""
    max_length: PositiveInt | None = None
    """How many tokens of a text are read; what the model says if it is not given."""
    pooling: Pooling | None = None
    """How tokens become a text; what the model says if it is not given."""
    batch_size: PositiveInt | None = idle(None)
    """How many documents are embedded between two saves."""

    def behaviour(self, place: Place) -> dict[str, Any]:
        """The model by its content, and the way of searching that is really taken."""
        walked = {"m": self.m, "ef": self.ef} if self._walks(place) else None
        return {
            "model": self._model(place).digest,
            "hnsw": walked,
            "prefixes": [self.query_prefix, self.document_prefix],
        }

    def open(self, place: Place) -> Retriever:
        """Embed what is not embedded yet, and build the graph if there is one."""
        model = self._model(place)
        # In the order of their ids, so that equal scores come in that order too.
        documents = sorted(place.corpus, key=lambda document: document.id)
        texts = [_prefixed(self.document_prefix, full_text(document)) for document in documents]
        vectors = text_vectors(model, texts, place, batch_size=self.batch_size)
        index: Exact | Hnsw
        if self._walks(place):
            folder = None if place.store is None else place.store / "graphs"
            index = Hnsw(vectors, m=self.m, ef=self.ef, folder=folder)
        else:
            index = Exact(vectors)
        return _DenseRetriever(model, [document.id for document in documents], index, self.query_prefix)

    def _model(self, place: Place) -> EmbeddingModel:
        return open_model(self.model, place, ModelOptions(self.max_length, self.pooling))

    def _walks(self, place: Place) -> bool:
        corpus: Corpus | tuple[()] = () if place.library is None else place.corpus
        return self.search == "hnsw" or (self.search == "auto" and len(corpus) > self.hnsw_above)


def full_text(document: Document) -> str:
    """Title and text, as a reader sees them."""
    return f"{document.title}\n{document.text}" if document.title else document.text


def _prefixed(prefix: str, text: str) -> str:
    """An empty text stays empty: a prefix alone says nothing."""
    return prefix + text if text.strip() else ""


@dataclass(frozen=True)
class _DenseRetriever:
    model: EmbeddingModel
    doc_ids: Sequence[str]
    index: Exact | Hnsw
    query_prefix: str

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        """One answer per query; a query that has no vector is not measured."""
        for start in range(0, len(queries), _BATCH):
            yield from self._batch(queries[start : start + _BATCH], k)

    def _batch(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        vectors = self._vectors(queries)
        known = [vector for vector in vectors if not isinstance(vector, str)]
        found = iter(self.index.search(np.array(known), k) if known else ())
        for vector in vectors:
            if isinstance(vector, str):
                yield Answer.failed(vector)
                continue
            near = next(found)
            scored = zip(near.rows.tolist(), near.scores.tolist(), strict=True)
            yield Answer(tuple(Hit(self.doc_ids[row], score) for row, score in scored))

    def _vectors(self, queries: Sequence[Query]) -> list[NDArray[np.float16] | str]:
        """The vector of each query, or why it has none."""
        texts = [_prefixed(self.query_prefix, query.text) for query in queries]
        filled = [text for text in texts if text]
        try:
            made = dict(zip(filled, self.model.encode(filled), strict=True)) if filled else {}
        except NotMeasured as exc:
            if len(queries) == 1:
                return [str(exc)]
            return [vector for query in queries for vector in self._vectors([query])]
        return [_checked(made[text]) if text else "the query has no text" for text in texts]


def _checked(vector: NDArray[np.float32]) -> NDArray[np.float16] | str:
    return vector.astype(np.float16) if vector.any() else "the query has no word that the model knows"
