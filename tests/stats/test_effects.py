"""How large a difference is."""

from __future__ import annotations

import numpy as np
import pytest

from rankproof.errors import NothingToEvaluate
from rankproof.stats.effects import Effect, paired_differences, paired_effects


def test_differences_1_2_3() -> None:
    assert paired_effects(np.array([[1.0], [2.0], [3.0]])) == [Effect(3, 2.0, 1.0, 2.0, 3, 0, 0)]


def test_wins_ties_and_losses_are_counted() -> None:
    effect = paired_effects(np.array([[0.5], [0.0], [-0.1], [0.0], [0.2]]))[0]
    assert (effect.n, effect.wins, effect.ties, effect.losses) == (5, 2, 2, 1)
    assert effect.mean == pytest.approx(0.12)
    # Squares of the distances from 0.12 sum to 0.228.
    assert effect.sd == pytest.approx(0.238747, abs=5e-7)
    assert effect.d_z == pytest.approx(0.502625, abs=5e-7)


def test_identical_systems_have_no_effect() -> None:
    assert paired_effects(np.zeros((4, 1))) == [Effect(4, 0.0, 0.0, 0.0, 0, 4, 0)]


def test_a_constant_difference_has_no_finite_d() -> None:
    effect = paired_effects(np.full((7, 1), 0.1))[0]
    assert (effect.sd, effect.d_z, effect.wins) == (0.0, None, 7)


def test_one_query_has_no_spread() -> None:
    assert paired_effects(np.array([[0.3]])) == [Effect(1, 0.3, None, None, 1, 0, 0)]


def test_no_query_is_nothing_to_evaluate() -> None:
    with pytest.raises(NothingToEvaluate, match="no query"):
        paired_effects(np.zeros((0, 2)))


def test_every_column_has_an_effect_of_its_own() -> None:
    effects = paired_effects(np.array([[1.0, -1.0], [3.0, -1.0]]))
    assert [(one.mean, one.wins, one.losses) for one in effects] == [(2.0, 2, 0), (-1.0, 0, 2)]


def test_differences_are_free_of_rounding_noise() -> None:
    candidate, baseline = np.array([0.3, 0.2, 0.1 + 0.2, 0.1]), np.array([0.2, 0.1, 0.3, 0.1])
    assert len(set((candidate - baseline).tolist())) == 4, "else there is no noise here"
    assert paired_differences(candidate, baseline).tolist() == [0.1, 0.1, 0.0, 0.0]


def test_a_difference_of_nothing_has_no_sign() -> None:
    found = paired_differences(np.array([0.3]), np.array([0.1 + 0.2]))
    assert not np.signbit(found).any()
