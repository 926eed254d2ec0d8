"""Who may talk to the page, and how much: checked before anything else looks at a request.

Every page that a person has open can send requests to this machine, and a name that an attacker owns can be made to
lead here. So a request must name this server exactly (Host), come from this page or from the address bar (Origin,
Sec-Fetch-Site), and bring the token of this start: first in the address that the terminal printed, then in a cookie,
and for a POST in a header or field besides, which only our own pages know.
"""

from __future__ import annotations

import asyncio
import hmac
import html
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN_HEADER = "x-rankproof-token"
FORM = "rankproof.form"
"""Where the fields of a form stand in the scope."""
BODY = "rankproof.body"
"""Where the body of a POST stands in the scope."""

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
SECURITY_HEADERS = {
    "content-security-policy": _POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

# No address of ours has any other character, and so none can be mistaken for a path on disk.
_PLAIN_PATH = re.compile(rb"/(?:[A-Za-z0-9_-]+(?:\.[a-z]+)?(?:/[A-Za-z0-9_-]+(?:\.[a-z]+)?)*)?")
_COOKIE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+=[!#-+\--:<-\[\]-~]*")


@dataclass(frozen=True)
class Limits:
    """How much a request may be, and how long its body may take."""

    target: int = 4096
    headers: int = 16 << 10
    n_headers: int = 100
    body: int = 64 << 10
    body_seconds: float = 20.0


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    reason: str
    """One word for programs."""
    sentence: str


class Access:
    """Which hosts and which token open the page."""

    def __init__(self, address: str, hosts: frozenset[str], port: int, token: str | None = None) -> None:
        self.address = address
        """Where the page is, without the token."""
        self.hosts = hosts
        """Exactly what Host must say, such as `127.0.0.1:8123`."""
        self.token = token or secrets.token_urlsafe(32)
        # Cookies do not know ports: another server on this machine must have another name for its own.
        self.cookie = f"rankproof-{port}"

    @property
    def form_token(self) -> str:
        """What a POST must bring besides the cookie; it does not give the cookie away."""
        return hmac.new(self.token.encode(), b"form", sha256).hexdigest()

    def opens(self, given: str) -> bool:
        """Whether this is the token of this start."""
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())

    def opens_form(self, given: str) -> bool:
        """Whether this is what our own pages send with a POST."""
        return hmac.compare_digest(given.encode(errors="replace"), self.form_token.encode())


_NOT_HERE = Refusal(421, "host", "This is not the address that the terminal printed. Open that one.")
_FOREIGN = Refusal(
    403, "origin", "The request comes from another page. Paste the address that the terminal printed into the browser."
)
_NO_TOKEN = Refusal(
    403,
    "token",
    "This page belongs to an earlier start of the server, or to nobody yet. "
    "Open the address with the token that `rankproof serve` printed in the terminal; nothing is lost.",
)
_NOT_FOUND = Refusal(404, "not found", "There is no such page.")
_TOO_BIG = Refusal(413, "too big", "That is too much text for one request.")
_TOO_SLOW = Refusal(408, "too slow", "The request did not come to its end in time.")
_BAD_BODY = Refusal(400, "bad request", "The request cannot be understood.")


class Headers:
    """The headers of a request, able to say how often each is there."""

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self.raw = raw

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        wanted = name.encode()
        return [value.decode("latin-1") for key, value in self.raw if key.lower() == wanted]

    def one(self, name: str) -> str | None:
        """The value of a header; None if it is not there, and nothing that could pass if it is there twice."""
        values = self.all(name)
        return None if not values else values[0] if len(values) == 1 else "\0"


class Guard:
    """Lets through what the page itself asks for, adds the headers that keep a browser strict, and nothing else."""

    def __init__(self, app: App, access: Access, limits: Limits | None = None) -> None:
        self.app = app
        self.access = access
        self.limits = limits or Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        answer = _strict(send)
        headers = Headers(scope["headers"])
        refusal = self.refusal(scope, headers)
        if refusal is not None:
            await _refuse(answer, headers, refusal)
            return
        if self._opening(scope) is not None:
            await self._open(answer)
            return
        await self._pass_on(scope, receive, answer, headers)

    def refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        """What is wrong with a request, as far as its head can tell."""
        raw_path: bytes = scope["raw_path"]
        host = headers.one("host")
        if host not in self.access.hosts or not raw_path.startswith(b"/"):
            return _NOT_HERE
        if len(raw_path) + len(scope["query_string"]) > self.limits.target:
            return Refusal(414, "too long", "The address is too long.")
        size = sum(len(key) + len(value) for key, value in headers.raw)
        if size > self.limits.headers or len(headers.raw) > self.limits.n_headers:
            return Refusal(431, "too big", "The headers are too big.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return Refusal(405, "method", "The page understands GET and POST.")
        is_post = scope["method"] == "POST"
        if not _from_here(f"http://{host}", headers, is_post):
            return _FOREIGN
        given = self._opening(scope)
        if given is not None:
            return None if self.access.opens(given) else _NO_TOKEN
        if not any(self.access.opens(value) for value in self._cookies(headers)):
            return _NO_TOKEN
        if not _PLAIN_PATH.fullmatch(raw_path):
            return _NOT_FOUND
        return self._body_refusal(headers, is_post)

    def _body_refusal(self, headers: Headers, is_post: bool) -> Refusal | None:
        length, coding = headers.one("content-length"), headers.one("transfer-encoding")
        # A length that can be read in two ways is how one request is hidden inside another.
        if length is not None and (coding is not None or not length.isdecimal()):
            return _BAD_BODY
        if not is_post:
            return _BAD_BODY if length not in (None, "0") or coding is not None else None
        if int(length or 0) > self.limits.body:
            return _TOO_BIG
        sent = headers.one(TOKEN_HEADER)
        if sent is None and not _is_form(headers):
            return _NO_TOKEN
        return None if sent is None or self.access.opens_form(sent) else _NO_TOKEN

    def _opening(self, scope: Scope) -> str | None:
        """The token in the address, which is looked for on the first page only."""
        if scope["method"] != "GET" or scope["raw_path"] != b"/":
            return None
        given = _fields(scope["query_string"]).get("token")
        return None if given is None else given[0] if len(given) == 1 else ""

    def _cookies(self, headers: Headers) -> list[str]:
        found = []
        for line in headers.all("cookie"):
            for part in line.split(";"):
                if _COOKIE.fullmatch(part.strip()):
                    name, _, value = part.strip().partition("=")
                    found += [value] if name == self.access.cookie else []
        return found

    async def _open(self, send: Send) -> None:
        """Put the token into a cookie, and lead to an address without it."""
        cookie = f"{self.access.cookie}={self.access.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        if scope["method"] == "POST":
            body = await self._body(receive)
            if isinstance(body, Refusal):
                await _refuse(send, headers, body)
                return
            fields = _fields(body) if _is_form(headers) else {}
            if headers.one(TOKEN_HEADER) is None and not self.access.opens_form(fields.get("token", [""])[0]):
                await _refuse(send, headers, _NO_TOKEN)
                return
            scope[BODY], scope[FORM] = body, {name: values[0] for name, values in fields.items()}
        await self.app(scope, _nothing_more, send)

    async def _body(self, receive: Receive) -> bytes | Refusal:
        """The body, counted while it comes, whatever its length was said to be."""
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return _BAD_BODY
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self.limits.body:
                        return _TOO_BIG
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            return _TOO_SLOW


def _from_here(own: str, headers: Headers, is_post: bool) -> bool:
    """Whether a request was made by this page, or by the person in the address bar."""
    site, origin = headers.one("sec-fetch-site"), headers.one("origin")
    if site not in (None, "same-origin", "none"):
        return False
    if origin == own:
        return True
    if not is_post:
        return origin is None
    # A form of a page that sends no referrer has the origin `null`; what the browser itself says of the site decides.
    return origin in (None, "null") and site == "same-origin"


def _is_form(headers: Headers) -> bool:
    kind = headers.one("content-type") or ""
    return kind.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded"


def _fields(text: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(text.decode("latin-1"), keep_blank_values=True, max_num_fields=32, errors="replace")
    except ValueError:
        return {}


async def _nothing_more() -> Message:
    return {"type": "http.disconnect"}


def _strict(send: Send) -> Send:
    extra = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [pair for pair in message.get("headers", []) if pair[0].decode().lower() not in SECURITY_HEADERS]
            message = {**message, "headers": [*own, *extra]}
        await send(message)

    return sent


async def _refuse(send: Send, headers: Headers, refusal: Refusal) -> None:
    wants_page = "text/html" in (headers.one("accept") or "")
    body = (_page(refusal) if wants_page else json.dumps(told(refusal))).encode()
    kind = b"text/html; charset=utf-8" if wants_page else b"application/json"
    # The rest of a body that nobody reads must not be taken for the next request.
    head = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": refusal.status, "headers": head})
    await send({"type": "http.response.body", "body": body})


def told(refusal: Refusal) -> Mapping[str, str]:
    """A refusal as the page's script reads it."""
    return {"error": refusal.sentence, "reason": refusal.reason}


def _page(refusal: Refusal) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>rankproof</title></head>'
        f"<body><main><h1>rankproof</h1><p>{html.escape(refusal.sentence)}</p></main></body></html>"
    )
