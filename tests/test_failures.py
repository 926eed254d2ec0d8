"""Why queries failed: which class the evidence puts a miss in, and what the classes together recommend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.evaluation import Request, evaluate_runs
from rankproof.failures import IDENTIFIERS, Analysis, Evidence, FailureClass, analyse, decide
from rankproof.measures.parse import parse_measures
from rankproof.reports.failures import analysis_data, analysis_text
from rankproof.retrieval.analysis import Analyser
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.pipeline import PipelineRun
from rankproof.scoring.rules import PRESETS

CORPUS = Corpus((
    Document("law", "Act 2018:218 on data protection, chapter one", "Data protection"),
    Document("wrong", "holiday and leave"),
    Document("far", "words that nobody asks for"),
    Document("copy", "holiday and leave"),
))  # fmt: skip
QUERY = Query("q1", "what does 2018:218 say", "it")


def hits(*ids: str) -> list[Hit]:
    return [Hit(doc_id, float(-i)) for i, doc_id in enumerate(ids)]


def run(name: str, answers: Mapping[Query, Answer]) -> PipelineRun:
    return PipelineRun(name, tuple(answers), tuple(answers.values()), "digest")


def analysed(
    answer: Answer, *, relevant: str = "law", keyword: Sequence[str] = (), vector: Sequence[str] | None = None,
    grades: Mapping[str, int] | None = None, query: Query = QUERY,
) -> Analysis:  # fmt: skip
    """One query, what the pipeline answered, and what the other searches would have."""
    gold = GoldSet((query,), Qrels.from_dict({query.id: {relevant: 1, **(grades or {})}}))
    request = Request(parse_measures("RR"), PRESETS["default"])
    found = evaluate_runs(gold, [run("p", {query: answer})], request, CORPUS)
    evidence = Evidence(
        run("keyword", {query: Answer(tuple(hits(*keyword)))}),
        None if vector is None else run("vector", {query: Answer(tuple(hits(*vector)))}),
        CORPUS,
        Analyser(),
    )
    return analyse(found, found.modes[0], gold, evidence, k=2)


def test_a_document_among_the_candidates_is_a_ranking_gap_and_the_stage_that_lost_it_is_named() -> None:
    answer = Answer().after("dense", hits("wrong", "law")).after("cohere", hits("wrong"))
    (failure,) = analysed(answer, keyword=["law"]).failures
    assert failure.kind == "ranking-gap"
    assert failure.evidence == (
        "law was among the candidates; its rank after each stage: dense 2, cohere –",
        "cohere lost it: rank 2 before, not among the results after",
    )


def test_a_stage_that_moves_it_down_is_named() -> None:
    answer = Answer().after("bm25", hits("law", "wrong", "far")).after("mmr", hits("wrong", "far", "law"))
    (failure,) = analysed(answer).failures
    assert failure.evidence[1] == "mmr moved it down from rank 1 to 3"


def test_what_keyword_search_would_have_found_is_a_keyword_gap() -> None:
    (failure,) = analysed(Answer().after("dense", hits("wrong")), keyword=["far", "law"]).failures
    assert failure.kind == "keyword-gap"
    assert failure.evidence == (
        "keyword search puts law at rank 2; it was not among the candidates",
        "terms in common: 2018:218, 2018, 218",
        "identifiers in the query: 2018:218",
    )


def test_what_no_search_finds_near_the_top_is_a_semantic_gap() -> None:
    answer = Answer().after("dense", hits("wrong"))
    (failure,) = analysed(answer, keyword=["wrong", "far", "law"], vector=["wrong", "far", "copy", "law"]).failures
    assert failure.kind == "semantic-gap"
    assert failure.evidence[:2] == (
        "law was not among the candidates; keyword search puts it at rank 3",
        "the vector stage puts it at rank 4 of the whole corpus",
    )
    (alone,) = analysed(answer, relevant="far").failures
    assert alone.evidence[0] == "far was not among the candidates; keyword search finds nothing in common"


def test_a_query_without_an_answer_is_a_corpus_gap() -> None:
    queries = (QUERY, Query("q2", "about whales", no_answer=True))
    gold = GoldSet(queries, Qrels.from_dict({"q1": {"law": 1}}))
    answers = {query: Answer().after("bm25", hits("law")) for query in queries}
    found = evaluate_runs(gold, [run("p", answers)], Request(parse_measures("RR"), PRESETS["default"]), CORPUS)
    evidence = Evidence(run("keyword", answers), None, CORPUS, Analyser())
    analysis = analyse(found, found.modes[0], gold, evidence)
    (failure,) = analysis.failures
    assert (failure.query.id, failure.kind) == ("q2", "corpus-gap")
    assert failure.evidence[1] == "nearest by keyword search: law (Data protection)"
    assert analysis.n_queries == 2


def test_an_unjudged_first_result_is_no_failure_yet_where_people_judge_both_ways() -> None:
    answer = Answer().after("dense", hits("wrong", "law"))
    assert analysed(answer, grades={"far": 0}).unjudged_top == ("q1",)
    assert analysed(answer, grades={"far": 0}).failures == ()
    assert analysed(answer, grades={"wrong": 0}).unjudged_top == ()
    # A gold set that names answers only takes everything else for no answer.
    assert len(analysed(answer).failures) == 1


def test_results_that_repeat_each_other_above_it_are_counted() -> None:
    answer = Answer().after("dense", hits("wrong", "copy", "law"))
    (failure,) = analysed(answer).failures
    assert failure.crowded == 1
    assert "duplicate-crowding: 1 result above it repeats another one" in analysis_text(analysed(answer))


def kinds(**numbers: int) -> list[FailureClass]:
    return [f"{name}-gap" for name, n in numbers.items() for _ in range(n)]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("failures", "n_queries", "expected", "words"),
    [
        # 4 of 10 is over 30 %, and so are 4 and 4; the largest comes first.
        (kinds(keyword=4, ranking=3, semantic=3), 20, ["keyword-gap"], "hybrid"),
        (kinds(keyword=4, ranking=5, semantic=1), 20, ["ranking-gap", "keyword-gap"], "reranker"),
        # Exactly 30 % does not exceed 30 %.
        (kinds(keyword=3, ranking=3, semantic=3, corpus=1), 20, [], "no one thing to do"),
        (kinds(corpus=9, semantic=1), 20, ["corpus-gap"], "missing documents"),
        (kinds(semantic=10), 20, ["semantic-gap"], "embedding model"),
        (kinds(keyword=9), 20, [], "too few to decide"),
        # At most 10 % of the queries fail.
        (kinds(keyword=12), 120, [], "does what it should"),
        ([], 20, [], "does what it should"),
    ],
)
def test_the_decision_table(failures: list[FailureClass], n_queries: int, expected: list[str], words: str) -> None:
    decisions, verdict = decide(failures, n_queries)
    assert [decision.kind for decision in decisions] == expected
    assert words in verdict


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what does 2018:218 say", "2018:218"),
        ("se 6 kap. 3 § i lagen", "6 kap. 3 §"),
        ("AFS 2020:1 om arbete", "AFS 2020:1"),
        ("headers in RFC 9110", "RFC 9110"),
        ("is CVE-2024-1234 fixed", "CVE-2024-1234"),
        ("since v1.2.3 it fails", "v1.2.3"),
        ("why ERR_42", "ERR_42"),
    ],
)
def test_identifiers_are_recognised(text: str, found: str) -> None:
    assert found in [match.group() for pattern in IDENTIFIERS for match in pattern.finditer(text)]


@pytest.mark.parametrize("text", ["how do I reset my password", "two words in 2024", "A good day", "3.5 litres"])
def test_ordinary_words_are_no_identifiers(text: str) -> None:
    assert not any(pattern.search(text) for pattern in IDENTIFIERS)


def test_the_analysis_as_text_and_as_data() -> None:
    found = analysed(Answer().after("dense", hits("wrong")), keyword=["law"])
    text = analysis_text(found)
    assert "p: 1 failure in 1 query (100%)" in text
    assert "recommendation: 1 failure is too few to decide on" in text
    data = analysis_data(found)
    assert data["distribution"] == {"corpus-gap": 0, "ranking-gap": 0, "keyword-gap": 1, "semantic-gap": 0}
    assert data["by_group"] == {"it": data["distribution"]}
    assert data["failures"][0]["class"] == "keyword-gap"


def test_stale_gold_is_told_apart_from_failures() -> None:
    found = analysed(Answer().after("dense", hits("wrong")), keyword=["law"], grades={"laws": 1})
    assert len(found.failures) == 1
    assert "stale-gold: 1 judgment names a document that the corpus does not have" in analysis_text(found)
    assert analysis_data(found)["stale_gold"] == [{"query_id": "q1", "doc_id": "laws", "nearest": ["law"]}]
