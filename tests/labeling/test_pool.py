"""The pool: what is shown, and in what order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.gold import Query
from rankproof.data.run import Run
from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.labeling.pool import Pool, Sighting, make_pool
from tests.labeling.pools import corpus

QUERIES = (Query("q1", "first", "HR"), Query("q2", "second"))
BM25 = Run.from_dict({"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 1.0}}, name="bm25")
DENSE = Run.from_dict({"q1": {"c": 0.9, "d": 0.8, "a": 0.1}}, name="dense")


def ids(pool: Pool, query: int = 0) -> list[str]:
    return [candidate.doc_id for candidate in pool.tasks[query].candidates]


def test_the_best_of_every_run_are_pooled_each_once() -> None:
    pool = make_pool(QUERIES, [BM25, DENSE], corpus(), depth=2)
    assert sorted(ids(pool)) == ["a", "b", "c", "d"]
    assert ids(pool, 1) == ["d"]
    assert len(pool) == 5


def test_queries_keep_their_order_and_groups() -> None:
    pool = make_pool(QUERIES, [BM25], corpus())
    assert [(task.query.id, task.query.group) for task in pool.tasks] == [("q1", "HR"), ("q2", None)]


def test_systems_ranks_and_scores_are_kept() -> None:
    pool = make_pool(QUERIES, [BM25, DENSE], corpus(), depth=3)
    (found,) = [candidate for candidate in pool.tasks[0].candidates if candidate.doc_id == "c"]
    assert found.sightings == (Sighting("bm25", 3, 1.0), Sighting("dense", 1, 0.9))


def test_equal_scores_are_ranked_by_id_descending_as_trec_does() -> None:
    pool = make_pool(QUERIES[:1], [Run.from_dict({"q1": {"a": 1.0, "c": 1.0, "b": 1.0}})], corpus(), depth=2)
    assert sorted(ids(pool)) == ["b", "c"]
    assert {c.doc_id: c.sightings[0] for c in pool.tasks[0].candidates}["c"] == Sighting("run 1", 1, 1.0)


def test_the_order_is_shuffled_by_the_seed_and_the_same_again() -> None:
    run = Run.from_dict({q: {one: float(-i) for i, one in enumerate("abcdef")} for q in ("q1", "q2")})
    orders = {tuple(ids(make_pool(QUERIES, [run], corpus(), depth=6, seed=seed))) for seed in range(20)}
    assert len(orders) > 15
    first, second = (make_pool(QUERIES, [run], corpus(), depth=6, seed=7) for _ in range(2))
    assert ids(first) == ids(second)
    assert ids(first, 0) != ids(first, 1)
    # The same on every machine: printf "0\\0q1\\0a" | sha256sum, and so on, sorted.
    assert "".join(ids(make_pool(QUERIES, [run], corpus(), depth=6))) == "decabf"


@given(st.integers(), st.integers(1, 5), st.integers(1, 5))
def test_a_pool_that_grows_keeps_the_order_of_those_in_it(seed: int, depth: int, more: int) -> None:
    run = Run.from_dict({"q1": {one: float(-i) for i, one in enumerate("abcdef")}})
    small = ids(make_pool(QUERIES[:1], [run], corpus(), depth=depth, seed=seed))
    large = ids(make_pool(QUERIES[:1], [run, DENSE], corpus(), depth=depth + more, seed=seed))
    assert [one for one in large if one in small] == small


def test_judged_documents_come_last_or_not_at_all() -> None:
    judged = {"q1": {"a": 1.0, "c": 0.0}}
    last = make_pool(QUERIES, [BM25], corpus(), judged=judged)
    assert ids(last)[0] == "b"
    assert sorted(ids(last)[1:]) == ["a", "c"]
    assert ids(make_pool(QUERIES, [BM25], corpus(), judged=judged, then="leave out")) == ["b"]


def test_a_document_that_the_corpus_lacks_is_told_and_not_shown() -> None:
    pool = make_pool(QUERIES, [BM25], corpus("ab"))
    assert pool.unknown == ("c", "d")
    assert sorted(ids(pool)) == ["a", "b"]
    assert ids(pool, 1) == []


def test_a_header_is_the_beginning_of_the_title_and_the_content_has_a_fingerprint() -> None:
    (found,) = [one for one in make_pool(QUERIES, [BM25], corpus()).tasks[0].candidates if one.doc_id == "a"]
    assert found.header == "Title a"
    # printf 'The text of a.' | sha256sum
    assert found.fingerprint == "sha256:b9049dba7128d81a8063762fe7a871ae7ad15c2d0c09f8da1b35ee1484e30dfa"


def test_a_run_of_other_queries_is_refused_with_samples() -> None:
    with pytest.raises(BadInput, match="no query of the run is asked here: it has 'Q7', the queries have 'q1'"):
        make_pool(QUERIES, [Run.from_dict({"Q7": {"a": 1.0}})], corpus())


def test_a_corpus_without_any_of_the_documents_is_refused() -> None:
    with pytest.raises(BadInput, match="no document of the runs is in the corpus; the first is 'a'"):
        make_pool(QUERIES, [BM25], corpus("xyz"))


def test_nothing_to_label_says_why() -> None:
    with pytest.raises(NothingToEvaluate, match="every document in the pool is judged already"):
        make_pool(QUERIES[1:], [BM25], corpus(), judged={"q2": ["d"]}, then="leave out")
    with pytest.raises(NothingToEvaluate, match="no query"):
        make_pool((), [BM25], corpus())
    with pytest.raises(UsageError, match="depth 0"):
        make_pool(QUERIES, [BM25], corpus(), depth=0)
