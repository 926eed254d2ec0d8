"""Labelled queries of a story as a gold set."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save

ONE = {"id": "q1", "query": "storm at sea", "relevant": ["Sc1", "Sc2"], "topK": 3}


def messages(save: Save, *entries: Any) -> list[str]:
    with pytest.raises(BadInput) as raised:
        GoldSet.read(save("q.json", json.dumps(entries)), format="story")
    return [fault.message for fault in raised.value.faults]


@pytest.mark.parametrize("content", [[ONE], {"queries": [ONE]}, {"queries": [ONE], "title": "x"}])
def test_a_bare_list_and_an_object_of_queries_are_read_alike(save: Save, content: Any) -> None:
    gold = GoldSet.read(save("q.json", json.dumps(content)))
    assert gold.queries == (Query("q1", "storm at sea"),)
    assert gold.qrels.to_dict() == {"q1": {"Sc1": 1, "Sc2": 1}}
    assert gold.meta == {"queries": {"q1": {"topK": 3}}}


def test_relevant_ids_is_another_name_of_relevant(save: Save) -> None:
    gold = GoldSet.read(save("q.json", '[{"id": "q", "query": "x", "relevant_ids": ["Sc1"]}]'))
    assert gold.qrels.to_dict() == {"q": {"Sc1": 1}}


def test_group_notes_and_other_keys_are_kept(save: Save) -> None:
    entry = {"id": 7, "query": "x", "relevant": [3], "kind": "who", "notes": "hard", "author": "me"}
    gold = GoldSet.read(save("q.json", json.dumps([entry])))
    assert gold.queries == (Query("7", "x", "who", "hard"),)
    assert gold.qrels.to_dict() == {"7": {"3": 1}}
    assert gold.meta == {"queries": {"7": {"author": "me"}}}


@pytest.mark.parametrize("relevant", [{}, {"relevant": []}, {"relevant": None}])
def test_a_query_without_relevant_scenes_is_kept_without_judgments(save: Save, relevant: dict[str, Any]) -> None:
    gold = GoldSet.read(save("q.json", json.dumps([{"id": "q", "query": "x", **relevant}])))
    assert (len(gold), len(gold.qrels)) == (1, 0)


def test_a_query_without_an_id_is_called_by_its_text(save: Save) -> None:
    assert GoldSet.read(save("q.json", '[{"query": "x", "relevant": []}]')).queries == (Query("x", "x"),)


def test_they_are_judgments_too(save: Save) -> None:
    assert Qrels.read(save("q.json", json.dumps([ONE]))).to_dict() == {"q1": {"Sc1": 1, "Sc2": 1}}
    with pytest.raises(NothingToEvaluate, match="no query names a relevant scene"):
        Qrels.read(save("q.json", '[{"query": "x", "relevant": []}]'))


@pytest.mark.parametrize("top", [0, -1, 1.5, 5.0, "5", True])
def test_top_k_is_a_whole_number_from_1_on(save: Save, top: Any) -> None:
    (message,) = messages(save, {**ONE, "topK": top})
    assert message == f"query 1: 'topK' is {top!r}, not a whole number from 1 on"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (3, "query 1 is 3, not an object {…}"),
        ({"id": "q", "relevant": []}, "query 1: 'query' is None, not a string"),
        ({"id": [], "query": "x"}, "query 1: [] cannot be an id"),
        ({"query": "x", "relevant": "Sc1"}, "query 1: 'relevant' is 'Sc1', not a list of scenes"),
        ({"query": "x", "relevant": [None]}, "query 1: None among 'relevant' cannot be the name of a scene"),
        (
            {"query": "x", "relevant": ["a", "a"]},
            "query 1: the scene 'a' stands twice among 'relevant'; keep one of them",
        ),
        (
            {"query": "x", "relevant": ["a"], "relevant_ids": ["a"]},
            "query 1: 'relevant' and 'relevant_ids' both name scenes; keep one of them",
        ),
        ({"query": "x", "group": 3}, "query 1: 'group' is 3, not a string"),
        ({"query": "x", "relevent": ["a"]}, "query 1: there is no key 'relevent'. Did you mean 'relevant'?"),
    ],
)
def test_what_is_wrong_with_a_query_is_told_with_its_number(save: Save, entry: Any, message: str) -> None:
    assert messages(save, entry) == [message]


def test_all_faults_are_told_at_once_and_an_id_stands_once(save: Save) -> None:
    found = messages(save, ONE, ONE, {**ONE, "id": "q2", "topK": 0})
    assert found[0] == "query 2: 'q1' is there twice; give each its own 'id', or keep one of them"
    assert len(found) == 2


def test_what_is_no_list_is_refused(save: Save) -> None:
    with pytest.raises(BadInput, match="there is no list of queries in it"):
        GoldSet.read(save("q.json", '{"a": 1}'), format="story")
