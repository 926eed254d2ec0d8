"""The short road gives the same bits as the main road, and steps aside where it must."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import rankproof
from rankproof.scoring.rules import PRESETS, Rules
from rankproof.scoring.small import LARGEST, small_values

MEASURES = rankproof.parse_measures(
    "nDCG nDCG@3 nDCG@10 P@1 P@5 P(rel=2)@5 R@3 R(rel=2)@10 Success@1 Success@5 RR RR@2 RR(rel=2) AP AP@4 AP(rel=3)"
)
DEFAULT = PRESETS["default"]


def random_case(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    docs = [f"d{i}" for i in range(rng.randint(1, 25))]
    kinds: list[Callable[[], float]] = [
        lambda: float(rng.randint(0, 3)),
        rng.random,
        lambda: 1 + rng.randrange(4) * 1e-9,
        lambda: rng.randint(0, 9),
    ]
    score = rng.choice(kinds)
    queries = [f"q{i}" for i in range(rng.randint(1, 5))]
    qrels = {
        q: {d: rng.choice([rng.randint(-1, 3), rng.uniform(0, 2)]) for d in rng.sample(docs, rng.randint(1, len(docs)))}
        for q in queries
    }
    run = {q: {d: score() for d in rng.sample(docs, rng.randint(1, len(docs)))} for q in queries if rng.random() < 0.9}
    return qrels, run or {queries[0]: {docs[0]: 1.0}}


@pytest.mark.parametrize("seed", range(150))
def test_both_roads_give_the_same_bits(seed: int) -> None:
    rng = random.Random(seed)
    qrels, run = random_case(rng)
    rules = Rules(
        ties=rng.choice(["trec", "id", "input"]),
        missing=rng.choice(["zero", "skip"]),
        no_relevant=rng.choice(["zero", "skip"]),
        precision=rng.choice(["float64", "float32"]),
    )
    short = small_values(qrels, run, MEASURES, DEFAULT.with_rules(**rules.as_dict()))
    try:
        main = rankproof.Evaluator(qrels, rules=rules).evaluate(run, MEASURES)
    except rankproof.RankproofError:
        assert short is None
        return
    assert short is not None
    assert short[0] == main.query_ids
    assert short[1].tolist() == main.values.tolist()
    whole = rankproof.evaluate(qrels, run, MEASURES, rules=rules)
    assert whole.coverage == main.coverage


def test_the_coverage_is_that_of_the_values_even_if_the_dicts_change_later() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    scores = rankproof.evaluate(qrels, run, "P@1")
    qrels["q2"] = {"b": 1}
    run["q"].clear()
    assert (scores.coverage.n_judged_queries, scores.coverage.judged_at) == (1, {1: 1.0})


ASIDE: dict[str, tuple[dict[Any, Any], dict[Any, Any], str, Rules]] = {
    "another measure": ({"q": {"a": 1}}, {"q": {"a": 1.0}}, "ERR", Rules()),
    "another parameter": ({"q": {"a": 1}}, {"q": {"a": 1.0}}, "nDCG(gain='exp')", Rules()),
    "judged only": ({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR(judged_only=True)", Rules()),
    "exact means": ({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", Rules(ties="expected")),
    "integer ids": ({1: {2: 1}}, {1: {2: 1.0}}, "RR", Rules()),
    "no common query": ({"q": {"a": 1}}, {"x": {"a": 1.0}}, "RR", Rules()),
    "a score that is no number": ({"q": {"a": 1}}, {"q": {"a": float("nan")}}, "RR", Rules()),
    "a rule that refuses": ({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", Rules(missing="error")),
    "nothing": ({}, {}, "RR", Rules()),
    "much": ({"q": {"a": 1}}, {"q": {str(i): 1.0 for i in range(LARGEST)}}, "RR", Rules()),
}


@pytest.mark.parametrize("what", ASIDE)
def test_the_short_road_steps_aside(what: str) -> None:
    qrels, run, measure, rules = ASIDE[what]
    preset = DEFAULT.with_rules(**rules.as_dict())
    assert small_values(qrels, run, rankproof.parse_measures(measure), preset) is None
