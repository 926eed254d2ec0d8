"""A column of ids, kept as bytes so that millions of them can be compared without making a string of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankproof.errors import BadInput

PAD = 24
"""Bytes that must lie around the text in a buffer, so that the 8-byte loads at its edges stay inside."""

Words = NDArray[np.uint64]
Offsets = NDArray[np.int64]

_ODD = tuple(np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F))
_29, _32 = np.uint64(29), np.uint64(32)


def padded(text: bytes) -> NDArray[np.uint8]:
    """The text as an array with `PAD` spaces on either side."""
    return np.frombuffer(b" " * PAD + text + b" " * PAD, np.uint8)


def overlapping_words(buffer: NDArray[np.uint8]) -> Words:
    """Every 8 neighbouring bytes as one little-endian word: item i holds bytes i to i + 7."""
    return np.ndarray((len(buffer) - 7,), "<u8", buffer=buffer, strides=(1,))


def salted(hashes: Words, salt: Offsets) -> Words:
    """Keys that are equal where both the id and the salt (the number of its query) are."""
    keys = salt.view(np.uint64) * _ODD[1]
    keys += hashes
    keys ^= keys >> _29
    keys *= _ODD[2]
    keys ^= keys >> _32
    return keys


def refuse_half_characters(strings: Sequence[str]) -> None:
    """Raise BadInput if an id cannot be written as UTF-8."""
    joined = "".join(strings)
    if joined.isascii():
        return
    try:
        joined.encode()
    except UnicodeEncodeError as exc:
        half = next(s for s in strings if any("\ud800" <= c <= "\udfff" for c in s))
        raise BadInput.of("ids", f"{half!r} has half a character in it and cannot be written as UTF-8") from exc


@dataclass(frozen=True)
class Ids:
    """Ids as slices of one padded UTF-8 buffer."""

    buffer: NDArray[np.uint8]
    start: Offsets
    end: Offsets

    @classmethod
    def of(cls, strings: Sequence[str]) -> Ids:
        """A column of the given strings."""
        refuse_half_characters(strings)
        joined = "".join(strings)
        text = joined.encode()
        lengths = list(map(len, strings)) if joined.isascii() else [len(s.encode()) for s in strings]
        end = np.cumsum(np.array(lengths, np.int64)) + PAD
        start = end - np.array(lengths, np.int64)
        return cls(padded(text), start, end)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, i: int) -> str:
        return self.buffer[self.start[i] : self.end[i]].tobytes().decode()

    def take(self, rows: NDArray[np.int64]) -> Ids:
        """The ids of these rows, in the same buffer."""
        return Ids(self.buffer, self.start[rows], self.end[rows])

    def bytes_list(self) -> list[bytes]:
        """Each id as bytes; their order is the order of the strings."""
        view = memoryview(cast(Any, self.buffer))
        return [bytes(view[a:b]) for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]

    def strings(self) -> list[str]:
        """Each id as a string."""
        if len(self.buffer) < 4 * int(self.lengths.sum()) and self.buffer.max() < 128:
            # One decoding for all, where the ids are a good part of the buffer and a byte is a character.
            text = self.buffer.tobytes().decode("ascii")
            return [text[a:b] for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]
        return [b.decode() for b in self.bytes_list()]

    @cached_property
    def lengths(self) -> Offsets:
        return self.end - self.start

    @cached_property
    def _longest(self) -> int:
        return int(self.lengths.max(initial=0))

    def _words(self) -> list[Words]:
        """Words that together hold every byte of each id; two ids of one length are equal where all of them are."""
        words = overlapping_words(self.buffer)
        head = words[self.start]
        shortest = int(self.lengths.min(initial=8))
        # Push out what follows a short id; an empty id shifts by 64, which leaves 0 in NumPy.
        if 0 < shortest == self._longest < 8:
            head <<= np.uint64(8 * (8 - shortest))
        elif shortest < 8:
            head <<= (np.maximum(8 - self.lengths, 0) << 3).view(np.uint64)
        found = [head]
        if self._longest > 8:
            last = np.maximum(self.end - 8, self.start)
            long_enough = self.lengths > 8
            for offset in range(8, self._longest, 8):
                more = words[np.minimum(self.start + offset, last)]
                found.append(np.where(long_enough, more, np.uint64(0)))
        return found

    def hashes(self) -> Words:
        """A 64-bit hash of each id; equal ids have equal hashes. Salt it with `salted` before use as a key."""
        mixed, *rest = self._words()
        mixed *= _ODD[0]
        shortest = int(self.lengths.min(initial=self._longest))
        for offset, word in zip(range(8, self._longest, 8), rest, strict=True):
            more = mixed ^ (mixed >> _32)
            more += word
            more *= _ODD[1]
            # A longer id elsewhere in the column must not change the hash of this one.
            mixed = more if shortest > offset else np.where(self.lengths > offset, more, mixed)
        mixed += self.lengths.view(np.uint64)
        return mixed

    def differs_from_previous(self) -> NDArray[np.bool_]:
        """For each id but the first: whether it is another id than the one before."""
        changed: NDArray[np.bool_] = self.lengths[1:] != self.lengths[:-1]
        for word in self._words():
            changed |= word[1:] != word[:-1]
        return changed

    def equal(self, other: Ids) -> NDArray[np.bool_]:
        """Row by row, whether the ids are the same."""
        same: NDArray[np.bool_] = self.lengths == other.lengths
        ours, theirs = self._words(), other._words()
        for mine, yours in zip(ours, theirs, strict=False):
            same &= mine == yours
        # Of two ids of one length both columns hold all words, so the shorter list decides nothing more.
        return same

    def greater(self, other: Ids) -> NDArray[np.bool_]:
        """Row by row, whether our id comes after the other in the order of bytes, which is that of code points."""
        decided = np.zeros(len(self), np.bool_)
        result = np.zeros(len(self), np.bool_)
        for offset in range(0, max(self._longest, other._longest), 8):
            mine, yours = self.ordered_word(offset), other.ordered_word(offset)
            result |= ~decided & (mine > yours)
            decided |= mine != yours
            if decided.all():
                return result
        return result | (~decided & (self.lengths > other.lengths))

    def ordered_word(self, offset: int) -> Words:
        """Eight bytes of each id from the offset on, as a number that sorts as they do; zero beyond the end."""
        words = overlapping_words(self.buffer)
        word = words[np.minimum(self.start + offset, len(words) - 1)].byteswap()
        beyond = (np.clip(8 - (self.lengths - offset), 0, 8) << 3).view(np.uint64)
        word >>= beyond
        word <<= beyond
        return word
