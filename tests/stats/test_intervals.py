"""Intervals of a mean: by hand, against SciPy, within bounds, and where there is none."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.errors import BadInput, UnknownName, UsageError
from rankproof.stats.distributions import t_quantile
from rankproof.stats.intervals import IntervalMethod, mean_interval, mean_intervals, standard_deviation
from rankproof.stats.resampling import Floats, bootstrap_means

METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)

quickly = settings(max_examples=40, derandomize=True, deadline=None)
sixteenths = st.lists(st.integers(0, 16), min_size=2, max_size=30).map(lambda units: np.array(units) / 16)


def ends(
    values: Floats, method: IntervalMethod = "t", level: float = 0.95, bounds: tuple[float, float] = (-9.0, 9.0)
) -> tuple[float, float]:
    found = mean_interval(values, method=method, level=level, resamples=500, bounds=bounds)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


class TestByHand:
    def test_1_2_3_with_the_quantile_of_two_degrees_of_freedom(self) -> None:
        # 2 ± 4.302653 · 1/√3
        assert ends(np.array([1.0, 2.0, 3.0])) == pytest.approx((-0.484138, 4.484138), abs=5e-7)

    def test_1_2_3_4_5_at_90_percent(self) -> None:
        # 3 ± 2.131847 · 1.581139/√5
        assert ends(np.array([1.0, 2, 3, 4, 5]), level=0.9) == pytest.approx((1.492557, 4.507443), abs=5e-7)

    @pytest.mark.parametrize(
        ("df", "probability", "expected"),
        [
            (1, 0.975, 12.7062), (2, 0.975, 4.30265), (4, 0.95, 2.13185), (9, 0.995, 3.24984), (29, 0.975, 2.04523),
            (10, 0.9995, 4.58689), (10**9, 0.975, 1.959964),
        ],
    )  # fmt: skip
    def test_quantiles_of_t_as_printed_in_tables(self, df: int, probability: float, expected: float) -> None:
        assert t_quantile(probability, df) == pytest.approx(expected, rel=2e-6)

    @pytest.mark.parametrize("probability", [0.6, 0.975, 0.9995, 0.9999995])
    def test_quantiles_of_t_where_there_is_a_formula(self, probability: float) -> None:
        u = 2 * probability - 1
        assert t_quantile(probability, 1) == pytest.approx(math.tan(math.pi * u / 2), rel=1e-9)
        assert t_quantile(probability, 2) == pytest.approx(u * math.sqrt(2 / (1 - u * u)), rel=1e-9)

    def test_the_percentile_interval_of_two_values(self) -> None:
        # Resamples of 0 and 1 have means 0, 1/2 and 1 with chances 1/4, 1/2 and 1/4.
        values = np.array([0.0, 1.0])
        assert ends(values, "percentile") == (0.0, 1.0)
        assert ends(values, "percentile", level=0.4) == (0.5, 0.5)

    def test_equal_values_have_an_interval_without_width(self) -> None:
        for method in METHODS:
            values = np.full(7, 0.1)
            low, high = ends(values, method)
            assert low <= values.mean() <= high
            assert high - low < 1e-11

    def test_the_standard_deviation_of_equal_values_is_exactly_zero(self) -> None:
        assert np.full(7, 0.1).std(ddof=1) > 0, "else there is nothing to guard against"
        assert standard_deviation(np.full((7, 1), 0.1)).tolist() == [0.0]


class TestAgainstSciPy:
    @pytest.mark.parametrize("level", LEVELS)
    def test_t(self, level: float) -> None:
        rng = np.random.RandomState(0)
        for n in (2, 3, 10, 55, 400):
            columns = rng.random_sample((n, 20))
            theirs = scipy.stats.t.interval(
                level, n - 1, loc=columns.mean(axis=0), scale=scipy.stats.sem(columns, axis=0)
            )
            ours = mean_intervals(columns, level=level)
            assert [one.low for one in ours] == pytest.approx(theirs[0], rel=1e-10)
            assert [one.high for one in ours] == pytest.approx(theirs[1], rel=1e-10)

    @pytest.mark.parametrize("level", LEVELS)
    @pytest.mark.parametrize(("method", "its_name"), [("percentile", "percentile"), ("bca", "BCa")])
    def test_bootstrap_intervals_from_the_same_resamples(
        self, level: float, method: IntervalMethod, its_name: str
    ) -> None:
        rng = np.random.RandomState(1)
        for n in (5, 12, 60):
            # Skewed, so that BCa has something to correct; in sixteenths, so that ties are ties for both.
            columns = np.rint(16 * rng.exponential(0.5, (n, 8))) / 16
            ours = mean_intervals(columns, level=level, method=method, resamples=999, seed=4)
            resampled = bootstrap_means(columns, 999, 4)
            for i, one in enumerate(ours):
                theirs = scipy.stats.bootstrap(
                    (columns[:, i],), np.mean, n_resamples=0, confidence_level=level, method=its_name,
                    bootstrap_result=SimpleNamespace(bootstrap_distribution=resampled[:, i]),
                ).confidence_interval  # fmt: skip
                assert (one.low, one.high) == pytest.approx(theirs, rel=1e-9, abs=1e-12)


class TestAlways:
    @quickly
    @given(sixteenths, st.sampled_from(METHODS))
    def test_the_mean_lies_inside_and_a_higher_level_is_wider(self, values: Floats, method: IntervalMethod) -> None:
        intervals = [ends(values, method, level) for level in LEVELS]
        for low, high in intervals:
            assert low <= values.mean() <= high
        for (low, high), (lower, higher) in pairwise(intervals):
            assert lower <= low
            assert high <= higher

    @quickly
    @given(sixteenths, st.sampled_from(METHODS), st.sampled_from(LEVELS))
    def test_the_ends_lie_within_the_bounds(self, values: Floats, method: IntervalMethod, level: float) -> None:
        low, high = ends(values, method, level, bounds=(0.0, 1.0))
        assert 0 <= low <= high <= 1

    @quickly
    @given(sixteenths, st.sampled_from(METHODS))
    def test_moving_all_values_moves_the_interval(self, values: Floats, method: IntervalMethod) -> None:
        moved = ends(values + 2, method)
        assert moved == pytest.approx([end + 2 for end in ends(values, method)], abs=1e-9)

    @quickly
    @given(sixteenths)
    def test_turning_the_values_round_turns_the_interval_round(self, values: Floats) -> None:
        for method in METHODS:
            low, high = ends(values, method)
            assert ends(-values, method) == pytest.approx((-high, -low), abs=1e-9)

    @pytest.mark.parametrize("method", METHODS)
    def test_a_column_gives_the_same_alone_and_among_others(self, method: IntervalMethod) -> None:
        columns = np.random.RandomState(2).random_sample((40, 12)) * ([1.0] * 6 + [1e9] * 6)
        together = mean_intervals(columns, method=method, resamples=500)
        for i in (0, 5, 11):
            alone = mean_interval(columns[:, i], method=method, resamples=500)
            assert alone.as_list() == pytest.approx(together[i].as_list(), rel=1e-12)


class TestDegenerate:
    @pytest.mark.parametrize("method", METHODS)
    def test_one_query_has_no_interval_and_says_so(self, method: IntervalMethod) -> None:
        found = mean_interval(np.array([0.4]), method=method)
        assert found.as_list() is None
        assert found.reason == "no interval: one query has no spread"

    def test_no_query_has_no_interval(self) -> None:
        found = mean_interval(np.array([]))
        assert found.as_list() is None
        assert found.reason == "no interval: no query, so there is no spread"

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_a_value_that_is_not_finite_is_refused(self, method: IntervalMethod, bad: float) -> None:
        with pytest.raises(BadInput, match="not a finite number"):
            mean_interval(np.array([0.1, bad, 0.3]), method=method)

    @pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, math.nan])
    def test_a_level_that_is_none_is_refused(self, level: float) -> None:
        with pytest.raises(UsageError, match="between 0 and 1"):
            mean_interval(np.array([0.1, 0.2]), level=level)

    def test_a_level_in_percent_is_refused_with_a_hint(self) -> None:
        with pytest.raises(UsageError, match=r"Did you mean 0\.95\?"):
            mean_interval(np.array([0.1, 0.2]), level=95)

    def test_a_kind_of_interval_that_is_none_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(UnknownName, match="Did you mean 'percentile'"):
            mean_interval(np.array([0.1, 0.2]), method="percentil")  # type: ignore[arg-type]

    def test_no_resamples_are_refused(self) -> None:
        with pytest.raises(UsageError, match="at least 1 resample, not 0"):
            mean_interval(np.array([0.1, 0.2]), method="bca", resamples=0)

    @pytest.mark.parametrize("method", ["percentile", "bca"])
    def test_a_single_resample_is_enough_to_answer(self, method: IntervalMethod) -> None:
        found = mean_interval(np.array([0.0, 0.0, 1.0]), method=method, resamples=1).as_list()
        assert found is not None
        assert found[0] <= 1 / 3 <= found[1]

    def test_one_value_unlike_the_others(self) -> None:
        values = np.zeros(50)
        values[3] = 1.0
        for method in METHODS:
            for level in LEVELS:
                low, high = ends(values, method, level, bounds=(0.0, 1.0))
                assert 0 <= low <= 0.02 <= high <= 1


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bca_widens_with_the_level_even_where_its_correction_has_a_pole(sign: float) -> None:
    # One value of fifty is apart, so the acceleration is 0.16, and 1 − a·z is zero where z is 6.2.
    values = np.zeros(50)
    values[3] = sign
    intervals = [ends(values, "bca", 1 - 10.0**-digits) for digits in range(1, 15)]
    for (low, high), (lower, higher) in pairwise(intervals):
        assert lower <= low
        assert high <= higher


def test_bootstrap_intervals_written_out() -> None:
    # So that a platform, a NumPy or a BLAS library that gives others is noticed.
    values = (np.arange(40) * 37 % 101) / 100
    assert mean_interval(values, method="percentile").as_list() == pytest.approx(
        [0.4095000000000471, 0.5902499999999469], rel=1e-13
    )
    assert mean_interval(values, method="bca").as_list() == pytest.approx(
        [0.4109999999999673, 0.5914999999999551], rel=1e-13
    )
