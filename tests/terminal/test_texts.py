"""Text is fit for the screen, and the words of a query are found in it."""

from __future__ import annotations

import pytest

from rankproof.terminal.texts import common_words, matches, readable, words_of


def found(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in matches(text, words_of(query))]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Reset the password.", "password RESET", ["Reset", "password"]),
        ("Passwords are not a password.", "password", ["password"]),
        ("Straße STRASSE", "straße", ["Straße", "STRASSE"]),
        ("cafe\u0301 and caf\u00e9", "caf\u00e9", ["cafe\u0301", "caf\u00e9"]),
        ("हिन्दी में", "हिन्दी", ["हिन्दी"]),
        ("個人情報の保護", "個人情報", ["個人情報"]),
        ("İstanbul", "i\u0307stanbul", ["İstanbul"]),
        ("6 kap. 3 §, not 63", "6 kap. 3 §", ["6", "kap", "3"]),
        ("ERR_42 and ERR", "ERR_42", ["ERR_42"]),
        ("nothing", "", []),
        ("[a-z] ^ \\ ]", "a-z", ["a", "z"]),
    ],
)
def test_whole_words_are_found_whatever_their_case_and_composition(text: str, query: str, expected: list[str]) -> None:
    assert found(text, query) == expected


def test_words_that_most_documents_have_are_common() -> None:
    texts = ["the law of the land", *["the tide"] * 8, "a tide"]
    assert common_words(texts) == {"the", "tide"}


def test_in_a_few_documents_nothing_is_common() -> None:
    assert common_words(["the"] * 9) == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("bell\x07 back\x08 c1\x9b2J", "bell\\x07 back\\x08 c1\\x9b2J"),
        ("left \u202eright", "left \\u202eright"),
        ("soft\u00adhyphen zero\u200bwidth \ufeffmark", "softhyphen zerowidth mark"),
        ("a\tb", "a   b"),
        ("two\r\nlines\nthree", "two\nlines\nthree"),
        ("half \ud800", "half \\ud800"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_what_would_steer_a_terminal_is_written_out(text: str, expected: str) -> None:
    assert readable(text) == expected
