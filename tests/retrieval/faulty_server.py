"""A server on loopback that misbehaves as told: real sockets, threads of the standard library."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

_TLS = b"\x16"
"""How a TLS handshake begins."""


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    method: str
    target: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def query(self) -> str:
        """The parameter `q`."""
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True).get("q", [""])[0]

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


Behaviour = Callable[[socket.socket, threading.Event], bool]
"""Answers on the connection, and says whether it can be used again; the event is set when the server stops."""


def reply(status: int = 200, body: bytes | str | object = b"", headers: Mapping[str, str] | None = None) -> Behaviour:
    """A whole answer; what is neither bytes nor text is sent as JSON."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    head = {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}

    def behave(connection: socket.socket, stopping: threading.Event) -> bool:
        connection.sendall(head_of(status, head) + data)
        return True

    return behave


def head_of(status: int, headers: Mapping[str, str]) -> bytes:
    """A status line and headers."""
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def hang() -> Behaviour:
    """No answer at all, the connection staying open."""
    return lambda connection, stopping: stopping.wait(60) and False


def drip(data: bytes, *, every: float = 0.05) -> Behaviour:
    """One byte now and then."""

    def behave(connection: socket.socket, stopping: threading.Event) -> bool:
        for i in range(len(data)):
            connection.sendall(data[i : i + 1])
            if stopping.wait(every):
                break
        return False

    return behave


def endless(piece: bytes = b" " * 1000, *, every: float = 0.01) -> Behaviour:
    """A body without an end, in chunks."""

    def behave(connection: socket.socket, stopping: threading.Event) -> bool:
        connection.sendall(head_of(200, {"Transfer-Encoding": "chunked"}))
        while not stopping.wait(every):
            connection.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        return False

    return behave


def cut_short(body: bytes, *, promised: int) -> Behaviour:
    """Fewer bytes than promised, then the end of the connection."""
    data = head_of(200, {"Content-Length": str(promised)}) + body

    def behave(connection: socket.socket, stopping: threading.Event) -> bool:
        connection.sendall(data)
        return False

    return behave


def hang_up() -> Behaviour:
    """The end of the connection, without a word."""
    return lambda connection, stopping: False


def gzip_bomb(size: int) -> Behaviour:
    """A small answer that unpacks to so many bytes."""
    data = gzip.compress(b"[" + b" " * size + b"]")
    return reply(200, data, {"Content-Encoding": "gzip"})


@dataclass
class FaultyServer:
    """Counts what it is asked, and behaves as `answer` says for each request."""

    answer: Callable[[Asked], Behaviour]
    requests: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listening.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._open: set[socket.socket] = set()
        self._threads[0].start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def counts(self) -> Counter[str]:
        """How often each query was asked."""
        with self._lock:
            return Counter(asked.query for asked in self.requests)

    def stop(self) -> None:
        """End everything."""
        self._stopping.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)
        # A client that has had enough closes its end; that is what many tests are about.
        with connection, suppress(OSError):
            while asked := _read(connection):
                with self._lock:
                    self.requests.append(asked)
                if not self.answer(asked)(connection, self._stopping):
                    connection.shutdown(socket.SHUT_RDWR)
                    break
        with self._lock:
            self._open.discard(connection)


def _read(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
        if data.startswith(_TLS):
            return Asked("TLS", "", {}, data)
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return Asked(method, target, headers, body)


@contextmanager
def serving(answer: Callable[[Asked], Behaviour] | Sequence[Behaviour]) -> Iterator[FaultyServer]:
    """A server while the block runs; a list is gone through, and its last behaviour kept to."""
    server = FaultyServer(script(answer) if isinstance(answer, Sequence) else answer)
    try:
        yield server
    finally:
        server.stop()


def script(behaviours: Sequence[Behaviour]) -> Callable[[Asked], Behaviour]:
    """One behaviour after another, whatever is asked; the last again and again."""
    lock, left = threading.Lock(), list(behaviours)

    def next_one(asked: Asked) -> Behaviour:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return next_one


def closed_port() -> int:
    """A port on loopback where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port
