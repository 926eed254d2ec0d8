"""Find rows by their 64-bit key, and see at once whether a key stands twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankproof.data.ids import Words

_LARGEST_TABLE = 26


class RowIndex:
    """A hash table that is filled by one scatter.

    Every row writes its number into the slot of its key; the last writer stays. Rows that find another number in
    their slot are the displaced ones, few enough to be kept sorted.
    """

    def __init__(self, keys: Words) -> None:
        self._keys = keys
        bits = min(_LARGEST_TABLE, max(8, len(keys).bit_length() + 2))
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.int32)
        rows = np.arange(len(keys), dtype=np.int32)
        slots = self._slots(keys)
        self._table[slots] = rows
        displaced = np.flatnonzero(self._table[slots] != rows)
        order = np.argsort(keys[displaced])
        self._displaced = displaced[order]
        self._displaced_keys = keys[self._displaced]

    def _slots(self, keys: Words) -> NDArray[np.int64]:
        return (keys >> self._shift).view(np.int64)

    def find(self, keys: Words) -> NDArray[np.int64]:
        """The row of each key, or -1."""
        if not len(self._keys):
            return np.full(len(keys), -1, np.int64)
        rows = self._table[self._slots(keys)].astype(np.int64)
        rows[self._keys[rows] != keys] = -1
        if len(self._displaced):
            missed = np.flatnonzero(rows < 0)
            at = np.searchsorted(self._displaced_keys, keys[missed])
            at = np.minimum(at, len(self._displaced) - 1)
            found = self._displaced_keys[at] == keys[missed]
            rows[missed[found]] = self._displaced[at[found]]
        return rows

    def repeated(self) -> NDArray[np.int64]:
        """Pairs (first row, later row) of equal keys, as an array of two columns, by the later row."""
        if not len(self._displaced):
            return np.zeros((0, 2), np.int64)
        holder = self._table[self._slots(self._displaced_keys)].astype(np.int64)
        same = self._keys[holder] == self._displaced_keys
        pairs = [np.stack([self._displaced[same], holder[same]], axis=1)]
        twins = np.flatnonzero(self._displaced_keys[1:] == self._displaced_keys[:-1])
        if len(twins):
            rows = self._displaced[np.lexsort((self._displaced, self._displaced_keys))]
            pairs.append(np.stack([rows[twins], rows[twins + 1]], axis=1))
        found = np.sort(np.concatenate(pairs), axis=1)
        return found[np.lexsort((found[:, 0], found[:, 1]))]
