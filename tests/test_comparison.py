"""Scores in, findings out: what is compared, what is refused, and what the figures are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import scipy.stats

from rankproof.comparison import Method, compare
from rankproof.errors import BadInput, UnknownName, UsageError
from rankproof.measures.parse import parse_measures
from rankproof.scoring.evaluate import Evaluator
from rankproof.scoring.rules import PRESETS
from rankproof.scoring.scores import Coverage, Scores

COVERAGE = Coverage(0, 0, 0, 0, 0, 0)


def scores(
    name: str, values: Mapping[str, float], *, measure: str = "nDCG@10", judgments: str = "sha256:1",
    preset: str = "default",
) -> Scores:  # fmt: skip
    """Made-up scores of one measure."""
    row = np.array([list(values.values())])
    return Scores(
        parse_measures(measure), list(values), row, lambda: COVERAGE, PRESETS[preset], name,
        find_judgments=lambda: judgments,
    )  # fmt: skip


def many(name: str, shift: float, n: int = 40, seed: int = 0) -> Scores:
    """Scores of n queries: the same for every seed, but for a shift and noise of its own."""
    base = np.random.default_rng(99).uniform(0.2, 0.6, n)
    noise = np.random.default_rng(seed).normal(0, 0.05, n)
    return scores(name, {f"q{i}": float(v) for i, v in enumerate(base + noise + shift)})


def test_a_comparison_by_hand() -> None:
    # Differences 0.1, 0.2, 0.3 and 0: of the 8 assignments of signs to the first three, 2 are as extreme.
    found = compare([
        scores("old", {"a": 0.2, "b": 0.3, "c": 0.4, "d": 0.5}),
        scores("new", {"a": 0.3, "b": 0.5, "c": 0.7, "d": 0.5}),
    ])  # fmt: skip
    (one,) = found.comparisons
    assert (one.baseline, one.candidate, str(one.measure), one.effect.n) == ("old", "new", "nDCG@10", 4)
    assert one.mean_baseline == pytest.approx(0.35)
    assert one.mean_candidate == pytest.approx(0.5)
    assert one.difference == pytest.approx(0.15)
    assert (one.p_value, one.p_adjusted, one.exact) == (0.25, 0.25, True)
    assert (one.effect.wins, one.effect.ties, one.effect.losses) == (3, 1, 0)
    # sd = sqrt((0.0025 + 0.0025 + 0.0225 + 0.0225) / 3) = 0.129099…; t(3) at 97.5 % is 3.182446…
    assert one.effect.d_z == pytest.approx(0.15 / 0.12909944487358)
    assert one.interval.low == pytest.approx(0.15 - 3.182446305284 * 0.12909944487358 / 2)
    assert one.interval.high == pytest.approx(0.15 + 3.182446305284 * 0.12909944487358 / 2)
    assert one.verdict == "not shown"
    assert [query.query_id for query in one.best] == ["c", "b", "a"]
    assert one.worst == ()


def test_queries_in_another_order_are_matched_by_id() -> None:
    found = compare([scores("old", {"a": 0.1, "b": 0.9}), scores("new", {"b": 0.9, "a": 0.1})])
    assert (found.comparisons[0].effect.ties, found.comparisons[0].p_value) == (2, 1.0)


def test_identical_systems_have_p_1_and_no_verdict_under_every_test() -> None:
    one, two = many("old", 0), many("new", 0)
    for test in ("randomization", "t", "wilcoxon", "sign", "welch"):
        (found,) = compare([one, two], method=Method(test=test)).comparisons
        assert (found.p_value, found.verdict, found.difference) == (1.0, "not shown", 0.0), test
        assert found.effect.d_z == 0.0


def test_a_constant_difference_has_a_p_above_zero_and_no_effect_size() -> None:
    one, two = (
        scores(name, {f"q{i}": 0.1 * i + shift for i in range(6)}) for name, shift in (("old", 0), ("new", 0.3))
    )
    for test, least in (("randomization", 2 / 64), ("t", 2 / 64), ("wilcoxon", 2 / 64), ("sign", 2 / 64)):
        (found,) = compare([one, two], method=Method(test=test)).comparisons  # type: ignore[arg-type]
        assert found.p_value == pytest.approx(least), test
        assert (found.effect.d_z, found.effect.sd, found.verdict) == (None, 0.0, "better")


def test_one_query_has_no_interval_and_says_so() -> None:
    (found,) = compare([scores("old", {"a": 0.1}), scores("new", {"a": 0.9})]).comparisons
    assert found.interval.as_list() is None
    assert found.interval.reason == "no interval: one query has no spread"
    assert (found.p_value, found.verdict, found.smallest_visible) == (1.0, "not shown", None)


def test_every_other_run_meets_the_baseline_and_all_pairs_meet_on_request() -> None:
    runs = [many("a", 0.0, seed=1), many("b", 0.1, seed=2), many("c", 0.2, seed=3)]
    assert [(o.baseline, o.candidate) for o in compare(runs).comparisons] == [("a", "b"), ("a", "c")]
    named = compare(runs, baseline="c").comparisons
    assert [(o.baseline, o.candidate) for o in named] == [("c", "a"), ("c", "b")]
    assert all(o.verdict == "worse" for o in named)
    pairs = compare(runs, all_pairs=True).comparisons
    assert [(o.baseline, o.candidate) for o in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(UnknownName, match="Did you mean"):
        compare([many("bm25.run", 0), many("dense.run", 0)], baseline="bm25")
    with pytest.raises(UsageError, match="Either one baseline or all pairs"):
        compare(runs, baseline="a", all_pairs=True)


def test_the_family_is_measures_times_pairs() -> None:
    qrels = {f"q{i}": {"d1": 1} for i in range(30)}
    rng = np.random.default_rng(5)
    runs = [{q: {f"d{j}": float(rng.normal(j == 1)) for j in range(1, 6)} for q in qrels} for _ in range(3)]
    evaluator = Evaluator(qrels)
    found = compare([evaluator.evaluate(run, ["RR", "P@1"]) for run in runs], all_pairs=True)
    p = sorted(one.p_value for one in found.comparisons)
    assert len(p) == 6
    smallest = min(found.comparisons, key=lambda one: one.p_value)
    assert smallest.p_adjusted == pytest.approx(min(1.0, 6 * p[0]))


def test_the_figures_are_those_of_scipy() -> None:
    one, two = many("old", 0.0, seed=1), many("new", 0.03, seed=2)
    old, new = one.values[0], two.values[0]
    (t,) = compare([one, two], method=Method(test="t", level=0.9)).comparisons
    reference = scipy.stats.ttest_rel(new, old)
    assert t.p_value == pytest.approx(reference.pvalue, rel=1e-9)
    assert t.interval.as_list() == pytest.approx(list(reference.confidence_interval(0.9)), rel=1e-9)
    (welch,) = compare([one, two], method=Method(test="welch")).comparisons
    independent = scipy.stats.ttest_ind(new, old, equal_var=False)
    assert welch.p_value == pytest.approx(independent.pvalue, rel=1e-9)
    assert welch.interval.as_list() == pytest.approx(list(independent.confidence_interval()), rel=1e-9)
    assert welch.p_value > t.p_value


def test_intervals_stay_within_what_a_difference_can_be() -> None:
    values = {"a": 0.0, "b": 1.0}
    (found,) = compare([scores("old", values), scores("new", dict(zip(values, [1.0, 0.9], strict=True)))]).comparisons
    assert found.interval.as_list() == [-1.0, 1.0]


def test_a_margin_shows_what_a_missing_difference_does_not() -> None:
    one, two = many("old", 0.0, seed=1), many("new", 0.0, seed=2)
    (found,) = compare([one, two], method=Method(margin=0.1)).comparisons
    assert found.verdict == "not shown"
    assert found.margin is not None
    assert found.margin.non_inferiority_p < 0.001
    assert found.margin.equivalence_p < 0.001
    (few,) = compare([one, two], method=Method(margin=0.001)).comparisons
    assert few.margin is not None
    assert few.margin.equivalence_p > 0.05


def test_groups_are_a_family_of_their_own() -> None:
    one, two = many("old", 0.0, n=10, seed=1), many("new", 0.3, n=10, seed=2)
    groups = {f"q{i}": "low" if i < 4 else "high" for i in range(9)}
    found = compare([one, two], groups=groups)
    assert [(g.group, g.effect.n) for g in found.by_group] == [("high", 5), ("low", 4), ("(no group)", 1)]
    assert [g.p_value for g in found.by_group] == [2 / 32, 2 / 16, 1.0]
    assert [g.p_adjusted for g in found.by_group] == pytest.approx([6 / 32, 4 / 16, 1.0])
    assert found.comparisons[0].p_adjusted == 2 / 1024


def test_different_queries_are_refused_and_named() -> None:
    one = scores("old", {f"q{i}": 0.1 for i in range(10)})
    two = scores("new", {"q0": 0.1, "q1": 0.2, "extra": 0.3})
    with pytest.raises(BadInput) as caught:
        compare([one, two])
    assert "only old has q2, q3, q4, q5, q6 (and 3 more)" in str(caught.value)
    assert "only new has extra" in str(caught.value)
    assert "Score both against the same gold set." in str(caught.value)


def test_queries_left_out_by_the_rules_say_which_preset_keeps_them() -> None:
    evaluator = Evaluator({"a": {"d": 1}, "b": {"d": 1}}, preset="trec_eval")
    both = [evaluator.evaluate(run, "RR") for run in ({"a": {"d": 1.0}, "b": {"d": 1.0}}, {"a": {"d": 1.0}})]
    with pytest.raises(BadInput, match="under the preset `default` it counts 0"):
        compare(both)


def test_different_judgments_rules_and_measures_are_refused_and_named() -> None:
    values = {"a": 0.1, "b": 0.2}
    with pytest.raises(BadInput, match=r"different judgments \(sha256:1 and sha256:2\)"):
        compare([scores("old", values), scores("new", values, judgments="sha256:2")])
    with pytest.raises(BadInput, match="different rules: missing=zero and missing=skip"):
        compare([scores("old", values), scores("new", values, preset="trec_eval")])
    with pytest.raises(BadInput, match=r"nDCG with .*exp"):
        compare([scores("old", values, preset="spec"), scores("new", values, preset="elasticsearch")])
    with pytest.raises(BadInput, match="different measures"):
        compare([scores("old", values), scores("new", values, measure="RR")])


def test_unknown_judgments_are_compared_with_a_note() -> None:
    values = {"a": 0.1, "b": 0.2}
    found = compare([scores("old", values, judgments=""), scores("new", values)])
    assert "could not be checked" in found.notes[0]


def test_what_is_no_mean_over_queries_is_refused() -> None:
    values = {"a": 0.1, "b": 0.2}
    with pytest.raises(UsageError, match="compare AP instead"):
        compare([scores("old", values, measure="GMAP"), scores("new", values, measure="GMAP")])


def test_one_run_is_too_few_and_equal_names_are_numbered() -> None:
    one = many("x.run", 0)
    with pytest.raises(UsageError, match="at least two runs"):
        compare([one])
    assert [system.name for system in compare([one, one, one]).systems] == ["x.run", "x.run (2)", "x.run (3)"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 95}, "Did you mean 0.95"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"alpha": 0}, "significance level"),
        ({"test": "anova"}, "There is no test called 'anova'"),
        ({"margin": -0.1}, "such as 0.01; -0.1 is none"),
        ({"margin": 0.1, "test": "welch"}, "paired differences"),
        ({"seed": -1}, "A seed is"),
    ],
)
def test_a_method_that_makes_no_sense_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Method(**settings)  # type: ignore[arg-type]
