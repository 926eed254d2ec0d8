"""p-values of a family of tests, adjusted so that many tests do not find by chance what is not there."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rankproof.errors import UnknownName
from rankproof.stats.resampling import Floats

Correction = Literal["holm", "bonferroni", "bh", "none"]


def adjust(p_values: ArrayLike, correction: Correction = "holm") -> Floats:
    """The p-values of one family, each to be held against the level of the whole family.

    `holm` and `bonferroni` bound the chance of any false alarm; Holm's is never the weaker. `bh` (Benjamini–Hochberg)
    bounds the expected share of false alarms among the findings. `none` leaves them as they are.
    """
    if correction not in get_args(Correction):
        raise UnknownName("correction", correction, get_args(Correction))
    p = np.asarray(p_values, np.float64)
    n = len(p)
    if correction == "none" or n == 0:
        return p.copy()
    if correction == "bonferroni":
        return np.minimum(p * n, 1.0)
    order = np.argsort(p, kind="stable")
    if correction == "holm":
        ranked = np.maximum.accumulate(p[order] * np.arange(n, 0, -1))
    else:
        ranked = np.minimum.accumulate((p[order] * (n / np.arange(1, n + 1)))[::-1])[::-1]
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(ranked, 1.0)
    return adjusted
