"""Plans as text, JSON and SVG: how many queries it takes, and what the queries at hand can show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rankproof.errors import count
from rankproof.planning import LEVEL, Plan
from rankproof.reports.charts import line_chart
from rankproof.reports.figures import Figure, Line, Mark, Series
from rankproof.reports.json import SCHEMA_VERSION, dump, rules_data
from rankproof.reports.plot import line_plot
from rankproof.reports.text import foundation, printable

TEST = "two-sided paired t-test"


def plans_text(plans: Sequence[Plan], *, width: int = 72, ascii: bool = False) -> str:  # noqa: A002
    """The answer in sentences, then the curve, then what it rests on; of plans for the same queries and aims."""
    sentences = ["\n".join(_sentences(plan)) for plan in plans]
    plot = line_plot(_terminal_figure(plans), width=width, ascii=ascii).rstrip("\n")
    return "\n\n".join([*sentences, plot, "\n".join(_rests_on(plans))]) + "\n"


def plans_json(plans: Sequence[Plan]) -> str:
    """The plans with every figure in full."""
    data: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "plans": [_plan_data(plan) for plan in plans]}
    scores = plans[0].scores
    if scores:
        data |= rules_data(scores[0].preset)
        data["runs"] = [{"name": one.name, "coverage": one.coverage.as_dict()} for one in scores]
    return dump(data)


def plans_svg(plans: Sequence[Plan]) -> str:
    """The curves of the plans as a chart."""
    return line_chart(_chart_figure(plans))


def _sentences(plan: Plan) -> list[str]:
    said = [f"{_needs(plan)}; {_shows(plan)}."]
    if plan.needed_interval is not None and plan.smallest_interval is not None:
        low, high = plan.needed_interval
        least, most = (size(end) for end in plan.smallest_interval)
        said.append(
            f"How much queries vary is itself estimated, from {plan.n:,} of them: with {_percent(LEVEL)} confidence "
            f"you need {low:,} to {high:,} queries, and the smallest visible change lies between {least} and {most}."
        )
    if plan.alternatives:
        others = " and ".join(
            f"{count(needed, 'query', 'queries')} at {other:g}" for other, needed in plan.alternatives
        )
        said.append(
            f"This assumes that the other system correlates with this one by {plan.correlation:g}; it takes {others}. "
            "A second run would tell."
        )
    said.append(
        f"With your {plan.n:,}, a true change of {_exact(plan.difference)} would be seen {_odds(plan.power_now)}."
    )
    return said


def _needs(plan: Plan) -> str:
    where = "" if plan.measure is None else f" in {plan.measure}"
    queries = count(plan.needed, "query", "queries")
    return f"To see +{_exact(plan.difference)}{where} with {_percent(plan.power)} power you need {queries}"


def _shows(plan: Plan) -> str:
    if plan.measure is not None and plan.out_of_reach:
        low, high = plan.measure.bounds
        never = f"it would have to be {size(plan.smallest)}, and {plan.measure} goes from {low:g} to {high:g}"
        return f"with your {plan.n:,} no change can be seen: {never}"
    return f"with your {plan.n:,} the smallest visible change is {size(plan.smallest)}"


def _odds(power: float) -> str:
    if power > 0.995:
        return "more than 99 times out of 100"
    if power < 0.005:
        return "less than once out of 100 times"
    times = round(100 * power)
    return "once out of 100 times" if times == 1 else f"{times} times out of 100"


def size(value: float) -> str:
    """A number above 0: below 1 with three decimals or two digits, whichever is more; above it with three digits."""
    leading = math.floor(math.log10(value))
    return f"{value:,.{max(3, 1 - leading) if leading < 0 else max(0, 2 - leading)}f}"


def _exact(value: float) -> str:
    """A number as somebody would write it, without an exponent."""
    digits = 5 - math.floor(math.log10(value))
    text = f"{value:,.{max(0, digits)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _rests_on(plans: Sequence[Plan]) -> list[str]:
    first = plans[0]
    lines = [f"rests on: {_spread(plan)}" for plan in plans]
    lines.append(f"test: {TEST}, α = {first.alpha:g}; the randomisation test has practically the same power")
    if first.correlation is not None:
        lines.append(
            f"assumed: a second system that varies as much as {printable(first.scores[0].name)} "
            f"and correlates with it by {first.correlation:g}"
        )
    if first.scores:
        coverages = [(one.name, one.coverage) for one in first.scores]
        lines.append(foundation(coverages, first.scores[0].preset, first.scores[0].measures))
    return lines


def _spread(plan: Plan) -> str:
    queries = count(plan.n, "query", "queries")
    of = "" if plan.measure is None else f" in {plan.measure}"
    names = [printable(one.name) for one in plan.scores]
    if len(names) == 2:
        return f"standard deviation {size(plan.sd)} of the differences{of} between {names[0]} and {names[1]}, {queries}"
    if names:
        return f"standard deviation {size(plan.sd)} of differences{of}, worked out from {names[0]}, {queries}"
    return f"standard deviation {_exact(plan.sd)} of differences{of}, as given, {queries}"


def _terminal_figure(plans: Sequence[Plan]) -> Figure:
    first = plans[0]
    here, wanted = f"you are here: {count(first.n, 'query', 'queries')}", f"wanted: {_exact(first.difference)}"
    if len(plans) == 1:
        here += f", {size(first.smallest)}"
        wanted += f", {count(first.needed, 'query', 'queries')}"
    marks = [Mark(plan.n, plan.smallest, here) for plan in plans]
    # Who has just as many queries as it takes is where they want to be.
    marks += [Mark(plan.needed, plan.difference, wanted) for plan in plans if plan.needed != plan.n]
    return _figure(plans, marks)


def _chart_figure(plans: Sequence[Plan]) -> Figure:
    if len(plans) == 1:
        return _terminal_figure(plans)
    first = plans[0]
    marks = [Mark(n, y) for plan in plans for n, y in ((plan.n, plan.smallest), (plan.needed, plan.difference))]
    here = Line(first.n, f"you are here: {count(first.n, 'query', 'queries')}")
    return _figure(
        plans, marks, x_lines=[here], y_lines=[Line(first.difference, f"wanted: {_exact(first.difference)}")]
    )


def _figure(
    plans: Sequence[Plan], marks: Sequence[Mark], x_lines: Sequence[Line] = (), y_lines: Sequence[Line] = ()
) -> Figure:
    first = plans[0]
    names = [f"plan {i}" if plan.measure is None else str(plan.measure) for i, plan in enumerate(plans, 1)]
    of = f" in {names[0]}" if len(plans) == 1 and first.measure is not None else ""
    return Figure(
        # The bands of several curves would cover each other.
        series=[_series(plan, name, band=len(plans) == 1) for plan, name in zip(plans, names, strict=True)],
        x_label="queries (logarithmic)",
        y_label=f"smallest visible change{of}",
        title=f"How many queries show a difference{of}?",
        desc=" ".join(sentence for plan in plans for sentence in _sentences(plan)),
        x_log=True,
        marks=marks,
        x_lines=x_lines,
        y_lines=y_lines,
    )


def _series(plan: Plan, name: str, *, band: bool) -> Series:
    bands = [point.interval for point in plan.curve if point.interval is not None]
    return Series(name, [(point.n, point.smallest) for point in plan.curve], band=bands if band else ())


def _plan_data(plan: Plan) -> dict[str, Any]:
    return {
        "measure": None if plan.measure is None else str(plan.measure),
        "n_queries": plan.n,
        "sd": plan.sd,
        "sd_interval": _pair(plan.sd_interval),
        "assumed_correlation": plan.correlation,
        "difference": plan.difference,
        "power": plan.power,
        "alpha": plan.alpha,
        "test": TEST,
        "smallest_visible": plan.smallest,
        "smallest_visible_interval": _pair(plan.smallest_interval),
        "out_of_reach": plan.out_of_reach,
        "queries_needed": plan.needed,
        "queries_needed_interval": _pair(plan.needed_interval),
        "interval_level": LEVEL,
        "power_now": plan.power_now,
        "alternatives": [{"correlation": other, "queries_needed": needed} for other, needed in plan.alternatives],
        "curve": [
            {"n_queries": point.n, "smallest_visible": point.smallest, "interval": _pair(point.interval)}
            for point in plan.curve
        ],
    }


def _pair(ends: tuple[float, float] | None) -> list[float] | None:
    return None if ends is None else list(ends)
