"""What a document is known by."""

from __future__ import annotations

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.errors import BadInput
from rankproof.labeling.identity import Matcher, fingerprint_of, header_of

LONG = "Lag (1982:80) om anställningsskydd > " + "x" * 100
CORPUS = Corpus((Document("d1", "one", LONG + " 1 §"), Document("d2", "two", LONG + " 2 §"), Document("d3", "three")))


@pytest.mark.parametrize(
    ("document", "header"),
    [
        (Document("d", "text", " Title "), "Title"),
        (Document("d", "\n  first line \nsecond"), "first line"),
        (Document("d", ""), "d"),
        (Document("d", "text", "å" * 120), "å" * 100),
    ],
)
def test_a_header_is_the_title_or_the_first_line(document: Document, header: str) -> None:
    assert header_of(document) == header


def test_an_id_comes_first() -> None:
    found = Matcher(CORPUS).find("d2", fingerprint_of("one"))
    assert found is not None
    assert found.id == "d2"


def test_headers_that_begin_alike_are_told_apart_by_the_content() -> None:
    found = Matcher(CORPUS).find(LONG[:100], fingerprint_of("two"))
    assert found is not None
    assert found.id == "d2"
    assert Matcher(CORPUS).find(LONG[:100], fingerprint_of("other")) is None


def test_two_documents_of_one_header_are_an_error_without_the_content() -> None:
    with pytest.raises(BadInput, match=r"documents 'd1', 'd2' have the header .* give the label the 'id'"):
        Matcher(CORPUS).find(LONG[:100])


def test_two_documents_of_one_header_and_content_are_an_error() -> None:
    twins = Corpus((Document("a", "same", "T"), Document("b", "same", "T")))
    with pytest.raises(BadInput, match="documents 'a', 'b' have the header and content 'T'"):
        Matcher(twins).find("T", fingerprint_of("same"))


def test_a_fingerprint_is_of_the_text() -> None:
    # printf 'abc' | sha256sum
    assert fingerprint_of("abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
