"""Every method by hand, on two short lists."""

from __future__ import annotations

from typing import Any

import pytest

from rankproof import NotMeasured, Run, UnknownName, UsageError, fuse
from rankproof.fusion.registry import methods

FIRST = {"q": {"a": 4.0, "b": 3.0, "c": 1.0}}
SECOND = {"q": {"b": 10.0, "d": 5.0}}
# By min-max the first gives 1, 2/3 and 0, the second 1 and 0.

BY_HAND: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    ("rrf", {}, {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "d": 1 / 62, "c": 1 / 63}),
    ("rrf", {"k": 0}, {"b": 1.5, "a": 1.0, "d": 0.5, "c": 1 / 3}),
    ("rrf", {"k": 0, "weights": [2, 1]}, {"b": 2.0, "a": 2.0, "c": 2 / 3, "d": 0.5}),
    ("weighted", {}, {"b": 5 / 3, "a": 1.0, "d": 0.0, "c": 0.0}),
    ("weighted", {"weights": [0.25, 0.75]}, {"b": 11 / 12, "a": 0.25, "d": 0.0, "c": 0.0}),
    ("weighted", {"weights": [0, 1]}, {"b": 1.0, "d": 0.0, "c": 0.0, "a": 0.0}),
    ("combsum", {}, {"b": 5 / 3, "a": 1.0, "d": 0.0, "c": 0.0}),
    ("combsum", {"normalize": "none"}, {"b": 13.0, "d": 5.0, "a": 4.0, "c": 1.0}),
    ("combsum", {"normalize": "rank"}, {"b": 5 / 3, "a": 1.0, "d": 0.5, "c": 1 / 3}),
    ("combmnz", {}, {"b": 10 / 3, "a": 1.0, "d": 0.0, "c": 0.0}),
    ("combmnz", {"normalize": "rank"}, {"b": 10 / 3, "a": 1.0, "d": 0.5, "c": 1 / 3}),
    ("combanz", {}, {"a": 1.0, "b": 5 / 6, "d": 0.0, "c": 0.0}),
    ("combmax", {}, {"b": 1.0, "a": 1.0, "d": 0.0, "c": 0.0}),
    ("combmin", {}, {"a": 1.0, "b": 2 / 3, "d": 0.0, "c": 0.0}),
    ("combmed", {}, {"a": 1.0, "b": 5 / 6, "d": 0.0, "c": 0.0}),
    # b is in both: 2 × (1/4 + 1).
    ("isr", {}, {"b": 2.5, "a": 1.0, "d": 0.25, "c": 1 / 9}),
    # Four documents. The first gives 4, 3, 2 and d the last point; the second 4, 3 and (2 + 1) / 2 to a and c each.
    ("borda", {}, {"b": 7.0, "a": 5.5, "d": 4.0, "c": 3.5}),
    # b beats c and d and ties with a; a beats c and ties with d; c and d tie.
    ("condorcet", {}, {"b": 2.5, "a": 2.0, "d": 1.0, "c": 0.5}),
]


@pytest.mark.parametrize(("by", "options", "expected"), BY_HAND)
def test_by_hand(by: str, options: dict[str, Any], expected: dict[str, float]) -> None:
    found = fuse([FIRST, SECOND], by=by, **options).to_dict()["q"]
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-15)


def test_every_method_is_done_by_hand() -> None:
    assert {by for by, _, _ in BY_HAND} == set(methods())


def test_three_runs_have_a_median_and_a_majority() -> None:
    runs = [{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 3.0, "c": 2.0, "a": 1.0}}, {"q": {"a": 9.0}}]
    # Under min-max a gets 1, 0 and 1, b 1/2 and 1, c 0 and 1/2.
    assert fuse(runs, by="combmed").to_dict()["q"] == {"a": 1.0, "b": 0.75, "c": 0.25}
    # a beats b and c by two runs to one, b beats c by two to none.
    assert fuse(runs, by="condorcet").to_dict()["q"] == {"a": 2.0, "b": 1.0, "c": 0.0}


def test_majorities_in_a_circle_are_a_tie() -> None:
    runs = [{"q": dict(zip(order, (3.0, 2.0, 1.0), strict=True))} for order in ("abc", "bca", "cab")]
    assert fuse(runs, by="condorcet").to_dict()["q"] == {"c": 1.0, "b": 1.0, "a": 1.0}


def test_under_z_scores_being_absent_is_no_better_than_being_last() -> None:
    first, second = {"q": {"a": 3.0, "b": 1.0}}, {"q": {"c": 3.0, "b": 1.0}}
    # b is last in both lists, at -1; a and c gain 1 and lose 1 where they are absent.
    assert fuse([first, second], by="combsum", normalize="z-score").to_dict()["q"] == {"c": 0.0, "a": 0.0, "b": -2.0}


def test_combmnz_counts_from_the_foot_of_the_list_where_scores_are_negative() -> None:
    first, second = {"q": {"a": -1.0, "b": -2.0, "c": -3.0}}, {"q": {"b": -2.0, "d": -3.0}}
    # Above the foot: a 2, b 1 and 1, c 0, d 0; b in both runs.
    found = fuse([first, second], by="combmnz", normalize="none").to_dict()["q"]
    assert found == {"b": 4.0, "a": 2.0, "d": 0.0, "c": 0.0}


def test_a_query_is_fused_from_the_runs_that_have_it() -> None:
    found = fuse([{"q1": {"a": 1.0}}, {"q2": {"b": 1.0}}]).to_dict()
    assert found == {"q1": {"a": 1 / 61}, "q2": {"b": 1 / 61}}


def test_the_depth_cuts_each_query() -> None:
    assert list(fuse([FIRST, SECOND], depth=2).to_dict()["q"]) == ["b", "a"]
    long = {"q": {f"d{i}": float(i) for i in range(1500)}}
    assert len(fuse([long, long])) == 1000
    assert len(fuse([long, long], depth=None)) == 1500


def test_whatever_holds_a_run_can_be_fused() -> None:
    rows = [("q", "b", 10), ("q", "d", 5)]
    assert fuse([Run.of(FIRST), rows]).to_dict() == fuse([FIRST, SECOND]).to_dict()
    assert fuse([FIRST, {"q": {"b": 10, "d": 5}}]).name == "rankproof-rrf"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], "1 weight for 2 runs: give one weight for each run"),
        ([1, 2, 3], "3 weights for 2 runs"),
        ([1, -0.5], "from 0 on, not -0.5"),
        ([1, float("nan")], "from 0 on, not nan"),
        ([float("inf"), 1], "from 0 on, not inf"),
        ([True, 1], "from 0 on, not True"),
        (["1", 1], "from 0 on, not '1'"),
        ([0, 0.0], "All weights are 0"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights: list[Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        fuse([FIRST, SECOND], weights=weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "borda", "weights": [1, 2]}, "'borda' gives every run the same weight; 'rrf' and 'weighted' take"),
        ({"by": "rrf", "normalize": "min-max"}, "'rrf' looks at ranks, not at scores"),
        ({"by": "combsum", "k": 60}, "no parameter of 'combsum' called 'k'"),
        ({"by": "combsum", "normalize": "minmax"}, "no normalisation called 'minmax'. Did you mean 'min-max'"),
        ({"by": "comb_sum"}, "no method of fusion called 'comb_sum'. Did you mean 'combsum'"),
        ({"k": -1}, "k is a number from 0 on, not -1"),
        ({"depth": 0}, "1 or more, not 0"),
        ({"depth": 2.5}, "1 or more, not 2.5"),
    ],
)
def test_options_that_do_nothing_or_do_not_exist_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        fuse([FIRST, SECOND], **options)


def test_an_unknown_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        fuse([FIRST, SECOND], by="condorset")
    assert caught.value.nearest == ("condorcet",)


def test_names_are_read_whatever_their_case() -> None:
    assert fuse([FIRST, SECOND], by="CombSUM").name == "rankproof-combsum"


def test_a_single_run_is_refused() -> None:
    with pytest.raises(UsageError, match="two runs or more; 1 was given"):
        fuse([FIRST])
    single: list[Any] = [FIRST, Run.of(FIRST), "first.run"]
    for alone in single:
        with pytest.raises(UsageError, match="takes a list of runs"):
            fuse(alone)


def test_scores_that_no_number_can_hold_are_not_made_up() -> None:
    huge = {"q": {"a": 1.7e308}}
    with pytest.raises(NotMeasured, match="normalise by min-max"):
        fuse([huge, huge], by="combsum", normalize="none")
    with pytest.raises(NotMeasured, match="give less weight"):
        fuse([FIRST, SECOND], weights=[1.7e308, 1.7e308], k=0)


def test_no_score_is_a_negative_zero() -> None:
    found = fuse([{"q": {"a": -0.0}}] * 2, by="combmax", normalize="none").to_dict()
    assert repr(found) == "{'q': {'a': 0.0}}"
