"""A measure of the user's own is one decorated function."""

from __future__ import annotations

import numpy as np
import pytest

import rankproof
from rankproof.measures.judged import Floats


@rankproof.measure("OwnFirstGrade", aliases=("own_first",), bounds=(0.0, 10.0), perfect=None)
def first_grade(judged: rankproof.Judged, *, scale: float = 1.0) -> Floats:
    """The grade of the document at rank 1, times a scale."""
    top = judged.cut(1)
    return judged.total(top.query, top.grade * scale)


@rankproof.query_measure("OwnSpan", bounds=(0.0, np.inf), perfect=None)
def span(ranks: list[int], grades: list[float], ideal: list[float], n_retrieved: int, *, k: int = 10) -> float:
    """Ranks between the first and the last judged document of the first k."""
    inside = [rank for rank in ranks if rank <= k]
    return float(max(inside) - min(inside)) if inside else -1.0


QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"x": 1.0}}


def test_a_registered_measure_is_scored_like_ours() -> None:
    scores = rankproof.evaluate(QRELS, RUN, ["OwnFirstGrade", "own_first(scale=2)"])
    assert scores.by_query() == {
        "q1": {"OwnFirstGrade": 2.0, "OwnFirstGrade(scale=2)": 4.0},
        "q2": {"OwnFirstGrade": 0.0, "OwnFirstGrade(scale=2)": 0.0},
    }


def test_a_plain_function_of_one_query_will_do() -> None:
    scores = rankproof.evaluate(QRELS, RUN, ["OwnSpan", "OwnSpan@2"])
    assert scores.by_query() == {"q1": {"OwnSpan": 2.0, "OwnSpan@2": 0.0}, "q2": {"OwnSpan": -1.0, "OwnSpan@2": -1.0}}


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(rankproof.UsageError, match="already belongs to 'nDCG'"):
        rankproof.measure("OwnOther", aliases=("ndcg_cut",))(lambda judged: np.zeros(judged.n_queries))
