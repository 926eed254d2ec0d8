from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankproof.errors import BadInput, UsageError
from rankproof.stats.correlation import Rbo, Shared, kendall_tau, rbo, rbo_of_queries, symmetric_tau_ap, tau_ap

ALPHABET = "abcdefghijklmnopqrstuvwxyz"

# Ten systems as published with the R package ircor, whose authors define τ_AP with ties.
X1 = [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992]
Y1 = [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988]
X2 = [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38]
Y2 = [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644]
X3 = [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445]
Y3 = [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25]
X1_TIES = [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1]
Y1_TIES = [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1]
X2_TIES = [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4]
Y2_TIES = [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6]
X3_TIES = [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4]
Y3_TIES = [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2]

values = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12)
rankings = st.lists(st.integers(0, 30), unique=True, max_size=15)


# By hand. Four systems, A > B > C > D in the reference.


@pytest.mark.parametrize(
    ("other", "tau", "ap"),
    [
        # The top two change places: of what stands above A, none is right; C and D are.
        ([3, 4, 2, 1], 2 / 3, 2 * (0 + 1 + 1) / 3 - 1),
        # The last two change places: B and D are right, C has two of three.
        ([4, 3, 1, 2], 2 / 3, 2 * (1 + 1 + 2 / 3) / 3 - 1),
        ([4, 3, 2, 1], 1.0, 1.0),
        ([1, 2, 3, 4], -1.0, -1.0),
    ],
)
def test_a_swap_at_the_top_costs_tau_ap_more_and_tau_the_same(other: list[int], tau: float, ap: float) -> None:
    assert kendall_tau([4, 3, 2, 1], other) == pytest.approx(tau, abs=1e-15)
    assert tau_ap([4, 3, 2, 1], other) == pytest.approx(ap, abs=1e-15)


def test_tau_ap_depends_on_which_order_is_the_reference() -> None:
    abc, cab = [3, 2, 1], [2, 1, 3]
    # Down C, A, B: above A only C, wrong; above B both, A right.
    assert tau_ap(abc, cab) == 2 * (0 + 1 / 2) / 2 - 1 == -0.5
    # Down A, B, C: above B only A, right; above C both, wrong.
    assert tau_ap(cab, abc) == 2 * (1 + 0) / 2 - 1 == 0.0
    assert symmetric_tau_ap(abc, cab) == symmetric_tau_ap(cab, abc) == -0.25


def test_with_ties_tau_ap_asks_only_about_what_stands_above() -> None:
    # A and B share the top of the other order, and only C has something above it: both are right.
    assert tau_ap([3, 2, 1], [2, 2, 1]) == 1.0
    # The reference ties A and B, so A above B is not right; C has both.
    assert tau_ap([2, 2, 1], [3, 2, 1]) == 2 * (0 + 1) / 2 - 1 == 0.0
    assert symmetric_tau_ap([2, 2, 1], [3, 2, 1]) == 0.5


def test_tau_b_by_hand() -> None:
    # Of three pairs one is tied on the left: 2 / √(2 · 3).
    assert kendall_tau([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / math.sqrt(6), abs=1e-15)


@pytest.mark.parametrize(("x", "y", "expected"), [(X1, Y1, 0.8519), (X2, Y2, 0.2504), (X3, Y3, -0.6971)])
def test_tau_ap_as_published(x: list[float], y: list[float], expected: float) -> None:
    assert tau_ap(x, y) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (X1, Y1, 0.8333),
        (X2, Y2, 0.2880),
        (X3, Y3, -0.668),
        (X1_TIES, Y1_TIES, 0.7321),
        (X2_TIES, Y2_TIES, 0.297),
        (X3_TIES, Y3_TIES, -0.7047),
    ],
)
def test_tau_ap_b_as_published(x: list[float], y: list[float], expected: float) -> None:
    assert symmetric_tau_ap(x, y) == pytest.approx(expected, abs=5e-5)
    assert symmetric_tau_ap(y, x) == symmetric_tau_ap(x, y)


def test_the_example_in_the_manual_of_ircor() -> None:
    x = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
    y = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
    # Rounded as R does it, 0.45 to 0.4.
    x_ties = [0.7, 0.4, 0.3, 0.1, 0.6, 0.2, 0.9, 0.8, 0.1, 0.5]
    y_ties = [0.5, 0.7, 0.3, 0.1, 0.1, 0.6, 0.9, 0.2, 0.4, 0.8]
    assert tau_ap(x, y) == pytest.approx(0.3928571, abs=5e-8)
    assert symmetric_tau_ap(x, y_ties) == pytest.approx(0.3317019, abs=5e-8)
    assert symmetric_tau_ap(x_ties, y_ties) == pytest.approx(0.339418, abs=5e-7)


# By reference and by definition.


@given(values)
def test_tau_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    tau = kendall_tau(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert tau is None
    else:
        assert tau == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_tau_of_many_is_that_of_scipy_in_blocks() -> None:
    random = np.random.default_rng(1)
    x, y = random.integers(0, 500, 3000), random.random(3000)
    assert kendall_tau(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_tau_of_many_does_not_hold_all_pairs_at_once() -> None:
    random = np.random.default_rng(1)
    x, y = random.random(5000), random.random(5000)
    tracemalloc.start()
    kendall_tau(x, y)
    tau_ap(x, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80e6  # all pairs in eight bytes each would be 200 MB


def tau_ap_by_definition(reference: tuple[int, ...], other: tuple[int, ...]) -> float | None:
    """Pick what is not at the top, then what stands above it, and ask whether the reference says the same."""
    if len(set(reference)) == 1 or len(set(other)) == 1:
        return None
    shares = []
    for i in range(len(other)):
        above = [j for j in range(len(other)) if other[j] > other[i]]
        if above:
            shares.append(Fraction(sum(reference[j] > reference[i] for j in above), len(above)))
    return float(2 * sum(shares) / len(shares) - 1)


@given(values)
def test_tau_ap_is_its_definition(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    assert tau_ap(x, y) == pytest.approx(tau_ap_by_definition(x, y), abs=1e-12)


# Properties.


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_correlations_lie_between_minus_one_and_one_and_turn_with_the_order(
    first: list[int], second: list[int]
) -> None:
    turned = [-value for value in second]
    for coefficient in (kendall_tau, tau_ap, symmetric_tau_ap):
        one, other = coefficient(first, second), coefficient(first, turned)
        assert one is not None
        assert other is not None
        assert -1 <= one <= 1
        assert coefficient(first, first) == 1.0
        assert coefficient(first, [-value for value in first]) == -1.0
    assert kendall_tau(first, second) == kendall_tau(second, first)
    assert kendall_tau(first, turned) == -(kendall_tau(first, second) or 0.0)


@given(values, st.randoms())
def test_the_order_in_which_systems_are_listed_does_not_matter(pairs: list[tuple[int, int]], random: object) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for coefficient in (kendall_tau, tau_ap):
        assert coefficient(*zip(*pairs, strict=True)) == coefficient(*zip(*shuffled, strict=True))


# Degenerate.


@pytest.mark.parametrize(("x", "y"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2], [5, 5]), ([1, 1], [1, 1])])
def test_where_nothing_is_ordered_a_correlation_is_undefined(x: list[int], y: list[int]) -> None:
    assert kendall_tau(x, y) is None
    assert tau_ap(x, y) is None
    assert symmetric_tau_ap(x, y) is None


def test_lists_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(UsageError, match=r"two lists of the same length, not shapes \(2,\) and \(3,\)"):
        kendall_tau([1, 2], [1, 2, 3])
    with pytest.raises(BadInput, match="not a finite number"):
        tau_ap([1, math.nan], [1, 2])


# Rank-biased overlap, by hand with p = 1/2: depths weigh 1/2, 1/4, 1/8 …


def test_two_documents_the_other_way_round() -> None:
    # Nothing in common at depth 1, everything from depth 2 on.
    found = rbo("ab", "ba", 0.5)
    assert found.extrapolated == 0.5
    assert found.maximum == 0.5
    # Two documents in common for ever, which is 2/d of depth d: 2 (ln 2 − 1/2).
    assert found.minimum == pytest.approx(2 * (math.log(2) - 0.5), abs=1e-15)


def test_a_short_ranking_against_a_longer_one() -> None:
    # Depth 1: nothing. Depth 2: b of the longer, and of the shorter nothing more is expected: 1/2, and so for ever.
    found = rbo("b", "ab", 0.5)
    assert found.extrapolated == 0.25
    assert found.minimum == pytest.approx(math.log(2) - 0.5, abs=1e-15)
    # At best the shorter goes on with a: everything from depth 2 on.
    assert found.maximum == pytest.approx(0.5, abs=1e-15)
    assert found.residual == pytest.approx(1 - math.log(2), abs=1e-15)


def test_nothing_in_common() -> None:
    found = rbo("ab", "cd", 0.5)
    assert (found.extrapolated, found.minimum) == (0.0, 0.0)
    # At best the next two of each are those of the other: 2/3 at depth 3, everything from depth 4 on.
    assert found.maximum == pytest.approx(2 / 3 / 8 + 1 / 8, abs=1e-15)


@pytest.mark.parametrize(
    ("other", "p", "expected"),
    [
        ("akdwcjomxrubqitenhspyl", 0.1, 0.948509),
        ("b", 0.2, 0.092574),
        ("av", 0.2, 0.900000),
        ("bcxhkur", 0.4, 0.212763),
        ("karfvodcjmwgzlypebunq", 0.9, 0.468431),
        ("f", 0.9, 0.053090),
        ("bafnecwvlog", 0.9, 0.620766),
        ("ec", 0.9, 0.177650),
        ("kxcnarvmwyp", 0.99, 0.529392),
        ("lzou", 0.99, 0.132849),
        ("ojvlbihkxtnmfacurpewzysqg", 0.99, 0.885045),
    ],
)
def test_the_extrapolated_value_is_that_of_the_authors_own_program(other: str, p: float, expected: float) -> None:
    assert rbo(ALPHABET, other, p).extrapolated == pytest.approx(expected, abs=6e-7)


def test_the_residual_of_seven_equal_documents_as_published() -> None:
    assert rbo("abcdefg", "abcdefg", 0.9).residual == pytest.approx(0.232861, abs=6e-7)
    assert rbo("abcdefg", ALPHABET, 0.9).residual == pytest.approx(0.232861, abs=6e-7)


def equation_32(first: list[int], second: list[int], p: float) -> float:
    short, long = sorted((first, second), key=len)
    s, length = len(short), len(long)

    def common(d: int) -> int:
        return len(set(short[:d]) & set(long[:d]))

    seen = sum(common(d) / d * p**d for d in range(1, length + 1))
    seen += sum(common(s) * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    return (1 - p) / p * seen + ((common(length) - common(s)) / length + common(s) / s) * p**length


def by_infinite_sum(first: list[int], second: list[int], p: float) -> float:
    """The definition on rankings so long that what lies below weighs nothing."""
    total, seen, other_seen = 0.0, set[int](), set[int]()
    for d, (one, other) in enumerate(zip(first, second, strict=True), 1):
        seen.add(one)
        other_seen.add(other)
        total += (1 - p) * p ** (d - 1) * len(seen & other_seen) / d
    return total


def goes_on_alike(first: list[int], second: list[int], length: int) -> tuple[list[int], list[int]]:
    """Each goes on with what only the other has, in its order; then both with the same."""
    one = first + [item for item in second if item not in first]
    other = second + [item for item in first if item not in second]
    more = list(range(1000, 1000 + length))
    return (one + more)[:length], (other + more)[:length]


def goes_on_apart(first: list[int], second: list[int], length: int) -> tuple[list[int], list[int]]:
    one = first + list(range(1000, 1000 + length))
    other = second + list(range(9000, 9000 + length))
    return one[:length], other[:length]


@settings(deadline=None)
@given(rankings, rankings, st.sampled_from([0.1, 0.5, 0.8, 0.9]))
def test_rbo_is_its_definition(first: list[int], second: list[int], p: float) -> None:
    found = rbo(first, second, p)
    if first and second:
        assert found.extrapolated == pytest.approx(equation_32(first, second, p), abs=1e-12)
    assert found.minimum == pytest.approx(by_infinite_sum(*goes_on_apart(first, second, 400), p), abs=1e-12)
    assert found.maximum == pytest.approx(by_infinite_sum(*goes_on_alike(first, second, 400), p), abs=1e-12)


@given(rankings, rankings, st.floats(0.001, 0.999))
def test_rbo_is_symmetric_and_lies_within_its_bounds(first: list[int], second: list[int], p: float) -> None:
    found = rbo(first, second, p)
    assert found == rbo(second, first, p)
    assert 0 <= found.minimum <= found.maximum <= 1
    if found.extrapolated is not None:
        assert found.minimum <= found.extrapolated <= found.maximum


@given(st.integers(1, 200), st.floats(0.001, 0.999))
def test_a_ranking_has_exactly_1_with_itself_and_with_its_beginning(n: int, p: float) -> None:
    assert rbo(range(n), range(n), p).extrapolated == 1.0
    assert rbo(range(n), range(n), p).maximum == 1.0
    assert rbo(range(n), range((n + 1) // 2), p).extrapolated == 1.0


def test_an_empty_ranking_has_nothing_in_common_and_two_are_undefined() -> None:
    assert rbo("", "abc") == rbo("abc", "") == Rbo(0.0, 0.0, 1.0)
    assert rbo("", "") == Rbo(None, 0.0, 1.0)


def test_a_document_that_stands_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="second ranking: 'a' stands at rank 1 and again at 3"):
        rbo("abc", "axa")


@pytest.mark.parametrize("p", [0.0, 1.0, -0.5, 90, math.nan])
def test_a_persistence_that_is_none_is_refused(p: float) -> None:
    with pytest.raises(UsageError, match=r"between 0 and 1, as in 0\.9"):
        rbo("abc", "abc", p)


def test_many_queries_at_once_are_the_same_as_one_by_one() -> None:
    random = np.random.default_rng(3)
    lists = [tuple(random.permutation(40)[: random.integers(1, 30)].tolist() for _ in range(2)) for _ in range(50)]
    rows = [
        (query, first.index(item) + 1, second.index(item) + 1)
        for query, (first, second) in enumerate(lists)
        for item in first
        if item in second
    ]
    query, first_rank, second_rank = np.array(rows).T
    lengths = (np.array([len(pair[side]) for pair in lists]) for side in (0, 1))
    found = rbo_of_queries(Shared(query, first_rank, second_rank, *lengths), 0.8)
    for i, (first, second) in enumerate(lists):
        alone = rbo(first, second, 0.8)
        assert found.extrapolated[i] == pytest.approx(alone.extrapolated, abs=1e-14)
        assert found.minimum[i] == pytest.approx(alone.minimum, abs=1e-14)
        assert found.maximum[i] == pytest.approx(alone.maximum, abs=1e-14)
