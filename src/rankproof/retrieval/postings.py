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

from rankproof.retrieval.pieces import Cut, Pieces, numbered_pieces

_ROUNDING = 1e-9
"""By how much, in proportion, sums of the same weights may differ with the order of summing; far more than they do."""
_SHORT = 16
"""Looking a document up in a row takes as long as reading so many documents of it."""


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
        vocabulary, pairs, lengths = _numbered(token_lists)
        pairs <<= _bits(len(lengths))
        pairs |= np.repeat(np.arange(len(lengths)), lengths)
        return cls._of(vocabulary, pairs, len(lengths))

    @classmethod
    def of_texts(cls, texts: Iterable[str], cut: Cut, tokens_of: Callable[[str], Sequence[str]]) -> Postings:
        """The postings of texts that are cut into pieces by spaces, each of which stands for tokens.

        As `of` gives them for the tokens of the texts, but for how tokens are numbered. Texts have many pieces and few
        different ones: `tokens_of` is asked once for each of these.
        """
        names, blocks = numbered_pieces(texts, cut)
        vocabulary, token, n_tokens = _numbered(map(tokens_of, names))
        n_documents = sum(len(block.n_pieces) for block in blocks)
        return cls._of(vocabulary, _pairs(blocks, token, n_tokens, n_documents, len(vocabulary)), n_documents)

    @classmethod
    def _of(cls, vocabulary: Mapping[str, int], pairs: NDArray[np.int64], n_documents: int) -> Postings:
        """From a pair for every token of every document, in any order: both in one number, the token first.

        Pairs of a token that is not in the vocabulary are left out. The array is used up.
        """
        # Large arrays are made as few times as can be: getting memory for one takes longer than filling it.
        pairs.sort()
        bits = _bits(n_documents)
        starts = np.searchsorted(pairs, np.arange(len(vocabulary) + 1) << bits)
        pairs = pairs[: starts[-1]]
        is_first = np.ones(len(pairs), np.bool_)
        np.not_equal(pairs[1:], pairs[:-1], out=is_first[1:])
        documents = pairs[is_first]
        documents &= (1 << bits) - 1
        counts = np.flatnonzero(is_first)
        starts = np.searchsorted(counts, starts)
        np.subtract(counts[1:], counts[:-1], out=counts[:-1])
        counts[-1:] = len(pairs) - counts[-1:]
        return cls(vocabulary, starts, documents, counts, np.bincount(documents, counts, n_documents).astype(np.int64))

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


def _pairs(
    blocks: Sequence[Pieces],
    token: NDArray[np.int64],
    n_tokens: NDArray[np.int64],
    n_documents: int,
    no_token: int,
) -> NDArray[np.int64]:
    """Token and document in one number, for all pieces of texts; a piece without a token has the one named.

    `token` are the tokens of each of the different pieces, one after the other.
    """
    bits = _bits(n_documents)
    begin = np.cumsum(n_tokens) - n_tokens
    token = np.append(token, no_token) << bits
    first = np.where(n_tokens > 0, token[begin], no_token << bits)
    n_more = np.maximum(n_tokens - 1, 0)
    # Nearly all pieces are one token. Further ones come after them all: the pairs are sorted anyway.
    n_pairs = sum(len(block.numbers) for block in blocks)
    n_further = sum(int(n_more[block.numbers].sum()) for block in blocks) if n_more.any() else 0
    pairs = np.empty(n_pairs + n_further, np.int64)
    document, at, further = 0, 0, n_pairs
    for numbers, n_pieces in blocks:
        documents = np.repeat(np.arange(document, document + len(n_pieces)), n_pieces)
        np.bitwise_or(first[numbers], documents, out=pairs[at : at + len(numbers)])
        document, at = document + len(n_pieces), at + len(numbers)
        if n_further:
            has_more = np.flatnonzero(n_more[numbers])
            piece = numbers[has_more]
            each = n_more[piece]
            offsets = np.arange(1, each.sum() + 1) - np.repeat(np.cumsum(each) - each, each)
            more = token[np.repeat(begin[piece], each) + offsets] | np.repeat(documents[has_more], each)
            pairs[further : further + len(more)] = more
            further += len(more)
    return pairs


def _bits(n_documents: int) -> int:
    """Binary digits that the number of a document takes."""
    return n_documents.bit_length()


class _Row(NamedTuple):
    """The documents of a token that is asked for, and what it adds to them."""

    documents: NDArray[np.int64]
    weights: NDArray[np.float64]
    most: float
    """The greatest of the weights."""

    def weights_of(self, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """What it adds to each of these documents: 0 to those that it does not have."""
        place = np.searchsorted(self.documents, documents)
        place[place == len(self.documents)] = 0
        return np.where(self.documents[place] == documents, self.weights[place], 0.0)


@dataclass(frozen=True)
class Sums:
    """Finds the documents of the greatest sums, mostly without adding up those of the others.

    `weights` stands in the order of the postings; none is below 0.
    """

    postings: Postings
    weights: NDArray[np.float64]

    def best(
        self, asked: Iterable[Mapping[str, float]], k: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """For each that is asked: documents with the k greatest sums among them, by number, and their sums.

        Those that tie with the k-th are among them, and those whose sum is 0 are not. The sums are those of
        `Postings.sums` to the last digit.
        """
        total = np.zeros(self.postings.n_documents)
        for tokens in asked:
            rows = [row for row in map(self._row, tokens, tokens.values()) if row is not None]
            documents = np.sort(_candidates(rows, k, total))
            sums = np.zeros(len(documents))
            for row in rows:
                sums += row.weights_of(documents)
            yield documents, sums

    def _row(self, token: str, factor: float) -> _Row | None:
        part = self.postings.row(token)
        if part is None:
            return None
        most = self._most[self.postings.vocabulary[token]] * factor
        if not most:
            return None
        weights = self.weights[part]
        return _Row(self.postings.documents[part], weights if factor == 1 else weights * factor, most)

    @cached_property
    def _most(self) -> list[float]:
        """The greatest weight of each token."""
        most: list[float] = np.maximum.reduceat(self.weights, self.postings.starts[:-1]).tolist()
        return most


def _candidates(rows: Iterable[_Row], k: int, total: NDArray[np.float64]) -> NDArray[np.int64]:
    """Documents that may have one of the k greatest sums (MaxScore; Turtle & Flood, IPM 31, 1995).

    Rows are added up from the greatest weights to the least. As soon as all that is left is less than the k-th sum so
    far, no other document can come up, and the rest is added to those met only: as frequent tokens weigh least, these
    are the long rows. `total` is zeros, one for each document, and is left so.
    """
    rows = sorted(rows, key=lambda row: -row.most)
    left = [*accumulate((row.most for row in reversed(rows)), initial=0.0)][::-1]
    met, least = np.zeros(0, np.int64), 0.0
    added = []
    for row, ahead, behind in zip(rows, left, left[1:], strict=False):
        if least <= ahead * (1 + _ROUNDING):
            before = total[row.documents]
            met = np.concatenate((met, row.documents[(before == 0) & (row.weights > 0)]))
            total[row.documents] = before + row.weights
            added.append(row.documents)
        elif len(row.documents) < _SHORT * len(met):
            total[row.documents] += row.weights
            added.append(row.documents)
        else:
            total[met] += row.weights_of(met)
        sums = total[met]
        if len(met) >= k:
            least = np.partition(sums[sums >= least], -k)[-k] * (1 - _ROUNDING)
            met = met[sums >= least - behind * (1 + _ROUNDING)]
    for documents in added:
        total[documents] = 0
    return met
