"""What must hold for every method of fusion, whatever the input."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof import fuse
from rankproof.fusion.registry import Method, methods

Results = dict[str, dict[str, float]]

EVERY = list(methods().values())
BY_RANK = [own for own in EVERY if not own.looks_at_scores]
BY_SCORE = [own for own in EVERY if own.looks_at_scores]

DOCS = [f"d{i}" for i in range(9)]
scored = st.dictionaries(st.sampled_from(DOCS), st.integers(-3, 6).map(float), min_size=1, max_size=9)
runs = st.lists(st.dictionaries(st.sampled_from(["q0", "q1", "q2"]), scored, min_size=1), min_size=2, max_size=4)
distinct = st.lists(st.permutations(DOCS), min_size=2, max_size=4)

every_method = pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)


def in_order(results: Results) -> dict[str, list[tuple[str, float]]]:
    return {query: list(row.items()) for query, row in results.items()}


def ranked(row: dict[str, float]) -> list[str]:
    return sorted(row, key=lambda doc: (row[doc], doc), reverse=True)


@every_method
@settings(max_examples=25, deadline=None)
@given(case=runs, data=st.data())
def test_the_order_of_the_input_changes_no_bit(own: Method, case: list[Results], data: st.DataObject) -> None:
    shuffled = [
        {q: dict(data.draw(st.permutations(list(run[q].items())))) for q in data.draw(st.permutations(list(run)))}
        for run in case
    ]
    assert list(in_order(fuse(shuffled, by=own.name).to_dict()).items()) == list(
        in_order(fuse(case, by=own.name).to_dict()).items()
    )


@every_method
@settings(max_examples=25, deadline=None)
@given(row=scored, times=st.integers(2, 4))
def test_a_run_fused_with_itself_keeps_its_order(own: Method, row: dict[str, float], times: int) -> None:
    assert list(fuse([{"q": row}] * times, by=own.name).to_dict()["q"]) == ranked(row)


@every_method
@settings(max_examples=25, deadline=None)
@given(case=runs)
def test_the_result_holds_every_document_once_best_first(own: Method, case: list[Results]) -> None:
    found = fuse(case, by=own.name, depth=None).to_dict()
    assert list(found) == sorted({query for run in case for query in run})
    for query, row in found.items():
        assert set(row) == {doc for run in case for doc in run.get(query, {})}
        assert list(row) == ranked(row)


@every_method
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(scored, min_size=2, max_size=4))
def test_a_document_that_is_first_in_all_runs_is_first(own: Method, rows: list[dict[str, float]]) -> None:
    case = [{"q": {**row, "top": 7.0}} for row in rows]
    assert next(iter(fuse(case, by=own.name).to_dict()["q"])) == "top"


@every_method
@settings(max_examples=25, deadline=None)
@given(orders=distinct, run=st.integers(0, 3), at_rank=st.integers(1, 8))
def test_changing_places_with_the_document_above_never_hurts(
    own: Method, orders: list[list[str]], run: int, at_rank: int
) -> None:
    run %= len(orders)
    upper, lower = orders[run][at_rank - 1 : at_rank + 1]
    lifted = [list(order) for order in orders]
    lifted[run][at_rank - 1 : at_rank + 1] = [lower, upper]
    before, after = (
        list(fuse([{"q": {d: float(-i) for i, d in enumerate(order)}} for order in case], by=own.name).to_dict()["q"])
        for case in (orders, lifted)
    )
    assert after.index(lower) <= before.index(lower)


@pytest.mark.parametrize("own", BY_RANK, ids=lambda own: own.name)
@settings(max_examples=25, deadline=None)
@given(case=runs)
def test_ranks_are_all_that_matters_to_a_method_by_rank(own: Method, case: list[Results]) -> None:
    bent = [{q: {doc: score**3 - 100 for doc, score in row.items()} for q, row in run.items()} for run in case]
    assert in_order(fuse(bent, by=own.name).to_dict()) == in_order(fuse(case, by=own.name).to_dict())


@pytest.mark.parametrize("normalize", ["min-max", "z-score"])
@pytest.mark.parametrize("own", BY_SCORE, ids=lambda own: own.name)
@settings(max_examples=25, deadline=None)
@given(case=runs)
def test_scale_and_origin_of_scores_do_not_matter(own: Method, normalize: str, case: list[Results]) -> None:
    moved = [
        {q: {doc: (i + 2) * score + 5 for doc, score in row.items()} for q, row in run.items()}
        for i, run in enumerate(case)
    ]
    found, expected = (fuse(one, by=own.name, normalize=normalize).to_dict() for one in (moved, case))
    for query, row in expected.items():
        assert found[query] == pytest.approx(row, abs=1e-12)


@every_method
@settings(max_examples=25, deadline=None)
@given(case=runs)
def test_a_run_without_the_query_has_no_say(own: Method, case: list[Results]) -> None:
    found = fuse([*case, {"other": {"d0": 1.0}}], by=own.name).to_dict()
    for query, row in fuse(case, by=own.name).to_dict().items():
        assert list(found[query]) == list(row)


@every_method
@settings(max_examples=25, deadline=None)
@given(case=runs)
def test_a_query_is_fused_the_same_alone_and_among_others(own: Method, case: list[Results]) -> None:
    for query, row in fuse(case, by=own.name).to_dict().items():
        alone = fuse([{query: run.get(query, {})} for run in case], by=own.name)
        assert list(alone.to_dict()[query].items()) == list(row.items())


@every_method
def test_every_method_says_what_it_does(own: Method) -> None:
    assert own.doc
    assert own.doc.splitlines()[0].endswith((".", ","))
