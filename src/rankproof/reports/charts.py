"""Figures as SVG files: curves, and differences with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rankproof.reports import svg
from rankproof.reports.figures import Axis, Figure, Line, Series, axis_of
from rankproof.reports.text import printable

_PLOT_HEIGHT = 280
_MOST_OF_LABEL = 0.36
"""How much of the width the names in a forest chart may take."""


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


def line_chart(figure: Figure) -> str:
    """The curves of a figure with their bands, marks and reference lines."""
    head, top = _head(figure.title, [one.name for one in figure.series] if len(figure.series) > 1 else [])
    y_words = svg.wrapped(figure.y_label, svg.WIDTH - 2 * svg.PAD, svg.SIZE)
    top += svg.ROW * len(y_words)
    x_axis, y_axis = figure.axes(most_x=8, most_y=7, bands=True)
    left = svg.PAD + max(svg.text_width(y_axis.label(tick), svg.SIZE) for tick in y_axis.ticks) + 8
    last_label = svg.text_width(x_axis.label(x_axis.ticks[-1]), svg.SIZE)
    plot = svg.Box(left, top + 4, svg.WIDTH - max(svg.PAD + 8, last_label / 2 + 4), top + 4 + _PLOT_HEIGHT)
    bottom = plot.bottom + 24
    x_words = svg.wrapped(figure.x_label, plot.right - plot.left, svg.SIZE)
    parts = [
        *head,
        *(svg.text(svg.PAD, top - svg.ROW * (len(y_words) - i) + 9, line, svg.SOFT) for i, line in enumerate(y_words)),
        *svg.y_grid(y_axis, plot),
        *svg.x_grid(x_axis, plot),
        *(svg.text(plot.right, bottom + svg.ROW * (i + 0.7), line, svg.SOFT, "end") for i, line in enumerate(x_words)),
    ]
    at = _Places(x_axis, y_axis, plot)
    parts += [part for nth, one in enumerate(figure.series) for part in _band(one, at, nth)]
    parts += [part for nth, one in enumerate(figure.series) for part in _curve(one, at, nth)]
    parts += _pointed_out(figure, at)
    desc = figure.desc or _line_words(figure)
    return svg.document(parts, bottom + svg.ROW * len(x_words) + svg.PAD, figure.title, desc)


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
    widest = max((svg.text_width(row.label, svg.SIZE) for row in rows), default=0.0)
    left = svg.PAD + min(svg.WIDTH * _MOST_OF_LABEL, widest) + 16
    right = svg.WIDTH - svg.PAD - max((svg.text_width(words, svg.SIZE) for words in values), default=0.0) - 16
    top += svg.ROW if line.label else 0
    step = 26
    plot = svg.Box(left, top, right, top + step * max(1, len(rows)))
    ends = [line.at, *(end for row in rows for end in (row.value, row.low, row.high) if end is not None)]
    axis = axis_of(_with_room(ends), most=int((right - left) // 60), snug=True)
    x_words = svg.wrapped(x_label, svg.WIDTH - left - svg.PAD, svg.SIZE)
    parts = [*head, *svg.x_grid(axis, plot)]
    zero = plot.left + axis.place(line.at) * (plot.right - plot.left)
    parts.append(svg.stroke([(zero, plot.top), (zero, plot.bottom)], svg.INK, 'stroke-width="1.5"'))
    if line.label:
        parts.append(svg.text(zero, plot.top - 8, line.label, svg.SOFT, "middle"))
    for i, (row, words) in enumerate(zip(rows, values, strict=True)):
        y = plot.top + step * (i + 0.5)
        parts += _forest_row(row, words, axis, plot, y)
    bottom = plot.bottom + 24
    parts += [svg.text(plot.left, bottom + svg.ROW * (i + 0.7), words, svg.SOFT) for i, words in enumerate(x_words)]
    told = desc or "; ".join(f"{row.label}: {words}" for row, words in zip(rows, values, strict=True))
    return svg.document(parts, bottom + svg.ROW * len(x_words) + svg.PAD, title, told)


def _with_room(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the values and a little more, so that nothing touches the words beside the plot."""
    finite = [value for value in values if math.isfinite(value)]
    room = 0.04 * (max(finite) - min(finite))
    return min(finite) - room, max(finite) + room


def _forest_row(row: ForestRow, words: str, axis: Axis, plot: svg.Box, y: float) -> Iterator[str]:
    def across(value: float) -> float:
        # An interval that is open at one end goes on to the edge.
        return plot.left + axis.place(min(axis.high, max(axis.low, value))) * (plot.right - plot.left)

    colour = svg.COLOURS[0]
    name = svg.cut(row.label, plot.left - svg.PAD - 16, svg.SIZE)
    yield svg.text(svg.PAD, y + 4.5, name, svg.INK, full=row.label if name != printable(row.label) else "")
    yield svg.text(svg.WIDTH - svg.PAD, y + 4.5, words, svg.INK, "end")
    if row.low is not None and row.high is not None:
        low, high = across(row.low), across(row.high)
        yield svg.stroke([(low, y), (high, y)], colour, 'stroke-width="2"')
        yield from (svg.stroke([(x, y - 4), (x, y + 4)], colour, 'stroke-width="2"') for x in (low, high))
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
    return svg.minus(words).replace("inf", "∞")


class _Places(NamedTuple):
    """From values to places in the picture."""

    x_axis: Axis
    y_axis: Axis
    plot: svg.Box

    def x(self, value: float) -> float:
        return self.plot.left + self.x_axis.place(value) * (self.plot.right - self.plot.left)

    def y(self, value: float) -> float:
        return self.plot.bottom - self.y_axis.place(value) * (self.plot.bottom - self.plot.top)

    def curve(self, one: Series) -> list[list[tuple[float, float]]]:
        return [[(self.x(x), self.y(y)) for x, y in piece] for piece in one.pieces()]


def _head(title: str, names: Sequence[str]) -> tuple[list[str], float]:
    """The title and the key to the curves, and how far down they reach."""
    words, top = svg.heading(title)
    samples, bottom = svg.key(names, _sample, top)
    return [*words, *samples], bottom


def _sample(nth: int, x: float, y: float) -> str:
    return svg.stroke([(x, y), (x + svg.SWATCH, y)], *_look(nth))


def _band(one: Series, at: _Places, nth: int) -> Iterator[str]:
    every = ((x, low, high) for (x, _), (low, high) in zip(one.points, one.band, strict=False))
    ends = [row for row in every if all(map(math.isfinite, row))]
    upper = [(at.x(x), at.y(high)) for x, _, high in ends]
    lower = [(at.x(x), at.y(low)) for x, low, _ in ends]
    if len(ends) > 1:
        paint = svg.paint(fill=svg.COLOURS[nth % len(svg.COLOURS)])
        yield f'<path d="{svg.path([*upper, *reversed(lower)])}Z" {paint} fill-opacity="0.15"/>'


def _curve(one: Series, at: _Places, nth: int) -> Iterator[str]:
    colour, look = _look(nth)
    for piece in at.curve(one):
        if len(piece) == 1:
            yield _dot(*piece[0], colour)
        else:
            yield svg.stroke(piece, colour, look)


def _look(nth: int) -> tuple[svg.Colour, str]:
    """The colour of the nth curve, and its width and dashes."""
    dash = _DASHES[nth % len(_DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return svg.COLOURS[nth % len(svg.COLOURS)], f'stroke-width="2.25" stroke-linejoin="round"{dashes}'


def _pointed_out(figure: Figure, at: _Places) -> Iterator[str]:
    """Reference lines and marks, each with its label where it covers the least."""
    plot = at.plot
    curves = [place for one in figure.series for piece in at.curve(one) for place in _along(piece)]
    dots = [(at.x(mark.x), at.y(mark.y)) for mark in figure.marks]
    taken = [svg.Box(x - 6, y - 6, x + 6, y + 6) for x, y in dots]
    wanted: list[tuple[str, list[tuple[float, float, str]]]] = []
    dashes = 'stroke-width="1.25" stroke-dasharray="4 4"'
    for line in figure.y_lines:
        y = at.y(line.at)
        yield svg.stroke([(plot.left, y), (plot.right, y)], svg.SOFT, dashes)
        spots = [(x, y + down, anchor) for x, anchor in _ends(plot.left, plot.right) for down in (-6.0, 15.0)]
        wanted.append((line.label, spots))
    for line in figure.x_lines:
        x = at.x(line.at)
        yield svg.stroke([(x, plot.top), (x, plot.bottom)], svg.SOFT, dashes)
        spots = [(x + s * 6, y, a) for y in (plot.top + 14, plot.bottom - 8) for s, a in ((1, "start"), (-1, "end"))]
        wanted.append((line.label, spots))
    for mark, (x, y) in zip(figure.marks, dots, strict=True):
        yield _dot(x, y, svg.INK)
        wanted.append((mark.label, _around(x, y)))
    for label, spots in wanted:
        if label:
            x, y, anchor = min(spots, key=lambda spot: _covered(label, spot, plot, taken, curves))
            taken.append(_label_box(label, x, y, anchor))
            yield svg.text(x, y, label, svg.INK, anchor, halo=True)


def _ends(left: float, right: float) -> tuple[tuple[float, str], tuple[float, str]]:
    return (right - 6, "end"), (left + 6, "start")


def _around(x: float, y: float) -> list[tuple[float, float, str]]:
    """Where a label may stand beside a mark, the best places first."""
    sides = ((11.0, "start"), (-11.0, "end"))
    beside = [(x + aside, y + down, anchor) for down in (-7.0, 17.0, 4.5) for aside, anchor in sides]
    above = [(x + aside, y - up, anchor) for up in (16.0, 26.0) for aside, anchor in ((0.0, "middle"), (8.0, "end"))]
    return [*beside, *above, (x, y + 24, "middle")]


def _covered(
    label: str,
    spot: tuple[float, float, str],
    plot: svg.Box,
    taken: Iterable[svg.Box],
    curves: Iterable[tuple[float, float]],
) -> tuple[int, int]:
    box = _label_box(label, *spot)
    outside = 0 if box.inside(plot) else 100
    return outside + 10 * sum(box.meets(other) for other in taken), sum(box.holds(x, y) for x, y in curves)


def _label_box(label: str, x: float, y: float, anchor: str) -> svg.Box:
    wide = svg.text_width(label, svg.SIZE)
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
    return svg.Box(left, y - 12, left + wide, y + 4)


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


def _dot(x: float, y: float, colour: svg.Colour, *, hollow: bool = False) -> str:
    paint = svg.paint(fill=svg.PAPER if hollow else colour, stroke=colour)
    return f'<circle cx="{svg.number(x)}" cy="{svg.number(y)}" r="4.5" {paint} stroke-width="2"/>'
