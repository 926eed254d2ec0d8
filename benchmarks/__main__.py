"""`python -m benchmarks`: measure everything and print the table."""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.cases import CASES, Case, is_built_long, is_slow
from benchmarks.data import OUT, SHAPES, Shape
from benchmarks.report import Result, source_digest, tables, write_json
from benchmarks.runner import Measurement, measure


def main() -> int:
    """Run the cases that were asked for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases whose name holds this")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="repetitions; the shortest counts")
    parser.add_argument("--quick", action="store_true", help="shapes ten times smaller; targets are not meant for them")
    parser.add_argument("--no-heavy", action="store_true", help="no ir_measures and no ranx on the large shapes")
    parser.add_argument(
        "--graph", action="store_true", help="usearch's graph of vectors too, built for most of a minute"
    )
    given = parser.parse_args()
    cases = [case for case in CASES if given.only in case.name]
    if not cases:
        parser.error(f"no case holds {given.only!r}; there are {', '.join(case.name for case in CASES)}")
    before = source_digest()
    results = [
        _measured(case, quick=given.quick, heavy=not given.no_heavy, graph=given.graph, repeat=given.repeat)
        for case in cases
    ]
    print(tables(results), end="")
    OUT.mkdir(exist_ok=True)
    source = before if source_digest() == before else None
    if source is None:
        _say("Our code changed while it was measured: these figures belong to no one version of it.")
    # A part does not replace the figures of the whole.
    name = "results-partial.json" if given.only or given.quick else "results.json"
    write_json(OUT / name, results, source=source, quick=given.quick, repeat=given.repeat)
    return 0


def _measured(case: Case, *, quick: bool, heavy: bool, graph: bool, repeat: int) -> Result:
    shape = _shape(case, quick)
    if case.shape and case.road not in ("statistics", "story"):
        _say(f"{case.name}: data")
        # In a process of its own, because the peak memory of this one is the floor of every worker's.
        writer = "benchmarks.search" if case.road == "search" else "benchmarks.data"
        subprocess.run([sys.executable, "-m", writer, shape.name], check=True)
    found: dict[str, Measurement] = {}
    for contender in ("rankproof", *case.peers):
        if not heavy and is_slow(case, contender):
            found[contender] = Measurement(contender, absent="left out")
            continue
        if not graph and is_built_long(contender):
            found[contender] = Measurement(contender, absent="left out (--graph)")
            continue
        _say(f"{case.name}: {contender}")
        found[contender] = measure(case, contender, shape, repeat)
    ours = found.pop("rankproof")
    return Result(case, ours, found)


def _shape(case: Case, quick: bool) -> Shape:
    shape = SHAPES.get(case.shape, Shape(case.shape or "none", 0, 0))
    return shape.smaller() if quick and not case.loops else shape


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
