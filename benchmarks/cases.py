"""What is measured, who takes part, and what we aim at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.data import Order

Road = Literal["files", "dicts", "prepared", "start", "statistics", "story", "search"]

N_SYSTEMS, N_MEASURES = 8, 6
"""Of the statistics: every two systems are compared under every measure, 168 tests."""
N_TOKENS = 200
"""Of each scene of a story."""
EVERYBODY = ("pytrec_eval", "ir_measures", "ranx cold", "ranx warm")


@dataclass(frozen=True)
class Target:
    """What we aim at: so many times as fast as another, within so much memory or time."""

    ratio: float | None = None
    against: str = "pytrec_eval"
    peak_mb: float | None = None
    wall: float | None = None

    def __str__(self) -> str:
        parts = []
        if self.ratio is not None:
            parts.append(f"{self.ratio:g}x" + (f" {self.against}" if self.against != "pytrec_eval" else ""))
        if self.peak_mb is not None:
            parts.append(f"< {self.peak_mb:g} MB")
        if self.wall is not None:
            parts.append(f"< {self.wall:g} s")
        return ", ".join(parts) or "-"


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    name: str
    road: Road
    shape: str = ""
    order: Order = "sorted"
    peers: tuple[str, ...] = EVERYBODY
    target: Target = Target()
    loops: bool = False
    """So short that a measurement is a loop of many evaluations."""
    command: tuple[str, ...] = ()
    """For a start: the program beside this interpreter, and its arguments."""


_FROM_FILES = tuple(peer for peer in EVERYBODY if peer != "ranx warm")
_ADVERSE = ("pytrec_eval",)
_TINY = tuple(peer for peer in EVERYBODY if peer != "ranx cold")
_BARE = ("bare python",)
_TESTS = ("scipy", "ranx warm")
_INTERVALS = ("scipy",)
_TFIDF = ("sklearn",)
_ENGINES = ("tantivy", "bm25s")
_NEAREST = ("numpy batches", "numpy single", "usearch graph")
_AS_TANTIVY = Target(0.83, "tantivy")
"""Within 1.2 times its time."""
_AS_NUMPY = Target(1, "numpy batches")

CASES = (
    Case("files marco", "files", "marco", peers=_FROM_FILES, target=Target(10, peak_mb=150)),
    Case("files deep", "files", "deep", peers=_FROM_FILES, target=Target(2)),
    Case("files wide", "files", "wide", peers=_FROM_FILES, target=Target(6)),
    Case("dicts marco", "dicts", "marco", target=Target(20)),
    Case("dicts deep", "dicts", "deep", target=Target(2)),
    Case("dicts wide", "dicts", "wide", target=Target(5)),
    Case("dicts marco shuffled", "dicts", "marco", "shuffled", _ADVERSE, Target(10)),
    Case("dicts marco integer scores", "dicts", "marco", "integer", _ADVERSE, Target(10)),
    Case("dicts marco equal scores", "dicts", "marco", "equal", _ADVERSE, Target(2)),
    Case("tiny 1x10", "dicts", "1x10", peers=_TINY, target=Target(1), loops=True),
    Case("tiny 10x20", "dicts", "10x20", peers=_TINY, target=Target(1), loops=True),
    Case("tiny 10x100", "dicts", "10x100", peers=_TINY, target=Target(1), loops=True),
    Case("prepared marco", "prepared", "marco", peers=("pytrec_eval", "ranx warm"), target=Target(30, "ranx warm")),
    Case("start --help", "start", peers=_BARE, target=Target(wall=0.3), command=("rankproof", "--help")),
    Case("start import", "start", peers=_BARE, command=("python", "-c", "import rankproof")),
    Case("statistics 1 test", "statistics", "queries", peers=_TESTS, target=Target(50, "scipy", 1024)),
    Case("statistics 168 tests", "statistics", "queries", peers=_TESTS, target=Target(1000, "scipy", 1024)),
    Case("statistics percentile", "statistics", "queries", peers=_INTERVALS, target=Target(20, "scipy", 1024)),
    Case("statistics bca", "statistics", "queries", peers=_INTERVALS, target=Target(20, "scipy", 1024)),
    Case("story encode", "story", "scenes", peers=_TFIDF, target=Target(against="sklearn", wall=10)),
    Case("story 100 queries", "story", "scenes", peers=_TFIDF, target=Target(against="sklearn", wall=2)),
    Case("search texts build", "search", "texts", peers=_ENGINES, target=_AS_TANTIVY),
    Case("search texts k=10", "search", "texts", peers=_ENGINES, target=_AS_TANTIVY),
    Case("search texts k=100", "search", "texts", peers=_ENGINES, target=_AS_TANTIVY),
    Case("search vectors k=10", "search", "vectors", peers=_NEAREST, target=_AS_NUMPY),
    Case("search vectors k=100", "search", "vectors", peers=_NEAREST, target=_AS_NUMPY),
)


def is_slow(case: Case, contender: str) -> bool:
    """Whether the contender takes minutes; where our target is a ratio to it, it stays."""
    large = case.shape in ("marco", "wide") and contender in ("ir_measures", "ranx cold", "ranx warm")
    return large and contender != case.target.against


def is_built_long(contender: str) -> bool:
    """Whether the contender prepares for most of a minute, which is asked for and not the default."""
    return contender == "usearch graph"
