"""What the keys do, what the screen shows, and that it never says `saved` too soon."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest
from textual import events

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.labeling.events import Spot
from rankproof.labeling.pool import Pool, Task
from rankproof.labeling.session import Saved, Session
from tests.terminal.screens import labelling, opened, pool_of


def marks(session: Session) -> dict[str, int | str | None]:
    """Document → grade, or what else was said."""
    return {
        str(spot.doc_id): mark.grade if mark.kind == "judge" else mark.kind
        for spot, mark in session.state.marks().items()
    }


async def test_ten_keys_label_ten_results_and_the_next_day_goes_on_with_the_eleventh(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press(*"rpnrpnrpnr")
            assert "query 3/3 · doc 1/5 · 10 judged · saved ✓" in hand.screen
            await hand.press("q")
        assert hand.app.return_code == 0
    with opened(tmp_path) as session:
        assert list(marks(session).values()) == [2, 1, 0, 2, 1, 0, 2, 1, 0, 2]
        async with labelling(session) as hand:
            assert "query 3/3 · doc 1/5 · 10 judged" in hand.screen
            assert "Rate limits" in hand.screen


async def test_the_screen_shows_query_group_annotator_title_id_and_text(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            assert hand.lines[0] == " reset · account · judged by anna"
            assert hand.lines[1] == " How do I reset my password?"
            assert "Forgot your password?" in hand.screen
            assert "forgot-password" in hand.screen
            assert "it is good for one hour." in hand.flowing
            assert "query 1/3 · doc 1/5 · 0 judged" in hand.screen


async def test_nothing_is_called_saved_before_anything_was(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("j", "k")
            assert "saved" not in hand.screen


@pytest.mark.parametrize(
    ("key", "expected"),
    [("r", 2), ("2", 2), ("R", 2), ("p", 1), ("1", 1), ("n", 0), ("0", 0), ("space", "cant_tell"), ("s", "later")],
)
async def test_a_key_that_judges_saves_and_goes_on(tmp_path: Path, key: str, expected: int | str) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press(key)
            assert marks(session) == {"forgot-password": expected}
            assert "doc 2/5" in hand.screen
            assert "saved ✓" in hand.screen
            assert "Rules for passwords" in hand.screen


async def test_what_was_put_off_comes_back_at_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("s", *"r" * 14)
            assert "Forgot your password?" in hand.screen
            assert "judged before: later" in hand.screen
            await hand.press("r")
            assert "Everything is judged." in hand.screen


async def test_undo_and_redo_go_back_to_the_document(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("r", "p", "u")
            assert marks(session) == {"forgot-password": 2}
            assert "doc 2/5 · 1 judged · saved ✓" in hand.screen
            assert "undone: partial" in hand.screen
            await hand.press("U")
            assert marks(session) == {"forgot-password": 2, "password-rules": 1}
            assert "redone: partial" in hand.screen
            await hand.press("u", "ctrl+r", "ctrl+r")
            assert marks(session) == {"forgot-password": 2, "password-rules": 1}
            assert "There is nothing to redo." in hand.screen
            await hand.press("u", "u", "u")
            assert marks(session) == {}
            assert "There is nothing to undo." in hand.screen


async def test_moving_goes_by_document_and_by_query_and_stops_at_the_ends(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("j")
            assert "query 1/3 · doc 2/5" in hand.screen
            await hand.press("k", "k")
            assert "query 1/3 · doc 1/5" in hand.screen
            assert "This is the first document." in hand.screen
            await hand.press("J", "J")
            assert "query 3/3 · doc 1/5" in hand.screen
            assert "This is" not in hand.screen
            await hand.press("J")
            assert "This is the last query." in hand.screen
            await hand.press("K", "k")
            assert "query 1/3 · doc 5/5" in hand.screen
            assert marks(session) == {}


async def test_a_query_is_gone_to_by_its_number(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("g")
            assert "go to query (1–3):" in hand.screen
            await hand.press("2", "enter")
            assert "query 2/3 · doc 1/5" in hand.screen
            await hand.press("g", "9", "enter")
            assert "There is no query 9; the queries are numbered 1 to 3." in hand.screen
            await hand.press("g", "x", "enter")
            assert "'x' is no number of a query." in hand.screen
            await hand.press("g", "1", "escape", "g", "enter")
            assert "query 2/3 · doc 1/5" in hand.screen
            assert marks(session) == {}


async def test_a_note_is_typed_edited_kept_and_taken_back(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("m", *"no goox", "backspace", "d", "home", "delete", "S", "enter")
            assert session.current.note == "So good"
            assert "note: So good" in hand.screen
            assert "saved ✓" in hand.screen
            await hand.press("m", *"rpn", "escape")
            assert session.current.note == "So good"
            await hand.press("m", "ctrl+u", "enter")
            assert session.current.note == ""
            assert marks(session) == {}


async def test_keys_typed_in_one_go_end_where_they_belong(tmp_path: Path) -> None:
    # All of them are in the queue before the first is done: the note must not become labels, nor the labels a note.
    keys = ["r", "m", *"run pan", "enter", "p", "g", "3", "enter", "n", "q", "r"]
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            hand.send(*(events.Key(k, k if len(k) == 1 else None) for k in keys))
            while not hand.app.over:
                await asyncio.sleep(0.01)
        assert session.state.note("reset") == "run pan"
        assert marks(session) == {"forgot-password": 2, "password-rules": 1, "rate-limits": 0}


async def test_no_answer_is_set_and_taken_back(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("x")
            assert session.current.no_answer
            assert "  no answer in the corpus" in hand.screen
            assert "doc 1/5" in hand.screen
            await hand.press("x")
            assert not session.current.no_answer


async def test_the_full_text_is_shown_on_a_key_and_can_be_judged_there(tmp_path: Path) -> None:
    text = "first words " + "and so on " * 1000 + "last words"
    pool = pool_of(Query("q", "last question"), Document("d", text, "Long"), Document("e", "short", "Short"))
    with opened(tmp_path, pool) as session:
        async with labelling(session) as hand:
            await hand.press("end")
            assert "… 4,024 more characters:" in hand.screen
            assert "last words" not in hand.screen
            await hand.press("o", "end")
            assert "and so on last words" in hand.flowing
            assert hand.lines[0] == " last question"
            await hand.press("o", "end")
            assert "last words" not in hand.screen
            await hand.press("o", "r")
            assert "Short" in hand.screen
            assert marks(session) == {"d": 2}


async def test_the_full_text_may_come_from_elsewhere(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session, corpus_text=lambda doc_id: Document(doc_id, f"All of {doc_id}")) as hand:
            await hand.press("o")
            assert "All of forgot-password" in hand.screen
            await hand.press("escape")
            assert "All of" not in hand.screen


async def test_a_long_document_scrolls_and_the_next_one_begins_at_its_top(tmp_path: Path) -> None:
    pool = pool_of(
        Query("q", "question"),
        Document("d", "\n".join(f"line {n}" for n in range(100)), "Long"),
        Document("e", "\n".join(f"row {n}" for n in range(100)), "Other"),
    )
    with opened(tmp_path, pool) as session:
        async with labelling(session) as hand:
            await hand.press("pagedown")
            assert "line 0" not in hand.screen
            await hand.press("end")
            assert "line 99" in hand.screen
            await hand.press("home", "down")
            assert "Long" not in hand.screen
            await hand.press("end", "r")
            assert "row 0" in hand.screen


async def test_words_of_the_query_are_set_off_as_whole_words(tmp_path: Path) -> None:
    pool = pool_of(Query("q", "RESET password"), Document("d", "Reset it: passwords and a password, unreset.", "T"))
    with opened(tmp_path, pool) as session:
        async with labelling(session) as hand:
            assert ["on color(3)" in style for style in hand.styles_of("Reset")] == [True]
            assert ["on color(3)" in style for style in hand.styles_of("password")] == [True]
            assert hand.styles_of("reset") == []


async def test_without_colours_the_words_are_underlined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    pool = pool_of(Query("q", "reset"), Document("d", "Now reset it.", "T"))
    with opened(tmp_path, pool) as session:
        async with labelling(session) as hand:
            assert hand.styles_of("reset")[-1] == "bold underline default on default"


async def test_rank_and_score_are_hidden_unless_asked_for(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            assert "bm25" not in hand.screen
            assert "8.5" not in hand.screen
    with opened(tmp_path, show_rank=True) as session:
        async with labelling(session) as hand:
            assert "rank 1 of bm25, score 8.5" in hand.screen


async def test_help_names_every_key(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session, (80, 40)) as hand:
            await hand.press("?")
            assert "U, ctrl+r, y  redo" in hand.screen
            assert "the corpus has no answer to the query" in hand.screen
            await hand.press("r", "escape")
            assert "Forgot your password?" in hand.screen
            assert marks(session) == {}


async def test_the_guideline_is_shown_on_a_key(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session, guideline="# How to judge\n\nBy what [bold]it says.") as hand:
            await hand.press("h")
            assert "By what [bold]it says." in hand.screen
            await hand.press("h")
            assert "Forgot your password?" in hand.screen
        async with labelling(session) as hand:
            await hand.press("h")
            assert "There is no guideline; --guideline FILE names one." in hand.screen


async def test_notices_come_first_and_swallow_labels(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        session.notices.append("The lock of \x1b[1m[b]bea was left behind.")
        async with labelling(session) as hand:
            assert "Before you begin" in hand.screen
            assert "The lock of \\x1b[1m[b]bea was left behind." in hand.screen
            await hand.press("r")
            assert marks(session) == {}
            await hand.press("enter", "r")
            assert marks(session) == {"forgot-password": 2}


async def test_at_the_end_it_says_so_and_a_key_too_many_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session, file="data/truth.json") as hand:
            await hand.press(*"p" * 14, "space", "r", "n")
            assert "Everything is judged." in hand.screen
            assert "14 documents judged." in hand.screen
            assert "The labels are in data/truth.json." in hand.screen
            assert marks(session)["upload-limit"] == "cant_tell"
            await hand.press("u")
            assert "Size of uploads" in hand.screen
            assert "upload-limit" not in marks(session)
            await hand.press("r", "q")
        assert hand.app.return_code == 0
    gold = GoldSet.read(tmp_path / "truth.json")
    assert len(gold.qrels) == 15


async def test_a_finished_session_can_be_looked_at_again(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        for _ in range(15):
            session.judge(2)
        async with labelling(session) as hand:
            assert "Everything is judged." in hand.screen
            await hand.press("K")
            assert "query 2/3 · doc 1/5" in hand.screen
            assert "judged before: relevant" in hand.screen


async def test_a_query_without_documents_can_be_flagged_and_left(tmp_path: Path) -> None:
    document = Document("d", "text", "Title")
    pool = Pool(
        (Task(Query("empty", "nothing found"), ()), *pool_of(Query("q", "some"), document).tasks), Corpus((document,))
    )
    with opened(tmp_path, pool) as session:
        async with labelling(session) as hand:
            await hand.press("K")
            assert "No document was found for this query." in hand.screen
            await hand.press("r")
            assert "Query 'empty' has no document to judge." in hand.screen
            await hand.press("o", "x", "j")
            assert session.state.no_answer("empty")
            assert "query 2/2 · doc 1/1" in hand.screen


async def test_an_unknown_key_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("z", "f5", "tab", "escape", "enter")
            assert "That key does nothing here; ? shows the keys." in hand.screen
            assert marks(session) == {}


async def test_what_is_pasted_never_becomes_a_label(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            hand.send(events.Paste("rpn"))
            await hand.settle()
            assert marks(session) == {}
            await hand.press("m")
            hand.send(events.Paste("two\nlines \x1b[31m"))
            await hand.press("enter")
            assert session.current.note == "two lines \\x1b[31m"


async def test_keys_can_be_clicked(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            for label in ("partial", "can't tell", "note"):
                row = max(n for n, line in enumerate(hand.lines) if label in line)
                await hand.pilot.click(offset=(hand.lines[row].index(label) + 1, row))
                await hand.settle()
            assert marks(session) == {"forgot-password": 1, "password-rules": "cant_tell"}
            assert "note:" in hand.screen


async def test_the_wheel_scrolls_the_document(tmp_path: Path) -> None:
    pool = pool_of(Query("q", "question"), Document("d", "\n".join(f"line {n}" for n in range(100)), "Long"))
    with opened(tmp_path, pool) as session:
        async with labelling(session) as hand:
            for _ in range(10):
                await hand.pilot._post_mouse_events([events.MouseScrollDown], offset=(10, 10))
            await hand.shown()
            assert "line 0" not in hand.screen


async def test_a_full_disk_is_told_and_the_label_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("r")
            with monkeypatch.context() as broken:
                broken.setattr(os, "fsync", no_space)
                await hand.press("p")
                assert "query 1/3 · doc 2/5 · 1 judged ·  NOT SAVED" in hand.screen
                assert "cannot be written: No space left on device" in hand.flowing
                assert "Nothing has changed; press the key again to try again." in hand.flowing
                assert "saved ✓" not in hand.screen
                assert any("on color(1)" in style for style in hand.styles_of(" NOT SAVED "))
                await hand.press("j", "k")
                assert "NOT SAVED" in hand.screen
                await hand.press("m", "a", "enter")
                assert "NOT SAVED" in hand.screen
            assert marks(session) == {"forgot-password": 2}
            assert session.current.note == ""
            await hand.press("p")
            assert "doc 3/5 · 2 judged · saved ✓" in hand.screen
            assert "NOT SAVED" not in hand.screen


async def test_a_label_that_is_safe_while_its_file_is_behind_counts_and_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as session:
        monkeypatch.setattr(session, "judge", lambda grade: Saved(9, "relevant", Spot("reset"), "The file is behind."))
        async with labelling(session) as hand:
            await hand.press("r")
            assert "saved ✓" in hand.screen
            assert "The file is behind." in hand.screen


async def test_while_a_save_takes_its_time_the_screen_lives_and_keys_wait_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    pool = pool_of(
        Query("q", "question"), *(Document(one, f"{one} line\n" * 100, f"Title {one}") for one in ("d", "e", "f"))
    )
    with opened(tmp_path, pool) as session:
        judge = session.judge

        def slowly(grade: int) -> Saved:
            assert go_on.wait(30)
            return judge(grade)

        monkeypatch.setattr(session, "judge", slowly)
        async with labelling(session) as hand:
            try:
                hand.send(events.Key("r", "r"), events.Key("p", "p"))
                while not hand.app.fate:
                    await hand.shown()
                await hand.shown()
                assert "0 judged · saving …" in hand.screen
                assert "saved ✓" not in hand.screen
                assert "Title d" in hand.screen
                await hand.pilot.resize_terminal(50, 20)
                await hand.shown()
                assert len(hand.lines) == 20
                assert marks(session) == {}
            finally:
                go_on.set()
            await hand.settle()
            assert marks(session) == {"d": 2, "e": 1}
            assert "Title f" in hand.screen


async def test_an_unexpected_failure_ends_the_labeller_and_is_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as session:
        failure = RuntimeError("a bug")

        def broken(grade: int) -> Saved:
            raise failure

        monkeypatch.setattr(session, "judge", broken)
        async with labelling(session) as hand:
            await hand.press("r")
        assert hand.app.return_value is failure


async def test_ctrl_c_ends_as_interrupted(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session) as hand:
            await hand.press("r", "ctrl+c")
        assert hand.app.return_code == 130
        assert marks(session) == {"forgot-password": 2}


@pytest.mark.parametrize("size", [(20, 8), (40, 12), (40, 24), (80, 24), (200, 50)])
async def test_everything_that_matters_is_on_a_screen_of_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    with opened(tmp_path) as session:
        async with labelling(session, size) as hand:
            await hand.press("r")
            assert "saved ✓" in hand.screen
            assert "1 judged" in hand.flowing
            if size[0] >= 40:
                for label in ("relevant", "partial", "not relevant", "can't tell", "later", "help", "quit"):
                    assert label in hand.screen
            assert all(len(line) <= size[0] for line in hand.lines)


async def test_the_screen_follows_the_terminal_when_that_is_resized(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        async with labelling(session, (200, 30)) as hand:
            assert "undo" in hand.screen
            await hand.pilot.resize_terminal(40, 24)
            await hand.shown()
            assert "undo" not in hand.screen
            assert "it is good for one hour." in hand.flowing
            await hand.pilot.resize_terminal(80, 24)
            await hand.shown()
            assert "undo" in hand.screen


async def test_wide_characters_keep_their_place(tmp_path: Path) -> None:
    pool = pool_of(Query("q", "個人情報"), Document("d", "個人情報の保護に関する法律" * 20, "日本語の題"))
    with opened(tmp_path, pool) as session:
        async with labelling(session, (40, 24)) as hand:
            assert "日本語の題" in hand.screen
            assert any("on color(3)" in style for style in hand.styles_of("個人情報"))
            assert all(strip.cell_length == 40 for strip in hand.app.screen._compositor.render_strips())


PAYLOADS = [
    "[bold]bold[/bold]",
    "[@click=app.quit]go[/]",
    "[@click=app.press('r')]go[/]",
    "[red on blue]",
    "[/]",
    "[link=https://example.org]x[/link]",
    "$primary {x} %s",
    "\\[b]",
    ":smile:",
]


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_markup_in_anything_that_others_wrote_is_shown_as_it_is(tmp_path: Path, payload: str) -> None:
    pool = pool_of(
        Query("id" + payload, "query " + payload, "group " + payload), Document("doc" + payload, payload, payload)
    )
    with opened(tmp_path, pool) as session:
        session.note("note " + payload)
        session.annotator = "anna" + payload
        async with labelling(session, (160, 24), guideline=payload, file=payload) as hand:
            assert hand.lines[0] == f" id{payload} · group {payload} · judged by anna{payload}"
            assert hand.lines[1] == f" query {payload}"
            assert hand.lines[2] == f" note: note {payload}"
            assert hand.lines[4] == f" {payload}"
            assert hand.lines[5] == f" doc{payload}"
            assert hand.lines[7] == f" {payload}"
            await hand.press("m")
            assert f"note: note {payload}" in hand.lines[-2]
            await hand.press("escape", "h")
            assert f"  {payload}" in hand.lines
            await hand.press("h", "r")
            assert f"relevant: {payload}" in hand.screen
            assert f"The labels are in {payload}." in hand.screen


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202edef\u2066", "abc\\u202edef\\u2066"),
        ("nul\x00del\x7f", "nul\\x00del\\x7f"),
    ],
)
async def test_what_would_steer_the_terminal_is_written_out(tmp_path: Path, payload: str, shown: str) -> None:
    pool = pool_of(Query("q" + payload, payload, payload), Document("d" + payload, payload, payload))
    with opened(tmp_path, pool) as session:
        async with labelling(session, (120, 24)) as hand:
            assert hand.lines[0] == f" q{shown} · {shown} · judged by anna"
            assert hand.lines[1] == f" {shown}"
            assert hand.lines[3] == f" {shown}"
            assert hand.lines[4] == f" d{shown}"
            assert hand.lines[6] == f" {shown}"


async def test_a_document_of_a_megabyte_on_one_line_is_shown(tmp_path: Path) -> None:
    pool = pool_of(Query("q", "x" * 100_000), Document("d", "x" * 1_000_000, "y" * 100_000))
    with opened(tmp_path, pool) as session:
        async with labelling(session) as hand:
            assert "query 1/1" in hand.screen
            await hand.press("r")
            assert marks(session) == {"d": 2}
