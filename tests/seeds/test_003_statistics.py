"""Seed 003, section 6: intervals and tests between systems, put right."""

from __future__ import annotations

import math
import statistics
from typing import get_args

import numpy as np
import pytest

from rankproof.stats.effects import paired_differences, paired_effects
from rankproof.stats.intervals import mean_interval
from rankproof.stats.paired import TestName, paired_test
from rankproof.stats.unpaired import welch_test

SCORES = [0.9, 0.7, 0.8, 0.4, 0.6]
"""Mean 0.68, standard deviation 0.19235, standard error 0.086023."""

BASELINE = np.array([0.48, 0.25, 0.80, 0.10, 0.57, 0.88, 0.42, 0.66])
CANDIDATE = np.array([0.52, 0.31, 0.83, 0.15, 0.64, 0.92, 0.45, 0.73])
"""Better on each of eight queries, by 0.03 to 0.07; the queries themselves differ much more than that."""


def interval(level: float) -> list[float] | None:
    return mean_interval(np.array(SCORES), level=level, bounds=(0.0, 1.0)).as_list()


def test_6_1_the_interval_uses_the_t_quantile_for_n_minus_1() -> None:
    # 0.68 ± 2.776445 · 0.086023
    assert interval(0.95) == pytest.approx([0.441161, 0.918839], abs=5e-7)


def test_6_1_the_1_96_of_the_seed_would_be_too_short() -> None:
    error = statistics.stdev(SCORES) / math.sqrt(5)
    low, high = 0.68 - 1.96 * error, 0.68 + 1.96 * error
    assert (low, high) == pytest.approx((0.511394, 0.848606), abs=5e-7)
    found = interval(0.95)
    assert found is not None
    # With 5 queries it claims 95 % and has the width of an interval of 88 %.
    assert (found[1] - found[0]) / (high - low) == pytest.approx(2.776445 / 1.96, rel=1e-6)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (0.8, [0.548109, 0.811891]),
        (0.9, [0.496612, 0.863388]),
        # 1.076059 and −0.060686, 1.420686 without the range of the measure.
        (0.99, [0.283941, 1.0]),
        (0.999, [0.0, 1.0]),
    ],
)
def test_6_1_any_level_is_what_it_says_and_stays_within_the_range(level: float, expected: list[float]) -> None:
    assert interval(level) == pytest.approx(expected, abs=5e-7)


def test_6_1_one_query_has_no_interval_and_says_so() -> None:
    found = mean_interval(np.array([0.7]))
    assert found.as_list() is None
    assert found.reason == "no interval: one query has no spread"


def test_6_2_a_paired_test_finds_what_the_unpaired_one_of_the_seed_misses() -> None:
    differences = paired_differences(CANDIDATE, BASELINE)
    # All eight differences are positive: 2 of 2⁸ assignments of signs are as extreme.
    assert paired_test(differences).p_value == 2 / 256
    # t = 0.04875 / (0.0164208/√8) = 8.397 with 7 degrees of freedom.
    assert paired_test(differences, test="t").p_value == pytest.approx(0.0000668, abs=5e-8)
    # The seed's ttest_ind gives t = 0.369936 and p = 0.716966.
    assert welch_test(CANDIDATE, BASELINE).p_value > 0.7


@pytest.mark.parametrize("test", get_args(TestName))
def test_6_2_identical_systems_give_1_and_not_nan(test: TestName) -> None:
    assert paired_test(paired_differences(BASELINE, BASELINE), test=test).p_value == 1.0


def test_6_2_identical_systems_give_1_without_pairs_as_well() -> None:
    assert welch_test(BASELINE, BASELINE).p_value == 1.0
    assert welch_test(np.full(5, 0.4), np.full(5, 0.4)).p_value == 1.0


def test_6_2_effect_sizes_come_along() -> None:
    effect = paired_effects(paired_differences(CANDIDATE, BASELINE).reshape(-1, 1))[0]
    assert effect.mean == pytest.approx(0.04875)
    assert effect.sd == pytest.approx(0.0164208, abs=5e-8)
    assert effect.d_z == pytest.approx(2.96879, abs=5e-6)
    assert (effect.wins, effect.ties, effect.losses) == (8, 0, 0)


def test_6_2_welch_on_request_gives_the_unpaired_figure() -> None:
    found = welch_test(CANDIDATE, BASELINE)
    # With as many queries on both sides, t is that of the seed; degrees of freedom are 13.99866 instead of its 14.
    assert found.t == pytest.approx(0.369936, abs=5e-7)
    assert found.df == pytest.approx(13.99866, abs=5e-6)
    assert found.p_value == pytest.approx(0.716967, abs=5e-7)
