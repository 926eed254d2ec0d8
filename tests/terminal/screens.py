"""A labeller on a screen without a terminal, with a hand on its keys and eyes on what it shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.labeling.pool import Candidate, Pool, Task
from rankproof.labeling.session import Session
from rankproof.terminal.labeller import Labeller
from tests.terminal.help_centre import help_centre

_PATIENCE = 30.0
_CHARACTERS = {"space": " "}


def opened(folder: Path, pool: Pool | None = None, **options: Any) -> Session:
    """A session of anna's on the help centre, or on another pool."""
    return Session.open(pool or help_centre(), folder / "truth.json", "anna", **options)


def pool_of(query: Query, *documents: Document) -> Pool:
    """One query and its documents."""
    return Pool((Task(query, tuple(Candidate(document) for document in documents)),), Corpus(documents))


class Hand:
    """Somebody at the keyboard."""

    def __init__(self, app: Labeller, pilot: Pilot[Exception]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, none of them waiting for the one before, and wait until all is done that they ask for."""
        self.send(*(events.Key(key, _CHARACTERS.get(key, key if len(key) == 1 else None)) for key in keys))
        await self.settle()

    def send(self, *typed: events.Event) -> None:
        """Let the terminal report something."""
        for event in typed:
            self.app.post_message(event)

    async def settle(self) -> None:
        """Wait until everything that was typed is done and shown."""
        await _reached(self.app.call_later)
        await asyncio.wait_for(self.app.strokes.join(), _PATIENCE)
        if not self.app.over:
            await self.shown()

    async def shown(self) -> None:
        """Wait until the screen shows what it is to show."""
        # It is laid out in one round, scrolled in the next and drawn in the last.
        for _ in range(3):
            await _reached(self.app.screen.call_after_refresh)

    @property
    def lines(self) -> list[str]:
        """The screen, line by line."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    @property
    def screen(self) -> str:
        """The screen as it is seen."""
        return "\n".join(self.lines)

    @property
    def flowing(self) -> str:
        """The screen as one line, as if nothing were wrapped."""
        return " ".join(self.screen.split())

    def styles_of(self, text: str) -> list[str]:
        """How each part of the screen with just this text is set off."""
        return [
            str(segment.style)
            for strip in self.app.screen._compositor.render_strips()
            for segment in strip
            if segment.text == text
        ]


async def _reached(schedule: Callable[[Callable[[], None]], object]) -> None:
    """Wait until something that is scheduled now has its turn."""
    turn = asyncio.Event()
    schedule(turn.set)
    await asyncio.wait_for(turn.wait(), _PATIENCE)


@asynccontextmanager
async def labelling(session: Session, size: tuple[int, int] = (80, 24), **options: Any) -> AsyncIterator[Hand]:
    """A labeller at work on a session."""
    app = Labeller(session, **options)
    async with app.run_test(size=size) as pilot:
        hand = Hand(app, pilot)
        await hand.settle()
        yield hand
