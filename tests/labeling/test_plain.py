"""The labeller line by line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.labeling.keys import KEYS
from rankproof.labeling.plain import Plain
from rankproof.labeling.pool import Candidate, Pool, Sighting, Task
from tests.labeling.pools import opened, pool

POOL = pool(q1="ab", q2="cd")


def talk(
    tmp_path: Path, *lines: str, of: Pool = POOL, guideline: str | None = None, show_rank: bool = False
) -> list[str]:
    """What is said, line by line, when these lines are typed."""
    heard: list[str] = []
    typed = iter(lines)

    def ask(prompt: str) -> str | None:
        heard.append(prompt)
        return next(typed, None)

    with opened(tmp_path, of, show_rank=show_rank) as session:
        Plain(session, ask, heard.append, guideline=guideline).run()
    return [line for text in heard for line in text.split("\n")]


def grades(tmp_path: Path, of: Pool = POOL) -> dict[str, int | None]:
    with opened(tmp_path, of) as session:
        return {f"{spot.query_id}{spot.doc_id}": mark.grade for spot, mark in session.state.marks().items()}


def test_a_document_is_shown_and_asked_for_and_each_judgment_is_said_to_be_saved(tmp_path: Path) -> None:
    assert talk(tmp_path, "r", "n") == [
        "",
        "Query 1 of 2: text of q1",
        "",
        "Document 1 of 2: Title a",
        "The text of a.",
        "[r]elevant / [p]artial / [n]ot-relevant, ? for more: ",
        "saved: relevant (1 judged, 3 left)",
        "",
        "Document 2 of 2: Title b",
        "The text of b.",
        "[r]elevant / [p]artial / [n]ot-relevant, ? for more: ",
        "saved: not-relevant (2 judged, 2 left)",
        "",
        "Query 2 of 2: text of q2",
        "",
        "Document 1 of 2: Title c",
        "The text of c.",
        "[r]elevant / [p]artial / [n]ot-relevant, ? for more: ",
    ]


@pytest.mark.parametrize(
    ("typed", "grade"),
    [
        ("r", 2), ("2", 2), ("relevant", 2), ("R", 2), (" r ", 2), ("p", 1), ("1", 1), ("partial", 1),
        ("n", 0), ("0", 0), ("not-relevant", 0),
    ],
)  # fmt: skip
def test_keys_digits_and_words_grade(tmp_path: Path, typed: str, grade: int) -> None:
    talk(tmp_path, typed)
    assert grades(tmp_path) == {"q1a": grade}


@pytest.mark.parametrize("typed", [" ", "c", "cant tell", "  "])
def test_space_is_cant_tell(tmp_path: Path, typed: str) -> None:
    heard = talk(tmp_path, typed)
    assert "saved: can't tell (0 judged, 3 left)" in heard
    assert grades(tmp_path) == {"q1a": None}


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    talk(tmp_path, "r", "q", "n")
    heard = talk(tmp_path, "p")
    assert "Document 2 of 2: Title b" in heard
    assert grades(tmp_path) == {"q1a": 2, "q1b": 1}


def test_bad_input_says_what_is_possible_and_changes_nothing(tmp_path: Path) -> None:
    heard = talk(tmp_path, "z", "", "rr", "\x1b[A")
    assert "'z' is not known. Possible are:" in heard
    assert "'\\\\x1b[A' is not known. Possible are:" in heard
    assert heard.count("  r or 2: relevant: it answers the query") == 4
    assert heard.count("Document 1 of 2: Title a") == 1
    assert grades(tmp_path) == {}


def test_help_names_every_key(tmp_path: Path) -> None:
    heard = talk(tmp_path, "?")
    for key in KEYS:
        assert any(key.about in line for line in heard)


def test_moving_undoing_and_redoing(tmp_path: Path) -> None:
    heard = talk(tmp_path, "j", "J", "k", "K", "r", "u", "y", "u", "u", "#2", "#9", "K", "K")
    assert "saved: undone: relevant (0 judged, 4 left)" in heard
    assert "saved: redone: relevant (1 judged, 3 left)" in heard
    assert "There is nothing to undo." in heard
    assert "There is no query 9; the queries are numbered 1 to 2." in heard
    assert "There is no previous query." in heard
    assert grades(tmp_path) == {}


def test_notes_come_on_the_line_or_on_the_next(tmp_path: Path) -> None:
    heard = talk(tmp_path, "m on one line", "m", "on the next", "m", "", "#1")
    assert "note (empty leaves it as it is, - removes it): " in heard
    with opened(tmp_path, POOL) as session:
        assert session.current.note == "on the next"
    talk(tmp_path, "m -")
    with opened(tmp_path, POOL) as session:
        assert session.current.note == ""


def test_no_answer_is_a_switch(tmp_path: Path) -> None:
    heard = talk(tmp_path, "x", "x")
    assert "saved: no answer in the corpus (0 judged, 4 left)" in heard
    assert "saved: there may be an answer in the corpus (0 judged, 4 left)" in heard


def test_full_text_and_guideline(tmp_path: Path) -> None:
    long = Corpus((Document("a", "word " * 400 + "\nthe \x1b[31mend", "T"),))
    one = Pool((Task(Query("q", "t"), (Candidate(long.documents[0]),)),), long)
    heard = talk(tmp_path, "o", "h", of=one, guideline="Judge\x07 well.")
    assert heard[4].endswith(" ...")
    assert "the \\x1b[31mend" in heard
    assert "Judge\\x07 well." in heard
    assert "There is no guideline; --guideline FILE names one." in talk(tmp_path, "h", of=one)


def test_ranks_are_said_only_when_asked_for(tmp_path: Path) -> None:
    task = POOL.tasks[0]
    seen = Pool(
        (Task(task.query, (Candidate(task.candidates[0].document, (Sighting("bm25", 3, 1.5),)),)),), POOL.corpus
    )
    assert not any("bm25" in line for line in talk(tmp_path, of=seen))
    assert "Rank 3 of bm25, score 1.5" in talk(tmp_path, of=seen, show_rank=True)


def test_groups_and_earlier_labels_are_said(tmp_path: Path) -> None:
    grouped = Pool((Task(Query("q1", "text", "HR"), POOL.tasks[0].candidates),), POOL.corpus)
    talk(tmp_path, "p", "m hm", "x", of=grouped)
    heard = talk(tmp_path, "k", of=grouped)
    assert "Query 1 of 1 (HR): text" in heard
    assert "Note: hm" in heard
    assert "Marked: no answer in the corpus." in heard
    assert "Judged before: partial" in heard


def test_the_end_is_said(tmp_path: Path) -> None:
    heard = talk(tmp_path, *"rrrr")
    assert heard[-2] == "Everything is judged. q quits; k and K go back."


def test_a_label_that_is_not_saved_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, typed, heard = os.fsync, ["r", "p"], list[str]()

    def fails_at_first(handle: int) -> None:
        if len(typed) == 1:
            raise OSError(5, "Input/output error")
        real(handle)

    with opened(tmp_path, POOL) as session:
        monkeypatch.setattr(os, "fsync", fails_at_first)
        Plain(session, lambda prompt: typed.pop(0) if typed else None, heard.append).run()
    said = [line for line in heard if "saved" in line]
    assert said[0].startswith("NOT saved: ")
    assert "Input/output error" in said[0]
    assert said[1] == "saved: partial (1 judged, 3 left)"


def test_a_query_without_documents_says_so(tmp_path: Path) -> None:
    heard = talk(tmp_path, "K", "r", "o", of=pool(q1="", q2="a"))
    assert heard.count("No document was found for this query.") == 2
    assert "Query 'q1' has no document to judge." in heard
