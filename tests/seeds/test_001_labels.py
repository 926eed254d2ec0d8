"""Seed 001: MRR, precision@k and nDCG@5 over `relevant` (2), `partial` (1) and `not-relevant` (0)."""

from __future__ import annotations

import math

import pytest

import rankproof


def labelled(
    *grades: int, unreturned: tuple[int, ...] = ()
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """One query whose results have these grades, best first, and judged documents that were not returned."""
    qrels = {f"d{i}": g for i, g in enumerate(grades)} | {f"u{i}": g for i, g in enumerate(unreturned)}
    return {"q": qrels}, {"q": {f"d{i}": float(-i) for i in range(len(grades))}}


def value(measure: str, *grades: int, unreturned: tuple[int, ...] = ()) -> float:
    qrels, run = labelled(*grades, unreturned=unreturned)
    return next(iter(rankproof.evaluate(qrels, run, measure, preset="labels").mean().values()))


def test_mrr_of_a_perfect_ranking_is_one() -> None:
    assert value("MRR", 2, 0, 0) == 1.0


@pytest.mark.parametrize("grades, expected", [((0, 2, 0), 1 / 2), ((0, 0, 2), 1 / 3), ((1, 0, 2), 1 / 3)])
def test_mrr_counts_relevant_only_so_a_partial_does_not_stop_it(grades: tuple[int, ...], expected: float) -> None:
    assert value("MRR", *grades) == expected


def test_mrr_without_a_relevant_result_is_zero() -> None:
    assert value("MRR", 0, 1, 0) == 0.0


def test_precision_counts_relevant_and_partial() -> None:
    assert value("P@1", 1, 0, 2, 0, 0) == 1.0
    assert value("P@5", 1, 0, 2, 0, 0) == 2 / 5


def test_ndcg_of_a_perfect_ranking_is_one() -> None:
    assert value("nDCG@5", 2, 1, 0, 0, 0) == 1.0


def test_ndcg_uses_the_grades_with_linear_gain() -> None:
    dcg = 1 / math.log2(2) + 2 / math.log2(4)
    ideal = 2 / math.log2(2) + 1 / math.log2(3)
    assert value("nDCG@5", 1, 0, 2, 0, 0) == pytest.approx(dcg / ideal)


def test_the_ideal_list_holds_all_judged_documents_so_a_lone_partial_is_not_perfect() -> None:
    assert value("nDCG@5", 1) == 1.0
    assert value("nDCG@5", 1, unreturned=(2,)) == pytest.approx(1 / (2 + 1 / math.log2(3)))


def test_results_that_nobody_judged_are_counted_with_every_figure() -> None:
    scores = rankproof.evaluate({"q": {"a": 2}}, {"q": {"a": 3.0, "x": 2.0, "y": 1.0}}, ["P@1", "P@5"], preset="labels")
    assert scores.coverage.judged_at == {1: 1.0, 5: pytest.approx(1 / 3)}
