"""Tables in Markdown, for comments and pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankproof.reports.sheets import Marked, Sheet
from rankproof.reports.text import printable

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def sheet_markdown(sheet: Sheet) -> str:
    """A table with its title above and its notes below."""
    alignment = [":--" if i < sheet.n_text else "--:" for i in range(len(sheet.header))]
    lines = [_row(map(_cell, sheet.header)), _row(alignment), *(_row(map(_cell, row)) for row in sheet.rows)]
    parts = [f"**{escaped(sheet.title)}**" if sheet.title else "", "\n".join(lines), *map(escaped, sheet.notes)]
    return "\n\n".join(part for part in parts if part)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: str | Marked) -> str:
    if isinstance(cell, Marked):
        return escaped(cell.text) + (f"<sup>{cell.above}</sup>" if cell.above else "")
    return escaped(cell)


def escaped(text: str) -> str:
    """The text so that nothing in it is taken for markup."""
    return _ACTIVE.sub(r"\\\1", printable(text))
