"""Folders of pages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save


def test_pages_are_documents_by_their_path(save: Save, tmp_path: Path) -> None:
    save("b/Zoo.markdown", "# The zoo #\nanimals")
    save("b.TXT", "# plain")
    save("a.md", "words")
    save("b/.hidden.md", "no")
    save(".git/c.md", "no")
    save("image.png", b"\x89PNG")
    assert Corpus.read(tmp_path).documents == (
        Document("a", "words", "a"),
        Document("b", "# plain", "b"),
        Document("Zoo", "# The zoo #\nanimals", "The zoo"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "## The title\n# Another\n",
        "---\n# a comment\ntitle: x\n---\n\n# The title\n",
        "```sh\n# a command\n```\n # The title",
        "~~~~\n# no\n~~~\n# no\n~~~~\n# The title",
        "#no heading\r\n# The title ##\r\n",
        "\ufeff# The title",
    ],
)
def test_the_title_is_the_first_heading(save: Save, tmp_path: Path, text: str) -> None:
    save("page.md", text)
    assert Corpus.read(tmp_path).documents[0].title == "The title"


def test_two_pages_of_one_name_are_both_named(save: Save, tmp_path: Path) -> None:
    for name in ("a/page.md", "b/page.txt", "c.md"):
        save(name, "words")
    with pytest.raises(BadInput) as caught:
        Corpus.read(tmp_path)
    assert str(caught.value) == (f"{tmp_path}: a/page.md and b/page.txt have the same name 'page'; rename one of them")


def test_every_page_that_is_no_text_is_told_with_its_line(save: Save, tmp_path: Path) -> None:
    save("a.md", b"one\ntwo \xff")
    save("b.md", "words".encode("utf-16"))
    with pytest.raises(BadInput) as caught:
        Corpus.read(tmp_path)
    assert [(Path(fault.source).name, fault.line) for fault in caught.value.faults] == [("a.md", 2), ("b.md", 1)]


def test_a_folder_without_pages_is_nothing_to_evaluate(tmp_path: Path) -> None:
    with pytest.raises(NothingToEvaluate, match=r"there is no .md, .markdown or .txt page"):
        Corpus.read(tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for kind in (None, "folder"):
        with pytest.raises(BadInput, match=r"[Nn]o such file"):
            Corpus.read(tmp_path / "none", format=kind)


def test_a_file_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.md")).write_text("words")
    except OSError:
        pytest.skip("the file system takes no such name")
    with pytest.raises(BadInput, match="not valid UTF-8; rename it"):
        Corpus.read(tmp_path)
