"""Ground-truth JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
names = texts.filter(bool)

FILE = """{
  "version": 1,
  "labeledAt": "2026-02-27",
  "reviewer": "audri",
  "queries": [
    {
      "queryIndex": 4,
      "query": "på deltid",
      "persona": "HR",
      "noAnswerInCorpus": false,
      "reviewerNotes": "",
      "labeledAt": "2026-02-26",
      "results": [
        {
          "contextualHeader": "Lag (1982:80) > 1 §",
          "relevance": "relevant"
        },
        {
          "id": "d2",
          "contextualHeader": "Lag (1982:80) > 2 §",
          "relevance": "not-relevant"
        },
        {
          "id": "d3",
          "contextualHeader": "Lag (1982:80) > 3 §",
          "relevance": null
        }
      ]
    },
    {
      "queryIndex": 1,
      "id": "q2",
      "query": "visselblåsare",
      "persona": null,
      "noAnswerInCorpus": true,
      "reviewerNotes": "not in these laws",
      "results": []
    }
  ]
}
"""


def truth(*queries: Any, **meta: Any) -> str:
    return json.dumps({"version": 1, **meta, "queries": queries})


def test_words_are_grades_and_personas_are_groups(save: Save) -> None:
    gold = GoldSet.read(save("gt.json", FILE))
    assert gold.queries == (
        Query("på deltid", "på deltid", "HR"),
        Query("q2", "visselblåsare", None, "not in these laws", no_answer=True),
    )
    assert gold.qrels.to_dict() == {"på deltid": {"Lag (1982:80) > 1 §": 2, "d2": 0}}
    assert gold.meta["reviewer"] == "audri"


def test_a_partial_result_has_grade_one(save: Save) -> None:
    file = save("gt.json", truth({"query": "q", "results": [{"id": "d", "relevance": "partial"}]}))
    assert Qrels.read(file).to_dict() == {"q": {"d": 1}}


def test_a_file_comes_back_byte_by_byte(save: Save, tmp_path: Path) -> None:
    GoldSet.read(save("gt.json", FILE)).write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == FILE


def test_a_query_that_nobody_judged_has_no_judgments(save: Save) -> None:
    file = save("gt.json", truth({"query": "q"}, {"query": "r", "results": [{"id": "d", "relevance": None}]}))
    assert [query.id for query in GoldSet.read(file).queries] == ["q", "r"]
    assert GoldSet.read(file).qrels.query_ids == []
    with pytest.raises(NothingToEvaluate, match="nobody has judged anything in it yet"):
        Qrels.read(file)


def test_no_queries_are_nothing_to_evaluate(save: Save) -> None:
    with pytest.raises(NothingToEvaluate, match="there is no query in it"):
        GoldSet.read(save("gt.json", truth()))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("q", "query 1 is 'q', not an object"),
        ({}, "query 1: 'query' is None, not a string"),
        ({"query": ""}, "query 1: '' cannot be an id"),
        ({"query": "q", "id": [1]}, "query 1: [1] cannot be an id"),
        ({"query": "q", "persona": 1}, "query 1: 'persona' is 1, not a str"),
        ({"query": "q", "noAnswerInCorpus": "no"}, "query 1: 'noAnswerInCorpus' is 'no', not a bool"),
        ({"query": "q", "results": {}}, "query 1: 'results' is {}, not a list"),
        ({"query": "q", "results": [7]}, "query 'q', result 1 is 7, not an object"),
        ({"query": "q", "results": [{"relevance": "partial"}]}, "result 1: there is no 'id' or 'contextualHeader'"),
        (
            {"query": "q", "results": [{"id": "d", "relevance": "relevent"}]},
            "query 'q', result 1: relevance 'relevent' is not one of relevant, partial, not-relevant",
        ),
        ({"query": "q", "results": [{"id": "d", "relevance": 2}]}, "relevance 2 is not one of"),
        ({"query": "q", "results": [{"id": "d"}]}, "relevance '' is not one of"),
        (
            {"query": "q", "results": [{"id": "d", "relevance": "partial"}, {"id": "d", "relevance": "relevant"}]},
            "query 'q', result 2: document 'd' stands twice; keep one of them",
        ),
        (
            {"query": "q", "results": [{"id": "d", "relevance": "partial"}, {"id": 7, "relevance": "relevant"}]},
            "document ids are of mixed types",
        ),
    ],
)
def test_a_bad_entry_is_told_with_its_query(save: Save, query: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        GoldSet.read(save("gt.json", truth(query)))
    assert message in str(caught.value)


def test_all_bad_entries_are_told(save: Save) -> None:
    with pytest.raises(BadInput) as caught:
        GoldSet.read(save("gt.json", truth(1, 2, {"query": "q"}, {"query": "q"})))
    assert [fault.message[:14] for fault in caught.value.faults] == [
        "query 1 is 1, ",
        "query 2 is 2, ",
        "query 4: 'q' i",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"version": 2, "queries": [1]}', "version 2 is not known"),
        ('{"queries": {}}', 'no list of "queries"'),
        ("[]", 'no list of "queries"'),
        ('{"queries": [\n{"query": 1,}]}', ":2: invalid JSON at column 13"),
        ('{"queries": [{"query": "q", "query": "r"}]}', "the key 'query' stands twice in one object"),
        ('{"queries": [' + "[" * 100_000, "nested too deeply"),
        ('{"queries": [{"query": "\\ud83d"}]}', "\\ud83d is half a character"),
        ('{"queries": [{"query": "q", "n": NaN}]}', "NaN is not a finite number"),
        ('{"queries": [{"query": "q", "n": 1e999}]}', "1e999 is not a finite number"),
        ('{"queries": [{"query": "q", "n": ' + "1" * 5000 + "}]}", "too many digits"),
    ],
)
def test_a_file_of_another_kind_is_refused(save: Save, content: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        GoldSet.read(save("gt.json", content))
    assert message in str(caught.value)


def test_a_grade_without_a_word_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="query 'q', document 'd': grade 3 has no word"):
        GoldSet((Query("q", "q"),), Qrels.from_dict({"q": {"d": 3}})).write(tmp_path / "gt.json")


def test_a_judged_query_must_be_in_the_gold_set(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="query 'q' is judged, but it is not among the queries"):
        GoldSet((), Qrels.from_dict({"q": {"d": 1}})).write(tmp_path / "gt.json")


@given(
    st.lists(
        st.builds(Query, names, texts, st.none() | names, texts, st.booleans()), min_size=1, unique_by=lambda q: q.id
    ),
    st.dictionaries(names, st.integers(0, 2)),
    st.dictionaries(names.filter(lambda key: key not in {"version", "queries"}), texts | st.integers()),
)
def test_a_gold_set_comes_back(
    tmp_path_factory: pytest.TempPathFactory, queries: list[Query], grades: dict[str, int], meta: dict[str, Any]
) -> None:
    file = tmp_path_factory.mktemp("json") / "gt.json"
    judged = {queries[0].id: grades} if grades else {}
    GoldSet(tuple(queries), Qrels.from_dict(judged), meta=meta).write(file)
    again = GoldSet.read(file)
    assert again.queries == tuple(queries)
    assert again.qrels.to_dict() == judged
    assert {key: again.meta[key] for key in meta} == meta
    first = file.read_bytes()
    again.write(file)
    assert file.read_bytes() == first


def test_a_result_that_nobody_judged_is_written_back(save: Save, tmp_path: Path) -> None:
    file = save("gt.json", truth({"query": "q", "results": [{"id": "d", "relevance": None}]}))
    GoldSet.read(file).write(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["queries"][0]["results"] == [
        {"id": "d", "relevance": None}
    ]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"query": "q", "labeledAt": 7}, "query 1: 'labeledAt' is 7, not a str"),
        (
            {"query": "q", "results": [{"id": "d", "fingerprint": 7, "relevance": None}]},
            "query 'q', result 1: 'fingerprint' is 7, not a string",
        ),
        (
            {"query": "q", "results": [{"contextualHeader": "h", "relevance": None}] * 2},
            "document 'h' stands twice; keep one of them, or give each its 'id'",
        ),
    ],
)
def test_what_labels_add_to_the_seeds_keys_is_checked(save: Save, query: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        GoldSet.read(save("gt.json", truth(query)))
    assert message in str(caught.value)
