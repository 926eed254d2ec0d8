"""Figures in a terminal: curves of braille dots, or of plain characters where those cannot be shown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from rankproof.reports.figures import Axis, Figure, Series
from rankproof.reports.text import printable

_LEAST_COLUMNS = 8
_SAMPLE = 5
_BRAILLE = 0x2800
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bit of each dot in a braille character, by column and row."""


@dataclass(frozen=True)
class _Signs:
    """What a figure is drawn with."""

    dots: tuple[int, int]
    """How many dots a character holds, across and down."""
    patterns: tuple[tuple[bool, ...], ...]
    """Which dots of a curve are drawn, over and over; the first curve has the first."""
    curves: str
    """Characters that curves are drawn with, where a character is one dot."""
    marks: str
    upright: str
    level: str
    corner: str
    axes: str
    """The upright axis, then the level one."""
    ticks: str
    """On the upright axis, then on the level one."""


_FINE = _Signs(
    dots=(2, 4),
    patterns=(
        (True,),
        (True, False, False),
        (True,) * 6 + (False,) * 4,
        (True,) * 6 + (False, False, True, False, False),
    ),
    curves="",
    marks="●◆■▲★",
    upright="┊",
    level="┄",
    corner="└",
    axes="│─",
    ticks="┤┬",
)
_PLAIN = _Signs(
    dots=(1, 1),
    patterns=((True,),),
    curves="*+x~%=",
    marks="O#@&$",
    upright=":",
    level=".",
    corner="+",
    axes="|-",
    ticks="++",
)


@dataclass
class _Canvas:
    """A grid of characters that dots and signs are set on."""

    columns: int
    rows: int
    signs: _Signs
    bits: dict[tuple[int, int], int] = field(default_factory=dict)
    over: dict[tuple[int, int], str] = field(default_factory=dict)
    """Signs that stand above the dots."""
    under: dict[tuple[int, int], str] = field(default_factory=dict)
    """Signs that show where nothing else is."""

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """The character at a place between 0 and 1."""
        across, down = self._dot(x, y)
        return across // self.signs.dots[0], down // self.signs.dots[1]

    def _dot(self, x: float, y: float) -> tuple[int, int]:
        wide, high = self.columns * self.signs.dots[0] - 1, self.rows * self.signs.dots[1] - 1
        return min(wide, max(0, round(x * wide))), min(high, max(0, round((1 - y) * high)))

    def draw(self, pieces: list[list[tuple[float, float]]], nth: int) -> list[tuple[int, int]]:
        """Draw the nth curve through places between 0 and 1; returns the characters it passes, in order."""
        patterns, curves = self.signs.patterns, self.signs.curves
        pattern = patterns[nth % len(patterns)]
        passed: dict[tuple[int, int], None] = {}
        drawn = 0
        for piece in pieces:
            for across, down in _path([self._dot(x, y) for x, y in piece]):
                cell = across // self.signs.dots[0], down // self.signs.dots[1]
                passed[cell] = None
                if curves:
                    self.over[cell] = curves[nth % len(curves)]
                elif pattern[drawn % len(pattern)]:
                    self.bits[cell] = self.bits.get(cell, 0) | _BITS[across % 2][down % 4]
                drawn += 1
        return list(passed)

    def row(self, row: int) -> str:
        """One line of text."""
        return "".join(self._character((column, row)) for column in range(self.columns))

    def _character(self, cell: tuple[int, int]) -> str:
        if cell in self.over:
            return self.over[cell]
        return chr(_BRAILLE + self.bits[cell]) if cell in self.bits else self.under.get(cell, " ")


def line_plot(figure: Figure, *, width: int = 72, height: int = 12, ascii: bool = False) -> str:  # noqa: A002
    """The figure as lines of text of at most this width, with `height` lines for the curves; ends with a newline.

    Curves are told apart by their dots and by a letter at their end, marks by their shape. What they stand for is
    listed below the axis. With `ascii` nothing but ASCII is drawn; names are printed as they are.
    """
    signs = _PLAIN if ascii else _FINE
    height = max(2, height)
    x_axis, y_axis = figure.axes(most_x=max(2, width // 8), most_y=height // 3 + 1, bands=False)
    margin = max(len(y_axis.label(tick)) for tick in y_axis.ticks) + 2
    canvas = _Canvas(max(_LEAST_COLUMNS, width - margin), height, signs)
    key = [*_draw_lines(canvas, figure, x_axis, y_axis), *_draw_curves(canvas, figure, x_axis, y_axis)]
    key += _draw_marks(canvas, figure, x_axis, y_axis)
    total = margin + canvas.columns
    lines = [
        *textwrap.wrap(printable(figure.y_label), total),
        *_upper_part(canvas, y_axis, margin),
        *_x_axis(canvas, x_axis, margin),
        *(line.rjust(total) for line in textwrap.wrap(printable(figure.x_label), total)),
    ]
    for sign, name in key:
        hanging = " " * (len(sign) + 2)
        lines += textwrap.wrap(printable(name), total, initial_indent=f" {sign} ", subsequent_indent=hanging)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _path(dots: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The dots on the straight lines between these, none twice in a row."""
    yield dots[0]
    for (x, y), (to_x, to_y) in pairwise(dots):
        steps = max(abs(to_x - x), abs(to_y - y))
        for i in range(1, steps + 1):
            yield x + _share(to_x - x, i, steps), y + _share(to_y - y, i, steps)


def _share(whole: int, part: int, of: int) -> int:
    """`whole · part / of`, halves away from zero, so that a line looks the same in both directions."""
    size = (2 * abs(whole) * part + of) // (2 * of)
    return size if whole >= 0 else -size


def _draw_lines(canvas: _Canvas, figure: Figure, x_axis: Axis, y_axis: Axis) -> Iterator[tuple[str, str]]:
    for line in figure.y_lines:
        _, row = canvas.cell(0.0, y_axis.place(line.at))
        canvas.under.update({(column, row): canvas.signs.level for column in range(canvas.columns)})
        if line.label:
            yield canvas.signs.level * 2, line.label
    for line in figure.x_lines:
        column, _ = canvas.cell(x_axis.place(line.at), 0.0)
        canvas.under.update({(column, row): canvas.signs.upright for row in range(canvas.rows)})
        if line.label:
            yield canvas.signs.upright, line.label


def _draw_curves(canvas: _Canvas, figure: Figure, x_axis: Axis, y_axis: Axis) -> list[tuple[str, str]]:
    passed = [canvas.draw(_placed(one, x_axis, y_axis), nth) for nth, one in enumerate(figure.series)]
    if len(figure.series) < 2:
        return []
    key, taken = [], set[tuple[int, int]]()
    for nth, (one, cells) in enumerate(zip(figure.series, passed, strict=True)):
        letter = chr(ord("A") + nth % 26)
        # Where curves end in the same place, the letters stand one behind the other, each on its own curve.
        free = [cell for cell in reversed(cells) if cell not in taken][:1]
        taken.update(free)
        canvas.over.update(dict.fromkeys(free, letter))
        key.append((f"{letter} {_sample(canvas.signs, nth)}", one.name))
    return key


def _sample(signs: _Signs, nth: int) -> str:
    canvas = _Canvas(_SAMPLE, 1, signs)
    canvas.draw([[(0.0, 0.5), (1.0, 0.5)]], nth)
    return canvas.row(0)


def _draw_marks(canvas: _Canvas, figure: Figure, x_axis: Axis, y_axis: Axis) -> list[tuple[str, str]]:
    """Set the marks; those with the same label have the same sign."""
    shapes = canvas.signs.marks
    labels = list(dict.fromkeys(mark.label for mark in figure.marks))
    sign_of = {label: shapes[nth % len(shapes)] for nth, label in enumerate(labels)}
    # Of marks in the same place the first is seen.
    for mark in reversed(figure.marks):
        canvas.over[canvas.cell(x_axis.place(mark.x), y_axis.place(mark.y))] = sign_of[mark.label]
    return [(sign, label) for label, sign in sign_of.items() if label]


def _placed(one: Series, x_axis: Axis, y_axis: Axis) -> list[list[tuple[float, float]]]:
    return [[(x_axis.place(x), y_axis.place(y)) for x, y in piece] for piece in one.pieces()]


def _upper_part(canvas: _Canvas, axis: Axis, margin: int) -> Iterator[str]:
    labels = {canvas.cell(0.0, axis.place(tick))[1]: axis.label(tick) for tick in axis.ticks}
    for row in range(canvas.rows):
        sign = (canvas.signs.ticks if row in labels else canvas.signs.axes)[0]
        yield f"{labels.get(row, ''):>{margin - 2}} {sign}{canvas.row(row)}"


def _x_axis(canvas: _Canvas, axis: Axis, margin: int) -> Iterator[str]:
    line = [canvas.signs.axes[1]] * canvas.columns
    below = ""
    for tick in axis.ticks:
        column, _ = canvas.cell(axis.place(tick), 0.0)
        label = axis.label(tick)
        begin = min(margin + column - len(label) // 2, margin + canvas.columns - len(label))
        if below and begin <= len(below):
            continue
        line[column] = canvas.signs.ticks[1]
        below = below.ljust(begin) + label
    yield " " * (margin - 1) + canvas.signs.corner + "".join(line)
    yield below
