"""Where the known tools disagree on one input, each preset gives the number of the tool it is named after."""

from __future__ import annotations

import pytest

from rankproof import BadInput, evaluate
from tests.conformance.cases import Grades, Results

THREE_GRADES: Grades = {"q1": {"a": 0, "b": 1, "c": 2}, "q2": {"a": 1}}
BOTH_QUERIES: Results = {"q1": {"c": 3.0, "b": 2.0, "a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}

TIED_GRADES: Grades = {"q1": {"a": 0, "b": 1, "c": 2}}
TIED: Results = {"q1": {"a": 1.0, "b": 1.0, "c": 1.0}}


def mean(qrels: Grades, run: Results, measure: str, preset: str) -> float:
    return next(iter(evaluate(qrels, run, measure, preset=preset).mean().values()))


@pytest.mark.parametrize(
    "preset",
    ["default", "trec_eval", "trec_eval-c", "trec_eval-10", "pytrec_eval", "ranx", "beir", "sentence-transformers"],
)
def test_without_ties_and_gaps_all_tools_agree(preset: str) -> None:
    # q1 is in the best order: 1. q2 has its one relevant document at rank 2: 1 / log2(3) = 0.6309.
    assert mean(THREE_GRADES, BOTH_QUERIES, "nDCG@3", preset) == pytest.approx(0.8155, abs=5e-5)


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("default", 1.0),
        ("trec_eval", 1.0),
        ("trec_eval-c", 1.0),
        ("trec_eval-10", 1.0),
        ("pytrec_eval", 1.0),
        ("ranx", 0.6199),  # as given: a, b, c
        ("beir", 1.0),
        ("sentence-transformers", 0.6934),  # ids ascending, b and c alike relevant
    ],
)
def test_tied_documents_stand_in_the_order_of_the_tool(preset: str, expected: float) -> None:
    assert mean(TIED_GRADES, TIED, "nDCG@3", preset) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("default", 1.0),
        ("trec_eval", 1.0),
        ("trec_eval-c", 1.0),
        ("trec_eval-10", 1.0),
        ("pytrec_eval", 1.0),
        ("ranx", 0.5),
        ("sentence-transformers", 0.5),
    ],
)
def test_the_first_relevant_of_tied_documents_is_that_of_the_tool(preset: str, expected: float) -> None:
    assert mean(TIED_GRADES, TIED, "RR", preset) == expected
    assert mean(TIED_GRADES, TIED, "RR@10", preset) == expected


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("default", 0.5),
        ("trec_eval", 1.0),
        ("trec_eval-c", 0.5),
        ("pytrec_eval", 1.0),
        ("beir", 1.0),
        ("sentence-transformers", 0.5),
    ],
)
def test_a_query_missing_from_the_run_counts_zero_or_leaves_the_mean(preset: str, expected: float) -> None:
    assert mean(THREE_GRADES, {"q1": BOTH_QUERIES["q1"]}, "nDCG@3", preset) == expected


@pytest.mark.parametrize("preset", ["trec_eval-10", "ranx"])
def test_a_query_missing_from_the_run_is_refused_where_the_tool_refuses_it(preset: str) -> None:
    with pytest.raises(BadInput, match="q2"):
        mean(THREE_GRADES, {"q1": BOTH_QUERIES["q1"]}, "nDCG@3", preset)


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("default", 0.5),
        ("trec_eval", 0.5),
        ("trec_eval-c", 0.5),
        ("trec_eval-10", 0.5),
        ("pytrec_eval", 0.5),
        ("ranx", 0.5),
        ("beir", 0.5),
        ("sentence-transformers", 1.0),
    ],
)
def test_a_query_without_relevant_documents_counts_zero_or_leaves_the_mean(preset: str, expected: float) -> None:
    qrels = {"q1": {"c": 2}, "q2": {"a": 0}}
    assert mean(qrels, {"q1": {"c": 1.0}, "q2": {"a": 1.0}}, "nDCG@3", preset) == expected


@pytest.mark.parametrize(
    ("preset", "expected"),
    [("default", 1.0), ("trec_eval", 1.0), ("trec_eval-10", 1.0), ("pytrec_eval", 0.5), ("ranx", 1.0)],
)
def test_scores_that_differ_in_the_ninth_decimal_are_tied_in_single_precision_only(
    preset: str, expected: float
) -> None:
    qrels = {"q1": {"relevant": 1, "worse": 0}}
    assert mean(qrels, {"q1": {"worse": 0.123456788, "relevant": 0.123456789}}, "RR", preset) == expected


@pytest.mark.parametrize(
    ("preset", "expected"), [("default", 1 / 3), ("trec_eval", 1 / 3), ("ranx", 1 / 3), ("sentence-transformers", 0.5)]
)
def test_average_precision_at_k_is_over_all_relevant_documents_or_over_at_most_k(preset: str, expected: float) -> None:
    qrels = {"q1": {"a": 1, "b": 1, "c": 1}}
    assert mean(qrels, {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}}, "AP@2", preset) == pytest.approx(expected)
