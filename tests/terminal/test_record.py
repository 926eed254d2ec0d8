"""The screen in the tutorial is the one that the labeller shows."""

from __future__ import annotations

import pytest

from tests.terminal.record import RECORDING, recorded, words_of


async def test_the_recorded_screen_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    # Another version of Textual may draw the same words with other coordinates.
    expected = words_of(await recorded())
    assert words_of(RECORDING.read_text(encoding="utf-8")) == expected, "run `python -m tests.terminal.record`"
    assert "query 1/3 · doc 3/5 · 2 judged · saved ✓" in expected


def test_the_recorded_screen_makes_no_request() -> None:
    picture = RECORDING.read_text(encoding="utf-8")
    assert "url(http" not in picture
    assert "@font-face" not in picture
