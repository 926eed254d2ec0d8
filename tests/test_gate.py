"""A gate is a table: what was measured, the rule, the outcome, and the reasoning beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from rankproof.gate import Case, Drop, Measured, Outcome, Rules, judge, judge_all, overall
from rankproof.measures.parse import parse_measure, parse_measures
from rankproof.scoring.rules import PRESETS
from rankproof.scoring.scores import Coverage, Scores
from tests import gate_simulation
from tests.docs.markdown import page_text
from tests.stats.simulate import Population, error_of, table_in

RR = parse_measure("RR")
COVERAGE = Coverage(0, 0, 0, 0, 0, 0)


def scores(values: Sequence[float]) -> Scores:
    names = [f"q{i:04}" for i in range(len(values))]
    return Scores(parse_measures("RR"), names, np.array([values]), lambda: COVERAGE, PRESETS["default"])


def outcome(
    rules: Rules, now: Sequence[float], before: Sequence[float] | None, groups: Mapping[str, str] | None = None,
    failed: int = 0, seconds: Sequence[float] = (),
) -> Outcome:  # fmt: skip
    measured = Measured(scores(now), {"failed": [f"f{i}" for i in range(failed)]}, groups or {}, seconds)
    return overall(judge(rules, measured, None if before is None else scores(before)))


HALF = [0.5] * 30
FLOOR = Rules(floors={RR: 0.5})
TIGHT = Rules(max_drop={RR: Drop(absolute=0.01)})
SHARE = Rules(max_drop={RR: Drop(relative=0.10)})
MARGIN = Rules(margin=0.05)


@pytest.mark.parametrize(
    ("rules", "now", "before", "expected"),
    [
        # A floor is a floor: at it passes, below it does not, whatever the baseline was.
        (FLOOR, [0.5] * 30, None, "pass"),
        (FLOOR, [0.49] * 30, None, "worse"),
        # Nothing changed.
        (TIGHT, HALF, HALF, "pass"),
        # Every query fell by more than is allowed: no chance about it.
        (TIGHT, [0.45] * 30, HALF, "worse"),
        # Every query fell, by exactly what is allowed.
        (TIGHT, [0.49] * 30, HALF, "pass"),
        # One query of thirty fell hard: the mean is down by 0.0167, but one query is no proof.
        (TIGHT, [0.0, *[0.5] * 29], HALF, "pass"),
        # Better is never worse.
        (TIGHT, [0.9] * 30, HALF, "pass"),
        # Ten per cent of 0.5 is 0.05.
        (SHARE, [0.45] * 30, HALF, "pass"),
        (SHARE, [0.44] * 30, HALF, "worse"),
        # Shown to be no worse by 0.05; shown to be worse; and too few queries to show either.
        (MARGIN, HALF, HALF, "pass"),
        (MARGIN, [0.4] * 30, HALF, "worse"),
        (MARGIN, [0.5, 0.4], [0.5, 0.5], "not measured"),
        # No baseline, no comparison, and no pass by accident.
        (TIGHT, HALF, None, "not measured"),
        (MARGIN, HALF, None, "not measured"),
    ],
)
def test_rules(rules: Rules, now: list[float], before: list[float] | None, expected: Outcome) -> None:
    assert outcome(rules, now, before) == expected


def test_a_drop_inside_the_noise_says_how_many_queries_would_tell() -> None:
    measured = Measured(scores([0.0, *[0.5] * 29]))
    verdict = judge(TIGHT, measured, scores(HALF))[1]
    assert verdict.outcome == "pass"
    # One-sided: (1.645 + 0.842)² · (0.0913 / 0.0167)², and one or two more for the t.
    told = "which cannot be told from noise (1 query that changed is too few to show it); 187 queries would tell"
    assert told in verdict.why
    assert verdict.worst == (("q0000", -0.5),)


def test_a_group_that_falls_is_named_even_if_the_whole_does_not() -> None:
    groups = {f"q{i:04}": "hr" if i < 10 else "it" for i in range(40)}
    now, before = [0.2] * 10 + [0.6] * 30, [0.5] * 40
    verdicts = judge(TIGHT, Measured(scores(now), groups=groups), scores(before))
    worse = [verdict for verdict in verdicts if verdict.outcome == "worse"]
    assert [(verdict.rule, verdict.group) for verdict in worse] == [("max_drop RR, group hr", "hr")]
    assert len(worse[0].worst) == 5


def test_a_group_below_the_least_size_is_not_judged() -> None:
    groups = {f"q{i:04}": "few" if i < 4 else "many" for i in range(40)}
    now, before = [0.0] * 4 + [0.6] * 36, [0.5] * 40
    assert outcome(TIGHT, now, before, groups) == "pass"


def test_too_few_measured_queries_decide_before_everything_else() -> None:
    assert outcome(TIGHT, [0.1] * 30, HALF, failed=1) == "not measured"
    assert outcome(Rules(coverage=0.9, max_drop={RR: Drop(absolute=0.01)}), [0.1] * 30, HALF, failed=1) == "worse"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [([0.1] * 20, "pass"), ([*[0.1] * 19, 9.0], "pass"), ([*[0.1] * 18, 9.0, 9.0], "worse"), ([], "not measured")],
)
def test_nineteen_of_twenty_queries_keep_the_time(seconds: list[float], expected: Outcome) -> None:
    assert outcome(Rules(latency=0.2), HALF, None, seconds=seconds) == expected


def test_no_change_raises_no_more_false_alarms_than_promised_however_many_groups() -> None:
    rng = np.random.default_rng(7)
    groups = {f"q{i:04}": f"g{i % 5}" for i in range(60)}
    rules = Rules(max_drop={RR: Drop(absolute=0.0)}, permutations=999)
    draws, alarms = 1000, 0
    for _ in range(draws):
        before = rng.uniform(0.2, 0.8, 60)
        now = before + rng.normal(0, 0.1, 60)
        alarms += outcome(rules, now.tolist(), before.tolist(), groups) == "worse"
    # At most 5 %, and three and a half standard errors of a simulation of a thousand draws.
    assert alarms / draws <= 0.05 + 3.5 * (0.05 * 0.95 / draws) ** 0.5


def test_a_planted_loss_is_found_as_often_as_power_promises() -> None:
    rng = np.random.default_rng(8)
    rules = Rules(max_drop={RR: Drop(absolute=0.0)}, permutations=999)
    # One-sided at 5 %: 27 queries find a drop of half a standard deviation in four of five cases.
    draws, found = 500, 0
    for _ in range(draws):
        before = rng.uniform(0.4, 0.6, 27)
        now = before - 0.05 + rng.normal(0, 0.1, 27)
        found += outcome(rules, now.tolist(), before.tolist()) == "worse"
    assert found / draws >= 0.80 - 3.5 * (0.8 * 0.2 / draws) ** 0.5


TABLE = table_in(page_text(gate_simulation.PAGE), "gate")


@pytest.mark.parametrize("n", gate_simulation.SIZES)
@pytest.mark.parametrize("population", gate_simulation.POPULATIONS[:2], ids=lambda population: population.name)
def test_the_page_shows_that_the_gate_keeps_its_promise(population: Population, n: int) -> None:
    line = TABLE[population.name, n]
    for column in ("no change", "no change, groups"):
        assert float(line[column]) <= 5.0 + 350 * error_of(0.05, gate_simulation.BUILDS)
    assert float(line["found"]) >= 80.0 - 350 * error_of(0.80, gate_simulation.BUILDS)


def test_a_line_of_the_page_is_what_the_simulation_gives() -> None:
    line = gate_simulation.simulated(gate_simulation.POPULATIONS[1], 25)
    found = [f"{100 * share:.1f}" for share in (line.unchanged, line.lost)]
    shown = TABLE[gate_simulation.POPULATIONS[1].name, 25]
    assert [*found, f"{line.loss:.3f}"] == [shown["no change"], shown["found"], shown["loss"]]


def test_groups_in_which_nothing_changed_do_not_hide_one_in_which_everything_did() -> None:
    groups = {f"q{i:04}": f"g{i // 6}" for i in range(60)}
    verdicts = judge(TIGHT, Measured(scores([0.0] * 6 + [1.0] * 54), groups=groups), scores([1.0] * 60))
    # Of eleven tests two could show a fall, both with p = 2⁻⁶; Holm doubles it.
    worse = {verdict.rule: verdict.p_value for verdict in verdicts if verdict.outcome == "worse"}
    assert worse == {"max_drop RR": 2 * 2**-6, "max_drop RR, group g0": 2 * 2**-6}


def test_a_group_that_is_too_small_to_show_anything_says_so() -> None:
    groups = {f"q{i:04}": f"g{i // 5}" for i in range(30)}
    verdicts = judge(TIGHT, Measured(scores([0.0] * 5 + [1.0] * 25), groups=groups), scores([1.0] * 30))
    assert overall(verdicts) == "pass"
    (fallen,) = [verdict.why for verdict in verdicts if verdict.group == "g0"]
    told = "fell by 1.0000, which cannot be told from noise (5 queries that changed are too few to show it)"
    assert fallen == f"1.0000 → 0.0000 {told}"


def test_several_pipelines_are_one_family() -> None:
    now, before = scores([0.0] * 5 + [1.0] * 25), scores([1.0] * 30)
    case = Case(TIGHT, Measured(now), before)
    assert overall(judge_all({"a": case})["a"]) == "worse"
    assert [overall(one) for one in judge_all({"a": case, "b": case}).values()] == ["pass", "pass"]


def test_the_last_digit_of_a_mean_breaks_no_floor() -> None:
    # The mean of these is 0.19999999999999998.
    assert outcome(Rules(floors={RR: 0.2}), [0.0, 0.6, 0.0], None) == "pass"
    assert outcome(Rules(floors={RR: 0.2}), [0.0, 0.599, 0.0], None) == "worse"
