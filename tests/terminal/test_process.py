"""A real process on a pseudo terminal, with a person's keys."""

from __future__ import annotations

import errno
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rankproof.labeling.journal import read_journal

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo terminals of this kind", allow_module_level=True)

import fcntl
import termios

ROOT = Path(__file__).parents[2]
_PATIENCE = 60.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[@-Z\\-_=>])")


class Terminal:
    """The other side of the pseudo terminal."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self.master = master
        self.process = process
        self.output = b""

    def type(self, text: str) -> None:
        """Type all of a text at once, as fast as a terminal can deliver it."""
        os.write(self.master, text.encode())

    def wait_for(self, text: str) -> None:
        """Read until the text was drawn after the last call."""
        deadline = time.monotonic() + _PATIENCE
        begin = len(self.output)
        while text not in self.drawn(begin):
            assert time.monotonic() < deadline, f"{text!r} was never drawn; the end is {self.drawn(begin)[-2000:]!r}"
            if not self._read(1.0) and self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}: {self.drawn(0)[-2000:]!r}")

    def end(self) -> int:
        """Read to the end; returns the exit code."""
        deadline = time.monotonic() + _PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "the process does not end"
            self._read(0.1)
        while self._read(0.0):
            pass
        return self.process.returncode

    def drawn(self, begin: int) -> str:
        """What was drawn from a place of the output on, without what steers the terminal."""
        return _ESCAPES.sub("", self.output[begin:].decode(errors="replace"))

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        _set_size(self.master, columns, rows)
        self.process.send_signal(signal.SIGWINCH)

    def _read(self, patience: float) -> bool:
        if not select.select([self.master], [], [], patience)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError as exc:
            # Linux says so once nobody has the other side open any more.
            if exc.errno != errno.EIO:
                raise
            return False
        self.output += data
        return bool(data)


def _set_size(handle: int, columns: int, rows: int) -> None:
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@contextmanager
def terminal(folder: Path, *, columns: int = 100, rows: int = 30, **environment: str) -> Iterator[Terminal]:
    """The labeller in a terminal of its own."""
    master, slave = os.openpty()
    _set_size(slave, columns, rows)
    base = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.terminal.driver", str(folder)], stdin=slave, stdout=slave, stderr=slave,
        cwd=ROOT, env={**base, "TERM": "xterm-256color", **environment}, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    try:
        yield Terminal(master, process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(master)


def grades(folder: Path) -> list[int | None]:
    """What the journal says, in order."""
    return [event.grade for event in read_journal(folder / "labels" / "anna.jsonl").events if event.kind == "judge"]


def test_ten_keystrokes_label_ten_results_and_the_next_start_goes_on_with_the_eleventh(tmp_path: Path) -> None:
    with terminal(tmp_path) as screen:
        screen.wait_for("query 1/3 · doc 1/5 · 0 judged")
        screen.type("rpnrpnrpnr")
        screen.wait_for("query 3/3 · doc 1/5 · 10 judged · saved ✓")
        assert grades(tmp_path) == [2, 1, 0, 2, 1, 0, 2, 1, 0, 2]
        screen.type("q")
        assert screen.end() == 0
        # The terminal is given back: the other screen is left, and the cursor is there again.
        assert screen.output.rfind(b"\x1b[?1049l") > screen.output.rfind(b"\x1b[?1049h") >= 0
        assert screen.output.rfind(b"\x1b[?25h") > screen.output.rfind(b"\x1b[?25l")
    with terminal(tmp_path) as screen:
        screen.wait_for("query 3/3 · doc 1/5 · 10 judged")
        screen.type("r")
        screen.wait_for("11 judged · saved ✓")
        screen.type("\x03")
        assert screen.end() == 130
    assert len(grades(tmp_path)) == 11


def test_notes_keys_with_names_and_a_new_size_arrive_from_a_real_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, columns=40, rows=20, NO_COLOR="1") as screen:
        screen.wait_for("0 judged")
        screen.type("mSee § 3, änd\r")
        screen.wait_for("note: See § 3, änd")
        screen.resize(120, 30)
        screen.wait_for("no answer")
        screen.type("ru")
        screen.wait_for("undone: relevant")
        screen.type("\x12")
        screen.wait_for("redone: relevant")
        screen.type("\x1b[200~rrr\x1b[201~")
        screen.wait_for("Pasting works in a note only.")
        screen.type("?")
        screen.wait_for("show the guideline")
        screen.type("q")
        screen.wait_for("Forgot your password?")
        screen.type("q")
        assert screen.end() == 0
        colours = re.findall(rb"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7]|10[0-7]|[34]8)(?:;\d+)*m", screen.output)
        assert colours == []
    events = read_journal(tmp_path / "labels" / "anna.jsonl").events
    assert [event.kind for event in events if event.kind != "begin"] == ["note", "judge", "undo", "redo"]
    assert [event.text for event in events if event.kind == "note"] == ["See § 3, änd"]


def test_on_a_dumb_terminal_it_says_what_works_there(tmp_path: Path) -> None:
    with terminal(tmp_path, TERM="dumb") as screen:
        assert screen.end() == 2
        assert "--plain works without one" in screen.drawn(0)
