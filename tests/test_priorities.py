from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankproof.priorities as priorities_module
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.measures.parse import parse_measure
from rankproof.measures.registry import families
from rankproof.priorities import Bounds, Priorities, Request, find_priorities
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.rules import preset

UNFIT = {"Judged", "Unjudged", "RBPResidual", "infAP"}
EVERY = [own.name for own in families().values() if own.aggregate == "mean" and own.name not in UNFIT]
CUT = [
    f"{name}@{'0.3' if name == 'IPrec' else 3}" if families()[name].cutoff == "required" else name
    for name in EVERY
    if not name.startswith("Own")
]


def ranked(*docs: str) -> dict[str, float]:
    """A ranking, best first."""
    return {doc: float(len(docs) - i) for i, doc in enumerate(docs)}


def find(
    judged: dict[str, dict[str, int]], /, *runs: dict[str, dict[str, float]], measure: str = "P@2",
    rules: str = "default", **options: Any,
) -> Priorities:  # fmt: skip
    held = [Run.from_dict(run, name=name) for run, name in zip(runs, ("a", "b"), strict=False)]
    return find_priorities(Qrels.from_dict(judged), held, Request(parse_measure(measure), preset(rules), **options))


# By hand.


def test_precision_can_be_anything_that_the_holes_leave_open() -> None:
    found = find({"q": {"a": 1}}, {"q": ranked("a", "x", "y")}, measure="P@3")
    assert found.now == pytest.approx(1 / 3)
    assert found.bounds == pytest.approx((1 / 3, 1.0))
    # One judgment settles a third, whatever it says.
    assert [(hole.doc_id, hole.ranks) for hole in found.holes] == [("x", (2,)), ("y", (3,))]
    assert [hole.least for hole in found.holes] == pytest.approx([1 / 3, 1 / 3])
    assert [hole.expected for hole in found.holes] == pytest.approx([1 / 3, 1 / 3])


def test_the_bounds_of_the_mean_are_the_means_of_the_bounds() -> None:
    grades = {"q1": {"a": 1}, "q2": {"b": 0}}
    found = find(grades, {"q1": ranked("a", "x"), "q2": ranked("y", "b")}, measure="P@2")
    assert found.by_query == {"q1": Bounds(0.5, 1.0), "q2": Bounds(0.0, 0.5)}
    assert found.bounds == Bounds(0.25, 0.75)
    assert found.holes[0].least == pytest.approx(0.25)
    assert found.after.expected.width == pytest.approx(0.0)
    assert found.after.widest == pytest.approx(0.0)


def test_a_relevant_hole_below_a_perfect_ranking_lowers_ndcg() -> None:
    # The ranking is perfect as far as anybody knows; a relevant document at rank 3 would stand there too low.
    found = find({"q": {"a": 1, "b": 0}}, {"q": ranked("a", "b", "x")}, measure="nDCG@3")
    ideal = 1 + 1 / math.log2(3)
    assert found.now == 1.0
    assert found.bounds == pytest.approx(((1 + 1 / 2) / ideal, 1.0))


def test_rbp_is_open_by_its_exact_residual() -> None:
    # p = 1/2: weights 1/2, 1/4, 1/8 and 1/8 for all that comes below.
    found = find({"q": {"a": 1}}, {"q": ranked("a", "x", "y")}, measure="RBP(p=0.5)", depth=2)
    assert found.now == 0.5
    assert found.bounds == Bounds(0.5, 1.0)
    (hole,) = found.holes
    assert (hole.doc_id, hole.expected, hole.least) == ("x", 0.25, 0.25)
    assert found.after.widest == 0.25
    residual = evaluate({"q": {"a": 1}}, {"q": ranked("a", "x", "y")}, "RBPResidual(p=0.5)").values[0, 0]
    assert found.bounds.width == residual


def test_with_a_cutoff_rbp_knows_nothing_beyond_it() -> None:
    found = find({"q": {"a": 1}}, {"q": ranked("a", "x", "y")}, measure="RBP(p=0.5)@2")
    assert found.bounds == Bounds(0.5, 0.75)


def test_the_document_that_can_change_more_comes_first() -> None:
    found = find({"q": {"a": 0}}, {"q": ranked("a", "x", "y", "z")}, measure="DCG@4")
    assert [hole.doc_id for hole in found.holes] == ["x", "y", "z"]
    shares = [1 / math.log2(3), 1 / math.log2(4), 1 / math.log2(5)]
    assert [hole.least for hole in found.holes] == pytest.approx(shares)


def test_of_two_runs_only_the_documents_that_tell_them_apart_matter() -> None:
    # x is second in both: it says nothing about which is better. y and z stand in one of them.
    grades = {"q": {"a": 1}}
    found = find(grades, {"q": ranked("a", "x", "y")}, {"q": ranked("a", "x", "z")}, measure="P@3")
    assert found.now == 0.0
    assert found.bounds == pytest.approx((-1 / 3, 1 / 3))
    assert found.sign_is_open
    assert [(hole.doc_id, hole.flips) for hole in found.holes] == [("y", True), ("z", True), ("x", False)]
    assert [hole.least for hole in found.holes] == pytest.approx([1 / 3, 1 / 3, 0.0])


def test_a_query_whose_winner_is_open_comes_before_a_wider_one_whose_winner_is_not() -> None:
    grades = {"open": {"a": 0}, "shut": {"a": 1, "b": 0, "c": 0}}
    first = {"open": ranked("x", "a"), "shut": ranked("b", "c", "a")}
    second = {"open": ranked("y", "a"), "shut": ranked("a", "v", "w")}
    found = find(grades, first, second, measure="P@3", n=2)
    assert found.by_query["shut"] == pytest.approx((0.0, 2 / 3))
    assert [(hole.query_id, hole.doc_id) for hole in found.proposed] == [("open", "x"), ("open", "y")]


def test_the_sign_is_shut_where_no_completion_changes_it() -> None:
    found = find({"q": {"a": 1, "b": 1}}, {"q": ranked("x", "y")}, {"q": ranked("a", "b")}, measure="P@2")
    assert found.bounds == Bounds(0.0, 1.0)
    assert not found.sign_is_open


def test_a_grade_that_was_given_often_is_expected_more() -> None:
    # Three of the judgments are 0 and one is 1: 4/6 and 2/6 with one more of each. RR is settled by a relevant hole.
    grades = {"q": {"b": 0, "c": 0, "d": 0, "e": 1}}
    found = find(grades, {"q": ranked("x", "y", "e")}, measure="RR")
    # Bounds 1/3 to 1. x relevant: 1, nothing open; x not: 1/3 to 1/2.
    first = found.holes[0]
    assert first.doc_id == "x"
    assert first.expected == pytest.approx(2 / 3 - (4 / 6) * (1 / 6))
    assert first.least == pytest.approx(2 / 3 - 1 / 6)


def test_nothing_to_label_is_said_so_by_bounds_without_width() -> None:
    found = find({"q": {"a": 1}}, {"q": ranked("a")}, measure="P@1")
    assert (found.holes, found.bounds, found.after.widest) == ((), Bounds(1.0, 1.0), 0.0)


# Against all completions.

DOCS = [f"d{i}" for i in range(6)]
orders = st.permutations(DOCS).flatmap(lambda docs: st.integers(1, 6).map(lambda n: ranked(*docs[:n])))
known = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 2), max_size=4)


def completed(
    found: Priorities, grades: dict[str, int], runs: list[dict[str, float]], fixed: dict[str, float]
) -> list[float]:
    """The value under every assignment of grades to the holes that are not fixed, scored by the ordinary road."""
    free = [hole.doc_id for hole in found.holes if hole.doc_id not in fixed]
    values = []
    for completion in itertools.product(found.grades, repeat=len(free)):
        judged = {**grades, **fixed, **dict(zip(free, completion, strict=True))}
        scored = [evaluate({"q": judged}, {"q": run}, found.measure).values[0, 0] for run in runs]
        values.append(float(scored[-1] - (scored[0] if len(scored) == 2 else 0.0)))
    return values


def measures_with_scale(name: str) -> str:
    """The highest grade is a property of the whole set of judgments, so it is given."""
    if "max_grade" not in families()[name.partition("@")[0]].parameters:
        return name
    head, _, k = name.partition("@")
    return f"{head}(max_grade=2){'@' + k if k else ''}"


@pytest.mark.parametrize("way", ["everything", "sorted"])
@pytest.mark.parametrize("name", CUT)
@settings(max_examples=12, deadline=None)
@given(grades=known, run=orders)
def test_the_bounds_are_those_over_all_completions(
    name: str, way: str, grades: dict[str, int], run: dict[str, float]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if way == "sorted":
            patch.setattr(priorities_module, "_FEW", 0)
        found = find({"q": grades}, {"q": run}, measure=measures_with_scale(name), depth=3, grades=(0.0, 1.0, 2.0))
    values = completed(found, grades, [run], {})
    if found.measure.family != "RBP":
        assert found.bounds == pytest.approx((min(values), max(values)), abs=1e-9)
    else:
        assert found.bounds.low == pytest.approx(min(values))
        assert found.bounds.high >= max(values) - 1e-9


@pytest.mark.parametrize("way", ["everything", "sorted"])
@pytest.mark.parametrize(
    "name", ["nDCG@3", "P@2", "R@3", "DCG@3", "F@3", 'nDCG(gain="exp")', "RR", "AP", "ERR(max_grade=2)@3"]
)
@settings(max_examples=15, deadline=None)
@given(grades=known, first=orders, second=orders)
def test_the_bounds_of_a_difference_hold_over_all_completions(
    name: str, way: str, grades: dict[str, int], first: dict[str, float], second: dict[str, float]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if way == "sorted":
            patch.setattr(priorities_module, "_FEW", 0)
            patch.setattr(priorities_module, "_MANY", 500)
        found = find({"q": grades}, {"q": first}, {"q": second}, measure=name, depth=3, grades=(0.0, 1.0, 2.0))
    values = completed(found, grades, [first, second], {})
    assert found.bounds.low <= min(values) + 1e-9
    assert found.bounds.high >= max(values) - 1e-9
    if found.n_loose == 0:
        assert found.bounds == pytest.approx((min(values), max(values)), abs=1e-9)


@pytest.mark.parametrize("name", ["nDCG@3", "P@2", "RR", "AP"])
@settings(max_examples=15, deadline=None)
@given(grades=known, run=orders)
def test_documents_are_ordered_by_how_much_they_shrink_the_bounds(
    name: str, grades: dict[str, int], run: dict[str, float]
) -> None:
    found = find({"q": grades}, {"q": run}, measure=name, depth=3, grades=(0.0, 1.0, 2.0))
    counts = [sum(grade == level for grade in grades.values()) + 1 for level in found.grades]
    shrinks = []
    for hole in found.holes:
        left = []
        for level in found.grades:
            values = completed(found, grades, [run], {hole.doc_id: level})
            left.append(max(values) - min(values))
        mean = sum(n * width for n, width in zip(counts, left, strict=True)) / sum(counts)
        shrinks.append(found.bounds.width - mean)
        assert hole.expected == pytest.approx(shrinks[-1], abs=1e-9)
        assert hole.least == pytest.approx(found.bounds.width - max(left), abs=1e-9)
    assert shrinks == pytest.approx(sorted(shrinks, reverse=True), abs=1e-9)


@pytest.mark.parametrize("way", ["everything", "sorted"])
@settings(max_examples=20, deadline=None)
@given(grades=known, run=orders, n=st.integers(0, 3))
def test_what_is_left_afterwards_is_what_all_grades_of_the_proposed_documents_leave(
    way: str, grades: dict[str, int], run: dict[str, float], n: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if way == "sorted":
            patch.setattr(priorities_module, "_FEW", 0)
        found = find({"q": grades}, {"q": run}, measure="nDCG@4", n=n, grades=(0.0, 1.0, 2.0))
    counts = np.array([sum(grade == level for grade in grades.values()) + 1 for level in found.grades])
    chances = dict(zip(found.grades, (counts / counts.sum()).tolist(), strict=True))
    docs = [hole.doc_id for hole in found.proposed]
    low = high = widest = 0.0
    for given_grades in itertools.product(found.grades, repeat=len(docs)):
        values = completed(found, grades, [run], dict(zip(docs, given_grades, strict=True)))
        chance = math.prod(chances[grade] for grade in given_grades)
        low, high = low + chance * min(values), high + chance * max(values)
        widest = max(widest, max(values) - min(values))
    assert found.after.expected == pytest.approx((low, high), abs=1e-9)
    assert found.after.widest == pytest.approx(widest, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(grades=known.filter(bool), run=st.dictionaries(st.sampled_from(DOCS), st.integers(0, 2).map(float), min_size=1))
@pytest.mark.parametrize("rules", ["default", "ab", "spec", "pytrec_eval"])
def test_today_is_what_score_says(rules: str, grades: dict[str, int], run: dict[str, float]) -> None:
    found = find({"q": grades}, {"q": run}, measure="nDCG@3", rules=rules)
    expected = evaluate({"q": grades}, {"q": run}, "nDCG@3", preset=rules).values[0, 0]
    assert found.now == pytest.approx(expected, abs=1e-12)


def test_many_holes_are_worked_out_without_trying_every_completion() -> None:
    first = {"q": ranked(*(f"a{i}" for i in range(20)))}
    second = {"q": ranked(*(f"b{i}" for i in range(10)), *(f"a{i}" for i in range(10)))}
    found = find({"q": {"r": 2}}, first, second, measure="nDCG@20", n=3)
    assert (len(found.holes), found.n_loose) == (30, 0)
    assert -1 <= found.bounds.low < 0 < found.bounds.high <= 1
    loose = find({"q": {"r": 2}}, first, second, measure="AP@20", n=3)
    assert loose.n_loose == 1


def test_with_many_grades_the_bounds_stay_exact_and_the_worth_of_a_judgment_is_estimated() -> None:
    docs = [f"a{i}" for i in range(12)]
    exact = find({"q": {"r": 4}}, {"q": ranked(*docs)}, measure="P@12")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(priorities_module, "_ROWS", 1)
        found = find({"q": {"r": 4}}, {"q": ranked(*docs)}, measure="P@12")
    assert (exact.n_estimated, found.n_estimated) == (0, 1)
    assert found.bounds == exact.bounds == Bounds(0.0, 1.0)
    assert [hole.least for hole in found.holes] == pytest.approx([1 / 12] * 12)


# What is refused, and what is left out.


@pytest.mark.parametrize(
    ("measure", "rules", "options", "message"),
    [
        ("NumRet", "default", {}, "has no bounds that judgments would narrow"),
        ("Judged@5", "default", {}, "has no bounds that judgments would narrow"),
        ("nDCG@3", "rq", {}, "leaves queries without a relevant document out of the mean"),
        ("nDCG@3", "default", {"grades": (0.0,)}, "leave nothing to find out"),
        ("nDCG@3", "default", {"depth": 0}, "a depth of 0"),
    ],
)
def test_what_has_no_bounds_is_refused(measure: str, rules: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find({"q": {"a": 1}}, {"q": ranked("a", "x")}, measure=measure, rules=rules, **options)


def test_three_runs_are_refused() -> None:
    run = {"q": ranked("a")}
    request = Request(parse_measure("P@1"), preset("default"))
    with pytest.raises(UsageError, match="one run, or two that are compared, not 3"):
        find_priorities(Qrels.from_dict({"q": {"a": 1}}), [Run.from_dict(run)] * 3, request)


def test_a_run_without_any_of_the_queries_is_refused() -> None:
    with pytest.raises(BadInput, match="it has 'other'"):
        find({"q": {"a": 1}}, {"other": ranked("a")})


def test_a_query_that_nobody_judged_yet_is_wide_open() -> None:
    request = Request(parse_measure("P@2"), preset("default"))
    runs = [Run.from_dict({"q": ranked("a", "b"), "new": ranked("c", "d")})]
    found = find_priorities(Qrels.from_dict({"q": {"a": 1, "b": 0}}), runs, request, queries=["q", "new"])
    assert found.by_query == {"q": Bounds(0.5, 0.5), "new": Bounds(0.0, 1.0)}
    with pytest.raises(NothingToEvaluate):
        find_priorities(Qrels.from_dict({"q": {"a": 1}}), runs, request, queries=[])


def test_a_query_missing_from_the_run_counts_zero_or_leaves_as_the_rules_say() -> None:
    grades, run = {"q": {"a": 1}, "gone": {"a": 1}}, {"q": ranked("a", "x")}
    assert find(grades, run).bounds == Bounds(0.25, 0.5)
    assert find(grades, run, rules="trec_eval").bounds == Bounds(0.5, 1.0)
    with pytest.raises(BadInput, match="'gone' is missing from a run"):
        find(grades, run, rules="trec_eval-10")
