"""The default preset gives ir_measures' numbers, queries missing from the run counting 0 in both."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from random import Random

import ir_measures
import pytest

from rankproof import evaluate, parse_measure
from tests.conformance.cases import GRADE_RANGES, Case, random_case, scored_by_trec_eval

ANY_ORDER = [
    "nDCG", "nDCG@5", "nDCG@100", "P@1", "P@5", "P@100", "P(rel=2)@5", "R@5", "R@100", "R(rel=2)@5", "RR", "RR(rel=2)",
    "AP", "AP@5", "AP(rel=2)", "AP(rel=2)@5", "Success@1", "Success@5", "Success(rel=2)@5", "Bpref", "Bpref(rel=2)",
    "Rprec", "Rprec(rel=2)", "SetP", "SetP(rel=2)", "SetR", "SetF", "SetAP", "IPrec@0.1", "IPrec@0.5", "IPrec@1.0",
    "infAP", "infAP(rel=2)",
]  # fmt: skip
"""Measures whose ties ir_measures breaks as trec_eval does."""

CONDENSED = [
    "P(judged_only=True)@5", "nDCG(judged_only=True)@5", "AP(judged_only=True)", "RR(judged_only=True)",
]  # fmt: skip
"""The ranking without the documents nobody judged. A negative grade is no judgment there and one here."""

UNTIED = ["RR@1", "RR@10", "RR(rel=2)@10", "Judged@1", "Judged@10"]
"""Measures whose ties ir_measures breaks by ascending id: compared where nothing is tied."""


def theirs(case: Case, name: str) -> dict[str, float]:
    """Query → value."""
    measure = ir_measures.parse_measure(name)
    return {found.query_id: found.value for found in ir_measures.iter_calc([measure], case.qrels, case.run)}


def computes(name: str) -> bool:
    """Whether one of ir_measures' providers that are installed computes the measure."""
    measure = ir_measures.parse_measure(name)
    return any(p.is_available() and p.supports(measure) for p in ir_measures.DefaultPipeline.providers)


def assert_same(case: Case, names: list[str], *, within: float = 1e-9) -> None:
    scores = evaluate(case.qrels, case.run, names)
    for name in names:
        ours = dict(zip(scores.query_ids, scores.of(name).tolist(), strict=True))
        expected = theirs(case, name)
        assert ours.keys() == expected.keys()
        for query, value in expected.items():
            assert abs(ours[query] - value) <= within, (name, query, case.qrels[query], case.run.get(query))


def cases(seed: int, n: int, *, ties: bool, grade_ranges: Sequence[tuple[int, int]] = GRADE_RANGES) -> list[Case]:
    rng = Random(seed)
    found: list[Case] = []
    while len(found) < n:
        case = scored_by_trec_eval(random_case(rng, ties=ties, grade_ranges=grade_ranges))
        if case is not None:
            found.append(case)
    return found


def single_precision_apart(case: Case) -> bool:
    """Whether scores that differ still differ in single precision, in which ir_measures compares them."""
    return all(
        abs(score) < 1_000_000 and score * 4096 == int(score * 4096)
        for row in case.run.values()
        for score in row.values()
    )


@pytest.mark.parametrize("name", ANY_ORDER + CONDENSED + UNTIED)
def test_every_compared_measure_is_one_that_ir_measures_computes(name: str) -> None:
    assert computes(name)


@pytest.mark.parametrize("seed", range(10))
def test_with_ties_the_values_are_those_of_ir_measures(seed: int) -> None:
    for case in filter(single_precision_apart, cases(seed, 30, ties=True)):
        assert_same(case, ANY_ORDER)


@pytest.mark.parametrize("seed", range(10))
def test_the_condensed_ranking_scores_as_in_ir_measures_where_no_grade_is_negative(seed: int) -> None:
    for case in filter(single_precision_apart, cases(seed, 10, ties=True, grade_ranges=[(0, 1), (0, 3)])):
        assert_same(case, CONDENSED)


@pytest.mark.parametrize("seed", range(10))
def test_without_ties_cut_reciprocal_rank_and_judged_share_are_those_of_ir_measures(seed: int) -> None:
    for case in cases(seed, 30, ties=False):
        assert_same(case, UNTIED)


@pytest.mark.parametrize("seed", range(100))
def test_compatibility_is_that_of_ir_measures_down_to_the_depth_it_looks(seed: int) -> None:
    # ir_measures looks down to the end of the longer ranking, we to rank 1,000 unless told.
    qrels, run = random_case(Random(seed), ties=False, most_queries=1)
    wanted = sum(grade > 0 for grade in qrels["q0"].values())
    depth = max(len(run["q0"]), wanted)
    ours = evaluate(qrels, run, f"Compat(p=0.8)@{depth}").mean()[str(parse_measure(f"Compat(p=0.8)@{depth}"))]
    assert abs(ours - theirs(Case(qrels, run), "Compat(p=0.8)")["q0"]) <= 1e-9


@pytest.mark.skipif(
    shutil.which("perl") is None, reason="ir_measures computes ERR by a Perl script, and perl is missing"
)
@pytest.mark.parametrize("seed", range(5))
def test_err_is_that_of_ir_measures_with_its_fixed_maximum_grade_of_4(seed: int) -> None:
    # The script prints five decimals.
    qrels, run = random_case(Random(seed), ties=False, grade_ranges=[(0, 4)], absent=0)
    # It takes whole numbers for query ids only.
    case = Case({query[1:]: row for query, row in qrels.items()}, {query[1:]: row for query, row in run.items()})
    scores = evaluate(case.qrels, case.run, "ERR(max_grade=4)@10")
    expected = theirs(case, "ERR@10")
    for query, value in zip(scores.query_ids, scores.values[0].tolist(), strict=True):
        assert abs(value - expected[query]) <= 0.5e-5 + 1e-9


@pytest.mark.skipif(not computes("RBP(p=0.8,rel=1)"), reason="ir_measures computes RBP by cwl_eval, which is missing")
def test_rank_biased_precision_is_that_of_ir_measures() -> None:
    for case in cases(0, 30, ties=False):
        assert_same(case, ["RBP(p=0.8,rel=1)"])


def test_beta_of_set_f_is_squared_here_and_not_in_ir_measures() -> None:
    # P = 1/2 and R = 1/3. Ours: (1 + β²)PR / (β²P + R). ir_measures and trec_eval take β for β².
    case = Case({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2.0, "x": 1.0}})
    assert evaluate(case.qrels, case.run, "SetF(beta=2.0)").mean() == pytest.approx({"SetF(beta=2.0)": 5 / 14})
    assert theirs(case, "SetF(beta=2.0)")["q"] == pytest.approx(3 / 8)
    assert theirs(case, "SetF(beta=4.0)")["q"] == pytest.approx(5 / 14)


def test_ties_at_a_cut_reciprocal_rank_are_broken_one_way_here_and_two_ways_in_ir_measures() -> None:
    case = Case({"q": {"a": 0, "b": 1}}, {"q": {"a": 1.0, "b": 1.0}})
    assert evaluate(case.qrels, case.run, ["RR", "RR@10"]).mean() == {"RR": 1.0, "RR@10": 1.0}
    assert theirs(case, "RR") == {"q": 1.0}
    assert theirs(case, "RR@10") == {"q": 0.5}
