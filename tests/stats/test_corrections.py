"""Families of tests: textbook vectors, SciPy, and what every correction keeps."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.errors import UnknownName
from rankproof.stats.corrections import Correction, adjust
from rankproof.stats.resampling import Floats

CORRECTIONS: tuple[Correction, ...] = get_args(Correction)

BENJAMINI_HOCHBERG_1995 = np.array(
    [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
)
"""The fifteen p-values of the paper's own example."""

quickly = settings(max_examples=100, derandomize=True, deadline=None)
families = st.lists(st.floats(1e-300, 1.0), min_size=1, max_size=40).map(np.array)


class TestByHand:
    def test_holm(self) -> None:
        # Sorted: 0.005 · 4, 0.01 · 3, 0.03 · 2, and 0.04 · 1 raised to the one before it.
        found = adjust(np.array([0.01, 0.04, 0.03, 0.005]), "holm")
        assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_bonferroni(self) -> None:
        assert adjust(np.array([0.01, 0.04, 0.3]), "bonferroni") == pytest.approx([0.03, 0.12, 0.9])

    def test_benjamini_hochberg(self) -> None:
        # Sorted: 0.005 · 4/1, 0.01 · 4/2, 0.03 · 4/3, 0.04 · 4/4; the third is lowered to the last.
        found = adjust(np.array([0.01, 0.04, 0.03, 0.005]), "bh")
        assert found == pytest.approx([0.02, 0.04, 0.04, 0.02])

    def test_the_example_of_benjamini_and_hochberg(self) -> None:
        found = {
            correction: int((adjust(BENJAMINI_HOCHBERG_1995, correction) <= 0.05).sum()) for correction in CORRECTIONS
        }
        # The paper: Bonferroni rejects three, their procedure four; nine are below 0.05 as they stand.
        assert found == {"holm": 3, "bonferroni": 3, "bh": 4, "none": 9}

    def test_none_leaves_them_as_they_are(self) -> None:
        p_values = np.array([0.04, 0.01])
        found = adjust(p_values, "none")
        assert found.tolist() == [0.04, 0.01]
        assert found is not p_values

    @pytest.mark.parametrize("correction", CORRECTIONS)
    def test_a_family_of_one_needs_no_correction(self, correction: Correction) -> None:
        assert adjust(np.array([0.03]), correction).tolist() == [0.03]

    @pytest.mark.parametrize("correction", CORRECTIONS)
    def test_an_empty_family(self, correction: Correction) -> None:
        assert adjust(np.array([]), correction).tolist() == []

    def test_a_correction_that_is_none_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(UnknownName, match="Did you mean 'holm'"):
            adjust(np.array([0.1]), "holms")  # type: ignore[arg-type]


def test_benjamini_hochberg_is_what_scipy_gives() -> None:
    rng = np.random.RandomState(0)
    for n in (1, 2, 3, 10, 168, 1000):
        for _ in range(20):
            p_values = rng.random_sample(n) ** 3
            assert adjust(p_values, "bh") == pytest.approx(scipy.stats.false_discovery_control(p_values), rel=1e-12)


class TestAlways:
    @quickly
    @given(families, st.sampled_from(CORRECTIONS))
    def test_an_adjusted_value_is_no_smaller_and_at_most_1(self, p_values: Floats, correction: Correction) -> None:
        found = adjust(p_values, correction)
        assert (found >= p_values).all()
        assert (found <= 1).all()

    @quickly
    @given(families, st.sampled_from(CORRECTIONS))
    def test_the_order_is_kept(self, p_values: Floats, correction: Correction) -> None:
        assert (np.diff(adjust(p_values, correction)[np.argsort(p_values)]) >= 0).all()

    @quickly
    @given(families)
    def test_holm_is_no_weaker_than_bonferroni_and_bh_no_weaker_than_holm(self, p_values: Floats) -> None:
        bonferroni, holm, bh = (adjust(p_values, correction) for correction in ("bonferroni", "holm", "bh"))
        assert (holm <= bonferroni).all()
        assert (bh <= holm * (1 + 1e-15)).all()

    @quickly
    @given(families, st.sampled_from(CORRECTIONS), st.randoms(use_true_random=False))
    def test_the_order_of_tests_means_nothing(self, p_values: Floats, correction: Correction, rng: object) -> None:
        order = list(range(len(p_values)))
        rng.shuffle(order)  # type: ignore[attr-defined]
        assert np.array_equal(adjust(p_values[order], correction), adjust(p_values, correction)[order])
