"""Paired tests: could the difference between two systems on the same queries be chance?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankproof.errors import NothingToEvaluate, UnknownName, UsageError
from rankproof.stats.distributions import LEAST, fair_coin_at_most, normal_tail, t_tail
from rankproof.stats.effects import paired_differences, without_noise
from rankproof.stats.intervals import check_finite, standard_deviation
from rankproof.stats.resampling import EXACT_UP_TO, Floats, Progress, all_signed_sums, on_grid, signed_sums

TestName = Literal["randomization", "t", "wilcoxon", "sign"]
Alternative = Literal["two-sided", "greater", "less"]
Pairs = Sequence[tuple[int, int]]
"""Which column is held against which: (candidate, baseline)."""

PERMUTATIONS = 100_000
WILCOXON_EXACT_UP_TO = 200
_BLOCK = 1 << 22


@dataclass(frozen=True)
class PairedTest:
    """What one test found. The p-value is never zero: the observed signs are one of the possible assignments."""

    test: TestName
    alternative: Alternative
    p_value: float
    n: int
    n_nonzero: int
    """Queries on which the systems differ."""
    exact: bool
    """Whether p comes from the whole distribution, not from a sample or an approximation of it."""


def paired_test(
    differences: ArrayLike, *, test: TestName = "randomization", alternative: Alternative = "two-sided",
    permutations: int = PERMUTATIONS, seed: int = 0,
) -> PairedTest:  # fmt: skip
    """One test of one column of candidate − baseline."""
    column = np.asarray(differences, np.float64).reshape(-1, 1)
    return paired_tests(column, test=test, alternative=alternative, permutations=permutations, seed=seed)[0]


def paired_tests(
    columns: Floats, pairs: Pairs | None = None, *, test: TestName = "randomization",
    alternative: Alternative = "two-sided", permutations: int = PERMUTATIONS, seed: int = 0,
    progress: Progress | None = None,
) -> list[PairedTest]:  # fmt: skip
    """One test per column of differences; with `pairs`, one per pair of columns of values.

    `randomization` flips the sign of each query's difference, as it would be if the two systems had changed names
    there (Fisher 1935); with up to 20 queries that differ it enumerates all assignments, else it draws `permutations`
    of them. `t` is Student's. `wilcoxon` is the signed-rank test without zeros, exact up to 200 queries, ties included.
    `sign` counts wins and losses. `greater` asks whether the candidate is better.
    """
    _check(columns, test, alternative, permutations)
    differences = without_noise(columns) if pairs is None else _of_pairs(columns, pairs)
    n, n_nonzero = len(differences), np.count_nonzero(differences, axis=0)
    if test == "randomization":
        p, exact = _randomization(columns, pairs, differences, alternative, permutations, seed, progress)
    elif test == "t":
        p, exact = _t(differences, alternative), np.zeros(differences.shape[1], np.bool_)
    else:
        one = _wilcoxon if test == "wilcoxon" else _sign
        p = np.array([one(column[column != 0], alternative) for column in differences.T])
        exact = n_nonzero <= WILCOXON_EXACT_UP_TO if test == "wilcoxon" else np.ones(len(p), np.bool_)
    p = np.clip(p, LEAST, 1.0)
    return [
        PairedTest(test, alternative, value, n, nonzero, known)
        for value, nonzero, known in zip(p.tolist(), n_nonzero.tolist(), exact.tolist(), strict=True)
    ]


def _check(columns: Floats, test: str, alternative: str, permutations: int) -> None:
    for kind, word, words in (("test", test, TestName), ("alternative", alternative, Alternative)):
        if word not in get_args(words):
            raise UnknownName(kind, word, get_args(words))
    if permutations < 1:
        raise UsageError(f"A randomisation test takes at least 1 permutation, not {permutations}; 100,000 is usual.")
    if not len(columns):
        raise NothingToEvaluate("There is no query to test on.")
    check_finite(columns)


def _of_pairs(columns: Floats, pairs: Pairs) -> Floats:
    candidates, baselines = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    return paired_differences(columns[:, candidates], columns[:, baselines])


def _towards(statistic: Floats, alternative: Alternative) -> Floats:
    """The statistic so that greater means more extreme."""
    if alternative == "two-sided":
        return np.abs(statistic)
    return statistic if alternative == "greater" else -statistic


def _randomization(
    columns: Floats, pairs: Pairs | None, differences: Floats, alternative: Alternative, permutations: int, seed: int,
    progress: Progress | None,
) -> tuple[Floats, NDArray[np.bool_]]:  # fmt: skip
    n_nonzero = np.count_nonzero(differences, axis=0)
    exact = n_nonzero <= EXACT_UP_TO
    p = np.ones(differences.shape[1])
    for i in np.flatnonzero(exact).tolist():
        p[i] = _enumerated(differences[:, i], alternative)
    sampled = np.flatnonzero(~exact)
    if not len(sampled):
        return p, exact
    if pairs is None:
        columns, pairs = differences[:, sampled], None
    else:
        pairs = [pairs[i] for i in sampled.tolist()]
    p[sampled] = (_count_extreme(columns, pairs, alternative, permutations, seed, progress) + 1) / (permutations + 1)
    return p, exact


def _enumerated(differences: Floats, alternative: Alternative) -> float:
    values, unit = on_grid(differences[differences != 0])
    if not len(values):
        return 1.0
    sums = all_signed_sums(values)
    least = _towards(values.sum(), alternative) - len(values) * unit
    if alternative == "two-sided":
        return float((np.abs(sums) >= least).mean())
    return float(((sums >= least).sum() + (-sums >= least).sum()) / (2 * len(sums)))


def _count_extreme(
    columns: Floats, pairs: Pairs | None, alternative: Alternative, permutations: int, seed: int,
    progress: Progress | None,
) -> NDArray[np.int64]:  # fmt: skip
    """How often random signs give a sum at least as extreme as the observed one.

    With pairs, the signs meet the values of each system once, and a pair is the difference of two sums.
    """
    values, unit = on_grid(columns)
    plus, minus = None, None
    if pairs is not None:
        plus, minus = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))

    def contrast(sums: Floats, part: slice) -> Floats:
        return sums[:, part] if plus is None or minus is None else sums[:, plus[part]] - sums[:, minus[part]]

    n_tests = columns.shape[1] if plus is None else len(plus)
    observed = contrast(values.sum(axis=0, keepdims=True), slice(None))[0]
    # What is equal on paper may be apart by the rounding to the grid, half a unit for each value of either sum.
    apart = len(values) * (unit if plus is None or minus is None else unit[plus] + unit[minus])
    least = _towards(observed, alternative) - apart
    extreme = np.zeros(n_tests, np.int64)
    for sums in signed_sums(values, permutations, seed, progress):
        step = max(_BLOCK // len(sums), 1)
        for start in range(0, n_tests, step):
            part = slice(start, start + step)
            extreme[part] += (_towards(contrast(sums, part), alternative) >= least[part]).sum(axis=0)
    return extreme


def _t(differences: Floats, alternative: Alternative) -> Floats:
    n = len(differences)
    means = differences.mean(axis=0)
    spread = standard_deviation(differences) if n > 1 else np.zeros(len(means))
    known = spread > 0
    t = np.divide(means, spread / math.sqrt(n), out=np.zeros(len(means)), where=known)
    tail = np.asarray(t_tail(_towards(t, alternative), max(n - 1, 1)))
    p = 2 * tail if alternative == "two-sided" else tail
    return np.where(known, p, [_without_spread(mean, n, alternative) for mean in means.tolist()])


def _without_spread(mean: float, n: int, alternative: Alternative) -> float:
    """All differences are the same: the least p that flipping signs can reach, since t would be infinite."""
    if mean == 0:
        return 1.0
    if alternative == "two-sided":
        return 2.0 ** max(1 - n, -1000)
    return 2.0 ** max(-n, -1000) if (mean > 0) == (alternative == "greater") else 1.0


def _wilcoxon(nonzero: Floats, alternative: Alternative) -> float:
    n = len(nonzero)
    if n == 0:
        return 1.0
    ranks = _middle_ranks(np.abs(nonzero))
    positive = ranks[nonzero > 0].sum()
    if n <= WILCOXON_EXACT_UP_TO:
        return _signed_rank_exact(np.rint(2 * ranks).astype(np.int64), round(2 * positive), alternative)
    _, ties = np.unique(ranks, return_counts=True)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties.astype(np.float64) ** 3 - ties).sum()) / 48
    z = (positive - n * (n + 1) / 4) / math.sqrt(variance)
    tail = float(normal_tail(_towards(np.array(z), alternative)))
    return 2 * tail if alternative == "two-sided" else tail


def _middle_ranks(sizes: Floats) -> Floats:
    """Ranks from 1, equal sizes sharing the mean of theirs."""
    _, inverse, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]


def _signed_rank_exact(doubled: NDArray[np.int64], positive: int, alternative: Alternative) -> float:
    """From the distribution of the positive rank sum, built rank by rank; doubled, so that middle ranks are whole."""
    chance = np.ones(1)
    for rank in doubled.tolist():
        longer = np.zeros(len(chance) + rank)
        longer[: len(chance)] += chance / 2
        longer[rank:] += chance / 2
        chance = longer
    total = int(doubled.sum())
    at_least = positive if alternative == "greater" else total - positive
    if alternative == "two-sided":
        return min(1.0, 2 * float(chance[max(positive, total - positive) :].sum()))
    return float(chance[at_least:].sum())


def _sign(nonzero: Floats, alternative: Alternative) -> float:
    n, wins = len(nonzero), int((nonzero > 0).sum())
    if n == 0:
        return 1.0
    if alternative == "two-sided":
        return min(1.0, 2 * fair_coin_at_most(min(wins, n - wins), n))
    return fair_coin_at_most(n - wins if alternative == "greater" else wins, n)
