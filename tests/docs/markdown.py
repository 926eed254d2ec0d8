"""What the tests need to know of a Markdown page: its code blocks, its links and its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFERENCE = "docs/reference"

_FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: ```` ```python ```` is run by the tests, ```` ```python no-run ```` is only looked at."""

    language: str
    runs: bool
    text: str
    line: int
    span: tuple[int, int]
    """Where the text begins and ends in the page."""

    @property
    def commands(self) -> list[str]:
        """What a console block types behind the dollar sign."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


def written_pages() -> list[str]:
    """The pages that people write, by their path from the root of the project."""
    docs = (path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return ["README.md", "CONTRIBUTING.md", *sorted(page for page in docs if not page.startswith(REFERENCE))]


def page_text(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> Iterator[Block]:
    """The fenced blocks of a language, in order."""
    for found in _FENCE.finditer(text):
        name, *words = found["info"].split() or [""]
        if name == language:
            line = text.count("\n", 0, found.start("text")) + 1
            yield Block(name, "no-run" not in words, found["text"], line, found.span("text"))


def links(text: str) -> list[str]:
    """The targets of the links outside code blocks that lead to other pages or places of ours."""
    prose = _FENCE.sub("", text)
    return [target for target in _LINK.findall(prose) if "://" not in target and not target.startswith("mailto:")]


def anchors(text: str) -> set[str]:
    """The names under which the headings of a page can be linked to, as Git hosts make them."""
    headings = _HEADING.findall(_FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
