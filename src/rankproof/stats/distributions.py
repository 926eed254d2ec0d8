"""The distributions that tests and intervals need.

SciPy is imported when one is first asked for: that takes as long as all else that a second `eval` does. So the one
quantile that every interval needs is worked out here.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

LEAST = sys.float_info.min
"""A probability that rounds to zero is given as this: it is small, not nothing."""
_SUMMED = 1_000
"""Up to so many degrees of freedom the sums for Student's t are quicker than importing SciPy."""


def t_quantile(probability: float, df: float) -> float:
    """Student's t: the value that is not exceeded with this probability."""
    if df == int(df) and 1 <= df <= _SUMMED and 0.001 <= probability <= 0.999:
        return math.copysign(_t_reach(abs(2.0 * probability - 1.0), int(df)), probability - 0.5)
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def _t_reach(inside: float, df: int) -> float:
    """How far from 0 Student's t lies at most with this probability."""
    peak = 2.0 * math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi * df)
    t, step = 0.0, math.inf
    # The probability rises ever more slowly, so that Newton's steps come nearer from below and never go past.
    while step > 1e-15 * t:
        step = (inside - _t_inside(t, df)) / (peak * (1.0 + t * t / df) ** (-(df + 1) / 2))
        t += step
    return t


def _t_inside(t: float, df: int) -> float:
    """Student's t: the probability of a value from −t to t (Abramowitz & Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    term = cosine if df % 2 else 1.0
    total = term if df > 1 else 0.0
    for i in range(2 + df % 2, df - 1, 2):
        term *= cosine * cosine * (i - 1) / i
        total += term
    return 2.0 / math.pi * (angle + sine * total) if df % 2 else sine * total


def t_tail(t: Any, df: Any) -> Any:
    """Student's t: the probability of a greater value; of arrays an array."""
    from scipy.special import stdtr

    return stdtr(df, -np.asarray(t, np.float64))


def noncentral_t_tail(t: float, df: float, shift: float) -> float:
    """Noncentral t: the probability of a greater value."""
    from scipy.special import chdtr, nctdtr

    tail = float(1.0 - nctdtr(df, shift, t))
    if math.isnan(tail):
        # The series gives up where the shift is so great that only the estimate of the spread is left to chance.
        return float(chdtr(df, df * (shift / t) ** 2)) if shift > 0 else 0.0
    return tail


def normal_tail(z: Any) -> Any:
    """Standard normal: the probability of a greater value; of arrays an array."""
    from scipy.special import ndtr

    return ndtr(-np.asarray(z, np.float64))


def normal_quantile(probability: Any) -> Any:
    """Standard normal: the value that is not exceeded with this probability; of arrays an array."""
    from scipy.special import ndtri

    return ndtri(probability)


def fair_coin_at_most(heads: int, tosses: int) -> float:
    """Binomial with even chances: the probability of at most so many heads."""
    from scipy.special import bdtr

    return float(bdtr(float(heads), tosses, 0.5))


def chi_square_quantile(probability: float, df: float) -> float:
    """Chi-square: the value that is not exceeded with this probability."""
    from scipy.special import chdtri

    return float(chdtri(df, 1.0 - probability))
