"""Tables in LaTeX, for papers; they need the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.reports.sheets import Marked, Sheet, plain
from rankproof.reports.text import printable

_ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "α": r"$\alpha$", "−": r"$-$", "±": r"$\pm$",
})  # fmt: skip


def sheet_latex(sheet: Sheet) -> str:
    """A tabular between booktabs rules; title and notes become the caption."""
    columns = "l" * sheet.n_text + "r" * (len(sheet.header) - sheet.n_text)
    caption = " ".join([_sentence(sheet.title), *sheet.notes]).strip()
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(caption)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row(sheet.header),
        r"\midrule",
        *map(_row, sheet.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _sentence(title: str) -> str:
    return f"{title}." if title and not title.endswith(".") else title


def _row(cells: Sequence[str | Marked]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: str | Marked) -> str:
    raised = f"$^{{{cell.above}}}$" if isinstance(cell, Marked) and cell.above else ""
    return escaped(plain(cell)) + raised


def escaped(text: str) -> str:
    """The text so that nothing in it is taken for a command."""
    return printable(text).translate(_ESCAPES)
