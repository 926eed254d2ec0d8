"""The distributions that tests and intervals need. SciPy is imported when one is first asked for."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

LEAST = sys.float_info.min
"""A probability that rounds to zero is given as this: it is small, not nothing."""


def t_quantile(probability: float, df: float) -> float:
    """Student's t: the value that is not exceeded with this probability."""
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


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
