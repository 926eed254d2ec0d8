"""Pairs, people together, groups and disagreements."""

from __future__ import annotations

import pytest

from rankproof.errors import NothingToEvaluate, UsageError
from rankproof.labeling.agreement import NO_GROUP, find_agreement
from rankproof.labeling.annotators import Labels
from rankproof.stats.agreement import Bootstrap

FEW = Bootstrap(resamples=50)


def said(annotator: str, **grades: dict[str, float]) -> Labels:
    return Labels(annotator, grades)


ANNA = said("anna", q1={"a": 2, "b": 0, "c": 1}, q2={"d": 0})
BEN = said("ben", q1={"a": 2, "b": 2, "c": 0}, q2={"d": 0})
MODEL = said("model:small", q1={"a": 0, "b": 0}, q2={"d": 0})


def test_a_pair_has_its_table_and_three_coefficients() -> None:
    (pair,) = find_agreement([ANNA, BEN], bootstrap=FEW).overall.pairs
    assert (pair.first, pair.second) == ("anna", "ben")
    assert pair.table.counts == ((1, 0, 1), (1, 0, 0), (0, 0, 1))
    # Two of four alike; by chance 2/4 · 2/4 + 1/4 · 0 + 1/4 · 2/4 = 3/8.
    assert pair.coefficients[0].value == pytest.approx((1 / 2 - 3 / 8) / (5 / 8))
    assert len(pair.coefficients) == 3


def test_the_furthest_disagreement_comes_first() -> None:
    found = find_agreement([ANNA, BEN], bootstrap=FEW).disagreements
    assert [(one.item.doc_id, one.spread) for one in found] == [("b", 2), ("c", 1)]
    assert found[0].grades == {"anna": 0, "ben": 2}


def test_a_model_is_in_the_pairs_and_not_among_the_people() -> None:
    found = find_agreement([ANNA, BEN, MODEL], bootstrap=FEW)
    assert [(pair.first, pair.second) for pair in found.overall.pairs] == [
        ("anna", "ben"),
        ("anna", "model:small"),
        ("ben", "model:small"),
    ]
    assert found.people == ("anna", "ben")
    assert found.overall.together == find_agreement([ANNA, BEN], bootstrap=FEW).overall.together
    assert find_agreement([ANNA, MODEL], bootstrap=FEW).overall.together == ()


def test_groups_are_looked_at_one_by_one() -> None:
    found = find_agreement([ANNA, BEN], groups={"q1": "hr"}, bootstrap=FEW)
    assert list(found.by_group) == ["hr", NO_GROUP]
    assert [one.n_items for one in found.by_group.values()] == [3, 1]
    (lone,) = found.by_group[NO_GROUP].pairs
    assert lone.coefficients[0].reason.startswith("perfect agreement: the one item")


def test_the_order_of_files_changes_no_figure_of_all() -> None:
    one, other = (find_agreement(those, bootstrap=FEW).overall.together for those in ([ANNA, BEN], [BEN, ANNA]))
    assert one == other


def test_one_annotator_agrees_with_nobody() -> None:
    with pytest.raises(UsageError, match="2 annotators or more, not 1"):
        find_agreement([ANNA])
    with pytest.raises(NothingToEvaluate, match="Nobody has judged anything"):
        find_agreement([said("anna"), said("ben")])


def test_without_common_documents_the_reason_is_given() -> None:
    (pair,) = find_agreement([said("anna", q={"a": 1}), said("ben", q={"b": 1})]).overall.pairs
    assert (pair.coefficients[0].value, pair.coefficients[0].reason) == (None, "no item was rated by two annotators")
