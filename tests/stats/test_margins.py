"""Non-inferiority and equivalence."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.stats.margins import MarginTest, margin_tests
from rankproof.stats.paired import TestName

TESTS: tuple[TestName, ...] = get_args(TestName)

quickly = settings(max_examples=60, derandomize=True, deadline=None)
hundredths = st.lists(st.integers(-20, 20), min_size=1, max_size=14)


def one_test(differences: list[float], margin: float, test: TestName = "randomization") -> MarginTest:
    return margin_tests(np.array(differences).reshape(-1, 1), margin, test=test)[0]


def test_identical_systems_are_shown_to_be_equivalent() -> None:
    # All ten differences lie inside the margin, on either side: 1/2¹⁰ each.
    found = one_test([0.0] * 10, 0.01)
    assert (found.non_inferiority_p, found.superiority_p, found.equivalence_p) == (1 / 1024, 1 / 1024, 1 / 1024)


def test_worse_by_exactly_the_margin_shows_nothing() -> None:
    found = one_test([-0.3 + 0.2] * 10, 0.1)
    assert found.non_inferiority_p == 1.0
    assert found.superiority_p == 1 / 1024
    assert found.equivalence_p == 1.0


def test_by_hand() -> None:
    # Moved up by 0.1: −0.1, 0.2, 0.3, 0.4, of whose 16 sums two are at least 0.8. Moved down: −0.3, 0, 0.1, 0.2, whose
    # 8 sums without the zero are at most 0 in five cases.
    found = one_test([-0.2, 0.1, 0.2, 0.3], 0.1)
    assert found.non_inferiority_p == 2 / 16
    assert found.superiority_p == 5 / 8
    assert found.equivalence_p == 5 / 8


def test_t_is_scipys_one_sided_test_against_the_margin() -> None:
    rng = np.random.RandomState(0)
    differences = rng.normal(0.01, 0.1, (40, 30))
    found = margin_tests(differences, 0.02, test="t")
    lower = scipy.stats.ttest_1samp(differences, -0.02, alternative="greater").pvalue
    upper = scipy.stats.ttest_1samp(differences, 0.02, alternative="less").pvalue
    assert [one.non_inferiority_p for one in found] == pytest.approx(lower, rel=1e-8)
    assert [one.superiority_p for one in found] == pytest.approx(upper, rel=1e-8)
    assert [one.equivalence_p for one in found] == pytest.approx(np.maximum(lower, upper), rel=1e-8)


@quickly
@given(hundredths, st.integers(1, 30), st.integers(1, 30))
def test_a_larger_margin_never_gives_a_larger_p(values: list[int], margin: int, more: int) -> None:
    differences = [value / 100 for value in values]
    small, large = one_test(differences, margin / 100), one_test(differences, (margin + more) / 100)
    assert large.non_inferiority_p <= small.non_inferiority_p
    assert large.superiority_p <= small.superiority_p
    assert large.equivalence_p <= small.equivalence_p


@quickly
@given(hundredths, st.integers(1, 30), st.sampled_from(TESTS))
def test_turned_round_one_side_becomes_the_other(values: list[int], margin: int, test: TestName) -> None:
    found = one_test([value / 100 for value in values], margin / 100, test)
    turned = one_test([-value / 100 for value in values], margin / 100, test)
    assert found.non_inferiority_p == pytest.approx(turned.superiority_p, rel=1e-12)


@pytest.mark.parametrize("margin", [0.0, -0.01, math.nan, math.inf])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(UsageError, match="A margin is a difference above 0"):
        one_test([0.1], margin)


def test_no_query_and_no_number_are_refused() -> None:
    with pytest.raises(NothingToEvaluate, match="no query"):
        one_test([], 0.01)
    with pytest.raises(BadInput, match="not a finite number"):
        one_test([0.1, math.nan], 0.01)
