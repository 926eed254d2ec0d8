"""The shapes that are measured, written once as TREC files and read back as dicts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

OUT = Path(__file__).parent / "out"
COLLECTION = 8_841_823
"""Documents are numbered up to here, as in MS MARCO."""

Dicts = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]
Order = Literal["sorted", "shuffled", "integer", "equal"]


@dataclass(frozen=True)
class Shape:
    """How many queries, results and judgments."""

    name: str
    n_queries: int
    depth: int
    n_judged: int = 1
    """Judgments per query; graded 0 to 3 if there are several."""

    def smaller(self) -> Shape:
        """The same with a tenth of the queries."""
        return Shape(f"{self.name}-small", max(self.n_queries // 10, 1), self.depth, self.n_judged)

    @property
    def run_file(self) -> Path:
        """Where the results are written."""
        return OUT / f"{self.name}.run"

    @property
    def qrels_file(self) -> Path:
        """Where the judgments are written."""
        return OUT / f"{self.name}.qrels"


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("marco", 6_980, 1_000),
        Shape("deep", 250, 1_000, 1_000),
        Shape("wide", 1_000_000, 10),
        Shape("1x10", 1, 10, 5),
        Shape("10x20", 10, 20, 5),
        Shape("10x100", 10, 100, 5),
        Shape("queries", 7_000, 0),
        Shape("scenes", 10_000, 0),
    )
}


def shape_named(name: str) -> Shape:
    """The shape of that name, `-small` ones included."""
    plain = name.removesuffix("-small")
    return SHAPES[plain] if plain == name else SHAPES[plain].smaller()


def write(shape: Shape) -> None:
    """Write both files unless they are there; the same bytes every time."""
    if shape.run_file.exists() and shape.qrels_file.exists():
        return
    OUT.mkdir(exist_ok=True)
    partial = [path.with_suffix(path.suffix + ".part") for path in (shape.run_file, shape.qrels_file)]
    with partial[0].open("w") as run, partial[1].open("w") as qrels:
        for query, docs, scores, judged in _queries(shape):
            run.writelines(
                f"{query} Q0 {doc} {rank} {score:.6f} bm25\n"
                for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1)
            )
            qrels.writelines(f"{query} 0 {doc} {grade}\n" for doc, grade in judged)
    partial[0].replace(shape.run_file)
    partial[1].replace(shape.qrels_file)


def _queries(shape: Shape) -> Iterator[tuple[int, list[int], list[float], list[tuple[int, int]]]]:
    rng = Random(20_261_101)
    queries = rng.sample(range(1_000_000, 10_000_000), shape.n_queries)
    for query in queries:
        # A third of the judged documents are not among the results.
        docs = rng.sample(range(1, COLLECTION), shape.depth + shape.n_judged // 3 + 1)
        retrieved, others = docs[: shape.depth], docs[shape.depth :]
        scores = sorted((rng.random() * 30 for _ in retrieved), reverse=True)
        if shape.n_judged == 1:
            place = int(rng.expovariate(0.1))
            relevant = retrieved[place] if place < shape.depth and rng.random() < 0.85 else others[0]
            yield query, retrieved, scores, [(relevant, 1)]
        else:
            found = rng.sample(retrieved, min(shape.n_judged - len(others), shape.depth))
            judged = found + others
            grades = rng.choices((0, 1, 2, 3), (70, 15, 10, 5), k=len(judged))
            yield query, retrieved, scores, list(zip(judged, grades, strict=True))


def read_qrels(shape: Shape) -> Grades:
    """Query → document → grade."""
    grades: Grades = {}
    with shape.qrels_file.open() as lines:
        for line in lines:
            query, _, doc, grade = line.split()
            grades.setdefault(query, {})[doc] = int(grade)
    return grades


def read_run(shape: Shape, order: Order = "sorted") -> Dicts:
    """Query → document → score: as in the file, shuffled, with whole scores and many ties, or with equal scores."""
    run: Dicts = {}
    with shape.run_file.open() as lines:
        for line in lines:
            query, _, doc, _, score, _ = line.split()
            run.setdefault(query, {})[doc] = float(score)
    if order == "sorted":
        return run
    rng = Random(7)
    return {query: _reordered(row, order, rng) for query, row in run.items()}


def _reordered(row: dict[str, float], order: Order, rng: Random) -> dict[str, float]:
    if order == "integer":
        return {doc: float(int(score)) for doc, score in row.items()}
    if order == "equal":
        return dict.fromkeys(row, 1.0)
    shuffled = list(row.items())
    rng.shuffle(shuffled)
    return dict(shuffled)


if __name__ == "__main__":
    write(shape_named(sys.argv[1]))
