"""The sections of the page above the queries: a report in, markup out; nothing where there is no data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rankproof.errors import count
from rankproof.failures import CLASSES, Analysis
from rankproof.gate import Verdict
from rankproof.report import RANK_LABELS, Against, Cell, GroupRow, PipelineFigures, Report
from rankproof.reports.bars import Bar, BarGroup, histogram_chart, interval_bars, share_bar, waterfall_chart
from rankproof.reports.charts import ForestRow, forest_chart, line_chart
from rankproof.reports.comparison import how, p_words
from rankproof.reports.figures import Figure, Series
from rankproof.reports.html.markup import (
    capped,
    change,
    chart,
    escaped,
    figure,
    folded,
    listed,
    paragraph,
    scrolling,
    section,
    signed,
    table,
    worded,
)
from rankproof.reports.text import foundation

SIGNS = {"pass": "✓", "worse": "✗", "not measured": "?"}
_SHOWN = 10
_WORST = 3
_BRIEF = 12
"""So many rules are shown without folding those that hold."""
_WITH_BASELINE = 2
"""Of more pipelines than this the bars of the baseline are left to the table."""
_REASON = 300
_CURVES = {"R": "Recall by depth", "nDCG": "nDCG by depth"}


def verdict_section(report: Report) -> str:
    """The rules, what became of each and the queries that fell furthest."""
    notes = "".join(paragraph(note, "notice") for note in report.notes)
    if not report.verdicts:
        said = "The project has no rules to judge by, so there is no verdict; add `gate:` to rankproof.yaml."
        return section("rules", "Rules", notes or paragraph(said, "faint"))
    rows = [(name, verdict) for name, verdicts in report.verdicts for verdict in verdicts]
    broken = [row for row in rows if row[1].outcome == "worse"]
    open_ones = [row for row in rows if row[1].outcome == "not measured"]
    held = [row for row in rows if row[1].outcome == "pass"]
    several = len(report.verdicts) > 1
    parts = [notes]
    if broken:
        parts.append(_verdicts("Broken rules", broken, several))
    if open_ones:
        parts.append(_verdicts("Rules that could not be decided", open_ones, several))
    if held:
        made = _verdicts("Rules that hold", held, several)
        # A long list of what is well would hide what is not.
        brief = len(rows) <= _BRIEF
        parts.append(made if brief else folded(f"{count(len(held), 'rule holds', 'rules hold')}", made))
    return section("rules", "Rules", *parts)


def _verdicts(caption: str, rows: Sequence[tuple[str, Verdict]], several: bool) -> str:
    fell = any(verdict.worst for _, verdict in rows)
    header = ["rule", *(["pipeline"] if several else []), "outcome", "why", *(["worst queries"] if fell else [])]
    cells = []
    for name, verdict in rows:
        mark = (
            f'<span class="mark {verdict.outcome.replace(" ", "-")}">{SIGNS[verdict.outcome]} {verdict.outcome}</span>'
        )
        worst = ", ".join(f"{escaped(capped(query, 60))}&nbsp;{signed(by, 2)}" for query, by in verdict.worst[:_WORST])
        pipeline = [escaped(name)] if several else []
        last = [f'<div class="why"><small>{worst}</small></div>'] if fell else []
        cells.append([escaped(verdict.rule), *pipeline, mark, f'<div class="why">{worded(verdict.why)}</div>', *last])
    return table(caption, header, cells, n_text=len(header))


def _bars(one: PipelineFigures, i: int, report: Report) -> Iterator[Bar]:
    """The mean of a pipeline, and what it was in the baseline where that does not crowd the chart."""
    yield Bar(one.name, *one.levels[i])
    before = one.before[i]
    if report.baseline is not None and before is not None and len(report.pipelines) <= _WITH_BASELINE:
        yield Bar("baseline" if len(report.pipelines) == 1 else f"{one.name}, baseline", before)


def measures_section(report: Report) -> tuple[str, list[str]]:
    """Bars with intervals, and the same in figures."""
    level = f"{report.level * 100:g} % intervals"
    drawn = [i for i, measure in enumerate(report.measures) if measure.bounds == (0.0, 1.0)]
    groups = [
        BarGroup(str(report.measures[i]), [bar for one in report.pipelines for bar in _bars(one, i, report)])
        for i in drawn
    ]
    title = f"Mean over {count(report.n_scored, 'query', 'queries')}"
    charts = [interval_bars(groups, title=title, x_label=f"mean, with {level}")] if groups else []
    header = ["measure", *(escaped(one.name) for one in report.pipelines)]
    rows = []
    for i, measure in enumerate(report.measures):
        cells = []
        for one in report.pipelines:
            value, low, high = one.levels[i]
            # Below the mean, so that three pipelines fit beside the chart.
            ends = "" if low is None or high is None else f"<br><small>[{figure(low, 3)}, {figure(high, 3)}]</small>"
            moved = change(one.changes[i])
            cells.append(f"{figure(value)}{ends}{f'<br>{moved}' if moved else ''}")
        rows.append([escaped(str(measure)), *cells])
    caption = f"Means with {level}{_held_words(report)}"
    return section("measures", "Measures", _pair([*map(chart, charts), table(caption, header, rows)])), charts


def _held_words(report: Report) -> str:
    return f"; below, the change from {report.against[0].held_to}" if report.against else ""


def _pair(parts: Iterable[str]) -> str:
    return f'<div class="pair">{"".join(parts)}</div>'


def groups_section(report: Report) -> str:
    """Groups × measures, each cell coloured by its value."""
    if not report.groups:
        return ""
    names = [escaped(one.name) for one in report.pipelines]
    first = '<th scope="col"{}>group</th><th class="n" scope="col"{}>queries</th>'
    head = _two_levels(first, [escaped(str(measure)) for measure in report.measures], names)
    everything = tuple(
        tuple(Cell(level.value, moved) for level, moved in zip(one.levels, one.changes, strict=True))
        for one in report.pipelines
    )
    rows = [*report.groups, GroupRow("all queries", report.n_scored, everything)]
    body = "".join(_group_row(row, report, last=i == len(rows) - 1) for i, row in enumerate(rows))
    caption = f"Means by group, the bluer the higher{_held_words(report)}"
    inner = f"<caption>{escaped(caption)}</caption><thead>{head}</thead><tbody>{body}</tbody>"
    return section("groups", "Groups", scrolling(caption, f'<table class="matrix">{inner}</table>'))


def _group_row(row: GroupRow, report: Report, *, last: bool) -> str:
    cells = ""
    for i, measure in enumerate(report.measures):
        for of_pipeline in row.cells:
            value, moved = of_pipeline[i]
            shade = f" h{min(4, int(5 * value))}" if measure.bounds == (0.0, 1.0) else ""
            below = f"<br><small>{change(moved, 3)}</small>" if moved is not None else ""
            cells += f'<td class="c{shade}">{figure(value, 3)}{below}</td>'
    kind = ' class="all"' if last else ""
    return f'<tr{kind}><th scope="row">{escaped(row.name)}</th><td class="n">{row.size:,}</td>{cells}</tr>'


def differences_section(report: Report) -> tuple[str, list[str]]:
    """Differences with their intervals, and what each query gains or loses."""
    if not report.against:
        return section("differences", "Differences", paragraph(_NOTHING_TO_HOLD_IT_TO, "faint")), []
    against = report.against[0].held_to
    rows = [
        ForestRow(
            f"{one.pipeline} {found.measure}" if len(report.against) > 1 else str(found.measure),
            found.difference, found.interval.low, found.interval.high, found.verdict != "not shown",
        )
        for one in report.against
        for found in one.comparisons
    ]  # fmt: skip
    charts = []
    if rows:
        charts.append(
            forest_chart(
                rows,
                title=f"Mean difference from {against}",
                x_label=f"{report.level * 100:g} % intervals; filled where it is more than chance",
            )
        )
    charts += [_waterfall(one, report) for one in report.against]
    tests = folded("Tests in figures", _differences_table(report)) if rows else paragraph(_NO_TEST, "faint")
    # The forest, if there is one, is the first and is wider than the others.
    drawn = [chart(svg, f"Differences from {against}" if rows and not i else "") for i, svg in enumerate(charts)]
    return section("differences", f"Differences from {against}", _pair(drawn), tests), charts


_NOTHING_TO_HOLD_IT_TO = (
    "There is nothing to hold this against: no other pipeline, and no baseline with the same queries. "
    "`rankproof baseline record` keeps one."
)
_NO_TEST = "The project asks for no test, so these differences may be chance."


def _waterfall(one: Against, report: Report) -> str:
    return waterfall_chart(
        one.differences,
        title=f"{one.pipeline}: {report.main} query by query",
        y_label=f"change in {report.main} from {one.held_to}",
    )


def _differences_table(report: Report) -> str:
    header = ["pipeline", "measure", "difference", "interval", "p", "better", "same", "worse", "verdict"]
    rows = []
    for one in report.against:
        for found in one.comparisons:
            ends = found.interval.as_list()
            kind = found.verdict if found.verdict != "not shown" else "same"
            rows.append([
                escaped(one.pipeline), escaped(str(found.measure)), signed(found.difference),
                "none" if ends is None else f"{signed(ends[0])} to {signed(ends[1])}", p_words(found.p_adjusted),
                f"{found.effect.wins:,}", f"{found.effect.ties:,}", f"{found.effect.losses:,}",
                f'<span class="{kind}">{found.verdict}</span>',
            ])  # fmt: skip
    return table("Differences in figures; p is corrected for the number of tests", header, rows, n_text=2)


def ranks_section(report: Report) -> tuple[str, list[str]]:
    """Where the first relevant document stands, and what a greater depth finds."""
    names = [one.name for one in report.pipelines]
    charts = []
    if any(map(any, report.histogram)):
        charts.append(
            histogram_chart(
                RANK_LABELS,
                list(zip(names, report.histogram, strict=True)),
                title="Rank of the first relevant document",
                x_label="rank; none: not among the results",
                y_label="queries",
            )
        )
    parts = list(map(chart, charts))
    if len(report.depths) > 1:
        curves = [_curve(family, report) for family in report.curves]
        charts += curves
        parts += [chart(svg, _CURVES[family]) for family, svg in zip(report.curves, curves, strict=True)]
        parts.append(_depths_table(report))
    if not charts:
        return "", []
    return section("ranks", "Ranks and depth", _pair(parts)), charts


def _depths_table(report: Report) -> str:
    names = [escaped(one.name) for one in report.pipelines]
    rows = ""
    for row, depth in enumerate(report.depths):
        cells = "".join(f'<td class="c">{figure(one[row], 3)}</td>' for of in report.curves.values() for one in of)
        rows += f'<tr><th scope="row">{depth}</th>{cells}</tr>'
    head = _two_levels('<th scope="col"{}>results</th>', ["recall", "nDCG"], names)
    caption = "Recall and nDCG when so many results are looked at"
    inner = f"<caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody>"
    return scrolling(caption, f"<table>{inner}</table>")


def _two_levels(first: str, tops: Sequence[str], names: Sequence[str]) -> str:
    """The head of a table that has a column for each pipeline below each of some words; `{}` makes a cell tall."""
    if len(names) == 1:
        only = "".join(f'<th class="c" scope="col">{top}</th>' for top in tops)
        return f"<tr>{first.replace('{}', '')}{only}</tr>"
    over = "".join(f'<th class="c" scope="colgroup" colspan="{len(names)}">{top}</th>' for top in tops)
    below = "".join(f'<th class="c" scope="col">{name}</th>' for _ in tops for name in names)
    tall = ' rowspan="2"'
    return f"<tr>{first.replace('{}', tall)}{over}</tr><tr>{below}</tr>"


def _curve(family: str, report: Report) -> str:
    series = [
        Series(one.name, [(float(k), value) for k, value in zip(report.depths, values, strict=True)])
        for one, values in zip(report.pipelines, report.curves[family], strict=True)
    ]
    told = "; ".join(
        f"{one.name}: " + ", ".join(f"{family}@{k:g} {value:.3f}" for k, value in one.points) for one in series
    )
    return line_chart(Figure(series, "results looked at", f"mean {family}", _CURVES[family], told, x_log=True))


def failures_section(report: Report) -> tuple[str, list[str]]:
    """The classes of failures, and what they recommend."""
    if not report.analyses:
        return "", []
    parts, charts = [], []
    for one in report.analyses:
        head, svg = _analysis(one, several=len(report.analyses) > 1)
        parts.append(head)
        charts += [svg] if svg else []
    if report.groups and any(one.failures for one in report.analyses):
        parts.append(_failures_table(report))
    return section("failures", "Why queries fail", _pair(parts)), charts


def _failures_table(report: Report) -> str:
    header = ["group", "class", *(escaped(one.mode) for one in report.analyses)]
    rows = []
    for group in sorted({name for one in report.analyses for name in one.group_names()}):
        counts = [one.distribution(group) for one in report.analyses]
        for kind in CLASSES:
            if any(of_mode[kind] for of_mode in counts):
                rows.append([escaped(group), kind, *(f"{of_mode[kind]:,}" for of_mode in counts)])
    return table("Failures by group and class", header, rows, n_text=2)


def _analysis(one: Analysis, *, several: bool) -> tuple[str, str]:
    said = f"{count(len(one.failures), 'failure', 'failures')} in {count(one.n_queries, 'query', 'queries')}"
    head = f"<h3>{escaped(one.mode)}</h3>" if several else ""
    classes = one.distribution()
    ranked = sorted(CLASSES, key=lambda kind: -classes[kind])
    svg = ""
    if one.failures:
        svg = share_bar([(kind, classes[kind]) for kind in ranked], title=f"{said} ({one.failure_rate:.0%})")
    words = [paragraph(one.verdict, "advice")]
    if len(one.decisions) > 1:
        words.append(listed(f"{found.kind}, {found.share:.0%}: {found.advice}" for found in one.decisions))
    if one.unjudged_top:
        n = count(len(one.unjudged_top), "query has", "queries have")
        words.append(paragraph(f"{n} a first result that nobody judged: no failures yet, the next to be labelled."))
    return f"<div>{head}{chart(svg) if svg else paragraph(said)}{''.join(words)}</div>", svg


def foundation_section(report: Report) -> str:
    """What the figures rest on: coverage, rules, tests and digests."""
    coverages = [(one.name, one.coverage) for one in report.pipelines]
    lines = foundation(coverages, report.preset, report.measures).splitlines()
    scored = f"{count(report.n_scored, 'query', 'queries')} scored of {report.n_queries:,} in the gold set"
    parts = ["<h3>Coverage and rules</h3>", listed([scored, *lines, *_left_out(report)])]
    parts += [_reasons(report)] if report.unmeasured else []
    if report.findings:
        tested = list(dict.fromkeys(how(one).removeprefix("method: ") for one in report.findings))
        parts += ["<h3>How differences were tested</h3>", listed(tested)]
    before = any(one.digest_before for one in report.pipelines)
    rows = [["gold set", f"<code>{escaped(report.gold)}</code>", *([""] if before else [])]]
    for one in report.pipelines:
        same = "" if one.digest_before is None else "the same" if one.digest_before == one.digest else "changed"
        rows.append([escaped(one.name), f"<code>{escaped(one.digest)}</code>", *([same] if before else [])])
    header = ["what", "digest", *(["since the baseline"] if before else [])]
    caption = "What was measured: the judgments, and of each pipeline its behaviour, files and corpus"
    parts += ["<h3>What it was made of</h3>", table(caption, header, rows, n_text=3)]
    return section("foundation", "What the figures rest on", *parts)


def _left_out(report: Report) -> Iterator[str]:
    if report.no_answer:
        yield f"{count(len(report.no_answer), 'query has', 'queries have')} no answer in the corpus and left the means"
    if report.unjudged:
        yield f"{count(len(report.unjudged), 'query has', 'queries have')} no judgment and left the means"
    if report.stale:
        named = [f"{capped(one.doc_id, 80)} (query {capped(one.query_id, 60)})" for one in report.stale[:_SHOWN]]
        n = count(len(report.stale), "judgment names a document", "judgments name documents")
        yield f"stale gold: {n} that the corpus does not have: {', '.join(named)}{_more(len(report.stale))}"
    if report.baseline is not None:
        yield f"baseline: {report.baseline}"


def _reasons(report: Report) -> str:
    failed = [
        f"{capped(query_id, 80)}: " + capped("; ".join(f"{name}: {why}" for name, why in reasons.items()), _REASON)
        for query_id, reasons in list(report.unmeasured.items())[:_SHOWN]
    ]
    n = count(len(report.unmeasured), "query", "queries")
    said = f"Not measured: {n} failed and left the means of all pipelines{_more(len(report.unmeasured))}"
    return f'<div class="notice">{paragraph(said)}{listed(failed)}</div>'


def _more(total: int) -> str:
    return f", of which {_SHOWN} are listed" if total > _SHOWN else ""


def tiles(report: Report) -> str:
    """The main figure of each pipeline, to be read in a second."""
    row = report.measures.index(report.main)
    made = []
    for one in report.pipelines:
        value, low, high = one.levels[row]
        ends = "" if low is None or high is None else f"<small>{figure(low, 2)} to {figure(high, 2)}</small>"
        moved = one.changes[row]
        held = f"<dd>{change(moved, 3)} from {escaped(report.against[0].held_to)}</dd>" if moved is not None else ""
        missed = f"<dd>first result wrong for {one.n_missed:,} of {report.n_scored:,}</dd>"
        made.append(
            f"<div><dt><b>{escaped(one.name)}</b> {escaped(str(report.main))}</dt>"
            f'<dd class="big">{figure(value, 3)} {ends}</dd>{held}{missed}</div>'
        )
    return f'<dl class="tiles">{"".join(made)}</dl>'
