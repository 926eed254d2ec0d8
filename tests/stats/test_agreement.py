from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.errors import BadInput, UsageError
from rankproof.stats.agreement import (
    Bootstrap,
    Scale,
    Weights,
    all_annotators,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    krippendorff_alpha,
    two_annotators,
)

NONE = math.nan

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section E: four observers, twelve units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]
UNITS = np.array(OBSERVERS).T

# Fleiss 1971, table 1: thirty patients, six psychiatrists each, five diagnoses.
PATIENTS = """
    00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
    00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
# Ten subjects, fourteen raters, five categories: the example that most texts on Fleiss' κ work through.
SUBJECTS = "0,0,0,0,14 0,2,6,4,2 0,0,3,5,6 0,3,9,2,0 2,2,8,1,1 7,7,0,0,0 3,2,6,3,0 2,5,3,2,2 6,5,2,1,0 0,2,2,3,7"


def rated(counts: list[list[int]]) -> list[list[int]]:
    """How often each category was chosen → the ratings of each item."""
    return [[grade for grade, n in enumerate(row) for _ in range(n)] for row in counts]


def square(yes_yes: int, yes_no: int, no_yes: int, no_no: int) -> tuple[list[int], list[int]]:
    """The ratings behind a table of two by two."""
    first = [1] * (yes_yes + yes_no) + [0] * (no_yes + no_no)
    second = [1] * yes_yes + [0] * yes_no + [1] * no_yes + [0] * no_no
    return first, second


# By hand, and as published.


@pytest.mark.parametrize(
    ("cells", "kappa"),
    [
        # Seen .70, by chance .5 · .6 + .5 · .4 = .50.
        ((20, 5, 10, 15), 0.4),
        # Both agree on 60 of 100; by chance .6 · .7 + .4 · .3 = .54, then .6 · .3 + .4 · .7 = .46.
        ((45, 15, 25, 15), 0.06 / 0.46),
        ((25, 35, 5, 35), 0.14 / 0.54),
        # Less agreement than chance.
        ((0, 10, 10, 0), -1.0),
        ((10, 10, 10, 10), 0.0),
        ((7, 0, 0, 3), 1.0),
    ],
)
def test_cohens_kappa_of_a_table_of_two_by_two(cells: tuple[int, int, int, int], kappa: float) -> None:
    assert cohen_kappa(*square(*cells)) == pytest.approx(kappa, abs=1e-15)


def test_weights_count_a_disagreement_by_its_distance() -> None:
    first, second = [0, 0, 1, 2], [0, 1, 2, 0]
    # Seen: |Δ| = 0, 1, 1, 2. By chance, first is 0 0 1 2 and second 0 1 2 0, all sixteen pairs.
    apart = [abs(a - b) for a in first for b in second]
    assert (sum(apart), sum(d * d for d in apart), sum(d > 0 for d in apart)) == (14, 22, 10)
    assert cohen_kappa(first, second) == pytest.approx(1 - (3 / 4) / (10 / 16), abs=1e-15)
    assert cohen_kappa(first, second, weights="linear") == pytest.approx(1 - (4 / 4) / (14 / 16), abs=1e-15)
    assert cohen_kappa(first, second, weights="quadratic") == pytest.approx(1 - (6 / 4) / (22 / 16), abs=1e-15)


def test_fleiss_kappa_of_his_own_example() -> None:
    counts = [[int(n) for n in row] for row in PATIENTS.split()]
    assert {sum(row) for row in counts} == {6}
    assert fleiss_kappa(rated(counts)) == pytest.approx(0.430, abs=5e-4)


def test_fleiss_kappa_of_the_example_that_texts_work_through() -> None:
    counts = [[int(n) for n in row.split(",")] for row in SUBJECTS.split()]
    assert {sum(row) for row in counts} == {14}
    assert fleiss_kappa(rated(counts)) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_alpha_of_his_own_example(scale: Scale, alpha: float) -> None:
    assert krippendorff_alpha(UNITS, scale=scale) == pytest.approx(alpha, abs=5e-4)


def test_an_item_with_one_rating_says_nothing_about_agreement() -> None:
    assert [one.n_items for one in all_annotators(UNITS)] == [11] * 4
    without = UNITS[:-1]
    assert [one.value for one in all_annotators(UNITS)] == [one.value for one in all_annotators(without)]


def test_where_items_have_different_numbers_of_ratings_fleiss_kappa_weighs_items_alike() -> None:
    # Agreement 1 and 1/3, mean 2/3. Shares of grade 1: (1 + 2/3) / 2 = 5/6; by chance 25/36 + 1/36.
    ratings = [[1.0, 1.0, NONE], [1.0, 1.0, 0.0]]
    assert fleiss_kappa(ratings) == pytest.approx((2 / 3 - 26 / 36) / (1 - 26 / 36), abs=1e-15)


def test_the_table_of_two_annotators() -> None:
    table = confusion([2, 2, 0, 1, NONE], [2, 0, 0, 2, 1])
    assert table.grades == (0.0, 1.0, 2.0)
    assert table.counts == ((1, 0, 0), (0, 0, 1), (1, 0, 1))
    assert (table.n_items, table.n_same) == (4, 2)


# What has no value.


def test_without_common_items_there_is_no_value_and_the_reason_is_given() -> None:
    for one in (*two_annotators([1, NONE], [NONE, 0]), *all_annotators([[1, NONE], [NONE, 0]]), *all_annotators([[1]])):
        assert (one.value, one.n_items, one.reason) == (None, 0, "no item was rated by two annotators")
        assert one.interval.as_list() is None


def test_one_grade_throughout_is_perfect_agreement_and_undefined() -> None:
    for one in (*two_annotators([2, 2, 2], [2, 2, 2]), *all_annotators([[2, 2], [2, 2], [2, 2]])):
        assert one.value is None
        assert one.reason == (
            "perfect agreement: all 3 items got the grade 2 from everybody, as chance alone would have it"
        )
        assert one.interval.reason == "the value is undefined"


def test_one_item_has_a_value_at_most_and_no_interval() -> None:
    (apart, *_) = two_annotators([1], [0])
    assert (apart.value, apart.interval.reason) == (0.0, "one item has no spread")
    (alike, *_) = two_annotators([1], [1])
    assert alike.value is None
    assert alike.reason.startswith("perfect agreement: the one item got the grade 1")


def test_where_resamples_often_lose_all_grades_but_one_there_is_no_interval() -> None:
    # One item of five differs from the rest: (4/5)^5 of the resamples do without it.
    (found, *_) = two_annotators([0, 1, 1, 1, 1], [0, 1, 1, 1, 1])
    assert found.value == 1.0
    assert found.interval.as_list() is None
    assert "of the resamples only one grade is left" in found.interval.reason


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cohen_kappa([1, 2], [1]), "two lists of the same length"),
        (lambda: fleiss_kappa([1, 2]), "a table of items × annotators"),
        (lambda: two_annotators([1, 0], [1, 0], bootstrap=Bootstrap(resamples=0)), "at least 1 resample"),
        (lambda: two_annotators([1, 0], [1, 0], bootstrap=Bootstrap(level=95)), "Did you mean 0.95"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(UsageError, match=message):
        call()


def test_an_infinite_grade_is_refused() -> None:
    with pytest.raises(BadInput, match="not a finite number"):
        cohen_kappa([1, math.inf], [1, 0])


# From the definitions, by brute force over pairs and in exact fractions.

grade = st.integers(0, 3)
pairs = st.lists(st.tuples(grade, grade), min_size=1, max_size=12)
tables = st.integers(2, 4).flatmap(
    lambda n: st.lists(st.lists(st.one_of(grade, st.none()), min_size=n, max_size=n), min_size=1, max_size=8)
)
DISTANCES: dict[Weights, Callable[[int, int], int]] = {
    "none": lambda a, b: int(a != b),
    "linear": lambda a, b: abs(a - b),
    "quadratic": lambda a, b: (a - b) ** 2,
}


@pytest.mark.parametrize("weights", DISTANCES)
@settings(deadline=None)
@given(both=pairs)
def test_cohens_kappa_is_disagreement_over_that_of_shuffled_items(
    weights: Weights, both: list[tuple[int, int]]
) -> None:
    distance = DISTANCES[weights]
    seen = Fraction(sum(distance(a, b) for a, b in both), len(both))
    chance = Fraction(sum(distance(a, b) for a, _ in both for _, b in both), len(both) ** 2)
    first, second = zip(*both, strict=True)
    found = cohen_kappa(first, second, weights=weights)
    assert found == (None if chance == 0 else pytest.approx(float(1 - seen / chance), abs=1e-12))


def alpha_by_pairs(table: list[list[int | None]], scale: Scale) -> Fraction | None:
    """Krippendorff's α over all pairs of ratings, as he defines it: within units, and within all ratings."""
    units = [[g for g in row if g is not None] for row in table]
    units = [unit for unit in units if len(unit) >= 2]
    everything = list(itertools.chain.from_iterable(units))
    uses = Counter(everything)

    def squared(a: int, b: int) -> Fraction:
        if scale == "nominal":
            return Fraction(a != b)
        if scale == "interval":
            return Fraction((a - b) ** 2)
        low, high = min(a, b), max(a, b)
        return (sum(uses[g] for g in range(low, high + 1)) - Fraction(uses[a] + uses[b], 2)) ** 2

    n = len(everything)
    if n < 2:
        return None
    within = sum((_total(squared, unit) / (len(unit) - 1) for unit in units), Fraction())
    overall = _total(squared, everything) / (n - 1)
    return None if overall == 0 else 1 - within / overall


def _total(squared: Callable[[int, int], Fraction], ratings: list[int]) -> Fraction:
    return sum((squared(a, b) for a, b in itertools.permutations(ratings, 2)), Fraction())


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@settings(deadline=None)
@given(table=tables)
def test_alpha_is_disagreement_within_units_over_that_of_all_ratings(
    scale: Scale, table: list[list[int | None]]
) -> None:
    expected = alpha_by_pairs(table, scale)
    ratings = [[NONE if g is None else g for g in row] for row in table]
    found = krippendorff_alpha(ratings, scale=scale)
    assert found == (None if expected is None else pytest.approx(float(expected), abs=1e-9))


@settings(deadline=None)
@given(table=tables)
def test_fleiss_kappa_by_its_definition(table: list[list[int | None]]) -> None:
    units = [[g for g in row if g is not None] for row in table]
    units = [unit for unit in units if len(unit) >= 2]
    ratings = [[NONE if g is None else g for g in row] for row in table]
    if not units:
        assert fleiss_kappa(ratings) is None
        return
    same = [Fraction(sum(a == b for a, b in itertools.permutations(u, 2)), len(u) * (len(u) - 1)) for u in units]
    seen = sum(same) / Fraction(len(units))
    shares = [sum(Fraction(unit.count(g), len(unit)) for unit in units) / len(units) for g in range(4)]
    chance = sum(share * share for share in shares)
    expected = None if chance == 1 else pytest.approx(float((seen - chance) / (1 - chance)), abs=1e-12)
    assert fleiss_kappa(ratings) == expected


@settings(deadline=None)
@given(both=pairs, data=st.data())
def test_the_order_of_items_and_of_annotators_changes_no_value(
    both: list[tuple[int, int]], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(both))
    values = [one.value for one in all_annotators(both, bootstrap=None)]
    assert [one.value for one in all_annotators(shuffled, bootstrap=None)] == values
    assert [one.value for one in all_annotators([(b, a) for a, b in both], bootstrap=None)] == values


@settings(max_examples=30, deadline=None)
@given(both=pairs.filter(lambda both: len(both) > 1))
def test_the_interval_holds_the_value_and_stays_within_what_kappa_can_be(both: list[tuple[int, int]]) -> None:
    few = Bootstrap(resamples=200)
    first, second = zip(*both, strict=True)
    for one in two_annotators(first, second, bootstrap=few):
        if one.interval.low is not None and one.interval.high is not None and one.value is not None:
            assert -1 - 1e-9 <= one.interval.low <= one.value <= one.interval.high <= 1 + 1e-12


# Against other tools, and the bootstrap against itself.


@pytest.mark.parametrize("weights", DISTANCES)
def test_cohens_kappa_is_that_of_scikit_learn(weights: Weights) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn, of the extra `peers`")
    random = np.random.default_rng(7)
    for _ in range(20):
        first = random.integers(0, 4, 60)
        second = np.where(random.random(60) < 0.6, first, random.integers(0, 4, 60))
        theirs = metrics.cohen_kappa_score(first, second, weights=None if weights == "none" else weights)
        assert cohen_kappa(first, second, weights=weights) == pytest.approx(theirs, abs=1e-12)


def test_the_interval_is_that_of_items_drawn_one_by_one() -> None:
    first, second = square(20, 5, 10, 15)
    (found, *_) = two_annotators(first, second, bootstrap=Bootstrap(resamples=20_000))
    random = np.random.default_rng(3)
    pairs_of = np.array([first, second]).T
    slow = []
    for _ in range(2_000):
        drawn = pairs_of[random.integers(0, len(first), len(first))]
        slow.append(cohen_kappa(drawn[:, 0], drawn[:, 1]))
    low, high = np.quantile(np.array(slow, np.float64), [0.025, 0.975])
    assert found.interval.as_list() == pytest.approx([low, high], abs=0.03)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    # Annotators that agree by intent in six of ten items and guess in the others: κ = 0.6 with two even grades.
    random = np.random.default_rng(11)
    held = 0
    for _ in range(200):
        first = random.integers(0, 2, 150)
        second = np.where(random.random(150) < 0.6, first, random.integers(0, 2, 150))
        ends = two_annotators(first, second, weights=("none",), bootstrap=Bootstrap(resamples=400))[0].interval
        assert ends.low is not None
        assert ends.high is not None
        held += ends.low <= 0.6 <= ends.high
    assert held >= 180


def test_the_same_seed_gives_the_same_interval_to_the_bit_in_another_process() -> None:
    code = (
        "from rankproof.stats.agreement import *\n"
        "found = all_annotators([[0, 1, 2], [1, 1, 1], [2, 2, 0], [0, 0, 1]] * 9, bootstrap=Bootstrap(seed=5))\n"
        "print([one.interval.as_list() for one in found])"
    )
    here = all_annotators([[0, 1, 2], [1, 1, 1], [2, 2, 0], [0, 0, 1]] * 9, bootstrap=Bootstrap(seed=5))
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert there.strip() == str([one.interval.as_list() for one in here])
