"""Live systems over HTTP: whatever the server does, a query has its true answer or a reason why it has none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.errors import NotMeasured, UsageError
from rankproof.retrieval.answers import Answer
from rankproof.retrieval.digest import digest_of
from rankproof.retrieval.pipeline import Named, Pipeline, Runner
from rankproof.retrieval.stage import Library, Place, stage_class
from rankproof.retrieval.stage import RetrieverStage as Kind
from rankproof.retrieval.stages.http import Http, Listing, filled, filled_url
from rankproof.testing import check_retriever
from tests.retrieval.faulty_server import (
    Asked,
    Behaviour,
    FaultyServer,
    closed_port,
    drip,
    endless,
    gzip_bomb,
    hang,
    reply,
    serving,
)

CANARY = "canary-4711-key"
HERE = Place(Path())


def http(server: FaultyServer, **options: Any) -> Http:
    quick = {"deadline": 20, "longest_wait": 0.02, "retries": 2}
    return Http.model_validate({"url": server.url + "/search?q={query}&limit={k}", **quick, **options})


def asked(stage: Http, *texts: str, k: int = 3, place: Place = HERE) -> list[Answer]:
    return list(stage.open(place).search([Query(f"q{i}", text) for i, text in enumerate(texts)], k))


def pairs(answer: Answer) -> list[tuple[str, float]]:
    return [(hit.doc_id, hit.score) for hit in answer.hits]


def answer_to(body: object, **options: Any) -> Answer:
    """What one query gets if the server answers so."""
    with serving([reply(200, body)]) as server:
        [answer] = asked(http(server, **options), "x")
    return answer


SCORED = {"hits": "results", "id": "name", "score": "points"}


def scored(*results: tuple[object, object]) -> dict[str, object]:
    return {"results": [{"name": name, "points": points} for name, points in results]}


def engine(request: Asked) -> Behaviour:
    """A system that works: documents a, b, c … rotated by the length of the query."""
    names = "abcdefghijklmnop"
    shift = len(request.query) % len(names)
    rotated = names[shift:] + names[:shift]
    return reply(200, scored(*((name, 1 - i / 100) for i, name in enumerate(rotated))))


def test_the_project_file_calls_it_http() -> None:
    assert stage_class("http", Kind) is Http


def test_it_keeps_the_promises_of_a_retriever() -> None:
    queries = [Query(str(i), "x" * i) for i in range(1, 20)]
    with serving(engine) as server:
        found = check_retriever(http(server, **SCORED).open(HERE), queries)
    assert [pairs(answer)[0] for answer in found[:3]] == [("b", 1.0), ("c", 1.0), ("d", 1.0)]
    assert all(answer.seconds is not None and answer.seconds > 0 for answer in found)


def test_ids_alone_score_one_over_their_rank() -> None:
    assert pairs(answer_to({"results": [{"name": "a"}, {"name": "b"}]}, hits="results[*].name")) == [
        ("a", 1.0),
        ("b", 0.5),
    ]
    assert pairs(answer_to(["a", 7])) == [("a", 1.0), ("7", 0.5)]


def test_query_and_k_are_put_into_the_address_so_that_nothing_breaks_out() -> None:
    text = "a&limit=99#/../?é %41+{k}\r\nX: y"
    with serving(engine) as server:
        asked(http(server, **SCORED), text, k=7)
        request = server.requests[0]
    assert request.query == text
    assert request.target.startswith("/search?q=a%26limit%3D99%23%2F..%2F%3F%C3%A9%20%2541%2B%7Bk%7D%0D%0AX%3A%20y")
    assert request.target.endswith("&limit=7")
    assert "x" not in request.headers


def test_a_body_is_filled_in_as_data_not_as_text() -> None:
    body = {"q": "{query}", "size": "{k}", "near": ["~{query}~ of {k}", 1.5, None], "raw": "query { id }"}
    text = 'say "hi", {k} \\ \n'
    with serving(engine) as server:
        url = server.url + "/find"
        asked(http(server, url=url, body=body, headers={"X-Tenant": "acme"}, **SCORED), text, k=7)
        request = server.requests[0]
    assert (request.method, request.target, request.headers["x-tenant"]) == ("POST", "/find", "acme")
    assert request.json == {"q": text, "size": 7, "near": [f"~{text}~ of 7", 1.5, None], "raw": "query { id }"}


def test_more_hits_than_asked_for_are_cut_and_fewer_are_fine() -> None:
    assert [name for name, _ in pairs(answer_to(["a", "b", "c", "d", "e"]))] == ["a", "b", "c"]
    assert pairs(answer_to(["a"])) == [("a", 1.0)]
    assert answer_to([]).state == "measured"


def test_hits_are_ordered_by_score_before_they_are_cut_if_scores_decide() -> None:
    body = scored(("a", 1), ("b", 3), ("c", 2), ("e", 3), ("d", 3))
    assert pairs(answer_to(body, order="score", **SCORED)) == [("b", 3.0), ("d", 3.0), ("e", 3.0)]


def test_equal_scores_keep_the_order_in_which_they_were_returned() -> None:
    assert pairs(answer_to(scored(("b", 2), ("a", 2)), **SCORED)) == [("b", 2.0), ("a", 2.0)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (scored(("a", 1), ("b", 2)), "result 2 scores 2, more than the 1 of the one above it; write `order: score`"),
        (scored(("a", 2), ("a", 1)), "document 'a' was returned twice"),
        (scored(("a", 2), (None, 1)), "result 2 has the id None, which is no name of a document"),
        (scored((1.5, 2)), "result 1 has the id 1.5, which is no name of a document"),
        (scored((True, 2)), "result 1 has the id True, which is no name of a document"),
        (scored(("", 2)), "result 1 has the id '', which is no name of a document"),
        (scored((["a"], 2)), "result 1 has the id ['a'], which is no name of a document; say with `id`"),
        (scored(("a", None)), "result 1 ('a') has the score None, which is no number"),
        (scored(("a", "2")), "result 1 ('a') has the score '2', which is no number"),
        (scored(("a", True)), "result 1 ('a') has the score True, which is no number"),
        (scored(("a", 10**400)), "result 1 ('a') has the score inf, which is no number"),
        (b'{"results": [{"name": "a", "points": 1e999}]}', "result 1 ('a') has the score inf, which is no number"),
        (b'{"results": [{"name": "\\ud83d", "points": 1}]}', "'\\ud83d' holds half a character"),
        ({"results": None}, "there is no list at 'results' in the answer, but None"),
        ({"error": "no"}, "there is no list at 'results' in the answer, but None"),
        ({"results": {"name": "a"}}, "there is no list at 'results' in the answer, but {'name': 'a'}"),
        ({"results": "abc"}, "there is no list at 'results' in the answer, but 'abc'"),
        ([1], "there is no list at 'results' in the answer, but None"),
        ({"results": [None]}, "result 1 has the id None, which is no name of a document"),
        ({"results": ["a"]}, "result 1 has the id None, which is no name of a document"),
        (b"<html>", "the answer is no JSON (it breaks off or errs at line 1, column 1): <html>"),
        (b"", "the answer is empty"),
        (b'{"results": [{"name": "a"', "the answer is no JSON (it breaks off or errs at line 1, column 26)"),
        (b'{"results": [{"name": "a", "points": NaN}]}', "the answer is no JSON: NaN is no number"),
    ],
)  # fmt: skip
def test_an_answer_that_makes_no_ranking_is_not_measured(body: object, reason: str) -> None:
    answer = answer_to(body, **SCORED)
    assert (answer.state, answer.hits) == ("not measured", ())
    assert answer.reason.startswith(reason)


@pytest.mark.parametrize(
    "hits",
    ["results[*].name", "results[].name", "results[?name || kind].name", "@ | results[*].name", "x.results[*].name"],
)
def test_a_result_without_a_name_does_not_vanish_from_the_ranking(hits: str) -> None:
    results = [{"name": "a"}, {"kind": 1}, {"name": "c"}]
    answer = answer_to({"results": results, "x": {"results": results}}, hits=hits)
    assert answer.reason.startswith("result 2 has the id None")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("a[*].b", [1, None, 3]),
        ("a[].b", [1, None, 3]),
        ("a[:2].b", [1, None]),
        ("a[?b].b", [1, 3]),
        ("c.*.b", [4, None]),
        ("d[*]", [5, None]),
        ("d", [5, None]),
        ("sort_by(e, &b)[*].b", [6, 7]),
        ("e[*].[b, b]", [[7, 7], [6, 6]]),
    ],
)
def test_a_listing_keeps_a_place_for_what_an_item_lacks(expression: str, found: list[object]) -> None:
    value = {
        "a": [{"b": 1}, {}, {"b": 3}],
        "c": {"x": {"b": 4}, "y": {}},
        "d": [5, None],
        "e": [{"b": 7}, {"b": 6}],
    }
    assert Listing(expression).of(value) == found


def test_an_expression_that_cannot_be_worked_out_is_not_measured() -> None:
    assert answer_to({"n": 1}, hits="sort(n)").reason.startswith("'sort(n)' cannot be worked out on the answer")


@pytest.mark.parametrize("option", ["hits", "id", "score"])
def test_a_bad_expression_is_wrong_use(option: str) -> None:
    with serving(engine) as server, pytest.raises(UsageError, match=r"'results\[' is no JMESPath expression"):
        http(server, **{option: "results["}).open(HERE)


@pytest.mark.parametrize(
    "behaviour", [hang(), drip(b"HTTP/1.1 200 OK\r\n"), endless()], ids=["hang", "drip", "endless"]
)
def test_a_query_that_takes_too_long_does_not_hold_up_the_others(behaviour: Behaviour) -> None:
    with serving(lambda request: behaviour if request.query == "bad" else engine(request)) as server:
        first, second, third = asked(http(server, deadline=0.7, **SCORED), "x", "bad", "xx")
        assert server.counts["bad"] == 1
    assert (first.state, third.state) == ("measured", "measured")
    assert second.state == "not measured"
    assert second.reason.startswith(("no complete answer within 0.7 s", "the connection broke off"))


def test_an_answer_beyond_all_size_is_not_measured() -> None:
    with serving([gzip_bomb(40_000_000)]) as server:
        [answer] = asked(http(server), "x")
    assert answer.reason == "the answer is longer than 16,777,216 bytes"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_request_that_is_wrong_is_asked_once(status: int) -> None:
    with serving([reply(status, b"no")]) as server:
        answers = asked(http(server), "x", "y")
        assert len(server.requests) == 2
    assert [answer.reason for answer in answers] == [f"HTTP {status}: no"] * 2


def failing_now_and_then(every: Sequence[int]) -> Callable[[Asked], Behaviour]:
    lock, numbers = threading.Lock(), iter(range(10_000))

    def behave(request: Asked) -> Behaviour:
        with lock:
            number = next(numbers)
        return reply(503, b"busy") if number % 10 in every else engine(request)

    return behave


def test_with_three_failures_in_ten_no_answer_is_wrong_and_no_storm_arises() -> None:
    told: list[tuple[str, int]] = []
    place = Place(Path(), progress=lambda what, done, total: told.append((what, done)))
    texts = ["x" * (i % 16) for i in range(100)]
    with serving(failing_now_and_then((1, 4, 8))) as server:
        answers = asked(http(server, **SCORED), *texts, k=1, place=place)
        n_requests = len(server.requests)
    letters = "abcdefghijklmnop"
    for text, answer in zip(texts, answers, strict=True):
        if answer.state == "measured":
            assert pairs(answer) == [(letters[len(text)], 1.0)]
        else:
            assert answer.reason.startswith("HTTP 503: busy")
    measured = sum(answer.state == "measured" for answer in answers)
    assert measured >= 85
    assert 100 < n_requests <= 130
    assert told[-1] == ("requests asked again", n_requests - 100)


def test_a_server_that_nobody_reaches_ends_the_run_at_once_with_the_cause() -> None:
    stage = Http(url=f"http://127.0.0.1:{closed_port()}/?q={{query}}", longest_wait=0.01)
    with pytest.raises(NotMeasured, match="Connection refused; none of the first 5 requests got through") as caught:
        asked(stage, *map(str, range(10_000)))
    assert caught.value.exit_code == 4


def test_a_few_queries_that_reach_nobody_have_their_reasons() -> None:
    stage = Http(url=f"http://127.0.0.1:{closed_port()}/?q={{query}}", retries=0)
    assert ["Connection refused" in answer.reason for answer in asked(stage, "1", "2")] == [True, True]


@pytest.mark.parametrize("location", ["http://elsewhere.invalid/", "file:///etc/passwd", "http://169.254.169.254/"])
def test_a_redirect_to_elsewhere_is_not_followed(location: str) -> None:
    with serving([reply(302, b"", {"Location": location})]) as server:
        [answer] = asked(http(server), "x")
    assert answer.reason.startswith("it redirects to ")
    assert "another server" in answer.reason


def library(*doc_ids: str) -> Library:
    corpus = Corpus(tuple(Document(doc_id, "text") for doc_id in doc_ids))
    return Library(corpus, corpus)


def test_a_document_that_the_corpus_does_not_have_is_not_measured_unless_kept() -> None:
    place = Place(Path(), library("a", "b"))
    with serving([reply(200, ["a", "stranger"])]) as server:
        [answer] = asked(http(server), "x", place=place)
        assert answer.reason.startswith("document 'stranger' was returned, and the corpus does not have it")
        [answer] = asked(http(server, unknown="keep"), "x", place=place)
        assert [hit.doc_id for hit in answer.hits] == ["a", "stranger"]


@pytest.mark.parametrize(
    ("header", "name", "value"),
    [
        (None, "authorization", f"Bearer {CANARY}"),
        ("X-Api-Key", "x-api-key", CANARY),
        ("Authorization: ApiKey {key}", "authorization", f"ApiKey {CANARY}"),
    ],
)
def test_the_key_is_sent_in_its_header(
    header: str | None, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_KEY", CANARY)
    with serving(engine) as server:
        asked(http(server, key_env="SEARCH_KEY", **({"key_header": header} if header else {})), "x")
        assert server.requests[0].headers[name] == value


def test_the_key_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{CANARY}\n", encoding="utf-8")
    with serving(engine) as server:
        asked(http(server, key_file="key"), "x", place=Place(tmp_path))
        assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"


def test_a_key_that_is_missing_or_cannot_be_sent_is_told_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(engine) as server:
        with pytest.raises(NotMeasured, match="SEARCH_KEY, which is not set"):
            http(server, key_env="SEARCH_KEY").open(HERE)
        monkeypatch.setenv("SEARCH_KEY", "cana\nry")
        with pytest.raises(UsageError, match="cannot stand in an HTTP header") as caught:
            http(server, key_env="SEARCH_KEY").open(HERE)
        assert server.requests == []
    assert "ry" not in str(caught.value).split("characters")[0].replace("server", "")


def leaky(request: Asked) -> Behaviour:
    """Sends the key back in every way that it can think of."""
    key = request.headers["authorization"].removeprefix("Bearer ")
    return {
        "400": reply(400, f"bad key {key}"),
        "503": reply(503, f"x{key}"),
        "200": reply(200, [key]),
        "html": reply(200, f"<p>{key}"),
        "id": reply(200, scored((f"{'x' * 50}{key}", 1))),
        "redirect": reply(302, b"", {"Location": f"http://{key}.invalid/{key}"}),
        "type": reply(200, {"results": {key: key}}),
        "encoding": reply(200, b"[]", {"Content-Encoding": key}),
        "status": lambda connection, stopping: bool(connection.send(f"HTTP/9 {key}\r\n\r\n".encode())) and False,
    }[request.query]


def test_the_key_is_in_no_message_answer_digest_or_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEARCH_KEY", CANARY)
    texts = ["400", "503", "200", "html", "id", "redirect", "type", "encoding", "status"]
    with serving(leaky) as server:
        stage = http(server, key_env="SEARCH_KEY", **SCORED)
        runner = Runner({"live": Pipeline("live", Named("http", stage))}, HERE, cache=tmp_path)
        run = runner.run("live", [Query(text, text) for text in texts])
    assert {answer.state for answer in run.answers} == {"not measured"}
    shown = f"{run!r}{run.answers!r}{stage!r}{stage.model_dump()}{runner.behaviour('live')}{stage.open(HERE)!r}"
    kept = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file())
    for piece in (CANARY, CANARY[:10]):
        assert piece not in shown + kept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "http://h/?q={querry}"}, "There is no placeholder called '{querry}'. Did you mean '{query}'?"),
        ({"url": "http://h/?q={query}&n={n}"}, "There is no placeholder called '{n}'"),
        ({"url": "http://h/?q=x"}, "neither `url` nor `body` holds {query}"),
        ({"url": "file:///{query}"}, "only http: and https: are"),
        ({"url": "http://{query}/"}, "a placeholder stands in the host"),
        ({"url": "http://169.254.169.254/{query}"}, "link-local or metadata address"),
        ({"url": f"http://me:{CANARY}@h/?q={{query}}"}, "the address holds a name or password"),
        ({"headers": {"Authorization": f"Bearer {CANARY}"}}, "the header 'Authorization' carries a key"),
        ({"headers": {"X-A": f"b\r\nX: {CANARY}"}}, "make no HTTP header"),
        ({"key_header": "Authorization: Bearer"}, "is no header with a key"),
        ({"key_env": "A", "key_file": "b"}, "not in both"),
        ({"method": "GET", "body": {"a": 1}}, "a GET request has no body"),
        ({"method": "PUT"}, "Input should be 'GET' or 'POST'"),
        ({"body": {"a": float("nan")}}, "not finite"),
        ({"order": "score"}, "`order: score` needs `score`"),
        ({"deadline": 0}, "greater than 0"),
        ({"concurency": 3}, "Extra inputs are not permitted"),
    ],
)
def test_options_that_do_not_fit_are_refused_without_showing_a_key(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Http.model_validate({"url": "http://h/?q={query}", **options})
    assert message in str(caught.value)
    assert CANARY not in str(caught.value)


def test_what_changes_no_result_changes_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    def digest(**options: Any) -> str:
        return digest_of(Http.model_validate({"url": "http://h/?q={query}", **options}).behaviour(HERE))

    idle = {"deadline": 1, "retries": 0, "concurrency": 9, "key_env": "A", "key_header": "X-Key", "longest_wait": 1}
    assert digest(**idle) == digest()
    assert digest(hits="results") != digest()
    assert digest(headers={"X-Tenant": "a"}) != digest()
    assert (Http.volatile, Http.reads_corpus) == (True, False)


def test_templates_are_filled_once() -> None:
    values = {"query": "{k}", "k": 3}
    assert filled_url("http://h/{query}/{k}", values) == "http://h/%7Bk%7D/3"
    assert filled({"a": ["{query}", "{k}", "<{query}>"]}, values) == {"a": ["{k}", 3, "<{k}>"]}


def test_answers_come_while_others_are_still_asked() -> None:
    gate = threading.Event()

    def behave(request: Asked) -> Behaviour:
        if request.query == "late":
            gate.wait(20)
        return engine(request)

    with serving(behave) as server:
        found = iter(http(server, **SCORED).open(HERE).search([Query("1", "x"), Query("2", "late")], 1))
        assert next(found).state == "measured"
        gate.set()
        assert next(found).state == "measured"


def test_a_run_that_is_left_ends_its_requests() -> None:
    with serving(lambda request: engine(request) if request.query == "x" else hang()) as server:
        found = http(server, deadline=60, **SCORED).open(HERE).search([Query(str(i), "x" * i) for i in range(1, 9)], 1)
        assert next(iter(found)).state == "measured"
        found.close()  # type: ignore[attr-defined]


_RUN = """
import sys
from pathlib import Path
from rankproof.data.gold import Query
from rankproof.retrieval.pipeline import Named, Pipeline, Runner
from rankproof.retrieval.stage import Place
from rankproof.retrieval.stages.http import Http

stage = Http(url=sys.argv[1] + "/search?q={query}", hits="results", id="name", score="points", concurrency=2)
runner = Runner({"live": Pipeline("live", Named("http", stage))}, Place(Path()), cache=Path(sys.argv[2]))
run = runner.run("live", [Query(str(i), f"query {i}") for i in range(40)])
print(run.n_kept, sum(answer.state == "measured" for answer in run.answers))
"""


def test_a_run_that_was_killed_goes_on_and_asks_each_query_at_most_once_more(tmp_path: Path) -> None:
    half, killed = threading.Event(), threading.Event()
    lock, numbers = threading.Lock(), iter(range(10_000))

    def behave(request: Asked) -> Behaviour:
        with lock:
            number = next(numbers)
        if number >= 20 and not killed.is_set():
            half.set()
            return hang()
        return engine(request)

    with serving(behave) as server:
        command = [sys.executable, "-c", _RUN, server.url, str(tmp_path)]
        first = subprocess.Popen(command)
        assert half.wait(60)
        os.kill(first.pid, signal.SIGKILL)
        assert first.wait(20) == -signal.SIGKILL
        killed.set()
        second = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        counts = server.counts
    n_kept, n_measured = map(int, second.stdout.split())
    assert n_measured == 40
    assert 10 <= n_kept <= 20
    assert set(counts) == {f"query {i}" for i in range(40)}
    assert max(counts.values()) <= 2
    assert sum(counts.values()) <= 40 + 22 - n_kept
    assert list(tmp_path.iterdir()) == []
