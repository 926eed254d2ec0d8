"""Bars as SVG: values with their intervals, gains and losses by query, counts in columns, and shares of a whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from rankproof.errors import count
from rankproof.reports import svg
from rankproof.reports.figures import Axis, axis_of
from rankproof.reports.text import number, printable

_WIDTH = 540
"""Narrower than a chart of curves, so that a telephone, which shows it two thirds as wide, leaves its words legible."""
_MOST_OF_LABEL = 0.32
"""How much of the width the labels to the left of bars may take."""
_THICK = 14
_STEP = 17
_BETWEEN_GROUPS = 11
_PLOT_HEIGHT = 220
_WIDEST_COLUMN = 44
_SMALL = 11
_LEAST_HEIGHT = 0.5
"""How high the smallest gain and the smallest count are drawn, so that they can be seen."""
_GRAIN = 4
"""How many heights a unit is divided into: finer than eyes, and coarse enough that thousands of bars share steps."""
_OPACITIES = (1.0, 0.45, 0.12)
"""Colours come round again, paler inside their outline."""
_OUTCOMES = (svg.COLOURS[0], svg.GRID, svg.COLOURS[1])
"""Better, same, worse."""
_NOTHING = "There is nothing to show."


class Bar(NamedTuple):
    """A value of one name, with the ends of its interval if it has one."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


class BarGroup(NamedTuple):
    """The bars that stand together, such as those of one measure."""

    label: str
    bars: Sequence[Bar]


def interval_bars(groups: Sequence[BarGroup], *, title: str, x_label: str, desc: str = "") -> str:
    """Horizontal bars in groups, each with its interval and its value; a value that is not finite is a dash."""
    names = list(dict.fromkeys(bar.name for group in groups for bar in group.bars))
    head, top = _head(title, names if len(names) > 1 else [], _swatch)
    if not groups:
        return _without_plot(head, top, title, desc)
    every = [bar for group in groups for bar in group.bars]
    widest = max(svg.text_width(printable(group.label), svg.SIZE) for group in groups)
    left = svg.PAD + min(_WIDTH * _MOST_OF_LABEL, widest) + 12 + _room([bar for bar in every if bar.value < 0])
    right = _WIDTH - svg.PAD - max(8.0, _room([bar for bar in every if not bar.value < 0]))
    heights = [_STEP * max(1, len(group.bars)) + _BETWEEN_GROUPS for group in groups]
    plot = svg.Box(left, top, right, top + sum(heights))
    axis = _value_axis(every, most=int((right - left) // 60))
    rows: list[tuple[Bar, float]] = []
    parts = [*head, *svg.x_grid(axis, plot)]
    y = plot.top
    for group, height in zip(groups, heights, strict=True):
        parts += _group_label(group.label, y + height / 2, height)
        rows += [(bar, y + _BETWEEN_GROUPS / 2 + _STEP * (i + 0.5)) for i, bar in enumerate(group.bars)]
        y += height
    parts += _bars(rows, names, axis, plot)
    bottom = plot.bottom + 24
    x_words = svg.wrapped(x_label, _WIDTH - left - svg.PAD, svg.SIZE)
    parts += [svg.text(left, bottom + svg.ROW * (i + 0.7), words, svg.SOFT) for i, words in enumerate(x_words)]
    told = desc or "; ".join(_group_words(group) for group in groups)
    return svg.document(parts, bottom + svg.ROW * len(x_words) + svg.PAD, title, told, width=_WIDTH)


def waterfall_chart(differences: Sequence[float], *, title: str, y_label: str, desc: str = "") -> str:
    """A thin bar for each query, from the greatest gain to the greatest loss; what is not finite is only counted."""
    values = sorted((value for value in differences if math.isfinite(value)), reverse=True)
    gains = [value for value in values if value > 0]
    losses = [value for value in values if value < 0]
    same = len(values) - len(gains) - len(losses)
    words = [f"{len(gains):,} better", f"{same:,} same", f"{len(losses):,} worse"]
    missing = len(differences) - len(values)
    left_out = f"; {missing:,} not measured" if missing else ""
    head, top = _head(title, words, _outcome_swatch)
    told = desc or f"{y_label}: {', '.join(words)}{left_out}{_range_words(values)}"
    if not values:
        return _without_plot(head, top, title, told, f"{missing:,} not measured." if missing else _NOTHING)
    axis = axis_of([0.0, *values], most=6)
    labels, plot = _upright(axis, y_label, top)
    parts = [*head, *labels, *svg.y_grid(axis, plot), *_falling(gains, same, losses, axis, plot)]
    order = f"{count(len(values), 'query', 'queries')}, from the greatest gain to the greatest loss{left_out}"
    below, bottom = _below(order, plot.bottom + 8)
    return svg.document([*parts, *below], bottom, title, told, width=_WIDTH)


def histogram_chart(
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[int]]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    desc: str = "",
) -> str:
    """Columns of counts in groups, one for each label, with the counts above them where there is room."""
    names = [name for name, _ in series]
    head, top = _head(title, names if len(names) > 1 else [], _swatch)
    told = desc or "; ".join(
        f"{name}: " + ", ".join(f"{label} {n:,}" for label, n in zip(labels, counts, strict=True))
        for name, counts in series
    )
    if not labels or not series:
        return _without_plot(head, top, title, told)
    axis = _count_axis(max(n for _, counts in series for n in counts))
    y_words, plot = _upright(axis, y_label, top)
    slot = (plot.right - plot.left) / len(labels)
    parts = [*head, *y_words, *svg.y_grid(axis, plot), *_columns([counts for _, counts in series], axis, plot, slot)]
    ticks, n_lines = _column_labels(labels, plot, slot)
    below, bottom = _below(x_label, plot.bottom + 8 + 16 * n_lines)
    return svg.document([*parts, *ticks, *below], bottom, title, told, width=_WIDTH)


def share_bar(parts: Sequence[tuple[str, int]], *, title: str, desc: str = "") -> str:
    """One bar cut into shares of the whole, with a count and a percentage for each below."""
    total = sum(n for _, n in parts)
    told = desc or "; ".join(f"{name}: {n:,} ({_percent(n, total)})" for name, n in parts)
    drawn, top = _head(title, [], _swatch)
    if not parts:
        return _without_plot(drawn, top, title, told)
    bar = svg.Box(svg.PAD, top + svg.ROW, _WIDTH - svg.PAD, top + svg.ROW + 28)
    if total:
        drawn += _shares([n for _, n in parts], total, bar)
    else:
        drawn.append(svg.text(bar.left, top + 11, "Every count is 0, so there are no shares.", svg.SOFT))
        drawn.append(_filled(_block(*bar), svg.paint(fill=svg.GRID)))
    drawn += _legend([(name, f"{n:,}", _percent(n, total)) for name, n in parts], bar.bottom + 12)
    return svg.document(drawn, bar.bottom + 12 + svg.ROW * len(parts) + svg.PAD, title, told, width=_WIDTH)


def _head(title: str, names: Sequence[str], sample: Callable[[int, float, float], str]) -> tuple[list[str], float]:
    words, top = svg.heading(title, width=_WIDTH)
    samples, bottom = svg.key(names, sample, top, width=_WIDTH)
    return [*words, *samples], bottom


def _without_plot(head: Sequence[str], top: float, title: str, desc: str, words: str = _NOTHING) -> str:
    said = svg.text(svg.PAD, top + 14, words, svg.SOFT)
    return svg.document([*head, said], top + svg.ROW + svg.PAD, title, desc or words, width=_WIDTH)


def _upright(axis: Axis, y_label: str, top: float) -> tuple[list[str], svg.Box]:
    """The words above a plot with an upright axis, and the place of the plot."""
    lines = svg.wrapped(y_label, _WIDTH - 2 * svg.PAD, svg.SIZE)
    words = [svg.text(svg.PAD, top + svg.ROW * i + 9, line, svg.SOFT) for i, line in enumerate(lines)]
    top += svg.ROW * len(lines) + 8
    left = svg.PAD + max(svg.text_width(axis.label(tick), svg.SIZE) for tick in axis.ticks) + 8
    return words, svg.Box(left, top, _WIDTH - svg.PAD, top + _PLOT_HEIGHT)


def _below(words: str, top: float) -> tuple[list[str], float]:
    """The words below a plot, and how far down the chart reaches."""
    lines = svg.wrapped(words, _WIDTH - 2 * svg.PAD, svg.SIZE)
    right = _WIDTH - svg.PAD
    parts = [svg.text(right, top + svg.ROW * (i + 0.7), line, svg.SOFT, "end") for i, line in enumerate(lines)]
    return parts, top + svg.ROW * len(lines) + svg.PAD


def _block(left: float, top: float, right: float, bottom: float) -> str:
    x, y, to_x, to_y = map(svg.number, (left, top, right, bottom))
    return f"M{x} {y}H{to_x}V{to_y}H{x}Z"


def _filled(path: str, look: str) -> str:
    return f'<path d="{path}" {look}/>' if path else ""


def _fill(nth: int) -> str:
    """The look of the nth name."""
    colour = svg.COLOURS[nth % len(svg.COLOURS)]
    opacity = _OPACITIES[nth // len(svg.COLOURS) % len(_OPACITIES)]
    return (
        svg.paint(fill=colour) if opacity == 1 else f'{svg.paint(fill=colour, stroke=colour)} fill-opacity="{opacity}"'
    )


def _sample(x: float, y: float) -> str:
    return _block(x, y - 6, x + svg.SWATCH, y + 6)


def _swatch(nth: int, x: float, y: float) -> str:
    return _filled(_sample(x, y), _fill(nth))


def _group_label(label: str, y: float, height: float) -> Iterator[str]:
    lines, whole = _lines(label, _WIDTH * _MOST_OF_LABEL, int(height // 16))
    for i, line in enumerate(lines):
        yield svg.text(svg.PAD, y + 4.5 + 16 * (i - (len(lines) - 1) / 2), line, svg.INK, full=whole)


def _room(bars: Sequence[Bar]) -> float:
    """How much room the values beyond the ends of the bars take."""
    return max((svg.text_width(_value_words(bar.value), svg.SIZE) + 8 for bar in bars), default=0.0)


def _value_axis(bars: Sequence[Bar], *, most: int) -> Axis:
    ends = [end for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None and math.isfinite(end)]
    return axis_of([0.0, *ends] if any(ends) else [0.0, 1.0], most=most)


def _bars(rows: Sequence[tuple[Bar, float]], names: Sequence[str], axis: Axis, plot: svg.Box) -> Iterator[str]:
    def across(value: float) -> float:
        # An interval that is open at one end goes on to the edge.
        return plot.left + axis.place(min(axis.high, max(axis.low, value))) * (plot.right - plot.left)

    zero = across(0.0)
    blocks: dict[str, str] = dict.fromkeys(names, "")
    whiskers, words = "", []
    for bar, y in rows:
        ends = [bar.value] if math.isfinite(bar.value) else []
        if bar.value and ends:
            x = across(bar.value)
            blocks[bar.name] += _block(min(zero, x), y - _THICK / 2, max(zero, x), y + _THICK / 2)
        if ends and bar.low is not None and bar.high is not None and not math.isnan(bar.low + bar.high):
            ends += [bar.low, bar.high]
            whiskers += _whisker(across(bar.low), across(bar.high), y)
        side = -1 if bar.value < 0 else 1
        beyond = side * max((side * across(end) for end in ends), default=side * zero) + side * 6
        anchor = "end" if side < 0 else "start"
        words.append(svg.text(beyond, y + 4.5, _value_words(bar.value), svg.INK, anchor, halo=True))
    yield from (_filled(blocks[name], _fill(nth)) for nth, name in enumerate(names))
    yield svg.stroke([(zero, plot.top), (zero, plot.bottom)], svg.SOFT)
    if whiskers:
        # Lined with paper, so that it can be seen on a bar of any colour.
        yield f'<path d="{whiskers}" {svg.paint(stroke=svg.PAPER)} fill="none" stroke-width="4"/>'
        yield f'<path d="{whiskers}" {svg.paint(stroke=svg.INK)} fill="none" stroke-width="1.5"/>'
    yield from words


def _whisker(low: float, high: float, y: float) -> str:
    left, right, middle, top, bottom = map(svg.number, (low, high, y, y - 4, y + 4))
    return f"M{left} {top}V{bottom}M{left} {middle}H{right}M{right} {top}V{bottom}"


def _value_words(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if 1e3 <= size < 1e9:
        return svg.minus(f"{value:,.0f}")
    return svg.minus(number(value + 0.0) if value == 0 or 1e-4 <= size < 1e3 else f"{value:.3g}")


def _group_words(group: BarGroup) -> str:
    return f"{group.label}: " + (", ".join(f"{bar.name} {_interval_words(bar)}" for bar in group.bars) or "–")


def _interval_words(bar: Bar) -> str:
    words = _value_words(bar.value)
    if bar.low is None or bar.high is None:
        return words
    return f"{words} [{_value_words(bar.low)}, {_value_words(bar.high)}]"


def _range_words(values: Sequence[float]) -> str:
    return f"; from {_value_words(values[0])} to {_value_words(values[-1])}" if values else ""


def _outcome_swatch(nth: int, x: float, y: float) -> str:
    return _filled(_sample(x, y), svg.paint(fill=_OUTCOMES[nth]))


def _falling(gains: Sequence[float], same: int, losses: Sequence[float], axis: Axis, plot: svg.Box) -> Iterator[str]:
    """The bars of the gains, a grey line as long as there are queries without a difference, the bars of the losses."""
    step = min(_WIDEST_COLUMN, (plot.right - plot.left) / (len(gains) + same + len(losses)))
    zero = plot.bottom - axis.place(0.0) * _PLOT_HEIGHT
    unit = _PLOT_HEIGHT / (axis.high - axis.low)
    gain, unchanged, loss = (svg.paint(fill=colour) for colour in _OUTCOMES)
    first_same = plot.left + step * len(gains)
    first_loss = first_same + step * same
    if same:
        yield _filled(_block(first_same, zero - 3, first_loss, zero + 3), unchanged)
    yield _filled(_thin_bars([zero - _height(value * unit) for value in gains], plot.left, step, zero), gain)
    yield _filled(_thin_bars([zero + _height(-value * unit) for value in losses], first_loss, step, zero), loss)
    yield svg.stroke([(plot.left, zero), (plot.right, zero)], svg.INK, 'stroke-width="1.25"')


def _height(height: float) -> float:
    return max(_LEAST_HEIGHT, round(height * _GRAIN) / _GRAIN)


def _thin_bars(ends: Sequence[float], left: float, step: float, zero: float) -> str:
    """Bars from the zero line to their ends; too thin to stand apart, they become one shape with steps."""
    if not ends:
        return ""
    if step >= 4:
        gap = step / 10
        return "".join(
            _block(left + step * i + gap, min(zero, end), left + step * (i + 1) - gap, max(zero, end))
            for i, end in enumerate(ends)
        )
    outline = f"M{svg.number(left)} {svg.number(zero)}"
    done = 0
    for end, alike in groupby(ends):
        done += len(list(alike))
        outline += f"V{svg.number(end)}H{svg.number(left + step * done)}"
    return f"{outline}V{svg.number(zero)}Z"


def _columns(series: Sequence[Sequence[int]], axis: Axis, plot: svg.Box, slot: float) -> Iterator[str]:
    step = min(_WIDEST_COLUMN, 0.84 * slot / len(series))
    half = step / 2 * (0.9 if len(series) > 1 else 1)
    words = []
    for nth, counts in enumerate(series):
        blocks = ""
        for i, n in enumerate(counts):
            x = plot.left + slot * (i + 0.5) + step * (nth - (len(series) - 1) / 2)
            y = plot.bottom - (max(_LEAST_HEIGHT, axis.place(n) * _PLOT_HEIGHT) if n else 0)
            blocks += _block(x - half, y, x + half, plot.bottom) if n else ""
            if svg.text_width(f"{n:,}", _SMALL) <= step + 2:
                words.append(svg.text(x, y - 4, f"{n:,}", svg.INK, "middle", size=_SMALL, halo=True))
        yield _filled(blocks, _fill(nth))
    yield from words
    yield svg.stroke([(plot.left, plot.bottom), (plot.right, plot.bottom)], svg.SOFT)


def _count_axis(most: int) -> Axis:
    """An axis from 0 whose ticks are whole numbers, as counts are."""
    axis = axis_of([0.0, float(max(1, most))], most=6)
    return replace(axis, ticks=tuple(tick for tick in axis.ticks if tick == int(tick)), decimals=0)


def _column_labels(labels: Sequence[str], plot: svg.Box, slot: float) -> tuple[list[str], int]:
    """The labels below the columns, and how many lines they take; below thin columns only every so many have one."""
    room, most_lines, every = slot - 4, 3, 1
    if slot < 40:
        room, most_lines = 80.0, 1
        widest = max(svg.text_width(svg.cut(label, room, svg.SIZE), svg.SIZE) for label in labels)
        every = math.ceil((widest + 8) / slot)
    parts, most = [], 1
    for i, label in list(enumerate(labels))[::every]:
        lines, whole = _lines(label, room, most_lines)
        x = plot.left + slot * (i + 0.5)
        parts += [
            svg.text(x, plot.bottom + 17 + 16 * k, line, svg.SOFT, "middle", full=whole) for k, line in enumerate(lines)
        ]
        most = max(most, len(lines))
    return parts, most


def _lines(label: str, room: float, most: int) -> tuple[list[str], str]:
    """A label in at most so many lines, and the whole of it if some is missing."""
    words = printable(label).split()
    lines = svg.wrapped(label, room, svg.SIZE)
    if len(lines) > most:
        kept = lines[: most - 1]
        rest = words[sum(len(line.split()) for line in kept) :]
        lines = [*kept, svg.cut(" ".join(rest), room, svg.SIZE)]
    return lines, "" if " ".join(lines) == " ".join(words) else label


def _percent(part: int, total: int) -> str:
    if not total:
        return "–"
    if 0 < 2000 * part < total:
        return "<0.1%"
    if part < total and 2000 * part >= 1999 * total:
        return ">99.9%"
    return f"{part / total:.1%}"


def _shares(counts: Sequence[int], total: int, bar: svg.Box) -> Iterator[str]:
    """The shares one after another, a percentage above each that is wide enough, and a thin line between wide ones."""
    scale = (bar.right - bar.left) / total
    done, before = 0, 0.0
    lines = []
    for nth, n in enumerate(counts):
        if not n:
            continue
        x, wide = bar.left + done * scale, n * scale
        done += n
        yield _filled(_block(x, bar.top, x + wide, bar.bottom), _fill(nth))
        if min(before, wide) > 4:
            lines.append(svg.stroke([(x, bar.top), (x, bar.bottom)], svg.PAPER, 'stroke-width="2"'))
        before = wide
        words = _percent(n, total)
        if svg.text_width(words, svg.SIZE) <= wide:
            yield svg.text(x + wide / 2, bar.top - 6, words, svg.INK, "middle")
    yield from lines


def _legend(rows: Sequence[tuple[str, str, str]], top: float) -> Iterator[str]:
    """Names one below the other, each with its colour, its count and its percentage."""
    names, counts, percents = (
        max(svg.text_width(printable(words), svg.SIZE) for words in column) for column in zip(*rows, strict=True)
    )
    left = svg.PAD + svg.SWATCH + 8
    name_room = min(names, _WIDTH - svg.PAD - left - counts - percents - 32)
    count_at = left + name_room + 16 + counts
    for nth, (name, n, percent) in enumerate(rows):
        y = top + svg.ROW * nth
        shown = svg.cut(name, name_room, svg.SIZE)
        yield _swatch(nth, svg.PAD, y + 8)
        yield svg.text(left, y + 12.5, shown, svg.INK, full=name if shown != printable(name) else "")
        yield svg.text(count_at, y + 12.5, n, svg.INK, "end")
        yield svg.text(count_at + 16 + percents, y + 12.5, percent, svg.SOFT, "end")
