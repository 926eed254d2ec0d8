"""Pieces of many texts as numbers, without a string for each.

Texts are looked at a block at a time, as bytes. A piece that was met before is found in a table by its bytes; the rest
are grouped by theirs, so that only one of each group is looked up in the dict of all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 20
"""Characters that are looked at together: of more, more lie in memory; of fewer, a step costs more than its work."""
_TABLE = 20
"""Binary digits of a place in the table: few of the pieces of most languages share one."""
_SPACE = ord(" ")
_WORD = np.dtype("<u8")
_WORDS = 2 * _WORD.itemsize
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], _WORD)
"""Of eight bytes, the first so many."""
_NO_TEXT = np.uint64((1 << 64) - 1)
"""Eight bytes that are part of no UTF-8 text."""
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)

Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]


class Pieces(NamedTuple):
    """The pieces of some texts."""

    numbers: NDArray[np.int32]
    """Of every piece of every text."""
    n_pieces: Numbers
    """How many pieces each text has."""


Cut = Callable[[Sequence[str]], tuple[bytes, Sequence[int]]]
"""Makes of texts one text in UTF-8, with a space between them, and says how many bytes each has."""


def numbered_pieces(texts: Iterable[str], cut: Cut) -> tuple[list[str], list[Pieces]]:
    """The different pieces of texts once they are cut, and blocks of texts as their numbers.

    Pieces are what stands between spaces; there is no zero byte in them.
    """
    known = _Known()
    blocks = [known.taken_in(*cut(block)) for block in _blocks(texts)]
    return known.pieces, blocks


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _bounds(data: bytes) -> tuple[Numbers, Numbers]:
    """Where each piece begins and ends; there is a space before the first and after the last."""
    is_piece = np.frombuffer(data, np.uint8) != _SPACE
    edges = np.flatnonzero(is_piece[1:] != is_piece[:-1]) + 1
    return edges[::2], edges[1::2]


class _Known:
    """The pieces met so far and their numbers.

    The table has one piece at each of its places, the first that came; another that belongs there is looked up in the
    dict each time. An empty place has zero bytes, which no piece has.
    """

    def __init__(self) -> None:
        self._numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._heads, self._tails = (np.zeros(1 << _TABLE, _WORD) for _ in range(2))
        self._found = np.zeros(1 << _TABLE, np.int64)

    @property
    def pieces(self) -> list[str]:
        """All of them, in the order of their numbers."""
        return [piece.decode() for piece in self._numbers]

    def taken_in(self, texts: bytes, sizes: Sequence[int]) -> Pieces:
        """The pieces of texts that stand one behind the other."""
        data = b" " + texts + b" " * (_WORDS + 1)
        starts, ends = _bounds(data)
        begins = np.cumsum([1, *sizes]) + np.arange(len(sizes) + 1)
        numbers = self._numbers_of(data, starts, ends).astype(np.int32)
        return Pieces(numbers, np.diff(np.searchsorted(starts, begins)))

    def _numbers_of(self, data: bytes, starts: Numbers, ends: Numbers) -> Numbers:
        """The number of each piece that begins and ends there."""
        head, tail = _words(data, starts, ends)
        key = head * _MIX[0] ^ (tail * _MIX[1] >> np.uint64(7))
        place = (key >> np.uint64(64 - _TABLE)).astype(np.int64)
        numbers = self._found[place]
        rest = np.flatnonzero((self._heads[place] != head) | (self._tails[place] != tail))
        head, tail, place = head[rest], tail[rest], place[rest]
        # Alike pieces come to lie together. Should another have the same key, it only parts them, and more are looked
        # up.
        order = np.argsort(key[rest])
        is_first = np.ones(len(rest), np.bool_)
        np.logical_or(np.diff(head[order]) != 0, np.diff(tail[order]) != 0, out=is_first[1:])
        first = order[is_first]
        bounds = zip(starts[rest[first]].tolist(), ends[rest[first]].tolist(), strict=True)
        found = np.fromiter((self._numbers[data[start:end]] for start, end in bounds), np.int64, len(first))
        numbers[rest[order]] = np.repeat(found, np.diff(np.flatnonzero(is_first), append=len(rest)))
        self._keep(place[first], head[first], tail[first], found)
        return numbers

    def _keep(self, place: Numbers, head: Words, tail: Words, found: Numbers) -> None:
        """Put pieces into the table where there is room, but for long ones, whose words say nothing in other texts."""
        fits = np.flatnonzero((self._heads[place] == 0) & (tail != _NO_TEXT))
        place, which = np.unique(place[fits], return_index=True)
        which = fits[which]
        self._heads[place], self._tails[place], self._found[place] = head[which], tail[which], found[which]


def _words(data: bytes, starts: Numbers, ends: Numbers) -> tuple[Words, Words]:
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
