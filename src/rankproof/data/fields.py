"""Lines of white-space separated fields, located by whole-array operations instead of line by line."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankproof.data.ids import PAD, Offsets

_KEPT_SIZE = 16 << 20
"""Texts up to this size share the arrays that are kept."""

SPACE, NEWLINE, RETURN, HASH, TAB = 32, 10, 13, 35, 9


@dataclass(frozen=True)
class Fields:
    """Where each field of each line begins and ends, as offsets into the padded buffer."""

    buffer: NDArray[np.uint8]
    starts: tuple[Offsets, ...]
    ends: tuple[Offsets, ...]
    every_line: bool = False
    """Whether each line of the text is a row, so that rows and lines are counted alike."""


_kept = threading.local()


def _scratch(size: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Two arrays of flags that each thread keeps: fresh ones would cost more than what is done with them."""
    pair: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = getattr(_kept, "pair", None)
    if size > _KEPT_SIZE:
        return np.empty(size, np.bool_), np.empty(size, np.bool_)
    if pair is None or len(pair[0]) < size:
        pair = _kept.pair = (np.empty(size + size // 8, np.bool_), np.empty(size + size // 8, np.bool_))
    return pair[0][:size], pair[1][:size]


def split_fields(buffer: NDArray[np.uint8], columns: int, wanted: tuple[int, ...]) -> Fields | None:
    """The wanted fields of every line of a padded buffer that ends in a newline.

    None where any line is not plain data of that many columns (a comment, a control character, a wrong count, bytes
    beyond ASCII): such a text is for the careful reader, which knows what to say about each line.
    """
    text = buffer[PAD:-PAD]
    if not len(text) or text.min() < TAB or text.max() > 127:
        return None
    is_blank, flags = _scratch(len(text))
    blank = np.flatnonzero(np.less_equal(text, SPACE, out=is_blank))
    line_ends = blank[columns - 1 :: columns]
    regular = (
        len(blank) % columns == 0
        and text[0] > SPACE
        and bool((text[line_ends] == NEWLINE).all())
        and np.count_nonzero(np.equal(text, NEWLINE, out=flags)) == len(line_ends)
        and not np.logical_and(is_blank[1:], is_blank[:-1], out=flags[1:]).any()
        and not np.equal(text, RETURN, out=flags).any()
    )
    if not regular:
        return _split_spaced(buffer, is_blank, columns, wanted)
    # Only the wanted columns are moved to their place in the buffer; `line_ends` is a sixth of all blanks.
    line_starts = np.empty(len(line_ends), np.int64)
    line_starts[0] = PAD
    np.add(line_ends[:-1], PAD + 1, out=line_starts[1:])
    if (buffer[line_starts] == HASH).any():
        return None
    starts = tuple(line_starts if i == 0 else blank[i - 1 :: columns] + (PAD + 1) for i in wanted)
    return Fields(buffer, starts, tuple(blank[i::columns] + PAD for i in wanted), every_line=True)


def _split_spaced(
    buffer: NDArray[np.uint8], blank: NDArray[np.bool_], columns: int, wanted: tuple[int, ...]
) -> Fields | None:
    """The same for lines with runs of blanks, leading or trailing ones, carriage returns and empty lines."""
    text = buffer[PAD:-PAD]
    after_blank = np.empty_like(blank)
    after_blank[0] = True
    after_blank[1:] = blank[:-1]
    start = np.flatnonzero(after_blank & ~blank)
    end = np.flatnonzero(blank & ~after_blank)
    if not len(start) or len(start) % columns:
        return None
    line = np.searchsorted(np.flatnonzero(text == NEWLINE), start).reshape(-1, columns)
    one_line_each = (line[:, 0] == line[:, -1]).all() and (line[1:, 0] > line[:-1, -1]).all()
    starts, ends = start.reshape(-1, columns), end.reshape(-1, columns)
    if not one_line_each or (text[starts[:, 0]] == HASH).any() or _has_lone_return(text):
        return None
    return Fields(
        buffer,
        tuple(np.ascontiguousarray(starts[:, i]) + PAD for i in wanted),
        tuple(np.ascontiguousarray(ends[:, i]) + PAD for i in wanted),
    )


def _has_lone_return(text: NDArray[np.uint8]) -> bool:
    returns = np.flatnonzero(text == RETURN)
    return bool((text[returns + 1] != NEWLINE).any()) if len(returns) else False
