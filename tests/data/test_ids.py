"""Ids behave as the strings they hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.ids import Ids, salted
from rankproof.errors import BadInput

ids = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
near_ids = st.text("ab\0é😀", max_size=20)
columns = st.lists(st.tuples(ids | near_ids, ids | near_ids), max_size=20)


@given(st.lists(ids))
def test_the_strings_come_back(strings: list[str]) -> None:
    column = Ids.of(strings)
    assert column.strings() == strings
    assert [column[i] for i in range(len(column))] == strings


@given(columns)
def test_equal_is_equality_of_strings(pairs: list[tuple[str, str]]) -> None:
    ours, theirs = Ids.of([a for a, _ in pairs]), Ids.of([b for _, b in pairs])
    assert ours.equal(theirs).tolist() == [a == b for a, b in pairs]
    assert ours.equal(Ids.of([a for a, _ in pairs])).all()


@given(columns)
def test_greater_is_the_order_of_strings(pairs: list[tuple[str, str]]) -> None:
    ours, theirs = Ids.of([a for a, _ in pairs]), Ids.of([b for _, b in pairs])
    assert ours.greater(theirs).tolist() == [a > b for a, b in pairs]
    assert theirs.greater(ours).tolist() == [b > a for a, b in pairs]


@given(st.lists(ids | near_ids, min_size=1))
def test_a_change_is_seen_from_row_to_row(strings: list[str]) -> None:
    changed = [a != b for a, b in zip(strings[1:], strings[:-1], strict=True)]
    assert Ids.of(strings).differs_from_previous().tolist() == changed


@given(st.lists(ids | near_ids, max_size=30), st.lists(ids | near_ids, max_size=30))
def test_equal_ids_have_equal_hashes_in_any_column(some: list[str], more: list[str]) -> None:
    alone = dict(zip(some, Ids.of(some).hashes().tolist(), strict=True))
    together = dict(zip(more + some, Ids.of(more + some).hashes().tolist(), strict=True))
    assert all(together[name] == alone[name] for name in some)


@given(st.sets(ids | near_ids, max_size=50))
def test_other_ids_have_other_hashes(names: set[str]) -> None:
    assert len(set(Ids.of(sorted(names)).hashes().tolist())) == len(names)


def test_a_salted_key_depends_on_the_query() -> None:
    hashes = Ids.of(["d1", "d1", "d1"]).hashes()
    keys = salted(hashes, np.array([0, 1, 0])).tolist()
    assert keys[0] == keys[2] != keys[1]


def test_rows_can_be_taken() -> None:
    assert Ids.of(["a", "bb", "", "é"]).take(np.array([3, 0])).strings() == ["é", "a"]


def test_bytes_are_utf_8() -> None:
    assert Ids.of(["é", "z"]).bytes_list() == [b"\xc3\xa9", b"z"]


def test_half_a_character_is_no_id() -> None:
    with pytest.raises(BadInput, match=r"'d\\ud800' has half a character"):
        Ids.of(["d1", "d\ud800"])
