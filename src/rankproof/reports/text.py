"""Findings as plain text for eyes."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from rankproof.measures.registry import Measure
from rankproof.reports.sheets import Marked, Sheet, plain
from rankproof.scoring.explain import Change, Difference, Explanation
from rankproof.scoring.rules import Preset
from rankproof.scoring.score_file import NOT_RECORDED
from rankproof.scoring.scores import Coverage, Scores
from rankproof.stats.intervals import Interval

_SHOWN_QUERIES = 10
_NARROWEST = 24
"""A column of words is no narrower than this, whatever room there is."""


def printable(text: str) -> str:
    """The text without characters that would act on a terminal or turn its direction."""
    return "".join(c if unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} else "�" for c in text)


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, n_text: int = 1, width: int | None = None
) -> str:  # fmt: skip
    """A table in columns: the first ones, of text, to the left, the others to the right.

    In a given width the words of the last column go on in the next line.
    """
    cells = [[printable(cell) for cell in row] for row in (header, *rows)]
    if width is not None:
        before = sum(max(_width(row[i]) for row in cells) + 2 for i in range(len(header) - 1))
        cells = [line for row in cells for line in _folded(row, max(_NARROWEST, width - before))]
    widths = [max(_width(row[i]) for row in cells) for i in range(len(header))]
    lines = []
    for row in cells:
        padded = [_pad(cell, width, left=i < n_text) for i, (cell, width) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(padded).rstrip())
    rule = "  ".join("─" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _folded(row: list[str], width: int) -> Iterator[list[str]]:
    first, *more = textwrap.wrap(row[-1], width, break_long_words=False, break_on_hyphens=False) or [""]
    yield [*row[:-1], first]
    yield from ([*[""] * (len(row) - 1), line] for line in more)


def sheet_text(sheet: Sheet) -> str:
    """A table with its title above and its notes below."""
    raised = [max((len(_above(row[i])) for row in sheet.rows), default=0) for i in range(len(sheet.header))]
    # Figures stand below each other, whatever is raised behind them.
    cells = [[plain(c) + _above(c).ljust(room) for c, room in zip(row, raised, strict=True)] for row in sheet.rows]
    parts = [sheet.title, table(sheet.header, cells, n_text=sheet.n_text), *sheet.notes]
    return "\n".join(part for part in parts if part)


_SUPERSCRIPTS = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹")


def _above(cell: str | Marked) -> str:
    return cell.above.translate(_SUPERSCRIPTS) if isinstance(cell, Marked) else ""


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _pad(text: str, width: int, *, left: bool) -> str:
    blank = " " * (width - _width(text))
    return text + blank if left else blank + text


def number(value: float | None) -> str:
    """Four decimals; whole numbers beyond 1 without."""
    if value is None:
        return "refused"
    return f"{value:,.0f}" if value == int(value) and abs(value) > 1 else f"{value:.4f}"


Intervals = Mapping[Measure, Interval]


def scores_text(
    scores: Sequence[Scores], *, per_query: bool = False, groups: Mapping[str, str] | None = None,
    intervals: Sequence[Intervals] | None = None,
) -> str:  # fmt: skip
    """Runs side by side, then per group and per query where asked for, then what the figures rest on."""
    parts = [_side_by_side(scores, intervals)]
    if groups is not None:
        parts.append(_by_group(scores, groups))
    if per_query:
        parts.append(_by_query(scores))
    parts.append(foundation([(s.name, s.coverage) for s in scores], scores[0].preset, scores[0].measures))
    return "\n\n".join(parts) + "\n"


def _side_by_side(scores: Sequence[Scores], intervals: Sequence[Intervals] | None) -> str:
    means = [s.mean() for s in scores]
    rows = []
    for measure in scores[0].measures:
        cells = [number(mean[str(measure)]) for mean in means]
        if intervals is not None:
            cells = [with_interval(cell, one[measure]) for cell, one in zip(cells, intervals, strict=True)]
        rows.append([str(measure), *cells])
    return table(["measure", *(s.name for s in scores)], rows)


def with_interval(figure: str, interval: Interval) -> str:
    """A figure with both ends of its interval, if there is one."""
    ends = interval.as_list()
    return figure if ends is None else f"{figure} [{ends[0]:.3f}, {ends[1]:.3f}]"


def _by_group(scores: Sequence[Scores], groups: Mapping[str, str]) -> str:
    sizes = scores[0].group_sizes(groups)
    grouped = [s.by_group(groups) for s in scores]
    header = ["group", "queries", "measure", *(s.name for s in scores)]
    rows = []
    for name in sorted(sizes, key=list(grouped[0]).index):
        for i, measure in enumerate(grouped[0][name]):
            values = [number(one.get(name, {}).get(measure)) for one in grouped]
            rows.append([name if i == 0 else "", f"{sizes[name]:,}" if i == 0 else "", measure, *values])
    return table(header, rows)


def _by_query(scores: Sequence[Scores]) -> str:
    measures = [str(m) for m in scores[0].measures]
    header = ["query", *(f"{s.name} {m}" if len(scores) > 1 else m for m in measures for s in scores)]
    by_query = [s.by_query() for s in scores]
    queries = list(dict.fromkeys(query for one in by_query for query in one))
    rows = []
    for query in queries:
        cells = [one.get(query, {}).get(m) for m in measures for one in by_query]
        rows.append([query, *("–" if cell is None else number(cell) for cell in cells)])
    return table(header, rows)


def foundation(coverages: Sequence[tuple[str, Coverage]], preset: Preset, measures: Sequence[Measure]) -> str:
    """What the figures of each run rest on, and the rules."""
    lines = []
    texts = {str(coverage) for _, coverage in coverages}
    if len(texts) == 1:
        lines.append(texts.pop())
    else:
        lines += [f"{printable(name)}: {coverage}" for name, coverage in coverages]
    if preset == NOT_RECORDED:
        lines.append("rules: not recorded in the files")
    else:
        lines.append(f"rules: {preset.name} ({preset.rules})")
    for name, parameters in sorted(preset.defaults.items()):
        if any(m.family == name for m in measures):
            lines.append(f"       {name} with {', '.join(f'{k}={_word(v)}' for k, v in parameters.items())}")
    fractional = next((coverage.n_fractional for _, coverage in coverages if coverage.n_fractional), 0)
    if fractional:
        lines.append(
            f"note: {fractional:,} judgments have a grade between 0 and 1; "
            "they count as relevant only with a threshold such as P(rel=0.5)@10"
        )
    return "\n".join(lines)


def _word(value: object) -> str:
    return "any grade above 0" if isinstance(value, float) and 0 < value < 1e-300 else str(value)


def explanation_text(found: Explanation) -> str:
    """Which rule makes two presets differ, and on which queries."""
    parts = [_difference(found, difference) for difference in found.differences]
    parts += [f"refused under {text}" for text in found.refusals]
    return "\n\n".join(parts) + "\n"


def _difference(found: Explanation, difference: Difference) -> str:
    one, two = found.first.name, found.second.name
    head = f"{difference.measure}: {number(difference.first)} under {one}, {number(difference.second)} under {two}"
    acting = [c for c in difference.changes if c.queries or c.refusal]
    idle = [c.rule for c in difference.changes if c not in acting]
    if not difference.changes:
        return f"{head}. The presets do not differ in any rule that this measure uses."
    lines = [head]
    lines += [line for change in acting for line in _change_lines(change, two)]
    together = difference.together
    if together is not None and abs(together) > 5e-5:
        lines.append(f"  the rules in combination: {together:+.4f} beyond what each does alone")
    if idle:
        lines.append(f"  no effect on this input: {', '.join(idle)}")
    return "\n".join(lines)


def _change_lines(change: Change, second: str) -> list[str]:
    said = f"  {change.rule}: {_word(change.first)} → {_word(change.second)} (as {second})"
    if change.refusal:
        return [said, f"      refuses the input: {printable(change.refusal)}"]
    effect = "the value of the first is refused" if change.effect is None else f"{change.effect:+.4f}"
    lines = [f"{said}: {effect}, {len(change.queries):,} {'query' if len(change.queries) == 1 else 'queries'}"]
    shown = ", ".join(map(printable, change.queries[:_SHOWN_QUERIES]))
    more = len(change.queries) - _SHOWN_QUERIES
    lines.append(f"      {shown}{f' and {more:,} more' if more > 0 else ''}")
    return lines
