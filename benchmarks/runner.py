"""Starts the workers, one at a time, and holds what they say."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import sysconfig
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.contenders import Means, is_installed, package_of
from benchmarks.data import Shape

LIMIT = 120.0
"""Seconds that one evaluation may take."""
ENOUGH = 40.0
"""Seconds after which a slow peer is not asked again."""


@dataclass
class Measurement:
    """What one contender needed for one case: one entry per repetition."""

    contender: str
    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    peak_mb: float = 0.0
    base_mb: float | None = None
    """Peak before the evaluation began, where data was read beforehand."""
    untimed: float | None = None
    """Seconds of preparation, the first call included, that are not part of the repetitions."""
    times: float = 1.0
    """How many times what was measured the whole would be."""
    mean: Means = field(default_factory=dict)
    absent: str = ""
    """Why there is no figure."""

    @property
    def wall(self) -> float | None:
        """The shortest repetition, scaled to the whole."""
        return min(self.walls) * self.times if self.walls else None

    @property
    def cpu(self) -> float | None:
        """The least processor time of a repetition, scaled to the whole."""
        return min(self.cpus) * self.times if self.cpus else None

    def as_dict(self) -> dict[str, Any]:
        """The raw figures."""
        return {**asdict(self), "wall": self.wall, "cpu": self.cpu}


@dataclass(frozen=True)
class _Ended:
    """A process that is over."""

    wall: float
    cpu: float
    peak_mb: float
    said: list[dict[str, Any]]
    too_slow: bool
    code: int
    error: str


def measure(case: Case, contender: str, shape: Shape, repeat: int) -> Measurement:
    """One contender on one case."""
    if case.road != "start" and not is_installed(contender):
        return Measurement(contender, absent=f"{package_of(contender)} is not installed")
    if case.road == "start":
        return _starts(case, contender, repeat)
    if case.road == "files":
        return _processes(case, contender, shape, repeat)
    return _repetitions(case, contender, shape, repeat)


def _starts(case: Case, contender: str, repeat: int) -> Measurement:
    """Starts of the interpreter, with our command or with nothing to do."""
    program, *arguments = ("python", "-c", "pass") if contender == "bare python" else case.command
    command = [str(Path(sysconfig.get_path("scripts")) / program), *arguments]
    found = Measurement(contender)
    for _ in range(max(repeat, 10)):
        _note(found, _run(command), said_times=False)
    return found


def _processes(case: Case, contender: str, shape: Shape, repeat: int) -> Measurement:
    """Whole processes, start-up included."""
    found = Measurement(contender)
    for _ in range(repeat):
        _note(found, _run(_worker(case, contender, shape, 1)), said_times=False)
        if found.absent or found.walls[-1] > ENOUGH:
            break
    return found


def _repetitions(case: Case, contender: str, shape: Shape, repeat: int) -> Measurement:
    """Evaluations inside a process that holds its data."""
    found = Measurement(contender)
    # A cold start is one only once per process.
    processes, within = (repeat, 1) if contender == "ranx cold" else (1, repeat)
    for _ in range(processes):
        _note(found, _run(_worker(case, contender, shape, within), first_word=3 * LIMIT), said_times=True)
        if found.absent or found.walls[-1] > ENOUGH:
            break
    return found


def _worker(case: Case, contender: str, shape: Shape, repeat: int) -> list[str]:
    module = "benchmarks.search" if case.road == "search" else "benchmarks.worker"
    return [sys.executable, "-m", module, case.name, contender, shape.name, str(repeat)]


def _note(found: Measurement, ended: _Ended, *, said_times: bool) -> None:
    """Add what a process showed to the measurement."""
    timed = [line for line in ended.said if "wall" in line]
    if ended.code and not ended.too_slow:
        found.absent = f"failed: {ended.error}"
        return
    if ended.too_slow and not (said_times and timed):
        found.absent = f"> {LIMIT:.0f} s"
        return
    if said_times:
        found.walls += [line["wall"] for line in timed]
        found.cpus += [line["cpu"] for line in timed]
    else:
        found.walls.append(ended.wall)
        found.cpus.append(ended.cpu)
    found.peak_mb = max(found.peak_mb, ended.peak_mb)
    for line in ended.said:
        found.base_mb = line.get("base_mb", found.base_mb)
        found.untimed = line.get("untimed", found.untimed)
        found.times = line.get("times", found.times)
        found.mean = line.get("mean", found.mean)


def _run(command: list[str], *, first_word: float = LIMIT) -> _Ended:
    """Run a process to its end, or until it has been silent for longer than an evaluation may take.

    `first_word`: how long its first word may take, in seconds; it may read its data before.
    """
    start = time.perf_counter()
    # The peak of a child starts at that of its parent: this process stays small for that reason.
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        texts = {process.stdout: b"", process.stderr: b""}
        for stream in texts:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        deadline = start + first_word
        too_slow = False
        while selector.get_map():
            events = selector.select(timeout=max(deadline - time.perf_counter(), 0))
            if not events:
                too_slow = True
                process.kill()
                break
            for key, _ in events:
                stream = key.fileobj  # type: ignore[assignment]
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(stream)
                elif stream is process.stdout:
                    deadline = time.perf_counter() + LIMIT
                texts[stream] += chunk
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    said = [json.loads(line) for line in texts[process.stdout].splitlines() if line.startswith(b"{")]
    error = (texts[process.stderr].decode(errors="replace").strip().splitlines() or [""])[-1]
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return _Ended(wall, cpu, peak, said, too_slow, process.returncode, error)
