"""How alike two orders are: Kendall's τ, τ_AP and rank-biased overlap."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankproof.errors import BadInput, UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 20
"""How many pairs, or depths of queries, are looked at at once."""


def kendall_tau(first: ArrayLike, second: ArrayLike) -> float | None:
    """Kendall's τ-b between two lists of values for the same things, from −1 to 1.

    (C − D) / √((n₀ − n₁)(n₀ − n₂)), where n₁ and n₂ are the pairs that each side ties. None means undefined: one side
    ties everything, or there are fewer than two things.
    """
    x, y = _codes(first, second)
    same_way = untied_x = untied_y = 0
    for rows in _blocks(len(x), len(x)):
        sign_x, sign_y = np.sign(x[rows, None] - x), np.sign(y[rows, None] - y)
        same_way += int((sign_x * sign_y).sum())
        untied_x += int(np.count_nonzero(sign_x))
        untied_y += int(np.count_nonzero(sign_y))
    if not untied_x or not untied_y:
        return None
    return same_way / math.sqrt(untied_x * untied_y)


def tau_ap(reference: ArrayLike, other: ArrayLike) -> float | None:
    """AP correlation of an order with a reference, from −1 to 1: a swap near the top of `other` counts for more.

    Yilmaz, Aslam & Robertson, SIGIR 2008: for everything in `other` but its top, the share of what stands above it
    that the reference puts above it too; 2 · mean − 1. Higher values stand higher. Ties as in Urbano & Marrero, ICTIR
    2017, one direction of their τ_AP,b: what is tied in `other` does not stand above each other, and what only the
    reference ties is not put above. None means undefined: one side ties everything, or there are fewer than two things.
    """
    x, y = _codes(reference, other)
    if len(x) < 2 or not x.any() or not y.any():
        return None
    shares: list[float] = []
    for rows in _blocks(len(x), len(x)):
        above = y > y[rows, None]
        right = (above & (x > x[rows, None])).sum(axis=1)
        n_above = above.sum(axis=1)
        below_top = n_above > 0
        shares += (right[below_top] / n_above[below_top]).tolist()
    # An exact sum, so that the order in which the things are listed does not matter.
    return 2 * math.fsum(shares) / len(shares) - 1


def symmetric_tau_ap(first: ArrayLike, second: ArrayLike) -> float | None:
    """The mean of τ_AP in both directions, for two orders of which neither is the reference; with ties, τ_AP,b."""
    forth, back = tau_ap(first, second), tau_ap(second, first)
    return None if forth is None or back is None else (forth + back) / 2


def _codes(first: ArrayLike, second: ArrayLike) -> tuple[Ints, Ints]:
    """Both lists as whole numbers that are in the same order, from 0."""
    columns = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        shapes = " and ".join(str(column.shape) for column in columns)
        raise UsageError(f"A correlation takes two lists of the same length, not shapes {shapes}.")
    if not all(np.isfinite(column).all() for column in columns):
        raise BadInput.of("correlation", "a value is not a finite number")
    x, y = (np.unique(column, return_inverse=True)[1].astype(np.int64) for column in columns)
    return x, y


def _blocks(n: int, width: int) -> Iterator[slice]:
    """Slices of n rows that hold about as many cells as may be looked at at once."""
    step = max(_CELLS // max(width, 1), 1)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


@dataclass(frozen=True)
class Rbo:
    """Rank-biased overlap of two rankings."""

    extrapolated: float | None
    """The overlap if the agreement seen goes on below; None, undefined, of two empty rankings."""
    minimum: float
    """What it is if nothing below is in common."""
    maximum: float
    """What it is if as much as possible is in common below."""

    @property
    def residual(self) -> float:
        """How much is unknown, because the rankings end."""
        return self.maximum - self.minimum


def rbo(first: Sequence[Hashable], second: Sequence[Hashable], p: float = 0.9) -> Rbo:
    """Rank-biased overlap of two rankings, best first, with its bounds; from 0 to 1.

    Webber, Moffat & Zobel, TOIS 2010: the mean agreement over all depths, depth d weighing (1 − p) · p^(d − 1). The
    extrapolated value is their equation 32, which holds for rankings of different lengths as well. Identical rankings
    have exactly 1. An empty ranking has nothing in common with one that is not: 0.
    """
    places = [_places(ranking, which) for ranking, which in ((first, "first"), (second, "second"))]
    shared = [item for item in places[0] if item in places[1]]
    ranks = [np.array([place[item] for item in shared], np.int64) for place in places]
    counts = [np.array([len(place)]) for place in places]
    found = rbo_of_queries(Shared(np.zeros(len(shared), np.int64), *ranks, *counts), p)
    extrapolated, minimum, maximum = (float(column[0]) for column in found)
    return Rbo(extrapolated if len(first) or len(second) else None, minimum, maximum)


def _places(ranking: Sequence[Hashable], which: str) -> dict[Hashable, int]:
    places: dict[Hashable, int] = {}
    for rank, item in enumerate(ranking, 1):
        if places.setdefault(item, rank) != rank:
            raise BadInput.of(f"{which} ranking", f"{item!r} stands at rank {places[item]} and again at {rank}")
    return places


class Shared(NamedTuple):
    """The documents that two rankings of a query have in common, for many queries; rows by query."""

    query: Ints
    first_rank: Ints
    second_rank: Ints
    n_first: Ints
    """How long the first ranking of each query is."""
    n_second: Ints


class RboColumns(NamedTuple):
    """Rank-biased overlap of many queries: one value per query in each."""

    extrapolated: Floats
    minimum: Floats
    maximum: Floats


def rbo_of_queries(shared: Shared, p: float = 0.9) -> RboColumns:
    """Rank-biased overlap of two rankings for each of many queries; 0 where either ranking is empty."""
    if not 0 < p < 1:
        raise UsageError(f"The persistence p of rank-biased overlap lies between 0 and 1, as in 0.9; {p!r} does not.")
    n = len(shared.n_first)
    depth = max(int(shared.n_first.max(initial=0)), int(shared.n_second.max(initial=0)), 1)
    weights = _Weights.of(p, depth)
    found = np.empty((3, n))
    for queries in _blocks(n, depth):
        rows = slice(*np.searchsorted(shared.query, [queries.start, queries.stop]).tolist())
        deeper = np.maximum(shared.first_rank[rows], shared.second_rank[rows])
        cells = (shared.query[rows] - queries.start) * depth + deeper - 1
        width = queries.stop - queries.start
        overlap = np.bincount(cells, minlength=width * depth).reshape(width, depth).cumsum(axis=1)
        lengths = shared.n_first[queries], shared.n_second[queries]
        found[:, queries] = _rbo_block(overlap, np.minimum(*lengths), np.maximum(*lengths), weights)
    return RboColumns(*found)


@dataclass(frozen=True)
class _Weights:
    """What the depths weigh, for rankings down to some depth."""

    p: float
    depth: Floats
    """1, 2, 3 … down to where the rankings end."""
    at: Floats
    """The weight of each depth."""
    one_document: Floats
    """What a document that is in common from the top on adds by each depth, from depth 0 to twice the greatest."""
    one_document_for_ever: float

    @classmethod
    def of(cls, p: float, depth: int) -> _Weights:
        twice = np.arange(1, 2 * depth + 1, dtype=np.float64)
        weight = (1 - p) * p ** (twice - 1)
        one = np.concatenate(([0.0], np.cumsum(weight / twice)))
        return cls(p, twice[:depth], weight[:depth], one, -(1 - p) / p * math.log1p(-p))


def _rbo_block(overlap: Ints, short: Ints, long: Ints, weights: _Weights) -> Floats:
    """Extrapolated value, minimum and maximum, from the overlap at each depth and the lengths of both rankings."""
    p, depth, at = weights.p, weights.depth, weights.at
    row = np.arange(len(overlap))
    at_short = np.where(short > 0, overlap[row, np.maximum(short, 1) - 1], 0)
    share = at_short / np.maximum(short, 1)
    # Where only the longer ranking is left, the shorter is taken to go on as it was; where both have ended, likewise.
    reach = np.minimum(depth, np.maximum(long, 1)[:, None])
    agreement = (overlap + share[:, None] * np.maximum(reach - short[:, None], 0)) / reach
    onwards = at.copy()
    onwards[-1] += p ** len(depth)
    # The weights add up to 1 but for rounding; with their own sum, rankings that agree throughout have exactly 1.
    extrapolated = (agreement * onwards).sum(axis=1) / onwards.sum()

    common = overlap[:, -1]
    one, for_ever = weights.one_document, weights.one_document_for_ever
    least = (overlap / depth * at).sum(axis=1) + common * (for_ever - one[len(depth)])
    # Equation 30: from depth `full` on the rankings could be the same set.
    full = short + long - common
    residual = p**short + p**long - p**full
    residual -= short * (one[full] - one[short]) + long * (one[full] - one[long]) + common * (for_ever - one[full])
    # Rounding must not put the value outside of its own bounds.
    minimum = np.clip(least, 0.0, extrapolated)
    maximum = np.clip(least + residual, extrapolated, 1.0)
    return np.stack((extrapolated, minimum, maximum))
