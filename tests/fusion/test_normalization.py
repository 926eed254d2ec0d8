"""Every normalisation by hand, and what it makes of lists that are hardly lists."""

from __future__ import annotations

from math import inf, sqrt
from typing import get_args

import numpy as np
import pytest

from rankproof import Run
from rankproof.fusion.candidates import lay_over
from rankproof.fusion.normalization import Normalization, normalized

R14 = sqrt(14)
EVERY: tuple[Normalization, ...] = get_args(Normalization)


def values(scores: dict[str, float], name: Normalization) -> dict[str, float]:
    """What the documents of a list get, and one called "absent" that only another run has."""
    found = lay_over([Run.of({"q": scores}), Run.of({"q": {"absent": 1.0}})])
    column = normalized(found, name)[:, 0].tolist()
    return dict(zip(found.docs.strings(), column, strict=True))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", {"a": 4.0, "b": 3.0, "c": 1.0, "absent": 0.0}),
        ("min-max", {"a": 1.0, "b": 2 / 3, "c": 0.0, "absent": 0.0}),
        # Mean 8/3, deviations 4/3, 1/3 and -5/3, standard deviation √14/3.
        ("z-score", {"a": 4 / R14, "b": 1 / R14, "c": -5 / R14, "absent": -5 / R14}),
        ("rank", {"a": 1.0, "b": 2 / 3, "c": 1 / 3, "absent": 0.0}),
        ("max", {"a": 1.0, "b": 0.75, "c": 0.25, "absent": 0.0}),
        # 3, 2 and 0 above the lowest.
        ("sum", {"a": 0.6, "b": 0.4, "c": 0.0, "absent": 0.0}),
    ],
)
def test_by_hand(name: Normalization, expected: dict[str, float]) -> None:
    assert values({"a": 4.0, "b": 3.0, "c": 1.0}, name) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", {"b": 0.1, "a": 0.1, "c": 0.1, "absent": 0.0}),
        ("min-max", {"b": 1.0, "a": 1.0, "c": 1.0, "absent": 0.0}),
        ("z-score", {"b": 0.0, "a": 0.0, "c": 0.0, "absent": 0.0}),
        ("rank", {"c": 1.0, "b": 2 / 3, "a": 1 / 3, "absent": 0.0}),
        ("max", {"b": 1.0, "a": 1.0, "c": 1.0, "absent": 0.0}),
        ("sum", {"b": 1 / 3, "a": 1 / 3, "c": 1 / 3, "absent": 0.0}),
    ],
)
def test_a_list_of_equal_scores(name: Normalization, expected: dict[str, float]) -> None:
    # Three times 0.1 does not add up to 0.3, which must not be taken for a difference.
    assert values({"a": 0.1, "b": 0.1, "c": 0.1}, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("none", 7), ("min-max", 1), ("z-score", 0), ("rank", 1), ("max", 1), ("sum", 1)]
)
def test_a_list_of_one_document(name: Normalization, expected: float) -> None:
    assert values({"a": 7.0}, name) == {"a": expected, "absent": 0.0}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", {"a": -1.0, "b": -3.0, "absent": -3.0}),
        ("min-max", {"a": 1.0, "b": 0.0, "absent": 0.0}),
        ("z-score", {"a": 1.0, "b": -1.0, "absent": -1.0}),
        ("rank", {"a": 1.0, "b": 0.5, "absent": 0.0}),
        ("max", {"a": -1 / 3, "b": -1.0, "absent": -1.0}),
        ("sum", {"a": 1.0, "b": 0.0, "absent": 0.0}),
    ],
)
def test_an_absent_document_never_stands_above_one_with_a_negative_score(
    name: Normalization, expected: dict[str, float]
) -> None:
    assert values({"a": -1.0, "b": -3.0}, name) == expected


@pytest.mark.parametrize("name", EVERY)
def test_a_list_of_zeros_is_no_division_by_zero(name: Normalization) -> None:
    found = values({"a": 0.0, "b": 0.0}, name)
    assert found["absent"] == 0.0
    assert all(0 <= value <= 1 for value in found.values())


@pytest.mark.parametrize("name", [name for name in EVERY if name != "none"])
def test_huge_and_tiny_scores_do_not_overflow(name: Normalization) -> None:
    for scores in ({"a": 1.7e308, "b": 0.0, "c": -1.7e308}, {"a": 5e-324, "b": 0.0, "c": -5e-324}):
        plain = values({"a": 1.0, "b": 0.0, "c": -1.0}, name)
        assert values(scores, name) == pytest.approx(plain)


@pytest.mark.parametrize("name", EVERY)
def test_a_run_without_the_query_says_nothing(name: Normalization) -> None:
    found = lay_over([Run.of({"q": {"a": -4.0, "b": -5.0}}), Run.of({"other": {"a": -1.0}})])
    column = normalized(found, name)[:, 1]
    assert column[found.query == found.query_ids.index("q")].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", EVERY)
def test_a_list_is_normalised_the_same_alone_and_among_others(name: Normalization) -> None:
    rng = np.random.default_rng(3)
    lists = {f"q{i}": {f"d{j}": float(x) for j, x in enumerate(rng.normal(size=5 + i))} for i in range(4)}
    together = normalized(lay_over([Run.of(lists), Run.of({"q0": {"d0": 1.0}})]), name)[:, 0]
    alone = [normalized(lay_over([Run.of({q: row}), Run.of({q: {"d0": 1.0}})]), name)[:, 0] for q, row in lists.items()]
    assert together.tolist() == np.concatenate(alone).tolist()
    assert together.max() < inf
