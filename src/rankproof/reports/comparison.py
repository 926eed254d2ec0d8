"""What `compare` found, in every form."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rankproof.comparison import Comparison, Findings, QueryDifference
from rankproof.errors import count
from rankproof.measures.registry import Measure
from rankproof.reports.csv import harmless
from rankproof.reports.json import SCHEMA_VERSION, dump, rules_data
from rankproof.reports.latex import sheet_latex
from rankproof.reports.markdown import escaped, sheet_markdown
from rankproof.reports.sheets import Marked, Sheet
from rankproof.reports.text import foundation, number, printable, sheet_text, table
from rankproof.stats.intervals import Interval
from rankproof.stats.resampling import EXACT_UP_TO

TESTS = {
    "randomization": "paired randomisation test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "welch": "Welch's unpaired t test",
}
CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini–Hochberg"}
INTERVALS = {"t": "t", "percentile": "bootstrap percentile", "bca": "bootstrap BCa"}

_DRAWN = 12
"""Characters on either side of zero."""
_LETTERS = "abcdefghijklmnoprstuvwxyz"
"""Without q, which has no raised form in most fonts."""


def comparison_text(found: Findings) -> str:
    """For eyes: the systems, the differences, what they mean in words, the queries that make them."""
    systems, *differences = _sheets(found)
    families = [found.comparisons, found.by_group]
    parts = [sheet_text(systems)]
    parts += [sheet_text(_drawn(sheet, family)) for sheet, family in zip(differences, families, strict=False)]
    parts.insert(2, "\n".join(verdict_sentences(found)))
    parts += [_extremes_text(one) for one in found.of(found.measures[0]) if one.best or one.worst]
    notes = [f"note: {note}" for note in found.notes]
    coverages = [(system.name, system.coverage) for system in found.systems]
    parts.append("\n".join([how(found), foundation(coverages, found.preset, found.measures), *notes]))
    return "\n\n".join(parts) + "\n"


def differences_text(found: Findings) -> str:
    """The table of differences alone, and how its figures were made."""
    sheet = _sheets(found)[1]
    return f"{sheet_text(_drawn(sheet, found.comparisons))}\n{how(found)}"


def comparison_markdown(found: Findings) -> str:
    """For a comment on a change, or a page."""
    parts = [sheet_markdown(sheet) for sheet in _sheets(found)]
    parts.insert(2, "\n".join(f"- {escaped(sentence)}" for sentence in verdict_sentences(found)))
    parts.append(escaped(how(found)))
    return "\n\n".join(parts) + "\n"


def comparison_latex(found: Findings) -> str:
    """For a paper."""
    remarks = ["% needs \\usepackage{booktabs}", f"% {how(found)}"]
    return "\n\n".join(["\n".join(remarks), *map(sheet_latex, _sheets(found))]) + "\n"


def comparison_svg(found: Findings) -> str:
    """The differences with their intervals, one below the other."""
    from rankproof.reports.charts import ForestRow, forest_chart

    one_pair = len({(one.baseline, one.candidate) for one in found.comparisons}) == 1
    rows = [
        ForestRow(
            str(one.measure) if one_pair else f"{one.candidate} − {one.baseline}, {one.measure}",
            one.difference, one.interval.low, one.interval.high, clear=one.verdict != "not shown",
        )
        for one in found.comparisons
    ]  # fmt: skip
    first = found.comparisons[0]
    title = f"{first.candidate} − {first.baseline}" if one_pair else "Differences, candidate − baseline"
    level = f"difference with its {found.method.level * 100:g} % interval"
    shown = f"filled: p < {found.method.alpha:g}{_after_correction(found)}"
    queries = count(found.n_queries, "query", "queries")
    return forest_chart(rows, title=title, x_label=f"{level}, {queries}; {shown}")


def comparison_csv(found: Findings) -> str:
    """One row per comparison, in full precision; the group is empty for all queries."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header = [
        "group", "baseline", "candidate", "measure", "n", "mean_baseline", "mean_candidate", "difference",
        "interval_low", "interval_high", "p_value", "p_adjusted", "effect_size", "wins", "ties", "losses", "verdict",
    ]  # fmt: skip
    if found.method.margin is not None:
        header += ["margin", "non_inferiority_p", "equivalence_p"]
    writer.writerow(header)
    for one in (*found.comparisons, *found.by_group):
        row = {**comparison_data(one), "interval_low": one.interval.low, "interval_high": one.interval.high}
        writer.writerow([_csv_cell(row[name]) for name in header])
    return out.getvalue()


def _csv_cell(value: object) -> str:
    if value is None:
        return ""
    return harmless(value) if isinstance(value, str) else repr(value)


def comparison_json(found: Findings) -> str:
    """For programs."""
    method = {**asdict(found.method), "exact_up_to": EXACT_UP_TO if found.method.test == "randomization" else None}
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "measures": [str(measure) for measure in found.measures],
        "method": method,
        "n_tests": len(found.comparisons),
        "systems": [
            {
                "name": system.name,
                "mean": {str(measure): value for measure, value in system.means.items()},
                "interval": {str(measure): one.as_list() for measure, one in system.intervals.items()},
                "coverage": system.coverage.as_dict(),
            }
            for system in found.systems
        ],
        "comparisons": [comparison_data(one, queries=True) for one in found.comparisons],
        "notes": list(found.notes),
        **rules_data(found.preset),
    }
    if found.by_group:
        data["by_group"] = [comparison_data(one, queries=True) for one in found.by_group]
    return dump(data)


def comparison_data(one: Comparison, *, queries: bool = False) -> dict[str, Any]:
    """One comparison as plain data."""
    data: dict[str, Any] = {
        "baseline": one.baseline,
        "candidate": one.candidate,
        "measure": str(one.measure),
        "group": one.group,
        "n": one.effect.n,
        "mean_baseline": one.mean_baseline,
        "mean_candidate": one.mean_candidate,
        "difference": one.difference,
        "interval": one.interval.as_list(),
        "interval_reason": one.interval.reason or None,
        "p_value": one.p_value,
        "p_adjusted": one.p_adjusted,
        "exact": one.exact,
        "effect_size": one.effect.d_z,
        "sd": one.effect.sd,
        "wins": one.effect.wins,
        "ties": one.effect.ties,
        "losses": one.effect.losses,
        "verdict": one.verdict,
        "smallest_visible": one.smallest_visible,
    }
    if one.margin is not None:
        data["margin"] = one.margin.margin
        data["non_inferiority_p"] = one.margin.non_inferiority_p
        data["equivalence_p"] = one.margin.equivalence_p
    if queries:
        data["best"] = [query._asdict() for query in one.best]
        data["worst"] = [query._asdict() for query in one.worst]
    return data


def _sheets(found: Findings) -> list[Sheet]:
    sheets = [_systems_sheet(found), _differences_sheet("Differences, candidate − baseline", found.comparisons, found)]
    if found.by_group:
        family = count(len(found.by_group), "test", "tests")
        sheets.append(_differences_sheet(f"By group (a family of its own: {family})", found.by_group, found))
    return sheets


def _labels(n: int) -> list[str]:
    return list(_LETTERS[:n]) if n <= len(_LETTERS) else [str(i) for i in range(1, n + 1)]


def _systems_sheet(found: Findings) -> Sheet:
    names = [system.name for system in found.systems]
    labels = dict(zip(names, _labels(len(names)), strict=True))
    between = "" if len(names) <= len(_LETTERS) else " "
    rows: list[list[str | Marked]] = []
    for system in found.systems:
        cells: list[str | Marked] = [f"{labels[system.name]}  {system.name}"]
        for measure in found.measures:
            beaten = [labels[name] for name in _beaten(found, system.name, measure)]
            cells.append(Marked(number(system.means[measure]), between.join(beaten)))
        rows.append(cells)
    any_mark = any(isinstance(cell, Marked) and cell.above for row in rows for cell in row)
    level = f"p < {found.method.alpha:g}{_after_correction(found)}"
    note = f"A raised letter names a system that this one is better than, {level}." if any_mark else ""
    title = f"Mean over {count(found.n_queries, 'query', 'queries')}"
    return Sheet(title, ["system", *map(str, found.measures)], rows, [note] if note else [])


def _beaten(found: Findings, name: str, measure: Measure) -> list[str]:
    """The systems that this one is significantly better than, in the order of the table."""
    better = {one.baseline for one in found.of(measure) if one.candidate == name and one.verdict == "better"}
    better |= {one.candidate for one in found.of(measure) if one.baseline == name and one.verdict == "worse"}
    return [system.name for system in found.systems if system.name in better]


def _after_correction(found: Findings) -> str:
    if found.method.correction == "none" or len(found.comparisons) == 1:
        return ""
    return f" after {CORRECTIONS[found.method.correction]}'s correction over {len(found.comparisons):,} tests"


def _differences_sheet(title: str, comparisons: Sequence[Comparison], found: Findings) -> Sheet:
    level = f"{found.method.level * 100:g} % interval"
    one_pair = len({(one.baseline, one.candidate) for one in comparisons}) == 1
    grouped = comparisons[0].group is not None
    header = [
        *(["group"] if grouped else []), *([] if one_pair else ["baseline", "candidate"]), "measure",
        *(["queries"] if grouped else []), "difference", level, "p", "adjusted", "d_z", "wins/ties/losses",
    ]  # fmt: skip
    rows = []
    for one in comparisons:
        effect = one.effect
        size = "–" if effect.d_z is None else f"{effect.d_z:+.2f}"
        rows.append([
            *([one.group or ""] if grouped else []), *([] if one_pair else [one.baseline, one.candidate]),
            str(one.measure), *([f"{effect.n:,}"] if grouped else []), signed(one.difference),
            interval_words(one.interval), p_words(one.p_value), p_words(one.p_adjusted), size,
            f"{effect.wins:,}/{effect.ties:,}/{effect.losses:,}",
        ])  # fmt: skip
    if one_pair and not grouped:
        pair = comparisons[0]
        title = f"{pair.candidate} − {pair.baseline} on {count(found.n_queries, 'query', 'queries')}"
    return Sheet(title, header, rows, n_text=header.index("queries" if grouped else "difference"))


def _drawn(sheet: Sheet, comparisons: Sequence[Comparison]) -> Sheet:
    """The sheet with each interval drawn at the end of its row, all on one scale around zero."""
    ends = [abs(end) for one in comparisons for end in one.interval.as_list() or [one.difference]]
    reach = max(ends, default=0.0)
    if reach == 0:
        return sheet
    scale = f"-{reach:.2g}".ljust(_DRAWN) + "0" + f"+{reach:.2g}".rjust(_DRAWN)
    rows = [[*row, _strip(one, reach)] for row, one in zip(sheet.rows, comparisons, strict=True)]
    return sheet._replace(header=[*sheet.header, scale], rows=rows)


def _strip(one: Comparison, reach: float) -> str:
    """An interval as a line with its difference as a dot and zero as a bar."""

    def place(value: float) -> int:
        return _DRAWN + round(value / reach * _DRAWN)

    cells = [" "] * (2 * _DRAWN + 1)
    ends = one.interval.as_list()
    if ends is not None:
        low, high = map(place, ends)
        cells[low : high + 1] = "─" * (high - low + 1)
    cells[_DRAWN] = "│" if cells[_DRAWN] == " " else "┼"
    cells[place(one.difference)] = "●"
    return "".join(cells)


def signed(value: float) -> str:
    """A difference with its sign."""
    return f"{value + 0.0:+.4f}"


def interval_words(interval: Interval) -> str:
    """Both ends, or that there is none."""
    if interval.low is None or interval.high is None:
        return "none"
    return f"{signed(interval.low)} to {signed(interval.high)}"


def p_words(p: float) -> str:
    """Four decimals; small ones in powers of ten, because none is zero."""
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def verdict_sentences(found: Findings) -> list[str]:
    """What each comparison means, in plain words."""
    return [sentence for one in found.comparisons for sentence in _sentences(one, found)]


def _sentences(one: Comparison, found: Findings) -> list[str]:
    who = f"{one.candidate} against {one.baseline} in {one.measure}"
    if one.effect.wins == one.effect.losses == 0:
        said = f"{who}: the same on every query."
    elif one.verdict != "not shown":
        adjusted = "" if len(found.comparisons) == 1 or found.method.correction == "none" else " after correction"
        said = f"{who}: {one.verdict} by {abs(one.difference):.4f} (p = {p_words(one.p_adjusted)}{adjusted})."
    else:
        said = f"{who}: no difference shown."
        if one.smallest_visible is not None:
            queries = "this one query" if one.effect.n == 1 else f"these {one.effect.n:,} queries"
            said += f" With {queries} a change below {one.smallest_visible:.2g} cannot be told from noise."
        elif one.interval.reason:
            said += f" {one.interval.reason[0].upper()}{one.interval.reason[1:]}."
    sentences = [said]
    if one.margin is not None:
        margin, alpha = one.margin, found.method.alpha
        for p, claim in (
            (margin.non_inferiority_p, f"not worse by {margin.margin:g} or more"),
            (margin.equivalence_p, f"within ±{margin.margin:g} of it"),
        ):
            sentences.append(f"    {claim}: {'shown' if p < alpha else 'not shown'} (p = {p_words(p)})")
    return sentences


def _extremes_text(one: Comparison) -> str:
    def rows(queries: Iterable[QueryDifference]) -> list[list[str]]:
        return [[q.query_id, number(q.baseline), number(q.candidate), signed(q.difference)] for q in queries]

    title = f"Largest gains and losses in {one.measure}, {one.baseline} → {one.candidate}"
    header = ["query", "baseline", "candidate", "difference"]
    return f"{printable(title)}\n{table(header, [*rows(one.best), *rows(reversed(one.worst))])}"


def how(found: Findings) -> str:
    """How the figures were made, seeds included."""
    method = found.method
    words = [f"{TESTS[method.test]}, two-sided"]
    if method.test == "randomization":
        words.append(f"{method.permutations:,} permutations")
        words.append(f"seed {method.seed}")
        words.append(f"all sign patterns where at most {EXACT_UP_TO} queries differ")
    parts = [", ".join(words)]
    resampled = f" from {method.resamples:,} resamples, seed {method.seed}" if method.interval != "t" else ""
    interval = "t" if method.test == "welch" else method.interval
    parts.append(f"{INTERVALS[interval]} intervals{resampled if interval != 't' else ''}")
    n = len(found.comparisons)
    parts.append(
        "no correction" if method.correction == "none"
        else f"{CORRECTIONS[method.correction]}'s correction over {count(n, 'test', 'tests')}"
    )  # fmt: skip
    return f"method: {'; '.join(parts)}; α = {method.alpha:g}"
