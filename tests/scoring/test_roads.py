"""A dict, columns and a file that streams by give the same numbers, whatever the input."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankproof
from rankproof.scoring.placement import stream
from rankproof.scoring.rules import Rules

MEASURES = ["nDCG@10", "AP", "RR", "R@5", "P@3", "Bpref", "Judged@4", "NumRet"]


def random_case(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    alphabet = rng.choice(["ab", "abcdefgh0123456789-", "aé漢字🙂"])
    longest = rng.choice([2, 9, 20, 40])
    docs = list({"".join(rng.choices(alphabet, k=rng.randint(1, longest))) for _ in range(rng.randint(2, 60))})
    spellings: list[Callable[[], float]] = [
        lambda: float(rng.randint(0, 3)),
        lambda: round(rng.uniform(0, 30), 6),
        lambda: rng.uniform(-1, 1),
        lambda: rng.uniform(0, 1) * 10.0 ** rng.randint(-12, 12),
    ]
    spell = rng.choice(spellings)
    queries = [f"{rng.choice(['q', 'topic-with-a-long-name-'])}{i}" for i in range(rng.randint(1, 8))]
    qrels = {q: {d: rng.randint(-1, 3) for d in rng.sample(docs, rng.randint(1, len(docs)))} for q in queries}
    run = {q: {d: spell() for d in rng.sample(docs, rng.randint(1, len(docs)))} for q in queries if rng.random() < 0.9}
    if rng.random() < 0.5:
        run = {q: dict(sorted(row.items(), key=lambda item: -item[1])) for q, row in run.items()}
    return qrels, run or {queries[0]: {docs[0]: 1.0}}


def write_run(path: Path, run: dict[str, dict[str, float]], rng: random.Random) -> None:
    blank = rng.choice([" ", "\t", "  ", " \t "])
    end = rng.choice(["\n", "\r\n"])
    lines = [blank.join([q, "Q0", d, "1", repr(s), "tag"]) + end for q, row in run.items() for d, s in row.items()]
    if rng.random() < 0.3:
        lines.insert(rng.randint(0, len(lines)), f"# a remark{end}")
    if rng.random() < 0.3:
        lines.insert(rng.randint(0, len(lines)), end)
    text = "".join(lines)
    if rng.random() < 0.3:
        text = text.rstrip("\r\n")
    if rng.random() < 0.3:
        text = "\ufeff" + text
    path.write_bytes(text.encode())


@pytest.mark.parametrize("seed", range(120))
def test_all_roads_lead_to_the_same_numbers(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    # Small blocks, so that a file of a few lines is cut many times.
    monkeypatch.setattr(stream, "_BLOCK", rng.choice([64, 300, 5000]))
    qrels, run = random_case(rng)
    path = tmp_path / "some.run"
    write_run(path, run, rng)
    rules = Rules(ties=rng.choice(["trec", "id", "input"]), precision=rng.choice(["float64", "float32"]))
    expected = rankproof.evaluate(qrels, run, MEASURES, rules=rules)
    for other in (rankproof.Run(rankproof.Run.of(run).table), path, rankproof.Run.read(path)):
        found = rankproof.evaluate(qrels, other, MEASURES, rules=rules)
        assert found.by_query() == expected.by_query()
        assert found.coverage.as_dict() == expected.coverage.as_dict()


@pytest.mark.parametrize("seed", range(30))
def test_a_plain_sort_gives_the_same_ranks(seed: int) -> None:
    rng = random.Random(1000 + seed)
    qrels, run = random_case(rng)
    scores = rankproof.evaluate(qrels, run, "RR").by_query()
    for query, row in run.items():
        ranking = sorted(row, key=lambda d: (row[d], d), reverse=True)
        ranks = [i for i, d in enumerate(ranking, 1) if qrels[query].get(d, 0) >= 1]
        assert scores[query]["RR"] == (1 / ranks[0] if ranks else 0.0)


def test_lines_of_a_query_may_stand_apart_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mixed.run"
    path.write_text("q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\nq1 Q0 c 2 2 t\n")
    scores = rankproof.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, path, ["RR", "NumRet"])
    assert scores.by_query() == {"q1": {"RR": 1 / 2, "NumRet": 2.0}, "q2": {"RR": 1.0, "NumRet": 1.0}}


def test_one_query_larger_than_a_block_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_BLOCK", 100)
    path = tmp_path / "long.run"
    path.write_text("".join(f"q1 Q0 d{i} {i} {1000 - i}.5 t\n" for i in range(1, 1000)) + "q2 Q0 a 1 1 t\n")
    scores = rankproof.evaluate({"q1": {"d700": 1}, "q2": {"a": 1}}, path, "RR")
    assert scores.by_query() == {"q1": {"RR": 1 / 700}, "q2": {"RR": 1.0}}


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, int])
def test_numpy_numbers_are_numbers(kind: Any) -> None:
    run = {"q": {"a": kind(1), "b": kind(2)}}
    assert rankproof.evaluate({"q": {"a": np.int32(1)}}, run, "RR").mean() == {"RR": 1 / 2}


def test_integer_ids_on_both_sides_meet_as_text() -> None:
    assert rankproof.evaluate({1: {10: 1}}, {1: {9: 2.0, 10: 1.0}}, "RR").mean() == {"RR": 1 / 2}
    assert rankproof.evaluate({"1": {"10": 1}}, {1: {9: 2.0, 10: 1.0}}, "RR").mean() == {"RR": 1 / 2}
    assert rankproof.evaluate({1: {10: 1}}, {"1": {"9": 2.0, "10": 1.0}}, "RR").mean() == {"RR": 1 / 2}


def test_frames_and_tuples_are_runs_and_judgments() -> None:
    import pandas
    import polars
    import pyarrow

    judged = [("q", "a", 1)]
    data = {"query_id": ["q", "q"], "doc_id": ["b", "a"], "score": [2.0, 1.0]}
    rows = list(zip(*data.values(), strict=True))

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pyarrow.table(data).__arrow_c_stream__(requested_schema)

    for run in (rows, pandas.DataFrame(data), polars.DataFrame(data), pyarrow.table(data), Stream()):
        assert rankproof.evaluate(judged, run, "RR").mean() == {"RR": 1 / 2}


def test_one_evaluator_serves_many_runs() -> None:
    evaluator = rankproof.Evaluator({"q": {"a": 1}})
    assert evaluator.evaluate({"q": {"a": 1.0}}, "RR").mean() == {"RR": 1.0}
    assert evaluator.evaluate({"q": {"b": 2.0, "a": 1.0}}, "RR").mean() == {"RR": 0.5}
