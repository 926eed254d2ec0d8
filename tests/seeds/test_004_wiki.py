"""Seed 004: Recall@K as a share of queries, and MRR, on the published ranks of a real wiki."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import rankproof

WIKI = Path(__file__).parents[3] / "shared" / "data" / "wiki"

PUBLISHED = {
    "bm25": {"R@5": 0.550, "R@20": 0.800, "RR": 0.519},
    "dense": {"R@5": 0.700, "R@20": 0.875, "RR": 0.503},
    "hybrid": {"R@5": 0.750, "R@20": 0.900, "RR": 0.615},
}


def test_recall_is_the_share_of_queries_whose_ideal_page_is_in_the_top_k() -> None:
    qrels = {"q1": {"A": 1, "B": 1}, "q2": {"C": 1}}
    run = {"q1": {"A": 1.0}, "q2": {"x": 2.0, "C": 1.0}}
    assert rankproof.evaluate(qrels, run, ["recall@1", "recall@2"], preset="wiki").mean() == {"R@1": 0.5, "R@2": 1.0}


def test_rank_one_is_twice_as_good_as_rank_two() -> None:
    qrels = {"q1": {"A": 1}, "q2": {"A": 1}}
    run = {"q1": {"A": 1.0}, "q2": {"x": 2.0, "A": 1.0}}
    assert rankproof.evaluate(qrels, run, "MRR", preset="wiki").by_query() == {"q1": {"RR": 1.0}, "q2": {"RR": 0.5}}


@pytest.mark.skipif(not WIKI.exists(), reason="needs ../shared/data/wiki")
@pytest.mark.parametrize("retriever", PUBLISHED)
def test_the_published_figures_follow_from_the_published_ranks(retriever: str) -> None:
    with open(WIKI / "published-ranks.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 40
    qrels = {row["query"]: {row["ideal_page"]: 1} for row in rows}
    run: dict[str, dict[str, float]] = {}
    for row in rows:
        rank = int(row[retriever]) if row[retriever] else None
        depth = rank or 50
        docs = [f"other-{i}" for i in range(1, depth)] + ([row["ideal_page"]] if rank else [])
        run[row["query"]] = {doc: float(-i) for i, doc in enumerate(docs)}
    mean = rankproof.evaluate(qrels, run, ["recall@5", "recall@20", "MRR"], preset="wiki").mean()
    assert {name: round(value, 3) for name, value in mean.items()} == PUBLISHED[retriever]


@pytest.mark.skipif(not WIKI.exists(), reason="needs ../shared/data/wiki")
def test_an_oracle_that_returns_the_gold_scores_one() -> None:
    gold = rankproof.GoldSet.read(WIKI / "gold.csv")
    assert len(gold) == 40
    assert len(set(gold.groups.values())) == 7
    oracle = {q: {d: g for d, g in row.items() if g > 0} for q, row in gold.qrels.to_dict().items()}
    scores = rankproof.evaluate(gold, oracle, ["R@5", "RR", "nDCG@5", "AP"], preset="wiki")
    assert scores.mean() == {"R@5": 1.0, "RR": 1.0, "nDCG@5": 1.0, "AP": 1.0}
