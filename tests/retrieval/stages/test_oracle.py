"""The gold set as a retriever."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rankproof import evaluate
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import UsageError
from rankproof.retrieval.pipeline import Named, Pipeline, Runner
from rankproof.retrieval.stage import Place, RetrieverStage, stage_class
from rankproof.retrieval.stages.oracle import Oracle
from rankproof.testing import check_retriever
from tests.retrieval.texts import cranfield, needs_cranfield

GRADES: dict[str, dict[str, float]] = {
    "q1": {"b": 1, "d": 2, "a": 1, "c": 0, "e": -1},
    "q2": {"x": 0.5},
    "q3": {"a": 0},
}
GOLD = GoldSet((Query("q1"), Query("q2"), Query("q3"), Query("q4")), Qrels.from_dict(GRADES))
PLACE = Place(Path("."), gold=GOLD)


def test_relevant_documents_come_by_falling_grade_and_then_by_id() -> None:
    answers = list(Oracle().open(PLACE).search(GOLD.queries, 10))
    assert [[tuple(hit) for hit in answer.hits] for answer in answers] == [
        [("d", 2.0), ("a", 1.0), ("b", 1.0)],
        [("x", 0.5)],
        [],
        [],
    ]


def perfect(place: Place, measures: list[str]) -> dict[str, float]:
    assert place.gold is not None
    pipeline = Pipeline("oracle", retrieve=Named("oracle", Oracle()))
    run = Runner({"oracle": pipeline}, place).run("oracle", place.gold.queries).to_run()
    return evaluate(place.gold.qrels, run, measures).mean()


def test_it_scores_1() -> None:
    gold = replace(GOLD, qrels=Qrels.from_dict({"q1": GRADES["q1"], "q2": {"x": 1}}))
    measures = ["nDCG", "nDCG@3", "AP", "RR", "R@3", "Success@1"]
    assert perfect(replace(PLACE, gold=gold), measures) == dict.fromkeys(measures, 1.0)


@needs_cranfield
def test_it_scores_1_on_cranfield() -> None:
    assert perfect(cranfield(), ["nDCG@10", "AP", "RR"]) == {"nDCG@10": 1.0, "AP": 1.0, "RR": 1.0}


def test_it_needs_a_gold_set() -> None:
    with pytest.raises(UsageError, match="The oracle returns the gold set, and none is named"):
        Oracle().open(Place(Path(".")))


def test_other_judgments_are_another_behaviour() -> None:
    other = replace(PLACE, gold=replace(GOLD, qrels=Qrels.from_dict({"q1": {"a": 1}})))
    assert Oracle().behaviour(PLACE) != Oracle().behaviour(other)


def test_it_is_found_by_its_name_and_keeps_the_promises_of_a_retriever() -> None:
    assert stage_class("oracle", RetrieverStage) is Oracle
    check_retriever(Oracle().open(PLACE), GOLD.queries, k=2)
