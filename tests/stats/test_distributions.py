"""Quantiles of Student's t that are worked out here, against SciPy's."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scipy.special import stdtrit

from rankproof.stats.distributions import t_quantile

PROBABILITIES = (0.001, 0.025, 0.1, 0.5, 0.7, 0.95, 0.975, 0.995, 0.999)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 9, 10, 49, 224, 999, 1_000])
def test_a_t_quantile_is_the_one_of_scipy(df: int) -> None:
    found = [t_quantile(probability, df) for probability in PROBABILITIES]
    assert found == pytest.approx([float(stdtrit(df, p)) for p in PROBABILITIES], rel=1e-11, abs=1e-15)


def test_quantiles_that_tables_print() -> None:
    assert t_quantile(0.975, 1) == pytest.approx(12.7062047362)
    assert t_quantile(0.975, 10) == pytest.approx(2.22813885199)
    assert t_quantile(0.95, 30) == pytest.approx(1.69726088659)


@pytest.mark.parametrize(("probability", "df"), [(0.9999, 5), (0.975, 2.5), (0.975, 1_001)])
def test_what_is_not_summed_here_is_asked_of_scipy(probability: float, df: float) -> None:
    assert t_quantile(probability, df) == float(stdtrit(df, probability))


def test_an_interval_does_without_importing_scipy() -> None:
    program = (
        "import sys; from rankproof import mean_interval; mean_interval([0.1, 0.5, 0.4]); print('scipy' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
