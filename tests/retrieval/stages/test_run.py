"""A run file as a retriever."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput
from rankproof.retrieval.stage import Place, RetrieverStage, stage_class
from rankproof.retrieval.stages.run import RunFile
from rankproof.testing import check_retriever

TREC = "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 3.0 x\nq1 Q0 c 3 2.0 x\nq2 Q0 d 1 1.5 x\n"
QUERIES = [Query("q1", "wing"), Query("q2"), Query("q3")]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "their.run").write_text(TREC, encoding="utf-8")
    return Place(tmp_path)


def test_results_come_by_score_and_equal_ones_by_id_from_high_to_low(place: Place) -> None:
    answers = list(RunFile(path="their.run").open(place).search(QUERIES, 10))
    assert [[tuple(hit) for hit in answer.hits] for answer in answers] == [
        [("b", 3.0), ("c", 2.0), ("a", 2.0)],
        [("d", 1.5)],
        [],
    ]


def test_the_list_is_cut_at_the_depth(place: Place) -> None:
    (answer, *_) = RunFile(path="their.run").open(place).search(QUERIES, 2)
    assert [hit.doc_id for hit in answer.hits] == ["b", "c"]


def test_a_query_that_the_file_does_not_have_found_nothing(place: Place) -> None:
    (answer,) = RunFile(path="their.run").open(place).search([Query("q3")], 10)
    assert (answer.state, answer.hits) == ("measured", ())


def test_any_format_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"q1": {"a": 1.0}}', encoding="utf-8")
    (answer,) = RunFile(path="run.json").open(Place(tmp_path)).search([Query("q1")], 10)
    assert [hit.doc_id for hit in answer.hits] == ["a"]


def test_a_run_of_other_queries_than_the_gold_set_is_refused(place: Place) -> None:
    gold = GoldSet((Query("1"), Query("2")), Qrels.from_dict({"1": {"a": 1}}))
    with pytest.raises(BadInput) as caught:
        RunFile(path="their.run").open(replace(place, gold=gold))
    message = "their.run: has no query of the gold set: it has 'q1', 'q2', the gold set has '1', '2'"
    assert str(caught.value) == message


def test_a_run_of_some_queries_of_the_gold_set_will_do(place: Place) -> None:
    gold = GoldSet((Query("q2"), Query("q9")), Qrels.from_dict({"q2": {"d": 1}}))
    assert len(list(RunFile(path="their.run").open(replace(place, gold=gold)).search(gold.queries, 5))) == 2


def test_its_behaviour_is_the_content_of_the_file_wherever_it_lies(place: Place) -> None:
    first = RunFile(path="their.run").behaviour(place)
    (place.folder / "copy.run").write_text(TREC, encoding="utf-8")
    assert RunFile(path="copy.run").behaviour(place) == first
    (place.folder / "their.run").write_text(TREC.replace("1.5", "1.6"), encoding="utf-8")
    assert RunFile(path="their.run").behaviour(place) != first


def test_a_bad_file_is_refused(place: Place) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        RunFile(path="none.run").open(place)
    (place.folder / "bad.run").write_text("q1 Q0 a 1 high x\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"bad\.run:1: score 'high' is not a number"):
        RunFile(path="bad.run").open(place)


def test_it_is_found_by_its_name_and_keeps_the_promises_of_a_retriever(place: Place) -> None:
    assert stage_class("run", RetrieverStage) is RunFile
    check_retriever(RunFile(path="their.run").open(place), QUERIES, k=2)
