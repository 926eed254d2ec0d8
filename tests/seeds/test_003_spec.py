"""Seed 003: its definitions, its examples (with the numbers that were wrong put right) and its test cases."""

from __future__ import annotations

import pytest

import rankproof


def ranked(docs: list[str]) -> dict[str, float]:
    return {doc: float(-i) for i, doc in enumerate(docs)}


def spec(relevant: dict[str, int], retrieved: list[str], *measures: str) -> dict[str, float]:
    run = {"q": ranked(retrieved)} if retrieved else {"q": {}, "other": {"x": 1.0}}
    return rankproof.evaluate({"q": relevant, "other": {"x": 1}}, run, measures, preset="spec").by_query()["q"]


def ones(*docs: str) -> dict[str, int]:
    return dict.fromkeys(docs, 1)


def test_3_1_hit() -> None:
    assert spec(ones("doc1", "doc3", "doc5"), ["doc2", "doc1", "doc4"], "hit@3") == {"Success@3": 1.0}


def test_3_2_ndcg_of_3_0_2_1() -> None:
    judged = {"a": 3, "b": 2, "c": 1, "d": 0}
    found = spec(judged, ["a", "d", "b", "c"], "DCG@4", "ndcg@4")
    # The seed prints 4.693 and 0.985: it divides the third gain by log2(3), the discount of the second rank.
    assert found["DCG@4"] == pytest.approx(4.4307, abs=5e-5)
    assert found["nDCG@4"] == pytest.approx(0.9305, abs=5e-5)


def test_3_3_mrr() -> None:
    qrels = {"1": ones("r"), "2": ones("r"), "3": ones("r")}
    run = {"1": ranked(["r"]), "2": ranked(["a", "b", "r"]), "3": ranked(["a"])}
    assert rankproof.evaluate(qrels, run, "mrr", preset="spec").mean()["RR"] == pytest.approx(0.444, abs=5e-4)


def test_3_4_average_precision() -> None:
    found = spec(ones("a", "c", "e"), ["a", "b", "c", "d", "e"], "map@5")
    assert found["AP@5"] == pytest.approx(0.756, abs=5e-4)


def test_3_4_average_precision_divides_by_all_relevant_documents() -> None:
    assert spec(ones("a", "b", "c"), ["a", "x", "b"], "map@2")["AP@2"] == pytest.approx(1 / 3)


def test_3_5_recall_and_3_6_precision_over_what_was_returned() -> None:
    assert spec(ones("a", "b"), ["a", "x"], "recall@10", "precision@10") == {"R@10": 1 / 2, "P@10": 1 / 2}
    assert spec(ones("a", "b"), ["a", "x", "y"], "precision@2") == {"P@2": 1 / 2}


def test_7_1_case_1_perfect_retrieval() -> None:
    found = spec(ones("doc1", "doc2"), ["doc1", "doc2", "doc3", "doc4"], "hit@1", "hit@2", "ndcg@2", "mrr")
    assert found == {"Success@1": 1.0, "Success@2": 1.0, "nDCG@2": 1.0, "RR": 1.0}


def test_7_1_case_2_nothing_relevant_retrieved() -> None:
    found = spec(ones("doc1", "doc2"), ["doc3", "doc4", "doc5", "doc6"], "hit@10", "ndcg@10", "mrr")
    assert found == {"Success@10": 0.0, "nDCG@10": 0.0, "RR": 0.0}


def test_7_1_case_3_partial_retrieval() -> None:
    found = spec(ones("doc1", "doc2", "doc3"), ["doc4", "doc1", "doc5", "doc2"], "hit@2", "hit@1", "ndcg@4", "mrr")
    assert (found["Success@2"], found["Success@1"], found["RR"]) == (1.0, 0.0, 0.5)
    # The seed prints 0.693.
    assert found["nDCG@4"] == pytest.approx(0.4982, abs=5e-5)


EDGE = ("hit@3", "ndcg@3", "mrr", "map@3", "recall@3", "precision@3")


def test_7_2_an_empty_relevant_set_gives_zero_for_all() -> None:
    assert set(spec({"a": 0}, ["a", "b"], *EDGE).values()) == {0.0}


def test_7_2_an_empty_retrieved_set_gives_zero_for_all() -> None:
    assert set(spec(ones("a"), [], *EDGE).values()) == {0.0}


def test_7_2_a_single_relevant_document_and_a_large_k() -> None:
    found = spec(ones("a"), ["b", "a"], "hit@1000", "ndcg@1000", "recall@1000", "map@1000")
    assert found["Success@1000"] == 1.0
    assert found["nDCG@1000"] == pytest.approx(0.63093, abs=5e-6)
    assert found["R@1000"] == 1.0
    assert found["AP@1000"] == 0.5


def test_5_1_a_document_retrieved_twice_is_an_error_so_ndcg_never_exceeds_one() -> None:
    with pytest.raises(rankproof.BadInput, match="stands twice"):
        rankproof.evaluate({"q": ones("a")}, [("q", "a", 2.0), ("q", "a", 1.0)], "ndcg@10", preset="spec")


def test_9_2_every_metric_of_the_configuration_schema_is_known() -> None:
    names = "hit@1 hit@3 hit@5 hit@10 ndcg@5 ndcg@10 mrr map@10"
    canonical = "Success@1 Success@3 Success@5 Success@10 nDCG@5 nDCG@10 RR AP@10"
    assert [str(m) for m in rankproof.parse_measures(names)] == canonical.split()


def test_10_1_the_advanced_metrics_are_there() -> None:
    assert [str(m) for m in rankproof.parse_measures("ERR@10 rbp@10 q-measure")] == ["ERR@10", "RBP@10", "Q"]
