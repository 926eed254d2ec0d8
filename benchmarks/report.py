"""The table for eyes and the file for machines."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import rankproof
from benchmarks.cases import N_MEASURES, N_SYSTEMS, N_TOKENS, Case
from benchmarks.runner import Measurement

SCHEMA_VERSION = 1
PACKAGES = (
    "rankproof",
    "numpy",
    "pytrec-eval-terrier",
    "ir-measures",
    "ranx",
    "numba",
    "scipy",
    "scikit-learn",
    "tantivy",
    "bm25s",
    "usearch",
)
SAME_WITHIN = 1e-3
"""Means may differ by so much: pytrec_eval ties scores that are equal in single precision."""
FOUND_WITHIN = 0.01
"""Of search, in proportion: tantivy rounds the lengths of documents, and we round vectors."""


@dataclass(frozen=True)
class Result:
    """What was measured for one case."""

    case: Case
    ours: Measurement
    peers: Mapping[str, Measurement]

    @property
    def reference(self) -> str:
        """The peer that the ratio is taken to."""
        return "bare python" if self.case.road == "start" else self.case.target.against

    def ratio(self) -> float | None:
        """How many times as fast we are; for a start, how many times as long it takes."""
        peer = self.peers.get(self.reference)
        if peer is None or peer.wall is None or self.ours.wall is None:
            return None
        return self.ours.wall / peer.wall if self.case.road == "start" else peer.wall / self.ours.wall

    def met(self) -> bool | None:
        """Whether the target is reached; None if there is none or it was not measured."""
        target, wall = self.case.target, self.ours.wall
        if wall is None:
            return None
        checks = []
        if target.ratio is not None:
            ratio = self.ratio()
            if ratio is None:
                return None
            checks.append(ratio >= target.ratio)
        if target.peak_mb is not None:
            checks.append(self.ours.peak_mb < target.peak_mb)
        if target.wall is not None:
            checks.append(wall < target.wall)
        return all(checks) if checks else None

    def disagreeing(self) -> list[str]:
        """Peers whose means are not ours."""
        if self.case.road in ("statistics", "story"):
            # Everybody draws other signs and resamples, or weighs words otherwise; the tests compare the figures.
            return []
        if self.case.road == "search":
            return [
                name
                for name, peer in self.peers.items()
                if any(abs(value / self.ours.mean[what] - 1) > FOUND_WITHIN for what, value in peer.mean.items())
            ]
        return [
            name
            for name, peer in self.peers.items()
            if any(abs(value - self.ours.mean[measure]) > SAME_WITHIN for measure, value in peer.mean.items())
        ]


def tables(results: Sequence[Result]) -> str:
    """Scores, then statistics, then stories, then search: one line per case, with a column for each peer."""
    statistics = [result for result in results if result.case.road == "statistics"]
    stories = [result for result in results if result.case.road == "story"]
    texts = [result for result in results if result.case.road == "search" and result.case.shape == "texts"]
    vectors = [result for result in results if result.case.road == "search" and result.case.shape == "vectors"]
    scores = [result for result in results if result.case.road not in ("statistics", "story", "search")]
    parts = []
    if scores:
        parts.append(_table(scores, ("pytrec_eval", "ir_measures", "ranx cold", "ranx warm"), _score_notes(scores)))
    if statistics:
        parts.append(_table(statistics, ("scipy", "ranx warm"), _statistics_notes(statistics)))
    if stories:
        parts.append(_table(stories, ("sklearn",), _story_notes(stories)))
    if texts:
        parts.append(_table(texts, ("tantivy", "bm25s"), _search_notes(texts)))
    if vectors:
        peers = ("numpy batches", "numpy single", "usearch graph")
        parts.append(_table(vectors, peers, _search_notes(vectors)))
    return "\n".join(parts)


def _table(results: Sequence[Result], peers: Sequence[str], notes: Sequence[str]) -> str:
    rows = [
        ["case", "ours", "CPU", "MB", *peers, "ratio", "target", "met"],
        *(_row(result, peers) for result in results),
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, *notes]) + "\n"


def _score_notes(results: Sequence[Result]) -> list[str]:
    notes = [f"{r.case.name}: {name} gives other means than we do" for r in results for name in r.disagreeing()]
    return notes + [_preparation(result) for result in results if result.ours.untimed is not None]


def _statistics_notes(results: Sequence[Result]) -> list[str]:
    scaled = [
        f"{result.case.name}: {name} is {peer.wall / peer.times:.2f} s measured, times {peer.times:g}"
        for result in results
        for name, peer in result.peers.items()
        if peer.wall is not None
    ]
    return [
        f"{N_SYSTEMS} systems x {N_MEASURES} measures; ours is measured whole, the others in part and scaled:",
        *scaled,
    ]


def _story_notes(results: Sequence[Result]) -> list[str]:
    sizes = [
        f"{result.case.name}: the index takes {one.mean['bytes'] / 1e6:.1f} MB in {one.contender}"
        for result in results
        for one in (result.ours, *result.peers.values())
        if "bytes" in one.mean
    ]
    return [f"scenes of {N_TOKENS} tokens as vectors of 10,000 dimensions, beside TF-IDF of scikit-learn", *sizes]


def _search_notes(results: Sequence[Result]) -> list[str]:
    notes = [f"{r.case.name}: {name} finds other scores than we do" for r in results for name in r.disagreeing()]
    for result in results:
        unit = "documents" if "documents" in result.ours.mean else "queries"
        rates = [
            f"{one.contender} {one.mean.get(unit, 1_000) / one.wall:,.0f} ({_seconds(one.cpu)} CPU)"
            for one in (result.ours, *result.peers.values())
            if one.wall is not None and one.cpu is not None
        ]
        notes.append(f"{result.case.name}: {unit} a second: {', '.join(rates)}")
    return notes


def _preparation(result: Result) -> str:
    """What a prepared evaluation cost before: without it the ratio reads as if a first evaluation were so quick."""
    spent = [f"{m.contender} {_seconds(m.untimed)}" for m in (result.ours, *result.peers.values()) if m.untimed]
    return f"{result.case.name}: repeated calls only; objects and first call, not counted, took {', '.join(spent)}"


def _row(result: Result, names: Sequence[str]) -> list[str]:
    ours, ratio, met = result.ours, result.ratio(), result.met()
    peers = [_peer(result.peers.get(name)) for name in names]
    own = [_seconds(ours.wall) or ours.absent, _seconds(ours.cpu), f"{ours.peak_mb:.0f}" if ours.walls else ""]
    unit = f"x {result.reference}" if result.reference != "pytrec_eval" else "x"
    shown = "" if ratio is None else f"{ratio:.{1 if ratio >= 1 else 2}f}{unit}"
    verdict = {True: "yes", False: "NO", None: "-"}[met]
    return [result.case.name, *own, *peers, shown, str(result.case.target), verdict]


def _peer(found: Measurement | None) -> str:
    if found is None:
        return "-"
    if found.wall is None:
        return found.absent
    once = " (once)" if len(found.walls) == 1 else ""
    return f"{_seconds(found.wall)}, {found.peak_mb:.0f} MB{once}"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1000:.3g} ms"


def source_digest() -> str:
    """What our code was, so that figures of one code are not read as those of another."""
    digest = sha256()
    for path in sorted(Path(rankproof.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def write_json(path: Path, results: Sequence[Result], *, source: str | None, quick: bool, repeat: int) -> None:
    """Every raw figure, with what it was measured on; `source` is None if our code changed meanwhile."""
    content = {
        "source": source,
        "schema_version": SCHEMA_VERSION,
        "machine": {"cores": os.cpu_count(), "system": platform.system(), "architecture": platform.machine()},
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "quick": quick,
        "repeat": repeat,
        "cases": [_case(result) for result in results],
    }
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    partial.replace(path)


def _case(result: Result) -> dict[str, Any]:
    return {
        "case": result.case.name,
        "target": str(result.case.target),
        "met": result.met(),
        "ratio": result.ratio(),
        "ratio_to": result.reference,
        "ours": result.ours.as_dict(),
        "peers": {name: peer.as_dict() for name, peer in result.peers.items()},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
