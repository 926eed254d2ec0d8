"""Intervals and tests keep what they promise, and the page that says so shows what the simulation gives.

A simulated share is off by its standard error √(p(1 − p)/draws) at random; 3.5 of that happens once in two thousand
times. The draws are fixed, so a test that passes once passes always; it fails when the code no longer does.
"""

from __future__ import annotations

import pytest

from rankproof.stats.paired import TestName
from tests.docs.markdown import page_text
from tests.stats import simulate
from tests.stats.simulate import (
    ALPHA,
    DIFFERENCES,
    LARGE_LOSSES,
    LEVEL,
    METHODS,
    PAGE,
    SIZES,
    TESTS,
    VALUES,
    Population,
)

NORMAL, FEW_CHANGE = DIFFERENCES[:2]
DRAWS = 2000


def beyond(share: float) -> float:
    return 3.5 * simulate.error_of(share, DRAWS)


@pytest.mark.parametrize("n", [2, 5, 10, 50])
def test_the_t_interval_of_normal_values_holds_the_mean_as_often_as_it_says(n: int) -> None:
    share = simulate.covered(NORMAL, simulate.drawn(NORMAL, n, DRAWS), "t")
    assert abs(share - LEVEL) < beyond(LEVEL)


@pytest.mark.parametrize("n", [10, 25, 50])
@pytest.mark.parametrize("test", ["randomization", "t"])
def test_on_normal_differences_false_alarms_are_as_frequent_as_allowed(test: TestName, n: int) -> None:
    # With 10 queries 50 of 1,024 assignments can be rejected, 4.9 %, which is as good as 5.
    share = simulate.rejected(simulate.drawn(NORMAL, n, DRAWS), test)
    assert abs(share - ALPHA) < beyond(ALPHA)


@pytest.mark.parametrize(
    ("n", "attainable"),
    [
        # Two-sided: at most 1 of 10, 7 of 25 and 17 of 50 on the rarer side.
        (10, 22 / 1024),
        (25, 0.043285),
        (50, 0.032839),
    ],
)
def test_the_sign_test_raises_as_many_false_alarms_as_counting_can(n: int, attainable: float) -> None:
    share = simulate.rejected(simulate.drawn(NORMAL, n, DRAWS), "sign")
    assert abs(share - attainable) < beyond(attainable)


@pytest.mark.parametrize("n", [10, 25, 50])
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("population", [NORMAL, FEW_CHANGE], ids=lambda population: population.name)
def test_no_test_raises_more_false_alarms_on_symmetric_differences_than_allowed(
    population: Population, test: TestName, n: int
) -> None:
    # Steps in the distribution of signs and ranks make a test careful, so only too many alarms are a fault.
    assert simulate.rejected(simulate.drawn(population, n, DRAWS), test) < ALPHA + beyond(ALPHA)


@pytest.mark.parametrize("n", [10, 25, 50])
@pytest.mark.parametrize("test", ["randomization", "t"])
def test_worse_by_exactly_the_margin_passes_no_more_often_than_allowed(test: TestName, n: int) -> None:
    share = simulate.let_through(simulate.drawn(NORMAL, n, DRAWS), test)
    assert abs(share - ALPHA) < beyond(ALPHA)


class TestPage:
    def test_every_population_and_size_has_its_line(self) -> None:
        coverage, alarms = (simulate.table_in(page_text(PAGE), name) for name in ("coverage", "false alarms"))
        assert list(coverage) == [(one.name, n) for one in (*DIFFERENCES, *VALUES) for n in SIZES]
        assert list(alarms) == [(one.name, n) for one in (*DIFFERENCES, LARGE_LOSSES) for n in SIZES]
        assert all(list(row) == list(METHODS) for row in coverage.values())
        assert all(list(row) == [*TESTS, "non-inferiority"] for row in alarms.values())

    @pytest.mark.parametrize("population", [*DIFFERENCES, *VALUES], ids=lambda population: population.name)
    def test_what_takes_no_time_is_what_the_simulation_gives_now(self, population: Population) -> None:
        coverage, alarms = (simulate.table_in(page_text(PAGE), name) for name in ("coverage", "false alarms"))
        for n in SIZES:
            columns = simulate.drawn(population, n)
            assert coverage[population.name, n]["t"] == f"{100 * simulate.covered(population, columns, 't'):.1f}"
            if population in DIFFERENCES:
                assert alarms[population.name, n]["t"] == f"{100 * simulate.rejected(columns, 't'):.1f}"

    def test_the_rest_is_written_by_the_same_call(self) -> None:
        text = "<!-- coverage: by hand -->\nold\n<!-- end of coverage -->"
        assert simulate.with_tables(text, {"coverage": "| new |"}) == (
            "<!-- coverage: by hand -->\n\n| new |\n\n<!-- end of coverage -->"
        )
        with pytest.raises(ValueError, match="no place for the table of false alarms"):
            simulate.with_tables(text, {"false alarms": ""})
