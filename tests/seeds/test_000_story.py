"""Seed 000: Recall@k and MRR of a story, with the numbers of its examples."""

from __future__ import annotations

import pytest

import rankproof

DANGER = {"danger": {"Scene 3": 1, "Scene 4": 1, "Scene 7": 1}}
RETURNED = ["Scene 4", "Scene 8", "Scene 3", "Scene 1", "Scene 2"]


def ranked(docs: list[str]) -> dict[str, float]:
    """A run that returns these, best first."""
    return {doc: float(-i) for i, doc in enumerate(docs)}


def test_recall_at_5_of_the_example_is_two_thirds() -> None:
    scores = rankproof.evaluate(DANGER, {"danger": ranked(RETURNED)}, "recall@5", preset="rq")
    assert scores.mean() == {"R@5": pytest.approx(2 / 3)}


def test_mrr_of_the_example_is_061() -> None:
    qrels = {"1": {"x": 1}, "2": {"x": 1}, "3": {"x": 1}}
    run = {"1": ranked(["x"]), "2": ranked(["a", "b", "x"]), "3": ranked(["a", "x"])}
    mean = rankproof.evaluate(qrels, run, "mrr", preset="rq").mean()["RR"]
    assert mean == pytest.approx((1.0 + 1 / 3 + 1 / 2) / 3)
    assert round(mean, 2) == 0.61


@pytest.mark.parametrize("position, value", [(1, 1.0), (2, 0.5), (3, 1 / 3), (None, 0.0)])
def test_reciprocal_rank_by_position(position: int | None, value: float) -> None:
    docs = ["a", "b", "c"]
    if position:
        docs[position - 1] = "x"
    assert rankproof.evaluate({"q": {"x": 1}}, {"q": ranked(docs)}, "RR", preset="rq").mean()["RR"] == value


def test_scenes_of_equal_similarity_stay_in_story_order() -> None:
    run = {"q": {"Sc2": 0.0, "Sc1": 0.0, "Sc10": 0.0}}
    assert rankproof.evaluate({"q": {"Sc1": 1}}, run, "RR", preset="rq").mean()["RR"] == 0.5


def test_a_query_without_relevant_scenes_leaves_the_mean() -> None:
    qrels = {"q1": {"x": 1}, "q2": {"x": 0}}
    run = {"q1": ranked(["x"]), "q2": ranked(["x"])}
    scores = rankproof.evaluate(qrels, run, "RR", preset="rq")
    assert scores.mean() == {"RR": 1.0}
    assert scores.coverage.n_no_relevant == 1
