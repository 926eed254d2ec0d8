"""From runs and a gold set to figures: what is scored, what is a miss, and what leaves the means."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate, NotMeasured
from rankproof.evaluation import Evaluation, Request, evaluate_runs, find_stale
from rankproof.measures.parse import parse_measure, parse_measures
from rankproof.reports.evaluation import evaluation_json, evaluation_text
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.pipeline import PipelineRun
from rankproof.scoring.rules import PRESETS

QUERIES = (Query("q1", "apple", "fruit"), Query("q2", "pear", "fruit"), Query("q3", "bolt", "tool"))
GRADES = {"q1": {"a": 1, "b": 0}, "q2": {"b": 1}, "q3": {"c": 2, "d": 1}}
CORPUS = Corpus(tuple(Document(name, name) for name in "abcd"))


def gold(grades: Mapping[str, Mapping[str, float]] = GRADES, queries: tuple[Query, ...] = QUERIES) -> GoldSet:
    return GoldSet(queries, Qrels.from_dict(grades), "gold.csv")


def run(
    answers: Mapping[str, str | Answer], name: str = "keyword", queries: tuple[Query, ...] = QUERIES
) -> PipelineRun:
    """A run in which each query is answered by the letters of a word, best first."""
    found = []
    for query in queries:
        answer = answers[query.id]
        if isinstance(answer, str):
            hits = [Hit(letter, float(len(answer) - i)) for i, letter in enumerate(answer)]
            answer = Answer().after("bm25", hits)
        found.append(answer)
    return PipelineRun(name, queries, tuple(found), "digest")


def evaluated(*runs: PipelineRun, preset: str = "default", of: GoldSet | None = None) -> Evaluation:
    request = Request(parse_measures(["RR", "P@1"]), PRESETS[preset])
    return evaluate_runs(of or gold(), runs, request, CORPUS)


def test_figures_overall_and_by_group() -> None:
    found = evaluated(run({"q1": "ab", "q2": "ab", "q3": "xc"}))
    (mode,) = found.modes
    assert mode.scores.mean() == {"RR": pytest.approx((1 + 0.5 + 0.5) / 3), "P@1": pytest.approx(1 / 3)}
    rr = parse_measure("RR")
    assert mode.by_group["fruit"][rr][0] == 0.75
    assert mode.by_group["tool"][rr][0] == 0.5
    assert mode.by_group["tool"][rr][1].reason == "no interval: one query has no spread"
    assert dict(found.group_sizes) == {"fruit": 2, "tool": 1}


def test_a_miss_says_what_came_and_where_the_expected_stood() -> None:
    later = Answer().after("bm25", [Hit("a", 2), Hit("b", 1)]).after("mmr", [Hit("a", 1)])
    found = evaluated(run({"q1": "ab", "q2": later, "q3": ""}))
    one, two = found.modes[0].misses
    assert (one.query.id, one.kind, one.returned) == ("q2", "wrong", (("a", None),))
    assert one.expected[0].doc_id == "b"
    assert one.expected[0].rank is None
    assert one.expected[0].stages == (("bm25", 2), ("mmr", None))
    assert (two.query.id, two.kind, two.returned) == ("q3", "nothing", ())


def test_a_partial_first_result_is_a_miss_of_its_own_kind_under_labels() -> None:
    found = evaluated(run({"q1": "a", "q2": "b", "q3": "dc"}), preset="labels")
    # Under this preset grade 2 is relevant; q1 and q2 have none, so nothing was to be found first there.
    assert [(miss.query.id, miss.kind) for miss in found.modes[0].misses] == [("q3", "partial")]
    assert [one.doc_id for one in found.modes[0].misses[0].expected] == ["c"]


def test_stale_gold_is_listed_apart_and_is_no_miss() -> None:
    old = gold({"q1": {"a": 1}, "q2": {"bb": 1}, "q3": {"c": 1, "gone": 1}})
    found = evaluated(run({"q1": "a", "q2": "x", "q3": "c"}), of=old)
    assert [(one.query_id, one.doc_id) for one in found.stale] == [("q2", "bb"), ("q3", "gone")]
    assert found.modes[0].misses == ()
    assert found.modes[0].scores.mean() == {"RR": 1.0, "P@1": 1.0}
    assert (found.n_scored, found.n_queries) == (2, 3)


def test_stale_gold_names_the_nearest_documents() -> None:
    corpus = Corpus((Document("JspwikiDeploymentGuide", ""), Document("Other", "")))
    (one,) = find_stale(gold({"q1": {"JspwikiDeployment": 1}}, QUERIES[:1]), corpus)
    assert one.nearest == ("JspwikiDeploymentGuide",)


def test_a_query_that_failed_anywhere_leaves_the_means_of_all() -> None:
    good = run({"q1": "a", "q2": "x", "q3": "c"}, "keyword")
    flaky = run({"q1": "a", "q2": Answer.failed("timed out"), "q3": "c"}, "live")
    found = evaluated(good, flaky)
    assert found.unmeasured == {"q2": {"live": "not measured: timed out"}}
    assert [mode.scores.query_ids for mode in found.modes] == [["q1", "q3"], ["q1", "q3"]]
    assert [mode.scores.mean()["RR"] for mode in found.modes] == [1.0, 1.0]


def test_a_degraded_query_is_not_measured() -> None:
    degraded = Answer((Hit("a", 1.0),)).degraded("cohere: HTTP 503")
    found = evaluated(run({"q1": degraded, "q2": "b", "q3": "c"}))
    assert found.unmeasured == {"q1": {"keyword": "degraded: cohere: HTTP 503"}}
    assert found.n_scored == 2


def test_queries_without_an_answer_or_a_judgment_leave_the_means_and_are_counted() -> None:
    queries = (*QUERIES, Query("q4", "nothing", no_answer=True), Query("q5", "new"))
    answers = {"q1": "a", "q2": "b", "q3": "c", "q4": "a", "q5": "a"}
    found = evaluated(run(answers, queries=queries), of=gold(queries=queries))
    assert (found.no_answer, found.unjudged) == (("q4",), ("q5",))
    assert (found.n_queries, found.n_scored) == (5, 3)


def test_two_pipelines_are_compared() -> None:
    found = evaluated(run({"q1": "xa", "q2": "xb", "q3": "xc"}, "old"), run({"q1": "a", "q2": "b", "q3": "c"}, "new"))
    assert found.comparison is not None
    first = found.comparison.comparisons[0]
    assert (first.baseline, first.candidate, first.difference) == ("old", "new", 0.5)


def test_nothing_to_score_says_why() -> None:
    with pytest.raises(NotMeasured, match="The first failed because: not measured: refused"):
        evaluated(run(dict.fromkeys(["q1", "q2", "q3"], Answer.failed("refused"))))
    answers = {"q1": "a", "q2": "b", "q3": "c"}
    with pytest.raises(BadInput, match=r"no relevant document of the gold set is in the corpus; the first is 'A1'"):
        evaluated(run(answers), of=gold({"q1": {"A1": 1}}))
    with pytest.raises(NothingToEvaluate, match="no query has a judgment"):
        evaluated(run(answers), of=gold({"q1": {}}))


def test_the_text_holds_figures_misses_and_what_is_left_out() -> None:
    old = gold({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"cc": 1}})
    found = evaluated(run({"q1": "ba", "q2": "b", "q3": "c"}), of=old)
    text = evaluation_text(found)
    assert "2 queries scored of 3, 95 % intervals" in text
    assert "keyword: 1 miss (1 with a wrong first result)" in text
    assert "returned  b (unjudged), a (1)" in text
    assert "expected  a: rank 2" in text
    assert "stale gold: 1 judgment names a document that the corpus does not have; not counted as misses" in text
    failed = evaluation_text(evaluated(run({"q1": Answer.failed("timed out\x1b[31m"), "q2": "b", "q3": "c"})))
    assert "NOT MEASURED: 1 query failed" in failed
    assert "\x1b" not in failed


def test_the_json_is_whole_and_the_same_twice() -> None:
    runs = run({"q1": "ba", "q2": "b", "q3": "xd"}), run({"q1": "a", "q2": "b", "q3": "c"}, "vector")
    first, second = (evaluation_json(evaluated(*runs)) for _ in range(2))
    assert first == second
    data = json.loads(first)
    assert [mode["name"] for mode in data["modes"]] == ["keyword", "vector"]
    assert [miss["query_id"] for miss in data["modes"][0]["misses"]] == ["q1", "q3"]
    assert data["modes"][0]["misses"][1]["expected"][0] == {
        "doc_id": "c", "grade": 2, "rank": None, "stages": [{"stage": "bm25", "rank": None}],
    }  # fmt: skip
    assert len(data["comparisons"]) == 2
