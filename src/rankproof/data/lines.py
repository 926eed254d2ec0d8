"""The careful reader of text lines: slow, exact, and able to say what is wrong with each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankproof.data.faults import Faults
from rankproof.data.fields import NEWLINE, split_fields
from rankproof.data.ids import Ids, padded
from rankproof.data.numbers import parse_number, parse_numbers

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_CONTROL = re.compile(rb"[\x00-\x08]")
# Without other blanks and empty cells, tabs separate as any white space does.
_NOT_ONLY_TABS = re.compile(rb"[\x0b\x0c\x0e-\x20]|\t[\t\r\n]|[\r\n]\t|\A\t|\t\Z")


@dataclass(frozen=True)
class Rows:
    """Rows of a file in columns; `lines` are their line numbers, or None where every line of the text is one row."""

    queries: Ids
    docs: Ids
    values: NDArray[np.float64]
    lines: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Layout:
    """Which columns hold what, and how a line is taken apart."""

    columns: int
    query: int
    doc: int
    value: int
    noun: str
    form: str
    """The line as it should be, for messages."""
    separator: bytes | None = None
    """A separator that must stand alone; None is any white space."""


def read_rows(text: bytes, layout: Layout, faults: Faults, first_line: int = 1) -> Rows:
    """The rows of a text; the faults found are added to the list."""
    if layout.separator is None or (layout.separator == b"\t" and not _NOT_ONLY_TABS.search(text)):
        rows = rows_of_buffer(padded(text if text.endswith(b"\n") else text + b"\n"), layout)
        if rows is not None:
            return rows if rows.lines is None else replace(rows, lines=rows.lines + (first_line - 1))
    return read_carefully(text, layout, faults, first_line)


def rows_of_buffer(buffer: NDArray[np.uint8], layout: Layout) -> Rows | None:
    """The rows of a padded buffer that ends in a newline, or None where the careful reader is needed."""
    fields = split_fields(buffer, layout.columns, (layout.query, layout.doc, layout.value))
    if fields is None:
        return None
    values, wrong = parse_numbers(buffer, fields.starts[2], fields.ends[2])
    if len(wrong):
        return None
    queries, docs = (Ids(buffer, fields.starts[i], fields.ends[i]) for i in (0, 1))
    lines = None
    if not fields.every_line:
        lines = np.searchsorted(np.flatnonzero(buffer == NEWLINE), fields.starts[0]) + 1
    return Rows(queries, docs, values, lines)


def numbered_lines(text: bytes, first_line: int = 1) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, whatever ends them; empty ones and comments are left out."""
    for number, line in enumerate(_NEWLINE.split(text), first_line):
        if line.strip() and not line.lstrip().startswith(b"#"):
            yield number, line


def mostly_columns(head: bytes, columns: int, separator: bytes | None = None) -> bool:
    """Whether half of the first lines or more have that many columns; the last line may be cut off and is left aside.

    A file with some bad lines is still one of its kind: its reader tells what is wrong with them.
    """
    lines = [line for line in head.splitlines()[:-1] or [head] if line.strip()]
    counts = [len(line.split(separator)) for line in lines if not line.lstrip().startswith(b"#")][:200]
    return counts.count(columns) * 2 >= len(counts) > 0


def text_lines(data: bytes, faults: Faults) -> Iterator[tuple[int, str]]:
    """Lines as text with their numbers; those that are no text are faults."""
    for number, line in numbered_lines(data):
        if problem := text_problem(line):
            faults.add(problem, number)
        else:
            yield number, line.decode()


def decode_text(data: bytes, source: str, first_line: int = 1) -> str:
    """The text of a whole file; every line of it that is no text is refused."""
    if text_problem(data):
        faults = Faults(source)
        for number, line in enumerate(_NEWLINE.split(data), first_line):
            if problem := text_problem(line):
                faults.add(problem, number)
        faults.raise_any()
    return data.decode()


def text_problem(line: bytes) -> str | None:
    """Why these bytes are no text, or None."""
    if control := _CONTROL.search(line):
        name = "a NUL byte" if control[0] == b"\0" else f"the control character {control[0]!r}"
        return f"the line has {name}; is this a binary or a UTF-16 file?"
    try:
        line.decode()
    except UnicodeDecodeError as exc:
        return f"byte {line[exc.start]:#04x} is not valid UTF-8; save the file as UTF-8"
    return None


def read_carefully(text: bytes, layout: Layout, faults: Faults, first_line: int = 1) -> Rows:
    """Line by line: comments and blank lines left out, every bad line told with its number."""
    queries: list[str] = []
    docs: list[str] = []
    values: list[float] = []
    lines: list[int] = []
    for number, line in numbered_lines(text, first_line):
        tokens = [t.strip() for t in line.split(layout.separator)] if layout.separator else _split(line)
        problem = _problem(line, tokens, layout)
        if problem:
            faults.add(problem, number)
            continue
        value = parse_number(tokens[layout.value])
        assert value is not None
        queries.append(tokens[layout.query].decode())
        docs.append(tokens[layout.doc].decode())
        values.append(value)
        lines.append(number)
    return Rows(Ids.of(queries), Ids.of(docs), np.array(values, np.float64), np.array(lines, np.int64))


_BLANKS = re.compile(rb"[\x09-\x20]+")


def _split(line: bytes) -> list[bytes]:
    return [token for token in _BLANKS.split(line) if token]


def _problem(line: bytes, tokens: Sequence[bytes], layout: Layout) -> str | None:
    if problem := text_problem(line):
        return problem
    if len(tokens) != layout.columns:
        return f"{len(tokens)} columns where {layout.columns} belong ({layout.form}): {_shown(line)}"
    if not tokens[layout.query] or not tokens[layout.doc]:
        return f"an id is empty ({layout.form}): {_shown(line)}"
    token = tokens[layout.value]
    if parse_number(token) is not None:
        return None
    kind = "a finite number" if token.lower().lstrip(b"+-") in _NOT_FINITE or token[-1:].isdigit() else "a number"
    return f"{layout.noun} {_shown(token)} is not {kind}"


_NOT_FINITE = {b"nan", b"inf", b"infinity"}


def _shown(text: bytes) -> str:
    cut = text[:60] + (b"..." if len(text) > 60 else b"")
    return repr(cut.decode(errors="replace"))
