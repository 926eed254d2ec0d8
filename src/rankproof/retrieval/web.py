"""HTTP for stages: a request leads to one JSON value, or to the reason why there is none.

Whatever a server does, a request ends at its deadline, an answer stays below its size, and a server in trouble is asked
again only a few times. No message holds a key.
"""

from __future__ import annotations

import ipaddress
import json
import queue
import random
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, cast
from urllib.parse import quote, urlsplit

from rankproof.data.json_text import unique_keys
from rankproof.errors import MissingExtra, NotMeasured, count

if TYPE_CHECKING:
    import httpcore2
    import httpx2

Method = Literal["GET", "POST"]

RETRY_FLOOR = 10
"""How many requests of a run may be asked again whatever happens."""
RETRY_SHARE = 0.2
"""How many more may be, for each one that was answered."""
FIRST_REQUESTS = 5
"""If none of so many could connect, none is tried any more."""
_REDIRECTS = 5
_BACKOFF = 0.5
_EXCERPT = 80
_ERROR_BYTES = 1 << 16
_WRITE_BYTES = 1 << 14
_METADATA = {ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200")}
"""Where clouds hand out credentials besides the link-local addresses."""


class Unreachable(NotMeasured):
    """No request could connect, so none will be tried any more."""


@dataclass(frozen=True)
class Limits:
    """How long, how often and how much."""

    deadline: float = 30.0
    """Seconds for one request, from the look-up of the name to the last byte of the answer."""
    retries: int = 3
    """How often one request is asked again."""
    longest_wait: float = 30.0
    """Seconds between two tries at most, whatever the server asks for."""
    answer_bytes: int = 16 << 20
    """The size of an answer, unpacked."""
    connections: int = 4


@dataclass(frozen=True)
class Request:
    """What is asked."""

    method: Method
    url: str
    body: bytes | None = None
    """JSON, if there is any."""


class Fetched(NamedTuple):
    """What was answered, and how long the try that succeeded took."""

    value: Any
    seconds: float


class _Again(Exception):
    """It failed in a way that may pass."""

    def __init__(self, reason: str, *, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait
        """Seconds that the server asks for."""


class Web:
    """A client for one server; it can be used by several threads, and must be closed.

    Proxies are used only if one is given: those of the environment are passed over. Cookies are not kept, so that no
    answer depends on those before it.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        headers: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        proxy: str | None = None,
    ) -> None:
        try:
            import httpcore2
            import httpx2
        except ModuleNotFoundError as exc:
            raise MissingExtra("Asking a server over HTTP", "http") from exc
        self.limits = limits
        self.n_retries = 0
        self._headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "rankproof"}
        self._headers.update(headers or {})
        through = None if proxy is None else httpx2.Proxy(proxy)
        self._secrets = (*secrets, *(() if through is None or through.url.password == "" else (through.url.password,)))
        self._network = _Network()
        self._pool = httpcore2.ConnectionPool(
            proxy=None if through is None else httpcore2.Proxy(str(through.url), auth=through.raw_auth),
            max_connections=limits.connections,
            keepalive_expiry=5.0,
            # The role of a NetworkBackend is played without deriving from it, which would load the library on import.
            network_backend=cast(Any, self._network),
        )
        self._lock = threading.Lock()
        self._answered = 0
        self._unconnected = 0
        self._unreachable: Unreachable | None = None
        self._stop = threading.Event()

    def fetch_json(self, request: Request) -> Fetched:
        """The JSON value that the server answers with; raises NotMeasured with the reason if there is none."""
        if self._unreachable is not None:
            raise self._unreachable
        for attempt in range(self.limits.retries + 1):
            try:
                fetched = self._once(request)
            except _Again as exc:
                self._wait_or_give_up(exc, attempt)
            else:
                with self._lock:
                    self._answered += 1
                return fetched
        raise AssertionError("the last attempt either answers or gives up")

    def close(self) -> None:
        """End what is under way, at once, and let go of all connections."""
        self._stop.set()
        self._network.abort()
        self._pool.close()

    def clean(self, text: str) -> str:
        """The text without keys, in whatever spelling a server may send them back."""
        for secret in self._secrets:
            in_json = json.dumps(secret)[1:-1]
            for spelling in (secret, quote(secret, safe=""), quote(secret), in_json, in_json.replace("/", "\\/")):
                text = text.replace(spelling, "…")
        return text

    def _wait_or_give_up(self, failure: _Again, attempt: int) -> None:
        reason = str(failure)
        if self._stop.is_set():
            raise NotMeasured("the request was interrupted") from None
        if attempt == self.limits.retries:
            tries = f" ({count(attempt + 1, 'try', 'tries')})" if attempt else ""
            raise NotMeasured(f"{reason}{tries}") from failure
        with self._lock:
            if self.n_retries >= RETRY_FLOOR + int(RETRY_SHARE * self._answered):
                raise NotMeasured(f"{reason}; it was not asked again, too much of this run having been") from failure
            self.n_retries += 1
        if self._stop.wait(pause(attempt, failure.wait, longest=self.limits.longest_wait)):
            raise NotMeasured("the request was interrupted") from None

    def _once(self, request: Request) -> Fetched:
        import httpcore2
        import httpx2

        started = time.perf_counter()
        try:
            with self._network.until(time.monotonic() + self.limits.deadline):
                value = self._exchange(request)
        except httpcore2.TimeoutException as exc:
            if isinstance(exc, httpcore2.ConnectTimeout):
                self._not_connected(f"no connection within {self.limits.deadline:g} s")
            raise NotMeasured(f"no complete answer within {self.limits.deadline:g} s") from exc
        except httpcore2.ConnectError as exc:
            self._could_not_connect(request, exc)
        except (httpcore2.NetworkError, httpcore2.RemoteProtocolError) as exc:
            raise _Again(f"the connection broke off: {self._excerpt(str(exc))}") from exc
        except (httpcore2.ProtocolError, httpcore2.ProxyError, httpcore2.UnsupportedProtocol) as exc:
            raise NotMeasured(f"the request failed: {self._excerpt(str(exc))}") from exc
        except httpx2.DecodingError as exc:
            raise NotMeasured(f"the answer cannot be unpacked: {self._excerpt(str(exc))}") from exc
        return Fetched(value, time.perf_counter() - started)

    def _exchange(self, request: Request) -> Any:
        url = request.url
        for _ in range(_REDIRECTS + 1):
            reason = why_refused(url)
            if reason is not None:
                raise NotMeasured(f"{self._excerpt(url)} is not asked: {reason}")
            response = self._send(request, url)
            try:
                if "location" not in response.headers or response.status_code not in (301, 302, 303, 307, 308):
                    return self._value(response)
                url = self._redirected(request, url, response)
            finally:
                response.close()
        raise NotMeasured(f"it redirects more than {_REDIRECTS} times")

    def _send(self, request: Request, url: str) -> httpx2.Response:
        import httpcore2
        import httpx2

        more = {} if request.body is None else {"Content-Type": "application/json"}
        try:
            made = httpx2.Request(request.method, url, headers={**self._headers, **more}, content=request.body)
        except (httpx2.InvalidURL, UnicodeEncodeError) as exc:
            raise NotMeasured(f"{self._excerpt(url)} is no address: {self._excerpt(str(exc))}") from None
        received = self._pool.handle_request(
            httpcore2.Request(
                method=made.method,
                url=httpcore2.URL(
                    scheme=made.url.raw_scheme, host=made.url.raw_host, port=made.url.port, target=made.url.raw_path
                ),
                headers=made.headers.raw,
                content=request.body,
                # Waiting for a free connection is the one wait that does not go through the network.
                extensions={"timeout": {"pool": self.limits.deadline}},
            )
        )
        return _response(received)

    def _redirected(self, request: Request, url: str, response: httpx2.Response) -> str:
        import httpx2

        location = response.headers["location"]
        if self.clean(location) != location:
            raise NotMeasured("it redirects to an address that holds the key")
        try:
            target = httpx2.URL(url).join(location)
        except httpx2.InvalidURL:
            raise NotMeasured(f"it redirects to {self._excerpt(location)}, which is no address") from None
        here, there = urlsplit(url), urlsplit(str(target))
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            shown = self._excerpt(f"{there.scheme}://{there.netloc.rpartition('@')[2]}")
            raise NotMeasured(f"it redirects to {shown}, another server; if that is right, write its address as `url`")
        if request.method != "GET" and response.status_code not in (307, 308):
            raise NotMeasured(
                f"it redirects a {request.method} request with {response.status_code}, which would lose it"
            )
        return str(target)

    def _value(self, response: httpx2.Response) -> Any:
        status = response.status_code
        if not 200 <= status < 300:
            reason = f"HTTP {status}: {self._excerpt(self._beginning(response)) or 'no further word'}"
            if status == 429 or status >= 500:
                raise _Again(reason, wait=retry_after(response.headers.get("retry-after"), datetime.now(UTC)))
            raise NotMeasured(reason)
        data = self._body(response)
        if not data.strip():
            raise NotMeasured("the answer is empty")
        try:
            text = data.decode("utf-8-sig")
            if self.clean(text) != text:
                raise NotMeasured("the server sends the key back, so nothing of its answer is kept")
            return json.loads(text, object_pairs_hook=unique_keys, parse_constant=_refuse_constant)
        except UnicodeDecodeError as exc:
            raise NotMeasured(f"the answer is not UTF-8 from byte {exc.start:,} on") from None
        except RecursionError:
            raise NotMeasured("the answer is nested too deeply") from None
        except json.JSONDecodeError as exc:
            what = f"it breaks off or errs at line {exc.lineno}, column {exc.colno}"
            raise NotMeasured(f"the answer is no JSON ({what}): {self._excerpt(text)}") from None
        except ValueError as exc:
            raise NotMeasured(f"the answer is no JSON: {self._excerpt(str(exc))}") from None

    def _body(self, response: httpx2.Response) -> bytes:
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("gzip", "identity", ""):
            raise NotMeasured(f"the answer is packed with {self._excerpt(packing)}, which was not asked for")
        limit = self.limits.answer_bytes
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > limit:
                raise NotMeasured(f"the answer is longer than {limit:,} bytes")
        return b"".join(parts)

    def _beginning(self, response: httpx2.Response) -> str:
        """The first bytes of what comes with an error; it is an error whether they can be had or not."""
        import httpcore2
        import httpx2

        data = b""
        lost = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, httpx2.DecodingError)
        with suppress(*lost):
            for part in response.iter_bytes():
                data += part[:_ERROR_BYTES]
                if len(data) >= _ERROR_BYTES:
                    break
        return data.decode("utf-8", "replace")

    def _could_not_connect(self, request: Request, exc: Exception) -> NoReturn:
        where = self._excerpt(urlsplit(request.url).netloc)
        # The pool cuts the chain of causes, but what went wrong is what the exception was made of.
        cause = exc.args[0] if exc.args and isinstance(exc.args[0], OSError) else exc
        if isinstance(cause, ssl.SSLError):
            reason = getattr(cause, "verify_message", None) or cause.reason or str(cause)
            failure = f"TLS with {where} failed: {self._excerpt(reason)}"
            self._not_connected(failure)
            raise NotMeasured(failure) from exc
        failure = f"cannot connect to {where}: {self._excerpt(getattr(cause, 'strerror', None) or str(cause))}"
        self._not_connected(failure)
        raise _Again(failure) from exc

    def _not_connected(self, failure: str) -> None:
        with self._lock:
            self._unconnected += 1
            if not self._network.connected and self._unconnected >= FIRST_REQUESTS:
                self._unreachable = Unreachable(f"{failure}; none of the first {FIRST_REQUESTS} requests got through")
                raise self._unreachable

    def _excerpt(self, text: str) -> str:
        return excerpt(self.clean(text))


class _Network:
    """What httpcore2 reads and writes through; every wait ends at the deadline of the request that waits.

    A request is sent and read in the thread that asked, so the deadline is kept per thread.
    """

    def __init__(self) -> None:
        self.connected = False
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._streams: set[_Stream] = set()
        self._ended = False

    @contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """What this thread does meanwhile ends at the deadline."""
        self._of_thread.deadline = deadline
        try:
            yield
        finally:
            del self._of_thread.deadline

    def left(self) -> float:
        """Seconds until the deadline; raises if there are none."""
        import httpcore2

        left: float = self._of_thread.deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the deadline is over")
        return left

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> _Stream:
        """A connection to the first address of the host that takes one; none to addresses that are refused."""
        import httpcore2

        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in self._addresses(host, port):
            reason = _why_address_refused(address)
            if reason is not None:
                raise NotMeasured(f"{excerpt(host)} is not asked: {reason}")
            try:
                stream = httpcore2.SyncBackend().connect_tcp(address, port, self.left(), local_address, socket_options)
            except httpcore2.ConnectError as exc:
                failure = exc
                continue
            self.connected = True
            return self.keep(_Stream(stream, self))
        raise failure

    def keep(self, stream: _Stream) -> _Stream:
        """Remember a connection as long as it is open."""
        with self._lock:
            self._streams.add(stream)
            too_late = self._ended
        if too_late:
            stream.abort()
        return stream

    def forget(self, stream: _Stream) -> None:
        """It is closed."""
        with self._lock:
            self._streams.discard(stream)

    def abort(self) -> None:
        """Wake every thread that waits for the other side, now or later."""
        with self._lock:
            self._ended = True
            streams = list(self._streams)
        for stream in streams:
            stream.abort()

    def _addresses(self, host: str, port: int) -> list[str]:
        import httpcore2

        found: queue.SimpleQueue[list[str] | OSError | UnicodeError] = queue.SimpleQueue()

        def look_up() -> None:
            try:
                entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                found.put(list(dict.fromkeys(str(entry[4][0]) for entry in entries)))
            except (OSError, UnicodeError) as exc:
                found.put(exc)

        # The look-up of a name cannot be given a time limit, only be left to itself.
        threading.Thread(target=look_up, daemon=True).start()
        try:
            outcome = found.get(timeout=self.left())
        except queue.Empty:
            raise httpcore2.ConnectTimeout(f"the address of {host} could not be found in time") from None
        if isinstance(outcome, Exception):
            raise httpcore2.ConnectError(outcome) from outcome
        return outcome


class _Stream:
    """One connection."""

    def __init__(self, stream: Any, network: _Network) -> None:
        self._stream, self._network = stream, network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has arrived, once something has."""
        data: bytes = self._stream.read(max_bytes, self._network.left())
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it, in pieces, as the limit holds for each piece."""
        for start in range(0, len(buffer), _WRITE_BYTES):
            self._stream.write(buffer[start : start + _WRITE_BYTES], self._network.left())

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        """The same connection, encrypted."""
        self._network.forget(self)
        inner = self._stream.start_tls(ssl_context, server_hostname, self._network.left())
        return self._network.keep(_Stream(inner, self._network))

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows of itself."""
        return self._stream.get_extra_info(info)

    def abort(self) -> None:
        """End it from another thread."""
        with suppress(OSError):
            # Not the method of a TLS socket, which would take its state away from the thread that reads.
            socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of it."""
        self._network.forget(self)
        self._stream.close()


def _response(received: httpcore2.Response) -> httpx2.Response:
    import httpx2

    # Within the function, so that the library is not loaded on import.
    class Body(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield from received.iter_stream()

        def close(self) -> None:
            received.close()

    return httpx2.Response(received.status, headers=received.headers, stream=Body())


def why_refused(url: str) -> str | None:
    """Why no request is sent to an address, as far as it can be told without looking up its name; None if one is."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as exc:
        return str(exc)
    if parts.scheme not in ("http", "https"):
        return "only http: and https: are"
    if not host:
        return "it names no host"
    return _why_address_refused(host)


def _why_address_refused(host: str) -> str | None:
    try:
        address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_link_local or address in _METADATA:
        return f"{address} is a link-local or metadata address"
    return None


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds that a server asks to wait; None if it does not say, or says nothing that can be read."""
    if value is None:
        return None
    if re.fullmatch(r"[0-9]+", value.strip()):
        return float(value)
    try:
        until = parsedate_to_datetime(value)
        return max(0.0, (until if until.tzinfo else until.replace(tzinfo=UTC)).timestamp() - now.timestamp())
    except (TypeError, ValueError, OverflowError):
        return None


def pause(attempt: int, asked: float | None, *, longest: float) -> float:
    """Seconds to wait before the next try: what the server asks for, else twice as long each time.

    Chance is added, so that requests which failed together do not come back together; it changes no result.
    """
    step: float = _BACKOFF * 2**attempt
    wait = step * random.uniform(0.5, 1.0) if asked is None else asked + random.uniform(0.0, _BACKOFF)
    return min(wait, longest * random.uniform(0.9, 1.0))


def excerpt(text: str, *, longest: int = _EXCERPT) -> str:
    """The beginning of a text in one line, without characters that would do something to a terminal."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 50 * longest]).split())
    return line if len(line) <= longest else f"{line[:longest]}…"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
