"""Figures: what a plot in the terminal and a chart in a file both draw, and the axes that they draw it on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rankproof.errors import UsageError

Point = tuple[float, float]

_MOST_DECIMALS = 6
_SLACK = 1e-9
"""How far from a round number a value may lie and count as it."""


@dataclass(frozen=True)
class Series:
    """A named curve, its points in the order in which they are joined; a NaN leaves a gap."""

    name: str
    points: Sequence[Point]
    band: Sequence[tuple[float, float]] = ()
    """The low and the high end around each point; charts draw it, terminals do not."""
    steps: bool = False
    """Whether a value holds until the next point, instead of changing evenly on the way to it."""

    def pieces(self) -> list[list[Point]]:
        """The runs of finite points, with the corners of the steps put in."""
        found: list[list[Point]] = [[]]
        for x, y in self.points:
            if not (math.isfinite(x) and math.isfinite(y)):
                found.append([])
                continue
            if self.steps and found[-1]:
                found[-1].append((x, found[-1][-1][1]))
            found[-1].append((x, y))
        return [piece for piece in found if piece]


class Mark(NamedTuple):
    """A point that is pointed out."""

    x: float
    y: float
    label: str = ""


class Line(NamedTuple):
    """A line across the figure at one value."""

    at: float
    label: str = ""


@dataclass(frozen=True)
class Figure:
    """Curves over one x, with what is to be pointed out in them."""

    series: Sequence[Series]
    x_label: str
    y_label: str
    title: str = ""
    desc: str = ""
    """What the figure shows, for those who do not see it."""
    x_log: bool = False
    x_whole: bool = False
    """Whether only whole numbers make sense on the x axis."""
    marks: Sequence[Mark] = ()
    x_lines: Sequence[Line] = ()
    y_lines: Sequence[Line] = ()

    def axes(self, *, most_x: int, most_y: int, bands: bool) -> tuple[Axis, Axis]:
        """The axes that hold everything in it, with the bands or without, each with at most so many ticks."""
        points = [*self._points(), *(self._band_ends() if bands else ())]
        xs = [*(x for x, _ in points), *(line.at for line in self.x_lines)]
        ys = [*(y for _, y in points), *(line.at for line in self.y_lines)]
        return axis_of(xs, log=self.x_log, most=most_x, whole=self.x_whole), axis_of(ys, most=most_y)

    def _points(self) -> Iterator[Point]:
        yield from (point for one in self.series for piece in one.pieces() for point in piece)
        yield from ((mark.x, mark.y) for mark in self.marks)

    def _band_ends(self) -> Iterator[Point]:
        for one in self.series:
            yield from ((x, end) for (x, _), ends in zip(one.points, one.band, strict=False) for end in ends)


@dataclass(frozen=True)
class Axis:
    """A range of values with ticks at round numbers."""

    low: float
    high: float
    ticks: tuple[float, ...]
    decimals: int = 0
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value lies: 0 at the low end, 1 at the high end."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def label(self, tick: float) -> str:
        """A tick in words, as short as it can be."""
        if tick == 0 and self.decimals > _MOST_DECIMALS:
            return "0"
        if tick != 0 and (self.decimals > _MOST_DECIMALS or not 1e-6 <= abs(tick) < 1e9):
            mantissa, exponent = f"{tick:.1e}".split("e")
            return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
        return f"{tick:,.{self.decimals}f}" if not self.log or tick >= 1 else f"{tick:g}"


def axis_of(
    values: Iterable[float], *, log: bool = False, most: int = 6, snug: bool = False, whole: bool = False
) -> Axis:  # fmt: skip
    """An axis that holds the values and has at most so many ticks (three are always allowed).

    It goes on to the next tick at both ends; one that is logarithmic or `snug` ends with the values. One of `whole`
    numbers has no ticks between them.
    """
    finite = [value for value in values if math.isfinite(value)] or [1.0]
    low, high = min(finite), max(finite)
    if log and low <= 0:
        raise UsageError(f"A logarithmic axis takes numbers above 0; {low:g} is not.")
    # A single value gets some room on both sides; so does what differs by less than floats can tell apart.
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = (low / 2, high * 2) if log else (low - abs(low) / 2, high + abs(high) / 2)
    if low == high:
        low, high = -1.0, 1.0
    most = max(3, most)
    if log:
        return _log_axis(low, high, most)
    return _snug_axis(low, high, most) if snug else _even_axis(low, high, most, least=1.0 if whole else 0.0)


def _even_axis(low: float, high: float, most: int, *, least: float = 0.0) -> Axis:
    steps = _round_steps(max((high - low) / most, least))
    step, decimals = next(found for found in steps if _reach(low, high, found[0]) < most)
    first = math.floor(low / step + _SLACK)
    # Adding zero turns a negative zero into a plain one.
    ticks = tuple(round((first + i) * step, decimals) + 0.0 for i in range(_reach(low, high, step) + 1))
    return Axis(ticks[0], ticks[-1], ticks, decimals)


def _reach(low: float, high: float, step: float) -> int:
    """How many steps it takes from the tick at or below the one to the tick at or above the other."""
    return math.ceil(high / step - _SLACK) - math.floor(low / step + _SLACK)


def _round_steps(least: float) -> Iterator[tuple[float, int]]:
    """Ever greater steps between ticks, each with the decimals that its multiples have."""
    exponent = math.floor(math.log10(least))
    while True:
        yield from ((factor * 10.0**exponent, max(0, -exponent)) for factor in (1, 2, 5))
        exponent += 1


def _snug_axis(low: float, high: float, most: int) -> Axis:
    # The outer ticks of the even axis fall away.
    even = _even_axis(low, high, most + 2)
    return Axis(low, high, tuple(tick for tick in even.ticks if low <= tick <= high), even.decimals)


def _log_axis(low: float, high: float, most: int) -> Axis:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [factor * 10.0**decade for decade in decades for factor in factors]
        ticks = [tick for tick in found if low * (1 - _SLACK) <= tick <= high * (1 + _SLACK)]
        if len(ticks) <= most:
            break
    if len(ticks) < 2:
        return replace(_snug_axis(low, high, most), log=True)
    return Axis(low, high, tuple(ticks[:: math.ceil(len(ticks) / most)]), log=True)
