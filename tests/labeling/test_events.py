"""Events, and the state that follows from them."""

from __future__ import annotations

from typing import Any

from rankproof.labeling.events import Event, Spot, State, fold


def state(*events: tuple[Any, ...]) -> State:
    """The state after events written as (kind, query, document, more)."""
    told = []
    for seq, (kind, *where, more) in enumerate(events, 1):
        query, doc = (*where, None, None)[:2]
        told.append(Event(seq, f"t{seq}", kind, query, doc, **more))
    return fold(told)


def grade(of: State, query_id: str = "q", doc_id: str = "a") -> int | None:
    mark = of.mark(query_id, doc_id)
    return mark.grade if mark else None


def test_the_last_judgment_counts() -> None:
    found = state(("judge", "q", "a", {"grade": 2}), ("judge", "q", "a", {"grade": 0}))
    assert grade(found) == 0
    assert found.last == Spot("q", "a")


def test_undo_brings_back_what_was_there_before() -> None:
    judged = [("judge", "q", "a", {"grade": 2}), ("judge", "q", "a", {"grade": 0})]
    assert grade(state(*judged, ("undo", {"of": 2}))) == 2
    assert grade(state(*judged, ("undo", {"of": 2}), ("undo", {"of": 1}))) is None
    assert grade(state(*judged, ("undo", {"of": 2}), ("redo", {"of": 2}))) == 0


def test_a_new_action_forgets_what_could_be_redone() -> None:
    found = state(("judge", "q", "a", {"grade": 2}), ("undo", {"of": 1}), ("judge", "q", "b", {"grade": 1}))
    assert found.redoable is None
    assert found.undoable is not None
    assert found.undoable.seq == 3


def test_notes_and_flags_can_be_undone_too() -> None:
    said = [("note", "q", {"text": "one"}), ("note", "q", {"text": "two"}), ("no_answer", "q", {"flag": True})]
    assert (state(*said).note("q"), state(*said).no_answer("q")) == ("two", True)
    undone = state(*said, ("undo", {"of": 3}), ("undo", {"of": 2}))
    assert (undone.note("q"), undone.no_answer("q")) == ("one", False)


def test_a_restart_forgets_everything_but_what_was_touched() -> None:
    found = state(("judge", "q", "a", {"grade": 2}), ("note", "q", {"text": "n"}), ("restart", {}))
    assert found.marks() == {}
    assert found.notes() == {}
    assert found.undoable is None
    assert found.touched == {Spot("q", "a"), Spot("q")}


def test_what_is_taken_over_is_marked_so_and_cannot_be_undone() -> None:
    details = {
        "judgments": [{"query_id": "q", "doc_id": "a", "grade": 1, "by": "audri", "at": "2026-02-27"}],
        "notes": {"q": "hm"},
        "no_answer": {"q": True},
    }
    found = state(("judge", "q", "b", {"grade": 2}), ("adopt", {"details": details}))
    mark = found.mark("q", "a")
    assert mark is not None
    assert (mark.grade, mark.adopted, mark.by, mark.at) == (1, True, "audri", "2026-02-27")
    assert (found.note("q"), found.no_answer("q")) == ("hm", True)
    assert found.undoable is None


def test_undoing_an_event_that_was_lost_changes_nothing() -> None:
    found = state(("judge", "q", "a", {"grade": 2}), ("undo", {"of": 7}), ("redo", {"of": 7}))
    assert grade(found) == 2


def test_put_off_is_not_judged_and_waits() -> None:
    mark = state(("later", "q", "a", {})).mark("q", "a")
    assert mark is not None
    assert mark.waits
    assert mark.grade is None
