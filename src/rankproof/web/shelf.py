"""The runs and scores that `rankproof eval` saved, looked up by the names of their files and never by a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.run import Run
from rankproof.errors import RankproofError, UnknownName
from rankproof.measures.registry import Measure
from rankproof.scoring.alike import check_alike
from rankproof.scoring.score_file import read_scores
from rankproof.scoring.scores import Scores
from rankproof.web.desk import without_paths

SCORES = ".scores.json"
_RUNS = (".run", ".run.json")


@dataclass(frozen=True)
class Book:
    """One saved run with its scores."""

    name: str
    scores: Scores | None
    fault: str = ""
    """Why the scores cannot be read."""


class Delta(NamedTuple):
    """What a query is worth under two runs."""

    query: Query
    baseline: float
    candidate: float

    @property
    def change(self) -> float:
        """By how much the candidate is better."""
        return self.candidate - self.baseline


@dataclass(frozen=True)
class Deltas:
    """Two runs, query by query, under one measure."""

    measure: Measure
    rows: tuple[Delta, ...]
    """The greatest changes first."""

    @property
    def n_better(self) -> int:
        """Queries that are better with the candidate."""
        return sum(row.change > 0 for row in self.rows)

    @property
    def n_worse(self) -> int:
        """Queries that are worse with the candidate."""
        return sum(row.change < 0 for row in self.rows)


@dataclass(frozen=True)
class Result:
    """A document that a run returned."""

    rank: int
    doc_id: str
    score: float
    grade: float | None
    """None where nobody judged it."""
    document: Document | None
    """None if the corpus is not known, or does not have it."""


@dataclass
class Shelf:
    """A folder of saved runs, read when it is looked at."""

    folder: Path | None
    gold: GoldSet | None = None
    corpus: Corpus | None = None
    _lock: Lock = field(default_factory=Lock, repr=False)
    _read: dict[Path, tuple[object, Any]] = field(default_factory=dict, repr=False)

    def books(self) -> list[Book]:
        """Every saved run, by name."""
        if self.folder is None or not self.folder.is_dir():
            return []
        return [book for path in sorted(self.folder.glob(f"*{SCORES}")) for book in self._books(path)]

    def scores(self, name: str) -> Scores | None:
        """The scores of a run; None if there are none under that name."""
        return next((book.scores for book in self.books() if book.name == name), None)

    def deltas(self, baseline: Scores, candidate: Scores, measure: Measure) -> Deltas:
        """Two runs query by query; refused unless they were made of the same queries in the same way."""
        check_alike([baseline, candidate])
        at = {query_id: i for i, query_id in enumerate(candidate.query_ids)}
        ours, theirs = baseline.of(measure).tolist(), candidate.of(measure).tolist()
        rows = [Delta(self.query(q), value, theirs[at[q]]) for q, value in zip(baseline.query_ids, ours, strict=True)]
        rows.sort(key=lambda row: (-abs(row.change), row.query.id))
        return Deltas(measure, tuple(rows))

    def query(self, query_id: str) -> Query:
        """What is known of a query."""
        return self._queries.get(query_id) or Query(query_id, query_id)

    def results(self, name: str, query_id: str, depth: int) -> tuple[Result, ...] | None:
        """What a run returned for a query; None if the run itself was not saved."""
        if self.folder is None:
            return None
        stem = name.partition(": ")[0]
        known = {path.name: path for path in self.folder.iterdir()}
        path = next((known[f"{stem}{ending}"] for ending in _RUNS if f"{stem}{ending}" in known), None)
        if path is None:
            return None
        run: dict[str, dict[str, float]] = self._kept(path, lambda: Run.read(path).to_dict())
        ranked = sorted(run.get(query_id, {}).items(), key=lambda hit: (hit[1], hit[0]), reverse=True)
        grades = self._grades.get(query_id, {})
        documents = {} if self.corpus is None else self.corpus.by_id
        return tuple(
            Result(rank, doc_id, score, grades.get(doc_id), documents.get(doc_id))
            for rank, (doc_id, score) in enumerate(ranked[:depth], 1)
        )

    @cached_property
    def _queries(self) -> Mapping[str, Query]:
        return {} if self.gold is None else {query.id: query for query in self.gold.queries}

    @cached_property
    def _grades(self) -> Mapping[str, Mapping[str, float]]:
        return {} if self.gold is None else self.gold.qrels.to_dict()

    def _books(self, path: Path) -> list[Book]:
        stem = path.name.removesuffix(SCORES)
        try:
            found: list[Scores] = self._kept(path, lambda: read_scores(path))
        except RankproofError as exc:
            return [Book(stem, None, without_paths(exc))]
        if len(found) == 1:
            return [Book(stem, found[0])]
        return [Book(f"{stem}: {scores.name}", scores) for scores in found]

    def _kept(self, path: Path, read: Any) -> Any:
        """What a file holds, read again only when the file is another."""
        now = path.stat()
        sign = (now.st_mtime_ns, now.st_size, now.st_ino)
        with self._lock:
            if path not in self._read or self._read[path][0] != sign:
                self._read[path] = (sign, read())
            return self._read[path][1]


def measure_of(scores: Scores, name: str | None) -> Measure:
    """The measure of this name among the scores; the first if none is named."""
    if name is None:
        return scores.measures[0]
    for measure in scores.measures:
        if str(measure) == name:
            return measure
    raise UnknownName("measure among the scores", name, map(str, scores.measures))
