from __future__ import annotations

import math

import pytest

from rankproof.errors import UsageError
from rankproof.reports.figures import Axis, Series, axis_of


def labels(axis: Axis) -> list[str]:
    return [axis.label(tick) for tick in axis.ticks]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.03, 0.19], ["0.00", "0.05", "0.10", "0.15", "0.20"]),
        ([0, 1], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([-0.031, 0.048], ["-0.04", "-0.02", "0.00", "0.02", "0.04", "0.06"]),
        ([0, 4321], ["0", "1,000", "2,000", "3,000", "4,000", "5,000"]),
        ([7, 7], ["2", "4", "6", "8", "10", "12"]),
        ([0], ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        ([math.nan, 1, 2], ["1.0", "1.2", "1.4", "1.6", "1.8", "2.0"]),
        ([0, 2e-7], ["0", "5e-8", "1e-7", "1.5e-7", "2e-7"]),
    ],
)
def test_ticks_are_round_and_hold_the_values(values: list[float], expected: list[str]) -> None:
    assert labels(axis_of(values)) == expected


@pytest.mark.parametrize(
    ("values", "most", "expected"),
    [
        ([10, 900], 8, ["10", "20", "50", "100", "200", "500"]),
        ([10, 900], 4, ["10", "30", "100", "300"]),
        ([10, 900], 3, ["10", "100"]),
        ([1, 1e6], 4, ["1", "100", "10,000", "1,000,000"]),
        ([0.002, 0.3], 6, ["0.003", "0.01", "0.03", "0.1", "0.3"]),
        ([30, 45], 6, ["30", "35", "40", "45"]),
        ([40, 40], 6, ["20", "50"]),
    ],
)
def test_a_logarithmic_axis_has_its_ticks_within_the_values(
    values: list[float], most: int, expected: list[str]
) -> None:
    assert labels(axis_of(values, log=True, most=most)) == expected


def test_a_snug_axis_ends_with_the_values() -> None:
    axis = axis_of([-0.05, 0.12], most=3, snug=True)
    assert (axis.low, axis.high) == (-0.05, 0.12)
    assert labels(axis) == ["-0.05", "0.00", "0.05", "0.10"]


def test_a_logarithmic_axis_takes_no_zero() -> None:
    with pytest.raises(UsageError, match="above 0; 0 is not"):
        axis_of([0, 10], log=True)


def test_no_tick_is_a_negative_zero() -> None:
    assert all(math.copysign(1, tick) == 1 for tick in axis_of([-0.3, 0.3]).ticks if tick == 0)


@pytest.mark.parametrize("exponent", range(-8, 9))
@pytest.mark.parametrize("most", [3, 4, 7])
def test_an_axis_never_has_more_ticks_than_asked_for(exponent: int, most: int) -> None:
    for low, high in ((-3.3, 7.1), (0.2, 0.9), (-9.0, -1.0)):
        axis = axis_of([low * 10.0**exponent, high * 10.0**exponent], most=most)
        assert 2 <= len(axis.ticks) <= most
        assert axis.low <= low * 10.0**exponent
        assert high * 10.0**exponent <= axis.high


def test_a_gap_parts_a_curve_and_steps_get_their_corners() -> None:
    assert Series("a", [(0, 1), (1, math.nan), (2, 3)]).pieces() == [[(0, 1)], [(2, 3)]]
    assert Series("a", [(0, 1), (2, 3)], steps=True).pieces() == [[(0, 1), (2, 1), (2, 3)]]


def test_an_axis_of_whole_numbers_has_no_ticks_between_them() -> None:
    assert axis_of([0, 3], most=8).ticks == (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    assert axis_of([0, 3], most=8, whole=True).ticks == (0.0, 1.0, 2.0, 3.0)
    assert axis_of([0, 30], most=8, whole=True).ticks == axis_of([0, 30], most=8).ticks
