"""Maximal marginal relevance: what is relevant and not yet said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from rankproof.data.gold import Query
from rankproof.retrieval.analysis import Analyser, stemmer_version
from rankproof.retrieval.answers import Hit, ordered
from rankproof.retrieval.stage import Place, Reranker, RerankerStage
from rankproof.retrieval.token_counts import TokenCounts


class Mmr(RerankerStage):
    """Takes one document after the other: the one of the greatest λ · relevance − (1 − λ) · similarity.

    Relevance is the score that it came with, from 0 for the lowest to 1 for the highest of those that are reordered,
    and 1 for all if they score alike. Similarity is the cosine of token counts to the nearest of the documents taken
    before it, 0 for the first. Equal values go by id. That value is the new score; it never rises from one document to
    the next, because similarity to the nearest can only grow. Carbonell & Goldstein, SIGIR 1998.
    """

    model_config = ConfigDict(populate_by_name=True)

    lambda_: Annotated[float, Field(alias="lambda", ge=0, le=1)] = 0.5
    """The weight of relevance: 1 keeps the order by score, 0 looks for diversity alone."""
    k: Annotated[int, Field(ge=1)] | None = None
    """How many of the best are reordered; all unless told. The others follow in their order, with scores below −1."""
    language: str | None = None
    """The stemmer, such as english or swedish."""
    stop_words: str | list[str] | None = None
    """The language of a list of ours (english, swedish, german), or the words."""

    def behaviour(self, place: Place) -> dict[str, Any]:
        """Its options, and which stemmers are at work."""
        return {**super().behaviour(place), "stemmer": stemmer_version(self.language)}

    def open(self, place: Place) -> Reranker:
        """Make it ready to read documents."""
        analyser = Analyser(language=self.language, stop_words=self.stop_words, identifiers=False)
        return _Mmr(place, analyser, self.lambda_, self.k)


class _Mmr:
    def __init__(self, place: Place, analyser: Analyser, weight: float, k: int | None) -> None:
        self._place = place
        self._analyser = analyser
        self._weight = weight
        self._k = k
        self._tokens: dict[str, list[str]] = {}

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
        given = ordered(hits)
        reordered, rest = given[: self._k], given[len(given[: self._k]) :]
        # No value is below −1, so that the rest stays behind.
        return [*self._diversified(reordered), *(Hit(hit.doc_id, -1.0 - rank) for rank, hit in enumerate(rest, 1))]

    def _diversified(self, hits: Sequence[Hit]) -> list[Hit]:
        by_id = sorted(hits, key=lambda hit: hit.doc_id)
        token_lists = [self._tokens_of(hit.doc_id) for hit in by_id]
        counts = TokenCounts.of(token_lists)
        relevance = self._weight * _from_0_to_1(np.array([hit.score for hit in by_id]))
        nearest = np.zeros(len(by_id))
        left = np.ones(len(by_id), np.bool_)
        taken: list[Hit] = []
        for _ in by_id:
            values = np.where(left, relevance - (1 - self._weight) * nearest, -np.inf)
            place = int(values.argmax())
            taken.append(Hit(by_id[place].doc_id, float(values[place])))
            left[place] = False
            nearest = np.maximum(nearest, counts.cosines(Counter(token_lists[place])))
        return taken

    def _tokens_of(self, doc_id: str) -> list[str]:
        if doc_id not in self._tokens:
            self._tokens[doc_id] = self._analyser.tokens(self._place.text_of(doc_id))
        return self._tokens[doc_id]


def _from_0_to_1(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    lowest, highest = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    if lowest >= highest:
        return np.ones_like(scores)
    # Halved, because the distance of two finite numbers may not be one.
    scaled: NDArray[np.float64] = (scores / 2 - lowest / 2) / (highest / 2 - lowest / 2)
    return scaled
