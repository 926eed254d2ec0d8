"""How often intervals cover the true mean and tests raise a false alarm: `python -m tests.stats.simulate`.

Writes the tables of docs/explanation/statistics-checked.md, which takes a few minutes. Every draw is a column, so that
thousands of experiments are one call.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from rankproof.stats.intervals import IntervalMethod, mean_intervals
from rankproof.stats.margins import margin_tests
from rankproof.stats.paired import TestName, paired_tests
from rankproof.stats.resampling import Floats
from tests.docs.markdown import ROOT, page_text

PAGE = "docs/explanation/statistics-checked.md"
SIZES = (10, 25, 50, 200)
DRAWS = 4000
LEVEL, ALPHA = 0.95, 0.05
RESAMPLES = 2000
PERMUTATIONS = 4999
MARGIN = 0.02
METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
TESTS: tuple[TestName, ...] = get_args(TestName)

Draw = Callable[[np.random.RandomState, tuple[int, int]], Floats]


@dataclass(frozen=True)
class Population:
    """What queries are drawn from."""

    name: str
    mean: float
    draw: Draw
    symmetric: bool = True
    """About its mean, which is what Wilcoxon's test and the sign test take for granted."""


def _normal(rng: np.random.RandomState, shape: tuple[int, int]) -> Floats:
    return rng.normal(0.0, 0.2, shape)


def _few_change(rng: np.random.RandomState, shape: tuple[int, int]) -> Floats:
    """Seven queries of ten stay as they are; the others move by up to 1, in steps as nDCG makes them."""
    changes = np.round(rng.beta(1.0, 2.0, shape), 2) * rng.choice([-1.0, 1.0], shape)
    return np.where(rng.random_sample(shape) < 0.3, changes, 0.0)


def _large_gains(rng: np.random.RandomState, shape: tuple[int, int]) -> Floats:
    return 0.2 * (rng.exponential(1.0, shape) - 1.0)


def _large_losses(rng: np.random.RandomState, shape: tuple[int, int]) -> Floats:
    return -_large_gains(rng, shape)


def _found_or_not(rng: np.random.RandomState, shape: tuple[int, int]) -> Floats:
    luck = rng.random_sample(shape)
    return np.where(luck < 0.2, 0.0, np.where(luck < 0.35, 1.0, rng.beta(2.0, 1.5, shape)))


def _mostly_zero(rng: np.random.RandomState, shape: tuple[int, int]) -> Floats:
    return np.where(rng.random_sample(shape) < 0.15, rng.beta(2.0, 2.0, shape), 0.0)


DIFFERENCES = (
    Population("normal", 0.0, _normal),
    Population("few queries change", 0.0, _few_change),
    Population("skewed: few large gains", 0.0, _large_gains, symmetric=False),
)
LARGE_LOSSES = Population("skewed: few large losses", 0.0, _large_losses, symmetric=False)
"""Only for tests: its intervals are those of large gains turned round."""
VALUES = (
    Population("one system: 20 % at 0, 15 % at 1", 0.15 + 0.65 * 2 / 3.5, _found_or_not, symmetric=False),
    Population("one system: 85 % at 0", 0.15 / 2, _mostly_zero, symmetric=False),
)


def drawn(population: Population, n: int, draws: int = DRAWS) -> Floats:
    """Queries × draws; the same in every run."""
    # The streams of RandomState are frozen; those of the newer generators may change with NumPy.
    return population.draw(np.random.RandomState(n), (n, draws))


def covered(population: Population, columns: Floats, method: IntervalMethod) -> float:
    """The share of draws whose interval holds the true mean."""
    found = mean_intervals(columns, level=LEVEL, method=method, resamples=RESAMPLES)
    ends = np.array([one.as_list() for one in found])
    return float(((ends[:, 0] <= population.mean) & (population.mean <= ends[:, 1])).mean())


def rejected(columns: Floats, test: TestName) -> float:
    """The share of draws in which the test finds a difference."""
    found = paired_tests(columns, test=test, permutations=PERMUTATIONS)
    return float(np.mean([one.p_value <= ALPHA for one in found]))


def let_through(columns: Floats, test: TestName) -> float:
    """The share of draws in which a candidate that is worse by exactly the margin passes as not inferior."""
    found = margin_tests(columns - MARGIN, MARGIN, test=test, permutations=PERMUTATIONS)
    return float(np.mean([one.non_inferiority_p <= ALPHA for one in found]))


def error_of(share: float, draws: int = DRAWS) -> float:
    """The standard error of a simulated share."""
    return float(np.sqrt(share * (1 - share) / draws))


def coverage_table() -> str:
    """Coverage of the intervals, in percent."""
    rows = []
    for population in (*DIFFERENCES, *VALUES):
        for n in SIZES:
            _say(f"coverage: {population.name}, {n} queries")
            columns = drawn(population, n)
            rows.append([population.name, str(n), *(_percent(covered(population, columns, m)) for m in METHODS)])
    return _table(["values", "queries", *METHODS], rows) + _margin_of_error(LEVEL)


def size_table() -> str:
    """False alarms of the tests, in percent."""
    rows = []
    for population in (*DIFFERENCES, LARGE_LOSSES):
        for n in SIZES:
            _say(f"size: {population.name}, {n} queries")
            columns = drawn(population, n)
            asked = [test for test in TESTS if population.symmetric or test in ("randomization", "t")]
            sizes = [_percent(rejected(columns, test)) if test in asked else "–" for test in TESTS]
            rows.append([population.name, str(n), *sizes, _percent(let_through(columns, "randomization"))])
    return _table(["differences", "queries", *TESTS, "non-inferiority"], rows) + _margin_of_error(ALPHA)


def with_tables(text: str, tables: dict[str, str]) -> str:
    """The page with each table between its markers."""
    for name, made in tables.items():
        text, found = re.subn(
            rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)",
            lambda match, made=made: f"{match[1]}\n{made}\n\n{match[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
        if found != 1:
            raise ValueError(f"{PAGE} has no place for the table of {name}")
    return text


def table_in(text: str, name: str) -> dict[tuple[str, int], dict[str, str]]:
    """A table of the page: (population, queries) → column → cell."""
    found = re.search(rf"<!-- {name}: .*? -->\n(.*?)<!-- end of {name} -->", text, re.DOTALL)
    if found is None:
        raise ValueError(f"{PAGE} has no table of {name}")
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {(row[0], int(row[1])): dict(zip(head[2:], row[2:], strict=True)) for row in rows}


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _margin_of_error(share: float) -> str:
    error = 2 * error_of(share)
    return f"\n\nPercent of {DRAWS:,} draws; a true {_percent(share)} shows as {_percent(share)} ± {_percent(error)}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Write both tables into the page."""
    text = with_tables(page_text(PAGE), {"coverage": coverage_table(), "false alarms": size_table()})
    (ROOT / PAGE).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
