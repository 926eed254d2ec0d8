"""One case for one contender, in a process of its own, so that memory and start-up belong to it.

Called by the runner; writes one JSON line when everything is ready and one for each repetition.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from typing import Any

from benchmarks.cases import CASES, Case
from benchmarks.contenders import CONTENDERS, Work
from benchmarks.data import Shape, read_qrels, read_run, shape_named

LOOP_SECONDS = 0.2


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case")
    parser.add_argument("contender")
    parser.add_argument("shape")
    parser.add_argument("repeat", type=int)
    given = parser.parse_args()
    case = next(case for case in CASES if case.name == given.case)
    shape = shape_named(given.shape)
    warnings.simplefilter("ignore")
    if case.road == "files":
        _say(mean=CONTENDERS[given.contender].files(shape))
        return
    if case.road == "statistics":
        work, times = _statistics(case, given.contender, shape)
        _say(ready=True, times=times, base_mb=_peak_mb())
    elif case.road == "story":
        # Here, because it imports NumPy, which would be counted to every other road.
        from benchmarks.story import work_of

        work = work_of(case.name, given.contender, shape.n_queries)
        _say(ready=True, base_mb=_peak_mb())
    else:
        work, untimed = _work(case, given.contender, shape)
        _say(ready=True, untimed=untimed, base_mb=_peak_mb())
    measured = _loops if case.loops else _once
    for _ in range(given.repeat):
        measured(work)


def _work(case: Case, contender: str, shape: Shape) -> tuple[Work, float | None]:
    """What is timed, and the seconds that its preparation took: objects built, and a first call that may fill caches.

    Reading the data and compiling are in neither.
    """
    tool = CONTENDERS[contender]
    qrels, run = read_qrels(shape), read_run(shape, case.order)
    if contender == "ranx warm":
        # numba compiles or loads its functions at the first call.
        tool.dicts({"q": {"d": 1}}, {"q": {"d": 1.0}})
    if case.road == "prepared":
        start = time.perf_counter()
        prepared: Work = tool.prepared(qrels, run)
        prepared()
        return prepared, time.perf_counter() - start
    return lambda: tool.dicts(qrels, run), None


def _statistics(case: Case, contender: str, shape: Shape) -> tuple[Work, float]:
    """The part of a case that is timed, and how many times it the whole is."""
    # Here, because it imports NumPy, which would be counted to every other road.
    from benchmarks.stats import part_of, values

    part = part_of(case.name, contender)
    # Libraries are loaded and compiled at the first call.
    part.work(values(30))
    columns = values(shape.n_queries)
    return lambda: part.work(columns), part.times


def _once(work: Work) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    mean = work()
    _say(wall=time.perf_counter() - wall, cpu=time.process_time() - cpu, mean=mean)


def _loops(work: Work) -> None:
    loops = 1
    while True:
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(loops):
            mean = work()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if wall >= LOOP_SECONDS:
            _say(wall=wall / loops, cpu=cpu / loops, mean=mean)
            return
        loops = max(loops * 2, int(loops * LOOP_SECONDS / max(wall, 1e-6)))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
