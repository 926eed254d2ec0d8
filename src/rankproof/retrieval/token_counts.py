"""Texts as counts of their tokens, and the cosine of one to many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankproof.retrieval.postings import Postings


@dataclass(frozen=True)
class TokenCounts:
    """How often each of many texts has each token."""

    postings: Postings
    counts: NDArray[np.float64]
    squares: NDArray[np.float64]
    """The sum of the squared counts of each text."""

    @classmethod
    def of(cls, token_lists: Iterable[Sequence[str]]) -> TokenCounts:
        """The counts of texts that were cut into tokens."""
        postings = Postings.of(token_lists)
        counts = postings.counts.astype(np.float64)
        squares = np.zeros(postings.n_documents)
        np.add.at(squares, postings.documents, counts**2)
        return cls(postings, counts, squares)

    def cosines(self, other: Mapping[str, int]) -> NDArray[np.float64]:
        """The cosine of each text to these counts; 0 where either has no token.

        Everything under the root is a whole number, so that equal cosines are equal to the last digit.
        """
        product = self.postings.sums(other, self.counts)
        squares = self.squares * sum(count * count for count in other.values())
        shares = np.divide(product * product, squares, out=np.zeros_like(product), where=squares > 0)
        cosines: NDArray[np.float64] = np.sqrt(shares)
        return cosines
