"""Welch's test of two independent samples, for those who ask for it by name.

Systems are nearly always scored on the same queries, and then a paired test sees more; this one is for scores of
different queries, or to reproduce an unpaired figure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankproof.errors import NotMeasured
from rankproof.stats.distributions import LEAST, t_quantile, t_tail
from rankproof.stats.intervals import check_finite, check_level


@dataclass(frozen=True)
class WelchTest:
    """Student's t for unequal variances, with the degrees of freedom after Satterthwaite."""

    difference: float
    t: float | None
    """None where neither sample has any spread."""
    df: float | None
    p_value: float
    low: float | None
    high: float | None


def welch_test(candidate: ArrayLike, baseline: ArrayLike, *, level: float = 0.95) -> WelchTest:
    """Whether two samples have the same mean, two-sided, with the interval of the difference."""
    check_level(level)
    one, two = np.asarray(candidate, np.float64), np.asarray(baseline, np.float64)
    if min(len(one), len(two)) < 2:
        raise NotMeasured("Welch's test needs at least two queries on either side.")
    check_finite(one)
    check_finite(two)
    difference = float(one.mean() - two.mean())
    parts = [0.0 if np.ptp(sample) == 0 else float(sample.var(ddof=1)) / len(sample) for sample in (one, two)]
    variance = sum(parts)
    if variance == 0:
        # As for paired tests: the least p that reassigning the queries to the two sides can reach.
        same = abs(difference) < 1e-12
        p = 1.0 if same else max(2 / math.comb(len(one) + len(two), len(one)), LEAST)
        return WelchTest(difference, None, None, min(p, 1.0), None, None)
    df = variance**2 / sum(part**2 / (len(sample) - 1) for part, sample in zip(parts, (one, two), strict=True))
    t = difference / math.sqrt(variance)
    reach = t_quantile((1 + level) / 2, df) * math.sqrt(variance)
    p = min(max(2 * float(t_tail(abs(t), df)), LEAST), 1.0)
    return WelchTest(difference, t, df, p, difference - reach, difference + reach)
