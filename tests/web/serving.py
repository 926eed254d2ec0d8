"""A real server in a thread, and words to talk to it by sockets."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.labeling.pool import Pool, make_pool
from rankproof.labeling.session import Session
from rankproof.web.app import Site, make_app
from rankproof.web.desk import Desk
from rankproof.web.guard import Limits
from rankproof.web.server import access_to, bind, make_server
from rankproof.web.shelf import Shelf

QUERIES = (
    Query("q1", "run it in a container", "beginner"),
    Query("q2", "create the database", "admin"),
    Query("q3", "reset a forgotten password"),
)
LONG = "\n\n".join(f"Paragraph {i} on databases and how to create them." for i in range(60))
DOCUMENTS = (
    Document("docs/a.md#1", "Start the container with docker run. Containers share the kernel.", "Running it"),
    Document("docs/b.md#1", "Install PostgreSQL and create the database before the first start.", "Database"),
    Document("docs/c.md#1", "The index is built at night; search finds pages by words.", "Search"),
    Document("docs/d.md#1", "A forgotten password is reset by mail.", "Signing in"),
    Document("docs/e.md#1", LONG, "All about databases"),
)
RESULTS = {
    "q1": {"docs/a.md#1": 3.0, "docs/b.md#1": 2.0, "docs/c.md#1": 1.0},
    "q2": {"docs/b.md#1": 3.0, "docs/e.md#1": 2.0, "docs/a.md#1": 1.0},
    "q3": {"docs/d.md#1": 3.0, "docs/c.md#1": 2.0},
}


def pool_of(
    queries: Sequence[Query] = QUERIES, documents: Sequence[Document] = DOCUMENTS, results: Any = RESULTS
) -> Pool:
    return make_pool(queries, [Run.from_dict(results, name="bm25")], Corpus(tuple(documents)), depth=10)


def empty_gold() -> GoldSet:
    return GoldSet(QUERIES, Qrels.from_dict({"q1": {"docs/a.md#1": 2, "docs/b.md#1": 0}}))


@dataclass
class Serving:
    """A server over labels in a folder; leaving the block ends it, entering it again starts it anew."""

    folder: Path
    annotator: str = "anna"
    pool: Pool = field(default_factory=pool_of)
    shelf: Shelf | None = None
    guideline: str | None = None
    adjudicates: bool = False
    show_rank: bool = False
    with_desk: bool = True
    limits: Limits | None = None
    head_seconds: float = 10.0
    max_waiting: int = 200
    port: int = 0
    host: str = "127.0.0.1"
    complaints: list[str] = field(default_factory=list)

    def __enter__(self) -> Serving:
        self.truth = self.folder / "truth.json"
        self.labels = self.folder / "labels"
        self.session: Session | None = None
        desk = None
        if self.with_desk:
            self.session = Session.open(self.pool, self.truth, self.annotator, show_rank=self.show_rank)
            desk = Desk(
                self.session, self.truth, self.labels, guideline=self.guideline, adjudicates=self.adjudicates
            )  # fmt: skip
        opened = bind(self.host, self.port)
        self.access = access_to(opened)
        self.port = opened.getsockname()[1]
        shelf = self.shelf or Shelf(None)
        app = make_app(Site(desk, shelf), self.access, complain=self.complaints.append, limits=self.limits)
        self._server = make_server(app, head_seconds=self.head_seconds, max_waiting=self.max_waiting)
        opened.listen(2048)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [opened]}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        if self.session is not None:
            self.session.close()

    @property
    def address(self) -> str:
        return self.access.address

    @property
    def opening(self) -> str:
        """The address with the token."""
        return f"{self.address}/?token={self.access.token}"

    @property
    def host_header(self) -> str:
        return self.address.removeprefix("http://")

    @property
    def cookie(self) -> str:
        return f"{self.access.cookie}={self.access.token}"

    def let_in(self, context: Any) -> None:
        """Give a browser the cookie, as the address with the token does."""
        context.add_cookies([{"name": self.access.cookie, "value": self.access.token, "url": self.address}])

    def head(self, method: str = "GET", path: str = "/", **headers: str | None) -> bytes:
        """The head of a request that would pass, with some headers changed, or left out where they are None."""
        usual: dict[str, str | None] = {
            "Host": self.host_header,
            "Cookie": self.cookie,
            "Sec-Fetch-Site": "same-origin",
        }
        if method == "POST":
            usual |= {
                "Origin": self.address, "Content-Type": "application/json",
                "X-Rankproof-Token": self.access.form_token,
            }  # fmt: skip
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        lower = {name.lower() for name in given}
        merged = {name: value for name, value in usual.items() if name.lower() not in lower} | given
        lines = [
            f"{method} {path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in merged.items() if value is not None),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def ask(self, method: str = "GET", path: str = "/", body: bytes = b"", **headers: str | None) -> Reply:
        """Send one request and read its answer."""
        if method == "POST" and "content_length" not in {name.lower() for name in headers}:
            headers["Content_Length"] = str(len(body))
        return self.send(self.head(method, path, **headers) + body)

    def send(self, data: bytes, timeout: float = 10.0) -> Reply:
        """Send bytes as they are and read one answer."""
        with socket.create_connection((self.host, self.port), timeout) as connection:
            connection.sendall(data)
            return read_reply(connection)

    def act(self, **told: Any) -> Reply:
        """Do something on the desk, as the page's script does."""
        assert self.session is not None
        from rankproof.web.desk import desk_id

        item = {"desk": desk_id(self.labels, self.annotator), **told}
        return self.ask("POST", "/label/act", json.dumps(item).encode())

    def events(self) -> list[dict[str, Any]]:
        """Every line of the journal that says something of a query."""
        lines = (self.labels / f"{self.annotator}.jsonl").read_bytes().splitlines()
        return [event for event in map(json.loads, lines) if event["kind"] not in ("begin", "adopt")]


@dataclass(frozen=True)
class Reply:
    """An answer."""

    status: int
    """0 if the connection was closed without one."""
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


def read_reply(connection: socket.socket) -> Reply:
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return Reply(0, {}, data)
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in rest}
        size = int(headers.get("content-length", 1 << 40))
        while len(body) < size:
            part = connection.recv(65536)
            if not part:
                break
            body += part
    except ConnectionResetError:
        return Reply(0, {}, b"")
    return Reply(int(first.split()[1]), headers, body)
