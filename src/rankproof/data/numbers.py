"""Decimal numbers out of text, many at a time, each the very float64 that Python's own float() gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankproof.data.ids import Offsets, Words, overlapping_words

_U = np.uint64
_ZEROS, _DOTS = _U(0x3030303030303030), _U(0x2E2E2E2E2E2E2E2E)
_ONES, _TOPS = _U(0x0101010101010101), _U(0x8080808080808080)
_HIGH_NIBBLES, _SIXES = _U(0xF0F0F0F0F0F0F0F0), _U(0x0606060606060606)
_ALL = ~_U(0)
_POWERS = 10.0 ** np.arange(23)
_EXACT = _U(1 << 53)
_WINDOW = 17
"""Sixteen digits and a point: what two words and one more byte can hold."""

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def parse_number(token: bytes) -> float | None:
    """The finite number that the token spells, or None."""
    if not _NUMBER.fullmatch(token):
        return None
    value = float(token)
    return value if abs(value) != float("inf") else None


def parse_numbers(buffer: NDArray[np.uint8], start: Offsets, end: Offsets) -> tuple[NDArray[np.float64], Offsets]:
    """The numbers at these slices of a padded buffer, and the rows that spell none (their value is NaN).

    Up to 16 digits are read by arithmetic on whole words: an integer below 2**53 divided by a power of ten
    below 10**23 is correctly rounded. Every other spelling goes through float().
    """
    if not len(start):
        return np.zeros(0), np.zeros(0, np.int64)
    words = overlapping_words(buffer)
    negative = buffer[start] == ord("-")
    signed = bool(negative.any())
    first = start + negative if signed else start
    length = end - first
    longest = int(length.max())
    last8 = words[end - 8]
    _zero_before(last8, length, 8)
    decimals: Any = _common_decimals(last8, length)
    if decimals is None and longest <= 8 and not _find_point(last8)[0].any():
        decimals, digits = 0, last8
        unusual = _not_digits(digits)
        mantissa = _eight_digits(digits)
    elif decimals is not None and longest <= 9:
        ninth = np.where(length == 9, buffer[end - 9], 48).astype(np.uint64) if longest == 9 else _U(48)
        digits = _without_point(last8, decimals, ninth)
        unusual = _not_digits(digits)
        mantissa = _eight_digits(digits)
    else:
        before8 = words[end - 16]
        _zero_before(before8, length - 8, 8)
        digits, upper, decimals, odd = _sixteen(last8, before8, buffer[end - 17], length)
        unusual = _not_digits(digits) | _not_digits(upper) | odd
        mantissa = _eight_digits(upper) * _U(10**8) + _eight_digits(digits)
        unusual |= mantissa >= _EXACT
    values: NDArray[np.float64] = mantissa.view(np.int64).astype(np.float64)
    values /= _POWERS[decimals]
    if signed:
        np.negative(values, out=values, where=negative)
    unusual |= length < 1
    rows = np.flatnonzero(unusual)
    if not len(rows):
        return values, rows
    return values, _spell_out(values, rows, buffer, start, end)


def _zero_before(word: Words, length: Offsets, size: int) -> None:
    """Write '0' over the bytes of each right-aligned word that precede its token."""
    if int(length.min()) >= size:
        return
    foreign = np.clip(size - length, 0, size)
    foreign <<= 3
    keep = np.full(len(word), _ALL)
    keep <<= foreign.view(np.uint64)
    word &= keep
    np.invert(keep, out=keep)
    keep &= _ZEROS
    word |= keep


def _common_decimals(last8: Words, length: Offsets) -> int | None:
    """How many digits follow the point, where that is the same for every token and at most seven."""
    bytes_of_first = int(last8[0]).to_bytes(8, "little")
    at = bytes_of_first.rfind(b".")
    if at < 0 or int(length.min()) < max(2, 8 - at):
        return None
    point = last8 >> _U(8 * at)
    point &= _U(255)
    return 7 - at if bool((point == _U(ord("."))).all()) else None


def _without_point(last8: Words, decimals: int, ninth: Any) -> Words:
    """Move what stands before the point one byte on, over it; the ninth character from the end comes in."""
    at = 8 * (7 - decimals)
    below = last8 & _U((1 << at) - 1)
    below <<= _U(8)
    above = last8 & _U((1 << 64) - (1 << (at + 8)))
    above |= below
    above |= ninth
    return above


def _sixteen(last8: Words, before8: Words, first: NDArray[np.uint8], length: Offsets) -> tuple[Any, Any, Any, Any]:
    """Two digit words without the point, how many decimals, and which rows do not fit this mould."""
    low_hit, low_at = _find_point(last8)
    high_hit, high_at = _find_point(before8)
    seventeenth = np.where(length == _WINDOW, first, 48).astype(np.uint64)
    low = np.where(low_hit, _close_gap(last8, low_at) | (before8 >> _U(56)), last8)
    moved_up = (before8 << _U(8)) | seventeenth
    closed = _close_gap(before8, high_at) | seventeenth
    high = np.where(low_hit, moved_up, np.where(high_hit, closed, before8))
    decimals = np.where(low_hit, 7 - low_at, np.where(high_hit, 15 - high_at, 0))
    odd = (length > _WINDOW) | ((length == _WINDOW) & ~(low_hit | high_hit))
    # A lone point has no digit at all, and a second point is left behind as a byte that is no digit.
    odd |= (length == 1) & (low_hit | high_hit)
    return low, high, decimals, odd


def _find_point(word: Words) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    flagged = word ^ _DOTS
    flagged = (flagged - _ONES) & ~flagged & _TOPS
    lowest = flagged & (~flagged + _U(1))
    at = np.bitwise_count(lowest - _U(1)).astype(np.int64) >> 3
    return flagged != 0, np.minimum(at, 7)


def _close_gap(word: Words, at: NDArray[np.int64]) -> Words:
    shift = (at << 3).view(np.uint64)
    below = (_U(1) << shift) - _U(1)
    above = ~((below << _U(8)) | _U(255))
    closed: Words = (word & above) | ((word & below) << _U(8))
    return closed


def _not_digits(word: Words) -> NDArray[np.bool_]:
    """Which words hold a byte that is no ASCII digit."""
    wrong = word & _HIGH_NIBBLES
    wrong ^= _ZEROS
    carry = word + _SIXES
    carry &= _HIGH_NIBBLES
    carry ^= _ZEROS
    wrong |= carry
    found: NDArray[np.bool_] = wrong != 0
    return found


def _eight_digits(word: Words) -> Words:
    """The integer that eight ASCII digits spell: pairs, then fours, then all eight, by multiplication."""
    pairs = word - _ZEROS
    pairs = pairs * _U(10) + (pairs >> _U(8))
    mask = _U(0x000000FF000000FF)
    upper = (pairs & mask) * _U(0x000F424000000064)
    pairs >>= _U(16)
    pairs &= mask
    pairs *= _U(0x0000271000000001)
    pairs += upper
    pairs >>= _U(32)
    return pairs


def _spell_out(values: NDArray[np.float64], rows: Offsets, buffer: Any, start: Offsets, end: Offsets) -> Offsets:
    """Fill in the unusual rows one by one; returns those that are no numbers."""
    view = memoryview(buffer)
    wrong = []
    for row, a, b in zip(rows.tolist(), start[rows].tolist(), end[rows].tolist(), strict=True):
        number = parse_number(bytes(view[a:b]))
        if number is None:
            wrong.append(row)
            values[row] = np.nan
        else:
            values[row] = number
    return np.array(wrong, np.int64)
