"""Tests and intervals over many queries: the data, and what each contender does with them.

The peers test one column at a time and take minutes to hours for all of it, so a part of their work is measured and the
time scaled to the whole: it grows in proportion to permutations and columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import N_MEASURES, N_SYSTEMS
from benchmarks.contenders import Means

Floats = NDArray[np.float64]

PERMUTATIONS, RESAMPLES = 100_000, 10_000
PERMUTATIONS_OF_PEERS = 5_000
PAIRS = [
    (candidate * N_MEASURES + measure, baseline * N_MEASURES + measure)
    for candidate in range(N_SYSTEMS)
    for baseline in range(candidate)
    for measure in range(N_MEASURES)
]


@dataclass(frozen=True)
class Part:
    """Work on values of queries × columns, and how many times it the whole case is."""

    work: Callable[[Floats], Means]
    times: float = 1.0


def values(n_queries: int) -> Floats:
    """What systems score under measures: one column each, good and bad queries in common."""
    rng = np.random.RandomState(20_261_101)
    hard = rng.beta(0.6, 0.8, (n_queries, 1))
    return np.clip(hard + rng.normal(0.0, 0.15, (n_queries, N_SYSTEMS * N_MEASURES)), 0.0, 1.0)


def part_of(case: str, contender: str) -> Part:
    """What a contender does for a case."""
    return _PARTS[case][contender]


def _our_test(columns: Floats) -> Means:
    from rankproof.stats.paired import paired_test

    return {"p": paired_test(columns[:, 6] - columns[:, 0], permutations=PERMUTATIONS).p_value}


def _our_tests(columns: Floats) -> Means:
    from rankproof.stats.paired import paired_tests

    return {"p": paired_tests(columns, PAIRS, permutations=PERMUTATIONS)[0].p_value}


def _scipy_test(columns: Floats) -> Means:
    from scipy.stats import permutation_test

    # In batches of 100 it is faster than all at once, which is its default.
    found = permutation_test(
        (columns[:, 6] - columns[:, 0],), np.mean, permutation_type="samples", vectorized=True,
        n_resamples=PERMUTATIONS_OF_PEERS, batch=100,
    )  # fmt: skip
    return {"p": float(found.pvalue)}


def _ranx_test(columns: Floats) -> Means:
    from ranx.statistical_tests import fisher_randomization_test

    control, treatment = columns[:, 0].copy(), columns[:, 6].copy()
    return {"p": float(fisher_randomization_test(control, treatment, PERMUTATIONS_OF_PEERS)[0])}


def _our_bootstrap(method: Any) -> Callable[[Floats], Means]:
    def work(columns: Floats) -> Means:
        from rankproof.stats.intervals import mean_intervals

        found = mean_intervals(columns, method=method, resamples=RESAMPLES)[0]
        return _ends(found.low, found.high)

    return work


def _scipy_bootstrap(method: str) -> Callable[[Floats], Means]:
    def work(columns: Floats) -> Means:
        from scipy.stats import bootstrap

        # In batches of 200 it is faster than all at once, which is its default.
        found = bootstrap((columns[:, 0],), np.mean, vectorized=True, n_resamples=RESAMPLES, method=method, batch=200)
        return _ends(*found.confidence_interval)

    return work


def _ends(low: Any, high: Any) -> Means:
    return {"low": float(low), "high": float(high)}


_LONGER = PERMUTATIONS / PERMUTATIONS_OF_PEERS
_COLUMNS = N_SYSTEMS * N_MEASURES
_PARTS = {
    "statistics 1 test": {
        "rankproof": Part(_our_test),
        "scipy": Part(_scipy_test, _LONGER),
        "ranx warm": Part(_ranx_test, _LONGER),
    },
    "statistics 168 tests": {
        "rankproof": Part(_our_tests),
        "scipy": Part(_scipy_test, _LONGER * len(PAIRS)),
        "ranx warm": Part(_ranx_test, _LONGER * len(PAIRS)),
    },
    "statistics percentile": {
        "rankproof": Part(_our_bootstrap("percentile")),
        "scipy": Part(_scipy_bootstrap("percentile"), _COLUMNS),
    },
    "statistics bca": {
        "rankproof": Part(_our_bootstrap("bca")),
        "scipy": Part(_scipy_bootstrap("BCa"), _COLUMNS),
    },
}
