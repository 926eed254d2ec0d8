"""Figures as SVG files: no script, no fonts or requests from outside, legible in light, in dark and on paper.

Colours stand in attributes, and the style sheet holds only those for the dark: a page that forbids inline styles
still shows the chart. Nothing has an id, so that a page may hold several charts.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rankproof.reports.figures import Axis, Figure, Line, Series, axis_of
from rankproof.reports.text import printable

_WIDTH = 720
_PAD = 16
_SIZE = 13
_TITLE = 16
_ROW = 20
_PLOT_HEIGHT = 280
_MOST_OF_LABEL = 0.36
"""How much of the width the names in a forest chart may take."""


class _Colour(NamedTuple):
    """A colour on white and the one in its place in the dark."""

    light: str
    dark: str


_PAPER = _Colour("#ffffff", "#18181b")
_INK = _Colour("#1f1f23", "#f4f4f5")
_SOFT = _Colour("#55555c", "#b8b8c0")
_GRID = _Colour("#dedee3", "#3a3a40")
# Okabe and Ito's colours, which colour-blind people tell apart; of those, the ones that stand out from the paper.
_COLOURS = (
    _Colour("#0072b2", "#56b4e9"),
    _Colour("#d55e00", "#e69f00"),
    _Colour("#009e73", "#009e73"),
    _Colour("#cc79a7", "#cc79a7"),
    _Colour("#000000", "#f0e442"),
)
_DASHES = ("", "9 4", "2 3", "9 3 2 3")


NO_DIFFERENCE = Line(0.0, "no difference")


class ForestRow(NamedTuple):
    """A difference with its interval."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    clear: bool = True
    """Whether it can be told from none; drawn filled, otherwise hollow."""


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def inside(self, other: _Box) -> bool:
        return other.holds(self.left, self.top) and other.holds(self.right, self.bottom)

    def meets(self, other: _Box) -> bool:
        apart = self.right < other.left or other.right < self.left or self.bottom < other.top or other.bottom < self.top
        return not apart


def line_chart(figure: Figure) -> str:
    """The curves of a figure with their bands, marks and reference lines."""
    head, top = _head(figure.title, [one.name for one in figure.series] if len(figure.series) > 1 else [])
    y_words = _wrapped(figure.y_label, _WIDTH - 2 * _PAD, _SIZE)
    top += _ROW * len(y_words)
    x_axis, y_axis = figure.axes(most_x=8, most_y=7, bands=True)
    left = _PAD + max(_text_width(y_axis.label(tick), _SIZE) for tick in y_axis.ticks) + 8
    last_label = _text_width(x_axis.label(x_axis.ticks[-1]), _SIZE)
    plot = _Box(left, top + 4, _WIDTH - max(_PAD + 8, last_label / 2 + 4), top + 4 + _PLOT_HEIGHT)
    bottom = plot.bottom + 24
    x_words = _wrapped(figure.x_label, plot.right - plot.left, _SIZE)
    parts = [
        *head,
        *(_text(_PAD, top - _ROW * (len(y_words) - i) + 9, line, _SOFT) for i, line in enumerate(y_words)),
        *_y_grid(y_axis, plot),
        *_x_grid(x_axis, plot),
        *(_text(plot.right, bottom + _ROW * (i + 0.7), line, _SOFT, "end") for i, line in enumerate(x_words)),
    ]
    at = _Places(x_axis, y_axis, plot)
    parts += [part for nth, one in enumerate(figure.series) for part in _band(one, at, nth)]
    parts += [part for nth, one in enumerate(figure.series) for part in _curve(one, at, nth)]
    parts += _pointed_out(figure, at)
    desc = figure.desc or _line_words(figure)
    return _document(parts, bottom + _ROW * len(x_words) + _PAD, figure.title, desc)


def forest_chart(
    rows: Sequence[ForestRow],
    *,
    title: str,
    x_label: str,
    line: Line = NO_DIFFERENCE,
    decimals: int = 4,
    desc: str = "",
) -> str:
    """Differences one below the other, each with its interval, and a line at no difference."""
    head, top = _head(title, [])
    values = [_interval_words(row, decimals) for row in rows]
    widest = max((_text_width(row.label, _SIZE) for row in rows), default=0.0)
    left = _PAD + min(_WIDTH * _MOST_OF_LABEL, widest) + 16
    right = _WIDTH - _PAD - max((_text_width(words, _SIZE) for words in values), default=0.0) - 16
    top += _ROW if line.label else 0
    step = 26
    plot = _Box(left, top, right, top + step * max(1, len(rows)))
    ends = [line.at, *(end for row in rows for end in (row.value, row.low, row.high) if end is not None)]
    axis = axis_of(_with_room(ends), most=int((right - left) // 60), snug=True)
    x_words = _wrapped(x_label, _WIDTH - left - _PAD, _SIZE)
    parts = [*head, *_x_grid(axis, plot)]
    zero = plot.left + axis.place(line.at) * (plot.right - plot.left)
    parts.append(_stroke([(zero, plot.top), (zero, plot.bottom)], _INK, 'stroke-width="1.5"'))
    if line.label:
        parts.append(_text(zero, plot.top - 8, line.label, _SOFT, "middle"))
    for i, (row, words) in enumerate(zip(rows, values, strict=True)):
        y = plot.top + step * (i + 0.5)
        parts += _forest_row(row, words, axis, plot, y)
    bottom = plot.bottom + 24
    parts += [_text(plot.left, bottom + _ROW * (i + 0.7), words, _SOFT) for i, words in enumerate(x_words)]
    told = desc or "; ".join(f"{row.label}: {words}" for row, words in zip(rows, values, strict=True))
    return _document(parts, bottom + _ROW * len(x_words) + _PAD, title, told)


def _with_room(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the values and a little more, so that nothing touches the words beside the plot."""
    finite = [value for value in values if math.isfinite(value)]
    room = 0.04 * (max(finite) - min(finite))
    return min(finite) - room, max(finite) + room


def _forest_row(row: ForestRow, words: str, axis: Axis, plot: _Box, y: float) -> Iterator[str]:
    def across(value: float) -> float:
        # An interval that is open at one end goes on to the edge.
        return plot.left + axis.place(min(axis.high, max(axis.low, value))) * (plot.right - plot.left)

    colour = _COLOURS[0]
    name = _cut(row.label, plot.left - _PAD - 16, _SIZE)
    yield _text(_PAD, y + 4.5, name, _INK, full=row.label if name != printable(row.label) else "")
    yield _text(_WIDTH - _PAD, y + 4.5, words, _INK, "end")
    if row.low is not None and row.high is not None:
        low, high = across(row.low), across(row.high)
        yield _stroke([(low, y), (high, y)], colour, 'stroke-width="2"')
        yield from (_stroke([(x, y - 4), (x, y + 4)], colour, 'stroke-width="2"') for x in (low, high))
    if math.isfinite(row.value):
        yield _dot(across(row.value), y, colour, hollow=not row.clear)


def _interval_words(row: ForestRow, decimals: int) -> str:
    if not math.isfinite(row.value):
        return "–"
    if row.low is None or row.high is None:
        return _signed(row.value, decimals)
    return f"{_signed(row.value, decimals)} [{_signed(row.low, decimals)}, {_signed(row.high, decimals)}]"


def _signed(value: float, decimals: int) -> str:
    rounded = round(value, decimals) + 0.0
    words = f"{rounded:+.{decimals}f}" if rounded else f"{rounded:.{decimals}f}"
    return _minus(words).replace("inf", "∞")


def _minus(number: str) -> str:
    return number.replace("-", "−")


class _Places(NamedTuple):
    """From values to places in the picture."""

    x_axis: Axis
    y_axis: Axis
    plot: _Box

    def x(self, value: float) -> float:
        return self.plot.left + self.x_axis.place(value) * (self.plot.right - self.plot.left)

    def y(self, value: float) -> float:
        return self.plot.bottom - self.y_axis.place(value) * (self.plot.bottom - self.plot.top)

    def curve(self, one: Series) -> list[list[tuple[float, float]]]:
        return [[(self.x(x), self.y(y)) for x, y in piece] for piece in one.pieces()]


def _head(title: str, names: Sequence[str]) -> tuple[list[str], float]:
    """The title and the key to the curves, and how far down they reach."""
    y = float(_PAD)
    parts = []
    for line in _wrapped(title, _WIDTH - 2 * _PAD, _TITLE):
        y += _ROW
        parts.append(_text(_PAD, y - 5, line, _INK, size=_TITLE, bold=True))
    y += 8
    x = float(_PAD)
    for nth, name in enumerate(names):
        shown = _cut(name, _WIDTH - 2 * _PAD - 36, _SIZE)
        wide = 36 + _text_width(shown, _SIZE) + 18
        if x > _PAD and x + wide - 18 > _WIDTH - _PAD:
            x, y = float(_PAD), y + _ROW
        parts.append(_stroke([(x, y + 8), (x + 28, y + 8)], *_look(nth)))
        parts.append(_text(x + 36, y + 12.5, shown, _INK))
        x += wide
    return parts, y + (_ROW + 8 if names else 0)


def _y_grid(axis: Axis, plot: _Box) -> Iterator[str]:
    for tick in axis.ticks:
        y = plot.bottom - axis.place(tick) * (plot.bottom - plot.top)
        yield _stroke([(plot.left, y), (plot.right, y)], _GRID)
        yield _text(plot.left - 8, y + 4.5, _minus(axis.label(tick)), _SOFT, "end")


def _x_grid(axis: Axis, plot: _Box) -> Iterator[str]:
    end = -math.inf
    for tick in axis.ticks:
        x = plot.left + axis.place(tick) * (plot.right - plot.left)
        label = _minus(axis.label(tick))
        half = _text_width(label, _SIZE) / 2
        yield _stroke([(x, plot.top), (x, plot.bottom)], _GRID)
        if x - half > end:
            yield _text(x, plot.bottom + 20, label, _SOFT, "middle")
            end = x + half + 6
    yield _stroke([(plot.left, plot.bottom), (plot.right, plot.bottom)], _SOFT)


def _band(one: Series, at: _Places, nth: int) -> Iterator[str]:
    every = ((x, low, high) for (x, _), (low, high) in zip(one.points, one.band, strict=False))
    ends = [row for row in every if all(map(math.isfinite, row))]
    upper = [(at.x(x), at.y(high)) for x, _, high in ends]
    lower = [(at.x(x), at.y(low)) for x, low, _ in ends]
    if len(ends) > 1:
        paint = _paint(fill=_COLOURS[nth % len(_COLOURS)])
        yield f'<path d="{_path([*upper, *reversed(lower)])}Z" {paint} fill-opacity="0.15"/>'


def _curve(one: Series, at: _Places, nth: int) -> Iterator[str]:
    colour, look = _look(nth)
    for piece in at.curve(one):
        if len(piece) == 1:
            yield _dot(*piece[0], colour)
        else:
            yield _stroke(piece, colour, look)


def _look(nth: int) -> tuple[_Colour, str]:
    """The colour of the nth curve, and its width and dashes."""
    dash = _DASHES[nth % len(_DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return _COLOURS[nth % len(_COLOURS)], f'stroke-width="2.25" stroke-linejoin="round"{dashes}'


def _pointed_out(figure: Figure, at: _Places) -> Iterator[str]:
    """Reference lines and marks, each with its label where it covers the least."""
    plot = at.plot
    curves = [place for one in figure.series for piece in at.curve(one) for place in _along(piece)]
    dots = [(at.x(mark.x), at.y(mark.y)) for mark in figure.marks]
    taken = [_Box(x - 6, y - 6, x + 6, y + 6) for x, y in dots]
    wanted: list[tuple[str, list[tuple[float, float, str]]]] = []
    dashes = 'stroke-width="1.25" stroke-dasharray="4 4"'
    for line in figure.y_lines:
        y = at.y(line.at)
        yield _stroke([(plot.left, y), (plot.right, y)], _SOFT, dashes)
        spots = [(x, y + down, anchor) for x, anchor in _ends(plot.left, plot.right) for down in (-6.0, 15.0)]
        wanted.append((line.label, spots))
    for line in figure.x_lines:
        x = at.x(line.at)
        yield _stroke([(x, plot.top), (x, plot.bottom)], _SOFT, dashes)
        spots = [(x + s * 6, y, a) for y in (plot.top + 14, plot.bottom - 8) for s, a in ((1, "start"), (-1, "end"))]
        wanted.append((line.label, spots))
    for mark, (x, y) in zip(figure.marks, dots, strict=True):
        yield _dot(x, y, _INK)
        wanted.append((mark.label, _around(x, y)))
    for label, spots in wanted:
        if label:
            x, y, anchor = min(spots, key=lambda spot: _covered(label, spot, plot, taken, curves))
            taken.append(_label_box(label, x, y, anchor))
            yield _text(x, y, label, _INK, anchor, halo=True)


def _ends(left: float, right: float) -> tuple[tuple[float, str], tuple[float, str]]:
    return (right - 6, "end"), (left + 6, "start")


def _around(x: float, y: float) -> list[tuple[float, float, str]]:
    """Where a label may stand beside a mark, the best places first."""
    sides = ((11.0, "start"), (-11.0, "end"))
    beside = [(x + aside, y + down, anchor) for down in (-7.0, 17.0, 4.5) for aside, anchor in sides]
    above = [(x + aside, y - up, anchor) for up in (16.0, 26.0) for aside, anchor in ((0.0, "middle"), (8.0, "end"))]
    return [*beside, *above, (x, y + 24, "middle")]


def _covered(
    label: str, spot: tuple[float, float, str], plot: _Box, taken: Iterable[_Box], curves: Iterable[tuple[float, float]]
) -> tuple[int, int]:
    box = _label_box(label, *spot)
    outside = 0 if box.inside(plot) else 100
    return outside + 10 * sum(box.meets(other) for other in taken), sum(box.holds(x, y) for x, y in curves)


def _label_box(label: str, x: float, y: float, anchor: str) -> _Box:
    wide = _text_width(label, _SIZE)
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
    return _Box(left, y - 12, left + wide, y + 4)


def _along(piece: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Places on the curve, a few units apart."""
    yield from piece
    for (x, y), (to_x, to_y) in pairwise(piece):
        steps = int(math.hypot(to_x - x, to_y - y) // 4)
        yield from ((x + (to_x - x) * i / (steps + 1), y + (to_y - y) * i / (steps + 1)) for i in range(1, steps + 1))


def _line_words(figure: Figure) -> str:
    names = ", ".join(one.name for one in figure.series)
    marks = "".join(f"; {mark.label}" for mark in figure.marks if mark.label)
    return f"{figure.y_label} against {figure.x_label}: {names}{marks}"


def _document(parts: Iterable[str], height: float, title: str, desc: str) -> str:
    box = f'viewBox="0 0 {_WIDTH} {_number(height)}" width="{_WIDTH}" height="{_number(height)}"'
    body = "\n".join(part for part in parts if part)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" aria-label="{_escaped(title)}" class="rankproof"'
        f' font-family="system-ui, \'Segoe UI\', Helvetica, Arial, sans-serif" font-size="{_SIZE}">\n'
        f"<title>{_escaped(title)}</title>\n<desc>{_escaped(desc)}</desc>\n<style>{_style()}</style>\n"
        f'<rect width="{_WIDTH}" height="{_number(height)}" {_paint(fill=_PAPER)}/>\n{body}\n</svg>\n'
    )


def _style() -> str:
    every = (_PAPER, _INK, _SOFT, _GRID, *_COLOURS)
    rules = "".join(f".{kind}-{one.light[1:]}{{{kind}:{one.dark}}}" for one in every for kind in ("fill", "stroke"))
    return f".rankproof{{max-width:100%;height:auto}}@media screen and (prefers-color-scheme:dark){{{rules}}}"


def _paint(*, fill: _Colour | None = None, stroke: _Colour | None = None) -> str:
    chosen = [(kind, one.light) for kind, one in (("fill", fill), ("stroke", stroke)) if one is not None]
    classes = " ".join(f"{kind}-{light[1:]}" for kind, light in chosen)
    return f'class="{classes}" ' + " ".join(f'{kind}="{light}"' for kind, light in chosen)


def _text(
    x: float, y: float, words: str, colour: _Colour, anchor: str = "start",
    *, size: int = _SIZE, bold: bool = False, halo: bool = False, full: str = "",
) -> str:  # fmt: skip
    look = f' text-anchor="{anchor}"' if anchor != "start" else ""
    look += f' font-size="{size}"' if size != _SIZE else ""
    look += ' font-weight="600"' if bold else ""
    look += ' stroke-width="3" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    paint = _paint(fill=colour, stroke=_PAPER if halo else None)
    whole = f"<title>{_escaped(full)}</title>" if full else ""
    return f'<text x="{_number(x)}" y="{_number(y)}" {paint}{look}>{whole}{_escaped(words)}</text>'


def _stroke(places: Sequence[tuple[float, float]], colour: _Colour, look: str = 'stroke-width="1"') -> str:
    return f'<path d="{_path(places)}" {_paint(stroke=colour)} fill="none" {look}/>'


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in places)


def _dot(x: float, y: float, colour: _Colour, *, hollow: bool = False) -> str:
    paint = _paint(fill=_PAPER if hollow else colour, stroke=colour)
    return f'<circle cx="{_number(x)}" cy="{_number(y)}" r="4.5" {paint} stroke-width="2"/>'


def _number(value: float) -> str:
    """Two decimals at most, and no negative zero: the same bytes wherever the last bits differ."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _escaped(text: str) -> str:
    # Two code points that are no control characters are forbidden in XML all the same.
    return html.escape(printable(text).translate({0xFFFE: "�", 0xFFFF: "�"}))


def _text_width(text: str, size: int) -> float:
    """About how wide a text is; rather too wide than too narrow."""
    return size * sum(_character_width(c) for c in text)


def _character_width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.8 if character.isupper() or character in "@%mw" else 0.6


def _cut(text: str, width: float, size: int) -> str:
    shown = printable(text)
    if _text_width(shown, size) <= width:
        return shown
    while shown and _text_width(shown + "…", size) > width:
        shown = shown[:-1]
    return shown + "…"


def _wrapped(text: str, width: float, size: int) -> list[str]:
    lines: list[str] = []
    for word in printable(text).split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and _text_width(joined, size) <= width:
            lines[-1] = joined
        else:
            lines.append(_cut(word, width, size))
    return lines
