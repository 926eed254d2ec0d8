"""Who may talk to the page: only a browser that was given the token, from this page, by the exact name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankproof.web.guard import SECURITY_HEADERS
from tests.web.serving import Serving

ACT = b'{"action":"undo","once":"a0000000"}'


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("guard")) as made:
        yield made


def test_only_the_exact_host_this_page_and_the_token_together_pass(serving: Serving) -> None:
    port = serving.port
    hosts = {f"127.0.0.1:{port}": True, f"localhost:{port}": True, f"evil.example:{port}": False}
    origins = (None, "own", "null", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}", "http://evil.example")
    sites = (None, "same-origin", "none", "same-site", "cross-site", "same-origin, cross-site")
    tokens = ("none", "wrong", "cookie", "cookie and header", "header")
    wrong = []
    for host, origin, site, method, token in itertools.product(hosts, origins, sites, ("GET", "POST"), tokens):
        origin_sent = f"http://{host}" if origin == "own" else origin
        cookie = serving.cookie if "cookie" in token else f"{serving.access.cookie}=x" if token == "wrong" else None
        header = serving.access.form_token if "header" in token else "x" if token == "wrong" else None
        reply = serving.ask(
            method, "/desk" if method == "GET" else "/label/act", ACT if method == "POST" else b"",
            Host=host, Origin=origin_sent, Sec_Fetch_Site=site, Cookie=cookie, X_Rankproof_Token=header,
        )  # fmt: skip
        from_here = site in (None, "same-origin", "none") and (
            origin == "own"
            or (origin is None if method == "GET" else origin in (None, "null") and site == "same-origin")
        )
        has_token = token == "cookie and header" or (method == "GET" and token == "cookie")
        # The action is understood and refused, for it names no desk.
        passed = 200 if method == "GET" else 400
        expected = 421 if not hosts[host] else passed if from_here and has_token else 403
        if reply.status != expected:
            wrong.append((host, origin_sent, site, method, token, reply.status, expected))
    assert wrong == []


@pytest.mark.parametrize(
    "form",
    [
        "evil.example", "evil.example:{port}", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1.:{port}",
        "localhost.:{port}", "LOCALHOST:{port}", "Localhost:{port}", "[::1]:{port}", "[::ffff:127.0.0.1]:{port}",
        "::1:{port}", "127.1:{port}", "2130706433:{port}", "0x7f000001:{port}", "0.0.0.0:{port}", "127.0.0.1:0{port}",
        "127.0.0.1:{port}:{port}", "user@127.0.0.1:{port}", "127.0.0.1:{port}, 127.0.0.1:{port}", "127.0.0.1:{port}/",
        "127.0.0.1 :{port}", "xn--localhost:{port}", "",
    ],
)  # fmt: skip
def test_any_other_host_is_misdirected(serving: Serving, form: str) -> None:
    assert serving.ask(Host=form.format(port=serving.port)).status == 421


def test_a_request_without_a_host_does_not_pass(serving: Serving) -> None:
    # HTTP/1.1 itself demands 400; HTTP/1.0 knows no Host.
    assert serving.ask(Host=None).status == 400
    assert serving.send(f"GET / HTTP/1.0\r\nCookie: {serving.cookie}\r\n\r\n".encode()).status == 421


def test_a_request_with_two_hosts_does_not_pass(serving: Serving) -> None:
    head = serving.head().replace(b"\r\n\r\n", f"\r\nHost: {serving.host_header}\r\n\r\n".encode())
    assert serving.send(head).status == 400
    head = serving.head().replace(b"\r\n\r\n", b"\r\nHost: evil.example\r\n\r\n")
    assert serving.send(head).status == 400


@pytest.mark.parametrize("target", ["http://{host}/desk", "http://evil.example/desk", "*", "{host}", "//", "///etc"])
def test_a_target_that_is_no_path_does_not_pass(serving: Serving, target: str) -> None:
    reply = serving.ask(path=target.format(host=serving.host_header))
    assert reply.status == (421 if not target.startswith("/") else 404)


def test_two_headers_where_one_belongs_do_not_pass(serving: Serving) -> None:
    for name, value in (("Sec-Fetch-Site", "same-origin"), ("Origin", serving.address)):
        head = serving.head("GET", "/desk", Origin=serving.address)
        assert serving.send(head.replace(b"\r\n\r\n", f"\r\n{name}: {value}\r\n\r\n".encode())).status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "BREW"])
def test_other_methods_do_not_pass(serving: Serving, method: str) -> None:
    assert serving.ask(method, "/").status == 405


@pytest.mark.parametrize(
    "path",
    ["/", "/label", "/label/1", "/label/1/state", "/label/1/1/text", "/desk", "/agreement", "/runs", "/static/page.css",
     "/static/label.js", "/static/icon.svg", "/nothing"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_without_the_token_every_address_gives_the_same_refusal(serving: Serving, method: str, path: str) -> None:
    assert serving.ask(method, path, Cookie=None).status == 403


@pytest.mark.parametrize(
    "cookie",
    ["{name}=", "{name}={token}x", "{name} ={token}", "other={token}", "x{name}={token}", '{name}="{token}"', "{token}",
     "{name}={token} x", "\x00{name}={token}", "a={name}={token}"],
)  # fmt: skip
def test_what_is_not_exactly_the_cookie_does_not_open(serving: Serving, cookie: str) -> None:
    sent = cookie.format(name=serving.access.cookie, token=serving.access.token)
    assert serving.ask(path="/desk", Cookie=sent).status in (400, 403)


def test_the_cookie_is_found_among_others(serving: Serving) -> None:
    assert serving.ask(path="/desk", Cookie=f"a=b; {serving.cookie}; c=d").status == 200


def test_the_address_with_the_token_gives_a_cookie_and_leads_to_one_without(serving: Serving) -> None:
    reply = serving.ask(path=f"/?token={serving.access.token}", Cookie=None, Sec_Fetch_Site="none")
    assert (reply.status, reply.headers["location"]) == (303, "/")
    assert reply.headers["set-cookie"] == f"{serving.cookie}; Path=/; HttpOnly; SameSite=Strict"
    assert reply.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path", ["/?token=", "/?token=x", "/?token={t}&token={t}", "/label?token={t}", "//x?token={t}"]
)
def test_the_token_opens_at_one_address_only(serving: Serving, path: str) -> None:
    reply = serving.ask(path=path.format(t=serving.access.token), Cookie=None, Sec_Fetch_Site="none")
    assert reply.status == 403
    assert "set-cookie" not in reply.headers


def test_the_token_from_another_site_does_not_open(serving: Serving) -> None:
    path = f"/?token={serving.access.token}"
    assert serving.ask(path=path, Cookie=None, Sec_Fetch_Site="cross-site").status == 403
    assert serving.ask(path=path, Cookie=None, Host="evil.example").status == 421


def test_each_start_has_another_token_and_no_page_shows_it(serving: Serving, tmp_path: Path) -> None:
    with Serving(tmp_path) as other:
        assert other.access.token != serving.access.token
        assert other.access.form_token != serving.access.form_token
    for path in ("/", "/label/1", "/runs", "/agreement", "/desk", "/nothing"):
        assert serving.access.token not in serving.ask(path=path, Accept="text/html").text
    for cookie in (None, "x=y"):
        reply = serving.ask(path="/label/1", Cookie=cookie, Accept="text/html")
        assert serving.access.form_token not in reply.text


def test_a_form_brings_the_token_in_a_field(serving: Serving) -> None:
    form = "application/x-www-form-urlencoded"
    body = f"token={serving.access.form_token}&action=undo&once=a0000001&spot=null".encode()
    asked = {"Content_Type": form, "X_Rankproof_Token": None}
    assert serving.ask("POST", "/label/act", body, **asked).status == 303
    assert serving.ask("POST", "/label/act", body.replace(b"token=", b"token=x"), **asked).status == 403
    assert serving.ask("POST", "/label/act", b"action=undo&once=a0000001", **asked).status == 403
    assert serving.ask("POST", "/label/act", body, Content_Type="text/plain", X_Rankproof_Token=None).status == 403
    # The form of a page that sends no referrer says `null`; the browser's own word on the site decides.
    assert serving.ask("POST", "/label/act", body, Origin="null", **asked).status == 303
    assert serving.ask("POST", "/label/act", body, Origin="null", Sec_Fetch_Site="none", **asked).status == 403


@pytest.mark.parametrize("path", ["/", "/label/1", "/static/label.js", "/nothing", "/desk"])
@pytest.mark.parametrize("passes", [True, False])
def test_every_answer_tells_the_browser_to_be_strict(serving: Serving, path: str, passes: bool) -> None:
    reply = serving.ask(path=path, Cookie=serving.cookie if passes else None)
    assert {name: reply.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "server" not in reply.headers


TRAVERSALS = [
    "../../../../etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "....//....//etc/passwd",
    "..\\..\\etc\\passwd", "..%5c..%5cetc%5cpasswd", "%252e%252e%252fetc%252fpasswd", "/etc/passwd", "//etc/passwd",
    "..;/etc/passwd", "page.css/../../views.py", "page.css%00.png", "..%c0%af..%c0%afetc/passwd", ".", "..", "%00", "~",
    "page.css%20", "PAGE.CSS", "views.py", "label.html", "file:///etc/passwd", "..%ef%bc%8fetc",
]  # fmt: skip


@pytest.mark.parametrize("bad", TRAVERSALS)
@pytest.mark.parametrize(
    "path",
    ["/static/{}", "/label/{}", "/label/{}/state", "/label/1/{}/text", "/label/{}/1/text", "/{}", "/runs/{}"],
)
def test_a_path_that_leads_elsewhere_is_not_found(serving: Serving, path: str, bad: str) -> None:
    reply = serving.ask(path=path.format(bad))
    assert reply.status == 404, reply
    assert "root:" not in reply.text


@pytest.mark.parametrize("bad", [bad.replace(" ", "%20").replace("\\", "%5c") for bad in TRAVERSALS])
@pytest.mark.parametrize(
    "path", ["/runs/queries?run={}", "/runs/compare?base={0}&run={0}", "/runs/query?run={}&query=q"]
)
def test_a_run_of_a_name_that_leads_elsewhere_is_not_found(serving: Serving, path: str, bad: str) -> None:
    assert serving.ask(path=path.format(bad)).status == 404


def test_numbers_beyond_everything_are_not_found(serving: Serving) -> None:
    for number in ("0", "-1", "4", "99999999999999999999", "1e3", "٣"):
        sent = number.encode().decode("latin-1")
        assert serving.ask(path=f"/label/{sent}").status in (400, 404)
    assert serving.ask(path="/label/" + "9" * 5000).status == 414
    assert serving.ask(path="/label/1?doc=" + "9" * 100).status == 200
    assert serving.ask(path="/label?query=99999999999").status == 400


def test_no_error_shows_a_path_or_a_token(serving: Serving) -> None:
    folder = str(serving.folder)
    answers = [
        serving.ask(path="/nothing", Accept="text/html"),
        serving.ask("POST", "/label/act", b"{"),
        serving.act(action="relevant", once="e0000000", spot=["q1", "nothing"]),
        serving.act(action="relevant", once="e0000001", spot=["nothing", "docs/a.md#1"]),
        serving.ask(path="/label?query=77", Accept="text/html"),
        serving.ask(path="/label/1", Cookie=None, Accept="text/html"),
    ]
    for reply in answers:
        assert reply.status >= 400
        assert folder not in reply.text
        assert serving.access.token not in reply.text
        assert "Traceback" not in reply.text
