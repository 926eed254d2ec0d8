"""Token counts compared by cosine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.data.gold import Query
from rankproof.retrieval.analysis import Analyser, stemmer_version
from rankproof.retrieval.answers import Answer
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage
from rankproof.retrieval.token_counts import TokenCounts
from rankproof.retrieval.top import Ties, answer, in_tie_order
from rankproof.retrieval.watch import watched


class Bow(RetrieverStage):
    """A bag of words: documents by the cosine of their token counts to those of the query.

    A document that shares no token with the query is not returned.
    """

    language: str | None = None
    """The stemmer, such as english or swedish."""
    stop_words: str | list[str] | None = None
    """The language of a list of ours (english, swedish, german), or the words."""
    ties: Ties = "id"

    def behaviour(self, place: Place) -> dict[str, Any]:
        """Its options, and which stemmers are at work."""
        return {**super().behaviour(place), "stemmer": stemmer_version(self.language)}

    def open(self, place: Place) -> Retriever:
        """Count the tokens of all documents."""
        analyser = Analyser(language=self.language, stop_words=self.stop_words, identifiers=False)
        documents = in_tie_order(place.corpus, self.ties)
        counts = TokenCounts.of(
            analyser.tokens(f"{document.title}\n{document.text}")
            for document in watched(documents, "indexing", place.progress)
        )
        return _Bags([document.id for document in documents], analyser, counts)


@dataclass(frozen=True)
class _Bags:
    doc_ids: list[str]
    analyser: Analyser
    counts: TokenCounts

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        for query in queries:
            cosines = self.counts.cosines(Counter(self.analyser.tokens(query.text)))
            yield answer(self.doc_ids, cosines, k, among=np.flatnonzero(cosines))
