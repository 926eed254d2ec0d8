"""How often the gate raises a false alarm, and how often it finds a loss: `python -m tests.gate_simulation`.

Writes the table of docs/explanation/gate-checked.md. Every line is a thousand builds, each judged by the gate itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankproof.gate import Drop, Measured, Rules, judge, overall
from rankproof.measures.parse import parse_measure
from rankproof.scoring.rules import PRESETS
from rankproof.scoring.scores import Coverage, Scores
from rankproof.stats.power import smallest_difference
from rankproof.stats.resampling import Floats
from tests.docs.markdown import ROOT, page_text
from tests.stats.simulate import DIFFERENCES, LARGE_LOSSES, Population, drawn, error_of, with_tables

PAGE = "docs/explanation/gate-checked.md"
BUILDS = 1000
SIZES = (25, 50, 200)
N_GROUPS = 5
ALPHA, POWER = 0.05, 0.80
POPULATIONS = (*DIFFERENCES, LARGE_LOSSES)
RR = parse_measure("RR")
RULES = Rules(max_drop={RR: Drop(absolute=0.0)}, permutations=1999)


class Line(NamedTuple):
    """Shares of builds that the gate calls worse."""

    unchanged: float
    unchanged_in_groups: float
    loss: float
    """The loss that `power` promises to show in four of five cases."""
    lost: float
    lost_in_groups: float


def simulated(population: Population, n: int, builds: int = BUILDS) -> Line:
    """What the gate says of builds without a change, and of builds that lose what power promises to show."""
    differences = drawn(population, n, builds)
    spread = float(population.draw(np.random.RandomState(0), (200_000, 1)).std())
    loss = smallest_difference(n, spread)
    return Line(
        _red(differences, grouped=False), _red(differences, grouped=True), loss,
        _red(differences - loss, grouped=False), _red(differences - loss, grouped=True),
    )  # fmt: skip


def _red(differences: Floats, *, grouped: bool) -> float:
    queries = [f"q{i}" for i in range(len(differences))]
    groups = {query: f"g{i % N_GROUPS}" for i, query in enumerate(queries)} if grouped else {}
    before = _scores(queries, np.full(len(queries), 0.5))
    outcomes = [
        overall(judge(RULES, Measured(_scores(queries, 0.5 + build), groups=groups), before)) for build in differences.T
    ]
    return outcomes.count("worse") / len(outcomes)


def _scores(queries: list[str], values: Floats) -> Scores:
    return Scores((RR,), queries, values[None, :], lambda: Coverage(0, 0, 0, 0, 0, 0), PRESETS["default"])


def table() -> str:
    """The lines as Markdown, in percent."""
    rows = [
        "| differences | queries | no change | no change, groups | loss | found | found, groups |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for population in POPULATIONS:
        for n in SIZES:
            line = simulated(population, n)
            shares = [f"{100 * share:.1f}" for share in (line.unchanged, line.unchanged_in_groups)]
            found = [f"{100 * share:.1f}" for share in (line.lost, line.lost_in_groups)]
            rows.append(f"| {population.name} | {n} | {' | '.join(shares)} | {line.loss:.3f} | {' | '.join(found)} |")
    alarm, miss = (200 * error_of(share, BUILDS) for share in (ALPHA, POWER))
    return "\n".join(rows) + (
        f"\n\nPercent of {BUILDS:,} builds; a true 5.0 shows as 5.0 ± {alarm:.1f}, a true 80.0 as 80.0 ± {miss:.1f}."
    )


def main() -> None:
    """Write the table into the page."""
    text = with_tables(page_text(PAGE), {"gate": table()})
    (ROOT / PAGE).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
