"""Weights are chosen on one part of the queries and judged on the other, which has no say in the choice."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from rankproof import NothingToEvaluate, NotMeasured, UsageError, fuse, tune_weights
from rankproof.tuning import split_queries

Results = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]

QUERIES = [f"q{i}" for i in range(40)]


def good_run(rng: Random, wrong: float = 0.0) -> Results:
    """The relevant document first, except where it is wrong."""
    return {q: {"yes": 0.0 if rng.random() < wrong else 9.0, **noise(rng)} for q in QUERIES}


def noise(rng: Random) -> dict[str, float]:
    return {f"n{i}": 1 + rng.random() for i in range(5)}


def noise_run(rng: Random) -> Results:
    """The relevant document last, behind others that the good run does not have."""
    return {q: {"yes": 0.0, **{f"x{i}": 1 + rng.random() for i in range(5)}} for q in QUERIES}


@pytest.fixture
def planted() -> tuple[Grades, Results, Results]:
    rng = Random(1)
    return {q: {"yes": 1} for q in QUERIES}, good_run(rng), noise_run(rng)


def test_a_good_run_and_noise_give_all_weight_to_the_good_run() -> None:
    rng = Random(2)
    docs = ["yes", "no", "nay", "never", "last"]
    # "yes" is first by so little that any say of the noise costs it some queries.
    good = {q: dict(zip(docs, (1.0, 0.97, 0.96, 0.95, 0.0), strict=True)) for q in QUERIES}
    bad = {q: {doc: rng.random() for doc in docs} for q in QUERIES}
    tuned = tune_weights([good, bad], {q: {"yes": 1} for q in QUERIES}, "RR")
    assert tuned.weights == (1.0, 0.0)
    assert tuned.train_value == 1.0
    assert tuned.held_out[-1].mean() == {"RR": 1.0}
    assert tuned.best_single == 0
    assert tune_weights([bad, good], {q: {"yes": 1} for q in QUERIES}, "RR").weights == (0.0, 1.0)


def test_the_weights_that_a_look_at_every_one_of_them_finds_best() -> None:
    rng = Random(4)
    first, second = good_run(rng, wrong=0.4), good_run(rng, wrong=0.3)
    qrels = {q: {"yes": 1} for q in QUERIES}
    tuned = tune_weights([first, second], qrels, "nDCG@3")
    train = {q: qrels[q] for q in tuned.split.train}
    values = {}
    for tenth in range(11):
        weights = (tenth / 10, 1 - tenth / 10)
        run = fuse([first, second], by="weighted", weights=weights).to_dict()
        values[tenth] = mean_ndcg(train, run)
    best = max(values, key=lambda tenth: (round(values[tenth], 12), -abs(tenth - 5)))
    assert tuned.weights == pytest.approx((best / 10, 1 - best / 10))
    assert tuned.train_value == pytest.approx(values[best])
    assert tuned.n_tried == 11


def mean_ndcg(qrels: Grades, run: Results) -> float:
    """nDCG@3 where only `yes` is relevant: 1, 1/log2(3) or 1/2 at ranks 1 to 3."""
    gains = {1: 1.0, 2: 0.6309297535714575, 3: 0.5}
    ranks = [1 + list(run[q]).index("yes") for q in qrels]
    return sum(gains.get(rank, 0.0) for rank in ranks) / len(ranks)


def test_of_weights_that_do_equally_well_those_closest_to_equal_are_taken(
    planted: tuple[Grades, Results, Results],
) -> None:
    qrels, good, _ = planted
    assert tune_weights([good, good], qrels, "RR").weights == (0.5, 0.5)
    assert tune_weights([good] * 3, qrels, "RR").weights == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert tune_weights([good] * 5, qrels, "RR").weights == (0.2,) * 5


def test_the_held_out_judgments_are_not_looked_at_in_choosing() -> None:
    rng = Random(4)
    runs = [good_run(rng, wrong=0.4), good_run(rng, wrong=0.3), noise_run(rng)]
    qrels: Grades = {q: {"yes": 1} for q in QUERIES}
    before = tune_weights(runs, qrels, "nDCG@3")
    changed = {q: {"x0": 3, "x1": 1} if q in before.split.held_out else row for q, row in qrels.items()}
    after = tune_weights(runs, changed, "nDCG@3")
    assert after.split == before.split
    assert after.weights == before.weights
    assert after.train_value == before.train_value
    assert after.best_single == before.best_single
    assert after.held_out[-1].mean() != before.held_out[-1].mean()


def test_nor_are_the_held_out_results() -> None:
    rng = Random(4)
    runs = [good_run(rng, wrong=0.4), good_run(rng, wrong=0.3)]
    qrels: Grades = {q: {"yes": 1} for q in QUERIES}
    before = tune_weights(runs, qrels, "nDCG@3")
    kept = set(before.split.train) | set(before.split.held_out[:2])
    after = tune_weights([{q: row for q, row in run.items() if q in kept} for run in runs], qrels, "nDCG@3")
    assert after.weights == before.weights
    assert after.train_value == before.train_value


def test_only_held_out_queries_are_reported(planted: tuple[Grades, Results, Results]) -> None:
    qrels, good, bad = planted
    tuned = tune_weights([good, bad], qrels, "RR")
    assert [scores.name for scores in tuned.held_out] == ["run", "run (2)", "equal weights", "tuned weights"]
    for scores in tuned.held_out:
        assert scores.query_ids == tuned.split.held_out
        assert scores.coverage.n_extra == 0
    one = tuned.comparison.comparisons[0]
    assert (one.baseline, one.candidate, one.effect.n) == ("run", "tuned weights", 20)


def test_the_tuned_run_is_the_fusion_of_all_queries_with_the_tuned_weights(
    planted: tuple[Grades, Results, Results],
) -> None:
    qrels, good, bad = planted
    good = {**good, "unjudged": {"a": 1.0}}
    tuned = tune_weights([good, bad], qrels, "RR", by="rrf", k=10)
    expected = fuse([good, bad], by="rrf", k=10, weights=tuned.weights)
    assert tuned.run().to_dict() == expected.to_dict()
    assert tuned.run().name == "rankproof-rrf"


def test_the_split_depends_on_seed_and_ids_only() -> None:
    split = split_queries(QUERIES, train_share=0.5, seed=0)
    assert split == split_queries(reversed(QUERIES), train_share=0.5, seed=0)
    assert len(split.train) == len(split.held_out) == 20
    assert sorted(split.train + split.held_out) == sorted(QUERIES)
    assert split.train != split_queries(QUERIES, train_share=0.5, seed=1).train
    assert len(split_queries(QUERIES, train_share=0.25, seed=0).train) == 10


def test_the_split_is_the_same_everywhere() -> None:
    split = split_queries([f"q{i}" for i in range(8)], train_share=0.5, seed=0)
    # The first half by what `printf '0\\0q0' | b2sum` prints.
    assert split.train == ["q0", "q1", "q4", "q5"]


def test_more_runs_than_three_are_tuned_one_weight_at_a_time() -> None:
    rng = Random(7)
    runs = [noise_run(rng), good_run(rng, wrong=0.2), noise_run(rng), noise_run(rng)]
    qrels: Grades = {q: {"yes": 1} for q in QUERIES}
    tuned = tune_weights(runs, qrels, "RR", step=0.25)
    assert tuned.best_single == 1
    assert max(tuned.weights) == tuned.weights[1]
    assert sum(tuned.weights) == pytest.approx(1)
    assert tuned.train_value >= mean_rr(runs, tuned.split.train, (0.25,) * 4)


def mean_rr(runs: list[Results], queries: list[str], weights: tuple[float, ...]) -> float:
    fused = fuse(runs, by="weighted", weights=weights).to_dict()
    return sum(1 / (1 + list(fused[q]).index("yes")) for q in queries) / len(queries)


def test_progress_is_told_for_every_weighting(planted: tuple[Grades, Results, Results]) -> None:
    qrels, good, bad = planted
    told: list[tuple[int, int]] = []
    tune_weights([good, bad], qrels, "RR", step=0.5, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_share": 0.0}, "lies between 0 and 1, not 0.0"),
        ({"train_share": 1.0}, "lies between 0 and 1, not 1.0"),
        ({"step": 0.3}, "0.3 is no such step"),
        ({"step": 0}, "0 is no such step"),
        ({"by": "combsum"}, "'combsum' gives every run the same weight"),
        ({"depth": 0}, "1 or more, not 0"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    planted: tuple[Grades, Results, Results], options: dict[str, Any], message: str
) -> None:
    qrels, good, bad = planted
    with pytest.raises(UsageError, match=message):
        tune_weights([good, bad], qrels, "RR", **options)


def test_a_side_with_fewer_than_two_queries_is_not_measured(planted: tuple[Grades, Results, Results]) -> None:
    _, good, bad = planted
    with pytest.raises(NotMeasured, match="Of 3 judged queries 2 would choose the weights and 1 judge them"):
        tune_weights([good, bad], {q: {"yes": 1} for q in QUERIES[:3]}, "RR")


def test_a_run_without_any_judged_query_is_refused_by_name(planted: tuple[Grades, Results, Results]) -> None:
    qrels, good, bad = planted
    other = {query.upper(): row for query, row in bad.items()}
    with pytest.raises(NothingToEvaluate, match=r"run \(2\): it has results for none of the 20 judged queries"):
        tune_weights([good, other], qrels, "RR")


def test_a_single_run_is_refused(planted: tuple[Grades, Results, Results]) -> None:
    qrels, good, _ = planted
    with pytest.raises(UsageError, match="two runs or more"):
        tune_weights([good], qrels, "RR")
