"""Labels results in processes that are killed, starved and crowded; `test_labels.py` starts it and looks at the files.

Every judgment is told on a line of its own as soon as it is acknowledged.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.errors import RankproofError
from rankproof.labeling.disk import NotSaved
from rankproof.labeling.lock import Held
from rankproof.labeling.pool import Candidate, Pool, Task
from rankproof.labeling.session import Saved, Session

PER_QUERY = 3
PID = 4242
IDLE = "idle"


def pool(queries: int) -> Pool:
    """Queries with three documents each."""
    corpus = Corpus(tuple(Document(f"d{one}", f"Text {one}.", f"Title {one}") for one in range(PER_QUERY)))
    candidates = tuple(Candidate(document) for document in corpus)
    return Pool(tuple(Task(Query(f"q{one:04}", f"query {one}"), candidates) for one in range(queries)), corpus)


def tell(*what: object) -> None:
    """Say something with one call, so that a reader sees whole lines or nothing."""
    os.write(1, (json.dumps(what) + "\n").encode())


def told(saved: Saved, grade: int) -> None:
    """Say that a judgment was acknowledged."""
    tell("saved", saved.seq, *saved.spot, grade)


def label_all(folder: Path, of: Pool, annotator: str = "anna", limit: int = 10**9) -> None:
    """Label until everything is labelled, or so many documents."""
    with Session.open(of, folder / "truth.json", annotator) as session:
        current = session.current
        tell("at", current.query.id, current.candidate.doc_id if current.candidate else None)
        while not session.finished and limit:
            grade = random.Random(session.current.n_judged).randrange(3)
            told(session.judge(grade), grade)
            limit -= 1


def killed(folder: Path, rounds: int, seed: int) -> None:
    """Start a labeller, kill it at some moment, look at what it left, and again."""
    rng = random.Random(seed)
    everything = pool(400)
    acknowledged: dict[int, tuple[str, str, int]] = {}
    for number in range(rounds):
        lines = one_killed(folder, everything, rng)
        for kind, *what in lines:
            if kind == "saved":
                acknowledged[what[0]] = tuple(what[1:])
        judged = journal_of(folder)
        for seq, label in acknowledged.items():
            if judged.get(seq) != label:
                tell("lost", number, seq, label, judged.get(seq))
        if (folder / "truth.json").exists():
            json.loads((folder / "truth.json").read_bytes())
        # The next labeller goes to the first document that the journal does not have.
        begun = [what for kind, *what in lines if kind == "at"]
        first_judged = min((seq for kind, seq, *_ in lines if kind == "saved"), default=None)
        if begun and first_judged is not None and tuple(begun[0]) != judged[first_judged][:2]:
            tell("resumed elsewhere", number, begun[0], judged[first_judged])
    tell("done", len(acknowledged))


def one_killed(folder: Path, of: Pool, rng: random.Random) -> list[Any]:
    """What one labeller said before it was killed."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        os.dup2(writable, 1)
        with contextlib.suppress(BaseException):
            label_all(folder, of)
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        # It is killed while it opens, or some time after so many judgments.
        lines = [pipe.readline() for _ in range(rng.choice([0, 0, 1, 2, 3, 4, 5]))]
        time.sleep(rng.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return [json.loads(line) for line in [*lines, *pipe.read().splitlines()] if line]


def journal_of(folder: Path) -> dict[int, tuple[str, str, int]]:
    """Number → judgment, read without the code under test; what has no end of line is passed over."""
    path = folder / "labels" / "anna.jsonl"
    if not path.exists():
        return {}
    found = {}
    for line in path.read_bytes().split(b"\n")[:-1]:
        event = json.loads(line)
        if event["kind"] == "judge":
            assert event["seq"] not in found
            found[event["seq"]] = (event["query_id"], event["doc_id"], event["grade"])
    return found


def steps(folder: Path) -> None:
    """A query from beginning to end: judgments, an undo, the truth file."""
    with Session.open(pool(2), folder / "truth.json", "anna") as session:
        tell("opened")
        for grade in (2, 1):
            told(session.judge(grade), grade)
        session.undo()
        tell("undone")
        for grade in (0, 1):
            told(session.judge(grade), grade)


def persistent(folder: Path) -> None:
    """Label two queries however often it fails, saying each time whether it was saved or not."""
    for _ in range(40):
        try:
            session = Session.open(pool(2), folder / "truth.json", "anna")
            break
        except RankproofError as exc:
            tell("refused", str(exc))
    else:
        return
    for _ in range(200):
        if session.finished:
            break
        before = session.current
        try:
            saved = session.judge(1)
        except NotSaved as exc:
            after = session.current
            assert (before.query.id, before.doc_number, before.n_judged) == (
                after.query.id, after.doc_number, after.n_judged
            )  # fmt: skip
            tell("not saved", str(exc))
        else:
            told(saved, 1)
            if saved.warning:
                tell("warned", saved.warning)
    for _ in range(40):
        if not session.close():
            break
    tell("closed")


def crowded(folder: Path, annotator: str, share: int) -> None:
    """Label a share of the documents, waiting for one's turn."""
    while True:
        try:
            label_all(folder, pool(share * 2 // PER_QUERY + 1), annotator, share)
        except Held as exc:
            tell("held", str(exc))
            time.sleep(0.01)
        else:
            return


def traced(work: Callable[[Path], None], folder: Path, call: str, rounds: int) -> None:
    """Do the work again and again, in processes of their own that have everything loaded.

    A tracer that lets the last of `rounds` calls of a process go wrong meets a later call of the work in each process,
    because the first ones of process i are i calls that do nothing.
    """
    # Files that are written beside their target are called by the process; whoever traces them must know the name.
    os.getpid = lambda: PID
    with tempfile.TemporaryDirectory() as scratch, open(os.devnull, "wb") as nowhere:
        told = os.dup(1)
        os.dup2(nowhere.fileno(), 1)
        work(Path(scratch))
        os.dup2(told, 1)
    for number in range(rounds):
        place = folder / str(number)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(folder / f"{number}.told", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
            try:
                do_nothing(call, number, place / IDLE)
                work(place)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        tell(number, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def do_nothing(call: str, times: int, path: Path) -> None:
    """Make a system call on a file that matters to nobody."""
    if call in ("mkdir", "unlink", "rename", "openat"):
        for _ in range(times):
            path.mkdir() if call == "mkdir" else path.touch()
            path.rename(path) if call == "rename" else None
            path.rmdir() if call == "mkdir" else path.unlink()
        return
    with path.open("wb", buffering=0) as file:
        for _ in range(times):
            if call == "write":
                file.write(b"x")
            elif call == "fsync":
                os.fsync(file.fileno())
            elif call == "ftruncate":
                file.truncate(0)
            elif call == "flock":
                fcntl.flock(file, fcntl.LOCK_UN)
    path.unlink()


if __name__ == "__main__":
    mode, where, *more = sys.argv[1:]
    if mode == "killed":
        killed(Path(where), int(more[0]), int(more[1]))
    elif mode == "crowded":
        crowded(Path(where), more[0], int(more[1]))
    else:
        traced({"steps": steps, "persistent": persistent}[mode], Path(where), more[0], int(more[1]))
