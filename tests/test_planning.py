from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rankproof import PRESETS, BadInput, NotMeasured, Plan, Scores, UnknownName, UsageError, plan, plan_from_spread
from rankproof.measures.parse import parse_measure
from rankproof.scoring.scores import Coverage

COVERAGE = Coverage(4, 4, 4, 0, 0, 0)


def scores(values: dict[str, float], measure: str = "nDCG@10", name: str = "a.run", preset: str = "default") -> Scores:
    column = np.array([list(values.values())])
    return Scores((parse_measure(measure),), list(values), column, lambda: COVERAGE, PRESETS[preset], name)


BASELINE = scores({"q1": 0.5, "q2": 0.5, "q3": 0.5, "q4": 0.5})
CANDIDATE = scores({"q1": 0.6, "q2": 0.4, "q3": 0.7, "q4": 0.5}, name="b.run")
"""The differences are 0.1, −0.1, 0.2 and 0; their mean is 0.05, their squared distances from it add up to 0.05."""


def of_spread(sd: float, n: int, difference: float = 0.02) -> Plan:
    return plan_from_spread(sd, n, difference=difference)


def test_the_textbook_case_takes_34_pairs() -> None:
    assert of_spread(1.0, 20, 0.5).needed == 34


def test_fifty_five_queries_show_what_they_show() -> None:
    found = of_spread(0.2, 55)
    assert found.smallest == pytest.approx(0.0769303, abs=1e-7)
    assert found.needed == 787
    assert found.power_now == pytest.approx(0.112664, abs=1e-6)


def test_a_spread_that_was_given_has_no_interval() -> None:
    found = of_spread(0.2, 55)
    assert (found.sd_interval, found.needed_interval, found.smallest_interval) == (None, None, None)
    assert {point.interval for point in found.curve} == {None}


def test_two_runs_give_the_spread_of_their_differences() -> None:
    found = plan([BASELINE, CANDIDATE], "nDCG@10")
    assert found.sd == pytest.approx(math.sqrt(0.05 / 3))
    assert (found.n, found.correlation, found.alternatives) == (4, None, ())


def test_queries_are_paired_by_name_not_by_place() -> None:
    turned = scores({"q4": 0.5, "q3": 0.7, "q2": 0.4, "q1": 0.6}, name="b.run")
    assert plan([BASELINE, turned], "nDCG@10") == plan([BASELINE, CANDIDATE], "nDCG@10")


def test_one_run_gives_it_by_an_assumed_correlation() -> None:
    # The values spread by √(0.05/3); half of that variance twice is the same again.
    found = plan([CANDIDATE], "nDCG@10", correlation=0.5)
    assert found.sd == pytest.approx(math.sqrt(0.05 / 3))
    assert found.correlation == 0.5
    assert [other for other, _ in found.alternatives] == [0.9]
    assert plan([CANDIDATE], "nDCG@10").correlation == 0.7


def test_another_correlation_needs_what_a_plan_with_it_needs() -> None:
    found = plan([CANDIDATE], "nDCG@10")
    assert found.alternatives == tuple(
        (other, plan([CANDIDATE], "nDCG@10", correlation=other).needed) for other in (0.5, 0.9)
    )


def test_the_uncertainty_of_the_spread_is_carried_on() -> None:
    # 3·s²/χ² with the 2.5 % and 97.5 % points of χ² with 3 degrees of freedom, 0.2158 and 9.3484.
    found = plan([BASELINE, CANDIDATE], "nDCG@10")
    assert found.sd_interval == pytest.approx((math.sqrt(0.05 / 9.348404), math.sqrt(0.05 / 0.2157953)))
    assert found.smallest_interval is not None
    assert found.needed_interval is not None
    assert found.sd_interval is not None
    assert found.smallest_interval == pytest.approx([of_spread(sd, 4).smallest for sd in found.sd_interval])
    assert found.needed_interval == tuple(of_spread(sd, 4).needed for sd in found.sd_interval)


def test_a_loss_takes_as_many_queries_as_a_gain() -> None:
    assert of_spread(0.2, 55, -0.02) == of_spread(0.2, 55, 0.02)


@pytest.mark.parametrize(("n", "difference"), [(2, 0.02), (3, 0.5), (55, 0.02), (5000, 0.02), (787, 0.02), (20, 3.0)])
def test_the_curve_falls_and_holds_both_numbers(n: int, difference: float) -> None:
    found = of_spread(0.2, n, difference)
    sizes = [point.n for point in found.curve]
    assert sizes == sorted(set(sizes))
    assert {n, found.needed} <= set(sizes)
    assert sizes[0] >= 2
    assert sizes[-1] == 2 * max(n, found.needed)
    visible = [point.smallest for point in found.curve]
    assert visible == sorted(visible, reverse=True)


def test_what_is_needed_shows_it_and_one_query_less_does_not() -> None:
    found = of_spread(0.2, 55)
    assert of_spread(0.2, found.needed).smallest <= 0.02 < of_spread(0.2, found.needed - 1).smallest


def test_a_change_beyond_the_range_of_the_measure_is_out_of_reach() -> None:
    assert plan_from_spread(0.5, 2, measure="RR").out_of_reach
    assert not plan_from_spread(0.5, 20, measure="RR").out_of_reach
    assert not plan_from_spread(0.5, 2).out_of_reach


def test_identical_runs_have_no_spread_and_the_way_out_is_named() -> None:
    with pytest.raises(NotMeasured, match=r"differ by the same .* Give a run that differs, or one run alone"):
        plan([CANDIDATE, CANDIDATE], "nDCG@10")


def test_a_run_that_scores_every_query_alike_has_no_spread() -> None:
    with pytest.raises(NotMeasured, match=r"Every query of a\.run has the same nDCG@10"):
        plan([BASELINE], "nDCG@10")


@pytest.mark.parametrize("runs", [1, 2])
def test_one_query_is_not_enough(runs: int) -> None:
    with pytest.raises(NotMeasured, match=r"One query says nothing .* judge more queries"):
        plan([scores({"q1": 0.5}), scores({"q1": 0.7})][:runs], "nDCG@10")


def test_one_query_is_not_enough_with_a_given_spread_either() -> None:
    with pytest.raises(NotMeasured, match="judge more queries"):
        plan_from_spread(0.2, 1)


def test_different_queries_are_named() -> None:
    other = scores({"q1": 0.5, "q2": 0.5, "q3": 0.1, "q17": 0.5}, name="b.run")
    with pytest.raises(BadInput, match=r"on different queries: only a\.run has q4; only b\.run has q17\. Score both"):
        plan([BASELINE, other], "nDCG@10")


def test_different_rules_are_refused() -> None:
    other = scores({"q1": 0.6, "q2": 0.4, "q3": 0.7, "q4": 0.5}, name="b.run", preset="trec_eval")
    with pytest.raises(BadInput, match="under different rules: missing=zero and missing=skip"):
        plan([BASELINE, other], "nDCG@10")


def test_different_judgments_are_refused() -> None:
    first, second = replace(BASELINE, find_judgments=lambda: "x"), replace(CANDIDATE, find_judgments=lambda: "y")
    with pytest.raises(BadInput, match="against different judgments"):
        plan([first, second], "nDCG@10")


@pytest.mark.parametrize(
    ("measure", "message"),
    [("GMAP", "is no mean over queries.* as AP is for GMAP"), ("NumRelRet", "is a sum over queries, not a mean")],
)
def test_a_measure_that_is_no_mean_is_refused(measure: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan([scores({"q1": 0.1, "q2": 0.2}, measure)], measure)
    with pytest.raises(UsageError, match=message):
        plan_from_spread(0.2, 55, measure=measure)


def test_a_measure_that_was_not_scored_is_refused() -> None:
    with pytest.raises(UnknownName, match="RR"):
        plan([BASELINE, CANDIDATE], "RR")


@pytest.mark.parametrize("n_runs", [0, 3])
def test_a_plan_is_made_of_one_or_two_runs(n_runs: int) -> None:
    with pytest.raises(UsageError, match=f"one or two runs, not of {n_runs}"):
        plan([CANDIDATE] * n_runs, "nDCG@10")


def test_a_correlation_is_not_assumed_where_it_can_be_seen() -> None:
    with pytest.raises(UsageError, match="leave out the assumed correlation"):
        plan([BASELINE, CANDIDATE], "nDCG@10", correlation=0.5)


@pytest.mark.parametrize("correlation", [1.0, -1.5, math.nan])
def test_a_correlation_that_is_none_is_refused(correlation: float) -> None:
    with pytest.raises(UsageError, match="A correlation lies between -1 and 1"):
        plan([CANDIDATE], "nDCG@10", correlation=correlation)


@pytest.mark.parametrize("sd", [0.0, -0.2, math.nan, math.inf])
def test_a_standard_deviation_that_is_none_is_refused(sd: float) -> None:
    with pytest.raises(UsageError, match="A standard deviation is a number above 0"):
        plan_from_spread(sd, 55)


def test_other_wrong_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="The number of queries is 1 or more, not 0"):
        plan_from_spread(0.2, 0)
    with pytest.raises(UsageError, match="Name a difference that you want to see"):
        plan_from_spread(0.2, 55, difference=0.0)
    with pytest.raises(UsageError, match=r"RR goes from 0 to 1, so it cannot differ by 1\.5"):
        plan_from_spread(0.2, 55, measure="RR", difference=1.5)
    with pytest.raises(UsageError, match="Power lies between 0 and 1"):
        plan_from_spread(0.2, 55, power=80)
    with pytest.raises(UsageError, match="A significance level lies between 0 and 1"):
        plan_from_spread(0.2, 55, alpha=5)
    with pytest.raises(NotMeasured, match="more than a thousand million queries"):
        plan_from_spread(0.2, 55, difference=1e-7)
