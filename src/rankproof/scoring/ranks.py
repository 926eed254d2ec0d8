"""Lay a run over the judgments once, under the rules: what every measure looks at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankproof.measures.judged import Hits, Ideal, Ints, Judged, running_count
from rankproof.scoring.placement import Order, Placement, Prepared
from rankproof.scoring.rules import Rules


def order_of(rules: Rules) -> Order | None:
    """In which order tied documents are to be placed; None where the rules do not need one."""
    return rules.ties if rules.ties in ("trec", "id", "input") else None


def judge(prepared: Prepared, placement: Placement, rules: Rules, scored: NDArray[np.bool_]) -> Judged:
    """The judged documents by rank, of the queries that are scored."""
    grade = prepared.qrels.table.values[placement.row]
    query = prepared.query[placement.row]
    rank = placement.above + 1 + _tied_places(placement, rules, query, grade)
    order = _by_query_and_rank(query, rank)
    if order is not None:
        query, rank, grade = query[order], rank[order], grade[order]
    above = placement.above if order is None else placement.above[order]
    tied = placement.tied if order is None else placement.tied[order]
    hits = Hits(query, rank, grade, above, tied)
    ideal, n_retrieved = prepared.ideal, placement.n_retrieved
    judged = Judged(hits, ideal, n_retrieved, prepared.max_grade)
    if not scored.all():
        judged = _only(scored, judged)
    return judged.condensed() if rules.unjudged == "condensed" else judged


def _by_query_and_rank(query: Ints, rank: Ints) -> Ints | None:
    key = query * (int(rank.max(initial=0)) + 1) + rank
    return None if bool((key[1:] >= key[:-1]).all()) else np.argsort(key, kind="stable")


def _tied_places(placement: Placement, rules: Rules, query: Ints, grade: NDArray[np.float64]) -> Ints:
    """How many of the tied documents come before each hit."""
    if rules.ties not in ("best", "worst", "expected"):
        return placement.place
    # The judged members of a tie, best first; the unjudged ones count as grade 0 between the positive and the rest.
    best = np.lexsort((-grade, placement.above, query))
    group = np.concatenate(([True], (np.diff(query[best]) != 0) | (np.diff(placement.above[best]) != 0)))[: len(best)]
    number = running_count(np.cumsum(group))
    size = np.bincount(np.cumsum(group) - 1)[np.cumsum(group) - 1] if len(best) else number
    unjudged = placement.tied[best] - size
    place = np.empty(len(best), np.int64)
    if rules.ties == "worst":
        place[best] = (size - number) + np.where(grade[best] > 0, unjudged, 0)
    else:
        place[best] = (number - 1) + np.where(grade[best] > 0, 0, unjudged)
    return place


def _only(scored: NDArray[np.bool_], judged: Judged) -> Judged:
    """The same for some of the queries, numbered anew."""
    hits, ideal, renumbered = judged.hits, judged.ideal, np.cumsum(scored) - 1
    keep, keep_ideal = scored[hits.query], scored[ideal.query]
    return Judged(
        Hits(renumbered[hits.query[keep]], hits.rank[keep], hits.grade[keep], hits.above[keep], hits.tied[keep]),
        Ideal(renumbered[ideal.query[keep_ideal]], ideal.place[keep_ideal], ideal.grade[keep_ideal]),
        judged.n_retrieved[scored],
        judged.max_grade,
    )
