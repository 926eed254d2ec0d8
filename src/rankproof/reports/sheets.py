"""A table before it takes a form: text, Markdown and LaTeX are made of the same one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Marked(NamedTuple):
    """A cell with letters raised behind it."""

    text: str
    above: str


class Sheet(NamedTuple):
    """Rows under a header: the first columns are text, the others figures."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | Marked]]
    notes: Sequence[str] = ()
    n_text: int = 1
    """How many columns are text, and stand to the left."""


def plain(cell: str | Marked) -> str:
    """What stands in a cell, without what is raised behind it."""
    return cell.text if isinstance(cell, Marked) else cell
