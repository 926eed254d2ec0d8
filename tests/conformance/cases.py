"""Random judgments and runs that hold what the tools disagree about: ties, gaps, odd grades, odd ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

Grades = dict[str, dict[str, int]]
Results = dict[str, dict[str, float]]

_PLAIN_IDS = tuple(f"d{i}" for i in range(1200))
_ODD_IDS = ("é", "e\u0301", "漢字", "Ω-1", "😀", "z", "Z", "10", "9", "#5", "a" * 40, "d_1", "d-1", "\uffee", "ß", "~")
GRADE_RANGES = ((0, 1), (0, 3), (-1, 2), (-2, 4), (0, 0))


class Case(NamedTuple):
    """Judgments and a run."""

    qrels: Grades
    run: Results


def random_case(
    rng: Random,
    *,
    grade_ranges: Sequence[tuple[int, int]] = GRADE_RANGES,
    ties: bool = True,
    most_docs: int = 25,
    most_queries: int = 5,
    absent: float = 0.1,
    odd_ids: bool = True,
) -> Case:
    """A few queries over one pool of documents; some are absent from the run, some of the run are not judged."""
    pool = list(_ODD_IDS if odd_ids and rng.random() < 0.1 else _PLAIN_IDS[: rng.randint(1, most_docs)])
    qrels: Grades = {}
    run: Results = {}
    for number in range(rng.randint(1, most_queries)):
        query = f"q{number}"
        low, high = rng.choice(grade_ranges)
        qrels[query] = {doc: rng.randint(low, high) for doc in _some(rng, pool)}
        if number == 0 or rng.random() >= absent:
            docs = _some(rng, pool)
            run[query] = dict(zip(docs, _scores(rng, len(docs), ties), strict=True))
    if absent and rng.random() < 0.3:
        run["extra"] = {pool[0]: 1.0}
    return Case(qrels, run)


def scored_by_trec_eval(case: Case) -> Case | None:
    """The case without queries whose grades are all negative, which abort trec_eval; None if none is left to score."""
    qrels = {query: grades for query, grades in case.qrels.items() if max(grades.values()) >= 0}
    return Case(qrels, case.run) if qrels.keys() & case.run.keys() else None


def write_trec(case: Case, folder: Path, rng: Random) -> tuple[Path, Path]:
    """The case as TREC files; half of the time the lines of the run are shuffled."""
    judgments = [f"{query} 0 {doc} {grade}" for query, grades in case.qrels.items() for doc, grade in grades.items()]
    results = [f"{query} Q0 {doc} 1 {score!r} tag" for query, row in case.run.items() for doc, score in row.items()]
    if rng.random() < 0.5:
        rng.shuffle(results)
    qrels_file, run_file = folder / "case.qrels", folder / "case.run"
    qrels_file.write_text("\n".join(judgments) + "\n", encoding="utf-8")
    run_file.write_text("\n".join(results) + "\n", encoding="utf-8")
    return qrels_file, run_file


def _some(rng: Random, pool: list[str]) -> list[str]:
    return rng.sample(pool, rng.randint(1, len(pool)))


def _scores(rng: Random, n: int, ties: bool) -> list[float]:
    """Distinct scores, many equal ones, ones equal in single precision, or all equal; negative ones among them."""
    kind = rng.choice(("distinct", "few", "float32", "whole", "equal")) if ties else "distinct"
    if kind == "few":
        return [rng.choice((-1.0, 0.5, 2.0)) for _ in range(n)]
    if kind == "float32":
        return [1 + rng.randrange(5) * 1e-9 for _ in range(n)]
    if kind == "whole":
        return [float(16_777_216 + rng.randrange(6)) for _ in range(n)]
    if kind == "equal":
        return [1.25] * n
    # A step of 2^-12 keeps distinct scores apart in single precision too.
    return [number / 4096 for number in rng.sample(range(1, 4 * n + 1), n)]
