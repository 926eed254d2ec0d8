"""How large a difference is, beside whether it is there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankproof.errors import NothingToEvaluate
from rankproof.stats.intervals import standard_deviation
from rankproof.stats.resampling import Floats


@dataclass(frozen=True)
class Effect:
    """The size of a paired difference."""

    n: int
    mean: float
    sd: float | None
    """Standard deviation of the differences; one query has none."""
    d_z: float | None
    """Cohen's d of paired differences: mean over standard deviation. None if it is undefined, which is where the
    differences are all the same and not zero, or there is only one."""
    wins: int
    ties: int
    losses: int


def paired_effects(differences: Floats) -> list[Effect]:
    """Of each column of candidate − baseline."""
    n = len(differences)
    if not n:
        raise NothingToEvaluate("There is no query to compare on.")
    means = differences.mean(axis=0).tolist()
    sds = standard_deviation(differences).tolist() if n > 1 else [None] * differences.shape[1]
    wins, losses = ((sign * differences > 0).sum(axis=0).tolist() for sign in (1, -1))
    return [
        Effect(n, mean, sd, _d_z(mean, sd), w, n - w - lost, lost)
        for mean, sd, w, lost in zip(means, sds, wins, losses, strict=True)
    ]


def _d_z(mean: float, sd: float | None) -> float | None:
    if sd is None:
        return None
    if sd == 0:
        return 0.0 if mean == 0 else None
    return mean / sd


def paired_differences(candidate: Floats, baseline: Floats) -> Floats:
    """Candidate − baseline of each query."""
    return without_noise(candidate - baseline)


def without_noise(differences: Floats) -> Floats:
    """To twelve decimals, above the noise of scores up to 1,000: 0.3 − 0.2 and 0.2 − 0.1 are the same difference."""
    return np.round(differences, 12) + 0.0
