"""Text of others cannot steer a terminal."""

from __future__ import annotations

import pytest

from rankproof.labeling.visible import excerpt, visible, visible_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\u202ecba", "a\\u202ecba"),
        ("\x9b2J", "\\x9b2J"),
        ("two\r\nlines\tand a tab", "two\nlines\tand a tab"),
        ("åäö 漢字 🙂", "åäö 漢字 🙂"),
        ("back\rforth", "back\\rforth"),
        ("half \ud83d", "half \\ud83d"),
    ],
)
def test_instructions_are_written_out_and_signs_kept(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_line_is_one_line() -> None:
    assert visible_line(" a \n\n b\t c ") == "a b c"


def test_an_excerpt_is_cut_between_words() -> None:
    assert excerpt("one two three", 20) == "one two three"
    assert excerpt("one two three", 9) == "one two ..."
    assert excerpt("x" * 1_000_000, 10) == "xxxxxxxxxx ..."
