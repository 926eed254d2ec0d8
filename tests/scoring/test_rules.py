"""Each rule on the smallest input that shows it."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

import rankproof
from rankproof import PRESETS, Rules

TIED = {"q": {"a": 0, "b": 1, "c": 2}}
ALL_EQUAL = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}


def one(qrels: Any, run: Any, measure: str, **rules: Any) -> float:
    return next(iter(rankproof.evaluate(qrels, run, measure, rules=Rules(**rules)).mean().values()))


# --- ties


def test_trec_ties_put_the_greater_id_first() -> None:
    assert one({"q": {"b": 1}}, ALL_EQUAL, "RR", ties="trec") == 1 / 2
    assert one({"q": {"c": 1}}, ALL_EQUAL, "RR", ties="trec") == 1.0


def test_id_ties_put_the_smaller_id_first() -> None:
    assert one({"q": {"c": 1}}, ALL_EQUAL, "RR", ties="id") == 1 / 3
    assert one({"q": {"a": 1}}, ALL_EQUAL, "RR", ties="id") == 1.0


def test_input_ties_stay_as_given() -> None:
    assert one({"q": {"a": 1}}, {"q": {"c": 1.0, "a": 1.0, "b": 1.0}}, "RR", ties="input") == 1 / 2


def test_ids_are_compared_by_bytes_not_by_language() -> None:
    # U+00E9 comes after every ASCII letter, and "Z" before "a".
    run = {"q": {"a": 1.0, "Z": 1.0, "é": 1.0}}
    assert one({"q": {"é": 1}}, run, "RR", ties="trec") == 1.0
    assert one({"q": {"Z": 1}}, run, "RR", ties="id") == 1.0


def test_best_and_worst_bound_every_order() -> None:
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "x": 1.0}}
    assert one({"q": {"b": 1}}, run, "RR", ties="best") == 1.0
    assert one({"q": {"b": 1}}, run, "RR", ties="worst") == 1 / 4


ROADS = ("dict", "columns", "file")


def on_road(road: str, run: dict[str, dict[str, float]], folder: Any) -> Any:
    """The same run as a dict, in columns, or in a file."""
    if road == "dict":
        return run
    if road == "columns":
        return rankproof.Run(rankproof.Run.of(run).table)
    path = folder / "ties.run"
    lines = (f"{q} Q0 {d} 0 {s!r} t\n" for q, row in run.items() for d, s in row.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path


def every_order(run: dict[str, float]) -> list[list[str]]:
    """All rankings that the scores allow."""
    levels = [
        [list(p) for p in itertools.permutations([d for d in run if run[d] == s])]
        for s in sorted(set(run.values()), reverse=True)
    ]
    return [[doc for part in choice for doc in part] for choice in itertools.product(*levels)]


EXPECTED = [
    "DCG",
    "DCG@3",
    "nDCG",
    "nDCG@3",
    "nDCG(gain='exp')@4",
    "P@3",
    "R@3",
    "RR",
    "RR@2",
    "AP",
    "AP@3",
    "P(rel=2)@2",
]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("seed", range(40))
def test_bounds_and_exact_mean_agree_with_enumerating_all_orders(road: str, seed: int, tmp_path: Any) -> None:
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(6)]
    qrels = {"q": {d: rng.randint(0, 3) for d in rng.sample(docs, rng.randint(1, 6))}}
    run = {d: float(rng.randint(1, 3)) for d in rng.sample(docs, rng.randint(1, 6))}
    given = on_road(road, {"q": run}, tmp_path)
    for measure in EXPECTED:
        values = [one(qrels, {"q": {d: float(-i) for i, d in enumerate(o)}}, measure) for o in every_order(run)]
        assert one(qrels, given, measure, ties="best") == pytest.approx(max(values), abs=1e-12)
        assert one(qrels, given, measure, ties="worst") == pytest.approx(min(values), abs=1e-12)
        mean = sum(values) / len(values)
        assert one(qrels, given, measure, ties="expected") == pytest.approx(mean, abs=1e-12)


def test_a_measure_without_an_exact_mean_is_refused_by_name() -> None:
    with pytest.raises(
        rankproof.NotMeasured, match=r"RBP has no exact mean over ties; .* works for AP, DCG, P, R, RR, nDCG"
    ):
        one(TIED, ALL_EQUAL, "RBP", ties="expected")


@pytest.mark.parametrize("road", ROADS)
def test_single_precision_makes_ties_that_double_precision_tells_apart(road: str, tmp_path: Any) -> None:
    run = {"q": {"rel": 0.123456789, "z-not": 0.123456788}}
    given = on_road(road, run, tmp_path)
    assert one({"q": {"rel": 1}}, given, "RR") == 1.0
    assert one({"q": {"rel": 1}}, given, "RR", precision="float32") == 1 / 2


# --- queries that one side lacks

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 0}}
RUN = {"q1": {"a": 1.0}, "q3": {"c": 1.0}, "q9": {"a": 1.0}}


def test_a_missing_query_counts_zero_by_default() -> None:
    scores = rankproof.evaluate(QRELS, RUN, "RR")
    assert scores.by_query() == {"q1": {"RR": 1.0}, "q2": {"RR": 0.0}, "q3": {"RR": 0.0}}
    assert scores.mean() == {"RR": pytest.approx(1 / 3)}


def test_a_missing_query_may_leave_the_mean() -> None:
    scores = rankproof.evaluate(QRELS, RUN, "RR", rules=Rules(missing="skip"))
    assert list(scores.by_query()) == ["q1", "q3"]
    assert scores.mean() == {"RR": 1 / 2}


def test_a_query_without_relevant_documents_may_leave_the_mean() -> None:
    assert one(QRELS, RUN, "RR", no_relevant="skip") == 1 / 2
    assert one(QRELS, RUN, "RR", no_relevant="skip", missing="skip") == 1.0


@pytest.mark.parametrize(
    "rules, message",
    [
        ({"missing": "error"}, "1 judged query is missing from the run, which the rules refuse: q2"),
        ({"no_relevant": "error"}, "1 query has no relevant document, which the rules refuse: q3"),
        ({"extra": "error"}, "1 query of the run is not judged, which the rules refuse: q9"),
    ],
)
def test_the_rules_may_refuse_absent_queries(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(rankproof.BadInput) as caught:
        one(QRELS, RUN, "RR", **rules)
    assert message in str(caught.value)
    assert caught.value.exit_code == 3


def test_nothing_left_to_score_is_no_zero() -> None:
    with pytest.raises(rankproof.NothingToEvaluate):
        one({"q1": {"a": 0}}, {"q1": {"a": 1.0}}, "RR", no_relevant="skip")


@pytest.mark.parametrize("road", ROADS)
def test_no_common_query_is_an_error_with_samples_of_both_sides(road: str, tmp_path: Any) -> None:
    run = on_road(road, {"Q1": {"a": 1.0}}, tmp_path)
    with pytest.raises(rankproof.BadInput) as caught:
        one(QRELS, run, "RR")
    assert "the judgments have 'q1', 'q2', 'q3' …, the run has 'Q1' …" in str(caught.value)


# --- the other rules


def test_condensed_takes_unjudged_documents_out() -> None:
    run = {"q": {"x": 3.0, "a": 2.0, "y": 1.0, "b": 0.5}}
    assert one({"q": {"b": 1, "a": 0}}, run, "RR") == 1 / 4
    assert one({"q": {"b": 1, "a": 0}}, run, "RR", unjudged="condensed") == 1 / 2
    assert one({"q": {"b": 1, "a": 0}}, run, "RR(judged_only=True)") == 1 / 2


def test_a_self_match_may_be_dropped() -> None:
    run = {"q1": {"q1": 9.0, "a": 1.0}}
    assert one({"q1": {"a": 1}}, run, "RR") == 1 / 2
    assert one({"q1": {"a": 1}}, run, "RR", self_match="drop") == 1.0


def test_rounding_happens_where_the_rule_says() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"x": 3.0, "y": 2.0, "a": 1.0}, "q2": {"a": 1.0}}
    assert one(qrels, run, "RR", round_query=2) == pytest.approx((0.33 + 1.0) / 2)
    assert one(qrels, run, "RR", round_mean=2) == 0.67


def test_an_unknown_rule_or_word_is_answered_with_the_nearest() -> None:
    with pytest.raises(rankproof.UnknownName, match=r"There is no rule for ties called 'tre'\. Did you mean 'trec'"):
        Rules(ties="tre")  # type: ignore[arg-type]
    with pytest.raises(
        rankproof.UnknownName, match=r"There is no preset called 'trec-eval'\. Did you mean 'trec_eval'"
    ):
        rankproof.evaluate(QRELS, RUN, "RR", preset="trec-eval")


def test_every_preset_of_the_design_exists() -> None:
    named = "default trec_eval trec_eval-c trec_eval-10 pytrec_eval ranx beir elasticsearch opensearch"
    seeds = "sentence-transformers rq labels ab spec wiki"
    assert set(PRESETS) == {*named.split(), *seeds.split()}


# --- coverage


def test_every_result_carries_what_it_rests_on() -> None:
    coverage = rankproof.evaluate(QRELS, RUN, ["P@5"]).coverage
    assert (coverage.n_judged_queries, coverage.n_run_queries, coverage.n_scored) == (3, 3, 3)
    assert (coverage.n_missing, coverage.n_extra, coverage.n_no_relevant) == (1, 1, 1)
    assert (coverage.missing, coverage.extra, coverage.no_relevant) == (("q2",), ("q9",), ("q3",))
    assert coverage.judged_at == {5: pytest.approx(2 / 3)}


def test_a_cutoff_inside_a_tie_is_counted_where_it_can_matter() -> None:
    run = {"q1": {"a": 1.0, "x": 1.0}, "q2": {"b": 2.0, "x": 1.0, "y": 1.0}}
    scores = rankproof.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, run, ["P@1", "P@2"])
    # q1's tie holds a judged document; in q2 only unjudged ones are tied across the cut at 2.
    assert scores.coverage.tied_at == {1: 1, 2: 0}


def test_grades_between_zero_and_one_are_counted_for_a_note() -> None:
    assert rankproof.evaluate({"q1": {"a": 0.5, "b": 1}}, {"q1": {"a": 1.0}}, "RR").coverage.n_fractional == 1


ORDER_MATTERS = ["Rprec", "Bpref", "GMAP", "BinG", "infAP", "G", "Rndcg", "nDCGrel", "IPrec11", "ERR", "Q", "Success@1"]


@pytest.mark.parametrize("measure", ORDER_MATTERS)
def test_expected_ties_are_refused_by_every_measure_of_order_without_an_exact_mean(measure: str) -> None:
    with pytest.raises(rankproof.NotMeasured, match="has no exact mean over ties"):
        one(TIED, ALL_EQUAL, measure, ties="expected")


def test_expected_ties_leave_measures_of_the_set_alone() -> None:
    assert one(TIED, ALL_EQUAL, "SetP", ties="expected") == 2 / 3
    assert one(TIED, ALL_EQUAL, "NumRet", ties="expected") == 3
