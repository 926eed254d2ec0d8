"""Texts as long random vectors, compared by cosine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from rankproof.data.gold import Query
from rankproof.retrieval.analysis import Analyser
from rankproof.retrieval.answers import Answer
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage
from rankproof.retrieval.top import Ties, answer, in_tie_order
from rankproof.retrieval.vsa_vectors import DIMENSIONS, SEED, Vectors, encode
from rankproof.retrieval.watch import watched


class Vsa(RetrieverStage):
    """Documents by the cosine of their vectors to that of the query; a text is the majority of its tokens' vectors.

    Every document that has a word is returned, those without likeness at about 0, above it or below. One without a word
    has similarity 0 to everything, which says nothing, and is not returned; nor is anything for a query without a word.
    """

    dimensions: Annotated[int, Field(ge=64, le=1_000_000, multiple_of=8)] = DIMENSIONS
    seed: int = SEED
    ties: Ties = "id"

    def open(self, place: Place) -> Retriever:
        """Encode all documents."""
        analyser = Analyser(identifiers=False)
        documents = in_tie_order(place.corpus, self.ties)
        texts = (
            analyser.tokens(f"{document.title}\n{document.text}")
            for document in watched(documents, "encoding", place.progress)
        )
        vectors = encode(texts, dimensions=self.dimensions, seed=self.seed)
        return _Encoded([document.id for document in documents], analyser, vectors, self.seed)


@dataclass(frozen=True)
class _Encoded:
    doc_ids: list[str]
    analyser: Analyser
    vectors: Vectors
    seed: int

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        texts = [self.analyser.tokens(query.text) for query in queries]
        asked = encode(texts, dimensions=self.vectors.dimensions, seed=self.seed)
        worded = np.flatnonzero(~self.vectors.empty)
        for row, empty in enumerate(asked.empty.tolist()):
            if empty:
                yield Answer()
            else:
                yield answer(self.doc_ids, self.vectors.similarities(asked, row), k, among=worded)
