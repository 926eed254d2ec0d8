"""BM25: keyword search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rankproof.data.gold import Query
from rankproof.retrieval.analysis import Analyser, cut, stemmer_version
from rankproof.retrieval.answers import Answer
from rankproof.retrieval.postings import Postings, Sums
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage
from rankproof.retrieval.top import Ties, answer_of, in_tie_order
from rankproof.retrieval.watch import watched

Variant = Literal["lucene", "robertson"]


class Bm25(RetrieverStage):
    """Keyword search by BM25, over an index that is built in memory.

    A document scores idf(t) · tf / (tf + k1 · (1 − b + b · length / mean length)), summed over the tokens t of the
    query, repeated ones included. With N documents, n of them having t, idf is ln(1 + (N − n + ½) / (n + ½)) as in
    Lucene, or ln((N − n + ½) / (n + ½)), but not below 0, as Robertson has it. A document that scores 0 is not
    returned. Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009; Kamphuis et al., ECIR 2020.
    """

    k1: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.2
    """How much more it counts that a document has a token often; 0: not at all."""
    b: Annotated[float, Field(ge=0, le=1)] = 0.75
    """How much the length of a document is made up for: 0 not at all, 1 in full."""
    variant: Variant = "lucene"
    language: str | None = None
    """The stemmer, such as english or swedish. None by default: one of the wrong language does harm unseen."""
    stop_words: str | list[str] | None = None
    """The language of a list of ours (english, swedish, german), or the words. None by default: frequent words weigh
    little in BM25, and a query that has no others would find nothing."""
    title_weight: Annotated[int, Field(ge=0, le=100)] = 1
    """How many times the title is counted; 0 leaves it out."""
    ties: Ties = "id"

    def behaviour(self, place: Place) -> dict[str, Any]:
        """Its options, and which stemmers are at work."""
        return {**super().behaviour(place), "stemmer": stemmer_version(self.language)}

    def open(self, place: Place) -> Retriever:
        """Build the index."""
        analyser = Analyser(language=self.language, stop_words=self.stop_words)
        documents = in_tie_order(place.corpus, self.ties)
        texts = (
            f"{document.title}\n" * self.title_weight + document.text if document.title else document.text
            for document in watched(documents, "indexing", place.progress)
        )
        postings = Postings.of_texts(texts, cut, analyser.tokens_of)
        sums = Sums(postings, _weights(postings, self.k1, self.b, self.variant))
        return _Index([document.id for document in documents], analyser, sums)


@dataclass(frozen=True)
class _Index:
    doc_ids: list[str]
    analyser: Analyser
    sums: Sums

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        asked = (Counter(self.analyser.tokens(query.text)) for query in queries)
        for places, scores in self.sums.best(asked, k):
            yield answer_of(self.doc_ids, places, scores, k)


def _weights(postings: Postings, k1: float, b: float, variant: Variant) -> NDArray[np.float64]:
    """What each posting adds to the score of its document."""
    n_tokens = int(postings.lengths.sum())
    if not n_tokens:
        return np.zeros(0)
    relative = postings.lengths * (postings.n_documents / n_tokens)
    norm = k1 * (1 - b + b * relative)
    # In place, since getting memory for so large an array takes longer than filling it.
    weights = np.repeat(_idf(postings, variant), postings.frequencies)
    weights *= postings.counts
    divisor = norm[postings.documents]
    divisor += postings.counts
    weights /= divisor
    return weights


def _idf(postings: Postings, variant: Variant) -> NDArray[np.float64]:
    frequencies, of = np.unique(postings.frequencies, return_inverse=True)
    odds = [(postings.n_documents - n + 0.5) / (n + 0.5) for n in frequencies.tolist()]
    # NumPy's logarithm differs in the last digit from one kind of processor to the next.
    values = [math.log(1 + odd) if variant == "lucene" else math.log(max(1.0, odd)) for odd in odds]
    return np.array(values)[of]
