"""Power: G*Power's numbers, the noncentral t of SciPy and of an integral, extreme values, and simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from scipy.special import gammainc

from rankproof.errors import NotMeasured, UsageError
from rankproof.stats.paired import TestName, paired_tests
from rankproof.stats.power import power_of, queries_needed, sd_interval, smallest_difference

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(200)


@pytest.mark.parametrize(
    ("effect", "alpha", "power", "n"),
    [
        (0.2, 0.05, 0.8, 199), (0.5, 0.05, 0.8, 34), (0.8, 0.05, 0.8, 15), (0.5, 0.05, 0.95, 54), (0.5, 0.01, 0.8, 51),
        (1.0, 0.05, 0.8, 10),
    ],
)  # fmt: skip
def test_queries_needed_are_those_of_g_power(effect: float, alpha: float, power: float, n: int) -> None:
    assert queries_needed(effect, 1.0, alpha=alpha, power=power) == n
    assert queries_needed(-0.1 * effect, 0.1, alpha=alpha, power=power) == n


def test_power_written_out() -> None:
    # G*Power 3.1, difference from constant, two-tailed.
    assert power_of(34, 0.5, 1.0) == pytest.approx(0.8077775, abs=5e-8)
    assert power_of(20, 0.5, 1.0) == pytest.approx(0.5645044, abs=5e-8)


def by_integral(n: int, effect: float, alpha: float) -> float:
    """The chance that |Z + shift| exceeds critical · S, as an integral over Z of the chance that S is small enough."""
    df = n - 1
    critical, shift = scipy.stats.t.ppf(1 - alpha / 2, df), effect * math.sqrt(n)
    steep = 8 * critical / math.sqrt(2 * df)
    total = 0.0
    for side in (shift, -shift):
        inner = (critical - side - steep, critical - side, critical - side + steep)
        borders = sorted({max(-side, -10.0), 10.0, *(min(max(z, -side, -10.0), 10.0) for z in inner)})
        for low, high in pairwise(borders):
            z = (high - low) / 2 * POINTS + (low + high) / 2
            density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
            total += (
                (high - low) / 2 * float(WEIGHTS @ (density * gammainc(df / 2, df / 2 * ((z + side) / critical) ** 2)))
            )
    return total


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.05, 0.01, 0.001, 1e-6])
def test_power_is_what_an_integral_gives(alpha: float) -> None:
    for n in (2, 3, 4, 6, 10, 34, 200, 5000, 10**6):
        for shift in (0.0, 0.01, 0.5, 1.0, 2.0, 3.5, 5.0, 7.0, 9.5):
            effect = shift / math.sqrt(n)
            assert power_of(n, effect, 1.0, alpha=alpha) == pytest.approx(by_integral(n, effect, alpha), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01])
def test_power_is_that_of_scipys_noncentral_t(alpha: float) -> None:
    for n in (2, 5, 10, 50, 1000):
        for effect in (0.05, 0.2, 0.5, 1.0):
            df, shift = n - 1, effect * math.sqrt(n)
            critical = scipy.stats.t.ppf(1 - alpha / 2, df)
            # It gives NaN for the tail on the wrong side where that is below 1e-15.
            wrong = np.nan_to_num(scipy.stats.nct.cdf(-critical, df, shift))
            theirs = scipy.stats.nct.sf(critical, df, shift) + wrong
            assert power_of(n, effect, 1.0, alpha=alpha) == pytest.approx(theirs, abs=1e-10)


def test_two_queries_with_a_large_difference_may_well_miss_it() -> None:
    # The series of the noncentral t gives up on the far tail here; that is no proof of power.
    assert power_of(2, 5.44, 1.0) == pytest.approx(0.4539, abs=5e-4)
    assert power_of(5, 3.0, 1.0, alpha=0.001) == pytest.approx(0.3478, abs=5e-5)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.001, 1e-6])
def test_power_grows_from_alpha_to_1_with_difference_and_queries(alpha: float) -> None:
    sizes = (2, 3, 5, 20, 1000, 10**6, 10**9)
    effects = (0.0, 1e-300, 1e-9, 1e-4, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0, 1e3, 1e5, 1e7, 1e300)
    grid = np.array([[power_of(n, effect, 1.0, alpha=alpha) for effect in effects] for n in sizes])
    assert np.isfinite(grid).all()
    assert grid.min() >= alpha * (1 - 1e-9)
    assert grid.max() == 1.0
    assert np.diff(grid, axis=0).min() > -1e-11
    assert np.diff(grid, axis=1).min() > -1e-11


def test_one_query_finds_no_more_than_chance() -> None:
    assert power_of(1, 0.5, 1.0) == 0.05
    assert power_of(0, 0.5, 1.0) == 0.0


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.95), (0.05, 0.051), (0.2, 0.999)])
def test_the_number_of_queries_is_the_least_that_is_enough(alpha: float, power: float) -> None:
    for effect in (0.03, 0.11, 0.5, 0.9, 4.0, 30.0):
        n = queries_needed(effect, 1.0, alpha=alpha, power=power)
        assert power_of(n, effect, 1.0, alpha=alpha) >= power
        assert power_of(n - 1, effect, 1.0, alpha=alpha) < power


@pytest.mark.parametrize("n", [2, 3, 10, 55, 7000, 10**8])
@pytest.mark.parametrize("sd", [1e-6, 0.3, 1e6])
def test_the_smallest_difference_is_found_with_just_the_power(n: int, sd: float) -> None:
    smallest = smallest_difference(n, sd)
    assert power_of(n, smallest, sd) == pytest.approx(0.8, abs=1e-6)
    assert power_of(n, smallest * (1 - 1e-6), sd) < 0.8


def test_the_smallest_difference_of_34_queries_is_about_half_a_standard_deviation() -> None:
    assert smallest_difference(34, 0.2) == pytest.approx(0.0990056, abs=5e-8)
    assert by_integral(34, 0.0990056 / 0.2, 0.05) == pytest.approx(0.8, abs=1e-6)


def test_the_smallest_difference_is_found_for_the_smallest_spread_that_can_be_written() -> None:
    assert 0 < smallest_difference(10, 5e-324) < 1e-300


def test_the_spread_of_ten_differences_is_known_within_a_factor() -> None:
    # 9 degrees of freedom: χ² between 2.70039 and 19.02277.
    assert sd_interval(1.0, 10) == pytest.approx((math.sqrt(9 / 19.02277), math.sqrt(9 / 2.70039)), rel=1e-6)
    assert sd_interval(2.0, 10)[0] == pytest.approx(2 * sd_interval(1.0, 10)[0])


@pytest.mark.parametrize("sd", [0.0, -1.0, math.nan, math.inf])
def test_without_spread_there_is_no_power(sd: float) -> None:
    with pytest.raises(NotMeasured, match="differences that vary"):
        power_of(10, 0.1, sd)


@pytest.mark.parametrize("difference", [0.0, math.nan, math.inf])
def test_a_difference_that_is_none_needs_no_queries(difference: float) -> None:
    with pytest.raises(UsageError, match="Name a difference"):
        queries_needed(difference, 1.0)


@pytest.mark.parametrize("difference", [math.nan, math.inf])
def test_a_difference_that_is_no_number_has_no_power(difference: float) -> None:
    with pytest.raises(UsageError, match="A difference is a number"):
        power_of(10, difference, 1.0)


@pytest.mark.parametrize("difference", [1e-5, 1e-200, 5e-324])
def test_a_difference_too_small_to_be_seen_is_said_to_be(difference: float) -> None:
    with pytest.raises(NotMeasured, match="more than a thousand million queries"):
        queries_needed(difference, 1.0)


def test_levels_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="A significance level lies between 0 and 1; 5 does not"):
        power_of(10, 0.1, 1.0, alpha=5)
    with pytest.raises(UsageError, match="Power lies between 0 and 1; 80 does not"):
        queries_needed(0.1, 1.0, power=80)
    with pytest.raises(UsageError, match="not above the level"):
        queries_needed(0.1, 1.0, alpha=0.1, power=0.1)
    with pytest.raises(UsageError, match="Did you mean"):
        sd_interval(1.0, 10, level=95)


def test_one_query_is_too_few_for_a_plan() -> None:
    with pytest.raises(NotMeasured, match="judge more queries"):
        smallest_difference(1, 1.0)
    with pytest.raises(NotMeasured, match="spread"):
        sd_interval(1.0, 1)


@pytest.mark.parametrize("effect", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("test", ["t", "randomization"])
def test_so_many_queries_do_find_the_difference_as_often_as_promised(effect: float, test: TestName) -> None:
    n = queries_needed(effect, 1.0)
    draws = np.random.RandomState(n).normal(effect, 1.0, (n, 4000))
    found = np.mean([one.p_value <= 0.05 for one in paired_tests(draws, test=test, permutations=1999)])
    # The power of the randomisation test is practically that of t: half a percent is allowed for what is apart.
    apart = 0.0 if test == "t" else 0.005
    promised = power_of(n, effect, 1.0)
    assert abs(found - promised) < 3.5 * math.sqrt(promised * (1 - promised) / 4000) + apart
