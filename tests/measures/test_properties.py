"""What must hold for every registered measure, whatever the input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import rankproof
from rankproof.measures.registry import Family, families

EVERY = [family for family in families().values() if not family.name.startswith("Own")]
WITH_PERFECT = [family for family in EVERY if family.perfect is not None]

DOCS = [f"d{i}" for i in range(12)]
grades = st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 4), min_size=1, max_size=12)
scores = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 6).map(float), max_size=12)
queries = st.lists(st.tuples(grades, scores), min_size=1, max_size=4)


def at(own: Family, k: int) -> rankproof.Measure:
    """The measure, with a cut-off where it needs one."""
    if own.name == "IPrec":
        return own @ 0.3
    return own @ k if own.cutoff == "required" else own()


def split(cases: list[tuple[dict[str, int], dict[str, float]]]) -> tuple[dict[str, Any], dict[str, Any]]:
    qrels = {f"q{i}": g for i, (g, _) in enumerate(cases)}
    run = {f"q{i}": s for i, (_, s) in enumerate(cases) if s}
    return qrels, run or {"q0": {"d0": 1.0}}


@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
@settings(max_examples=60, deadline=None)
@given(cases=queries, k=st.integers(1, 14))
def test_values_stay_within_the_bounds(own: Family, cases: list[Any], k: int) -> None:
    qrels, run = split(cases)
    values = rankproof.evaluate(qrels, run, at(own, k)).values
    assert np.isfinite(values).all()
    assert (values >= own.bounds[0] - 1e-12).all()
    assert (values <= own.bounds[1] + 1e-12).all()


@pytest.mark.parametrize("own", WITH_PERFECT, ids=lambda own: own.name)
@settings(max_examples=60, deadline=None)
@given(cases=st.lists(grades.filter(lambda g: max(g.values()) > 0), min_size=1, max_size=4), k=st.integers(1, 14))
def test_a_perfect_run_scores_exactly_one(own: Family, cases: list[dict[str, int]], k: int) -> None:
    qrels = {f"q{i}": g for i, g in enumerate(cases)}
    run = {q: {d: 20.0 - i for i, d in enumerate(sorted(g, key=lambda d: -g[d]))} for q, g in qrels.items()}
    values = rankproof.evaluate(qrels, run, at(own, k)).values
    assert values.tolist() == [[own.perfect] * len(qrels)]


@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
@settings(max_examples=40, deadline=None)
@given(cases=queries, k=st.integers(1, 14), data=st.data())
def test_the_order_of_the_input_changes_nothing(own: Family, cases: list[Any], k: int, data: st.DataObject) -> None:
    qrels, run = split(cases)
    shuffled = {
        q: dict(data.draw(st.permutations(list(run[q].items())))) for q in data.draw(st.permutations(list(run)))
    }
    measure = at(own, k)
    assert rankproof.evaluate(qrels, run, measure).by_query() == rankproof.evaluate(qrels, shuffled, measure).by_query()


@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
@settings(max_examples=40, deadline=None)
@given(cases=queries, k=st.integers(1, 14))
def test_a_query_scores_the_same_alone_and_among_others(own: Family, cases: list[Any], k: int) -> None:
    qrels, run = split(cases)
    measure = at(own, k)
    # The highest grade of the judgments is a property of the whole set, so it is given here.
    if "max_grade" in own.parameters:
        measure = own(max_grade=4, **({"k": k} if own.cutoff == "required" else {}))
    together = rankproof.evaluate(qrels, run, measure).by_query()
    for query in run:
        if query in qrels:
            alone = rankproof.evaluate({query: qrels[query]}, {query: run[query]}, measure).by_query()
            assert alone[query] == pytest.approx(together[query], abs=1e-12)


# Lifting a relevant document can lower these: infAP estimates from a sample, G discounts each document by what is
# gained before it, and the others count what is judged.
NOT_MONOTONE = {"infAP", "G", "Judged", "Unjudged", "RBPResidual"}


@pytest.mark.parametrize("own", [own for own in EVERY if own.name not in NOT_MONOTONE], ids=lambda own: own.name)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(judged=grades, order=st.permutations(DOCS), k=st.integers(1, 14), at_rank=st.integers(1, 11))
def test_lifting_a_better_document_by_one_rank_never_hurts(
    own: Family, judged: dict[str, int], order: list[str], k: int, at_rank: int
) -> None:
    judged = {doc: max(grade, 0) for doc, grade in judged.items()}
    upper, lower = order[at_rank - 1], order[at_rank]
    assume(judged.get(upper, 0) < judged.get(lower, 0))
    lifted = [*order[: at_rank - 1], lower, upper, *order[at_rank + 1 :]]
    before, after = (
        rankproof.evaluate({"q": judged}, {"q": {d: float(-i) for i, d in enumerate(docs)}}, at(own, k)).values[0, 0]
        for docs in (order, lifted)
    )
    assert after >= before - 1e-12


def test_lifting_a_better_document_can_lower_g_as_in_trec_eval() -> None:
    judged = {"d1": 1, "d2": 1, "d3": 1, "d10": 4, "d11": 3}
    order = ["d0", "d1", "d2", "d3", "d4", "d5", "d11", "d10"]
    lifted = [*order[:6], "d10", "d11"]
    runs = ({"q": {doc: float(-i) for i, doc in enumerate(docs)}} for docs in (order, lifted))
    before, after = (rankproof.evaluate({"q": judged}, run, "G").mean()["G"] for run in runs)
    assert (before, after) == pytest.approx((0.3722706232293572, 0.37168584226522683))


@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
def test_the_canonical_name_reads_back_as_the_same_measure(own: Family) -> None:
    measure = at(own, 7)
    assert rankproof.parse_measure(str(measure)) == measure
    assert hash(rankproof.parse_measure(str(measure))) == hash(measure)


@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
def test_every_alias_reads_as_its_measure(own: Family) -> None:
    for alias in (*own.aliases, *own.shortcuts):
        cut = "@0.3" if own.name == "IPrec" else "@7" if own.cutoff == "required" else ""
        for spelling in (alias, alias.upper(), alias.lower()):
            if spelling.lower() not in {"p", "recall", "success", "relative_p", "iprec_at_recall"} or cut:
                assert all(m.family == own.name for m in rankproof.parse_measures(spelling + cut))


@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
def test_every_measure_says_what_it_is(own: Family) -> None:
    first = own.doc.split("\n\n")[0]
    assert first[0].isupper() or first[0].isdigit()
    assert first.endswith(".")
