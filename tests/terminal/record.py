"""Record the screen that the tutorial shows: `python -m tests.terminal.record`."""

from __future__ import annotations

import asyncio
import html
import os
import re
import tempfile
from pathlib import Path

from tests.terminal.screens import labelling, opened

RECORDING = Path(__file__).parents[2] / "docs" / "tutorial" / "labelling.svg"
_SIZE = (80, 20)
_KEYS = "rp"
# Fonts from elsewhere: a picture in the documentation makes no request.
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)


async def recorded() -> str:
    """The screen after two keys, as SVG."""
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as session:
        async with labelling(session, _SIZE) as hand:
            await hand.press(*_KEYS)
            picture = hand.app.export_screenshot(title="rankproof label")
    return _FONT_FACE.sub("", picture).strip() + "\n"


def words_of(picture: str) -> str:
    """What can be read in a recorded screen."""
    return " ".join(html.unescape(" ".join(_TEXT.findall(picture))).split())


def main() -> None:
    """Write the recording anew."""
    os.environ.pop("NO_COLOR", None)
    RECORDING.write_text(asyncio.run(recorded()), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
