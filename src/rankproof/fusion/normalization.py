"""Scores of different systems brought to one scale, list by list.

A list is what one run returned for one query. Whatever the normalisation, a document that the run does not have takes
0, or the lowest value of the list where that is below 0: it never stands above one that was returned. A run that does
not have the query at all says nothing: 0 for every document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from rankproof.errors import UnknownName
from rankproof.fusion.candidates import Candidates, Listed
from rankproof.fusion.order import Floats

Normalization = Literal["none", "min-max", "z-score", "rank", "max", "sum"]


def normalized(candidates: Candidates, name: Normalization) -> Floats:
    """Rows × runs: the score of each document in each run, on a scale that the runs share."""
    values, _ = _on_one_scale(candidates, name)
    return values


def above_absent(candidates: Candidates, name: Normalization) -> Floats:
    """Rows × runs: by how much the normalised score exceeds that of a document which the run does not have."""
    values, absent = _on_one_scale(candidates, name)
    return values - absent


def check_normalization(name: str) -> None:
    """Raise UnknownName unless there is such a normalisation."""
    if name not in get_args(Normalization):
        raise UnknownName("normalisation", name, get_args(Normalization))


def _on_one_scale(candidates: Candidates, name: Normalization) -> tuple[Floats, Floats]:
    """The values with those of absent documents filled in, and these alone."""
    if name not in candidates.memo:
        values, absent = (np.zeros((len(candidates), candidates.n_runs), order="F") for _ in range(2))
        for run in range(candidates.n_runs):
            listed = candidates.listed(run)
            found = _NORMALIZATIONS[name](listed)
            floor = np.zeros(len(listed.counts))
            answered = np.flatnonzero(listed.counts)
            floor[answered] = np.minimum(found[listed.ends[answered] - 1], 0.0)
            values[:, run] = absent[:, run] = floor[candidates.query]
            values[listed.rows, run] = found
        candidates.memo[name] = (values, absent)
    pair: tuple[Floats, Floats] = candidates.memo[name]
    return pair


def _none(listed: Listed) -> Floats:
    """The scores as they are."""
    return listed.scores


def _min_max(listed: Listed) -> Floats:
    """(score − lowest) / (highest − lowest). Equal scores, and a single document: 1."""
    scores = _scaled(listed)
    lowest = listed.last(scores)
    spread = listed.first(scores) - lowest
    shares: Floats = np.divide(scores - lowest, spread, out=np.ones(len(scores)), where=spread > 0)
    return shares


def _z_score(listed: Listed) -> Floats:
    """(score − mean) / standard deviation of the list. Equal scores, and a single document: 0."""
    scores = _scaled(listed)
    n = listed.counts[listed.query]
    deviation = scores - listed.total(scores) / n
    spread = np.sqrt(listed.total(deviation**2) / n)
    # The mean of equal scores may be off by a rounding, so it is the scores that say whether they are equal.
    differ = listed.first(scores) > listed.last(scores)
    z: Floats = np.divide(deviation, spread, out=np.zeros(len(scores)), where=differ)
    return z


def _rank(listed: Listed) -> Floats:
    """(n − rank + 1) / n for a list of n documents: 1 at the head, 1/n at the foot."""
    n = listed.counts[listed.query]
    shares: Floats = (n - listed.rank + 1) / n
    return shares


def _max(listed: Listed) -> Floats:
    """score / highest absolute score of the list. Nothing but zeros: 0."""
    scores = _scaled(listed)
    size = np.maximum(np.abs(listed.first(scores)), np.abs(listed.last(scores)))
    shares: Floats = np.divide(scores, size, out=np.zeros(len(scores)), where=size > 0)
    return shares


def _sum(listed: Listed) -> Floats:
    """(score − lowest) / sum of these over the list. Equal scores: 1/n each; so a single document: 1."""
    scores = _scaled(listed)
    gain = scores - listed.last(scores)
    total = listed.total(gain)
    shares: Floats = np.divide(gain, total, out=1 / listed.counts[listed.query], where=total > 0)
    return shares


def _scaled(listed: Listed) -> Floats:
    """The scores over a power of two, which changes no digit: now no sum or square of huge ones overflows."""
    size = np.maximum(np.abs(listed.first(listed.scores)), np.abs(listed.last(listed.scores)))
    scaled: Floats = np.ldexp(listed.scores, -np.frexp(size)[1])
    return scaled


_NORMALIZATIONS: dict[Normalization, Callable[[Listed], Floats]] = {
    "none": _none,
    "min-max": _min_max,
    "z-score": _z_score,
    "rank": _rank,
    "max": _max,
    "sum": _sum,
}
