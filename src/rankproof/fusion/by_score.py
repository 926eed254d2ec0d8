"""Methods that combine scores, brought to one scale first; `normalization` says how, and what absent documents get.

The Comb family: Fox & Shaw, Combination of Multiple Searches, TREC-2, 1993.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankproof.fusion.candidates import Candidates
from rankproof.fusion.normalization import Normalization, above_absent, normalized
from rankproof.fusion.order import Floats
from rankproof.fusion.registry import method


@method("weighted")
def weighted(
    candidates: Candidates, *, weights: Sequence[float] | None = None, normalize: Normalization = "min-max"
) -> Floats:
    """Weighted sum: the sum over the runs of weight × normalised score.

    Vogt & Cottrell, Fusion via a linear combination of scores, Information Retrieval 1, 1999. Each weight is 1 unless
    given. Documents of a run whose weight is 0 stay in the list, with nothing to their credit.
    """
    values = normalized(candidates, normalize)
    total = np.zeros(len(candidates))
    for run, weight in enumerate(weights or [1.0] * candidates.n_runs):
        total += weight * values[:, run]
    return total


@method("combsum")
def combsum(candidates: Candidates, *, normalize: Normalization = "min-max") -> Floats:
    """CombSUM: the sum of the normalised scores over all runs."""
    return weighted(candidates, normalize=normalize)


@method("combmnz")
def combmnz(candidates: Candidates, *, normalize: Normalization = "min-max") -> Floats:
    """CombMNZ: the sum of the normalised scores × the number of runs that have the document.

    Scores count from what an absent document gets, which is 0 unless scores are negative. Without that, being found by
    more runs would make a negative sum worse.
    """
    total = np.zeros(len(candidates))
    for column in above_absent(candidates, normalize).T:
        total += column
    return total * candidates.n_present


@method("combanz")
def combanz(candidates: Candidates, *, normalize: Normalization = "min-max") -> Floats:
    """CombANZ: the mean of the normalised scores over the runs that have the document."""
    values = normalized(candidates, normalize)
    total = np.zeros(len(candidates))
    for run in range(candidates.n_runs):
        total += np.where(candidates.present[:, run], values[:, run], 0.0)
    mean: Floats = total / candidates.n_present
    return mean


@method("combmax")
def combmax(candidates: Candidates, *, normalize: Normalization = "min-max") -> Floats:
    """CombMAX: the highest normalised score among the runs that have the document."""
    highest: Floats = np.where(candidates.present, normalized(candidates, normalize), -np.inf).max(axis=1)
    return highest


@method("combmin")
def combmin(candidates: Candidates, *, normalize: Normalization = "min-max") -> Floats:
    """CombMIN: the lowest normalised score among the runs that have the document."""
    lowest: Floats = np.where(candidates.present, normalized(candidates, normalize), np.inf).min(axis=1)
    return lowest


@method("combmed")
def combmed(candidates: Candidates, *, normalize: Normalization = "min-max") -> Floats:
    """CombMED: the median of the normalised scores among the runs that have the document; of two, their mean."""
    rising = np.sort(np.where(candidates.present, normalized(candidates, normalize), np.inf), axis=1)
    row, n = np.arange(len(rising)), candidates.n_present
    median: Floats = rising[row, (n - 1) // 2] / 2 + rising[row, n // 2] / 2
    return median
