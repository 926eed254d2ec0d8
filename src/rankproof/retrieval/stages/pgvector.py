"""PostgreSQL with pgvector: a table of our own, or any SELECT over yours."""

from __future__ import annotations

import math
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from rankproof.data.gold import Query
from rankproof.errors import MissingExtra, NotMeasured, UnknownName, UsageError
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.digest import digest_of, digest_of_texts
from rankproof.retrieval.embedding.model import EmbeddingModel, ModelOptions, Pooling, open_model
from rankproof.retrieval.embedding.store import text_vectors
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage, idle, secret
from rankproof.retrieval.stages.dense import full_text
from rankproof.retrieval.stages.http import Order, ranking
from rankproof.retrieval.web import excerpt, pause

if TYPE_CHECKING:
    import psycopg

_PARAMETER = re.compile(r"%\((\w*)\)")
_PARAMETERS = ("embedding", "query", "k")
_MOST_EF_SEARCH = 1000
_MOST_HNSW_DIMENSIONS = 2000
_GRACE = 2.0
"""Seconds that the server is given to end a statement itself before the connection is cut."""
_MOST_LOST = 3
"""If for so many queries in a row no connection could be had, no further one is tried."""
_COPIED = 1000
_LONGEST_MESSAGE = 300
_REBUILT_SHARE = 0.1
"""If more of the rows than this change, a new graph is quicker than mending the old one."""
_EMPTY = "-empty"
"""Marks the digest of a document that has no vector, which is no fault."""
_LOCK = 0x72616E6B


class Pgvector(RetrieverStage):
    """Searches PostgreSQL by vectors.

    With `table`, the documents are embedded and kept there, and only what changed is written again. With `sql`, your
    own SELECT is asked, which gives ids, best first, and perhaps scores. Searching is read-only in both cases.
    """

    volatile: ClassVar[bool] = True

    dsn_env: str | None = idle(None, description="The environment variable that says how to connect.")
    dsn_file: str | None = idle(None, description="The file that says how to connect.")
    table: str = Field(
        default="rankproof",
        pattern=r"^[A-Za-z_]\w{0,50}(\.[A-Za-z_]\w{0,50})?$",
        description="The table that holds the documents; it is made if it is not there. One model, one table.",
    )
    model: str = Field(
        default="wordllama", description="wordllama, minilm, or a folder with model.onnx and tokenizer.json."
    )
    query_prefix: str = Field(default="", description="What the model wants before a query, such as `query: `.")
    document_prefix: str = Field(default="", description="What the model wants before a document, such as `passage: `.")
    max_length: int | None = Field(default=None, ge=1, description="How many tokens of a text are read.")
    pooling: Pooling | None = Field(default=None, description="How tokens become a text.")
    search: Literal["hnsw", "exact"] = Field(
        default="hnsw", description="Walk a graph, or compare with every document."
    )
    m: int = Field(default=16, ge=2, le=100, description="Neighbours of a document in the graph.")
    ef_construction: int = Field(default=64, ge=4, le=1000, description="Candidates kept while the graph is built.")
    ef_search: int = Field(
        default=100,
        ge=1,
        le=_MOST_EF_SEARCH,
        description="Candidates kept while searching: more are slower and miss less.",
    )
    sql: str | None = Field(
        default=None, description="A SELECT of id and, if wanted, score, with %(embedding)s or %(query)s, and %(k)s."
    )
    order: Order = Field(
        default="returned", description="What says which row of `sql` is better: their order, or the scores."
    )
    deadline: float = idle(30.0, gt=0, le=3600, description="Seconds for one query.")
    retries: int = idle(4, ge=0, le=10, description="How often a lost connection is tried again for a query.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.dsn_env is None) == (self.dsn_file is None):
            raise ValueError("give `dsn_env` or `dsn_file`, which says how to connect; it holds a password, so it does "
                             "not stand in the project file")  # fmt: skip
        if self.ef_construction < 2 * self.m:
            raise ValueError(f"`ef_construction` must be at least twice `m`, and {self.ef_construction} is not")
        if self.sql is None:
            return self
        if "table" in self.model_fields_set:
            raise ValueError("give `table` or `sql`, not both: a SELECT names its own table")
        used = set(_PARAMETER.findall(self.sql))
        for name in sorted(used - set(_PARAMETERS)):
            raise ValueError(str(UnknownName("parameter", f"%({name})s", [f"%({one})s" for one in _PARAMETERS])))
        if not used & {"embedding", "query"}:
            raise ValueError(
                "`sql` holds neither %(embedding)s nor %(query)s, so every query would get the same answer"
            )
        return self

    @property
    def embeds(self) -> bool:
        """Whether queries are turned into vectors."""
        return self.sql is None or "embedding" in _PARAMETER.findall(self.sql)

    def behaviour(self, place: Place) -> dict[str, Any]:
        """The model by its content; for a SELECT of one's own, also which database is asked."""
        model = {
            "model": open_embedder(self, place).digest if self.embeds else None,
            "prefixes": [self.query_prefix, self.document_prefix],
        }
        if self.sql is not None:
            server = self._dsn(place).server
            return {**model, "sql": self.sql, "order": self.order, "server": server, "ef_search": self.ef_search}
        graph = [self.m, self.ef_construction, self.ef_search] if self.search == "hnsw" else None
        return {**model, "hnsw": graph}

    def open(self, place: Place) -> Retriever:
        """Bring the table up to date, if it is ours."""
        dsn = self._dsn(place)
        model = open_embedder(self, place) if self.embeds else None
        if self.sql is not None or model is None:
            return _PgRetriever(self, model, dsn, statement=self.sql or "", marker=None)
        if self.search == "hnsw" and model.dimensions > _MOST_HNSW_DIMENSIONS:
            raise UsageError(
                f"pgvector builds graphs of vectors of up to {_MOST_HNSW_DIMENSIONS} numbers, and the model "
                f"{self.model!r} makes {model.dimensions}. Write `search: exact`."
            )
        marker = _Filling(self, place, model).fill(dsn)
        tie = ", id" if self.search == "exact" else ""
        statement = (
            "SELECT id, 1 - (embedding <=> %(embedding)s) FROM {table} WHERE embedding IS NOT NULL "
            f"ORDER BY embedding <=> %(embedding)s{tie} LIMIT %(k)s"
        )
        return _PgRetriever(self, model, dsn, statement=statement, marker=marker)

    def _dsn(self, place: Place) -> _Dsn:
        _psycopg()
        value = secret(self.dsn_env, self.dsn_file, place, what="pgvector")
        return _Dsn.read(value or "")


def open_embedder(stage: Pgvector, place: Place) -> EmbeddingModel:
    """The model of a stage."""
    return open_model(stage.model, place, ModelOptions(stage.max_length, stage.pooling))


def _psycopg() -> Any:
    try:
        import pgvector.psycopg  # noqa: F401
        import psycopg
    except ModuleNotFoundError as exc:
        raise MissingExtra("Searching PostgreSQL", "postgres") from exc
    return psycopg


@dataclass(frozen=True, repr=False)
class _Dsn:
    """How to connect. It holds a password, so it is never shown."""

    parameters: Mapping[str, Any]

    @classmethod
    def read(cls, text: str) -> _Dsn:
        psycopg = _psycopg()
        from psycopg.conninfo import conninfo_to_dict

        try:
            return cls(conninfo_to_dict(text))
        except psycopg.ProgrammingError:
            # The message of libpq repeats the text, password and all.
            raise UsageError(
                "What says how to connect to PostgreSQL cannot be read; write it like "
                "postgresql://user:password@host:5432/database"
            ) from None

    @property
    def server(self) -> list[str | None]:
        """Which database it leads to."""
        named = (self.parameters.get(key) for key in ("host", "hostaddr", "port", "dbname"))
        return [None if value is None else str(value) for value in named]

    def connect(self, deadline: float) -> psycopg.Connection[Any]:
        """A new connection; raises NotMeasured without the password if there is none to be had."""
        psycopg = _psycopg()
        # libpq takes whole seconds, and no fewer than two.
        parameters = {**self.parameters, "connect_timeout": max(2, math.ceil(deadline))}
        try:
            return psycopg.connect(**parameters)  # type: ignore[no-any-return]
        except psycopg.Error as exc:
            raise NotMeasured(f"PostgreSQL cannot be reached: {self.told(exc)}") from None

    def told(self, exc: Exception) -> str:
        """What PostgreSQL says, without the password."""
        text = getattr(getattr(exc, "diag", None), "message_primary", None) or str(exc)
        password = self.parameters.get("password")
        return excerpt(text.replace(str(password), "…") if password else text, longest=_LONGEST_MESSAGE)


class _PgRetriever:
    def __init__(
        self, stage: Pgvector, model: EmbeddingModel | None, dsn: _Dsn, *, statement: str, marker: str | None
    ) -> None:
        self._stage, self._model, self._dsn, self._statement, self._marker = stage, model, dsn, statement, marker

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        """One transaction per query; a connection that is lost is made anew."""
        if self._marker is not None and self._stage.search == "hnsw" and k > _MOST_EF_SEARCH:
            raise UsageError(
                f"pgvector walks a graph for at most {_MOST_EF_SEARCH} documents, and {k} are asked for. "
                "Lower `depth`, or write `search: exact`."
            )
        session = _Session(self._stage, self._dsn, self._statement, self._marker)
        lost = 0
        try:
            for query in queries:
                began = time.perf_counter()
                try:
                    hits = self._hits(session, query, k)
                except _Lost as exc:
                    lost += 1
                    if lost == _MOST_LOST:
                        raise NotMeasured(str(exc)) from exc
                    yield Answer.failed(str(exc))
                except NotMeasured as exc:
                    lost = 0
                    yield Answer.failed(str(exc))
                else:
                    lost = 0
                    yield Answer(hits[:k], seconds=time.perf_counter() - began)
        finally:
            session.close()

    def _hits(self, session: _Session, query: Query, k: int) -> tuple[Hit, ...]:
        values: dict[str, Any] = {"query": query.text, "k": k}
        if self._model is not None:
            values["embedding"] = _query_vector(self._model, self._stage.query_prefix, query)
        rows = session.rows(values)
        width = len(rows[0]) if rows else 1
        if width > 2:
            raise UsageError(f"`sql` gives {width} columns; it must give the id and, if wanted, the score.")
        for rank, row in enumerate(rows, 1):
            if None in row:
                raise NotMeasured(f"row {rank} holds NULL; a document without a vector cannot be ranked")
        scores = [_plain(row[1]) for row in rows] if width == 2 else None
        # Our own rows come by distance; equal ones must still come in the order of their ids.
        return ranking([row[0] for row in rows], scores, self._stage.order if self._marker is None else "score")


def _query_vector(model: EmbeddingModel, prefix: str, query: Query) -> NDArray[np.float32]:
    if not query.text.strip():
        raise NotMeasured("the query has no text")
    vector = np.asarray(model.encode([prefix + query.text])[0], np.float16)
    if not vector.any():
        raise NotMeasured("the query has no word that the model knows")
    return vector.astype(np.float32)


def _plain(score: object) -> object:
    """A score as Python counts: PostgreSQL's `numeric` comes as a Decimal."""
    from decimal import Decimal

    return float(score) if isinstance(score, Decimal) else score


class _Lost(NotMeasured):
    """There is no connection."""


class _Session:
    """One connection at a time, for reading only."""

    def __init__(self, stage: Pgvector, dsn: _Dsn, statement: str, marker: str | None) -> None:
        self._stage, self._dsn, self._statement, self._marker = stage, dsn, statement, marker
        self._connection: psycopg.Connection[Any] | None = None

    def rows(self, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """What the statement gives; raises NotMeasured with the reason if it gives nothing."""
        for attempt in range(self._stage.retries + 1):
            try:
                return self._once(values)
            except _Lost:
                self.close()
                if attempt == self._stage.retries:
                    raise
                time.sleep(pause(attempt, None, longest=2.0))
        raise AssertionError("the last attempt either answers or raises")

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        psycopg = _psycopg()
        if self._connection is None:
            try:
                self._connection = self._opened()
            except NotMeasured as exc:
                raise _Lost(str(exc)) from exc
        connection = self._connection
        try:
            with _cut_off(connection, self._stage.deadline + _GRACE) as was_cut, connection.transaction():
                return self._asked(connection, values)
        except psycopg.errors.QueryCanceled as exc:
            raise NotMeasured(f"PostgreSQL gave up: {self._dsn.told(exc)}") from exc
        except psycopg.Error as exc:
            if was_cut.is_set():
                self.close()
                raise NotMeasured(f"PostgreSQL did not answer within {self._stage.deadline:g} s") from exc
            if connection.closed or isinstance(exc, psycopg.OperationalError):
                raise _Lost(f"the connection to PostgreSQL was lost: {self._dsn.told(exc)}") from exc
            # Class 42: what is asked for is wrong or not allowed, whatever the query.
            if (exc.sqlstate or "").startswith("42") or isinstance(exc, psycopg.ProgrammingError):
                raise UsageError(f"PostgreSQL refuses the SELECT: {self._dsn.told(exc)}") from exc
            raise NotMeasured(f"PostgreSQL refuses: {self._dsn.told(exc)}") from exc

    def _opened(self) -> psycopg.Connection[Any]:
        psycopg = _psycopg()
        from pgvector.psycopg import register_vector

        connection = self._dsn.connect(self._stage.deadline)
        try:
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            if self._stage.embeds:
                register_vector(connection)
            connection.execute("SELECT set_config('statement_timeout', %s, false)", [self._timeout])
            connection.commit()
        except psycopg.Error as exc:
            connection.close()
            if isinstance(exc, psycopg.ProgrammingError):
                raise UsageError(f"The database has no vectors: {self._dsn.told(exc)}") from exc
            raise NotMeasured(f"PostgreSQL cannot be used: {self._dsn.told(exc)}") from exc
        return connection

    @property
    def _timeout(self) -> str:
        return f"{max(1, round(1000 * self._stage.deadline))}ms"

    def _asked(self, connection: psycopg.Connection[Any], values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        from psycopg import sql

        statement: Any = self._statement
        ef_search = min(_MOST_EF_SEARCH, max(self._stage.ef_search, int(values["k"])))
        connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", [str(ef_search)])
        if self._marker is not None:
            table = _identifier(self._stage.table)
            statement = sql.SQL(self._statement).format(table=table)
            if _marker_of(connection, self._stage.table) != self._marker:
                raise NotMeasured(f"the table {self._stage.table} was changed by somebody else since it was filled")
            if self._stage.search == "exact":
                connection.execute("SET LOCAL enable_indexscan = off")
        # A statement that is prepared after some uses may get another plan, and so another answer.
        return connection.execute(statement, values, prepare=False).fetchall()


@contextmanager
def _cut_off(connection: psycopg.Connection[Any], seconds: float) -> Iterator[threading.Event]:
    """Wake up from a server that says nothing any more, not even that it gave up; the event says whether it did."""
    lock, was_cut, over = threading.Lock(), threading.Event(), threading.Event()
    number = connection.fileno()

    def cut() -> None:
        with lock:
            # Once the block is left, the number may belong to somebody else.
            if not over.is_set():
                was_cut.set()
                with suppress(OSError), socket.socket(fileno=os.dup(number)) as same:
                    same.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield was_cut
    finally:
        with lock:
            over.set()
        timer.cancel()


@dataclass(frozen=True)
class _Filling:
    """Makes the table hold the documents of the corpus, and nothing else."""

    stage: Pgvector
    place: Place
    model: EmbeddingModel

    def fill(self, dsn: _Dsn) -> str:
        """Write what changed, in one transaction; returns the mark by which the table is known to be as it is now."""
        psycopg = _psycopg()
        prefix = self.stage.document_prefix
        texts = {document.id: full_text(document) for document in self.place.corpus}
        texts = {doc_id: prefix + text if text.strip() else "" for doc_id, text in texts.items()}
        digests = {doc_id: digest_of_texts([self.model.digest, text]) for doc_id, text in texts.items()}
        marker = f"rankproof {digest_of([self.model.digest, self.model.dimensions, digests])}"
        connection = dsn.connect(self.stage.deadline)
        try:
            with connection.transaction():
                self._write(connection, texts, digests, marker)
        except psycopg.Error as exc:
            raise NotMeasured(f"the table {self.stage.table} cannot be filled: {dsn.told(exc)}") from exc
        finally:
            connection.close()
        return marker

    def _write(
        self,
        connection: psycopg.Connection[Any],
        texts: Mapping[str, str],
        digests: Mapping[str, str],
        marker: str,
    ) -> None:
        from pgvector.psycopg import register_vector
        from psycopg import sql

        table = _identifier(self.stage.table)
        # Two runs that fill the same table do so one after the other. Embedding may take long; a server that ends idle
        # transactions must not end this one.
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCK, self.stage.table])
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(connection)
        self._make(connection)
        rows = connection.execute(sql.SQL("SELECT id, digest, embedding IS NULL FROM {}").format(table)).fetchall()
        # A vector that somebody took away is written again; one that never was is not missed.
        there = {doc_id: "" if bare and not digest.endswith(_EMPTY) else digest for doc_id, digest, bare in rows}
        changed = [doc_id for doc_id, digest in digests.items() if there.get(doc_id, "").removesuffix(_EMPTY) != digest]
        gone = [doc_id for doc_id in there if doc_id not in digests]
        if len(changed) + len(gone) > _REBUILT_SHARE * len(digests):
            connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(_identifier(self._index)))
        if changed or gone:
            outdated = [*gone, *(doc_id for doc_id in changed if doc_id in there)]
            connection.execute(sql.SQL("DELETE FROM {} WHERE id = ANY(%s)").format(table), [outdated])
            self._copy(connection, changed, texts, digests)
        self._build(connection)
        if changed or gone or _marker_of(connection, self.stage.table) != marker:
            connection.execute(sql.SQL("COMMENT ON TABLE {} IS {}").format(table, marker))

    def _make(self, connection: psycopg.Connection[Any]) -> None:
        """The table, empty, unless it is there; one that is not ours is left alone."""
        from psycopg import sql

        table, column = _identifier(self.stage.table), f"vector({self.model.dimensions})"
        marker = _marker_of(connection, self.stage.table)
        if marker == "":
            raise UsageError(
                f"There is a table {self.stage.table} already, and rankproof did not make it. Give `table` another "
                "name, or search it as it is with `sql`."
            )
        kind = connection.execute(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass(%s) "
            "AND attname = 'embedding'",
            [_quoted(self.stage.table)],
        ).fetchone()
        if marker is not None and kind == (column,):
            return
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
        connection.execute(
            sql.SQL(
                'CREATE TABLE {} (id text COLLATE "C" PRIMARY KEY, digest text NOT NULL, embedding {})'
            ).format(table, sql.SQL(column))
        )  # fmt: skip

    def _copy(
        self,
        connection: psycopg.Connection[Any],
        doc_ids: Sequence[str],
        texts: Mapping[str, str],
        digests: Mapping[str, str],
    ) -> None:
        from psycopg import sql

        if not doc_ids:
            return
        vectors = text_vectors(self.model, [texts[doc_id] for doc_id in doc_ids], self.place).astype(np.float32)
        if vectors.shape != (len(doc_ids), self.model.dimensions) or not np.isfinite(vectors).all():
            raise NotMeasured(
                f"the model {self.stage.model!r} gives vectors that are not finite or of the wrong length"
            )
        statement = sql.SQL("COPY {} (id, digest, embedding) FROM STDIN (FORMAT BINARY)")
        with connection.cursor() as cursor, cursor.copy(statement.format(_identifier(self.stage.table))) as copy:
            copy.set_types(["text", "text", "vector"])
            for done, (doc_id, vector) in enumerate(zip(doc_ids, vectors, strict=True)):
                if done % _COPIED == 0:
                    self.place.progress("writing to PostgreSQL", done, len(doc_ids))
                # The cosine with a vector of zeros is no number, so such a document is there but never found.
                filled = bool(vector.any())
                copy.write_row((doc_id, digests[doc_id] + ("" if filled else _EMPTY), vector if filled else None))
        self.place.progress("writing to PostgreSQL", len(doc_ids), len(doc_ids))

    def _build(self, connection: psycopg.Connection[Any]) -> None:
        """The graph, unless it is there as wanted."""
        from psycopg import sql

        if self.stage.search != "hnsw":
            return
        wanted = [f"m={self.stage.m}", f"ef_construction={self.stage.ef_construction}"]
        found = connection.execute(
            "SELECT reloptions FROM pg_class WHERE oid = to_regclass(%s)", [_quoted(self._index)]
        ).fetchone()
        if found == (wanted,):
            return
        self.place.progress("building the graph in PostgreSQL", 0, None)
        connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(_identifier(self._index)))
        connection.execute(
            sql.SQL(
                "CREATE INDEX {} ON {} USING hnsw (embedding vector_cosine_ops) WITH (m = {}, ef_construction = {})"
            ).format(
                sql.Identifier(self._index.rpartition(".")[2]),
                _identifier(self.stage.table),
                self.stage.m,
                self.stage.ef_construction,
            )
        )

    @property
    def _index(self) -> str:
        return f"{self.stage.table}_hnsw"


def _identifier(name: str) -> Any:
    from psycopg import sql

    return sql.Identifier(*name.split("."))


def _quoted(name: str) -> str:
    """A name as `to_regclass` reads it; names here have no quotes in them."""
    return ".".join(f'"{part}"' for part in name.split("."))


def _marker_of(connection: psycopg.Connection[Any], table: str) -> str | None:
    """What rankproof noted on a table; None if there is no table, empty if there is one that is not ours."""
    row = connection.execute(
        "SELECT obj_description(oid, 'pg_class') FROM pg_class WHERE oid = to_regclass(%s)", [_quoted(table)]
    ).fetchone()
    if row is None:
        return None
    note = row[0] or ""
    return note if note.startswith("rankproof ") else ""
