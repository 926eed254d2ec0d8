"""Power of the paired test: how many queries it takes to see a difference, and what these queries can show.

The power of Student's t is used for all paired tests of a mean: the randomisation test has practically the same.
"""

from __future__ import annotations

import math

from rankproof.errors import NotMeasured, UsageError
from rankproof.stats.distributions import chi_square_quantile, noncentral_t_tail, normal_quantile, t_quantile
from rankproof.stats.intervals import check_level

MOST_QUERIES = 10**9


def power_of(n: int, difference: float, sd: float, *, alpha: float = 0.05) -> float:
    """The chance that a two-sided paired test on n queries finds a true difference, if differences spread by sd."""
    _check(sd, alpha)
    if not math.isfinite(difference):
        raise UsageError(f"A difference is a number, such as 0.02; {difference:g} is none.")
    if n < 2:
        return alpha if n == 1 else 0.0
    df, critical = n - 1, t_quantile(1 - alpha / 2, n - 1)
    shift = abs(difference) / sd * math.sqrt(n)
    # Beyond this the chance to miss it is below 1e-15, and the series for it no longer converges.
    if shift > critical + 12 + critical / math.sqrt(2 * df) * 12:
        return 1.0
    return min(1.0, noncentral_t_tail(critical, df, shift) + noncentral_t_tail(critical, df, -shift))


def smallest_difference(n: int, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest true difference that n queries show with this power (the minimum detectable effect)."""
    _check(sd, alpha, power)
    if n < 2:
        raise NotMeasured("One query cannot show any difference, however large; judge more queries.")
    low, high = 0.0, sd
    while power_of(n, high, sd, alpha=alpha) < power:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if power_of(n, middle, sd, alpha=alpha) >= power else (middle, high)
    return high


def queries_needed(difference: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """The least number of queries that shows a true difference with this power."""
    _check(sd, alpha, power)
    if difference == 0 or not math.isfinite(difference):
        raise UsageError(f"Name a difference that you want to see, such as 0.02; {difference:g} is none.")
    # The normal approximation is a little low; the answer lies just above it.
    quantiles = float(normal_quantile(1 - alpha / 2)) + float(normal_quantile(power))
    root = quantiles * sd / abs(difference)
    if root > math.sqrt(MOST_QUERIES):
        raise NotMeasured(f"A difference of {difference:g} would take more than a thousand million queries.")
    low, high = 1, max(2, math.ceil(root**2))
    while power_of(high, difference, sd, alpha=alpha) < power:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle, difference, sd, alpha=alpha) >= power else (middle, high)
    return high


def sd_interval(sd: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """The range of the true standard deviation, given that of n differences: what a plan made from it may be off by."""
    check_level(level)
    if n < 2:
        raise NotMeasured("One query says nothing about the spread of differences.")
    ends = ((1 + level) / 2, (1 - level) / 2)
    low, high = (sd * math.sqrt((n - 1) / chi_square_quantile(end, n - 1)) for end in ends)
    return low, high


def _check(sd: float, alpha: float, power: float | None = None) -> None:
    if not (math.isfinite(sd) and sd > 0):
        raise NotMeasured(f"Power needs differences that vary, and their standard deviation here is {sd:g}.")
    for name, value in (("A significance level", alpha), ("Power", power)):
        if value is not None and not 0 < value < 1:
            raise UsageError(f"{name} lies between 0 and 1; {value:g} does not.")
    if power is not None and power <= alpha:
        raise UsageError(f"Power {power:g} is not above the level {alpha:g}: a test without any data reaches it.")
