"""Random signs and resamples: exact sums, fair draws, and the same bits everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from rankproof.stats.resampling import Floats, all_signed_sums, bootstrap_means, on_grid, signed_sums


def all_sums(values: Floats, rounds: int, seed: int = 0) -> Floats:
    return np.concatenate(list(signed_sums(values, rounds, seed)))


def scores(n: int, columns: int, seed: int = 1) -> Floats:
    return on_grid(np.random.RandomState(seed).random_sample((n, columns))).values


def test_a_value_on_the_grid_is_a_whole_multiple_of_a_power_of_two_and_has_hardly_moved() -> None:
    columns = np.random.RandomState(0).random_sample((500, 3))
    values, unit = on_grid(columns)
    assert np.array_equal(np.frexp(unit)[0], [0.5, 0.5, 0.5])
    assert np.array_equal(values / unit, np.rint(values / unit))
    assert np.abs(values - columns).max() <= 2.0**-41


@pytest.mark.parametrize("greatest", [1e-9, 1.0, 37.0, 1e6, 1e15])
@pytest.mark.parametrize("n", [1, 20, 7000])
def test_no_sum_on_the_grid_reaches_the_end_of_whole_numbers(greatest: float, n: int) -> None:
    values, unit = on_grid(np.full((n, 1), greatest))
    assert float(values.sum() / unit[0]) <= 2**52 + n


def test_the_grid_of_a_column_does_not_depend_on_the_columns_beside_it() -> None:
    small = np.random.RandomState(0).random_sample((50, 1))
    beside = on_grid(np.hstack([small, 1e12 * small]))
    assert np.array_equal(beside.values[:, :1], on_grid(small).values)


def test_a_column_of_zeros_is_on_the_grid() -> None:
    assert on_grid(np.zeros((3, 1))).values.tolist() == [[0.0], [0.0], [0.0]]


def test_all_signs_of_1_2_4_with_the_last_one_kept() -> None:
    assert sorted(all_signed_sums(np.array([1.0, 2.0, 4.0]))) == [1.0, 3.0, 5.0, 7.0]


def test_a_single_value_has_one_sum() -> None:
    assert all_signed_sums(np.array([3.0])).tolist() == [3.0]


def test_every_sum_is_the_exact_sum_of_the_values_under_their_signs() -> None:
    values = scores(30, 5)
    # The columns of the identity matrix show the signs themselves.
    sums = all_sums(np.hstack([np.identity(30), values]), 40)
    signs, found = sums[:, :30], sums[:, 30:]
    assert set(np.unique(signs)) == {-1.0, 1.0}
    for row, total in zip(signs.tolist(), found.tolist(), strict=True):
        exact = [sum(Fraction(s) * Fraction(v) for s, v in zip(row, column, strict=True)) for column in values.T]
        assert [Fraction(one) for one in total] == exact


def test_signs_are_fair_and_independent_of_each_other() -> None:
    signs = all_sums(np.identity(24), 100_000)
    # Means and products of two signs spread by 1/√100,000; 4.5 of that is not reached by any of 300 in a lifetime.
    together = signs.T @ signs / len(signs)
    assert np.abs(signs.mean(axis=0)).max() < 4.5 / np.sqrt(100_000)
    assert np.abs(together - np.identity(24)).max() < 4.5 / np.sqrt(100_000)


@pytest.mark.parametrize("n", [1, 8, 9, 63, 65, 700])
def test_few_columns_and_many_columns_give_the_same_sums(n: int) -> None:
    columns = scores(n, 12)
    many = all_sums(columns, 3000, seed=5)
    assert np.array_equal(many[:, :3], all_sums(columns[:, :3], 3000, seed=5))


def test_blocks_stay_small_however_many_columns_there_are() -> None:
    blocks = list(signed_sums(np.ones((3, 2000)), 5000, 0))
    assert max(block.size for block in blocks) <= 1 << 22
    assert sum(len(block) for block in blocks) == 5000


def test_a_column_has_the_same_sums_when_blocks_become_shorter_for_its_company() -> None:
    column = scores(21, 1)
    many = np.repeat(column, 3000, axis=1)
    assert np.array_equal(all_sums(many, 4000)[:, 2999], all_sums(column, 4000)[:, 0])


def test_another_seed_gives_other_signs() -> None:
    assert not np.array_equal(all_sums(np.identity(24), 50, seed=1), all_sums(np.identity(24), 50, seed=2))


def test_progress_ends_at_the_number_of_rounds() -> None:
    heard: list[tuple[int, int]] = []
    list(signed_sums(np.ones((7000, 1)), 10_000, 0, lambda done, of: heard.append((done, of))))
    assert heard == sorted(heard)
    assert len(heard) > 1
    assert heard[-1] == (10_000, 10_000)


def test_progress_of_a_bootstrap_ends_at_the_number_of_resamples() -> None:
    heard: list[tuple[int, int]] = []
    bootstrap_means(np.ones((7000, 1)), 500, 0, lambda done, of: heard.append((done, of)))
    assert len(heard) > 1
    assert heard[-1] == (500, 500)


def test_a_resample_draws_as_many_rows_as_there_are_and_its_mean_is_theirs() -> None:
    values = scores(30, 4)
    means = bootstrap_means(np.hstack([np.identity(30), values]), 200, 0)
    times = np.rint(means[:, :30] * 30)
    assert np.array_equal(times.sum(axis=1), np.full(200, 30.0))
    for row, found in zip(times.tolist(), means[:, 30:].tolist(), strict=True):
        exact = [sum(Fraction(t) * Fraction(v) for t, v in zip(row, column, strict=True)) / 30 for column in values.T]
        assert found == [float(one) for one in exact]


def test_every_row_is_drawn_equally_often() -> None:
    times = bootstrap_means(np.identity(25), 40_000, 0) * 25
    # Counts are binomial(25, 1/25): mean 1, variance 0.96, covariance −1/25.
    assert np.abs(times.mean(axis=0) - 1).max() < 4.5 * np.sqrt(0.96 / 40_000)
    expected = np.full((25, 25), -1 / 25) + np.identity(25)
    assert np.abs(np.cov(times.T) - expected).max() < 0.04


def test_resamples_of_a_column_do_not_depend_on_the_columns_beside_it() -> None:
    small = scores(50, 1)
    beside = bootstrap_means(np.hstack([small, 1e12 * small]), 300, 0)
    assert np.array_equal(beside[:, :1], bootstrap_means(small, 300, 0))


THREADS = """
import hashlib, numpy as np
from rankproof.stats.intervals import mean_intervals
from rankproof.stats.paired import paired_tests
columns = np.random.RandomState(3).random_sample((600, 24))
pairs = [(i, i + 1) for i in range(23)]
p_values = [t.p_value for t in paired_tests(columns, pairs, permutations=20_000)]
p_values += [t.p_value for t in paired_tests(columns[:, :3] - columns[:, 3:6], permutations=20_000)]
ends = [i.as_list() for i in mean_intervals(columns, method="bca", resamples=2000)]
print(repr((p_values, ends)))
"""


def test_the_number_of_threads_changes_no_bit() -> None:
    said = []
    for threads in ("1", "2"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", THREADS], env=environment, capture_output=True, check=True)
        said.append(done.stdout)
    assert said[0] == said[1]
    assert said[0]


def test_the_first_signs_and_rows_of_seed_0_are_these() -> None:
    # Written out, so that a platform or a NumPy that draws otherwise is noticed.
    weights = np.array([[2.0**row] for row in range(10)])
    assert all_sums(weights, 6)[:, 0].tolist() == [703.0, 773.0, -123.0, 947.0, -97.0, 471.0]
    assert (bootstrap_means(weights, 4, 0)[:, 0] * 10).tolist() == [625.0, 1952.0, 878.0, 585.0]
