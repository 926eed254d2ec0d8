"""Tables group rows by query and refuse what has no one meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.ids import Ids
from rankproof.data.table import group_rows, table_from_columns, table_from_mapping, table_from_rows
from rankproof.errors import BadInput

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
nested = st.dictionaries(names, st.dictionaries(names, st.floats(allow_nan=False, allow_infinity=False), min_size=1))


@given(nested, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_what_a_query_holds(data: dict[str, dict[str, float]], random: Any) -> None:
    rows = [(query, doc, value) for query, row in data.items() for doc, value in row.items()]
    random.shuffle(rows)
    assert table_from_rows(rows, source="rows", noun="score").nested() == data


@given(nested)
def test_a_mapping_comes_back(data: dict[str, dict[str, float]]) -> None:
    table = table_from_mapping(data, source="dict", noun="score")
    assert table.nested() == data
    assert table.query_ids == list(data)


def test_queries_keep_the_order_of_their_first_row() -> None:
    table = table_from_rows([("b", "d1", 1), ("a", "d1", 2), ("b", "d2", 3)], source="rows", noun="score")
    assert table.query_ids == ["b", "a"]
    assert table.doc_ids == ["d1", "d2", "d1"]
    assert table.values.tolist() == [1.0, 3.0, 2.0]
    assert table.counts.tolist() == [2, 1]
    assert table.row_query.tolist() == [0, 0, 1]


def test_no_rows_are_an_empty_table() -> None:
    assert len(table_from_rows([], source="rows", noun="score")) == 0
    assert table_from_columns([], [], [], source="rows", noun="score").nested() == {}


def test_a_row_that_stands_twice_is_refused_with_both_lines() -> None:
    with pytest.raises(BadInput) as caught:
        group_rows(
            Ids.of(["q1", "q2", "q1"]), Ids.of(["d", "d", "d"]), np.array([1.0, 1.0, 2.0]),
            source="f", lines=np.array([3, 4, 9]),
        )  # fmt: skip
    assert str(caught.value) == (
        "f:9: document 'd' stands twice for query 'q1' (first on line 3), once with 1 and once with 2; keep one of them"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"q": {"d": "high"}}, "query 'q', document 'd': score 'high' is not a number"),
        ({"q": {"d": None}}, "query 'q', document 'd': score None is not a number"),
        ({"q": {"d": float("nan")}}, "query 'q', document 'd': score nan is not a finite number"),
        ({"q": {"d": 10**400}}, "is not a finite number"),
        ({"q": ["d"]}, "query 'q' holds list, not a dict of document to score"),
        ({"q": {1: 1, "2": 1}}, "document ids are of mixed types: '2' is str, 1 is int"),
        ({1.5: {"d": 1}}, "query id 1.5 is of type float"),
        ({"q": {"\ud800": 1}}, "half a character"),
    ],
)
def test_a_mapping_is_refused_with_its_place(data: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        table_from_mapping(data, source="run", noun="score")
    assert message in str(caught.value)


def test_whole_numbers_are_ids_when_all_of_them_are() -> None:
    assert table_from_mapping({1: {7: 0.5}}, source="run", noun="score").nested() == {"1": {"7": 0.5}}


def test_none_can_mean_not_judged() -> None:
    data: dict[str, dict[str, int | None]] = {"q1": {"a": None, "b": 1}, "q2": {"c": 2}}
    table = table_from_mapping(data, source="qrels", noun="grade", none_is_absent=True)
    assert table.nested() == {"q1": {"b": 1.0}, "q2": {"c": 2.0}}


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(BadInput, match=r"row 2 is \('q', 'd'\)"):
        table_from_rows([("q", "d", 1), ("q", "d")], source="rows", noun="score")


def test_only_the_first_faults_are_shown_and_the_rest_counted() -> None:
    with pytest.raises(BadInput) as caught:
        table_from_mapping({"q": {str(n): "x" for n in range(25)}}, source="run", noun="score")
    assert len(caught.value.faults) == 20
    assert str(caught.value).endswith("… and 5 more")
