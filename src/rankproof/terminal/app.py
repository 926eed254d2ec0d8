"""The labeller on a terminal, from its start to its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from rankproof.data.corpus import Document
from rankproof.data.files import PathLike
from rankproof.errors import MissingExtra, UsageError
from rankproof.labeling.session import Session

_BUG = 70


def run_labeller(
    session: Session, *, corpus_text: Callable[[str], Document] | None = None, guideline: str | None = None,
    file: PathLike | None = None,
) -> int:  # fmt: skip
    """Show a session on the whole screen until the annotator quits; returns the exit code, 130 after Ctrl-C.

    `corpus_text` gives the document whose full text is shown for an id; else it is the one that is judged. `file` is
    what the annotator is told of where the labels are.
    """
    require_screen()
    from rankproof.terminal.labeller import Labeller

    app = Labeller(session, corpus_text=corpus_text, guideline=guideline, file=file)
    failure = app.run()
    if failure is not None:
        raise failure
    # Textual itself ends with 1 when it breaks down.
    return _BUG if app.return_code == 1 else app.return_code or 0


def require_screen() -> None:
    """Raise what stands in the way of a labeller on the whole screen, before anything is done for it."""
    if not _has_screen():
        raise UsageError("The labeller needs a terminal with a screen; --plain works without one.")
    try:
        import textual  # noqa: F401
    except ModuleNotFoundError as exc:
        raise MissingExtra("The labeller on the whole screen (--plain works without it)", "label") from exc


def _has_screen() -> bool:
    # Textual draws on stderr.
    streams = (sys.__stdin__, sys.__stderr__)
    return all(stream is not None and stream.isatty() for stream in streams) and os.environ.get("TERM") != "dumb"
