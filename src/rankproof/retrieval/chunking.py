"""Documents cut into the pieces that are searched: a piece per section of Markdown, or of so many words.

A piece is called `document#name`, so that labels and caches outlive a change elsewhere in the document. By heading, the
name is made of the headings above it, not of its number: `install#linux/from-source`, whatever is inserted before it.
Text before the first heading is `(start)`; the second section of the same headings ends in `~2`; the second piece of a
section that is too long ends in `.2`. By size, there is nothing to go by but the number: `install#3`.

Words are what white space separates. The pieces of a document together hold all of its words, in order.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from rankproof.data.corpus import Document
from rankproof.errors import UsageError

By = Literal["heading", "size"]

SIZE = 200
OVERLAP = 40
START = "(start)"
"""What the text before the first heading is called; no heading gives this name."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LONGEST_SLUG = 80


@dataclass(frozen=True)
class Chunking:
    """How documents are cut."""

    by: By = "heading"
    size: int = SIZE
    """The most words of a piece. A section with more is cut."""
    overlap: int = OVERLAP
    """How many words a piece repeats of the one before it in the same section."""

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= self.overlap < self.size:
            raise UsageError(
                f"Pieces of {self.size} words cannot overlap by {self.overlap}; the overlap is from 0 to size - 1."
            )


def chunks(document: Document, how: Chunking) -> list[Document]:
    """The pieces of a document, none of them empty; none if the document holds no word at all.

    A document that has a title and no text is one piece with the title as its text. A block of code between fences is
    kept whole if it fits into a piece. Titles say where a piece belongs: `Page > Section > Sub`.
    """
    if not document.text.strip():
        if not document.title.strip():
            return []
        return [Document(f"{document.id}#{START}", document.title, document.title, document.metadata)]
    if how.by == "size":
        parts = _sized(document.text, how)
        return [
            Document(f"{document.id}#{number}", part, document.title, document.metadata)
            for number, part in enumerate(parts, 1)
        ]
    found = []
    seen: Counter[str] = Counter()
    for section in _sections(document):
        name = _name(section.path)
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name}~{seen[name]}"
        title = " > ".join(filter(None, (document.title, *section.path)))
        for number, part in enumerate(_sized(section.text, how), 1):
            chunk_id = f"{document.id}#{name}" + (f".{number}" if number > 1 else "")
            found.append(Document(chunk_id, part, title, document.metadata))
    return found


class _Section(NamedTuple):
    path: tuple[str, ...]
    """The headings above the text, outermost first; that of the whole page is left out."""
    text: str


class _Line(NamedTuple):
    text: str
    level: int = 0
    """1 to 6 for a heading, 0 for anything else."""
    heading: str = ""
    block: int = 0
    """Which block of code between fences it belongs to, counted from 1; 0 is none."""
    front: bool = False
    """Whether it belongs to the front matter."""


def _sections(document: Document) -> list[_Section]:
    """Sections that have a text of their own; headings without one stand before the text that comes next."""
    found: list[_Section] = []
    path: list[tuple[int, str]] = []
    held: list[str] = []
    has_text = False
    is_first = True

    def close() -> None:
        nonlocal held, has_text
        if has_text:
            found.append(_Section(tuple(heading for _, heading in path), "".join(held)))
            held, has_text = [], False

    for line in _lines(document.text):
        if line.level:
            is_title = is_first and line.heading == _one_line(document.title)
            is_first = False
            if not is_title:
                close()
                path = [(level, heading) for level, heading in path if level < line.level]
                path.append((line.level, line.heading))
        elif not line.front and re.search(r"\w", line.text):
            has_text = True
        held.append(line.text)
    close()
    rest = "".join(held)
    if found:
        return [*found[:-1], found[-1]._replace(text=found[-1].text + rest)]
    return [_Section((), rest)]


def _lines(text: str) -> Iterator[_Line]:
    lines = text.splitlines(keepends=True)
    front = bool(lines) and lines[0].rstrip() == "---" and any(line.rstrip() == "---" for line in lines[1:])
    fence: str | None = None
    block = 0
    for number, line in enumerate(lines):
        bare = line.strip()
        if front:
            front = number == 0 or line.rstrip() != "---"
            yield _Line(line, front=True)
        elif fence is not None:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = None
            yield _Line(line, block=block)
        elif opening := _FENCE.match(line):
            fence = opening[1]
            block += 1
            yield _Line(line, block=block)
        elif heading := _HEADING.fullmatch(line.rstrip()):
            yield _Line(line, len(heading[1]), _one_line(heading[2] or ""))
        else:
            yield _Line(line)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _name(path: Sequence[str]) -> str:
    return "/".join(map(_slug, path)) or START


def _slug(heading: str) -> str:
    """A heading as a part of an id: letters, digits and hyphens, in lower case."""
    plain = unicodedata.normalize("NFKC", heading).lower()
    words = re.findall(r"[^\W_]+", plain)
    return "-".join(words)[:_LONGEST_SLUG].rstrip("-") or "section"


class _Atom(NamedTuple):
    """What is not cut: a word, or a block of code that fits into a piece."""

    begin: int
    end: int
    n_words: int


def _sized(text: str, how: Chunking) -> list[str]:
    """The text in parts of at most so many words, each beginning with the last words of the one before it."""
    atoms = _atoms(text, how.size)
    if sum(atom.n_words for atom in atoms) <= how.size:
        return [text]
    parts = []
    first = last = 0
    while last < len(atoms):
        n_words = sum(atom.n_words for atom in atoms[first:last])
        while n_words + atoms[last].n_words > how.size:
            n_words -= atoms[first].n_words
            first += 1
        while last < len(atoms) and n_words + atoms[last].n_words <= how.size:
            n_words += atoms[last].n_words
            last += 1
        parts.append(text[atoms[first].begin : atoms[last - 1].end])
        first = last
        repeated = 0
        while first > 0 and repeated + atoms[first - 1].n_words <= how.overlap:
            first -= 1
            repeated += atoms[first].n_words
    return parts


def _atoms(text: str, size: int) -> list[_Atom]:
    found: list[_Atom] = []
    for begin, end, is_code in _stretches(text):
        words = [_Atom(begin + word.start(), begin + word.end(), 1) for word in re.finditer(r"\S+", text[begin:end])]
        if is_code and 0 < len(words) <= size:
            found.append(_Atom(words[0].begin, words[-1].end, len(words)))
        else:
            found += words
    return found


def _stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """The text cut where blocks of code begin and end: begin, end, whether it is code."""
    begin = 0
    for block, lines in groupby(_lines(text), key=lambda line: line.block):
        end = begin + sum(len(line.text) for line in lines)
        yield begin, end, block > 0
        begin = end
