"""The labeller starts only where it can, and says what is missing where it cannot."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from rankproof.errors import MissingExtra, UsageError
from rankproof.terminal import app
from tests.terminal.screens import opened


def test_without_a_terminal_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "__stdin__", io.StringIO())
    with opened(tmp_path) as session, pytest.raises(UsageError, match=r"needs a terminal .* --plain works without one"):
        app.run_labeller(session)


def test_on_a_dumb_terminal_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "__stdin__", Terminal())
    monkeypatch.setattr(sys, "__stderr__", Terminal())
    monkeypatch.setenv("TERM", "dumb")
    with opened(tmp_path) as session, pytest.raises(UsageError, match="--plain"):
        app.run_labeller(session)


def test_a_missing_library_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_has_screen", lambda: True)
    monkeypatch.setitem(sys.modules, "textual", None)
    with opened(tmp_path) as session, pytest.raises(MissingExtra, match=r'--plain.* pip install "rankproof\[label\]"'):
        app.run_labeller(session)


def test_textual_is_loaded_only_when_the_labeller_starts() -> None:
    code = "import sys, rankproof.terminal.app; print('textual' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
