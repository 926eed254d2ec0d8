"""Rerankers over HTTP: every document in its new place, or the reason why not; never the old order passed on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.errors import NotMeasured
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.pipeline import Named, Pipeline, Runner
from rankproof.retrieval.stage import Library, Place, Reranker, RerankerStage, stage_class
from rankproof.retrieval.stages.http_rerank import HttpRerank
from rankproof.retrieval.stages.python import Python
from rankproof.testing import check_reranker
from tests.retrieval.faulty_server import Asked, Behaviour, FaultyServer, hang, reply, serving

CANARY = "canary-4711-key"
TEXTS = {"a": "alpha", "b": "beta beta", "c": "gamma gamma gamma", "d": "delta"}
CORPUS = Corpus(tuple(Document(doc_id, text, title="T" if doc_id == "a" else "") for doc_id, text in TEXTS.items()))
PLACE = Place(Path(), Library(CORPUS, CORPUS))
QUERY = Query("q", 'a "query"')
HITS = [Hit("a", 3.0), Hit("b", 2.0), Hit("c", 1.0)]


def stage(server: FaultyServer, **options: Any) -> HttpRerank:
    quick = {"deadline": 20, "longest_wait": 0.02, "retries": 2}
    return HttpRerank.model_validate({"url": server.url + "/rerank", **quick, **options})


def longest_first(request: Asked) -> Behaviour:
    """Scores a document by its length."""
    scores = [(i, len(text) / 100) for i, text in enumerate(request.json["documents"])]
    return reply(200, {"results": [{"index": i, "relevance_score": score} for i, score in scores]})


def reranked(body: object, **options: Any) -> list[tuple[str, float]]:
    with serving([reply(200, body)]) as server:
        found = stage(server, **options).open(PLACE).rerank(QUERY, HITS)
    return [(hit.doc_id, hit.score) for hit in found]


def results(*pairs: tuple[object, object]) -> dict[str, object]:
    return {"results": [{"index": index, "relevance_score": score} for index, score in pairs]}


def test_the_project_file_calls_it_http() -> None:
    assert stage_class("http", RerankerStage) is HttpRerank


def test_it_keeps_the_promises_of_a_reranker_and_sends_the_texts() -> None:
    with serving(longest_first) as server:
        found = check_reranker(stage(server).open(PLACE), QUERY, HITS)
        request = server.requests[0]
    assert [hit.doc_id for hit in found] == ["c", "b", "a"]
    assert (request.method, request.target) == ("POST", "/rerank")
    assert request.json == {
        "query": 'a "query"',
        "documents": ["T\nalpha", "beta beta", "gamma gamma gamma"],
        "top_n": 3,
    }


def test_a_body_of_ones_own_is_filled() -> None:
    body = {"input": {"q": "{query}", "texts": "{documents}", "names": "{ids}"}, "n": "{n}", "fixed": True}
    with serving([reply(200, results((0, 1), (1, 2), (2, 3)))]) as server:
        stage(server, body=body).open(PLACE).rerank(QUERY, HITS)
        sent = server.requests[0].json
    assert sent["input"]["names"] == ["a", "b", "c"]
    assert (sent["n"], sent["fixed"]) == (3, True)


def test_results_are_read_by_index_by_id_or_in_the_order_sent() -> None:
    expected = [("b", 3.0), ("c", 2.0), ("a", 1.0)]
    assert reranked(results((1, 3), (2, 2), (0, 1))) == expected
    by_id = [{"doc": "a", "s": 1}, {"doc": "c", "s": 2}, {"doc": "b", "s": 3}]
    assert reranked(by_id, hits="@", id="doc", score="s") == expected
    assert reranked({"scores": [1, 3, 2]}, hits="scores", in_order=True, score="@") == expected
    assert reranked([{"i": 1}, {"i": 2}, {"i": 0}], hits="@", index="i", score=None) == [
        ("b", 1.0),
        ("c", 0.5),
        ("a", 1 / 3),
    ]


def test_equal_scores_come_by_id() -> None:
    assert reranked(results((2, 1), (1, 1), (0, 1))) == [("a", 1.0), ("b", 1.0), ("c", 1.0)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (results((0, 1), (1, 1), (3, 1)), "result 3 has the index 3; 3 documents were sent, 0 is the first"),
        (results((0, 1), (1, 1), (-1, 1)), "result 3 has the index -1; 3 documents"),
        (results((0, 1), (1, 1), ("2", 1)), "result 3 has the index '2'; 3 documents"),
        (results((0, 1), (1, 1), (True, 1)), "result 3 has the index True; 3 documents"),
        (results((0, 1), (1, 1), (None, 1)), "result 3 has the index None; 3 documents"),
        (results((0, 1), (1, 1), (1, 2)), "document 'b' was returned twice"),
        (results((0, 1), (1, 1)), "1 of 3 documents were not returned, 'c' among them"),
        (results(), "3 of 3 documents were not returned, 'a' among them"),
        (results((0, 1), (1, None), (2, 1)), "result 2 ('b') has the score None, which is no number"),
        (results((0, 1), (1, "2"), (2, 1)), "result 2 ('b') has the score '2', which is no number"),
        ({"data": []}, "there is no list at 'results' in the answer, but None"),
        (b"<html>", "the answer is no JSON"),
        (b"", "the answer is empty"),
    ],
)
def test_an_answer_that_is_not_about_the_documents_sent_is_not_measured(body: object, reason: str) -> None:
    with pytest.raises(NotMeasured) as caught:
        reranked(body)
    assert str(caught.value).startswith(reason)


def test_an_id_that_was_not_sent_is_not_measured() -> None:
    with pytest.raises(NotMeasured, match="document 'd' was returned, and it was not sent"):
        reranked([{"id": name, "s": 1} for name in "abcd"], hits="@", id="id", score="s")


def test_a_document_that_the_corpus_does_not_have_is_not_measured() -> None:
    with serving(longest_first) as server:
        with pytest.raises(NotMeasured, match="'z' was returned, and the corpus does not have it"):
            stage(server).open(PLACE).rerank(QUERY, [Hit("z", 1.0)])
        assert server.requests == []


def first_three(text: str, k: int) -> list[str]:
    return ["a", "b", "c"][:k]


def run(reranker: HttpRerank, *texts: str) -> list[Answer]:
    found = Named("python", Python(call=f"{__name__}:first_three"))
    pipeline = Pipeline("both", found, rerank=(Named("http", reranker),), depth=3, top=2)
    queries = [Query(text, text) for text in texts]
    return list(Runner({"both": pipeline}, PLACE).run("both", queries).answers)


def test_in_a_pipeline_a_failure_degrades_the_query_and_no_other() -> None:
    def behave(request: Asked) -> Behaviour:
        return reply(400, "too long") if request.json["query"] == "bad" else longest_first(request)

    with serving(behave) as server:
        good, bad, last = run(stage(server), "good", "bad", "last")
    assert [hit.doc_id for hit in good.hits] == [hit.doc_id for hit in last.hits] == ["c", "b"]
    assert (bad.state, bad.reason) == ("degraded", "http: HTTP 400: too long")


def test_a_reranker_that_hangs_degrades_the_query_at_the_deadline() -> None:
    with serving([hang()]) as server:
        [answer] = run(stage(server, deadline=0.4), "x")
    assert (answer.state, answer.reason) == ("degraded", "http: no complete answer within 0.4 s")


def test_the_key_is_sent_and_told_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERANK_KEY", CANARY)
    with serving([reply(401, f"unknown key {CANARY}")]) as server:
        made = stage(server, key_env="RERANK_KEY")
        opened: Reranker = made.open(PLACE)
        with pytest.raises(NotMeasured) as caught:
            opened.rerank(QUERY, HITS)
        assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"
    assert str(caught.value) == "HTTP 401: unknown key …"
    assert CANARY not in f"{made!r}{opened!r}{made.behaviour(PLACE)}{caught.value.__cause__!r}"


def test_a_missing_key_is_an_error_before_anything_is_asked() -> None:
    with serving(longest_first) as server:
        with pytest.raises(NotMeasured, match="RERANK_KEY, which is not set"):
            stage(server, key_env="RERANK_KEY").open(PLACE)
        assert server.requests == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"body": {"q": "{query}"}}, "`body` must hold {query} and {documents}"),
        ({"body": {"q": "{query}", "d": "all: {documents}"}}, "{documents} is a list; it must be a value of its own"),
        ({"body": {"q": "{query}", "d": ["{documents}"], "x": "{dokuments}"}}, "Did you mean '{documents}'?"),
        ({"url": "http://h/{query}"}, "There is no placeholder called '{query}'"),
        ({"index": "i", "id": "d"}, "give one of `index`, `id` and `in_order`"),
        ({"in_order": True, "score": None}, "`in_order` needs `score`"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        HttpRerank.model_validate({"url": "http://h/", **options})
    assert message in str(caught.value)
