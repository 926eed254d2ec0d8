"""A row index finds what a dict would."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.lookup import RowIndex

# Few high bits, so that many keys share a slot.
keys = st.integers(0, 2**64 - 1) | st.integers(0, 9) | st.integers(0, 9).map(lambda n: n << 60)


@given(st.lists(keys, unique=True), st.lists(keys))
def test_a_key_is_found_at_its_row(held: list[int], wanted: list[int]) -> None:
    rows = {key: row for row, key in enumerate(held)}
    found = RowIndex(np.array(held, np.uint64)).find(np.array(held + wanted, np.uint64))
    assert found.tolist() == [rows.get(key, -1) for key in held + wanted]


@given(st.lists(keys))
def test_a_key_that_stands_twice_is_found_at_one_of_its_rows(held: list[int]) -> None:
    found = RowIndex(np.array(held, np.uint64)).find(np.array(held, np.uint64))
    assert [held[row] for row in found.tolist()] == held


@given(st.lists(keys))
def test_every_repetition_is_told_with_an_earlier_row(held: list[int]) -> None:
    first: dict[int, int] = {}
    later = {row for row, key in enumerate(held) if first.setdefault(key, row) != row}
    pairs = RowIndex(np.array(held, np.uint64)).repeated().tolist()
    assert {again for _, again in pairs} == later
    assert all(one < again and held[one] == held[again] for one, again in pairs)
    assert [again for _, again in pairs] == sorted(again for _, again in pairs)


def test_an_empty_index_finds_nothing() -> None:
    index = RowIndex(np.zeros(0, np.uint64))
    assert index.find(np.array([7], np.uint64)).tolist() == [-1]
    assert index.repeated().tolist() == []
