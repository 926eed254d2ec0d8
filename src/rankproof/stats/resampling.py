"""Sign flips and resamples of queries as matrix products, for many columns at once.

Sums are exact: values are put on a grid so fine that no figure moves and so coarse that every sum of them is fewer than
2**53 units. So ties are ties, and the result is the same to the bit whatever the number of threads, the BLAS library or
the columns beside it. Random bits are the raw words of PCG64, which NumPy promises never to change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EXACT_UP_TO = 20
"""With so many differences that are not zero, all assignments of signs are enumerated."""

Progress = Callable[[int, int], None]
"""Called with the rounds done and the rounds to do."""

_LEAST_SUM = 2.0**12
"""Below this the grid becomes no finer: its unit is then 2**-40, above the rounding noise of scores."""
_BLOCK = 1 << 22
_FEW_COLUMNS = 8
_BYTE_SIGNS: Floats = np.array([[1.0 if byte >> bit & 1 else -1.0 for bit in range(8)] for byte in range(256)])
"""The signs that each byte stands for."""


class Grid(NamedTuple):
    """Columns whose values are whole multiples of a unit; each column has its own."""

    values: Floats
    unit: Floats


def on_grid(columns: Floats) -> Grid:
    """The values rounded to a unit that is a power of two, about 1e-12 for scores between 0 and 1."""
    greatest = np.abs(columns).max(axis=0, initial=0.0) * len(columns)
    # Half of 2**53, so that the difference of two sums is exact as well.
    unit = 2.0 ** (np.ceil(np.log2(np.maximum(greatest, _LEAST_SUM))) - 52)
    return Grid(np.rint(columns / unit) * unit, unit)


def all_signed_sums(values: Floats) -> Floats:
    """The sum under every assignment of signs that leaves the last value as it is; the others are their negatives."""
    sums = values[-1:].copy()
    for value in values[:-1]:
        sums = np.concatenate((sums + value, sums - value))
    return sums


def signed_sums(values: Floats, rounds: int, seed: int, progress: Progress | None = None) -> Iterator[Floats]:
    """Sums of each column under random signs of the rows, the same for all columns; blocks of rounds × columns."""
    n_bytes, n_columns = -(-len(values) // 8), values.shape[1]
    padded = np.zeros((n_bytes * 8, n_columns))
    padded[: len(values)] = values
    at_once, step = max(_BLOCK // n_bytes, 1), max(_BLOCK // max(n_columns, 1), 1)
    bits = np.random.PCG64(seed)
    add_up = _sums_by_table if n_columns <= _FEW_COLUMNS else _sums_by_product
    for start in range(0, rounds, at_once):
        here = min(at_once, rounds - start)
        # Drawn in blocks that the columns have no part in, so that a column has the same signs in any company.
        flips = _random_bytes(bits, n_bytes * here).reshape(n_bytes, here)
        for part in range(0, here, step):
            yield add_up(padded, flips[:, part : part + step])
        if progress is not None:
            progress(start + here, rounds)


def _random_bytes(bits: np.random.PCG64, n: int) -> NDArray[np.uint8]:
    words: Any = bits.random_raw(-(-n // 8))
    return np.asarray(words, "<u8").view(np.uint8)[:n]


def _sums_by_table(padded: Floats, flips: NDArray[np.uint8]) -> Floats:
    """For few columns: eight rows have only 256 assignments of signs, so their sums are looked up, not added up."""
    sums = np.zeros((padded.shape[1], flips.shape[1]))
    found = np.empty(flips.shape[1])
    for eight, flip in zip(padded.reshape(-1, 8, padded.shape[1]), flips, strict=True):
        for total, possible in zip(sums, (_BYTE_SIGNS @ eight).T.copy(), strict=True):
            np.take(possible, flip, out=found, mode="clip")
            total += found
    return sums.T


def _sums_by_product(padded: Floats, flips: NDArray[np.uint8]) -> Floats:
    """For many columns: signs × values."""
    sums = np.empty((flips.shape[1], padded.shape[1]))
    step = max(_BLOCK // len(padded), 1)
    for start in range(0, flips.shape[1], step):
        part = np.ascontiguousarray(flips[:, start : start + step].T)
        signs = np.take(_BYTE_SIGNS, part, axis=0, mode="clip").reshape(len(part), -1)
        np.matmul(signs, padded, out=sums[start : start + step])
    return sums


def bootstrap_means(columns: Floats, resamples: int, seed: int, progress: Progress | None = None) -> Floats:
    """Means of each column over rows drawn with replacement, the same rows for all columns: resamples × columns."""
    n = len(columns)
    values = on_grid(columns).values
    sums = np.empty((resamples, columns.shape[1]))
    at_once = max(_BLOCK // 4 // n, 1)
    bits = np.random.PCG64(seed)
    for start in range(0, resamples, at_once):
        here = min(at_once, resamples - start)
        drawn = _random_rows(bits, n, here)
        drawn += (np.arange(here) * n)[:, None]
        times = np.bincount(drawn.ravel(), minlength=here * n).reshape(here, n)
        np.matmul(times.astype(np.float64), values, out=sums[start : start + here])
        if progress is not None:
            progress(start + here, resamples)
    return sums / n


def _random_rows(bits: np.random.PCG64, n: int, resamples: int) -> NDArray[np.int64]:
    """Row numbers below n, from 32 random bits each: no row is likelier than another by more than n / 2**32."""
    words = _random_bytes(bits, 4 * n * resamples).view("<u4").astype(np.uint64)
    words *= np.uint64(n)
    words >>= np.uint64(32)
    return words.view(np.int64).reshape(resamples, n)
