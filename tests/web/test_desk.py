"""The labelling session as the page sees it: done once, never half, and never claimed when it was not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from rankproof.errors import BadInput, UsageError
from rankproof.labeling.disk import NotSaved
from rankproof.labeling.events import Spot
from rankproof.labeling.session import Session
from rankproof.web.desk import Action, Conflict, Desk, Place, desk_id, without_paths
from tests.web.serving import pool_of

SPOT = ["q1", "docs/a.md#1"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Session.open(pool_of(), tmp_path / "truth.json", "anna") as session:
        yield Desk(session, tmp_path / "truth.json", tmp_path / "labels")


def action(name: str, once: str, **told: Any) -> Action:
    return Action.of({"action": name, "once": once, **told})


def test_an_action_sent_twice_counts_once(desk: Desk) -> None:
    for _ in range(3):
        done = desk.do(action("relevant", "once-0001", spot=SPOT))
        assert done.saved is not None
        assert done.saved.seq == 2
    assert desk.session.state.seq == 2


def test_another_action_under_the_same_name_is_refused_not_called_saved(desk: Desk) -> None:
    desk.do(action("relevant", "once-0001", spot=SPOT))
    for other in (
        action("partial", "once-0001", spot=SPOT),
        action("relevant", "once-0001", spot=["q1", "docs/b.md#1"]),
        action("note", "once-0001", spot=["q1"], text="x"),
        action("undo", "once-0001"),
    ):
        with pytest.raises(Conflict):
            desk.do(other)
    assert desk.session.state.seq == 2


def test_the_next_place_is_where_the_session_would_go(desk: Desk) -> None:
    first = desk.place()
    assert first == Place(1, 1)
    spot = desk.pool.tasks[0].candidates[0].doc_id
    assert desk.do(action("partial", "once-0001", spot=["q1", spot])).next == Place(1, 2)


def test_judging_elsewhere_goes_on_from_there(desk: Desk) -> None:
    last = desk.pool.tasks[2].candidates[0].doc_id
    assert desk.do(action("relevant", "once-0001", spot=["q3", last])).next == Place(3, 2)


def test_a_note_that_was_sent_before_is_known_by_its_text(desk: Desk) -> None:
    for _ in range(2):
        done = desk.do(action("note", "once-0001", spot=["q1"], text="half \ud83d a character"))
        assert done.sheet is not None
        assert done.sheet.note == "half ? a character"
    assert desk.session.state.seq == 2


def test_undo_takes_back_and_says_where(desk: Desk) -> None:
    desk.do(action("relevant", "once-0001", spot=SPOT))
    done = desk.do(action("undo", "once-0002"))
    assert done.saved is not None
    assert done.saved.what == "undone: relevant"
    assert desk.session.mark(*SPOT) is None
    desk.do(action("undo", "once-0002"))
    assert desk.do(action("undo", "once-0003")).saved is None
    assert desk.do(action("redo", "once-0004")).saved is not None


@pytest.mark.parametrize(
    "told",
    [
        {}, {"action": "relevant"}, {"action": "destroy", "once": "once-0001"},
        {"action": ["relevant"], "once": "once-0001"},
        {"action": "relevant", "once": "once-0001"}, {"action": "relevant", "once": "once-0001", "spot": ["q1"]},
        {"action": "relevant", "once": "once-0001", "spot": "q1"}, {"action": "note", "once": "once-0001"},
        {"action": "relevant", "once": "once-0001", "spot": ["q1", 3]},
        {"action": "relevant", "once": "short", "spot": SPOT},
        {"action": "relevant", "once": "x" * 65, "spot": SPOT}, {"action": "relevant", "once": 12345678, "spot": SPOT},
        {"action": "note", "once": "once-0001", "spot": ["q1"], "text": 3},
        {"action": "no_answer", "once": "once-0001", "spot": ["q1"], "flag": "yes"},
        {"action": "relevant", "once": "once\n0001", "spot": SPOT}, {"action": "relevant", "once": "x" * 8, "spot": []},
    ],
)  # fmt: skip
def test_what_makes_no_action_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Action.of(told)


def test_a_document_outside_the_pool_is_refused(desk: Desk) -> None:
    with pytest.raises(UsageError):
        desk.do(action("relevant", "once-0001", spot=["q1", "docs/d.md#1"]))
    with pytest.raises(UsageError):
        desk.do(action("note", "once-0001", spot=["q9"], text="x"))
    assert desk.session.state.seq == 1


def test_what_is_not_on_disk_is_not_saved(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "labels" / "anna.jsonl").rename(tmp_path / "labels" / "elsewhere")
    with pytest.raises(NotSaved):
        desk.do(action("relevant", "once-0001", spot=SPOT))
    (tmp_path / "labels" / "elsewhere").rename(tmp_path / "labels" / "anna.jsonl")
    assert desk.do(action("relevant", "once-0001", spot=SPOT)).saved is not None


def test_forms_that_are_sent_again_after_another_word_are_meant_anew(desk: Desk) -> None:
    def form(name: str, **told: Any) -> int:
        desk.do_form(action(name, "form-0001", **told))
        return desk.session.state.seq

    assert form("relevant", spot=SPOT) == 2
    assert form("relevant", spot=SPOT) == 2
    assert form("partial", spot=SPOT) == 3
    assert form("relevant", spot=SPOT) == 4
    assert desk.session.mark(*SPOT).grade == 2  # type: ignore[union-attr]


def test_a_note_form_sent_twice_is_one_note(desk: Desk) -> None:
    for _ in range(2):
        desk.do_form(action("note", "form-0001", spot=["q1"], text="why?"))
    assert desk.session.state.seq == 2


def test_threads_that_send_the_same_actions_leave_each_once(desk: Desk) -> None:
    actions = [
        action("relevant", f"once-{i:04}", spot=[task.query.id, candidate.doc_id])
        for task in desk.pool.tasks
        for i, candidate in enumerate(task.candidates, 10 * desk.pool.places[task.query.id])
    ]
    threads = [Thread(target=lambda: [desk.do(one) for one in actions]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert desk.session.state.seq == 1 + len(actions)
    assert desk.session.finished


def test_progress_counts_everybody_who_labels_for_the_same_file(desk: Desk, tmp_path: Path) -> None:
    with Session.open(pool_of(), tmp_path / "truth.json", "ben") as ben:
        for _ in range(3):
            ben.judge(1)
        ben.cant_tell()
        ben.later()
        ben.note("hm")
    with Session.open(pool_of(), tmp_path / "other.json", "cleo", labels=tmp_path / "labels") as cleo:
        cleo.judge(0)
    (tmp_path / "labels" / "dora.jsonl").write_text("{}\n{}\n")
    desk.do(action("relevant", "once-0001", spot=SPOT))
    found = {one.annotator: one for one in desk.progress()}
    assert list(found) == ["anna", "ben", "dora"]
    ben_ = found["ben"]
    assert (ben_.n_judged, ben_.n_cant_tell, ben_.n_later, ben_.n_left, ben_.n_notes) == (3, 1, 1, 4, 1)
    assert found["anna"].n_judged == 1
    assert str(tmp_path) not in found["dora"].fault
    assert found["dora"].fault != ""


def test_ranks_are_shown_only_if_the_session_shows_them(tmp_path: Path) -> None:
    for show_rank in (False, True):
        with Session.open(pool_of(), tmp_path / "truth.json", "anna", show_rank=show_rank) as session:
            sheet = Desk(session, tmp_path / "truth.json", tmp_path / "labels").sheet(1)
            assert sheet is not None
            assert all(bool(shown.sightings) is show_rank for shown in sheet.documents)


def test_a_query_that_is_not_there_has_no_sheet(desk: Desk) -> None:
    assert desk.sheet(0) is None
    assert desk.sheet(4) is None


def test_a_desk_is_known_by_labels_and_annotator(tmp_path: Path) -> None:
    assert desk_id(tmp_path, "anna") == desk_id(tmp_path / "x" / "..", "anna")
    assert len({desk_id(tmp_path, "anna"), desk_id(tmp_path, "ben"), desk_id(tmp_path / "x", "anna")}) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/anna/labels/anna.jsonl is full", "anna.jsonl is full"),
        ("the file 'data/truth.json' is behind", "the file 'truth.json' is behind"),
        (r"C:\Users\anna\truth.json is a link to D:\x.json", "truth.json is a link to x.json"),
        ("judged and/or not", "judged or not"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_what_is_said_of_files_does_not_say_where_they_lie(text: str, expected: str) -> None:
    assert without_paths(text) == expected


def test_faults_are_told_without_their_places() -> None:
    assert without_paths(BadInput.of("/secret/place/x.jsonl", "the line is damaged", 3)) == "the line is damaged"


def test_a_spot_is_compared_with_what_was_recorded(desk: Desk) -> None:
    desk.do(action("cant_tell", "once-0001", spot=SPOT))
    event = desk.session.state.once["once-0001"]
    assert event.spot == Spot(*SPOT)
    assert action("cant_tell", "once-0001", spot=SPOT).is_event(event)
    assert not action("later", "once-0001", spot=SPOT).is_event(event)
