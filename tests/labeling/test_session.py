"""A session: where it stands, what it saves, where it goes on."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rankproof.data.corpus import Document
from rankproof.data.gold import Query
from rankproof.errors import UsageError
from rankproof.labeling.disk import NotSaved
from rankproof.labeling.events import Spot
from rankproof.labeling.journal import read_journal
from rankproof.labeling.lock import Held
from rankproof.labeling.pool import Candidate, Pool, Sighting, Task
from rankproof.labeling.session import Session
from tests.labeling.pools import corpus, opened, pool

POOL = pool(q1="abc", q2="", q3="de")


def where(session: Session) -> str:
    current = session.current
    return current.query.id + (current.candidate.doc_id if current.candidate else "")


def said(tmp_path: Path) -> list[tuple[str, str | None, str | None, int | None]]:
    events = read_journal(tmp_path / "labels" / "anna.jsonl").events
    return [(event.kind, event.query_id, event.doc_id, event.grade) for event in events[1:]]


def test_a_judgment_is_on_disk_when_the_call_returns_and_the_next_document_is_shown(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        assert where(session) == "q1a"
        saved = session.judge(2)
        assert (saved.seq, saved.what, saved.spot, saved.warning) == (2, "relevant", Spot("q1", "a"), "")
        assert said(tmp_path) == [("judge", "q1", "a", 2)]
        assert where(session) == "q1b"


def test_where_it_stands_is_told_in_numbers_from_one(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        current = session.current
        assert (current.query_number, current.n_queries, current.doc_number, current.n_docs) == (1, 3, 2, 3)
        assert (current.n_judged, current.n_left) == (1, 4)
        assert str(current) == "query 1/3 · doc 2/3 · 1 judged"
        assert not session.finished


def test_ten_judgments_then_resume_at_the_eleventh(tmp_path: Path) -> None:
    eleven = pool(q1="abcdef", q2="abcdef")
    with opened(tmp_path, eleven) as session:
        for _ in range(10):
            session.judge(1)
    with opened(tmp_path, eleven) as session:
        assert where(session) == "q2e"
        assert session.current.n_judged == 10


def test_queries_without_documents_are_passed_over_and_can_be_visited(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        for _ in range(3):
            session.judge(0)
        assert where(session) == "q3d"
        session.go_to(2)
        assert session.current.candidate is None
        assert session.current.doc_number == 0
        with pytest.raises(UsageError, match="no document to judge"):
            session.judge(1)
        session.no_answer()
        assert session.current.no_answer


def test_finished_when_everything_is_judged_or_cannot_be_told(tmp_path: Path) -> None:
    with opened(tmp_path, pool(q1="ab")) as session:
        session.judge(2)
        session.cant_tell()
        assert session.finished
        assert session.current.n_judged == 1
        assert session.current.n_left == 0
    with opened(tmp_path, pool(q1="ab")) as session:
        assert session.finished


def test_what_is_put_off_comes_when_the_others_are_done(tmp_path: Path) -> None:
    with opened(tmp_path, pool(q1="abc")) as session:
        session.later()
        assert where(session) == "q1b"
        session.later()
        session.judge(1)
        assert where(session) == "q1a"
        session.later()
        assert where(session) == "q1b"
        session.judge(1)
        assert where(session) == "q1a"
        session.later()
        assert where(session) == "q1a"
        assert not session.finished
        session.judge(1)
        assert session.finished


def test_resume_skips_what_was_put_off_while_others_are_left(tmp_path: Path) -> None:
    with opened(tmp_path, pool(q1="abc")) as session:
        session.later()
    with opened(tmp_path, pool(q1="abc")) as session:
        assert where(session) == "q1b"


def test_undo_takes_back_and_shows_the_document(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.judge(1)
        undone = session.undo()
        assert undone is not None
        assert undone.what == "undone: partial"
        assert where(session) == "q1b"
        assert session.current.mark is None
        redone = session.redo()
        assert redone is not None
        assert session.mark("q1", "b") is not None
        session.undo()
        session.undo()
        assert session.undo() is None
        assert where(session) == "q1a"


def test_after_an_undo_resume_goes_to_what_was_undone(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        for _ in range(4):
            session.judge(2)
        session.undo()
        session.undo()
    with opened(tmp_path, POOL) as session:
        assert where(session) == "q1c"
        session.redo()
        assert session.mark("q1", "c") is not None


def test_undo_of_a_note_stays_at_the_document(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.note("hm")
        session.undo()
        assert where(session) == "q1b"
        assert session.current.note == ""


def test_whoever_labels_a_query_again_sees_the_rest_of_it(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        for _ in range(4):
            session.judge(2)
        session.go_to(1)
        assert where(session) == "q1a"
        assert session.current.mark is not None
        session.judge(0)
        assert where(session) == "q1b"
        session.judge(0)
        session.judge(0)
        assert where(session) == "q3e"


def test_going_to_a_query_goes_to_its_first_unjudged_document(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.go_to(3)
        assert where(session) == "q3d"
        session.go_to(1)
        assert where(session) == "q1b"
        with pytest.raises(UsageError, match="There is no query 4; the queries are numbered 1 to 3"):
            session.go_to(4)


def test_moving_about_goes_over_the_borders_of_queries_and_not_beyond_the_ends(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        seen = [where(session)]
        while session.next():
            seen.append(where(session))
        assert seen == ["q1a", "q1b", "q1c", "q2", "q3d", "q3e"]
        back = [where(session)]
        while session.previous():
            back.append(where(session))
        assert back == seen[::-1]
        assert not session.previous_query()
        assert session.next_query()
        assert where(session) == "q2"
        assert said(tmp_path) == []


def test_ranks_are_hidden_unless_asked_for(tmp_path: Path) -> None:
    seen = (Sighting("bm25", 1, 2.5),)
    shown = Pool((Task(Query("q"), (Candidate(Document("a", "x"), seen),)),), corpus("a"))
    with opened(tmp_path, shown) as session:
        assert session.current.sightings == ()
    with opened(tmp_path, shown, show_rank=True) as session:
        assert session.current.sightings == seen


def test_another_document_than_the_current_one_can_be_judged(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(1, at=Spot("q3", "e"))
        assert where(session) == "q1a"
        assert said(tmp_path) == [("judge", "q3", "e", 1)]
        session.go_to_spot(Spot("q3", "e"))
        assert where(session) == "q3e"
        for wrong in (Spot("q9"), Spot("q1", "z")):
            with pytest.raises(UsageError, match="There is no"):
                session.judge(1, at=wrong)


def test_an_action_that_is_sent_twice_counts_once_also_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        first = session.judge(1, at=Spot("q1", "a"), once="k1")
        again = session.judge(1, at=Spot("q1", "a"), once="k1")
        assert first.seq == again.seq
        session.undo(once="k2")
        session.undo(once="k2")
    with opened(tmp_path, POOL) as session:
        session.judge(1, at=Spot("q1", "a"), once="k1")
        assert [kind for kind, *_ in said(tmp_path)] == ["judge", "undo"]


@pytest.mark.parametrize("grade", [3, -1, True, "r"])
def test_a_grade_that_does_not_exist_is_refused(tmp_path: Path, grade: int) -> None:
    with opened(tmp_path, POOL) as session, pytest.raises(UsageError, match="There is no grade"):
        session.judge(grade)


def test_a_label_that_is_not_saved_changes_nothing_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        before = (tmp_path / "labels" / "anna.jsonl").read_bytes()

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(NotSaved, match=r"anna\.jsonl: cannot be written: No space left on device"):
                session.judge(1)
        assert (tmp_path / "labels" / "anna.jsonl").read_bytes() == before
        assert where(session) == "q1b"
        assert session.current.mark is None
        assert session.judge(1).seq == 3


def test_a_truth_file_that_cannot_be_written_is_a_warning_for_the_label_is_safe(tmp_path: Path) -> None:
    with opened(tmp_path, pool(q1="a", q2="b")) as session:
        (tmp_path / "truth.json").mkdir()
        saved = session.judge(2)
        assert "The label is in the journal, but the file is behind" in saved.warning
        assert said(tmp_path) == [("judge", "q1", "a", 2)]
        (tmp_path / "truth.json").rmdir()
        assert session.judge(2).warning == ""
        assert (tmp_path / "truth.json").exists()


def test_the_second_session_of_an_annotator_is_refused_and_another_annotators_is_not(tmp_path: Path) -> None:
    with opened(tmp_path, POOL), opened(tmp_path, POOL, "bob") as second:
        with pytest.raises(Held, match="is being written by anna"):
            opened(tmp_path, POOL)
        second.judge(1)
    opened(tmp_path, POOL).close()


def test_documents_that_left_the_pool_keep_their_labels(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
    with opened(tmp_path, pool(q1="bc")) as session:
        assert session.state.mark("q1", "a") is not None
        assert session.current.n_judged == 0
        assert where(session) == "q1b"


def test_several_threads_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    many = pool(q1="abcdef", q2="abcdef")
    with opened(tmp_path, many) as session:

        def work(query: str) -> None:
            for doc in "abcdef":
                session.judge(1, at=Spot(query, doc))

        threads = [threading.Thread(target=work, args=(query,)) for query in ("q1", "q2")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.finished
    assert len(said(tmp_path)) == 12


def test_documents_that_the_corpus_lacks_are_told(tmp_path: Path) -> None:
    lacking = Pool(POOL.tasks, POOL.corpus, ("x1", "x2", "x3", "x4"))
    with opened(tmp_path, lacking) as session:
        assert session.notices == [
            "The corpus lacks 4 documents that the runs returned, so nobody can judge them: x1, x2, x3 …."
        ]
