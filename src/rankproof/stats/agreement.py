"""How far annotators agree beyond chance: Cohen's and Fleiss' κ, Krippendorff's α, with intervals over items.

Each is 1 − observed / expected disagreement: 1 where all agree, 0 where they agree as often as grades drawn by lot
would, below 0 where less often. Every one of them follows from means over items of a few columns, so that a bootstrap
of items is a bootstrap of means, exact to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankproof.errors import BadInput, UsageError
from rankproof.stats.intervals import RESAMPLES, Interval, check_level
from rankproof.stats.resampling import Floats, bootstrap_means

Weights = Literal["none", "linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]

_DISTANCE: Mapping[str, Callable[[Floats], Floats]] = {
    "none": lambda apart: (apart != 0).astype(np.float64),
    "linear": np.abs,
    "quadratic": np.square,
}


@dataclass(frozen=True)
class Bootstrap:
    """Where the interval comes from."""

    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0


_USUAL = Bootstrap()


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of agreement with its interval; or why it has no value."""

    name: str
    value: float | None
    """1 − observed / expected; None, undefined, where nothing could be disagreed about."""
    observed: float | None
    """The disagreement seen, a mean distance between two ratings of one item."""
    expected: float | None
    """The disagreement that chance would give."""
    n_items: int
    """Items with ratings of two annotators or more; no other says anything about agreement."""
    interval: Interval
    reason: str = ""
    """Why there is no value."""


@dataclass(frozen=True)
class Table:
    """How often each grade of one annotator met each grade of another."""

    grades: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    """One row per grade of the first, one column per grade of the second."""

    @property
    def n_items(self) -> int:
        """How many items both rated."""
        return sum(map(sum, self.counts))

    @property
    def n_same(self) -> int:
        """How many of them got the same grade from both."""
        return sum(row[i] for i, row in enumerate(self.counts))


def confusion(first: ArrayLike, second: ArrayLike) -> Table:
    """The table of two columns of grades, one value per item; NaN where an annotator gave none."""
    pairs = _both(first, second)
    grades = np.unique(pairs)
    at = np.searchsorted(grades, pairs)
    cells = np.bincount(at[:, 0] * len(grades) + at[:, 1], minlength=len(grades) ** 2)
    rows = cells.reshape(len(grades), len(grades)).tolist()
    return Table(tuple(grades.tolist()), tuple(tuple(row) for row in rows))


def cohen_kappa(first: ArrayLike, second: ArrayLike, *, weights: Weights = "none") -> float | None:
    """Cohen's κ of two annotators, from −1 to 1; None where it is undefined.

    Cohen 1960; weighted 1968: a disagreement counts by the distance of the grades, `linear`, or its square. Chance
    gives each annotator the grades that this annotator used.
    """
    return two_annotators(first, second, weights=(weights,), bootstrap=None)[0].value


def fleiss_kappa(ratings: ArrayLike) -> float | None:
    """Fleiss' κ of any number of annotators (a column each, NaN where there is no rating); None where undefined.

    Fleiss, Psychological Bulletin 1971, for as many ratings of each item. Where their number differs, every item with
    two or more weighs alike, in the agreement seen as in the shares of the grades.
    """
    return all_annotators(ratings, scales=(), bootstrap=None)[0].value


def krippendorff_alpha(ratings: ArrayLike, *, scale: Scale = "nominal") -> float | None:
    """Krippendorff's α of any number of annotators (a column each, NaN where there is no rating); None where undefined.

    Krippendorff 2011, by coincidences. `nominal`: grades are the same or not; `ordinal`: the more ratings lie between
    two grades, the further they are apart; `interval`: the square of their difference.
    """
    return all_annotators(ratings, fleiss=False, scales=(scale,), bootstrap=None)[0].value


def two_annotators(
    first: ArrayLike, second: ArrayLike, *, weights: Sequence[Weights] = ("none", "linear", "quadratic"),
    bootstrap: Bootstrap | None = _USUAL,
) -> list[Coefficient]:  # fmt: skip
    """Cohen's κ under each of the weights, with intervals from one bootstrap over items."""
    pairs = _both(first, second)
    grades = np.unique(pairs)
    at, q = np.searchsorted(grades, pairs), len(grades)
    cells = np.zeros((len(pairs), q * q))
    cells[np.arange(len(pairs)), at[:, 0] * q + at[:, 1]] = 1.0

    def disagreement(means: Floats, distance: Floats) -> _Disagreement:
        shares = means.reshape(len(means), q, q)
        rows, columns = _sum(shares, 2), _sum(shares, 1)
        return _Disagreement(_weighted(shares, distance), _weighted(rows[:, :, None] * columns[:, None, :], distance))

    apart = grades[:, None] - grades
    wanted = [_Wanted(_COHEN[one], partial(disagreement, distance=_DISTANCE[one](apart))) for one in weights]
    return _coefficients(cells, wanted, bootstrap, _why_none(len(pairs), grades))


_COHEN = {"none": "Cohen's κ", "linear": "Cohen's κ, linear weights", "quadratic": "Cohen's κ, quadratic weights"}


def all_annotators(
    ratings: ArrayLike, *, fleiss: bool = True, scales: Sequence[Scale] = ("nominal", "ordinal", "interval"),
    bootstrap: Bootstrap | None = _USUAL,
) -> list[Coefficient]:  # fmt: skip
    """Fleiss' κ, then Krippendorff's α on each of the scales, with intervals from one bootstrap over items."""
    table = _checked(ratings)
    table = table[(~np.isnan(table)).sum(axis=1) >= 2]
    grades = np.unique(table[~np.isnan(table)])
    q = len(grades)
    counts = np.stack([(table == grade).sum(axis=1) for grade in grades], axis=1) if q else np.zeros((len(table), 0))
    n = counts.sum(axis=1, keepdims=True).astype(np.float64)
    # Pairs of ratings of one item, each rating weighing 1 in all.
    coincidences = (counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(q)) / (n - 1)[:, :, None]
    flat = coincidences.reshape(len(table), q * q)
    columns = np.concatenate((flat, counts / n, flat / n), axis=1)

    def fleiss_disagreement(means: Floats) -> _Disagreement:
        shares, pairs = means[:, q * q : q * q + q], means[:, q * q + q :].reshape(len(means), q, q)
        different = _DISTANCE["none"](grades[:, None] - grades)
        chance_pairs = shares[:, :, None] * shares[:, None, :]
        return _Disagreement(_weighted(pairs, different), _weighted(chance_pairs, different))

    def alpha_disagreement(means: Floats, scale: Scale) -> _Disagreement:
        # Sums over the items of the resample, of which there are always as many as items.
        seen = means[:, : q * q].reshape(len(means), q, q) * len(table)
        each = _sum(seen, 2)
        total = _sum(each, 1)
        distance = _alpha_distance(grades, each, scale)
        expected = _weighted(each[:, :, None] * each[:, None, :], distance) / (total - 1)
        return _Disagreement(_weighted(seen, distance) / total, expected / total)

    wanted = [_Wanted("Fleiss' κ", fleiss_disagreement)] if fleiss else []
    wanted += [_Wanted(f"Krippendorff's α, {scale}", partial(alpha_disagreement, scale=scale)) for scale in scales]
    return _coefficients(columns, wanted, bootstrap, _why_none(len(table), grades))


def _alpha_distance(grades: Floats, each: Floats, scale: Scale) -> Floats:
    """The square of the distance of each two grades; where it depends on the ratings, for each resample."""
    if scale == "nominal":
        return _DISTANCE["none"](grades[:, None] - grades)
    if scale == "interval":
        return _DISTANCE["quadratic"](grades[:, None] - grades)
    # Half of the grade's own ratings and all below: the difference counts what lies between two grades.
    middle = np.cumsum(each, axis=1) - each / 2
    return np.square(middle[:, :, None] - middle[:, None, :])


class _Disagreement(NamedTuple):
    observed: Floats
    expected: Floats


class _Wanted(NamedTuple):
    name: str
    of_means: Callable[[Floats], _Disagreement]
    """Means of the columns, a row per resample → disagreement of each resample."""


def _coefficients(
    columns: Floats, wanted: Sequence[_Wanted], bootstrap: Bootstrap | None, reason: str
) -> list[Coefficient]:
    n = len(columns)
    if bootstrap is not None:
        check_level(bootstrap.level)
        if bootstrap.resamples < 1:
            raise UsageError(f"A bootstrap takes at least 1 resample, not {bootstrap.resamples:,}.")
    level = _USUAL.level if bootstrap is None else bootstrap.level
    if not n:
        nothing = Interval(None, None, level, "percentile", reason)
        return [Coefficient(one.name, None, None, None, 0, nothing, reason) for one in wanted]
    # An exact sum, so that the order in which the items are listed does not matter.
    point = np.array([[math.fsum(column) for column in columns.T]]) / n
    means = bootstrap_means(columns, bootstrap.resamples, bootstrap.seed) if bootstrap is not None and n > 1 else None
    found = []
    for one in wanted:
        observed, expected = (float(part[0]) for part in one.of_means(point))
        value = None if expected == 0 else 1 - observed / expected
        interval = _interval(one, means, value, level)
        why = "" if value is not None else reason
        found.append(Coefficient(one.name, value, observed, expected, n, interval, why))
    return found


def _interval(one: _Wanted, means: Floats | None, value: float | None, level: float) -> Interval:
    if means is None or value is None:
        reason = "the value is undefined" if value is None else "one item has no spread"
        return Interval(None, None, level, "percentile", reason)
    observed, expected = one.of_means(means)
    defined = expected > 0
    lost = 1 - float(defined.mean())
    if lost > 1 - level:
        reason = f"in {lost:.0%} of the resamples only one grade is left, and nothing could be disagreed about"
        return Interval(None, None, level, "percentile", reason)
    values = 1 - observed[defined] / expected[defined]
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    # A few items may have no resample beyond their own value, and rounding must not put it outside.
    return Interval(min(low, value), max(high, value), level, "percentile")


def _why_none(n_items: int, grades: Floats) -> str:
    if not n_items:
        return "no item was rated by two annotators"
    if len(grades) == 1:
        what = "the one item" if n_items == 1 else f"all {n_items:,} items"
        return f"perfect agreement: {what} got the grade {grades[0]:g} from everybody, as chance alone would have it"
    return ""


def _weighted(shares: Floats, distance: Floats) -> Floats:
    """Σ share · distance over pairs of grades, added up in one fixed order, whatever the machine."""
    total = np.zeros(len(shares))
    for i in range(shares.shape[1]):
        for j in range(shares.shape[2]):
            total = total + shares[:, i, j] * distance[..., i, j]
    return total


def _sum(values: Floats, axis: int) -> Floats:
    """The sum along an axis, added up in one fixed order."""
    total = np.zeros(np.delete(values.shape, axis))
    for i in range(values.shape[axis]):
        total = total + np.take(values, i, axis=axis)
    return total


def _both(first: ArrayLike, second: ArrayLike) -> Floats:
    """The items that both rated, a row each."""
    one, two = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.ndim != 1 or one.shape != two.shape:
        raise UsageError(f"Agreement takes two lists of the same length, not shapes {one.shape} and {two.shape}.")
    table = _checked(np.stack((one, two), axis=1))
    return table[~np.isnan(table).any(axis=1)]


def _checked(ratings: ArrayLike) -> Floats:
    table = np.asarray(ratings, np.float64)
    if table.ndim != 2:
        raise UsageError(f"Ratings are a table of items × annotators, not an array of shape {table.shape}.")
    if np.isinf(table).any():
        raise BadInput.of("ratings", "a grade is not a finite number")
    return table
