"""Paired tests: by hand, against SciPy, against enumeration, where they degenerate, and what must always hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.errors import BadInput, NothingToEvaluate, UnknownName, UsageError
from rankproof.stats.effects import paired_differences
from rankproof.stats.paired import Alternative, TestName, paired_test, paired_tests
from rankproof.stats.resampling import Floats, on_grid, signed_sums

TESTS: tuple[TestName, ...] = get_args(TestName)
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
COUNTING: tuple[TestName, ...] = ("randomization", "wilcoxon", "sign")
"""Tests that enumerate: their p-values are whole shares of all assignments of signs."""

quickly = settings(max_examples=60, derandomize=True, deadline=None)
tenths = st.lists(st.integers(-10, 10), min_size=1, max_size=14)
"""Differences in tenths: many of them tie."""


def p(
    differences: Sequence[float] | Floats, test: TestName = "randomization", alternative: Alternative = "two-sided"
) -> float:
    return paired_test(np.array(differences, np.float64), test=test, alternative=alternative).p_value


def shares(sums: Counter[int], observed: int) -> dict[Alternative, Fraction]:
    """The share of assignments that are at least as extreme as the observed one."""
    total = sum(sums.values())
    greater = Fraction(sum(times for value, times in sums.items() if value >= observed), total)
    less = Fraction(sum(times for value, times in sums.items() if value <= observed), total)
    return {"two-sided": min(Fraction(1), 2 * min(greater, less)), "greater": greater, "less": less}


def signed(values: Sequence[int]) -> Counter[int]:
    """How often each sum comes up when every value takes either sign."""
    sums = Counter({0: 1})
    for value in values:
        longer: Counter[int] = Counter()
        for total, times in sums.items():
            longer[total + value] += times
            longer[total - value] += times
        sums = longer
    return sums


def doubled_ranks(sizes: Sequence[int]) -> list[int]:
    """Twice the middle rank of each size, so that it is whole."""
    return [2 * sum(other < size for other in sizes) + sum(other == size for other in sizes) + 1 for size in sizes]


class TestByHand:
    @pytest.mark.parametrize(
        ("test", "two_sided", "greater", "less"),
        [
            # Of the 8 sums ±1±2±3, only 6 itself is as large, and −6 as far from 0.
            ("randomization", 2 / 8, 1 / 8, 1.0),
            # Ranks and signs are those of the values themselves.
            ("wilcoxon", 2 / 8, 1 / 8, 1.0),
            ("sign", 2 / 8, 1 / 8, 1.0),
            # t = 2 / (1/√3) = 3.4641 with 2 degrees of freedom: p = 1 − t/√(2 + t²).
            ("t", 0.0741799, 0.0370900, 0.9629100),
        ],
    )
    def test_differences_1_2_3(self, test: TestName, two_sided: float, greater: float, less: float) -> None:
        found = [p([1, 2, 3], test, alternative) for alternative in ALTERNATIVES]
        assert found == pytest.approx([two_sided, greater, less], abs=5e-8)

    @pytest.mark.parametrize(
        ("test", "two_sided", "greater", "less"),
        [
            # |d| sum to 10; only 10 and 8 are at least 8, and 10 alone is more.
            ("randomization", 4 / 16, 2 / 16, 15 / 16),
            ("wilcoxon", 4 / 16, 2 / 16, 15 / 16),
            # Three wins of four: (4 + 1)/16.
            ("sign", 10 / 16, 5 / 16, 15 / 16),
        ],
    )
    def test_differences_minus_1_2_3_4(self, test: TestName, two_sided: float, greater: float, less: float) -> None:
        assert [p([-1, 2, 3, 4], test, alternative) for alternative in ALTERNATIVES] == [two_sided, greater, less]

    def test_wilcoxon_shares_the_ranks_of_equal_sizes(self) -> None:
        # All four ranks are 2.5, so the rank sum is at least 7.5 where three or four are positive: 5/16.
        assert p([0.2, 0.2, 0.2, -0.2], "wilcoxon") == 10 / 16
        # Sizes 1, 1, 2 have ranks 1.5, 1.5, 3; the positive sum 4.5 is reached by 3 + 1.5 (twice) and 6: 3/8.
        assert p([1, -1, 2], "wilcoxon", "greater") == 3 / 8

    def test_zeros_take_no_part_in_counting(self) -> None:
        found = paired_test(np.array([0.0, 1.0, 0.0, 2.0, 3.0]))
        assert (found.p_value, found.n, found.n_nonzero, found.exact) == (0.25, 5, 3, True)

    def test_what_is_exact_says_so(self) -> None:
        few, many = np.arange(1.0, 21.0), np.arange(1.0, 202.0)
        exact = {test: (paired_test(few, test=test).exact, paired_test(many, test=test).exact) for test in TESTS}
        assert exact == {
            "randomization": (True, False), "t": (False, False), "wilcoxon": (True, False), "sign": (True, True)
        }  # fmt: skip


class TestAgainstSciPy:
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_t_of_one_sample_and_of_pairs(self, alternative: Alternative) -> None:
        rng = np.random.RandomState(0)
        for n in (2, 3, 5, 10, 30, 100, 1000):
            candidate, baseline = rng.random_sample((2, n, 30))
            ours = paired_tests(paired_differences(candidate, baseline), test="t", alternative=alternative)
            theirs = scipy.stats.ttest_rel(candidate, baseline, alternative=alternative).pvalue
            assert [one.p_value for one in ours] == pytest.approx(theirs, rel=1e-8)
            one_sample = scipy.stats.ttest_1samp(candidate - baseline, 0.0, alternative=alternative).pvalue
            assert [one.p_value for one in ours] == pytest.approx(one_sample, rel=1e-8)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_wilcoxon_exact_without_ties(self, alternative: Alternative) -> None:
        rng = np.random.RandomState(1)
        for n in (1, 2, 3, 8, 20, 50, 120, 200):
            for _ in range(10):
                differences = rng.normal(0.2, 1.0, n)
                theirs = scipy.stats.wilcoxon(differences, alternative=alternative, method="exact").pvalue
                assert p(differences, "wilcoxon", alternative) == pytest.approx(theirs, rel=1e-10)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    @pytest.mark.parametrize("decimals", [1, 12], ids=["ties", "no ties"])
    def test_wilcoxon_beyond_200_queries(self, alternative: Alternative, decimals: int) -> None:
        rng = np.random.RandomState(2)
        for n in (201, 500, 3000):
            for _ in range(10):
                differences = np.round(rng.normal(0.05, 1.0, n), decimals)
                differences[differences == 0] = 0.1
                theirs = scipy.stats.wilcoxon(
                    differences, alternative=alternative, method="asymptotic", correction=False
                ).pvalue
                assert p(differences, "wilcoxon", alternative) == pytest.approx(theirs, rel=1e-10)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_sign(self, alternative: Alternative) -> None:
        rng = np.random.RandomState(3)
        for n in (1, 2, 5, 20, 300):
            for wins in rng.randint(0, n + 1, 20).tolist():
                differences = np.repeat([1.0, -1.0], [wins, n - wins])
                theirs = scipy.stats.binomtest(wins, n, alternative=alternative).pvalue
                assert p(differences, "sign", alternative) == pytest.approx(theirs, rel=1e-9)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_randomisation_by_all_signs(self, alternative: Alternative) -> None:
        rng = np.random.RandomState(4)
        for n in (2, 4, 7, 9):
            for _ in range(8):
                differences = rng.normal(0.3, 1.0, n)
                theirs = scipy.stats.permutation_test(
                    (differences,), np.mean, permutation_type="samples", vectorized=True, alternative=alternative,
                    n_resamples=2**n,
                ).pvalue  # fmt: skip
                assert p(differences, "randomization", alternative) == pytest.approx(theirs, rel=1e-12)


class TestAgainstEnumeration:
    @quickly
    @given(tenths)
    def test_randomisation_of_many_tied_sums(self, values: list[int]) -> None:
        expected = shares(signed(values), sum(values))
        for alternative in ALTERNATIVES:
            assert p([value / 10 for value in values], "randomization", alternative) == float(expected[alternative])

    @quickly
    @given(tenths)
    def test_wilcoxon_of_tied_ranks(self, values: list[int]) -> None:
        changed = [value for value in values if value]
        ranks = doubled_ranks([abs(value) for value in changed])
        observed = sum(rank if value > 0 else -rank for rank, value in zip(ranks, changed, strict=True))
        expected = shares(signed(ranks), observed)
        for alternative in ALTERNATIVES:
            found = p([value / 10 for value in values], "wilcoxon", alternative)
            assert found == pytest.approx(float(expected[alternative]), rel=1e-13)

    @pytest.mark.parametrize("n", [21, 24, 40, 150])
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_sampled_signs_find_the_exact_value_within_four_simulation_errors(
        self, n: int, alternative: Alternative
    ) -> None:
        values = np.random.RandomState(n).randint(-9, 12, n)
        values[values == 0] = 3
        exact = float(shares(signed(values.tolist()), int(values.sum()))[alternative])
        found = paired_test(values / 10, alternative=alternative)
        assert not found.exact
        assert abs(found.p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / 100_000) + 1e-5

    def test_sampled_signs_agree_with_all_signs_where_both_can_be_had(self) -> None:
        values, unit = on_grid(np.random.RandomState(5).normal(0.3, 1.0, (18, 1)))
        least = abs(values.sum()) - len(values) * unit
        extreme = np.concatenate([np.abs(sums) >= least for sums in signed_sums(values, 100_000, 0)]).mean()
        exact = p(values[:, 0])
        assert 0.01 < exact < 0.99
        assert abs(extreme - exact) < 4 * math.sqrt(exact * (1 - exact) / 100_000)

    def test_ties_are_counted_as_ties_when_sampled_as_well(self) -> None:
        # 30 differences of ±0.1: as extreme as 20 wins are 20 or more, and 10 or fewer: a binomial tail.
        differences = np.repeat([0.3 - 0.2, 0.1 - 0.2], [20, 10])
        exact = 2 * sum(math.comb(30, k) for k in range(20, 31)) / 2**30
        assert exact == pytest.approx(0.0987, abs=5e-5)
        assert p(differences) == pytest.approx(exact, abs=4 * math.sqrt(exact / 100_000))


class TestDegenerate:
    @pytest.mark.parametrize("n", [1, 2, 20, 300])
    @pytest.mark.parametrize("test", TESTS)
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_identical_systems_give_1(self, n: int, test: TestName, alternative: Alternative) -> None:
        assert p(np.zeros(n), test, alternative) == 1.0

    @pytest.mark.parametrize("n", [1, 2, 5, 20])
    @pytest.mark.parametrize("test", TESTS)
    def test_a_constant_difference_gives_the_least_p_that_signs_can_reach(self, n: int, test: TestName) -> None:
        differences = np.full(n, 0.1)
        assert p(differences, test) == pytest.approx(2 / 2**n, rel=1e-12)
        assert p(differences, test, "greater") == pytest.approx(1 / 2**n, rel=1e-12)
        assert p(differences, test, "less") == 1.0

    def test_a_constant_difference_that_is_sampled_gives_one_of_all_rounds(self) -> None:
        found = paired_test(np.full(5000, 0.1), permutations=999)
        assert found.p_value == 1 / 1000

    @pytest.mark.parametrize("test", TESTS)
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_a_p_value_too_small_to_be_written_is_not_zero(self, test: TestName, alternative: Alternative) -> None:
        for differences in (np.full(5000, -0.2), np.full(5000, 0.2), 1.0 + np.arange(5000) % 2 / 1e6):
            found = paired_test(differences, test=test, alternative=alternative, permutations=100).p_value
            assert 0 < found <= 1

    @pytest.mark.parametrize("test", TESTS)
    def test_one_query_proves_nothing(self, test: TestName) -> None:
        assert [p([0.4], test, alternative) for alternative in ALTERNATIVES] == [1.0, 0.5, 1.0]

    @pytest.mark.parametrize("test", COUNTING)
    def test_one_changed_query_among_many_proves_nothing(self, test: TestName) -> None:
        differences = np.zeros(100)
        differences[17] = -0.5
        assert [p(differences, test, alternative) for alternative in ALTERNATIVES] == [1.0, 1.0, 0.5]

    def test_t_sees_one_changed_query_among_many_as_scipy_does(self) -> None:
        differences = np.zeros(100)
        differences[17] = -0.5
        # The mean of one changed query is one standard error from zero: t = −1.
        assert p(differences, "t") == pytest.approx(0.31975, abs=5e-6)

    @pytest.mark.parametrize("test", TESTS)
    def test_no_query_is_nothing_to_evaluate(self, test: TestName) -> None:
        with pytest.raises(NothingToEvaluate, match="no query"):
            p([], test)

    @pytest.mark.parametrize("test", TESTS)
    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    def test_a_value_that_is_not_finite_is_refused(self, test: TestName, bad: float) -> None:
        with pytest.raises(BadInput, match="not a finite number"):
            p([0.1, bad, 0.2], test)

    @pytest.mark.parametrize("test", TESTS)
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_rounding_noise_changes_nothing(self, test: TestName, alternative: Alternative) -> None:
        noisy = [0.3 - 0.2, 0.5 - 0.4, 0.2 - 0.1, 0.7 - 0.6, 0.8 - 0.9, 0.1 + 0.2 - 0.3]
        assert len({abs(one) for one in noisy}) > 2, "else there is no noise here"
        assert p(noisy, test, alternative) == p([0.1, 0.1, 0.1, 0.1, -0.1, 0.0], test, alternative)

    @pytest.mark.parametrize("test", TESTS)
    def test_a_constant_difference_with_rounding_noise_is_a_constant_difference(self, test: TestName) -> None:
        assert p([0.3 - 0.2, 0.5 - 0.4, 0.7 - 0.6, 0.9 - 0.8, 0.2 - 0.1], test) == pytest.approx(2 / 2**5)

    def test_a_name_that_is_none_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(UnknownName, match="Did you mean 'wilcoxon'"):
            p([0.1], "wilcoxn")  # type: ignore[arg-type]
        with pytest.raises(UnknownName, match="Did you mean 'greater'"):
            p([0.1], "t", "grater")  # type: ignore[arg-type]

    def test_no_permutations_are_refused(self) -> None:
        with pytest.raises(UsageError, match="at least 1 permutation, not 0"):
            paired_test(np.ones(30), permutations=0)

    @pytest.mark.parametrize("test", TESTS)
    def test_no_columns_give_no_tests(self, test: TestName) -> None:
        assert paired_tests(np.ones((5, 0)), test=test) == []
        assert paired_tests(np.ones((5, 2)), [], test=test) == []


class TestAlways:
    @quickly
    @given(tenths, st.sampled_from(TESTS))
    def test_p_lies_above_0_and_up_to_1_and_one_side_makes_the_other(self, values: list[int], test: TestName) -> None:
        differences = [value / 10 for value in values]
        two_sided, greater, less = (p(differences, test, alternative) for alternative in ALTERNATIVES)
        assert min(two_sided, greater, less) > 0
        assert max(two_sided, greater, less) <= 1
        assert two_sided == pytest.approx(min(1.0, 2 * min(greater, less)), rel=1e-12)
        # Both sides hold the observed value itself.
        assert greater + less >= 1 - 1e-12

    @quickly
    @given(tenths, st.sampled_from(TESTS))
    def test_turned_round_better_is_worse(self, values: list[int], test: TestName) -> None:
        differences = np.array(values) / 10
        assert p(differences, test, "greater") == pytest.approx(p(-differences, test, "less"), rel=1e-12)
        assert p(differences, test) == pytest.approx(p(-differences, test), rel=1e-12)

    @quickly
    @given(tenths, st.sampled_from(TESTS), st.randoms(use_true_random=False))
    def test_the_order_of_queries_means_nothing(self, values: list[int], test: TestName, rng: object) -> None:
        shuffled = list(values)
        rng.shuffle(shuffled)  # type: ignore[attr-defined]
        found = p([value / 10 for value in shuffled], test, "greater")
        assert found == pytest.approx(p([value / 10 for value in values], test, "greater"), rel=1e-9)

    @quickly
    @given(tenths, st.sampled_from(COUNTING), st.integers(1, 40))
    def test_queries_without_a_difference_change_nothing(self, values: list[int], test: TestName, n: int) -> None:
        differences = [value / 10 for value in values]
        for alternative in ALTERNATIVES:
            assert p([0.0] * n + differences, test, alternative) == p(differences, test, alternative)

    @quickly
    @given(tenths, st.sampled_from([0.001, 3.0, 1000.0]))
    def test_the_unit_of_measurement_means_nothing(self, values: list[int], unit: float) -> None:
        for test in TESTS:
            found = p([value / 10 * unit for value in values], test)
            assert found == pytest.approx(p([value / 10 for value in values], test), rel=1e-6)


class TestManyAtOnce:
    def test_a_column_gives_the_same_among_few_and_among_many(self) -> None:
        differences = np.random.RandomState(6).normal(0.05, 0.3, (90, 20))
        together = paired_tests(differences, permutations=20_000, seed=3)
        for i in (0, 7, 19):
            assert paired_test(differences[:, i], permutations=20_000, seed=3) == together[i]

    def test_a_column_does_not_depend_on_the_size_of_the_others(self) -> None:
        differences = np.random.RandomState(7).normal(0.05, 0.3, (50, 2))
        alone = paired_tests(differences)
        assert paired_tests(np.hstack([differences, 1e12 * differences]))[:2] == alone

    @pytest.mark.parametrize("decimals", [1, 12], ids=["many tied sums", "none"])
    @pytest.mark.parametrize("test", TESTS)
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_pairs_of_values_give_what_their_differences_give(
        self, decimals: int, test: TestName, alternative: Alternative
    ) -> None:
        values = np.round(np.random.RandomState(8).random_sample((60, 12)), decimals)
        values[25:, 3] = values[25:, 4]
        pairs = [(j, i) for i in range(12) for j in range(i)]
        differences = np.stack([paired_differences(values[:, j], values[:, i]) for j, i in pairs], axis=1)
        from_pairs = paired_tests(values, pairs, test=test, alternative=alternative, permutations=5000)
        from_differences = paired_tests(differences, test=test, alternative=alternative, permutations=5000)
        assert [one.n_nonzero for one in from_pairs] == [one.n_nonzero for one in from_differences]
        # To the bit where signs are counted; the mean of t's formula is added up in another order.
        within = 1e-12 if test == "t" else 0.0
        expected = [one.p_value for one in from_differences]
        assert [one.p_value for one in from_pairs] == pytest.approx(expected, rel=within, abs=0.0)

    def test_pairs_of_columns_of_very_different_size_give_what_their_differences_give(self) -> None:
        values = np.random.RandomState(9).random_sample((60, 4)) * [1.0, 1.0, 1e9, 1e9]
        differences = np.stack([values[:, 0] - values[:, 1], values[:, 2] - values[:, 3]], axis=1)
        from_pairs = paired_tests(values, [(0, 1), (2, 3)], permutations=5000)
        assert from_pairs == paired_tests(differences, permutations=5000)

    def test_exact_and_sampled_columns_stand_side_by_side(self) -> None:
        differences = np.random.RandomState(10).normal(0.1, 1.0, (30, 2))
        differences[3:, 0] = 0.0
        differences[:3, 0] = [1.0, 2.0, 3.0]
        found = paired_tests(differences)
        assert [(one.exact, one.n_nonzero) for one in found] == [(True, 3), (False, 30)]
        assert found[0].p_value == 0.25

    def test_the_seed_decides_which_signs_are_drawn(self) -> None:
        differences = np.random.RandomState(11).normal(0.1, 1.0, 40)
        first, again, other = (paired_test(differences, permutations=2000, seed=seed).p_value for seed in (1, 1, 2))
        assert first == again
        assert first != other

    def test_a_sampled_p_value_written_out(self) -> None:
        # So that a platform, a NumPy or a BLAS library that gives another is noticed.
        differences = (np.arange(50) * 37 % 101 - 44) / 100
        assert p(differences) == 16_094 / 100_001
