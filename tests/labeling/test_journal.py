"""The journal file: what is written, what is noticed, what is set aside."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from rankproof.errors import BadInput, UsageError
from rankproof.labeling.disk import NotSaved
from rankproof.labeling.events import Event, fold
from rankproof.labeling.journal import Journal, journal_path, line_of, read_journal
from tests.labeling.pools import ticking


def journal(folder: Path, annotator: str = "anna", **options: bool) -> Journal:
    return Journal.open(folder, annotator, truth_name="truth.json", clock=ticking(), **options)


def filled(folder: Path, n: int = 3) -> Path:
    """A journal with the judgments d1 … dn."""
    one = journal(folder)
    for number in range(1, n + 1):
        one.append("judge", query_id="q", doc_id=f"d{number}", grade=number % 3)
    one.close()
    return one.path


def grades(path: Path) -> list[tuple[str | None, int | None]]:
    return [(event.doc_id, event.grade) for event in read_journal(path).events[1:]]


def test_a_line_is_json_with_a_number_and_a_checksum() -> None:
    line = line_of(Event(2, "2026-03-01T10:01:00Z", "judge", "q", "d", 1))
    # printf '{"seq":2,…,"grade":1' | sha256sum | cut -c1-16
    assert line == (
        b'{"seq":2,"at":"2026-03-01T10:01:00Z","kind":"judge","query_id":"q","doc_id":"d","grade":1,'
        b'"sum":"e99d6d2d36f1c69b"}\n'
    )


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    path = filled(tmp_path)
    assert path == tmp_path / "anna.jsonl"
    assert grades(path) == [("d1", 1), ("d2", 2), ("d3", 0)]
    assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [1, 2, 3, 4]
    assert [one.name for one in tmp_path.iterdir()] == ["anna.jsonl"]


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = filled(tmp_path)
    again = journal(tmp_path)
    assert again.append("judge", query_id="q", doc_id="d4", grade=1).seq == 5
    again.close()
    assert len(grades(path)) == 4


def test_the_time_is_the_clocks_and_the_order_the_numbers(tmp_path: Path) -> None:
    one = Journal.open(tmp_path, "anna", truth_name="t", clock=ticking(step=-3600))
    one.append("judge", query_id="q", doc_id="d", grade=2)
    one.append("judge", query_id="q", doc_id="d", grade=0)
    one.close()
    events = read_journal(one.path).events
    assert events[1].at > events[2].at
    mark = fold(events).mark("q", "d")
    assert mark is not None
    assert mark.grade == 0


@pytest.mark.parametrize("name", ["anna", "Åsa", "a.b@example.org", "user+1", "x" * 64, "山田"])
def test_names_that_a_file_can_have_are_accepted(name: str, tmp_path: Path) -> None:
    assert journal_path(tmp_path, name).parent == tmp_path


@pytest.mark.parametrize(
    "name", ["", "..", ".", "a/b", "../x", "a\\b", "a b", "-x", ".hidden", "a\0", "a\n", "con", "NUL.x", "x" * 65, "a."]
)
def test_names_with_tricks_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be an annotator's name"):
        journal_path(tmp_path, name)


def test_a_last_line_without_its_end_is_whole(tmp_path: Path) -> None:
    path = filled(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    again = journal(tmp_path)
    again.append("judge", query_id="q", doc_id="d4", grade=1)
    again.close()
    assert [doc for doc, _ in grades(path)] == ["d1", "d2", "d3", "d4"]


def test_a_damaged_line_is_told_with_its_place_and_the_way_out(tmp_path: Path) -> None:
    path = filled(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"doc_id":"d2","grade":2', b'"doc_id":"d2","grade":0'))
    with pytest.raises(
        BadInput, match=r"anna\.jsonl:3: the line is damaged: its checksum does not fit; put back a copy"
    ):
        journal(tmp_path)


def test_a_missing_line_is_noticed(tmp_path: Path) -> None:
    path = filled(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(BadInput, match=r"anna\.jsonl:3: this is event 4 where 3 belongs"):
        read_journal(path)


def test_mending_keeps_the_other_lines_and_the_file_as_it_was(tmp_path: Path) -> None:
    path = filled(tmp_path)
    damaged = path.read_bytes().replace(b'"doc_id":"d2"', b'"doc_id":"dX"') + b'{"seq":5,"torn'
    path.write_bytes(damaged)
    mended = journal(tmp_path, mend=True)
    mended.append("judge", query_id="q", doc_id="d4", grade=1)
    mended.close()
    assert [(e.seq, e.kind, e.doc_id) for e in read_journal(path).events] == [
        (1, "begin", None), (2, "judge", "d1"), (4, "judge", "d3"), (5, "mend", None), (6, "judge", "d4"),
    ]  # fmt: skip
    assert (tmp_path / "anna.jsonl.bak").read_bytes() == damaged
    assert (tmp_path / "anna.jsonl.torn").read_bytes() == b'{"seq":5,"torn'
    assert "1 damaged line of" in mended.notices[0]
    journal(tmp_path, mend=True).close()
    assert not (tmp_path / "anna.jsonl.bak.2").exists()


def test_a_journal_of_another_truth_file_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(UsageError, match=r"holds the labels of truth\.json, not of other\.json; .* --labels"):
        Journal.open(tmp_path, "anna", truth_name="other.json")


def test_a_journal_of_another_annotator_is_refused(tmp_path: Path) -> None:
    filled(tmp_path).rename(tmp_path / "bob.jsonl")
    with pytest.raises(UsageError, match="is the journal of 'anna'"):
        journal(tmp_path, "bob")


def test_a_line_from_the_future_is_refused(tmp_path: Path) -> None:
    path = filled(tmp_path, 1)
    body = b'{"seq":3,"at":"t","kind":"stars"'
    line = body + b',"sum":"' + sha256(body).hexdigest()[:16].encode() + b'"}\n'
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(BadInput, match=r":3: event 'stars' is not known; a newer rankproof may have written it"):
        read_journal(path)


def test_a_file_that_was_replaced_takes_no_label(tmp_path: Path) -> None:
    one = journal(tmp_path)
    copy = one.path.read_bytes()
    one.path.unlink()
    one.path.write_bytes(copy)
    with pytest.raises(NotSaved, match="somebody replaced or removed the file"):
        one.append("judge", query_id="q", doc_id="d", grade=1)
    one.close()


def test_a_file_that_others_wrote_to_takes_no_label(tmp_path: Path) -> None:
    one = journal(tmp_path)
    with one.path.open("ab") as file:
        file.write(b"hello\n")
    with pytest.raises(NotSaved, match="somebody else wrote to the file"):
        one.append("judge", query_id="q", doc_id="d", grade=1)
    assert one.path.read_bytes().endswith(b"hello\n")
    one.close()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_interrupt_leaves_a_line_that_happened_or_one_that_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    one = journal(tmp_path)
    real = os.fsync

    def interrupted(handle: int) -> None:
        if moment == "after":
            real(handle)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            one.append("judge", query_id="q", doc_id="d1", grade=1)
    one.append("judge", query_id="q", doc_id="d2", grade=2)
    one.close()
    assert grades(one.path) == [("d2", 2)]


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / "anna.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"is a link to .*elsewhere; name that file itself"):
        journal(tmp_path)
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_half_a_character_in_a_note_does_not_spoil_the_file(tmp_path: Path) -> None:
    one = journal(tmp_path)
    one.append("note", query_id="q", text="half \ud83d")
    one.close()
    assert read_journal(one.path).events[1].text == "half ?"
