"""No acknowledged label is ever lost or doubled, whatever happens to process, disk and clock; and the user is told."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rankproof.data.gold import GoldSet
from rankproof.errors import BadInput, RankproofError
from rankproof.labeling.disk import NotSaved
from rankproof.labeling.events import Spot
from rankproof.labeling.journal import Journal, read_journal, reading_of
from rankproof.labeling.session import Session
from tests.faults.label_driver import IDLE, PID, pool
from tests.labeling.pools import ticking

DRIVER = Path(__file__).with_name("label_driver.py")
ROOT = DRIVER.parents[2]
CALLS = {"openat": 40, "write": 24, "fsync": 24, "rename": 8, "ftruncate": 10, "unlink": 8, "flock": 8, "mkdir": 8}
"""System calls, each with a number that is greater than how often a few saves make it."""
ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EACCES")

Line = list[Any]


def driven(arguments: list[str], *, before: tuple[str, ...] = ()) -> tuple[int, list[Line], str]:
    """Exit code, what the driver told, and what else was said."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*before, sys.executable, str(DRIVER), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT, timeout=300)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def judgments(folder: Path, annotator: str = "anna") -> dict[int, tuple[str, str, int]]:
    """Number → judgment, of the journal as it is."""
    events = read_journal(folder / "labels" / f"{annotator}.jsonl").events
    return {e.seq: (e.query_id or "", e.doc_id or "", e.grade or 0) for e in events if e.kind == "judge"}


def check(folder: Path, told: list[Line], annotator: str = "anna") -> Session:
    """Every acknowledged judgment is there once, the file parses, and the session goes on at the right place."""
    session = Session.open(pool(2), folder / "truth.json", annotator)
    session.close()
    kept = judgments(folder, annotator)
    for _, seq, *label in [line for line in told if line[0] == "saved"]:
        assert kept.get(seq) == tuple(label)
    if (folder / "truth.json").exists():
        truth = GoldSet.read(folder / "truth.json").qrels.to_dict()
        marks = session.state.marks()
        assert {Spot(q, d): g for q, row in truth.items() for d, g in row.items()} == {
            spot: mark.grade for spot, mark in marks.items()
        }
    left = [spot for spot in spots() if session.state.mark(spot.query_id, spot.doc_id or "") is None]
    current = session.current
    here = Spot(current.query.id, current.candidate.doc_id if current.candidate else None)
    assert here == (left[0] if left else here)
    assert [path.name for path in folder.rglob("*") if path.name.endswith((".tmp", ".lock"))] == []
    return session


def spots() -> list[Spot]:
    return [Spot(task.query.id, candidate.doc_id) for task in pool(2).tasks for candidate in task.candidates]


def test_kill_9_at_200_random_moments_loses_nothing(tmp_path: Path) -> None:
    code, told, said = driven(["killed", str(tmp_path), "200", "7"])
    assert code == 0, said
    assert [line for line in told if line[0] != "done"] == []
    assert told[-1][1] > 200
    read_journal(tmp_path / "labels" / "anna.jsonl")


@pytest.fixture(scope="session")
def strace() -> str:
    """The tracer that makes system calls fail; the tests that need it skip where it does not work."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed (Debian: apt-get install strace)")
    probe = [found, "-f", "-qq", "-e", "trace=fsync", "-e", "inject=fsync:error=EIO", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("strace may not trace processes here")
    return found


class Traced(NamedTuple):
    """What became of one process, one of whose system calls went wrong."""

    folder: Path
    code: int
    told: list[Line]

    @property
    def was_told(self) -> bool:
        return any(line[0] in ("refused", "not saved", "warned") for line in self.told)


def traced(strace: str, folder: Path, call: str, what: str, mode: str, rounds: int) -> list[Traced]:
    """The driver under a tracer that looks only at what happens to the files of labels."""
    names = [
        "", "labels", "labels/anna.jsonl", "labels/.anna.jsonl.lock", "truth.json", ".truth.json.lock",
        f".truth.json.{PID}.tmp", "ground-truth.schema.json", f".ground-truth.schema.json.{PID}.tmp", IDLE,
    ]  # fmt: skip
    if what.startswith("retval"):
        # The tracer says that a byte was written and writes none, so only what is checked byte by byte can be tested.
        names = ["labels/anna.jsonl"]
    watched = [part for i in range(rounds) for name in names for part in ("-P", str(folder / str(i) / name))]
    options = ("-e", f"trace={call}", "-e", f"inject={call}:{what}", "-o", os.devnull)
    before = (strace, "-f", "-qq", *options, *watched)
    for number in range(rounds):
        (folder / str(number)).mkdir()
    code, done, said = driven([mode, str(folder), call, str(rounds)], before=before)
    assert code == 0, said
    assert "Traceback" not in said, said
    assert len(done) == rounds
    found = []
    for number, ended in done:
        lines = (folder / f"{number}.told").read_text().splitlines()
        found.append(Traced(folder / str(number), ended, [json.loads(line) for line in lines]))
    return found


@pytest.mark.parametrize(("call", "rounds"), CALLS.items())
def test_sigkill_at_each_system_call_of_a_save_loses_nothing(
    strace: str, tmp_path: Path, call: str, rounds: int
) -> None:
    done = traced(strace, tmp_path, call, f"signal=SIGKILL:when={rounds}", "steps", rounds)
    # The first makes fewer calls than that; so every call of the work was met.
    assert done[0].code == 0
    assert [one.code for one in done[-2:]] == [-9, -9]
    for one in done:
        assert one.code in (0, -9)
        check(one.folder, one.told)


@pytest.mark.parametrize(
    ("call", "error"),
    [(call, error) for call in ("write", "fsync", "openat", "rename") for error in ("EIO", "ENOSPC")]
    + [("write", "EDQUOT"), ("openat", "EACCES"), ("mkdir", "EACCES"), ("ftruncate", "EIO"), ("flock", "EIO")],
)
def test_an_error_at_each_system_call_of_a_save_is_told_and_the_next_try_works(
    strace: str, tmp_path: Path, call: str, error: str
) -> None:
    rounds = CALLS[call]
    done = traced(strace, tmp_path, call, f"error={error}:when={rounds}", "persistent", rounds)
    assert not done[0].was_told
    assert any(one.was_told for one in done)
    for one in done:
        assert one.told[-1] == ["closed"]
        assert sum(line[0] == "saved" for line in one.told) == len(spots())
        assert check(one.folder, one.told).finished


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("call", ["openat", "write", "fsync", "rename"])
def test_errors_that_come_again_and_again_lose_nothing(strace: str, tmp_path: Path, call: str, error: str) -> None:
    for one in traced(strace, tmp_path, call, f"error={error}:when=3+3", "persistent", 3):
        assert one.was_told
        check(one.folder, one.told)


def test_a_short_write_is_no_save(strace: str, tmp_path: Path) -> None:
    for one in traced(strace, tmp_path, "write", "retval=1:when=3+2", "persistent", 3):
        assert any("only 1 of" in line[1] for line in one.told if line[0] == "not saved")
        check(one.folder, one.told)


@contextmanager
def small_disk(folder: Path, options: str) -> Iterator[Path]:
    """A file system of its own."""
    place = folder / "disk"
    place.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if not mounted or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a file system takes root and the right to")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_told_and_labels_go_on_when_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path, "size=64k") as disk:
        (disk / "ballast").write_bytes(bytes(36 << 10))
        session = Session.open(pool(60), disk / "truth.json", "anna")
        saved, warned = 0, ""

        def until_it_is_full() -> None:
            nonlocal saved, warned
            while not session.finished:
                warned = session.judge(2).warning or warned
                saved += 1

        with pytest.raises(NotSaved, match=r"anna\.jsonl.*(No space left|bytes were written)"):
            until_it_is_full()
        assert session.current.n_judged == saved
        assert "No space left" in warned
        (disk / "ballast").unlink()
        session.judge(1)
        assert session.close() == ""
        assert len(judgments(disk)) == saved + 1
        assert GoldSet.read(disk / "truth.json").qrels.to_dict()
        with Session.open(pool(60), disk / "truth.json", "anna") as again:
            assert again.current.n_judged == saved + 1


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    def refused(folder: Path) -> None:
        with pytest.raises(BadInput, match=r"cannot be (written|made): (Read-only|Permission)"):
            Session.open(pool(2), folder / "truth.json", "anna")

    if os.geteuid() != 0:
        tmp_path.chmod(0o555)
        refused(tmp_path)
        tmp_path.chmod(0o755)
        return
    with small_disk(tmp_path, "size=64k") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        refused(disk)


def test_two_writers_of_one_journal_take_turns_and_both_are_kept(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as workers:
        first, second = workers.map(lambda _: driven(["crowded", str(tmp_path), "anna", "200"]), range(2))
    for code, told, said in (first, second):
        assert code == 0, said
        assert sum(line[0] == "saved" for line in told) == 200
    acknowledged = {line[1]: tuple(line[2:]) for line in first[1] + second[1] if line[0] == "saved"}
    assert len(acknowledged) == 400
    assert judgments(tmp_path) == acknowledged
    assert len({label[:2] for label in acknowledged.values()}) == 400
    held = [line[1] for line in first[1] + second[1] if line[0] == "held"]
    assert all("is being written by" in line for line in held)


def test_two_annotators_of_one_truth_file_lose_no_update(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as workers:
        done = list(workers.map(lambda name: driven(["crowded", str(tmp_path), name, "200"]), ("anna", "bob")))
    for name, (code, told, said) in zip(("anna", "bob"), done, strict=True):
        assert code == 0, said
        assert judgments(tmp_path, name) == {line[1]: tuple(line[2:]) for line in told if line[0] == "saved"}
    truth = json.loads((tmp_path / "truth.json").read_bytes())
    results = [result for query in truth["queries"] for result in query["results"]]
    assert truth["reviewer"] == "anna, bob"
    assert sum(len(result["judgments"]) for result in results) == 400


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in memory if there is one, and no waiting for the disk: the state is looked at, not what lasts."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    memory = "/dev/shm"
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def test_a_journal_torn_at_every_byte_of_the_last_record_keeps_the_earlier_ones(quick: Path) -> None:
    tmp_path = quick
    with Session.open(pool(2), tmp_path / "truth.json", "anna", clock=ticking()) as session:
        for grade in (2, 1, 0, 2):
            session.judge(grade)
    path = tmp_path / "labels" / "anna.jsonl"
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        path.write_bytes(whole[:cut])
        for old in (tmp_path / "truth.json", *path.parent.glob("*.torn*")):
            old.unlink(missing_ok=True)
        with Session.open(pool(2), tmp_path / "truth.json", "anna", clock=ticking()) as session:
            complete = cut == len(whole) - 1
            assert session.current.n_judged == (4 if complete else 3)
            assert (session.current.query.id, session.current.doc_number) == ("q0001", 2 if complete else 1)
            aside = path.with_name("anna.jsonl.torn")
            if cut == last or complete:
                assert not aside.exists()
            else:
                assert aside.read_bytes() == whole[last:cut]
                assert "never acknowledged" in session.notices[0]
            session.judge(1)
        assert len(judgments(tmp_path)) == (5 if complete else 4)


def test_no_flipped_bit_becomes_another_label(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, "anna", truth_name="truth.json", clock=ticking())
    for number in range(3):
        journal.append("judge", query_id="q", doc_id=f"d{number}", grade=number)
    journal.close()
    whole, events = journal.path.read_bytes(), read_journal(journal.path).events
    told = []
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            reading = reading_of(bytes(damaged), journal.path)
        except BadInput as exc:
            told.append(str(exc))
            continue
        # Damage at the very end looks like a line that was never finished, and is set aside as one.
        assert reading.events in (events, events[:-1])
        assert reading.events == events or reading.torn
    assert len(told) > 8 * len(whole) * 0.95
    assert all("anna.jsonl:" in one for one in told)


def test_a_clock_that_goes_back_changes_no_order(tmp_path: Path) -> None:
    one = pool(1)
    with Session.open(one, tmp_path / "truth.json", "anna", clock=ticking("2026-03-01T10:00:00+00:00")) as session:
        session.judge(0)
        session.judge(0)
    with Session.open(one, tmp_path / "truth.json", "anna", clock=ticking("2020-01-01T00:00:00+00:00")) as session:
        assert session.current.doc_number == 3
        session.judge(2, at=Spot("q0000", "d0"))
    with Session.open(one, tmp_path / "truth.json", "anna", clock=ticking("2026-03-01T12:00:00+00:00")) as session:
        mark = session.mark("q0000", "d0")
        assert mark is not None
        assert (mark.grade, mark.at[:4]) == (2, "2020")
        assert session.notices == []
    assert GoldSet.read(tmp_path / "truth.json").qrels.to_dict() == {"q0000": {"d0": 2, "d1": 0}}


def test_files_that_are_replaced_under_us_take_no_label(tmp_path: Path) -> None:
    with Session.open(pool(2), tmp_path / "truth.json", "anna") as session:
        session.judge(2)
        path = tmp_path / "labels" / "anna.jsonl"
        path.rename(tmp_path / "moved.jsonl")
        with pytest.raises(NotSaved, match="somebody replaced or removed the file"):
            session.judge(1)
        assert session.current.n_judged == 1
        (tmp_path / "moved.jsonl").rename(path)
        session.judge(1)
    assert len(judgments(tmp_path)) == 2


class Model:
    """What a labeller is, in the fewest lines: a list of states and a place in it."""

    def __init__(self) -> None:
        self.states: list[dict[Any, Any]] = [{}]
        self.at = 0

    def now(self) -> dict[Any, Any]:
        return self.states[self.at]

    def put(self, key: Any, value: Any) -> None:
        self.states[self.at + 1 :] = [{**self.now(), key: value}]
        self.at += 1

    def move(self, by: int) -> bool:
        if not 0 <= self.at + by < len(self.states):
            return False
        self.at += by
        return True


def test_10_000_random_actions_leave_the_state_of_a_simple_model(quick: Path) -> None:
    tmp_path = quick
    rng = random.Random(20260301)
    everything = pool(4)
    model = Model()
    session = Session.open(everything, tmp_path / "truth.json", "anna", clock=ticking())
    for number in range(10_000):
        act(rng, session, model)
        if number % 500 == 499:
            session.close()
            session = Session.open(everything, tmp_path / "truth.json", "anna", clock=ticking())
            assert session.notices == []
            compare(session, model)
            truth = GoldSet.read(tmp_path / "truth.json").qrels.to_dict()
            graded = {key: value for key, value in model.now().items() if value in (0, 1, 2) and len(key) == 2}
            assert {(q, d): g for q, row in truth.items() for d, g in row.items()} == graded
    session.close()
    compare(session, model)
    assert len(read_journal(tmp_path / "labels" / "anna.jsonl").events) > 7000


def act(rng: random.Random, session: Session, model: Model) -> None:
    """One action of the annotator, to the session and to the model."""
    current = session.current
    assert current.candidate is not None
    query, doc = current.query.id, current.candidate.doc_id
    match rng.randrange(13):
        case 0 | 1 | 2:
            grade = rng.randrange(3)
            session.judge(grade)
            model.put((query, doc), grade)
        case 3:
            session.cant_tell()
            model.put((query, doc), "cant_tell")
        case 4:
            session.later()
            model.put((query, doc), "later")
        case 5:
            session.note(text := f"note {rng.randrange(9)}")
            model.put((query, "", "note"), text)
        case 6:
            session.no_answer(flag := rng.random() < 0.5)
            model.put((query, "", "no_answer"), flag)
        case 7 | 8:
            assert (session.undo() is not None) == model.move(-1)
        case 9:
            assert (session.redo() is not None) == model.move(+1)
        case 10:
            session.go_to(rng.randrange(4) + 1)
        case 11:
            rng.choice([session.next, session.previous, session.next_query, session.previous_query])()
        case _:
            grade, other = rng.randrange(3), Spot(f"q{rng.randrange(4):04}", f"d{rng.randrange(3)}")
            session.judge(grade, at=other)
            model.put(tuple(other), grade)


def compare(session: Session, model: Model) -> None:
    """The session says what the model says."""
    marks = {
        tuple(spot): mark.grade if mark.kind == "judge" else mark.kind for spot, mark in session.state.marks().items()
    }
    notes = {(query, "", "note"): said.value for query, said in session.state.notes().items()}
    flags = {(query, "", "no_answer"): said.value for query, said in session.state.no_answers().items()}
    said: dict[Any, Any] = {**marks, **notes, **flags}
    assert said == model.now()


def test_every_failure_is_one_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for truth in (tmp_path / "file" / "truth.json", Path("/dev/full"), Path("/dev/null"), tmp_path):
        with pytest.raises(RankproofError):
            Session.open(pool(2), truth, "anna", labels=tmp_path / "labels")
