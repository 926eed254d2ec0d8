from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankproof
from rankproof.agreement import Correlations, Swap, correlate, discriminate, overlap
from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.measures.parse import parse_measures
from rankproof.reports.agreement import (
    correlations_csv,
    correlations_json,
    correlations_text,
    discriminations_csv,
    discriminations_json,
    discriminations_svg,
    discriminations_text,
    overlaps_csv,
    overlaps_json,
    overlaps_text,
)
from rankproof.scoring.rules import PRESETS
from rankproof.scoring.scores import Coverage, Scores


def scores_of(name: str, *, preset: str = "default", **by_measure: list[float]) -> Scores:
    """Scores of a system: measure → value of each query."""
    rows = np.array(list(by_measure.values()))
    queries = [f"q{i}" for i in range(1, rows.shape[1] + 1)]

    def coverage() -> Coverage:
        n = len(queries)
        return Coverage(n, n, n, 0, 0, 0)

    return Scores(parse_measures(list(by_measure)), queries, rows, coverage, PRESETS[preset], name)


def three_systems() -> list[Scores]:
    """AP orders a, b, c; RR orders b, a, c: one swap of three pairs."""
    return [
        scores_of("a", AP=[0.9, 0.7], RR=[0.5, 0.5]),
        scores_of("b", AP=[0.7, 0.7], RR=[1.0, 0.5]),
        scores_of("c", AP=[0.2, 0.4], RR=[0.5, 0.25]),
    ]


# correlate


def test_measures_that_swap_two_of_three_systems() -> None:
    (found,) = correlate(three_systems()).between_measures
    assert found.tau == pytest.approx(1 / 3)
    # The top two change places: 2 · (0 + 1)/2 − 1, in both directions.
    assert found.tau_ap == 0.0
    assert found.swaps == (Swap("a", "b", 0.1, -0.25),)
    assert (found.n_pairs, found.n_tied) == (3, 0)


def test_an_order_is_best_first_with_shared_ranks() -> None:
    scores = [*three_systems(), scores_of("d", AP=[0.8, 0.6], RR=[0.1, 0.1])]
    order = correlate(scores).orders[0]
    assert dict(order.means) == {"a": 0.8, "b": 0.7, "d": 0.7, "c": 0.3}
    assert order.ranks == {"a": 1, "b": 2, "d": 2, "c": 4}


def test_means_that_are_equal_on_paper_are_tied() -> None:
    # 0.1 + 0.2 is not 0.3 in binary.
    scores = [
        scores_of("a", AP=[0.1, 0.2, 0.0], RR=[1.0, 1.0, 1.0]),
        scores_of("b", AP=[0.3, 0.0, 0.0], RR=[0.5, 0.5, 0.5]),
        scores_of("c", AP=[0.0, 0.0, 0.0], RR=[0.1, 0.1, 0.1]),
    ]
    (found,) = correlate(scores).between_measures
    assert (found.n_tied, found.swaps) == (1, ())


def test_a_measure_that_ties_all_systems_has_no_tau() -> None:
    scores = [scores_of(name, AP=[0.5], RR=[value]) for name, value in (("a", 1.0), ("b", 0.5))]
    (found,) = correlate(scores).between_measures
    assert found.tau is None
    assert found.tau_ap is None
    assert "undefined" in correlations_text(correlate(scores))
    assert json.loads(correlations_json(correlate(scores)))["between_measures"][0]["tau"] is None
    assert correlations_csv(correlate(scores)).splitlines()[1] == "AP,judgments,RR,judgments,,,1,1,0"


def test_swaps_come_by_the_smaller_of_their_two_differences() -> None:
    scores = [
        scores_of("a", AP=[0.90], RR=[0.10]),
        scores_of("b", AP=[0.80], RR=[0.90]),
        scores_of("c", AP=[0.79], RR=[0.95]),
    ]
    (found,) = correlate(scores).between_measures
    assert [(swap.above, swap.below) for swap in found.swaps] == [("a", "c"), ("a", "b"), ("b", "c")]


def test_other_judgments_are_compared_measure_by_measure() -> None:
    other = [
        scores_of("a", AP=[0.1, 0.1], RR=[0.5, 0.5]),
        scores_of("b", AP=[0.9, 0.9], RR=[1.0, 0.5]),
        scores_of("c", AP=[0.2, 0.2], RR=[0.5, 0.25]),
    ]
    found = correlate(three_systems(), other, judgments=("people", "model"))
    ap, rr = found.between_judgments
    assert (ap.first.judgments, ap.second.judgments) == ("people", "model")
    # a b c becomes b c a: of three pairs two swap.
    assert ap.tau == pytest.approx(-1 / 3)
    # Down b, c, a: above c only b, right; above a both, wrong.
    assert ap.tau_ap == 0.0
    assert [(swap.above, swap.below) for swap in ap.swaps] == [("a", "b"), ("a", "c")]
    assert (rr.tau, rr.tau_ap, rr.swaps) == (1.0, 1.0, ())
    assert "people (the reference of τ_AP) and model:" in correlations_text(found)


def test_with_other_judgments_one_measure_is_enough() -> None:
    scores = [scores_of("a", AP=[0.5]), scores_of("b", AP=[0.4])]
    found = correlate(scores, scores)
    assert found.between_measures == ()
    assert found.between_judgments[0].tau == 1.0
    with pytest.raises(UsageError, match="Name two measures or more, or other judgments"):
        correlate(scores)


@pytest.mark.parametrize(("n", "remark"), [(2, "1 time in 2"), (4, "1 time in 24"), (5, None)])
def test_few_systems_are_remarked_on(n: int, remark: str | None) -> None:
    found = correlate([scores_of(f"s{i}", AP=[i / 10], RR=[i / 10]) for i in range(n)])
    assert [remark in text for text in found.remarks if remark] == ([True] if remark else [])
    assert bool(found.remarks) == (remark is not None)


def test_one_system_has_no_order() -> None:
    with pytest.raises(UsageError, match="takes 2 runs or more, not 1; add the runs of other systems"):
        correlate(three_systems()[:1])


def test_scores_that_cannot_be_set_side_by_side_are_refused() -> None:
    a = scores_of("a", AP=[0.5, 0.5], RR=[0.5, 0.5])
    with pytest.raises(BadInput, match="a and b were scored by different measures"):
        correlate([a, scores_of("b", AP=[0.5, 0.5])])
    with pytest.raises(BadInput, match="different rules: missing=zero and missing=skip"):
        correlate([a, scores_of("b", preset="trec_eval", AP=[0.5, 0.5], RR=[0.5, 0.5])])
    with pytest.raises(BadInput, match="different queries: only a has q2"):
        correlate([a, scores_of("b", AP=[0.5], RR=[0.5])])
    with pytest.raises(UsageError, match="scores of other systems"):
        correlate([a, a], [a, scores_of("c", AP=[0.5, 0.5], RR=[0.5, 0.5])])
    with pytest.raises(UsageError, match="scores under other measures"):
        correlate([a, a], [scores_of("a", AP=[0.5, 0.5])] * 2)


def test_scores_by_different_judgments_are_refused_in_one_list() -> None:
    run = {"q": {"a": 2.0, "b": 1.0}}
    one, other = (rankproof.evaluate({"q": {doc: 1}}, run, ["AP", "RR"]) for doc in "ab")
    with pytest.raises(BadInput, match="scored against different judgments"):
        correlate([one, other])


def test_systems_of_the_same_name_are_kept_apart() -> None:
    a, b, _ = three_systems()
    found = correlate([a, scores_of("a", AP=[0.7, 0.7], RR=[1.0, 0.5]), b, replace(b, name="a (2)")])
    assert found.systems == ("a", "a (2)", "b", "a (2) (2)")


# overlap


def test_two_runs_by_hand() -> None:
    first = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"a": 1.0}}
    second = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"a": 1.0}}
    (found,) = overlap([first, second], p=0.5).pairs
    # q1: nothing at depth 1, everything below: 1/2. q2 is the same.
    assert found.rbo == 0.75
    assert found.overlap_at == {1: 0.5, 5: 1.0, 10: 1.0, 100: 1.0}
    assert found.least(1) == (("q1", 0.5),)
    assert found.interval.as_list() == [0.0, 1.0]


def test_a_share_is_of_the_longer_ranking_where_both_end_above_the_cutoff() -> None:
    first = {"q": {"a": 3.0, "b": 2.0}}
    second = {"q": {"a": 3.0, "x": 2.0, "y": 1.0}}
    (found,) = overlap([first, second], depth=5).pairs
    assert found.overlap_at == {1: 1.0, 5: pytest.approx(1 / 3)}


def test_ties_are_ranked_by_id_descending_in_bytes() -> None:
    first = {"q": {"a": 1.0, "b": 1.0, "é": 1.0, "Z": 1.0}}
    second = {"q": {"é": 4.0, "b": 3.0, "a": 2.0, "Z": 1.0}}
    (found,) = overlap([first, second]).pairs
    assert found.rbo == 1.0


def test_queries_of_one_run_only_are_listed_and_in_no_figure() -> None:
    first = {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q4": {}}
    second = {"q1": {"a": 1.0}, "q3": {"a": 1.0}, "q4": {"a": 1.0}}
    found = overlap([first, second])
    (pair,) = found.pairs
    assert pair.query_ids == ("q1",)
    assert (pair.only_first, pair.only_second) == (("q2",), ("q3", "q4"))
    assert (pair.rbo, pair.interval.as_list()) == (1.0, None)
    assert "1 query is in run but not in run (2), and in no figure: q2" in overlaps_text(found)
    assert "2 queries are in run (2) but not in run, and in no figure: q3, q4" in overlaps_text(found)


def test_the_same_document_under_two_queries_is_not_in_common() -> None:
    (found,) = overlap([{"q1": {"a": 1.0}, "q2": {"b": 1.0}}, {"q1": {"b": 1.0}, "q2": {"a": 1.0}}]).pairs
    assert found.rbo == 0.0


def test_every_two_of_three_runs() -> None:
    runs = [{"q": {doc: 1.0}} for doc in "aab"]
    found = overlap(runs)
    assert [(pair.first, pair.second, pair.rbo) for pair in found.pairs] == [
        ("run", "run (2)", 1.0),
        ("run", "run (3)", 0.0),
        ("run (2)", "run (3)", 0.0),
    ]


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [(f"q{i % 7}", f"d{i * 13 % 31}", float(i * 7 % 11)) for i in range(200)]
    unique = list({(query, doc): (query, doc, score) for query, doc, score in rows}.values())
    other = [(query, doc, -score) for query, doc, score in unique]
    assert overlaps_json(overlap([unique, other])) == overlaps_json(overlap([unique[::-1], other[50:] + other[:50]]))


def test_overlap_refuses_what_it_cannot_compare() -> None:
    run = {"q1": {"a": 1.0}}
    with pytest.raises(UsageError, match="takes 2 runs or more, not 1; add another run"):
        overlap([run])
    with pytest.raises(UsageError, match="1 or more; 0 is none"):
        overlap([run, run], depth=0)
    with pytest.raises(UsageError, match="persistence p"):
        overlap([run, run], p=1.5)
    with pytest.raises(BadInput, match=r"no query is in both: run has 'q1' …, run \(2\) has 'q2' …\. Check"):
        overlap([run, {"q2": {"a": 1.0}}])
    with pytest.raises(NothingToEvaluate, match="holds no results"):
        overlap([run, {"q1": {}}])


def test_seven_thousand_queries_of_a_hundred_documents() -> None:
    random = np.random.default_rng(0)
    runs = []
    for _ in range(2):
        docs = np.argsort(random.random((7000, 150)), axis=1)[:, :100]
        runs.append({f"q{i}": dict(zip(map(str, row), range(100, 0, -1), strict=True)) for i, row in enumerate(docs)})
    (found,) = overlap(runs).pairs
    assert len(found.query_ids) == 7000
    assert found.overlap_at[100] == pytest.approx(2 / 3, abs=0.01)


# discriminate


def four_systems() -> list[Scores]:
    """Under AP `low` is far below the others, which differ by nothing but noise; RR tells nobody apart."""
    random = np.random.default_rng(5)
    base = random.random(40)
    noise = [random.normal(0, 0.01, 40) for _ in range(3)]
    flat = [(random.random(40) < 0.5).astype(float).tolist() for _ in range(4)]
    return [
        scores_of("low", AP=(base - 0.5).tolist(), RR=flat[0]),
        *(scores_of(f"s{i}", AP=(base + noise[i]).tolist(), RR=flat[i + 1]) for i in range(3)),
    ]


def test_power_is_the_share_of_pairs_that_a_measure_tells_apart() -> None:
    found = discriminate(four_systems(), permutations=2000)
    ap, rr = found.measures
    assert ap.n_significant == 3
    assert ap.share == 0.5
    assert rr.share == 0.0
    assert {pair.below for pair in ap.asl[-3:]} == {"low"}
    assert [pair.p_value for pair in ap.asl] == sorted((pair.p_value for pair in ap.asl), reverse=True)
    # The three pairs with `low` differ by about a half, all others by next to nothing.
    assert ap.smallest_significant == pytest.approx(0.5, abs=0.01)
    assert ap.estimated_required is not None
    assert 0 < ap.estimated_required < 0.01
    assert rr.smallest_significant is None
    assert rr.estimated_required is not None
    assert 0.15 < rr.estimated_required < 0.35


def test_p_values_by_hand() -> None:
    # All differences of one sign on n queries: 2 of 2ⁿ assignments of signs are as extreme.
    scores = [scores_of(name, AP=[value] * 4) for name, value in (("a", 0.3), ("b", 0.2), ("c", 0.2))]
    (found,) = discriminate(scores, alpha=0.2).measures
    assert [(pair.above, pair.below, pair.difference, pair.p_value) for pair in found.asl] == [
        ("b", "c", 0.0, 1.0),
        ("a", "b", 0.1, 0.125),
        ("a", "c", 0.1, 0.125),
    ]
    assert (found.n_significant, found.smallest_significant, found.estimated_required) == (2, 0.1, 0.0)


def test_the_smallest_significant_difference_lies_above_every_doubtful_one() -> None:
    # a − b is 0.1 on every query, a − c is larger but on one query only.
    scores = [
        scores_of("a", AP=[0.5] * 8),
        scores_of("b", AP=[0.4] * 8),
        scores_of("c", AP=[0.5] * 7 + [-0.5]),
    ]
    (found,) = discriminate(scores).measures
    assert found.n_significant == 1
    assert found.smallest_significant is None


def test_one_query_gives_no_estimate() -> None:
    (found,) = discriminate([scores_of(name, AP=[0.1]) for name in "abc"]).measures
    assert found.estimated_required is None
    assert found.share == 0.0


def test_the_order_of_queries_does_not_matter() -> None:
    random = np.random.default_rng(2)
    scores = [scores_of(name, AP=random.random(30).tolist()) for name in "abc"]
    turned = [
        Scores(one.measures, one.query_ids[::-1], one.values[:, ::-1], one.find_coverage, one.preset, one.name)
        for one in scores
    ]
    first, second = (discriminate(given, permutations=500) for given in (scores, turned))
    assert discriminations_json(first) == discriminations_json(second)
    assert discriminations_json(first) != discriminations_json(discriminate(scores, permutations=500, seed=1))


def test_discriminate_refuses_too_few_systems_and_a_level_that_is_none() -> None:
    with pytest.raises(UsageError, match="Discriminative power takes 3 runs or more, not 2"):
        discriminate(three_systems()[:2])
    with pytest.raises(UsageError, match=r"between 0 and 1, as in 0\.05; 5 does not"):
        discriminate(three_systems(), alpha=5)


# reports


def correlations() -> Correlations:
    return correlate(three_systems())


def test_the_text_shows_orders_a_triangle_and_the_swaps() -> None:
    assert correlations_text(correlations()) == (
        "system          AP          RR\n"
        "──────  ──────────  ──────────\n"
        "a       0.8000 (1)  0.5000 (2)\n"
        "b       0.7000 (2)  0.7500 (1)\n"
        "c       0.3000 (3)  0.3750 (3)\n"
        "\n"
        "τ       AP\n"
        "──  ──────\n"
        "RR  0.3333\n"
        "\n"
        "τ_AP      AP\n"
        "────  ──────\n"
        "RR    0.0000\n"
        "\n"
        "AP and RR, pairs of systems that change places: 1 of 3\n"
        "  a is above b by 0.1000, then below by 0.2500\n"
        "\n"
        "2 of 2 judged queries scored\n"
        f"rules: default ({PRESETS['default'].rules})\n"
        "note: with 3 systems τ says little: two orders drawn by lot are the same 1 time in 6\n"
    )


def test_the_json_holds_every_swap() -> None:
    data = json.loads(correlations_json(correlations()))
    assert data["schema_version"] == 1
    assert data["between_measures"][0]["swaps"] == [{"above": "a", "below": "b", "first": 0.1, "second": -0.25}]
    assert data["orders"][1]["systems"][0] == {"name": "b", "mean": 0.75, "rank": 1}
    assert set(data["coverage"]["judgments"]) == {"a", "b", "c"}
    assert data["coverage"]["against"] == {}


def test_csv_of_correlations() -> None:
    assert correlations_csv(correlations()) == (
        "measure,judgments,other_measure,other_judgments,tau,tau_ap,pairs,tied,swaps\n"
        "AP,judgments,RR,judgments,0.3333333333333333,0.0,3,0,1\n"
    )


def test_overlap_as_text_and_csv() -> None:
    runs = [{"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}}]
    found = overlap(runs, p=0.5, depth=5)
    lines = overlaps_text(found).splitlines()
    assert lines[0].split() == ["runs", "queries", "RBO", "95%", "interval", "least", "most", "overlap@1", "overlap@5"]
    assert lines[2].split()[:8] == ["run", "·", "run", "(2)", "2", "0.7500", "0.0000", "to"]
    assert "run · run (2) agree least on q1 0.5000, q2 1.0000" in lines
    assert lines[-1] == "RBO with p = 0.5, down to rank 5; ties by id, descending"
    header, row = overlaps_csv(found).splitlines()
    assert header.startswith("run,other_run,queries,only_run,only_other_run,rbo,low,high,minimum,maximum,overlap@1")
    assert row.startswith("run,run (2),2,0,0,0.75,0.0,1.0,")


def test_discrimination_as_text_and_csv() -> None:
    scores = [scores_of(name, AP=[value] * 4) for name, value in (("a", 0.3), ("b", 0.2), ("c", 0.2))]
    found = discriminate(scores, alpha=0.2, permutations=1000, seed=7)
    text = discriminations_text(found)
    assert text.splitlines()[2].split() == ["AP", "2", "of", "3", "66.7%", "0.1000", "0.0000"]
    assert "p-value\n1.0 ┤" in text
    assert " ┄┄ p = 0.2\n" in text
    assert "1,000 permutations, seed 7" in text
    assert discriminations_csv(found) == (
        "measure,rank,above,below,difference,p_value\nAP,1,b,c,0.0,1.0\nAP,2,a,b,0.1,0.125\nAP,3,a,c,0.1,0.125\n"
    )


def test_the_drawing_has_a_curve_for_each_measure() -> None:
    found = discriminate(four_systems(), permutations=200)
    drawn = discriminations_svg(found)
    assert drawn.startswith("<svg ")
    assert "AP tells 3 of 6 pairs of systems apart; RR tells 0 of 6 pairs of systems apart" in drawn
    assert ">p = 0.05</text>" in drawn
    assert discriminations_svg(discriminate(four_systems(), permutations=200)) == drawn
