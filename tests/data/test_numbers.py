"""Numbers are the ones that float() gives, and nothing else is a number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.ids import Ids
from rankproof.data.numbers import parse_number, parse_numbers

plain = st.from_regex(r"-?[0-9]{1,17}(\.[0-9]{0,17})?", fullmatch=True)
spelt = st.from_regex(r"[+-]?([0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?", fullmatch=True)
noise = st.text("0123456789.+-eE xn/:", min_size=1, max_size=20)
same_decimals = st.integers(0, 9).flatmap(
    lambda n: st.lists(st.floats(-1e4, 1e4).map(lambda value: f"{value:.{n}f}"), min_size=1)
)


def parsed(tokens: list[str]) -> tuple[list[float], list[int]]:
    column = Ids.of(tokens)
    values, wrong = parse_numbers(column.buffer, column.start, column.end)
    return values.tolist(), wrong.tolist()


def same(value: float, expected: float) -> bool:
    return value == expected and math.copysign(1, value) == math.copysign(1, expected)


@given(st.lists(plain | spelt, min_size=1) | same_decimals)
def test_every_number_is_the_one_of_float(tokens: list[str]) -> None:
    values, wrong = parsed(tokens)
    for row, (token, value) in enumerate(zip(tokens, values, strict=True)):
        if math.isinf(float(token)):
            assert row in wrong
        else:
            assert same(value, float(token)), token
            assert row not in wrong


@given(st.lists(noise | plain, min_size=1))
def test_a_column_is_read_as_its_tokens_are(tokens: list[str]) -> None:
    values, wrong = parsed(tokens)
    alone = [parse_number(token.encode()) for token in tokens]
    assert wrong == [row for row, number in enumerate(alone) if number is None]
    for value, number in zip(values, alone, strict=True):
        assert math.isnan(value) if number is None else same(value, number)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_what_repr_writes_is_read_back(numbers: list[float]) -> None:
    values, wrong = parsed([repr(number) for number in numbers])
    assert wrong == []
    assert np.array(values).tobytes() == np.array(numbers).tobytes()


@pytest.mark.parametrize(
    ("token", "value"),
    [("0", 0.0), ("-1", -1.0), ("+2", 2.0), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("9007199254740993", 2.0**53)],
)
def test_a_number_in_any_spelling(token: str, value: float) -> None:
    assert parse_number(token.encode()) == value
    assert parsed([token]) == ([value], [])


@pytest.mark.parametrize("token", ["", ".", "-", "+", "nan", "inf", "1_000", "0x1", "1e999", "١", "1.2.3", "--1", "1 "])
def test_no_number(token: str) -> None:
    assert parse_number(token.encode()) is None
    assert parsed([token])[1] == [0]


def test_no_tokens_are_no_numbers() -> None:
    assert parsed([]) == ([], [])
