"""Words of the query are marked in documents, other forms of them too, and nothing of the text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.web.highlight import Words


def marked(query: str, text: str) -> list[str]:
    return [piece.text for piece in Words(query).pieces(text) if piece.matches]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("run it in a container", "Run the Container; containers are run.", ["Run", "Container", "containers", "run"]),
        ("create databases", "The database was created by creators.", ["database", "created", "creators"]),
        ("the of and", "the end of it", ["the", "of"]),
        ("category", "a cat in a catalogue", []),
        ("what is ERR_42?", "ERR_42 and err_42, not ERR_43", ["ERR_42", "err_42"]),
        ("straße", "STRASSE Straße", ["STRASSE", "Straße"]),
        ("", "nothing asked", []),
        ("a", "a b", ["a"]),
    ],
)
def test_the_words_of_the_query_are_marked(query: str, text: str, expected: list[str]) -> None:
    assert marked(query, text) == expected


@given(st.text(), st.text())
def test_the_pieces_put_together_are_the_text(query: str, text: str) -> None:
    assert "".join(piece.text for piece in Words(query).pieces(text)) == text
