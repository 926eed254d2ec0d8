"""Methods that look at ranks only, so that the scale of the scores does not matter.

Ranks follow the scores; equal scores rank by id, from high to low, as in trec_eval.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankproof.fusion.candidates import Candidates
from rankproof.fusion.order import Floats
from rankproof.fusion.registry import method

_PAIRS_AT_ONCE = 1 << 18


@method("rrf")
def rrf(candidates: Candidates, *, weights: Sequence[float] | None = None, k: float = 60.0) -> Floats:
    """Reciprocal rank fusion: the sum over the runs of weight / (k + rank).

    Cormack, Clarke & Büttcher, SIGIR 2009. Each weight is 1 unless given. A run that does not have the document adds
    nothing.
    """
    total = np.zeros(len(candidates))
    for run, weight in enumerate(weights or [1.0] * candidates.n_runs):
        total += _where_present(candidates, run, weight, k + candidates.ranks[:, run])
    return total


@method("isr")
def isr(candidates: Candidates) -> Floats:
    """Inverse square rank: n × the sum of 1 / rank² over the n runs that have the document.

    Mourão, Martins & Magalhães, Computerized Medical Imaging and Graphics 39, 2015.
    """
    total = np.zeros(len(candidates))
    for run in range(candidates.n_runs):
        total += _where_present(candidates, run, 1.0, candidates.ranks[:, run].astype(np.float64) ** 2)
    return total * candidates.n_present


def _where_present(candidates: Candidates, run: int, part: float, whole: Any) -> Floats:
    """part / whole for the documents of a run, 0 for the others."""
    shares: Floats = np.divide(part, whole, out=np.zeros(len(candidates)), where=candidates.present[:, run])
    return shares


@method("borda")
def borda(candidates: Candidates) -> Floats:
    """Borda count: with c documents for a query, the sum over the runs of c − rank + 1 points.

    Aslam & Montague, SIGIR 2001. The c − n documents that a run of n documents does not have share the points that are
    left, (c − n + 1) / 2 for each. So a run without the query gives all documents the same.
    """
    c = candidates.n_rows[candidates.query]
    total = np.zeros(len(candidates))
    for run in range(candidates.n_runs):
        n = candidates.n_returned[candidates.query, run]
        total += np.where(candidates.present[:, run], c - candidates.ranks[:, run] + 1, (c - n + 1) / 2)
    return total


@method("condorcet")
def condorcet(candidates: Candidates) -> Floats:
    """Condorcet fusion: how many documents of the query it beats in a vote of the runs, a tie counting one half.

    Montague & Aslam, CIKM 2002; ordered by Copeland's count, which unlike sorting by pairs is well defined where
    majorities go in circles. A run votes for the document that it ranks higher, and for one that it has against one
    that it does not have; on two that it does not have it does not vote. Takes time by the square of the documents of
    a query.
    """
    longest = int(candidates.ranks.max())
    # Narrow numbers, because all that counts here is how many pairs fit into the cache.
    ranks = candidates.ranks.astype(np.int16 if longest < np.iinfo(np.int16).max else np.int64)
    ranks[~candidates.present] = longest + 1
    points = np.empty(len(candidates))
    for begin, end in itertools.pairwise(candidates.starts.tolist()):
        points[begin:end] = _copeland(np.ascontiguousarray(ranks[begin:end].T))
    return points


def _copeland(ranks: NDArray[np.signedinteger[Any]]) -> Floats:
    """Wins and half the ties of each document; ranks are runs × documents."""
    n_runs, n = ranks.shape
    points = np.empty(n)
    step = max(1, _PAIRS_AT_ONCE // n)
    for begin in range(0, n, step):
        ours = ranks[:, begin : begin + step, None]
        votes = np.zeros((ours.shape[1], n), np.int8 if n_runs <= np.iinfo(np.int8).max else np.int64)
        for mine, theirs in zip(ours, ranks, strict=True):
            votes += mine < theirs
            votes -= mine > theirs
        # Wins, ties and losses are n - 1 together; so wins and half the ties follow from wins less losses.
        points[begin : begin + step] = (n - 1 + np.sign(votes).sum(axis=1, dtype=np.int64)) / 2
    return points
