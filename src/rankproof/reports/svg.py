"""What every chart is made of: colours, words, strokes, grids and the document around them.

No script, no fonts or requests from outside; legible in light, in dark and on paper. Colours stand in attributes, and
the style sheet holds only those for the dark: a page that forbids inline styles still shows the chart. Nothing has an
id, so that a page may hold several charts.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rankproof.reports.figures import Axis
from rankproof.reports.text import printable

WIDTH = 720
PAD = 16
SIZE = 13
TITLE_SIZE = 16
ROW = 20
SWATCH = 28
"""How wide the sample of a look in a key is."""
_NARROWEST = 0.6
"""The least width that a character is taken to have, in parts of the size."""


class Colour(NamedTuple):
    """A colour on white and the one in its place in the dark."""

    light: str
    dark: str


PAPER = Colour("#ffffff", "#18181b")
INK = Colour("#1f1f23", "#f4f4f5")
SOFT = Colour("#55555c", "#b8b8c0")
GRID = Colour("#dedee3", "#3a3a40")
# Okabe and Ito's colours, which colour-blind people tell apart; of those, the ones that stand out from the paper.
COLOURS = (
    Colour("#0072b2", "#56b4e9"),
    Colour("#d55e00", "#e69f00"),
    Colour("#009e73", "#009e73"),
    Colour("#cc79a7", "#cc79a7"),
    Colour("#000000", "#f0e442"),
)


class Box(NamedTuple):
    """A rectangle in the picture, whose y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, x: float, y: float) -> bool:
        """Whether a place lies in it or on its edge."""
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def inside(self, other: Box) -> bool:
        """Whether it lies in the other as a whole."""
        return other.holds(self.left, self.top) and other.holds(self.right, self.bottom)

    def meets(self, other: Box) -> bool:
        """Whether the two have a place in common."""
        apart = self.right < other.left or other.right < self.left or self.bottom < other.top or other.bottom < self.top
        return not apart


def heading(title: str, *, width: float = WIDTH) -> tuple[list[str], float]:
    """The title in as many lines as it takes, and how far down it reaches."""
    y = float(PAD)
    parts = []
    for line in wrapped(title, width - 2 * PAD, TITLE_SIZE):
        y += ROW
        parts.append(text(PAD, y - 5, line, INK, size=TITLE_SIZE, bold=True))
    return parts, y + 8


def key(
    names: Sequence[str], sample: Callable[[int, float, float], str], top: float, *, width: float = WIDTH
) -> tuple[list[str], float]:
    """The names beside samples of their looks, and how far down they reach.

    `sample` draws the nth look from a place to the right, `SWATCH` wide, the place being the middle of its left edge.
    """
    parts = []
    x, y = float(PAD), top
    for nth, name in enumerate(names):
        shown = cut(name, width - 2 * PAD - SWATCH - 8, SIZE)
        wide = SWATCH + 8 + text_width(shown, SIZE) + 18
        if x > PAD and x + wide - 18 > width - PAD:
            x, y = float(PAD), y + ROW
        parts.append(sample(nth, x, y + 8))
        parts.append(text(x + SWATCH + 8, y + 12.5, shown, INK))
        x += wide
    return parts, y + (ROW + 8 if names else 0)


def y_grid(axis: Axis, plot: Box) -> Iterator[str]:
    """A line across the plot and a label to its left for each tick."""
    for tick in axis.ticks:
        y = plot.bottom - axis.place(tick) * (plot.bottom - plot.top)
        yield stroke([(plot.left, y), (plot.right, y)], GRID)
        yield text(plot.left - 8, y + 4.5, minus(axis.label(tick)), SOFT, "end")


def x_grid(axis: Axis, plot: Box) -> Iterator[str]:
    """A line down the plot for each tick, and labels below where they do not run into each other."""
    end = -math.inf
    for tick in axis.ticks:
        x = plot.left + axis.place(tick) * (plot.right - plot.left)
        label = minus(axis.label(tick))
        half = text_width(label, SIZE) / 2
        yield stroke([(x, plot.top), (x, plot.bottom)], GRID)
        if x - half > end:
            yield text(x, plot.bottom + 20, label, SOFT, "middle")
            end = x + half + 6
    yield stroke([(plot.left, plot.bottom), (plot.right, plot.bottom)], SOFT)


def document(parts: Iterable[str], height: float, title: str, desc: str, *, width: float = WIDTH) -> str:
    """The whole file: the parts on paper, with a title and a description for those who do not see them."""
    size = f'width="{number(width)}" height="{number(height)}"'
    box = f'viewBox="0 0 {number(width)} {number(height)}" {size}'
    body = "\n".join(part for part in parts if part)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" aria-label="{escaped(title)}" class="rankproof"'
        f' font-family="system-ui, \'Segoe UI\', Helvetica, Arial, sans-serif" font-size="{SIZE}">\n'
        f"<title>{escaped(title)}</title>\n<desc>{escaped(desc)}</desc>\n<style>{_style()}</style>\n"
        f"<rect {size} {paint(fill=PAPER)}/>\n{body}\n</svg>\n"
    )


def _style() -> str:
    every = (PAPER, INK, SOFT, GRID, *COLOURS)
    rules = "".join(f".{kind}-{one.light[1:]}{{{kind}:{one.dark}}}" for one in every for kind in ("fill", "stroke"))
    return f".rankproof{{max-width:100%;height:auto}}@media screen and (prefers-color-scheme:dark){{{rules}}}"


def paint(*, fill: Colour | None = None, stroke: Colour | None = None) -> str:
    """The attributes that colour a shape, in light and in the dark."""
    chosen = [(kind, one.light) for kind, one in (("fill", fill), ("stroke", stroke)) if one is not None]
    classes = " ".join(f"{kind}-{light[1:]}" for kind, light in chosen)
    return f'class="{classes}" ' + " ".join(f'{kind}="{light}"' for kind, light in chosen)


def text(
    x: float, y: float, words: str, colour: Colour, anchor: str = "start",
    *, size: int = SIZE, bold: bool = False, halo: bool = False, full: str = "",
) -> str:  # fmt: skip
    """Words at a place; `full` is shown when one points at words that were cut."""
    look = f' text-anchor="{anchor}"' if anchor != "start" else ""
    look += f' font-size="{size}"' if size != SIZE else ""
    look += ' font-weight="600"' if bold else ""
    look += ' stroke-width="3" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    colours = paint(fill=colour, stroke=PAPER if halo else None)
    whole = f"<title>{escaped(full)}</title>" if full else ""
    return f'<text x="{number(x)}" y="{number(y)}" {colours}{look}>{whole}{escaped(words)}</text>'


def stroke(places: Sequence[tuple[float, float]], colour: Colour, look: str = 'stroke-width="1"') -> str:
    """A line through the places."""
    return f'<path d="{path(places)}" {paint(stroke=colour)} fill="none" {look}/>'


def path(places: Sequence[tuple[float, float]]) -> str:
    """The places joined by straight lines, as a path's data."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)


def number(value: float) -> str:
    """Two decimals at most, and no negative zero: the same bytes wherever the last bits differ."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def minus(words: str) -> str:
    """A number in words with a true minus sign."""
    return words.replace("-", "−")


def escaped(words: str) -> str:
    """Words that XML takes as words, whatever they hold."""
    # Two code points that are no control characters are forbidden in XML all the same.
    return html.escape(printable(words).translate({0xFFFE: "�", 0xFFFF: "�"}))


def text_width(words: str, size: int) -> float:
    """About how wide a text is; rather too wide than too narrow."""
    return size * sum(_character_width(c) for c in words)


def _character_width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.8 if character.isupper() or character in "@%mw" else _NARROWEST


def cut(words: str, width: float, size: int) -> str:
    """As much of the words as there is room for, with an ellipsis if that is not all."""
    shown = printable(words)
    if text_width(shown, size) <= width:
        return shown
    # What can fit at the utmost comes first, so that a whole page for a name takes no longer than a line.
    shown = shown[: max(0, int(width / (_NARROWEST * size)) + 1)]
    while shown and text_width(shown + "…", size) > width:
        shown = shown[:-1]
    return shown + "…"


def wrapped(words: str, width: float, size: int) -> list[str]:
    """The words in lines that are no wider; a single word that is gets cut."""
    lines: list[str] = []
    for word in printable(words).split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(joined, size) <= width:
            lines[-1] = joined
        else:
            lines.append(cut(word, width, size))
    return lines
