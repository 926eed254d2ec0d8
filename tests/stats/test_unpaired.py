"""Welch's test of two independent samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from rankproof.errors import BadInput, NotMeasured, UsageError
from rankproof.stats.unpaired import welch_test


def test_by_hand() -> None:
    # Means 2 and 4, variances 1 and 4 over n = 3 each: t = −2/√(5/3), df = (5/3)²/((1/3)²/2 + (4/3)²/2) = 50/17.
    found = welch_test(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    assert found.difference == -2.0
    assert found.t == pytest.approx(-1.549193, abs=5e-7)
    assert found.df == pytest.approx(50 / 17)
    assert found.p_value == pytest.approx(0.22088, abs=5e-6)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_it_is_what_scipy_gives(level: float) -> None:
    rng = np.random.RandomState(0)
    for n, m in ((2, 2), (2, 9), (10, 10), (30, 7), (500, 400)):
        for _ in range(20):
            one, two = rng.normal(0.2, 1.0, n), rng.normal(0.0, 3.0, m)
            ours, theirs = welch_test(one, two, level=level), scipy.stats.ttest_ind(one, two, equal_var=False)
            interval = theirs.confidence_interval(level)
            assert (ours.t, ours.df, ours.p_value) == pytest.approx(
                (theirs.statistic, theirs.df, theirs.pvalue), rel=1e-9
            )
            assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), rel=1e-8, abs=1e-12)


def test_identical_samples_give_1() -> None:
    values = np.array([0.1, 0.5, 0.9])
    assert welch_test(values, values).p_value == 1.0


def test_without_any_spread_and_difference_p_is_1() -> None:
    found = welch_test(np.full(7, 0.1), np.full(3, 0.1))
    assert (found.p_value, found.t, found.low) == (1.0, None, None)


def test_without_any_spread_p_is_the_least_that_reassigning_queries_can_reach() -> None:
    # Of the 20 ways to choose three of six, two are as extreme.
    assert welch_test(np.ones(3), np.zeros(3)).p_value == pytest.approx(2 / 20)


def test_without_any_spread_in_many_queries_p_is_small_and_not_zero() -> None:
    assert 0 < welch_test(np.ones(5000), np.zeros(5000)).p_value < 1e-300


def test_one_sample_without_spread_has_the_degrees_of_freedom_of_the_other() -> None:
    assert welch_test(np.array([0.1, 0.2, 0.4]), np.full(9, 0.1)).df == pytest.approx(2.0)


def test_one_query_on_a_side_is_too_few() -> None:
    with pytest.raises(NotMeasured, match="at least two queries"):
        welch_test(np.array([0.1]), np.array([0.1, 0.2]))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_value_that_is_not_finite_is_refused(bad: float) -> None:
    for one, two in (([0.1, bad], [0.1, 0.2]), ([0.1, 0.2], [bad, 0.1])):
        with pytest.raises(BadInput, match="not a finite number"):
            welch_test(np.array(one), np.array(two))


def test_a_level_in_percent_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Did you mean 0\.95\?"):
        welch_test(np.array([0.1, 0.2]), np.array([0.1, 0.3]), level=95)
