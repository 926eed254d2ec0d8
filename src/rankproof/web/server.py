"""The server: bound to this machine, with connections that must say soon what they want."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from rankproof.errors import UsageError
from rankproof.web.guard import Access, App

HEAD_SECONDS = 10.0
"""How long a connection may take to say what it wants."""
ANSWER_SECONDS = 120.0
"""How long a client may take to read an answer."""
MAX_WAITING = 200
"""How many connections may be there that have said nothing yet; the oldest gives way."""

# Below the ports that systems give out by themselves.
_FIRST_PORT, _N_PORTS = 20_000, 12_000


def usual_port(name: str) -> int:
    """A port that is the same at each start for the same labels.

    A browser keeps what could not be sent by the address of the page, port included, so that it is found again.
    """
    return _FIRST_PORT + int.from_bytes(sha256(name.encode(errors="surrogatepass")).digest()[:4], "big") % _N_PORTS


def is_loopback(host: str) -> bool:
    """Whether an address is this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bind(host: str, port: int, *, or_any: bool = False) -> socket.socket:
    """A socket on the port; with `or_any` on a free one if that is taken."""
    address = "127.0.0.1" if host == "localhost" else host
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    except ValueError as exc:
        raise UsageError(f"{host!r} is no address; give one such as 127.0.0.1.") from exc
    if ipaddress.ip_address(address).is_unspecified:
        raise UsageError(f"{host} stands for every address of this machine; name the one that others use.")
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((address, port))
    except OSError as exc:
        opened.close()
        if or_any and exc.errno in (errno.EADDRINUSE, errno.EACCES):
            return bind(host, 0)
        raise UsageError(f"Port {port} of {host} cannot be used: {exc.strerror or exc}. Give another --port.") from exc
    except OverflowError as exc:
        opened.close()
        raise UsageError(f"{port} is no port; they go from 0 to 65535.") from exc
    return opened


def access_to(opened: socket.socket) -> Access:
    """The names under which a bound socket may be called, and a new token."""
    host, port = opened.getsockname()[:2]
    written = f"[{host}]" if ":" in host else host
    hosts = {f"{written}:{port}"}
    if ipaddress.ip_address(host).is_loopback:
        hosts.add(f"localhost:{port}")
    if port == 80:
        hosts |= {name.removesuffix(":80") for name in hosts}
    return Access(f"http://{written}:{port}", frozenset(hosts), port)


@dataclass
class Waiting:
    """Connections that have not said what they want, the oldest first."""

    limit: int
    seconds: float
    connections: dict[_Connection, None]


class _Connection(H11Protocol):
    """A connection that is closed if it takes too long to ask, or if too many others do."""

    waiting: Waiting

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._deadline: Any = None
        self._wait()

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except h11.ProtocolError:
            self.transport.abort()
        self._stop_waiting_if_asked()

    def on_response_complete(self) -> None:
        if not self.transport.is_closing():
            self._wait()
        super().on_response_complete()
        self._stop_waiting_if_asked()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        others = self.waiting.connections
        others[self] = None
        still_reading = self.transport.get_write_buffer_size() > 0
        seconds = ANSWER_SECONDS if still_reading else self.waiting.seconds
        self._deadline = self.loop.call_later(seconds, self._give_up)
        if len(others) > self.waiting.limit:
            next(iter(others))._give_up()

    def _stop_waiting_if_asked(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete and self in self.waiting.connections:
            self._stop_waiting()
            self._deadline = self.loop.call_later(ANSWER_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        self.waiting.connections.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()


class _Server(uvicorn.Server):
    """A server that ends on a signal without passing it on, so that labels can be put in order afterwards."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def make_server(
    app: App, *, head_seconds: float = HEAD_SECONDS, max_waiting: int = MAX_WAITING
) -> uvicorn.Server:  # fmt: skip
    """A server of the page; `run(sockets=[…])` serves until `should_exit`."""
    waiting = Waiting(max_waiting, head_seconds, {})
    connection = type("Connection", (_Connection,), {"waiting": waiting})
    config = uvicorn.Config(
        app, http=connection, ws="none", lifespan="off", log_config=None, log_level="critical", access_log=False,
        server_header=False, date_header=False, proxy_headers=False, timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=32 << 10,
    )  # fmt: skip
    return _Server(config)


def serve(app: App, opened: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until somebody interrupts; `ready` is called when requests are taken."""
    opened.listen(2048)
    ready()
    make_server(app).run(sockets=[opened])
