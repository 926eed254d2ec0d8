"""Which documents have each token, and how often: the inverted index under keyword search and token counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-9
"""By how much, in proportion, sums of the same weights may differ with the order of summing; far more than they do."""


@dataclass(frozen=True)
class Postings:
    """The documents of each token in order of their number, in rows that lie one after the other."""

    vocabulary: Mapping[str, int]
    """Token → its number."""
    starts: NDArray[np.int64]
    """Where the documents of each token begin, and the end of the last."""
    documents: NDArray[np.int64]
    counts: NDArray[np.int64]
    """How often the document has the token."""
    lengths: NDArray[np.int64]
    """How many tokens each document has."""

    @classmethod
    def of(cls, token_lists: Iterable[Sequence[str]]) -> Postings:
        """The postings of documents, numbered as they come."""
        return cls._of(*_numbered(token_lists))

    @classmethod
    def of_pieces(
        cls, piece_lists: Iterable[Sequence[str]], tokens_of: Callable[[str], Sequence[str]]
    ) -> Postings:
        """The postings of documents that are cut into pieces, each of which stands for tokens.

        They are those of the tokens. A text has millions of pieces and few different ones; so each is looked up in one
        dict only, and its tokens, which are nearly always one, are put in its place for all documents at once.
        """
        piece_numbers, piece, n_pieces = _numbered(piece_lists)
        tokens, token, n_tokens = _numbered(map(tokens_of, piece_numbers))
        n_tokens_here = n_tokens[piece]
        document = np.repeat(np.arange(len(n_pieces)), n_pieces)
        lengths = np.bincount(document, n_tokens_here, minlength=len(n_pieces)).astype(np.int64)
        if (n_tokens == 1).all():
            return cls._of(tokens, token[piece], lengths)
        ends = np.cumsum(n_tokens_here)
        # The tokens of a piece stand one after the other: where they begin, and how far along each one is.
        begin = (np.cumsum(n_tokens) - n_tokens)[piece] - (ends - n_tokens_here)
        places = np.repeat(begin, n_tokens_here) + np.arange(ends[-1] if len(ends) else 0)
        return cls._of(tokens, token[places], lengths)

    @classmethod
    def _of(cls, vocabulary: Mapping[str, int], token: NDArray[np.int64], lengths: NDArray[np.int64]) -> Postings:
        """From the tokens of all documents, one document after the other."""
        n_documents = len(lengths)
        # One number for token and document: sorting it brings equal pairs together, by token and then by document.
        pairs = token * max(n_documents, 1)
        pairs += np.repeat(np.arange(n_documents), lengths)
        pairs.sort()
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        term, places = np.divmod(pairs[first], max(n_documents, 1))
        starts = np.concatenate(([0], np.cumsum(np.bincount(term, minlength=len(vocabulary)))))
        counts = np.diff(first, append=len(pairs))
        return cls(vocabulary, starts, places, counts, lengths)

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return len(self.lengths)

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """How many documents have each token."""
        return np.diff(self.starts)

    def sums(self, asked: Mapping[str, float], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each document, its weights summed over the tokens asked for, each times what it is asked with.

        `weights` stands in the order of `documents`. Tokens are summed in the order in which they are asked.
        """
        total = np.zeros(self.n_documents)
        for token, factor in asked.items():
            part = self.row(token)
            if part is not None:
                # A document stands once in a row, so that adding in place is safe.
                total[self.documents[part]] += weights[part] * factor
        return total

    def row(self, token: str) -> slice | None:
        """Where the documents of a token stand; None if none has it."""
        number = self.vocabulary.get(token)
        return None if number is None else slice(self._edges[number], self._edges[number + 1])

    @cached_property
    def _edges(self) -> list[int]:
        edges: list[int] = self.starts.tolist()
        return edges


def _numbered(word_lists: Iterable[Sequence[str]]) -> tuple[dict[str, int], NDArray[np.int64], NDArray[np.int64]]:
    """Words numbered as they first come; the number of every word of every list; and how many words each list has."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    lengths: list[int] = []

    def counted() -> Iterator[Sequence[str]]:
        for words in word_lists:
            lengths.append(len(words))
            yield words

    word = np.fromiter(map(numbers.__getitem__, chain.from_iterable(counted())), np.int64)
    return dict(numbers), word, np.array(lengths, np.int64)


class _Row(NamedTuple):
    """The documents of a token that is asked for, and what it adds to them."""

    documents: NDArray[np.int64]
    weights: NDArray[np.float64]
    most: float
    """The greatest of the weights."""


@dataclass(frozen=True)
class Sums:
    """Finds the documents of the greatest sums, those of few without adding up all.

    `weights` stands in the order of the postings, none below 0.
    """

    postings: Postings
    weights: NDArray[np.float64]

    def best(
        self, asked: Mapping[str, float], k: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Documents that hold the k of the greatest sums, ties at the k-th place included, by number; and the sums.

        The sums are those of `Postings.sums`, to the last digit. Documents whose sum is 0 are left out.
        """
        rows = [row for row in map(self._row, asked.items()) if row is not None]
        documents = self._candidates(rows, k)
        sums = np.zeros(len(documents))
        for row in rows:
            place = np.searchsorted(row.documents, documents)
            place[place == len(row.documents)] = 0
            has = row.documents[place] == documents
            sums[has] += row.weights[place[has]]
        return documents[sums > 0], sums[sums > 0]

    def _candidates(self, rows: Sequence[_Row], k: int) -> NDArray[np.intp]:
        """Documents that may have one of the k greatest sums (MaxScore; Turtle & Flood, IPM 31, 1995).

        Rows are added up from the greatest weights to the least, until all that is left could not lift a document that
        none of them has above the k-th best so far. Frequent words weigh least, so the longest rows are seldom read.
        """
        rows = sorted(rows, key=lambda row: -row.most)
        left = list(accumulate((row.most for row in reversed(rows)), initial=0.0))[::-1]
        total = np.zeros(self.postings.n_documents)
        least, met, still = 0.0, [], 0.0
        for row, still in zip(rows, left[:-1]):
            if least > still * (1 + _ROUNDING):
                break
            total[row.documents] += row.weights
            met.append(row.documents)
            if len(row.documents) >= k:
                least = max(least, np.partition(total[row.documents], -k)[-k])
        else:
            still = 0.0
        documents = np.concatenate(met) if met else np.zeros(0, np.int64)
        return np.unique(documents[total[documents] >= (least - still) * (1 - _ROUNDING)])

    def _row(self, asked: tuple[str, float]) -> _Row | None:
        token, factor = asked
        part = self.postings.row(token)
        if part is None:
            return None
        weights = self.weights[part]
        most = self._most[self.postings.vocabulary[token]]
        return _Row(self.postings.documents[part], weights if factor == 1 else weights * factor, most * factor)

    @cached_property
    def _most(self) -> list[float]:
        """The greatest weight of each token."""
        most: list[float] = np.maximum.reduceat(self.weights, self.postings.starts[:-1]).tolist()
        return most
