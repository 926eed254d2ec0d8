"""How many queries it takes to see a difference, and what the queries at hand can show: scores in, a plan out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rankproof.errors import NotMeasured, UsageError
from rankproof.measures.parse import parse_measure
from rankproof.measures.registry import Measure
from rankproof.scoring.alike import check_alike
from rankproof.scoring.scores import Scores
from rankproof.stats.effects import paired_differences
from rankproof.stats.intervals import standard_deviation
from rankproof.stats.power import power_of, queries_needed, sd_interval, smallest_difference
from rankproof.stats.resampling import Floats

DIFFERENCE = 0.02
CORRELATION = 0.7
"""What is assumed between two systems on the same queries, where only one was measured."""

LEVEL = 0.95
"""Of the interval of the standard deviation, and of all that follows from it."""

_OTHER_CORRELATIONS = (0.5, 0.9)
_CURVE_POINTS = 40


class CurvePoint(NamedTuple):
    """So many queries, and the smallest difference that they show."""

    n: int
    smallest: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Plan:
    """What it takes to see a difference under one measure, and what the queries at hand can show."""

    measure: Measure | None
    """None if the plan was made from a standard deviation alone."""
    n: int
    sd: float
    """Of the differences between two systems, query by query."""
    sd_interval: tuple[float, float] | None
    """What the true one may be; None if it was given, not estimated."""
    correlation: float | None
    """Between the two systems, if it was assumed."""
    difference: float
    """The size of the difference that one wants to see."""
    power: float
    alpha: float
    smallest: float
    """The smallest difference that the n queries show with this power."""
    smallest_interval: tuple[float, float] | None
    needed: int
    """How many queries show the wanted difference with this power."""
    needed_interval: tuple[int, int] | None
    power_now: float
    """The chance that the n queries show the wanted difference."""
    alternatives: tuple[tuple[float, int], ...]
    """Other correlations that might be assumed, each with the queries needed."""
    curve: tuple[CurvePoint, ...] = field(repr=False)
    scores: tuple[Scores, ...] = field(default=(), repr=False, compare=False)
    """What it was made from."""

    @property
    def out_of_reach(self) -> bool:
        """Whether the measure cannot change by as much as the n queries would need to show it."""
        return self.measure is not None and self.smallest > _width(self.measure)


def plan(
    scores: Sequence[Scores], measure: str | Measure, *, difference: float = DIFFERENCE, power: float = 0.8,
    alpha: float = 0.05, correlation: float | None = None,
) -> Plan:  # fmt: skip
    """Plan a two-sided paired test from the scores of two systems, or of one.

    Two systems give the standard deviation of their differences. Of one it is √(2·(1 − r)) times that of its values,
    with a `correlation` r to an imagined second system that varies as much; r is an assumption, 0.7 unless given.
    """
    chosen = parse_measure(measure)
    _check_mean(chosen)
    if len(scores) == 2:
        if correlation is not None:
            raise UsageError("Two runs show how they correlate; leave out the assumed correlation, or one run.")
        sd = _sd_of_two(scores[0], scores[1], chosen)
    elif len(scores) == 1:
        correlation = _checked_correlation(correlation)
        sd = _sd_of_one(scores[0], chosen) * math.sqrt(2 * (1 - correlation))
    else:
        raise UsageError(f"A plan is made from the scores of one or two runs, not of {len(scores)}.")
    n = len(scores[0].query_ids)
    goal = _Goal(difference, power, alpha)
    return _plan(goal, sd, n, chosen, estimated=True, correlation=correlation, scores=tuple(scores))


def plan_from_spread(
    sd: float, n: int, *, measure: str | Measure | None = None, difference: float = DIFFERENCE, power: float = 0.8,
    alpha: float = 0.05,
) -> Plan:  # fmt: skip
    """Plan from a standard deviation of differences that is known from elsewhere; n is how many queries there are."""
    chosen = None if measure is None else parse_measure(measure)
    if chosen is not None:
        _check_mean(chosen)
    if not (math.isfinite(sd) and sd > 0):
        raise UsageError(f"A standard deviation is a number above 0, as in 0.2; {sd:g} is not.")
    if n < 1:
        raise UsageError(f"The number of queries is 1 or more, not {n}.")
    return _plan(_Goal(difference, power, alpha), sd, n, chosen, estimated=False)


class _Goal(NamedTuple):
    """What one wants to see, and how surely."""

    difference: float
    power: float
    alpha: float

    def needed(self, sd: float) -> int:
        return queries_needed(abs(self.difference), sd, alpha=self.alpha, power=self.power)

    def smallest(self, n: int, sd: float) -> float:
        return smallest_difference(n, sd, alpha=self.alpha, power=self.power)


def _plan(
    goal: _Goal, sd: float, n: int, measure: Measure | None, *, estimated: bool, correlation: float | None = None,
    scores: tuple[Scores, ...] = (),
) -> Plan:  # fmt: skip
    difference = abs(goal.difference)
    if measure is not None and difference > _width(measure):
        low, high = measure.bounds
        raise UsageError(
            f"{measure} goes from {low:g} to {high:g}, so it cannot differ by {difference:g}; ask for less."
        )
    smallest, needed = goal.smallest(n, sd), goal.needed(sd)
    ends = sd_interval(sd, n, level=LEVEL) if estimated else None
    # All that is visible grows in proportion to the spread.
    ratios = None if ends is None else (ends[0] / sd, ends[1] / sd)
    return Plan(
        measure, n, sd, ends, correlation, difference, goal.power, goal.alpha,
        smallest=smallest,
        smallest_interval=_scaled(smallest, ratios),
        needed=needed,
        needed_interval=None if ends is None else (goal.needed(ends[0]), goal.needed(ends[1])),
        power_now=power_of(n, difference, sd, alpha=goal.alpha),
        alternatives=() if correlation is None else _alternatives(goal, sd, correlation),
        curve=tuple(_curve(goal, sd, ratios, _around(n, needed))),
        scores=scores,
    )  # fmt: skip


def _scaled(value: float, ratios: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ratios is None else (value * ratios[0], value * ratios[1])


def _alternatives(goal: _Goal, sd: float, correlation: float) -> tuple[tuple[float, int], ...]:
    others = (other for other in _OTHER_CORRELATIONS if other != correlation)
    return tuple((other, goal.needed(sd * math.sqrt((1 - other) / (1 - correlation)))) for other in others)


def _curve(goal: _Goal, sd: float, ratios: tuple[float, float] | None, sizes: Sequence[int]) -> list[CurvePoint]:
    visible = [goal.smallest(n, sd) for n in sizes]
    return [CurvePoint(n, one, _scaled(one, ratios)) for n, one in zip(sizes, visible, strict=True)]


def _around(n: int, needed: int) -> list[int]:
    """Numbers of queries from well below both to well above, both among them."""
    least, most = min(n, needed), 2 * max(n, needed)
    # Below four queries the curve is so steep that the rest of it would look flat.
    low = max(min(least, 4), least // 4)
    steps = [round(low * (most / low) ** (i / (_CURVE_POINTS - 1))) for i in range(_CURVE_POINTS)]
    return sorted({*steps, n, needed})


def _sd_of_two(first: Scores, second: Scores, measure: Measure) -> float:
    check_alike([first, second])
    place = {query: i for i, query in enumerate(second.query_ids)}
    values = second.of(measure)[[place[query] for query in first.query_ids]]
    sd = _sd(paired_differences(values, first.of(measure)))
    if sd == 0:
        raise NotMeasured(
            f"{first.name} and {second.name} differ by the same in {measure} on every query, so nothing can be said of "
            "how differences spread. Give a run that differs, or one run alone, with an assumed correlation."
        )
    return sd


def _sd_of_one(scores: Scores, measure: Measure) -> float:
    sd = _sd(scores.of(measure))
    if sd == 0:
        raise NotMeasured(
            f"Every query of {scores.name} has the same {measure}, so nothing can be said of how differences spread. "
            "Choose a finer measure, or give a standard deviation that you know from elsewhere."
        )
    return sd


def _sd(values: Floats) -> float:
    if len(values) < 2:
        raise NotMeasured("One query says nothing about the spread of differences; judge more queries.")
    return float(standard_deviation(values.reshape(-1, 1))[0])


def _check_mean(measure: Measure) -> None:
    if measure.aggregate == "geometric":
        raise UsageError(
            f"{measure} is no mean over queries, so no test of a mean applies; plan with one, as AP is for GMAP."
        )
    if measure.aggregate == "sum":
        raise UsageError(f"{measure} is a sum over queries, not a mean; plan with a mean such as nDCG@10 or R@100.")


def _checked_correlation(given: float | None) -> float:
    correlation = CORRELATION if given is None else given
    if not -1 <= correlation < 1:
        raise UsageError(
            f"A correlation lies between -1 and 1, and 1 would leave no difference; {given:g} does not do."
        )
    return correlation


def _width(measure: Measure) -> float:
    low, high = measure.bounds
    return high - low
