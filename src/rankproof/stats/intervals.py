"""Confidence intervals of a mean over queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rankproof.errors import BadInput, UnknownName, UsageError
from rankproof.stats.distributions import normal_quantile, normal_tail, t_quantile
from rankproof.stats.resampling import Floats, Progress, bootstrap_means

IntervalMethod = Literal["t", "percentile", "bca"]

RESAMPLES = 10_000
ANYTHING = (-math.inf, math.inf)


@dataclass(frozen=True)
class Interval:
    """The range that holds the mean of all such queries, in `level` of the cases; or why there is none."""

    low: float | None
    high: float | None
    level: float
    method: IntervalMethod
    reason: str = ""
    """Why there is no interval."""

    def as_list(self) -> list[float] | None:
        """Both ends, or None if there is no interval."""
        return None if self.low is None or self.high is None else [self.low, self.high]


def mean_interval(
    values: ArrayLike, *, level: float = 0.95, method: IntervalMethod = "t", bounds: tuple[float, float] = ANYTHING,
    resamples: int = RESAMPLES, seed: int = 0,
) -> Interval:  # fmt: skip
    """The interval of the mean of one column of values."""
    column = np.asarray(values, np.float64).reshape(-1, 1)
    return mean_intervals(column, level=level, method=method, bounds=[bounds], resamples=resamples, seed=seed)[0]


def mean_intervals(
    columns: Floats, *, level: float = 0.95, method: IntervalMethod = "t",
    bounds: list[tuple[float, float]] | None = None, resamples: int = RESAMPLES, seed: int = 0,
    progress: Progress | None = None,
) -> list[Interval]:  # fmt: skip
    """The interval of the mean of each column, kept within the bounds of what it measures.

    `t` is mean ± t(n − 1) · s/√n. `percentile` takes the quantiles of bootstrap means. `bca` corrects them for bias
    and skew (Efron 1987). One value has no spread and therefore no interval.
    """
    check_level(level)
    if method not in get_args(IntervalMethod):
        raise UnknownName("kind of interval", method, get_args(IntervalMethod))
    if method != "t" and resamples < 1:
        raise UsageError(f"A bootstrap takes at least 1 resample, not {resamples}; 10,000 is usual.")
    check_finite(columns)
    n, n_columns = columns.shape
    if n < 2:
        reason = f"no interval: {'one query has' if n else 'no query, so there is'} no spread"
        return [Interval(None, None, level, method, reason)] * n_columns
    if method == "t":
        low, high = _t(columns, level)
    else:
        means = bootstrap_means(columns, resamples, seed, progress)
        low, high = _percentile(means, level) if method == "percentile" else _bca(columns, means, level)
    # Equal values average to that value, and rounding must not put the mean outside of its own interval.
    centre = columns.mean(axis=0)
    low, high = np.minimum(low, centre), np.maximum(high, centre)
    limits = bounds or [ANYTHING] * n_columns
    return [
        Interval(max(a, least), min(b, greatest), level, method)
        for a, b, (least, greatest) in zip(low.tolist(), high.tolist(), limits, strict=True)
    ]


def check_level(level: float) -> None:
    """Refuse a confidence level that is none."""
    if not 0 < level < 1:
        hint = f" Did you mean {level / 100:g}?" if 1 < level < 100 else ""
        raise UsageError(f"A confidence level lies between 0 and 1, as in 0.95; {level:g} does not.{hint}")


def check_finite(values: Floats) -> None:
    """Refuse values from which no figure can be made."""
    if not np.isfinite(values).all():
        raise BadInput.of("values", "a value is not a finite number; take out what was not measured")


def _t(columns: Floats, level: float) -> tuple[Floats, Floats]:
    n = len(columns)
    centre = columns.mean(axis=0)
    reach = t_quantile((1 + level) / 2, n - 1) * standard_deviation(columns) / math.sqrt(n)
    return centre - reach, centre + reach


def standard_deviation(columns: Floats) -> Floats:
    """Of each column, with n − 1; exactly zero where all values are equal."""
    spread: Floats = columns.std(axis=0, ddof=1)
    return np.where(np.ptp(columns, axis=0) == 0, 0.0, spread)


def _percentile(means: Floats, level: float) -> tuple[Floats, Floats]:
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def _bca(columns: Floats, means: Floats, level: float) -> tuple[Floats, Floats]:
    centred = columns - columns.mean(axis=0)
    squares = (centred**2).sum(axis=0)
    # Leaving one query out moves a mean in proportion to the query's distance from it, so no jackknife is run.
    acceleration = np.divide((centred**3).sum(axis=0), 6 * squares**1.5, out=np.zeros(len(squares)), where=squares > 0)
    observed = columns.mean(axis=0)
    # The mean is on the grid of the resamples only up to rounding; equality is meant up to that.
    near = np.abs(means - observed) <= 1e-12 * np.maximum(1.0, np.abs(observed))
    below = ((means < observed) & ~near).mean(axis=0) + near.mean(axis=0) / 2
    low, high = np.empty(len(observed)), np.empty(len(observed))
    for i, (share, a) in enumerate(zip(below.tolist(), acceleration.tolist(), strict=True)):
        bias = float(normal_quantile(share))
        ends = [(1 - level) / 2, (1 + level) / 2]
        if math.isfinite(bias):
            shifted = [bias + float(normal_quantile(end)) for end in ends]
            # At a level beyond 1 − 1e-8 the correction may pass its pole and would come back from the other side.
            ends = [float(normal_tail(-(bias + z / max(1 - a * z, 1e-9)))) for z in shifted]
        low[i], high[i] = np.quantile(means[:, i], ends)
    return low, high
