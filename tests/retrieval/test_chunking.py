"""Documents cut into pieces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.corpus import Document
from rankproof.errors import UsageError
from rankproof.retrieval.chunking import Chunking, chunks

PAGE = """\
---
title: not a heading
# nor this
---
# Install

Before you begin.

## Linux

Take a package.

### From source

Run make.

## Linux

Again.

## macOS
## Windows

Click.

## Nothing below
"""


def cut(text: str, how: Chunking | None = None, title: str = "Install") -> list[tuple[str, str, str]]:
    return [(one.id, one.title, one.text) for one in chunks(Document("page", text, title), how or Chunking())]


def test_a_section_of_markdown_is_a_piece_called_by_its_headings() -> None:
    assert cut(PAGE) == [
        (
            "page#(start)",
            "Install",
            "---\ntitle: not a heading\n# nor this\n---\n# Install\n\nBefore you begin.\n\n",
        ),
        ("page#linux", "Install > Linux", "## Linux\n\nTake a package.\n\n"),
        ("page#linux/from-source", "Install > Linux > From source", "### From source\n\nRun make.\n\n"),
        ("page#linux~2", "Install > Linux", "## Linux\n\nAgain.\n\n"),
        ("page#windows", "Install > Windows", "## macOS\n## Windows\n\nClick.\n\n## Nothing below\n"),
    ]


def test_a_section_that_is_inserted_above_changes_no_other_id() -> None:
    before = [chunk_id for chunk_id, _, _ in cut(PAGE)]
    after = [chunk_id for chunk_id, _, _ in cut(PAGE.replace("## Linux", "## New\n\nText.\n\n## Linux", 1))]
    assert after == [before[0], "page#new", *before[1:]]


def test_a_document_without_headings_is_one_piece() -> None:
    assert cut("one two\n\nthree") == [("page#(start)", "Install", "one two\n\nthree")]


def test_a_first_heading_that_is_not_the_title_is_a_section() -> None:
    assert cut("# Other\ntext", title="Page") == [("page#other", "Page > Other", "# Other\ntext")]
    assert cut("# Other\ntext", title="") == [("page#other", "Other", "# Other\ntext")]


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("Ändra *lösenord*!", "ändra-lösenord"),
        ("C++ & C#", "c-c"),
        ("???", "section"),
        ("ERR_42: v1.2.3", "err-42-v1-2-3"),
        ("\uff21\uff22", "ab"),
        ("x" * 200, "x" * 80),
        ("a/b~2.3", "a-b-2-3"),
    ],
)
def test_a_heading_becomes_a_name_of_letters_digits_and_hyphens(heading: str, name: str) -> None:
    assert cut(f"## {heading} ##\ntext")[0][0] == f"page#{name}"


def test_what_looks_like_a_heading_in_code_is_none() -> None:
    text = "## One\n```sh\n# a comment\n~~~\n## no\n```\n## Two\n~~~~\n# no\n~~~\n~~~~\ntext"
    assert [chunk_id for chunk_id, _, _ in cut(text)] == ["page#one", "page#two"]


def test_a_rule_at_the_start_hides_no_heading() -> None:
    assert [chunk_id for chunk_id, _, _ in cut("---\n## One\ntext")] == ["page#one"]


def test_pieces_by_size_overlap_and_are_numbered() -> None:
    found = cut("a b c d e f g h i j", Chunking("size", size=4, overlap=1))
    assert found == [
        ("page#1", "Install", "a b c d"),
        ("page#2", "Install", "d e f g"),
        ("page#3", "Install", "g h i j"),
    ]


def test_no_piece_repeats_only_what_was_there_before() -> None:
    assert [text for _, _, text in cut("a b c d e", Chunking("size", size=4, overlap=3))] == ["a b c d", "b c d e"]
    assert [text for _, _, text in cut("a b c d", Chunking("size", size=4, overlap=3))] == ["a b c d"]


def test_a_long_section_is_cut_by_size() -> None:
    found = cut("## One\na b c d e f\n## Two\ng", Chunking("heading", size=5, overlap=1))
    assert found == [
        ("page#one", "Install > One", "## One\na b c"),
        ("page#one.2", "Install > One", "c d e f"),
        ("page#two", "Install > Two", "## Two\ng"),
    ]


def test_a_block_of_code_that_fits_is_not_cut() -> None:
    text = "a b c\n```\nd e\n```\nf g h\n```\n1 2 3 4 5 6 7\n```\n"
    assert [text for _, _, text in cut(text, Chunking("size", size=5, overlap=2))] == [
        "a b c",
        "c\n```\nd e\n```",
        "f g h\n```\n1",
        "```\n1 2 3 4",
        "3 4 5 6 7",
        "6 7\n```",
    ]


def test_two_blocks_of_code_side_by_side_are_two() -> None:
    text = "```\na b\n```\n```\nc d\n```\n"
    assert [text for _, _, text in cut(text, Chunking("size", size=4, overlap=0))] == ["```\na b\n```", "```\nc d\n```"]


def test_an_empty_document_has_no_piece_and_a_bare_title_has_one() -> None:
    assert chunks(Document("page", " \n\n", ""), Chunking()) == []
    assert chunks(Document("page", "", "Title"), Chunking()) == [Document("page#(start)", "Title", "Title")]
    assert cut("# Install\n") == [("page#(start)", "Install", "# Install\n")]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (5, 5), (5, -1)])
def test_an_overlap_that_leaves_nothing_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(UsageError, match="cannot overlap"):
        Chunking(size=size, overlap=overlap)


HEADINGS = ["# A", "## B", "## B", "### C c", "#", "\t# no"]
OTHERS = ["word", "two words", "a b c d e f g", "```", "```py", "~~~", "---", "", "  ", "é\u2028x"]
LINES = st.sampled_from([*HEADINGS, *OTHERS])
TEXTS = st.lists(LINES, max_size=25).map("\n".join) | st.text(max_size=60)
WAYS = st.tuples(st.sampled_from(["heading", "size"]), st.integers(1, 9), st.integers(0, 8)).map(
    lambda way: Chunking(way[0], way[1], min(way[2], way[1] - 1))  # type: ignore[arg-type]
)


@given(TEXTS, st.sampled_from(["", "A", "Title"]), WAYS)
def test_pieces_hold_all_words_in_order_and_have_ids_of_their_own(text: str, title: str, how: Chunking) -> None:
    found = chunks(Document("d", text, title), how)
    assert all(piece.text.strip() for piece in found)
    assert max(Counter(piece.id for piece in found).values(), default=1) == 1
    assert all(piece.id.startswith("d#") and len(piece.id.split()) == 1 for piece in found)
    assert all(len(piece.text.split()) <= how.size for piece in found) or not text.strip()
    if text.strip():
        assert in_order(text.split(), [piece.text.split() for piece in found], how.overlap)


def in_order(words: list[str], pieces: list[list[str]], overlap: int) -> bool:
    """Whether the pieces follow one another through the words, each going back by no more than the overlap."""
    ends = {0}
    for own in pieces:
        starts = {end - back for end in ends for back in range(overlap + 1) if end >= back}
        ends = {start + len(own) for start in starts if words[start : start + len(own)] == own}
    return len(words) in ends


@given(TEXTS, WAYS)
def test_without_overlap_the_pieces_together_are_the_words_of_the_document(text: str, how: Chunking) -> None:
    plain = Chunking(how.by, how.size, 0)
    found = chunks(Document("d", text), plain)
    assert [word for piece in found for word in piece.text.split()] == text.split()


def test_another_process_gives_the_same_pieces() -> None:
    code = (
        "import json, sys\n"
        "from rankproof.data.corpus import Document\n"
        "from rankproof.retrieval.chunking import Chunking, chunks\n"
        "text = sys.stdin.read()\n"
        "print(json.dumps([(c.id, c.title, c.text) for c in chunks(Document('page', text, 'Install'), Chunking())]))\n"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", code],
            input=PAGE,
            text=True,
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert [tuple(one) for one in json.loads(done.stdout)] == cut(PAGE)
