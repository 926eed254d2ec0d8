"""Non-inferiority and equivalence: proof that a candidate is not worse, or not different, by more than a margin.

A difference that is not significant proves nothing: too few queries never find one. These tests turn the burden of
proof around: the candidate is taken to be worse by the margin until the queries show otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankproof.errors import UsageError
from rankproof.stats.paired import PERMUTATIONS, Alternative, TestName, paired_tests
from rankproof.stats.resampling import Floats


@dataclass(frozen=True)
class MarginTest:
    """What the queries prove about a margin; each p-value is to be held against the level of one-sided tests."""

    margin: float
    non_inferiority_p: float
    """Of "the candidate is worse by the margin or more"."""
    superiority_p: float
    """Of "the candidate is better by the margin or more"; small where it is shown not to be."""

    @property
    def equivalence_p(self) -> float:
        """Two one-sided tests (TOST): both must find the difference inside the margin."""
        return max(self.non_inferiority_p, self.superiority_p)


def margin_tests(
    differences: Floats, margin: float, *, test: TestName = "randomization", permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> list[MarginTest]:  # fmt: skip
    """For each column of candidate − baseline."""
    check_margin(margin)

    def p_values(shift: float, alternative: Alternative) -> list[float]:
        moved = differences + shift
        found = paired_tests(moved, test=test, alternative=alternative, permutations=permutations, seed=seed)
        return [one.p_value for one in found]

    both = zip(p_values(margin, "greater"), p_values(-margin, "less"), strict=True)
    return [MarginTest(margin, lower, upper) for lower, upper in both]


def check_margin(margin: float) -> None:
    """Refuse a margin that is none."""
    if not (math.isfinite(margin) and margin > 0):
        raise UsageError(
            f"A margin is a difference above 0 that you could live with, such as 0.01; {margin:g} is none."
        )
