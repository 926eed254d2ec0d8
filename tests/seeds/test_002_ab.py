"""Seed 002: recall@k, MRR@k and exponential nDCG@k with ids ascending."""

from __future__ import annotations

import math

import pytest

import rankproof

QRELS = [("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d2", 1), ("q3", "d9", 0)]


def ab(run: dict[str, dict[str, float]], *measures: str) -> dict[str, dict[str, float]]:
    return rankproof.evaluate(QRELS, run, measures, preset="ab").by_query()


def test_recall_is_the_share_of_the_relevant_documents_in_the_top_k() -> None:
    found = ab({"q1": {"d1": 2.0, "x": 1.0}, "q2": {"x": 1.0}}, "recall@10")
    assert found == {"q1": {"R@10": 0.5}, "q2": {"R@10": 0.0}, "q3": {"R@10": 0.0}}


def test_mrr_at_k_is_zero_beyond_k() -> None:
    run = {"q1": {"x": 3.0, "d2": 2.0}}
    assert ab(run, "MRR@2")["q1"] == {"RR@2": 0.5}
    assert ab(run, "MRR@1")["q1"] == {"RR@1": 0.0}


def test_ndcg_has_exponential_gain() -> None:
    run = {"q1": {"d2": 2.0, "d1": 1.0}}
    dcg = (2**1 - 1) / math.log2(2) + (2**2 - 1) / math.log2(3)
    ideal = (2**2 - 1) / math.log2(2) + (2**1 - 1) / math.log2(3)
    assert ab(run, "nDCG@10")["q1"]["nDCG@10"] == pytest.approx(dcg / ideal)
    assert dcg / ideal == pytest.approx(0.79670, abs=1e-5)


def test_ties_are_broken_by_the_id_ascending() -> None:
    assert ab({"q2": {"d3": 1.0, "d1": 1.0, "d2": 1.0}}, "MRR@10")["q2"] == {"RR@10": 0.5}


def test_any_grade_above_zero_is_relevant() -> None:
    scores = rankproof.evaluate([("q", "d", 0.5)], {"q": {"d": 1.0}}, ["R@1", "RR@1"], preset="ab")
    assert scores.mean() == {"R@1": 1.0, "RR@1": 1.0}


def test_macro_averages_count_queries_without_judged_relevance_as_zero() -> None:
    run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0}, "q3": {"d9": 1.0}}
    assert rankproof.evaluate(QRELS, run, "MRR@10", preset="ab").mean() == {"RR@10": pytest.approx(2 / 3)}
