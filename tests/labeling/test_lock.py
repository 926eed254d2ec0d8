"""One writer at a time, and the others are told who it is."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rankproof.labeling.lock import Held, Lock

HOLD = """
import sys, time
from pathlib import Path
from rankproof.labeling.lock import Lock
Lock(Path(sys.argv[1])).acquire("bob", "2026-03-01T10:00:00Z")
print("held", flush=True)
time.sleep(600)
"""


@contextmanager
def holder(target: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, target], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_the_second_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    target = tmp_path / "anna.jsonl"
    with holder(target) as process:
        with pytest.raises(Held) as caught:
            Lock(target).acquire("anna", "now")
        message = f"{target} is being written by bob (process {process.pid} on {socket.gethostname()}, since 2026-03-01"
        assert str(caught.value).startswith(message)
        assert caught.value.holder is not None
        assert caught.value.holder.annotator == "bob"
        with pytest.raises(Held):
            # A living holder on this host cannot be forced.
            Lock(target).acquire("anna", "now", force=True)


def test_the_second_is_refused_within_one_process_too(tmp_path: Path) -> None:
    first = Lock(tmp_path / "x")
    first.acquire("anna")
    with pytest.raises(Held, match="label under another name"):
        Lock(tmp_path / "x").acquire("anna")
    first.release()


def test_a_lock_given_back_is_free_and_leaves_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        lock = Lock(tmp_path / "x")
        assert lock.acquire("anna") is None
        lock.release()
        lock.release()
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_holder_is_taken_over(tmp_path: Path) -> None:
    with holder(tmp_path / "x") as process:
        process.kill()
        process.wait()
        lock = Lock(tmp_path / "x")
        before = lock.acquire("anna")
        assert before is not None
        assert (before.annotator, before.pid) == ("bob", process.pid)
        lock.release()


def test_the_lock_of_a_stopped_holder_is_not_taken_over(tmp_path: Path) -> None:
    with holder(tmp_path / "x") as process:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        with pytest.raises(Held, match="bob"):
            Lock(tmp_path / "x").acquire("anna", force=True)
        process.send_signal(signal.SIGCONT)


def abandoned(target: Path, host: str) -> Lock:
    """A lock whose file names a holder while no lock of this machine is held."""
    lock = Lock(target)
    lock.path.write_text(json.dumps({"annotator": "bob", "pid": 1, "host": host, "since": "yesterday"}))
    return lock


def test_the_lock_of_another_host_needs_force(tmp_path: Path) -> None:
    lock = abandoned(tmp_path / "x", "elsewhere")
    with pytest.raises(Held, match=r"bob \(process 1 on elsewhere, since yesterday\)\. If nothing runs on elsewhere"):
        lock.acquire("anna")
    assert json.loads(lock.path.read_text())["host"] == "elsewhere"
    assert lock.acquire("anna", force=True) is not None
    assert json.loads(lock.path.read_text())["annotator"] == "anna"
    lock.release()


def test_a_process_number_that_was_given_out_again_holds_nothing(tmp_path: Path) -> None:
    # Process 1 is alive, but it is not the one that held this lock.
    lock = abandoned(tmp_path / "x", socket.gethostname())
    assert lock.acquire("anna") is not None
    lock.release()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}', "\0\0"])
def test_a_lock_file_that_was_not_finished_names_nobody(tmp_path: Path, content: str) -> None:
    lock = Lock(tmp_path / "x")
    lock.path.write_text(content)
    assert lock.acquire("anna") is None
    lock.release()


def test_waiting_ends_when_the_lock_is_free(tmp_path: Path) -> None:
    with holder(tmp_path / "x") as process:
        start = time.monotonic()
        with pytest.raises(Held):
            Lock(tmp_path / "x").acquire("anna", wait=0.05)
        assert time.monotonic() - start >= 0.05
        process.kill()
        lock = Lock(tmp_path / "x")
        lock.acquire("anna", wait=60)
        lock.release()
