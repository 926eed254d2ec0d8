"""The HTTP client against a server that misbehaves: every request ends, with a value or with its reason."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from rankproof.errors import NotMeasured
from rankproof.retrieval.web import (
    RETRY_FLOOR,
    Limits,
    Request,
    Unreachable,
    Web,
    excerpt,
    pause,
    retry_after,
    why_refused,
)
from tests.retrieval.faulty_server import (
    Behaviour,
    FaultyServer,
    closed_port,
    cut_short,
    drip,
    endless,
    gzip_bomb,
    hang,
    hang_up,
    head_of,
    reply,
    serving,
)

CANARY = "canary/4711+key"
QUICK = Limits(deadline=20, retries=2, longest_wait=0.02, answer_bytes=1 << 20)
SHORT = Limits(deadline=0.4, retries=2, longest_wait=0.02)
GOOD = reply(200, {"ids": ["a"]})


@contextmanager
def client(limits: Limits = QUICK, *, secrets: tuple[str, ...] = (), proxy: str | None = None) -> Iterator[Web]:
    made = Web(limits, headers={"Authorization": f"Bearer {CANARY}"}, secrets=secrets, proxy=proxy)
    try:
        yield made
    finally:
        made.close()


def fetched(server: FaultyServer, path: str = "/search?q=x", *, limits: Limits = QUICK) -> Any:
    with client(limits, secrets=(CANARY,)) as web:
        return web.fetch_json(Request("GET", server.url + path)).value


def failure(*behaviours: Behaviour, limits: Limits = QUICK) -> tuple[str, int]:
    """Why there is no value, and how often the server was asked."""
    with serving(behaviours) as server:
        with pytest.raises(NotMeasured) as caught:
            fetched(server, limits=limits)
        assert CANARY not in str(caught.value)
        return str(caught.value), len(server.requests)


def test_the_json_value_of_the_answer_is_returned() -> None:
    with serving([GOOD]) as server:
        assert fetched(server) == {"ids": ["a"]}
        assert [(asked.method, asked.target) for asked in server.requests] == [("GET", "/search?q=x")]
        assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"


def test_a_body_is_posted_as_json() -> None:
    with serving([GOOD]) as server, client() as web:
        web.fetch_json(Request("POST", server.url, b'{"q": "\xc3\xa5"}'))
        assert server.requests[0].json == {"q": "å"}
        assert server.requests[0].headers["content-type"] == "application/json"


def test_a_big_body_is_sent_whole() -> None:
    with serving([GOOD]) as server, client(Limits(deadline=10)) as web:
        web.fetch_json(Request("POST", server.url, b"7" * 3_000_000))
        assert len(server.requests[0].body) == 3_000_000


def test_packed_and_marked_answers_are_read() -> None:
    packed = reply(200, gzip.compress(b"[1]"), {"Content-Encoding": "gzip"})
    with serving([packed, reply(200, b"\xef\xbb\xbf[2]")]) as server:
        assert fetched(server) == [1]
        assert fetched(server) == [2]


def test_half_a_character_in_a_text_that_nobody_needs_is_no_fault() -> None:
    with serving([reply(200, b'{"id": "a", "snippet": "\\ud83d"}')]) as server:
        assert fetched(server)["id"] == "a"


@pytest.mark.parametrize(
    "behaviour",
    [
        hang(),
        drip(head_of(200, {"Content-Length": "9"}) + b'{"a": 1 }'),
        drip(b"H"),
        endless(),
    ],
    ids=["before headers", "slow headers", "one byte", "endless body"],
)
def test_whatever_takes_too_long_ends_at_the_deadline_and_is_not_asked_again(behaviour: Behaviour) -> None:
    reason, asked = failure(_then_hang(behaviour), limits=SHORT)
    assert reason == "no complete answer within 0.4 s"
    assert asked == 1


def _then_hang(behaviour: Behaviour) -> Behaviour:
    wait = hang()

    def behave(connection: Any, stopping: threading.Event) -> bool:
        behaviour(connection, stopping)
        return wait(connection, stopping)

    return behave


def test_a_fast_endless_body_ends_at_the_size() -> None:
    reason, asked = failure(endless(b" " * 100_000, every=0), limits=Limits(deadline=20, answer_bytes=1 << 20))
    assert reason == "the answer is longer than 1,048,576 bytes"
    assert asked == 1


def test_a_bomb_is_not_unpacked_beyond_the_size() -> None:
    reason, asked = failure(gzip_bomb(50_000_000), limits=Limits(deadline=20, answer_bytes=1 << 20))
    assert reason == "the answer is longer than 1,048,576 bytes"
    assert asked == 1


def test_an_answer_that_promises_a_gigabyte_is_not_waited_for() -> None:
    reason, _ = failure(_then_hang(cut_short(b"[" * 2_000_000, promised=1 << 30)), limits=Limits(answer_bytes=1 << 20))
    assert reason == "the answer is longer than 1,048,576 bytes"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_the_request_did_wrong_is_not_asked_again(status: int) -> None:
    reason, asked = failure(reply(status, f"<p>the key {CANARY} is\x1b[31m bad</p>"))
    assert reason == f"HTTP {status}: <p>the key … is [31m bad</p>"
    assert asked == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again_as_often_as_allowed(status: int) -> None:
    reason, asked = failure(reply(status, b""))
    assert reason == f"HTTP {status}: no further word (3 tries)"
    assert asked == 3


@pytest.mark.parametrize(
    "value", ["0", "1", "1000000000", "9" * 400, "soon", "-5", "", "Wed, 21 Oct 2037 07:28:00 GMT"]
)
def test_every_form_of_retry_after_is_waited_for_within_the_cap(value: str) -> None:
    with serving([reply(429, b"", {"Retry-After": value}), GOOD]) as server:
        assert fetched(server) == {"ids": ["a"]}
        assert len(server.requests) == 2


NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("120", 120.0),
        ("1000000000", 1e9),
        ("9" * 400, float("inf")),
        ("Mon, 16 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 16 Nov 2026 12:00:30 -0000", 30.0),
        ("Mon, 16 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("", None),
        ("Mon, 99 Nov 2026 12:00:30 GMT", None),
    ],
)
def test_retry_after_is_read_in_seconds_and_as_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize(
    ("attempt", "asked", "least", "most"),
    [
        (0, None, 0.25, 0.5),
        (1, None, 0.5, 1.0),
        (3, None, 2.0, 4.0),
        (9, None, 9.0, 10.0),
        (0, 2.0, 2.0, 2.5),
        (0, 1e9, 9.0, 10.0),
        (0, 0.0, 0.0, 0.5),
    ],
)
def test_the_pause_grows_varies_and_stays_within_the_cap(
    attempt: int, asked: float | None, least: float, most: float
) -> None:
    found = [pause(attempt, asked, longest=10.0) for _ in range(200)]
    assert least <= min(found) < max(found) <= most


def test_no_storm_arises_where_everything_fails() -> None:
    with serving([reply(503, b"")]) as server, client(Limits(retries=10, longest_wait=0.0)) as web:
        reasons = []
        for _ in range(100):
            with pytest.raises(NotMeasured) as caught:
                web.fetch_json(Request("GET", server.url))
            reasons.append(str(caught.value))
        assert len(server.requests) == 100 + RETRY_FLOOR
        assert web.n_retries == RETRY_FLOOR
        assert reasons[-1] == "HTTP 503: no further word; it was not asked again, too much of this run having been"


def test_a_server_that_fails_now_and_then_is_asked_at_most_a_fifth_more() -> None:
    pattern = [i % 10 in (2, 5, 9) for i in range(1000)]
    with serving([reply(502, b"") if bad else GOOD for bad in pattern]) as server, client(QUICK) as web:
        answered = 0
        for _ in range(100):
            with suppress(NotMeasured):
                answered += web.fetch_json(Request("GET", server.url)).value == {"ids": ["a"]}
        assert len(server.requests) == 100 + web.n_retries
        assert web.n_retries <= RETRY_FLOOR + 20
        assert answered >= 85


ECHO = "the server sends the key back, so nothing of its answer is kept"


@pytest.mark.parametrize(
    ("status", "body", "headers", "reason"),
    [
        (
            200,
            b"<html>\n<b>Log in</b>",
            {"Content-Type": "text/html"},
            "the answer is no JSON (it breaks off or errs at line 1, column 1): <html> <b>Log in</b>",
        ),
        (200, b"", {}, "the answer is empty"),
        (204, b"", {}, "the answer is empty"),
        (200, b'["a", "b', {}, 'the answer is no JSON (it breaks off or errs at line 1, column 7): ["a", "b'),
        (200, b'{"score": NaN}', {}, "the answer is no JSON: NaN is no number"),
        (200, b'{"score": -Infinity}', {}, "the answer is no JSON: -Infinity is no number"),
        (
            200,
            b'{"a": 1, "a": 2}',
            {},
            "the answer is no JSON: the key 'a' stands twice in one object; keep one of them",
        ),
        (200, b'"\xff"', {}, "the answer is not UTF-8 from byte 1 on"),
        (200, b"[" * 100_000, {}, "the answer is nested too deeply"),
        (200, b"zz", {"Content-Encoding": "br"}, "the answer is packed with br, which was not asked for"),
        (200, b"zz", {"Content-Encoding": "gzip,gzip"}, "the answer is packed with gzip,gzip, which was not asked for"),
        (304, b"", {}, "HTTP 304: no further word"),
        (200, f'["{CANARY}"]'.encode(), {}, ECHO),
        (200, b'["canary\\/4711+key"]', {}, ECHO),
        (200, b'["canary%2F4711%2Bkey"]', {}, ECHO),
    ],
)
def test_an_answer_that_is_no_json_is_told_with_a_harmless_excerpt(
    status: int, body: bytes, headers: dict[str, str], reason: str
) -> None:
    assert failure(reply(status, body, headers)) == (reason, 1)


def test_an_answer_that_is_packed_wrongly_is_told() -> None:
    reason, asked = failure(reply(200, b"zzz", {"Content-Encoding": "gzip"}))
    assert reason.startswith("the answer cannot be unpacked: ")
    assert asked == 1


def test_a_connection_that_breaks_off_is_tried_again() -> None:
    for broken in (hang_up(), cut_short(b"[1", promised=100), cut_short(b"", promised=3)):
        with serving([broken, GOOD]) as server:
            assert fetched(server) == {"ids": ["a"]}
            assert len(server.requests) == 2


def test_one_that_always_breaks_off_is_not_measured() -> None:
    reason, asked = failure(cut_short(b"[1", promised=100))
    assert reason.startswith("the connection broke off: ")
    assert reason.endswith("(3 tries)")
    assert asked == 3


def test_what_is_no_http_is_not_measured() -> None:
    def greet(connection: socket.socket, stopping: threading.Event) -> bool:
        connection.sendall(b"220 mail ready\r\n\r\n")
        return False

    reason, _ = failure(greet)
    assert reason.startswith("the connection broke off: ")


def test_redirects_within_the_server_are_followed() -> None:
    with serving([reply(302, b"", {"Location": "/there?q=x"}), GOOD]) as server:
        assert fetched(server) == {"ids": ["a"]}
        assert [asked.target for asked in server.requests] == ["/search?q=x", "/there?q=x"]


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://elsewhere.invalid/x", "it redirects to http://elsewhere.invalid, another server"),
        ("https://127.0.0.1/x", "it redirects to https://127.0.0.1, another server"),
        ("http://u:canary@elsewhere.invalid/x", "it redirects to http://elsewhere.invalid, another server"),
        (f"http://{CANARY}@elsewhere.invalid/x", "it redirects to an address that holds the key"),
        ("//elsewhere.invalid/x", "it redirects to http://elsewhere.invalid, another server"),
        ("file:///etc/passwd", "it redirects to file://, another server"),
        ("http://169.254.169.254/latest", "it redirects to http://169.254.169.254, another server"),
        ("http://host:port/", "it redirects to http://host:port/, which is no address"),
    ],
)
def test_redirects_to_elsewhere_are_refused(location: str, reason: str) -> None:
    found, asked = failure(reply(307, b"", {"Location": location}))
    assert found.startswith(reason)
    assert asked == 1


def test_redirects_in_a_circle_end() -> None:
    reason, asked = failure(reply(301, b"", {"Location": "/again"}))
    assert reason == "it redirects more than 5 times"
    assert asked == 6


def test_a_redirect_that_would_lose_the_body_is_refused() -> None:
    with serving([reply(303, b"", {"Location": "/other"})]) as server, client() as web:
        with pytest.raises(NotMeasured, match="redirects a POST request with 303"):
            web.fetch_json(Request("POST", server.url, b"{}"))
        assert len(server.requests) == 1


def test_a_post_is_redirected_with_its_body() -> None:
    with serving([reply(308, b"", {"Location": "/other"}), GOOD]) as server, client() as web:
        web.fetch_json(Request("POST", server.url, b'{"q": 1}'))
        assert [asked.json for asked in server.requests] == [{"q": 1}, {"q": 1}]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "only http: and https: are"),
        ("ftp://host/x", "only http: and https: are"),
        ("/search", "only http: and https: are"),
        ("http:///x", "it names no host"),
        ("http://host:99999/", "Port out of range 0-65535"),
        ("http://169.254.169.254/latest", "169.254.169.254 is a link-local or metadata address"),
        ("http://[fe80::1]/", "fe80::1 is a link-local or metadata address"),
        ("http://[::ffff:169.254.1.1]/", "169.254.1.1 is a link-local or metadata address"),
        ("http://[fd00:ec2::254]/", "fd00:ec2::254 is a link-local or metadata address"),
        ("http://127.0.0.1:1/", None),
        ("https://example.org/{query}", None),
    ],
)
def test_only_addresses_of_servers_are_asked(url: str, reason: str | None) -> None:
    assert why_refused(url) == reason


@pytest.mark.parametrize("host", ["2852039166", "0xa9fea9fe", "169.254.43518"])
def test_a_refused_address_is_refused_in_disguise(host: str) -> None:
    with client() as web, pytest.raises(NotMeasured, match=r"169\.254\.169\.254 is a link-local or metadata address"):
        web.fetch_json(Request("GET", f"http://{host}/latest/meta-data"))


def test_a_name_that_leads_to_a_refused_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = (2, 1, 6, "", ("169.254.169.254", 80))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: [entry])
    with client() as web, pytest.raises(NotMeasured, match=r"innocent\.example is not asked: 169\.254"):
        web.fetch_json(Request("GET", "http://innocent.example/"))


def test_a_refused_connection_is_named_and_given_up_after_the_first_requests() -> None:
    port = closed_port()
    request = Request("GET", f"http://127.0.0.1:{port}/?key={CANARY}")
    with client(secrets=(CANARY,)) as web:
        with pytest.raises(NotMeasured) as first:
            web.fetch_json(request)
        assert str(first.value) == f"cannot connect to 127.0.0.1:{port}: Connection refused (3 tries)"
        for _ in range(3):
            with pytest.raises(Unreachable, match="none of the first 5 requests got through"):
                web.fetch_json(request)


def test_a_server_that_was_there_once_is_not_given_up() -> None:
    with serving([GOOD]) as server, client(Limits(deadline=1, retries=0)) as web:
        url = server.url
        web.fetch_json(Request("GET", url))
        server.stop()
        for _ in range(8):
            with pytest.raises(NotMeasured) as caught:
                web.fetch_json(Request("GET", url))
            assert not isinstance(caught.value, Unreachable)


def test_a_name_without_address_is_told() -> None:
    with client(Limits(deadline=5, retries=0)) as web, pytest.raises(NotMeasured) as caught:
        web.fetch_json(Request("GET", "http://no-such-host.invalid/"))
    assert "no-such-host.invalid" in str(caught.value) or "within 5 s" in str(caught.value)


def test_a_look_up_that_hangs_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: over.wait(30) and [])
    with client(SHORT) as web, pytest.raises(NotMeasured, match=r"no complete answer within 0\.4 s"):
        web.fetch_json(Request("GET", "http://slow.example/"))
    over.set()


def test_tls_errors_are_named_and_not_tried_again() -> None:
    with serving([GOOD]) as server, client() as web:
        with pytest.raises(NotMeasured, match=rf"^TLS with 127\.0\.0\.1:{server.port} failed: "):
            web.fetch_json(Request("GET", server.url.replace("http:", "https:")))
        assert web.n_retries == 0


def test_proxies_of_the_environment_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with serving([GOOD]) as server:
        assert fetched(server) == {"ids": ["a"]}


def test_a_proxy_that_was_asked_for_is_used() -> None:
    with serving([GOOD]) as proxy, client(proxy=f"http://127.0.0.1:{proxy.port}") as web:
        assert web.fetch_json(Request("GET", "http://far.invalid/search")).value == {"ids": ["a"]}
        assert proxy.requests[0].target == "http://far.invalid/search"


def test_cookies_are_not_kept() -> None:
    with serving([reply(200, b"1", {"Set-Cookie": "session=1"})]) as server, client() as web:
        for _ in range(2):
            web.fetch_json(Request("GET", server.url))
        assert ["cookie" in asked.headers for asked in server.requests] == [False, False]


def test_closing_ends_what_is_under_way() -> None:
    with serving([hang()]) as server, client(Limits(deadline=60)) as web:
        threading.Timer(0.2, web.close).start()
        with pytest.raises(NotMeasured, match="interrupted"):
            web.fetch_json(Request("GET", server.url))


def test_closing_ends_a_pause() -> None:
    patient = Limits(deadline=5, longest_wait=60)
    with serving([reply(429, b"", {"Retry-After": "60"})]) as server, client(patient) as web:
        threading.Timer(0.2, web.close).start()
        with pytest.raises(NotMeasured, match="interrupted"):
            web.fetch_json(Request("GET", server.url))


def test_an_excerpt_is_one_short_line_that_does_nothing_to_a_terminal() -> None:
    assert excerpt("a\x1b[2J\r\n\tb\u202ec\u200bd\x00") == "a [2J b c d"
    assert excerpt("x" * 1000) == "x" * 80 + "…"


def test_a_key_is_removed_before_a_text_is_cut() -> None:
    reason, _ = failure(reply(400, "x" * 75 + CANARY))
    assert reason == "HTTP 400: " + "x" * 75 + "…"
