"""Cohere's reranker, against a server that speaks as Cohere's does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.errors import NotMeasured
from rankproof.retrieval.answers import Hit
from rankproof.retrieval.stage import Library, Place, RerankerStage, stage_class
from rankproof.retrieval.stages.cohere import Cohere
from rankproof.testing import check_reranker
from tests.retrieval.faulty_server import Asked, Behaviour, FaultyServer, closed_port, hang, reply, serving

CANARY = "canary-4711-key"
CORPUS = Corpus(
    tuple(Document(doc_id, text) for doc_id, text in {"a": "one", "b": "two two", "c": "three 3 3"}.items())
)
PLACE = Place(Path(), Library(CORPUS, CORPUS))
QUERY = Query("q", "how many?")
HITS = [Hit("a", 3.0), Hit("b", 2.0), Hit("c", 1.0)]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COHERE_API_KEY", CANARY)


def cohere(server: FaultyServer, **options: Any) -> Cohere:
    quick = {"deadline": 20, "longest_wait": 0.02}
    return Cohere.model_validate({"model": "rerank-v4.0-pro", "base": server.url, **quick, **options})


def answering(*pairs: tuple[object, object]) -> Behaviour:
    """As Cohere answers, with all that comes along."""
    results = [{"index": index, "relevance_score": score} for index, score in pairs]
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return reply(200, {"id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf", "results": results, "meta": meta})


def longest_first(request: Asked) -> Behaviour:
    by_length = sorted(enumerate(request.json["documents"]), key=lambda one: -len(one[1]))
    return answering(*((i, len(text) / 100) for i, text in by_length))


def test_the_project_file_calls_it_cohere() -> None:
    assert stage_class("cohere", RerankerStage) is Cohere


def test_it_keeps_the_promises_of_a_reranker_and_sends_what_cohere_wants() -> None:
    with serving(longest_first) as server:
        found = check_reranker(cohere(server).open(PLACE), QUERY, HITS)
        request = server.requests[0]
    assert [tuple(hit) for hit in found] == [("c", 0.09), ("b", 0.07), ("a", 0.03)]
    assert (request.method, request.target) == ("POST", "/v2/rerank")
    assert request.headers["authorization"] == f"Bearer {CANARY}"
    assert request.json == {
        "model": "rerank-v4.0-pro",
        "query": "how many?",
        "documents": ["one", "two two", "three 3 3"],
        "top_n": 3,
    }


def test_long_documents_are_cut_where_wanted() -> None:
    with serving(longest_first) as server:
        cohere(server, max_tokens_per_doc=512).open(PLACE).rerank(QUERY, HITS)
        assert server.requests[0].json["max_tokens_per_doc"] == 512


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([(0, 0.9), (1, 0.8)], "1 of 3 documents were not returned, 'c' among them"),
        ([(0, 0.9), (1, 0.8), (1, 0.7)], "document 'b' was returned twice"),
        ([(0, 0.9), (1, 0.8), (9, 0.7)], "result 3 has the index 9; 3 documents were sent, 0 is the first"),
        ([(0, 0.9), (1, 0.8), (None, 0.7)], "result 3 has the index None"),
        ([(0, 0.9), (1, 0.8), (2, "high")], "result 3 ('c') has the score 'high', which is no number"),
    ],
)
def test_wrong_missing_or_repeated_indices_are_not_measured(pairs: list[tuple[object, object]], reason: str) -> None:
    with serving([answering(*pairs)]) as server, pytest.raises(NotMeasured) as caught:
        cohere(server).open(PLACE).rerank(QUERY, HITS)
    assert str(caught.value).startswith(reason)


@pytest.mark.parametrize(("status", "n_asked"), [(400, 1), (401, 1), (429, 4), (500, 4)])
def test_an_error_of_the_server_is_told_without_the_key(status: int, n_asked: int) -> None:
    with serving([reply(status, {"message": f"no, {CANARY}"})]) as server:
        made = cohere(server)
        opened = made.open(PLACE)
        with pytest.raises(NotMeasured) as caught:
            opened.rerank(QUERY, HITS)
    assert str(caught.value).startswith(f'HTTP {status}: {{"message": "no, …"}}')
    assert len(server.requests) == n_asked
    assert CANARY not in f"{made!r}{made.behaviour(PLACE)}{caught.value!r}"


def test_a_trial_key_that_is_slowed_down_is_waited_for() -> None:
    with serving([reply(429, b"", {"Retry-After": "1"}), answering((0, 0.1), (1, 0.2), (2, 0.3))]) as server:
        found = cohere(server).open(PLACE).rerank(QUERY, HITS)
    assert [hit.doc_id for hit in found] == ["c", "b", "a"]


def test_a_hang_ends_at_the_deadline() -> None:
    with serving([hang()]) as server, pytest.raises(NotMeasured, match=r"no complete answer within 0\.4 s"):
        cohere(server, deadline=0.4).open(PLACE).rerank(QUERY, HITS)


def test_a_server_that_nobody_reaches_is_not_tried_for_ever() -> None:
    made = Cohere(model="m", base=f"http://127.0.0.1:{closed_port()}", longest_wait=0.01).open(PLACE)
    reasons = []
    for _ in range(100):
        with pytest.raises(NotMeasured) as caught:
            made.rerank(QUERY, HITS)
        reasons.append(str(caught.value))
    assert "Connection refused (4 tries)" in reasons[0]
    assert "none of the first 5 requests got through" in reasons[-1]


def test_a_missing_key_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY")
    with serving(longest_first) as server:
        with pytest.raises(NotMeasured, match="Cohere takes its key from the environment variable COHERE_API_KEY"):
            cohere(server).open(PLACE)
        assert server.requests == []


def test_the_key_may_stand_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COHERE_API_KEY")
    (tmp_path / "key").write_text("other-key\n", encoding="utf-8")
    with serving(longest_first) as server:
        cohere(server, key_file="key").open(Place(tmp_path, PLACE.library)).rerank(QUERY, HITS)
        assert server.requests[0].headers["authorization"] == "Bearer other-key"


def test_more_documents_than_cohere_takes_are_not_sent() -> None:
    many = [Hit(str(i), 1.0) for i in range(1001)]
    with serving(longest_first) as server:
        with pytest.raises(NotMeasured, match="1,001 documents are more than the 1,000 that Cohere takes"):
            cohere(server).open(PLACE).rerank(QUERY, many)
        assert server.requests == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Field required"),
        ({"model": "m", "base": "file:///x"}, "only http: and https: are"),
        ({"model": "m", "base": f"https://me:{CANARY}@h"}, "holds a name or password"),
        ({"model": "m", "key_env": "A", "key_file": "b"}, "not in both"),
        ({"model": "m", "top_n": 5}, "Extra inputs are not permitted"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Cohere.model_validate(options)
    assert message in str(caught.value)
    assert CANARY not in str(caught.value)


def test_what_changes_no_result_changes_no_digest() -> None:
    one = Cohere(model="m", deadline=1, retries=0, key_file="k").behaviour(PLACE)
    assert one == Cohere(model="m").behaviour(PLACE)
    assert one != Cohere(model="n").behaviour(PLACE)
