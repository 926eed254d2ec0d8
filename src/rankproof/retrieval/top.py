"""The best documents out of many, and the order of those that score alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankproof.data.corpus import Corpus, Document
from rankproof.retrieval.answers import Answer, Hit

Ties = Literal["id", "corpus"]
"""Which of two documents of the same score comes first: that of the lower id, or that which the corpus has first."""


def in_tie_order(corpus: Corpus, ties: Ties) -> list[Document]:
    """The documents, those that win a tie first."""
    return sorted(corpus, key=lambda document: document.id) if ties == "id" else list(corpus)


def best(scores: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """The places of the k greatest scores, greatest first; of equal ones, also at the cut, the first place wins."""
    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    among = np.flatnonzero(scores >= least)
    return among[np.argsort(-scores[among], kind="stable")[:k]]


def answer(doc_ids: Sequence[str], scores: NDArray[np.float64], k: int, *, among: NDArray[np.intp]) -> Answer:
    """The k best of the documents at these places, as an answer; `doc_ids` stand in the order that settles ties."""
    return answer_of(doc_ids, among, scores[among], k)


def answer_of(doc_ids: Sequence[str], places: NDArray[np.intp], scores: NDArray[np.float64], k: int) -> Answer:
    """The k best of the documents at these places, which have these scores, as an answer; places go up."""
    first = best(scores, k)
    names = map(doc_ids.__getitem__, places[first].tolist())
    return Answer(tuple(map(Hit, names, scores[first].tolist())))
