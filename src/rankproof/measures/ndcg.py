"""Discounted cumulative gain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from rankproof.measures.judged import Floats, Ints, Judged, share
from rankproof.measures.registry import measure

Gain = Literal["linear", "exp", "binary"]
IdealList = Literal["judged", "returned"]


def gains_of(grade: Floats, gain: Gain, gains: Mapping[float, float] | None) -> Floats:
    """What a document of each grade is worth; a grade of 0 or less is worth nothing unless `gains` says so."""
    positive = np.maximum(grade, 0.0)
    if gain == "exp":
        worth = np.exp2(positive) - 1.0
    elif gain == "binary":
        worth = (positive > 0).astype(np.float64)
    else:
        worth = positive
    if gains:
        worth = worth.copy()
        for one_grade, value in gains.items():
            worth[grade == one_grade] = value
    return worth


def discounts(rank: Ints) -> Floats:
    """1 / log2(rank + 1)."""
    weights: Floats = 1.0 / np.log2(rank + 1.0)
    return weights


def _ideal_dcg(
    judged: Judged, k: int | None, gain: Gain, gains: Mapping[float, float] | None, ideal: IdealList
) -> Floats:
    best = judged.ideal
    worth = gains_of(best.grade, gain, gains)
    if gains:
        # A custom map may not rise with the grade: the best order is by gain.
        order = np.lexsort((-worth, best.query))
        worth = worth[order]
    weight = worth * discounts(best.place)
    limit: Any = k if k is not None else np.inf
    if ideal == "returned":
        limit = np.minimum(limit, judged.n_retrieved[best.query])
    inside = best.place <= limit
    return judged.total(best.query, np.where(inside, weight, 0.0))


@measure("DCG", aliases=("dcg",), shortcuts={"dcg_burges": {"gain": "exp"}}, bounds=(0.0, np.inf), perfect=None)
def dcg(
    judged: Judged, *, k: int | None = None, gain: Gain = "linear", gains: Mapping[float, float] | None = None
) -> Floats:
    """Sum of the gains of the ranking, each divided by log2(rank + 1).

    Järvelin & Kekäläinen, TOIS 2002. `gain`: linear (the grade), exp (2^grade − 1) or binary; `gains` maps single
    grades to gains of your own. Negative grades gain nothing.
    """
    hits = judged.cut(k)
    return judged.total(hits.query, gains_of(hits.grade, gain, gains) * discounts(hits.rank))


@measure(
    "nDCG",
    aliases=("ndcg", "ndcg_cut"),
    shortcuts={"ndcg_burges": {"gain": "exp"}, "ndcg_exp": {"gain": "exp"}},
)
def ndcg(
    judged: Judged,
    *,
    k: int | None = None,
    gain: Gain = "linear",
    gains: Mapping[float, float] | None = None,
    ideal: IdealList = "judged",
) -> Floats:
    """Discounted gain of the ranking as a share of the best possible.

    Järvelin & Kekäläinen, TOIS 2002. The best possible ranking holds all judged documents, cut at k;
    `ideal="returned"` also cuts it at the number of documents returned. No relevant document: 0.
    """
    key = ("ideal dcg", k, gain, None if gains is None else tuple(gains.items()), ideal)
    if key not in judged._memo:
        judged._memo[key] = _ideal_dcg(judged, k, gain, gains, ideal)
    return share(dcg.function(judged, k=k, gain=gain, gains=gains), judged._memo[key])


@dcg.expected
def expected_dcg(
    judged: Judged, *, k: int | None = None, gain: Gain = "linear", gains: Mapping[float, float] | None = None
) -> Floats:
    """Each document gets the mean discount of the ranks that its tie spans."""
    hits = judged.hits
    deepest = int((hits.above + hits.tied).max(initial=0))
    ranks = np.arange(1, deepest + 1)
    weights = np.where(ranks <= (k or deepest), discounts(ranks), 0.0)
    summed = np.concatenate(([0.0], np.cumsum(weights)))
    mean_weight = (summed[hits.above + hits.tied] - summed[hits.above]) / hits.tied
    return judged.total(hits.query, gains_of(hits.grade, gain, gains) * mean_weight)


@ndcg.expected
def expected_ndcg(
    judged: Judged,
    *,
    k: int | None = None,
    gain: Gain = "linear",
    gains: Mapping[float, float] | None = None,
    ideal: IdealList = "judged",
) -> Floats:
    """The best possible gain does not depend on ties, so the mean of the share is the share of the mean."""
    return share(expected_dcg(judged, k=k, gain=gain, gains=gains), _ideal_dcg(judged, k, gain, gains, ideal))
