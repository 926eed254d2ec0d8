"""The preset `pytrec_eval` gives pytrec_eval's numbers: every measure, every query, from dicts, columns and files."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest
import pytrec_eval

from rankproof import Evaluator, Run, evaluate, parse_measure
from tests.conformance.cases import Case, random_case, scored_by_trec_eval, write_trec

SHARED = sorted(set(pytrec_eval.supported_measures) - {"runid", "relstring"})
LOGARITHMS = {"gm_map", "gm_bpref"}
"""Of these pytrec_eval gives the logarithm of a query's value, taken as at least 0.00001; we give the value."""
FLOOR = 0.00001


def cases(seed: int, n: int) -> list[Case]:
    rng = Random(seed)
    found: list[Case] = []
    while len(found) < n:
        case = scored_by_trec_eval(random_case(rng))
        if case is not None:
            found.append(case)
    return found


def assert_same(case: Case, ours: dict[str, dict[str, float]]) -> None:
    theirs = pytrec_eval.RelevanceEvaluator(case.qrels, SHARED).evaluate(case.run)
    assert ours.keys() == theirs.keys()
    for query, values in theirs.items():
        for name, value in values.items():
            mine = ours[query][CANONICAL[name]]
            if name in LOGARITHMS:
                mine, value = max(mine, FLOOR), math.exp(value)
            assert abs(mine - value) <= 1e-9, (name, query, case.qrels[query], case.run[query])


NAMES = sorted(pytrec_eval.RelevanceEvaluator({"q": {"d": 1}}, SHARED).evaluate({"q": {"d": 1.0}})["q"])
CANONICAL = {name: str(parse_measure(name)) for name in NAMES}
MEASURES = list(CANONICAL.values())


def test_every_measure_of_pytrec_eval_is_known_here() -> None:
    assert len(SHARED) == 32
    assert len(NAMES) == len(set(MEASURES)) == 93


@pytest.mark.parametrize("seed", range(20))
def test_dicts_score_as_in_pytrec_eval(seed: int) -> None:
    for case in cases(seed, 55):
        assert_same(case, evaluate(case.qrels, case.run, MEASURES, preset="pytrec_eval").by_query())


@pytest.mark.parametrize("seed", range(100, 120))
def test_columns_score_as_in_pytrec_eval(seed: int) -> None:
    for case in cases(seed, 55):
        columns = Run(Run.of(case.run).table)
        assert_same(case, evaluate(case.qrels, columns, MEASURES, preset="pytrec_eval").by_query())


@pytest.mark.parametrize("seed", range(200, 208))
def test_files_score_as_in_pytrec_eval(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    for case in cases(seed, 30):
        qrels, run = write_trec(case, tmp_path, rng)
        assert_same(case, evaluate(qrels, run, MEASURES, preset="pytrec_eval").by_query())


@pytest.mark.parametrize(("most_docs", "most_queries"), [(1200, 3), (60, 80)])
@pytest.mark.parametrize("seed", range(4))
def test_deep_and_wide_runs_score_as_in_pytrec_eval(
    seed: int, most_docs: int, most_queries: int, tmp_path: Path
) -> None:
    rng = Random(seed)
    case = scored_by_trec_eval(random_case(rng, most_docs=most_docs, most_queries=most_queries))
    assert case is not None
    evaluator = Evaluator(case.qrels, preset="pytrec_eval")
    run_file = write_trec(case, tmp_path, rng)[1]
    for run in (case.run, Run(Run.of(case.run).table), run_file):
        assert_same(case, evaluator.evaluate(run, MEASURES).by_query())


def test_a_query_that_no_judgment_names_is_scored_by_neither() -> None:
    case = Case({"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"a": 1.0}})
    assert_same(case, evaluate(case.qrels, case.run, MEASURES, preset="pytrec_eval").by_query())


def test_a_query_with_an_empty_list_is_missing_here_and_scores_zero_in_pytrec_eval() -> None:
    # A TREC file cannot tell the two apart, and all roads shall give one number.
    case = Case({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {}})
    for run in (case.run, Run(Run.of(case.run).table)):
        assert evaluate(case.qrels, run, "AP", preset="pytrec_eval").by_query() == {"q1": {"AP": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(case.qrels, {"map"}).evaluate(case.run)
    assert theirs == {"q1": {"map": 1.0}, "q2": {"map": 0.0}}


def test_a_query_with_empty_judgments_scores_zero_here_and_is_dropped_by_pytrec_eval() -> None:
    case = Case({"q1": {"a": 1}, "q2": {}}, {"q1": {"a": 1.0}, "q2": {"a": 1.0}})
    for run in (case.run, Run(Run.of(case.run).table)):
        ours = evaluate(case.qrels, run, "AP", preset="pytrec_eval").by_query()
        assert ours == {"q1": {"AP": 1.0}, "q2": {"AP": 0.0}}
    assert pytrec_eval.RelevanceEvaluator(case.qrels, {"map"}).evaluate(case.run) == {"q1": {"map": 1.0}}
