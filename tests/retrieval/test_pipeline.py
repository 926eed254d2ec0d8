"""Pipelines: what flows from stage to stage, what is kept, and what a failing stage does to a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.errors import UnknownName, UsageError
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.pipeline import Fuse, Named, Pipeline, Runner, roll_up
from rankproof.retrieval.stage import (
    Library,
    Place,
    Reranker,
    RerankerStage,
    Retriever,
    RetrieverStage,
    TextStage,
    idle,
)
from rankproof.testing import FakeReranker, FakeRetriever

QUERIES = (Query("q1", "apple"), Query("q2", "pear"), Query("q3", "plum"))
TABLE = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"c": 1.0}}


class Fake(RetrieverStage):
    """Answers from a table that the test holds."""

    reads_corpus: ClassVar[bool] = False
    shelf: ClassVar[dict[str, FakeRetriever]] = {}
    name: str
    patience: float = idle(1.0)

    def open(self, place: Place) -> Retriever:
        return self.shelf[self.name]


class Live(Fake):
    """The same, of a server that may change its mind."""

    volatile: ClassVar[bool] = True


class Order(RerankerStage):
    """Orders by a table that the test holds."""

    shelf: ClassVar[dict[str, FakeReranker]] = {}
    name: str

    def open(self, place: Place) -> Reranker:
        return self.shelf[self.name]


class Shout(TextStage):
    """Upper case."""

    def open(self, place: Place) -> Callable[[str], str]:
        return str.upper


class Echo(RetrieverStage):
    """Finds the pieces whose text is that of the query."""

    def open(self, place: Place) -> Retriever:
        return _Echo(place.corpus)


class _Echo:
    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def search(self, queries: Sequence[Query], k: int) -> Iterable[Answer]:
        for query in queries:
            yield Answer(tuple(Hit(d.id, 1.0) for d in self.corpus if d.text == query.text)[:k])


@pytest.fixture(autouse=True)
def shelf() -> None:
    Fake.shelf.clear()
    Order.shelf.clear()
    Fake.shelf["one"] = FakeRetriever(TABLE)


def retrieve(name: str = "one", stage: type[Fake] = Fake, **options: Any) -> Named:
    return Named("fake", stage(name=name, **options))


def runner(*pipelines: Pipeline, place: Place | None = None, cache: Path | None = None) -> Runner:
    return Runner({one.name: one for one in pipelines}, place or Place(Path()), cache=cache)


def ids(answers: Iterable[Answer]) -> list[list[str]]:
    return [[hit.doc_id for hit in answer.hits] for answer in answers]


def test_a_retriever_answers_each_query_down_to_the_depth() -> None:
    found = runner(Pipeline("p", retrieve(), depth=2)).run("p", QUERIES)
    assert ids(found.answers) == [["a", "b"], ["b", "a"], ["c"]]
    assert found.answers[0].trail == (("fake", ("a", "b")),)


def test_a_run_keeps_the_order_of_equal_scores_under_every_rule() -> None:
    Fake.shelf["one"] = FakeRetriever({"q1": {"z": 1.0, "m": 1.0, "a": 1.0}})
    run = runner(Pipeline("p", retrieve())).run("p", QUERIES[:1]).to_run().to_dict()["q1"]
    assert sorted(run, key=lambda doc: -run[doc]) == ["a", "m", "z"]
    assert len(set(run.values())) == 3
    assert max(run.values()) == 1.0


def test_a_reranker_reorders_and_the_top_is_cut_afterwards() -> None:
    Order.shelf["best"] = FakeReranker({"c": 9.0, "b": 8.0, "a": 1.0})
    pipeline = Pipeline("p", retrieve(), rerank=(Named("order", Order(name="best")),), depth=3, top=2)
    found = runner(pipeline).run("p", QUERIES)
    assert ids(found.answers) == [["c", "b"], ["b", "a"], ["c"]]
    assert [step.stage for step in found.answers[0].trail] == ["fake", "order"]
    assert found.answers[0].trail[1].doc_ids == ("c", "b", "a")


def test_a_reranker_that_fails_degrades_the_query_with_the_reason() -> None:
    Order.shelf["best"] = FakeReranker({}, failing={"q2": "HTTP 503"})
    pipeline = Pipeline("p", retrieve(), rerank=(Named("order", Order(name="best")),))
    found = runner(pipeline).run("p", QUERIES)
    assert found.of_state("degraded") == {"q2": "order: HTTP 503"}
    assert found.of_state("not measured") == {}
    assert set(found.to_run().query_ids) == {"q1", "q2", "q3"}


def test_a_query_that_fails_is_not_measured_and_not_in_the_run() -> None:
    Fake.shelf["one"] = FakeRetriever(TABLE, failing={"q1": "timed out"})
    found = runner(Pipeline("p", retrieve())).run("p", QUERIES)
    assert found.of_state("not measured") == {"q1": "timed out"}
    assert set(found.to_run().query_ids) == {"q2", "q3"}


@pytest.mark.parametrize(
    ("hits", "reason"),
    [
        ((Hit("a", 1.0), Hit("a", 0.5)), "document 'a' was returned twice"),
        ((Hit("a", float("nan")),), "score nan, which is no number"),
        ((Hit("", 1.0),), "no name of a document"),
    ],
)
def test_hits_that_make_no_ranking_are_not_measured(hits: tuple[Hit, ...], reason: str) -> None:
    class Broken:
        def search(self, queries: Sequence[Query], k: int) -> Iterable[Answer]:
            return [Answer(hits) for _ in queries]

    Fake.shelf["one"] = Broken()  # type: ignore[assignment]
    found = runner(Pipeline("p", retrieve())).run("p", QUERIES[:1])
    assert reason in found.of_state("not measured")["q1"]


def test_pipelines_are_fused_and_a_failing_side_fails_the_query() -> None:
    Fake.shelf["two"] = FakeRetriever({"q1": {"c": 2.0, "b": 1.0}, "q3": {"c": 1.0}}, failing={"q2": "refused"})
    found = runner(
        Pipeline("x", retrieve("one")), Pipeline("y", retrieve("two")),
        Pipeline("both", fuse=Fuse(("x", "y"), "rrf", {"k": 60})),
    ).run("both", QUERIES)  # fmt: skip
    # q1: c is third and first (1/63 + 1/61), b second twice (2/62), a first once (1/61).
    assert ids(found.answers) == [["c", "b", "a"], [], ["c"]]
    assert found.answers[0].hits[0].score == pytest.approx(1 / 63 + 1 / 61)
    assert found.of_state("not measured") == {"q2": "y: refused"}


def test_a_pipeline_takes_hits_from_another_which_runs_once() -> None:
    Order.shelf["best"] = FakeReranker({"c": 1.0})
    again = Pipeline("again", base="first", rerank=(Named("order", Order(name="best")),))
    made = runner(Pipeline("first", retrieve()), again, Pipeline("both", fuse=Fuse(("first", "again"))))
    made.run("both", QUERIES)
    assert Fake.shelf["one"].asked == ["q1", "q2", "q3"]


def test_circles_and_unknown_pipelines_are_refused() -> None:
    with pytest.raises(UsageError, match="circle: a → b → a"):
        runner(Pipeline("a", base="b"), Pipeline("b", base="a"))
    with pytest.raises(UnknownName, match="Did you mean 'keyword'"):
        runner(Pipeline("keyword", retrieve()), Pipeline("x", base="keywrd"))
    with pytest.raises(UsageError, match="finds nothing"):
        runner(Pipeline("empty")).run("empty", QUERIES)


def test_text_is_rewritten_in_queries_and_documents_alike() -> None:
    corpus = Corpus((Document("d1", "Apple"), Document("d2", "pear")))
    place = Place(Path(), Library(corpus, corpus))
    pipeline = Pipeline("p", Named("echo", Echo()), prepare=(Named("shout", Shout()),))
    assert ids(runner(pipeline, place=place).run("p", QUERIES).answers) == [["d1"], ["d2"], []]
    plain = Pipeline("p", Named("echo", Echo()))
    assert ids(runner(plain, place=place).run("p", QUERIES).answers) == [[], ["d2"], []]


def test_a_stage_that_reads_a_corpus_says_so_where_there_is_none() -> None:
    with pytest.raises(UsageError, match="name one by `corpus:`"):
        runner(Pipeline("p", Named("echo", Echo()))).run("p", QUERIES)


@pytest.mark.parametrize(("how", "expected"), [("best", 3.0), ("sum", 4.0), ("mean", 2.0)])
def test_chunks_roll_up_to_their_documents(how: Any, expected: float) -> None:
    empty = Corpus(())
    library = Library(empty, empty, {"d1#a": "d1", "d1#b": "d1", "d2#a": "d2"}, how)
    hits = [Hit("d1#a", 3.0), Hit("d2#a", 2.5), Hit("d1#b", 1.0)]
    found = dict(roll_up(hits, library))
    assert found == {"d1": expected, "d2": 2.5}


# What is kept


def asked_twice(cache: Path, first: Pipeline, second: Pipeline, place: Place | None = None) -> list[str]:
    """The queries that the second pipeline asks after the first has run."""
    runner(first, place=place, cache=cache).run("p", QUERIES)
    Fake.shelf["one"].asked.clear()
    found = runner(second, place=place, cache=cache).run("p", QUERIES)
    assert found.n_kept == len(QUERIES) - len(Fake.shelf["one"].asked)
    return Fake.shelf["one"].asked


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    assert asked_twice(tmp_path, Pipeline("p", retrieve()), Pipeline("p", retrieve())) == []


def test_kept_answers_are_the_answers(tmp_path: Path) -> None:
    runs = [runner(Pipeline("p", retrieve()), cache=tmp_path).run("p", QUERIES) for _ in range(2)]
    assert runs[0].answers == runs[1].answers
    assert (runs[0].n_kept, runs[1].n_kept) == (0, 3)


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        (Pipeline("p", retrieve(), depth=2), True),
        (Pipeline("p", retrieve(), top=1), True),
        (Pipeline("p", retrieve(patience=9.0)), False),
        (Pipeline("other name", retrieve()), False),
    ],
)
def test_what_changes_results_is_asked_again_and_what_does_not_is_not(
    tmp_path: Path, changed: Pipeline, again: bool
) -> None:  # fmt: skip
    runner(Pipeline("p", retrieve()), cache=tmp_path).run("p", QUERIES)
    Fake.shelf["one"].asked.clear()
    runner(changed, cache=tmp_path).run(changed.name, QUERIES)
    assert bool(Fake.shelf["one"].asked) is again


def test_a_changed_corpus_is_searched_again(tmp_path: Path) -> None:
    def answers(text: str) -> list[list[str]]:
        corpus = Corpus((Document("d1", text),))
        place = Place(Path(), Library(corpus, corpus))
        return ids(runner(Pipeline("p", Named("echo", Echo())), place=place, cache=tmp_path).run("p", QUERIES).answers)

    assert answers("apple") == [["d1"], [], []]
    assert answers("pear") == [[], ["d1"], []]


def test_a_changed_query_is_asked_again(tmp_path: Path) -> None:
    pipeline = Pipeline("p", retrieve())
    runner(pipeline, cache=tmp_path).run("p", QUERIES)
    Fake.shelf["one"].asked.clear()
    runner(pipeline, cache=tmp_path).run("p", [Query("q1", "apples"), *QUERIES[1:]])
    assert Fake.shelf["one"].asked == ["q1"]


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    Fake.shelf["one"] = FakeRetriever(TABLE, failing={"q2": "timed out"})
    runner(Pipeline("p", retrieve()), cache=tmp_path).run("p", QUERIES)
    Fake.shelf["one"] = FakeRetriever(TABLE)
    found = runner(Pipeline("p", retrieve()), cache=tmp_path).run("p", QUERIES)
    assert Fake.shelf["one"].asked == ["q2"]
    assert ids(found.answers)[1] == ["b", "a"]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    class Interrupted(FakeRetriever):
        def search(self, queries: Sequence[Query], k: int) -> Iterable[Answer]:
            for i, answer in enumerate(super().search(queries, k)):
                if i == 2:
                    raise KeyboardInterrupt
                yield answer

    for stage in (Fake, Live):
        Fake.shelf["one"] = Interrupted(TABLE)
        pipeline = Pipeline("p", retrieve(stage=stage))
        with pytest.raises(KeyboardInterrupt):
            runner(pipeline, cache=tmp_path / stage.__name__).run("p", QUERIES)
        Fake.shelf["one"] = FakeRetriever(TABLE)
        runner(pipeline, cache=tmp_path / stage.__name__).run("p", QUERIES)
        assert Fake.shelf["one"].asked == ["q3"]


def test_what_may_change_by_itself_is_asked_again_once_a_run_was_complete(tmp_path: Path) -> None:
    pipeline = Pipeline("p", retrieve(stage=Live))
    assert asked_twice(tmp_path, pipeline, pipeline) == ["q1", "q2", "q3"]
    again = Pipeline("again", base="p")
    made = runner(pipeline, again, cache=tmp_path)
    assert made.is_volatile("again")


def test_progress_is_told_for_every_query(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    place = Place(Path(), progress=lambda what, done, total: told.append((what, done, total)))
    runner(Pipeline("p", retrieve()), place=place).run("p", QUERIES)
    assert told == [("p", 1, 3), ("p", 2, 3), ("p", 3, 3)]


def test_the_time_of_a_reranker_is_added_where_that_of_the_answer_is_known() -> None:
    assert Answer(seconds=1.0).lasting(0.5).seconds == 1.5
    assert Answer().lasting(0.5).seconds is None


def test_an_answer_lasts_as_long_as_its_rerankers_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 12.5])
    monkeypatch.setattr("rankproof.retrieval.pipeline.time.perf_counter", lambda: next(clock))

    class Timed(FakeRetriever):
        def search(self, queries: Sequence[Query], k: int) -> Iterable[Answer]:
            return [Answer((Hit("a", 1.0),), seconds=0.5) for _ in queries]

    monkeypatch.setitem(Fake.shelf, "timed", Timed({}))
    monkeypatch.setitem(Order.shelf, "one", FakeReranker({"a": 1.0}))
    pipeline = Pipeline("p", Named("fake", Fake(name="timed")), rerank=(Named("order", Order(name="one")),))
    (answer,) = Runner({"p": pipeline}, Place(tmp_path)).run("p", QUERIES[:1]).answers
    assert answer.seconds == 3.0
