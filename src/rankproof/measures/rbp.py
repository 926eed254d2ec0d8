"""Rank-biased precision and what it cannot know."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankproof.errors import UsageError
from rankproof.measures.judged import Floats, Judged
from rankproof.measures.registry import measure


def _patience(p: float) -> float:
    if not 0 < p < 1:
        raise UsageError(f"The patience p of RBP lies between 0 and 1, not {p!r}.")
    return p


@measure("RBP", aliases=("rbp",), perfect=None)
def rbp(
    judged: Judged, *, p: float = 0.8, k: int | None = None, rel: float = 1,
    gain: Literal["binary", "linear"] = "binary", max_grade: float | None = None,
) -> Floats:  # fmt: skip
    """Gain per document seen by a reader who goes on to the next one with chance p.

    Moffat & Zobel, TOIS 2008. `gain="linear"`: a document is worth its grade over the maximum grade (of all
    judgments unless given). A finite ranking does not reach 1; see RBPResidual.
    """
    hits = judged.cut(k)
    if gain == "linear":
        top = judged.max_grade if max_grade is None else max_grade
        worth = np.clip(hits.grade, 0.0, top) / top if top > 0 else np.zeros(len(hits.grade))
    else:
        worth = (hits.grade >= rel).astype(np.float64)
    return judged.total(hits.query, worth * (1 - _patience(p)) * p ** (hits.rank - 1.0))


@measure("RBPResidual", aliases=("rbp_residual", "rbp_res"), perfect=None)
def rbp_residual(judged: Judged, *, p: float = 0.8, k: int | None = None) -> Floats:
    """How much higher RBP could be if all that nobody judged, and all below the ranking, were relevant."""
    hits = judged.cut(k)
    return 1.0 - judged.total(hits.query, (1 - _patience(p)) * p ** (hits.rank - 1.0))
