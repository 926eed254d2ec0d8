from __future__ import annotations

import pytest

import rankproof

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 2, "d": 1}}
RUN = {"q1": {"a": 1.0, "z": 1.0}, "q3": {"c": 2.0, "d": 1.0}}


def test_the_rule_and_the_queries_that_make_the_difference_are_named() -> None:
    (found,) = rankproof.explain(QRELS, RUN, "RR", "trec_eval", "sentence-transformers").differences
    assert found.first == (0.5 + 1.0) / 2
    assert found.second == (1.0 + 0.0 + 1.0) / 3
    by_rule = {change.rule: change for change in found.changes}
    assert set(by_rule) == {"ties", "missing", "no_relevant"}
    assert by_rule["ties"].queries == ("q1",)
    assert by_rule["ties"].effect == pytest.approx(1.0 - 0.75)
    assert by_rule["missing"].queries == ("q2",)
    assert by_rule["missing"].effect == pytest.approx(0.5 - 0.75)
    assert by_rule["no_relevant"].queries == ()


def test_a_parameter_default_is_named_like_a_rule() -> None:
    run = {"q3": {"d": 2.0, "c": 1.0}}
    (found,) = rankproof.explain(QRELS, run, "nDCG", "default", "ab").differences
    by_rule = {change.rule: change for change in found.changes}
    assert set(by_rule) == {"ties", "nDCG(gain)"}
    assert by_rule["nDCG(gain)"].queries == ("q3",)


def test_a_preset_that_refuses_the_input_is_told_with_its_reason() -> None:
    found = rankproof.explain(QRELS, RUN, "RR", "default", "ranx")
    assert found.differences[0].second is None
    assert "missing from the run" in found.refusals[0]


def test_the_run_of_the_caller_is_left_as_it_was() -> None:
    run = rankproof.Run.of(RUN)
    rankproof.explain(QRELS, run, "RR", "default", "trec_eval")
    assert run.name is None


def test_the_effects_and_what_they_do_together_add_up() -> None:
    (found,) = rankproof.explain(QRELS, RUN, "RR", "trec_eval", "sentence-transformers").differences
    total = found.second - found.first  # type: ignore[operator]
    assert sum(c.effect or 0.0 for c in found.changes) + (found.together or 0.0) == pytest.approx(total)


def test_two_equal_presets_are_refused() -> None:
    with pytest.raises(rankproof.UsageError, match="name two different ones"):
        rankproof.explain(QRELS, RUN, "RR", "ab", "ab")
