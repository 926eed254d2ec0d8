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

_BLOCK = 1 << 22
"""Bytes that are looked at together: of more, fewer pieces are looked up in a dict, and more lie in memory."""
_SPACE = ord(" ")
_WORD = np.dtype("<u8")
_WORDS = 2 * _WORD.itemsize
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], _WORD)
"""Of eight bytes, the first so many."""
_NO_TEXT = np.uint64((1 << 64) - 1)
"""Eight bytes that are part of no UTF-8 text."""
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)

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
        vocabulary, token, lengths = _numbered(token_lists)
        return cls._of(vocabulary, token, np.repeat(np.arange(len(lengths)), lengths), len(lengths))

    @classmethod
    def of_texts(cls, cut_texts: Iterable[bytes], tokens_of: Callable[[str], Sequence[str]]) -> Postings:
        """The postings of texts that are cut into pieces by spaces, each of which stands for tokens.

        As `of` gives them for the tokens of the texts, but for how tokens are numbered. Texts have many pieces and few
        different ones: `tokens_of` is asked once for each of these.
        """
        names, piece, n_pieces = _numbered_pieces(cut_texts)
        vocabulary, token, n_tokens = _numbered(map(tokens_of, names))
        document = np.repeat(np.arange(len(n_pieces)), n_pieces)
        if (n_tokens == 1).all():
            return cls._of(vocabulary, token[piece], document, len(n_pieces))
        # Nearly all pieces are one token. The tokens of the others come after them all: postings are sorted anyway.
        is_plain = (n_tokens == 1)[piece]
        others, of_others = piece[~is_plain], document[~is_plain]
        piece, document = piece[is_plain], document[is_plain]
        begin, each = np.cumsum(n_tokens) - n_tokens, n_tokens[others]
        offsets = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
        token = np.concatenate((token[begin[piece]], token[np.repeat(begin[others], each) + offsets]))
        document = np.concatenate((document, np.repeat(of_others, each)))
        return cls._of(vocabulary, token, document, len(n_pieces))

    @classmethod
    def _of(
        cls, vocabulary: Mapping[str, int], token: NDArray[np.int64], document: NDArray[np.int64], n_documents: int
    ) -> Postings:
        """From every token of every document, in any order."""
        lengths = np.bincount(document, minlength=n_documents)
        # One number for token and document: sorting it brings equal pairs together, by token and then by document.
        bits = n_documents.bit_length()
        pairs = token << bits
        pairs |= document
        pairs.sort()
        is_first = np.ones(len(pairs), np.bool_)
        np.not_equal(pairs[1:], pairs[:-1], out=is_first[1:])
        first = np.flatnonzero(is_first)
        pairs = pairs[first]
        starts = np.searchsorted(pairs, np.arange(len(vocabulary) + 1) << bits)
        counts = np.diff(first, append=len(is_first))
        pairs &= (1 << bits) - 1
        return cls(vocabulary, starts, pairs, counts, lengths)

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


# Pieces are numbered a block of texts at a time and without a string for each: they are grouped by their bytes first,
# so that only one of each group is looked up in the dict of all.


def _numbered_pieces(texts: Iterable[bytes]) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The different pieces of UTF-8 texts; the number of every piece of every text; how many pieces each text has.

    Pieces are what stands between spaces; there is no zero byte in them.
    """
    numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
    pieces, lengths = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for block in _blocks(texts):
        data = b" " + b" ".join(block) + b" " * (_WORDS + 1)
        starts, ends = _bounds(data)
        pieces.append(_numbers(data, starts, ends, numbers))
        begins = np.cumsum([1, *(len(text) + 1 for text in block)])
        lengths.append(np.diff(np.searchsorted(starts, begins)))
    return [piece.decode() for piece in numbers], np.concatenate(pieces), np.concatenate(lengths)


def _blocks(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _bounds(data: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each piece begins and ends; there is a space before the first and after the last."""
    is_piece = np.frombuffer(data, np.uint8) != _SPACE
    edges = np.flatnonzero(is_piece[1:] != is_piece[:-1]) + 1
    return edges[::2], edges[1::2]


def _numbers(
    data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64], numbers: defaultdict[bytes, int]
) -> NDArray[np.int64]:
    """The number of each piece; only one of those that are alike is looked up."""
    head, tail = _words(data, starts, ends)
    # Alike pieces come to lie together. Should another have the same key, it only parts them, and more are looked up.
    order = np.argsort(head * _MIX[0] ^ (tail * _MIX[1] >> np.uint64(7)))
    head, tail = head[order], tail[order]
    is_first = np.ones(len(order), np.bool_)
    np.logical_or(head[1:] != head[:-1], tail[1:] != tail[:-1], out=is_first[1:])
    first = order[is_first]
    bounds = zip(starts[first].tolist(), ends[first].tolist(), strict=True)
    found = np.fromiter((numbers[data[start:end]] for start, end in bounds), np.int64, len(first))
    all_numbers = np.empty(len(order), np.int64)
    all_numbers[order] = np.repeat(found, np.diff(np.flatnonzero(is_first), append=len(order)))
    return all_numbers


def _words(data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[NDArray[np.uint64], ...]:
    """Two words of eight bytes for each piece, the same for the same piece only."""
    size = ends - starts
    at = np.ndarray((len(data) - 7,), _WORD, data, strides=(1,))
    head = at[starts] & _MASKS[np.minimum(size, 8)]
    tail = at[starts + 8] & _MASKS[np.clip(size - 8, 0, 8)]
    long = np.flatnonzero(size > _WORDS)
    if len(long):
        known: defaultdict[bytes, int] = defaultdict(count().__next__)
        bounds = zip(starts[long].tolist(), ends[long].tolist(), strict=True)
        head[long] = [known[data[start:end]] for start, end in bounds]
        tail[long] = _NO_TEXT
    return head, tail


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
