"""What the page says, by hand: the verdict in words, curves, ranks, changes, and what became of each query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.gate import Drop, Measured, Rules, judge
from rankproof.measures.parse import parse_measure
from rankproof.report import RANK_LABELS, Place, Report, Standard, build
from rankproof.retrieval.answers import Answer
from tests.reports.examples import analyses_of, baseline_of, evaluated, gold_of, hits, run

QUERIES = (Query("q1", "apple", "fruit"), Query("q2", "pear", "fruit"), Query("q3", "bolt", "tool"))
GRADES: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 2, "d": 1}}
GOLD = gold_of(GRADES, QUERIES)
CORPUS = Corpus(tuple(Document(name, f"text of {name}", f"title of {name}") for name in "abcdxyz"))

Answers = Mapping[str, Sequence[str] | Answer]
GOOD: Answers = {"q1": "ax", "q2": "bx", "q3": "cd"}
"""Every document stands first."""
POOR: Answers = {"q1": "xa", "q2": "xyzb", "q3": "cx"}
"""The first stands at rank 2, the second at rank 4, and of the third one of two is found."""


def report(*named: tuple[str, Answers], standard: Standard | None = None, analysed: bool = False) -> Report:
    found = evaluated(GOLD, [run(name, QUERIES, answers) for name, answers in named], ["RR", "P@1"], CORPUS)
    analyses = analyses_of(found, GOLD, CORPUS) if analysed else []
    return build(found, GOLD, corpus=CORPUS, analyses=analyses, standard=standard)


def held(now: Answers, before: Answers, rules: Rules | None = None) -> Report:
    """A pipeline held against what it was before, and against rules if there are any."""
    runs = [run("search", QUERIES, answers) for answers in (before, now)]
    old, new = (evaluated(GOLD, [one], ["RR", "P@1"], CORPUS) for one in runs)
    baseline = baseline_of(old, GOLD)
    verdicts = {}
    if rules is not None:
        measured = Measured(new.modes[0].scores, groups=GOLD.groups)
        verdicts = {"search": judge(rules, measured, baseline.of("search"))}
    return build(new, GOLD, corpus=CORPUS, standard=Standard(verdicts, baseline))


def test_recall_and_ndcg_by_depth_as_far_as_the_runs_go() -> None:
    found = report(("poor", POOR))
    assert found.depths == (1, 2, 3)
    # At 1 only c of q3 is found, half of what is relevant there; at 2 also a.
    assert found.curves["R"][0] == pytest.approx((0.5 / 3, 1.5 / 3, 1.5 / 3))
    # q3 at 1 is ideal; at 2 it has 2 of 2 + 1/log2(3), and q1 1/log2(3).
    assert found.curves["nDCG"][0] == pytest.approx((1 / 3, (0.63093 + 2 / 2.63093) / 3, (0.63093 + 2 / 2.63093) / 3))


def test_the_ranks_of_the_first_relevant_documents_are_counted_in_classes() -> None:
    deep = [f"n{i}" for i in range(104)]
    found = report(("poor", {"q1": "xa", "q2": "xyzb", "q3": ""}), ("deep", {"q1": [*deep, "a"], "q2": "x", "q3": "c"}))
    assert RANK_LABELS == ("1", "2", "3", "≤5", "≤10", "≤20", "≤50", "≤100", ">100", "none")
    assert found.histogram[0] == (0, 1, 0, 1, 0, 0, 0, 0, 0, 1)
    assert found.histogram[1] == (1, 0, 0, 0, 0, 0, 0, 0, 1, 1)


def test_without_a_baseline_the_first_pipeline_is_what_the_others_are_held_against() -> None:
    found = report(("good", GOOD), ("poor", POOR))
    (against,) = found.against
    assert (against.pipeline, against.held_to) == ("poor", "good")
    assert against.differences == (0.0, -0.5, -0.75)
    assert found.pipelines[0].changes == (None, None)
    assert found.pipelines[1].changes == pytest.approx((-1.25 / 3, -2 / 3))
    assert [row.answers[1].changes for row in found.queries] == [(-0.5, -1.0), (-0.75, -1.0), (0.0, 0.0)]
    assert [row.answers[0].changes for row in found.queries] == [(), (), ()]


def test_with_a_baseline_each_pipeline_is_held_against_its_own_values_there() -> None:
    found = held(POOR, GOOD)
    (against,) = found.against
    assert (against.pipeline, against.other, against.held_to) == ("search", None, "the baseline")
    assert [comparison.difference for comparison in against.comparisons] == pytest.approx([-1.25 / 3, -2 / 3])
    assert found.queries[1].answers[0].values == (0.25, 0.0)
    assert found.queries[1].answers[0].before == (1.0, 1.0)
    assert found.baseline == "rankproof-baseline.json"
    assert (found.pipelines[0].digest, found.pipelines[0].digest_before) == ("digest of search", "old")


def test_queries_that_the_baseline_does_not_have_have_no_change() -> None:
    some = QUERIES[:2]
    gold = gold_of({query.id: GRADES[query.id] for query in some}, some)
    before = evaluated(gold, [run("search", some, GOOD)], ["RR"])
    now = evaluated(GOLD, [run("search", QUERIES, POOR)], ["RR"])
    found = build(now, GOLD, standard=Standard(baseline=baseline_of(before, gold)))
    assert [row.answers[0].changes for row in found.queries] == [(-0.5,), (-0.75,), ()]
    other = gold_of({"q9": {"a": 1}}, [Query("q9")])
    apart = evaluated(other, [run("search", [Query("q9")], {"q9": "a"})], ["RR"])
    assert build(now, GOLD, standard=Standard(baseline=baseline_of(apart, other))).against == ()


def test_groups_have_their_means_and_changes() -> None:
    fruit, tool = held(POOR, GOOD).groups
    assert (fruit.name, fruit.size, tool.name, tool.size) == ("fruit", 2, "tool", 1)
    assert fruit.cells == (((0.375, -0.625), (0.0, -1.0)),)
    assert tool.cells == (((1.0, 0.0), (1.0, 0.0)),)


def test_a_query_says_where_each_relevant_document_stood_after_each_stage() -> None:
    later = Answer().after("bm25", hits("dxc")).after("mmr", hits("dx"))
    row = report(("search", {**GOOD, "q3": later})).queries[2]
    assert [(one.doc_id, one.grade) for one in row.expected] == [("c", 2), ("d", 1)]
    assert row.expected[0].places == (Place(None, (("bm25", 3), ("mmr", None))),)
    assert row.expected[1].places == (Place(1, (("bm25", 1), ("mmr", 1))),)
    assert list(row.answers[0].returned) == [("d", 1), ("x", None)]
    assert row.answers[0].first == 1
    assert row.n_expected == 2


def test_a_miss_carries_its_class_and_evidence() -> None:
    found = report(("search", POOR), analysed=True)
    failures = [row.answers[0].failure for row in found.queries]
    assert [None if failure is None else failure.kind for failure in failures] == ["ranking-gap", "ranking-gap", None]
    assert [row.answers[0].missed for row in found.queries] == ["wrong", "wrong", None]
    assert found.pipelines[0].n_missed == 2


def test_what_became_of_a_query_is_told_for_each() -> None:
    queries = (
        *QUERIES, Query("q4"), Query("q5", no_answer=True), Query("q6"), Query("q7"),
    )  # fmt: skip
    gold = gold_of({**GRADES, "q4": {"a": 1}, "q6": {"gone": 1}}, queries)
    answers: Answers = {**GOOD, "q4": Answer.failed("no connection"), "q5": "x", "q6": "x", "q7": "x"}
    found = evaluated(gold, [run("search", queries, answers)], ["RR"], CORPUS)
    made = build(found, gold, corpus=CORPUS)
    states = {row.query.id: row.state for row in made.queries}
    assert states == {
        "q1": "scored", "q2": "scored", "q3": "scored", "q4": "not measured", "q5": "no answer", "q6": "stale",
        "q7": "not judged",
    }  # fmt: skip
    assert made.queries[3].answers[0].reason == "not measured: no connection"
    assert made.queries[3].answers[0].values == ()
    assert sum(made.histogram[0]) == 3


def test_titles_are_those_of_the_documents_that_are_named_and_a_text_stands_in_for_a_title() -> None:
    texts = {"a": ("", "An apple\n\ta day"), "x": ("T" * 81, ""), "b": ("Pear", ""), "never": ("Never", "")}
    corpus = Corpus(tuple(Document(name, text, title) for name, (title, text) in texts.items()))
    found = evaluated(GOLD, [run("search", QUERIES, GOOD)], ["RR"])
    assert build(found, GOLD, corpus=corpus).titles == {"a": "An apple a day", "b": "Pear", "x": "T" * 79 + "…"}
    assert build(found, GOLD).titles == {}


RULES = Rules(max_drop={parse_measure("RR"): Drop(0.01)}, floors={parse_measure("P@1"): 0.1}, min_group=2)


def test_the_verdict_of_broken_rules_names_the_fall_and_the_groups() -> None:
    many = tuple(Query(f"q{i}", group="left" if i < 10 else "right") for i in range(20))
    gold = gold_of({query.id: {"a": 1} for query in many}, many)
    before = evaluated(gold, [run("search", many, {query.id: "a" for query in many})], ["P@1", "RR"])
    now = evaluated(
        gold, [run("search", many, {q.id: "xa" if q.group == "left" else "a" for q in many})], ["P@1", "RR"]
    )
    baseline = baseline_of(before, gold)
    measured = Measured(now.modes[0].scores, groups=gold.groups)
    verdicts = {"search": judge(RULES, measured, baseline.of("search"))}
    found = build(now, gold, standard=Standard(verdicts, baseline))
    assert found.outcome == "worse"
    assert str(found.main) == "RR"
    # All ten that changed fell: 1 of 2¹⁰ sign patterns; of three tests two could show a fall.
    assert found.words == (
        "Quality is worse: 2 of 5 rules are broken. RR of search fell from 1.000 to 0.750, which is more than chance "
        "(p = 0.002). Groups that fell: left.",
    )


def test_the_verdict_of_rules_that_hold_says_how_sure_the_difference_is() -> None:
    found = held(GOOD, GOOD, RULES)
    assert found.outcome == "pass"
    assert found.words == ("All 4 rules hold.", "search scores the same as its baseline on every query in RR.")


def test_a_drop_that_may_be_chance_is_told_as_such() -> None:
    found = held({**GOOD, "q1": "xa"}, GOOD, RULES)
    assert found.outcome == "pass"
    first, second = found.words
    assert first == "All 4 rules hold."
    assert second.startswith(
        "search cannot be told from its baseline: RR 0.8333 against 1.0000, a difference that may be chance (p = 1); "
        "with 3 queries a change below "
    )


def test_a_broken_floor_is_told_in_its_own_words() -> None:
    found = held(POOR, POOR, Rules(floors={parse_measure("P@1"): 0.9}))
    assert found.words[0] == (
        "Quality is worse: 1 of 2 rules is broken. search, floor P@1: 0.3333 is below the floor 0.9."
    )


def test_rules_that_cannot_be_decided_give_no_verdict() -> None:
    found = evaluated(GOLD, [run("search", QUERIES, GOOD)], ["RR", "P@1"])
    verdicts = {"search": judge(RULES, Measured(found.modes[0].scores), None)}
    made = build(found, GOLD, standard=Standard(verdicts, notes=("There is no baseline.",)))
    assert made.outcome == "not measured"
    assert made.words[0] == (
        "No verdict: 1 of 3 rules could not be decided. search, max_drop RR: there is no baseline to compare with; "
        "`rankproof baseline record` makes one."
    )
    assert made.notes == ("There is no baseline.",)


def test_without_rules_two_pipelines_are_compared_and_one_is_described() -> None:
    found = report(("good", GOOD), ("poor", POOR))
    assert found.outcome is None
    assert found.words[0].startswith("poor cannot be told from good: RR 0.5833 against 1.0000")
    assert found.words[1].startswith("good reaches RR 1.0000")
    (alone,) = report(("poor", POOR)).words
    assert alone.startswith("poor reaches RR 0.5833; over all such queries most likely between ")
    assert alone.endswith(". The first result is not what was asked for in 2 of 3 queries (67%).")


def test_a_sure_difference_is_called_better_with_its_p_value() -> None:
    many = tuple(Query(f"q{i}") for i in range(10))
    gold = gold_of({query.id: {"a": 1} for query in many}, many)
    runs = [
        run(name, many, dict.fromkeys((query.id for query in many), text))
        for name, text in (("old", "xa"), ("new", "a"))
    ]
    found = build(evaluated(gold, runs, ["RR"]), gold)
    # Ten of ten in one direction: 2 of 2¹⁰ sign patterns.
    assert found.words[0] == (
        "new is better than old: RR 1.0000 against 0.5000, better by 0.5000, which is more than chance (p = 0.002)."
    )


def test_the_page_names_no_folder() -> None:
    gold = replace(GOLD, source="/home/someone/secret/gold.csv")
    assert build(evaluated(gold, [run("search", QUERIES, GOOD)]), gold).title == "search on gold.csv"
