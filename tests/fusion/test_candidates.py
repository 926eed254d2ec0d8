"""Runs are laid over each other by query and document, whatever the order of their lines."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from rankproof import NothingToEvaluate, Run
from rankproof.data.ids import Ids, Words
from rankproof.fusion import order
from rankproof.fusion.candidates import Candidates, lay_over

NAN = float("nan")
FIRST = {"q2": {"x": 1.0}, "q1": {"a": 4.0, "b": 3.0, "c": 1.0}}
SECOND = {"q1": {"d": 5.0, "b": 10.0}}


def laid(*runs: dict[str, dict[str, float]]) -> Candidates:
    return lay_over([Run.of(run) for run in runs])


def test_one_row_for_each_document_of_a_query_with_its_score_and_rank_in_every_run() -> None:
    found = laid(FIRST, SECOND)
    assert found.query_ids == ["q1", "q2"]
    assert found.starts.tolist() == [0, 4, 5]
    assert found.docs.strings() == ["a", "b", "c", "d", "x"]
    assert found.ranks.tolist() == [[1, 0], [2, 1], [3, 0], [0, 2], [1, 0]]
    np.testing.assert_equal(found.scores, [[4, NAN], [3, 10], [1, NAN], [NAN, 5], [1, NAN]])
    assert found.n_returned.tolist() == [[3, 2], [1, 0]]
    assert found.query.tolist() == [0, 0, 0, 0, 1]


def test_equal_scores_rank_by_id_from_high_to_low_in_the_order_of_bytes() -> None:
    found = laid({"q": {"a": 1.0, "é": 1.0, "B": 1.0, "b": 2.0}}, {"q": {"a": 1.0}})
    assert found.docs.strings() == ["b", "é", "a", "B"]
    assert found.ranks[:, 0].tolist() == [1, 2, 3, 4]


def test_ids_that_differ_late_or_in_length_only_are_put_in_order() -> None:
    names = ["x" * 40, "x" * 40 + "a", "x" * 40 + "b", "x" * 7, "x" * 8, "y", "x\0", "x\0\0", "x", ""]
    found = laid({"q": dict.fromkeys(names, 1.0)}, {"q": {"y": 1.0}})
    assert found.docs.strings() == sorted(names, reverse=True)


def test_the_overlap_is_the_share_of_documents_in_more_than_one_run_in_the_mean_over_queries() -> None:
    # One of four documents of q1, and none of q2.
    assert laid(FIRST, SECOND).overlap() == 0.125


def test_a_query_without_results_is_no_query() -> None:
    assert laid({"q": {"a": 1.0}, "empty": {}}, {"empty": {}}).query_ids == ["q"]


def test_runs_without_any_result_are_refused() -> None:
    with pytest.raises(NothingToEvaluate, match="nothing to fuse"):
        laid({}, {"q": {}})


def test_the_candidates_of_some_queries_are_those_of_the_runs_cut_to_them() -> None:
    some, alone = laid(FIRST, SECOND).of_queries(["q2", "unknown"]), laid({"q2": FIRST["q2"]}, {})
    assert some.query_ids == alone.query_ids == ["q2"]
    assert some.docs.strings() == ["x"]
    assert some.ranks.tolist() == alone.ranks.tolist() == [[1, 0]]
    assert some.n_returned.tolist() == [[1, 0]]
    assert some.starts.tolist() == [0, 1]


@pytest.mark.parametrize("rows_at_once", [1, 7, 1 << 16])
@pytest.mark.parametrize("collide", [False, True])
def test_a_look_up_document_by_document_finds_the_same(
    rows_at_once: int, collide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(5)
    runs = [
        {
            f"q{q}": {f"d{rng.randrange(30)}": float(rng.randrange(9)) for _ in range(rng.randint(1, 12))}
            for q in rng.sample(range(12), 8)
        }
        for _ in range(3)
    ]
    monkeypatch.setattr(order, "_ROWS_AT_ONCE", rows_at_once)
    if collide:
        monkeypatch.setattr(Ids, "hashes", lambda self: same_hash_for_many(self))
    found = laid(*runs)
    docs = found.docs.strings()
    assert len(set(zip(found.query.tolist(), docs, strict=True))) == len(docs)
    assert len(docs) == len({(query, doc) for run in runs for query, row in run.items() for doc in row})
    for row, (query, doc) in enumerate(zip(found.query.tolist(), docs, strict=True)):
        for i, run in enumerate(runs):
            results = run.get(found.query_ids[query], {})
            ranked = sorted(results, key=lambda doc: (results[doc], doc), reverse=True)
            assert found.ranks[row, i] == (ranked.index(doc) + 1 if doc in results else 0)
            np.testing.assert_equal(found.scores[row, i], results.get(doc, NAN))


def same_hash_for_many(ids: Ids) -> Words:
    return ids.lengths.view(np.uint64) // np.uint64(2)
