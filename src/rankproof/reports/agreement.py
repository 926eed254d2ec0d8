"""Agreement of measures, judgments and runs as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rankproof.agreement import Correlation, Correlations, Discrimination, Discriminations, Order, Overlaps, RunOverlap
from rankproof.errors import count
from rankproof.reports.charts import line_chart
from rankproof.reports.csv import harmless
from rankproof.reports.figures import Figure, Line, Series
from rankproof.reports.json import SCHEMA_VERSION, dump, rules_data
from rankproof.reports.plot import line_plot
from rankproof.reports.text import foundation, number, printable, table
from rankproof.scoring.scores import Coverage

_SHOWN = 10
_SHOWN_LEAST = 5
_UNDEFINED = "undefined"


def correlations_text(found: Correlations) -> str:
    """The orders, how far they agree, and which systems change places."""
    parts = [_orders_table(found)]
    if found.between_measures:
        parts += [_triangle("τ", found, "tau"), _triangle("τ_AP", found, "tau_ap")]
    if found.between_judgments:
        parts.append(_between_judgments(found))
    parts.append("\n".join(_swaps(one) for one in (*found.between_measures, *found.between_judgments)))
    parts.append("\n".join([_foundation(found), *(f"note: {remark}" for remark in found.remarks)]))
    return "\n\n".join(parts) + "\n"


def _orders_table(found: Correlations) -> str:
    titles = [_title(order, found) for order in found.orders]
    ranks = [order.ranks for order in found.orders]
    rows = []
    for system in found.orders[0].means:
        places = zip(found.orders, ranks, strict=True)
        rows.append([system, *(f"{number(order.means[system])} ({rank[system]})" for order, rank in places)])
    return table(["system", *titles], rows)


def _title(order: Order, found: Correlations) -> str:
    return f"{order.measure} {order.judgments}" if found.between_judgments else str(order.measure)


def _triangle(corner: str, found: Correlations, figure: str) -> str:
    values = {(one.first.measure, one.second.measure): getattr(one, figure) for one in found.between_measures}
    measures = found.scores[0].measures
    rows = []
    for i, down in enumerate(measures[1:], 1):
        cells = [_figure(values[across, down]) for across in measures[:i]]
        rows.append([str(down), *cells, *[""] * (len(measures) - 1 - i)])
    return table([corner, *map(str, measures[:-1])], rows)


def _figure(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{value:.4f}"


def _between_judgments(found: Correlations) -> str:
    first, second = found.between_judgments[0].first.judgments, found.between_judgments[0].second.judgments
    rows = [
        [str(one.first.measure), _figure(one.tau), _figure(one.tau_ap), f"{len(one.swaps):,} of {one.n_pairs:,}"]
        for one in found.between_judgments
    ]
    head = f"{printable(first)} (the reference of τ_AP) and {printable(second)}:"
    return f"{head}\n{table(['measure', 'τ', 'τ_AP', 'swaps'], rows)}"


def _swaps(one: Correlation) -> str:
    if one.first.judgments == one.second.judgments:
        first, second = str(one.first.measure), str(one.second.measure)
    else:
        first, second = (f"{order.measure} by {printable(order.judgments)}" for order in (one.first, one.second))
    tied = f" ({one.n_tied:,} tied in one order or both)" if one.n_tied else ""
    lines = [f"{first} and {second}, pairs of systems that change places: {len(one.swaps):,} of {one.n_pairs:,}{tied}"]
    for swap in one.swaps[:_SHOWN]:
        above, below = printable(swap.above), printable(swap.below)
        lines.append(f"  {above} is above {below} by {swap.first:.4f}, then below by {-swap.second:.4f}")
    if len(one.swaps) > _SHOWN:
        lines.append(f"  and {len(one.swaps) - _SHOWN:,} more")
    return "\n".join(lines)


def _foundation(found: Correlations) -> str:
    coverages = [(name, one.coverage) for name, one in zip(found.systems, found.scores, strict=True)]
    if found.against:
        first, second = found.orders[0].judgments, found.orders[-1].judgments
        coverages = [(f"{name} by {first}", coverage) for name, coverage in coverages]
        others = zip(found.systems, found.against, strict=True)
        coverages += [(f"{name} by {second}", one.coverage) for name, one in others]
    return foundation(coverages, found.scores[0].preset, found.scores[0].measures)


def correlations_json(found: Correlations) -> str:
    """The same for programs, with every swap."""
    return dump(
        {
            "schema_version": SCHEMA_VERSION,
            **rules_data(found.scores[0].preset),
            "orders": [
                {
                    "measure": str(order.measure),
                    "judgments": order.judgments,
                    "systems": [
                        {"name": name, "mean": order.means[name], "rank": rank} for name, rank in order.ranks.items()
                    ],
                }
                for order in found.orders
            ],
            "between_measures": [_correlation_data(one) for one in found.between_measures],
            "between_judgments": [_correlation_data(one) for one in found.between_judgments],
            "coverage": {
                side: {name: _coverage_data(one.coverage) for name, one in zip(found.systems, scores, strict=False)}
                for side, scores in (("judgments", found.scores), ("against", found.against))
            },
            "remarks": list(found.remarks),
        }
    )


def _coverage_data(coverage: Coverage) -> dict[str, Any]:
    # Without what depends on the order of lines: the last bits of a mean, and the order of names.
    shares = {str(k): round(share, 12) for k, share in coverage.judged_at.items()}
    names = {kind: sorted(getattr(coverage, kind)) for kind in ("missing", "extra", "no_relevant")}
    return {**coverage.as_dict(), "judged_at": shares, **names}


def _correlation_data(one: Correlation) -> dict[str, Any]:
    return {
        "first": {"measure": str(one.first.measure), "judgments": one.first.judgments},
        "second": {"measure": str(one.second.measure), "judgments": one.second.judgments},
        "tau": one.tau,
        "tau_ap": one.tau_ap,
        "n_pairs": one.n_pairs,
        "n_tied": one.n_tied,
        "swaps": [swap._asdict() for swap in one.swaps],
    }


def correlations_csv(found: Correlations) -> str:
    """One row for each two orders; what is undefined is empty."""
    header = ["measure", "judgments", "other_measure", "other_judgments", "tau", "tau_ap", "pairs", "tied", "swaps"]
    rows = (
        [
            str(one.first.measure), one.first.judgments, str(one.second.measure), one.second.judgments,
            one.tau, one.tau_ap, one.n_pairs, one.n_tied, len(one.swaps),
        ]
        for one in (*found.between_measures, *found.between_judgments)
    )  # fmt: skip
    return _csv(header, rows)


def _csv(header: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(
            [harmless(cell) if isinstance(cell, str) else "" if cell is None else repr(cell) for cell in row]
        )
    return out.getvalue()


def overlaps_text(found: Overlaps) -> str:
    """Every two runs, and the queries on which they agree least."""
    cutoffs = list(found.pairs[0].overlap_at)
    header = ["runs", "queries", "RBO", f"{found.pairs[0].interval.level:.0%} interval", "least", "most"]
    rows = [
        [
            f"{one.first} · {one.second}", f"{len(one.query_ids):,}", f"{one.rbo:.4f}", _interval(one),
            f"{one.minimum:.4f}", f"{one.maximum:.4f}", *(f"{one.overlap_at[k]:.1%}" for k in cutoffs),
        ]
        for one in found.pairs
    ]  # fmt: skip
    parts = [table([*header, *(f"overlap@{k}" for k in cutoffs)], rows)]
    parts.append("\n".join(_least(one) for one in found.pairs))
    lines = [line for one in found.pairs for line in _only(one)]
    lines.append(f"RBO with p = {found.p:g}, down to rank {found.depth:,}; ties by id, descending")
    return "\n\n".join([*parts, "\n".join(lines)]) + "\n"


def _interval(one: RunOverlap) -> str:
    ends = one.interval.as_list()
    return "none" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"


def _least(one: RunOverlap) -> str:
    shown = ", ".join(f"{printable(query)} {value:.4f}" for query, value in one.least(_SHOWN_LEAST))
    return f"{printable(one.first)} · {printable(one.second)} agree least on {shown}"


def _only(one: RunOverlap) -> Iterator[str]:
    for name, other, queries in ((one.first, one.second, one.only_first), (one.second, one.first, one.only_second)):
        if queries:
            shown = ", ".join(map(printable, queries[:_SHOWN]))
            more = f" and {len(queries) - _SHOWN:,} more" if len(queries) > _SHOWN else ""
            what = count(len(queries), "query is", "queries are")
            yield f"{what} in {printable(name)} but not in {printable(other)}, and in no figure: {shown}{more}"


def overlaps_json(found: Overlaps) -> str:
    """The same for programs, with the value of every query."""
    pairs = [
        {
            "first": one.first,
            "second": one.second,
            "rbo": one.rbo,
            "interval": {"level": one.interval.level, "method": one.interval.method, "ends": one.interval.as_list()},
            "minimum": one.minimum,
            "maximum": one.maximum,
            "overlap_at": {str(k): share for k, share in one.overlap_at.items()},
            "by_query": dict(zip(one.query_ids, one.by_query.tolist(), strict=True)),
            "only_first": list(one.only_first),
            "only_second": list(one.only_second),
        }
        for one in found.pairs
    ]
    head = {"schema_version": SCHEMA_VERSION, "p": found.p, "depth": found.depth}
    return dump({**head, "runs": list(found.runs), "pairs": pairs})


def overlaps_csv(found: Overlaps) -> str:
    """One row for each two runs."""
    cutoffs = list(found.pairs[0].overlap_at)
    header = ["run", "other_run", "queries", "only_run", "only_other_run", "rbo", "low", "high", "minimum", "maximum"]
    rows = (
        [
            one.first, one.second, len(one.query_ids), len(one.only_first), len(one.only_second), one.rbo,
            one.interval.low, one.interval.high, one.minimum, one.maximum, *(one.overlap_at[k] for k in cutoffs),
        ]
        for one in found.pairs
    )  # fmt: skip
    return _csv([*header, *(f"overlap@{k}" for k in cutoffs)], rows)


def discriminations_text(found: Discriminations) -> str:
    """How many pairs each measure tells apart."""
    rows = [
        [
            str(one.measure), f"{one.n_significant:,} of {len(one.asl):,}", f"{one.share:.1%}",
            _or_none(one.smallest_significant), _or_none(one.estimated_required),
        ]
        for one in found.measures
    ]  # fmt: skip
    header = ["measure", f"pairs with p < {found.alpha:g}", "share", "significant from", "needed (estimated)"]
    coverages = [(name, one.coverage) for name, one in zip(found.systems, found.scores, strict=True)]
    test = (
        f"{len(found.systems):,} systems · paired randomisation test, two-sided, {found.permutations:,} permutations, "
        f"seed {found.seed}; p-values are not corrected for their number"
    )
    last = foundation(coverages, found.scores[0].preset, found.scores[0].measures)
    return "\n\n".join([table(header, rows), line_plot(_asl_figure(found)).rstrip("\n"), f"{last}\n{test}"]) + "\n"


def discriminations_svg(found: Discriminations) -> str:
    """The curves of achieved significance levels."""
    return line_chart(_asl_figure(found))


def _asl_figure(found: Discriminations) -> Figure:
    return Figure(
        [Series(str(one.measure), [(i, pair.p_value) for i, pair in enumerate(one.asl, 1)]) for one in found.measures],
        x_label="pairs of systems, by falling p-value",
        y_label="p-value",
        title="Achieved significance levels",
        desc="; ".join(
            f"{one.measure} tells {one.n_significant:,} of {len(one.asl):,} pairs of systems apart"
            for one in found.measures
        ),
        y_lines=[Line(found.alpha, f"p = {found.alpha:g}")],
    )


def _or_none(value: float | None) -> str:
    return "none" if value is None else number(value)


def discriminations_json(found: Discriminations) -> str:
    """The same for programs, with the whole curve of every measure."""
    return dump(
        {
            "schema_version": SCHEMA_VERSION,
            **rules_data(found.scores[0].preset),
            "systems": list(found.systems),
            "n_queries": len(found.scores[0].query_ids),
            "test": "randomization",
            "alpha": found.alpha,
            "permutations": found.permutations,
            "seed": found.seed,
            "measures": [_discrimination_data(one) for one in found.measures],
            "coverage": {
                name: _coverage_data(one.coverage) for name, one in zip(found.systems, found.scores, strict=True)
            },
        }
    )


def _discrimination_data(one: Discrimination) -> dict[str, Any]:
    return {
        "measure": str(one.measure),
        "n_pairs": len(one.asl),
        "n_significant": one.n_significant,
        "discriminative_power": one.share,
        "smallest_significant": one.smallest_significant,
        "estimated_required": one.estimated_required,
        "asl": [pair._asdict() for pair in one.asl],
    }


def discriminations_csv(found: Discriminations) -> str:
    """One row for each measure and pair of systems, by falling p-value."""
    rows: Iterator[list[str | float]] = (
        [str(one.measure), rank, pair.above, pair.below, pair.difference, pair.p_value]
        for one in found.measures
        for rank, pair in enumerate(one.asl, 1)
    )
    return _csv(["measure", "rank", "above", "below", "difference", "p_value"], rows)
