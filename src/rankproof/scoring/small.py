"""The same numbers for a handful of results, where setting up arrays would take longer than the work itself.

Only what is plain is done here: dicts of dicts with string ids, the common measures, the usual rules. Everything else,
and everything that must be refused, is left to the main road, which knows what to say.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from rankproof.measures.judged import Floats
from rankproof.measures.ndcg import discounts
from rankproof.measures.registry import Measure
from rankproof.scoring.rules import Preset, Rules

LARGEST = 2000
"""Results and judgments up to which this road is taken."""

# Made by the very function that the arrays use, so that both roads give the same bits.
_DISCOUNT: list[float] = discounts(np.arange(1, LARGEST + 1)).tolist()


_Value = Callable[["_Query"], float]


class _Query:
    """The judged documents of one query, by rank."""

    def __init__(self, ranks: list[int], grades: list[float], judged: Iterable[float]) -> None:
        self.ranks, self.grades = ranks, grades
        self.ideal = sorted(judged, reverse=True)
        """All grades, best first."""
        self._relevant: dict[float, tuple[list[int], int]] = {}

    def relevant(self, rel: float) -> tuple[list[int], int]:
        """The ranks of the relevant documents, and how many there are, retrieved or not."""
        if rel not in self._relevant:
            ranks = [rank for rank, grade in zip(self.ranks, self.grades, strict=True) if grade >= rel]
            self._relevant[rel] = ranks, sum(grade >= rel for grade in self.ideal)
        return self._relevant[rel]


def small_values(
    qrels: dict[Any, Any], run: dict[Any, Any], measures: tuple[Measure, ...], preset: Preset
) -> tuple[list[str], Floats] | None:
    """The scored queries and one row of values per measure; None where this is not a case for the short road."""
    rules = preset.rules
    if not _plain(rules) or len(qrels) + len(run) > LARGEST:
        return None
    functions = []
    for measure in measures:
        function = _function(measure, preset.defaults)
        if function is None:
            return None
        functions.append(function)
    try:
        if sum(map(len, qrels.values())) + sum(map(len, run.values())) > LARGEST or not _sane(qrels, run):
            return None
    except (TypeError, OverflowError):
        return None
    ids, rows = [], []
    met = False
    for query, judged in qrels.items():
        results = run.get(query)
        met = met or bool(results)
        if (not results and rules.missing == "skip") or (rules.no_relevant == "skip" and max(judged.values()) <= 0):
            continue
        seen = _ranked(judged, results or {}, rules)
        ids.append(query)
        rows.append([function(seen) for function in functions])
    if not met or not rows:
        return None
    return ids, np.array(rows, np.float64).T


def _plain(rules: Rules) -> bool:
    return (
        rules.ties in ("trec", "id", "input")
        and "error" not in (rules.missing, rules.no_relevant, rules.extra)
        and rules.unjudged == "nonrelevant"
        and rules.self_match == "keep"
        and rules.round_query is None
    )


def _sane(qrels: dict[Any, Any], run: dict[Any, Any]) -> bool:
    """Whether every id is a string and every number a finite one of Python's own; TypeError is a no as well."""
    for side in (qrels, run):
        rows = side.values()
        if set(map(type, side)) != {str} or set(map(type, rows)) != {dict}:
            return False
        ids = "".join(chain.from_iterable(rows))
        numbers = list(chain.from_iterable(map(dict.values, rows)))
        total = sum(numbers)
        if type(total) not in (int, float) or not math.isfinite(total):
            return False
        # Huge grades and half characters are told by the main road.
        if side is qrels and (not all(rows) or not ids.isascii() or max(map(abs, numbers)) > 1000):
            return False
    return True


def _ranked(judged: dict[str, float], results: dict[str, float], rules: Rules) -> _Query:
    scores: Sequence[float] = list(results.values())
    if rules.precision == "float32":
        scores = array("f", scores)
    by_score = dict(zip(scores, results, strict=True))
    if len(by_score) == len(scores):
        docs = [by_score[score] for score in sorted(scores, reverse=True)]
    elif rules.ties == "trec":
        docs = [doc for _, doc in sorted(zip(scores, results, strict=True), reverse=True)]
    else:
        pairs = zip(scores, results, strict=True)
        # Sorting keeps the order of equal scores, reversed or not.
        in_order = sorted(pairs, key=itemgetter(1)) if rules.ties == "id" else pairs
        docs = [doc for _, doc in sorted(in_order, key=itemgetter(0), reverse=True)]
    ranks = [rank for rank, doc in enumerate(docs, 1) if doc in judged]
    return _Query(ranks, [judged[docs[rank - 1]] for rank in ranks], judged.values())


def _function(measure: Measure, defaults: Mapping[str, Mapping[str, Any]]) -> _Value | None:
    maker = _MAKERS.get(measure.family)
    if maker is None:
        return None
    return maker(**{**defaults.get(measure.family, {}), **dict(measure.parameters)})


def _ndcg(*, k: float = math.inf, gain: str = "linear", **other: Any) -> _Value | None:
    if gain != "linear" or other:
        return None

    def dcg(ranks: Iterable[int], grades: list[float]) -> float:
        total = 0.0
        for rank, grade in zip(ranks, grades, strict=False):
            if rank > k:
                break
            if grade > 0:
                total += grade * _DISCOUNT[rank - 1]
        return total

    def value(query: _Query) -> float:
        ideal = dcg(range(1, len(query.ideal) + 1), query.ideal)
        return dcg(query.ranks, query.grades) / ideal if ideal > 0 else 0.0

    return value


def _precision(*, k: int, rel: float = 1, **other: Any) -> _Value | None:
    return None if other else lambda query: bisect_right(query.relevant(rel)[0], k) / k


def _recall(*, k: int, rel: float = 1, **other: Any) -> _Value | None:
    if other:
        return None

    def value(query: _Query) -> float:
        ranks, total = query.relevant(rel)
        return bisect_right(ranks, k) / total if total else 0.0

    return value


def _success(*, k: int, rel: float = 1, **other: Any) -> _Value | None:
    return None if other else lambda query: float(bisect_right(query.relevant(rel)[0], k) > 0)


def _reciprocal_rank(*, k: float = math.inf, rel: float = 1, **other: Any) -> _Value | None:
    if other:
        return None

    def value(query: _Query) -> float:
        ranks, _ = query.relevant(rel)
        return 1.0 / ranks[0] if ranks and ranks[0] <= k else 0.0

    return value


def _average_precision(*, k: float = math.inf, rel: float = 1, **other: Any) -> _Value | None:
    if other:
        return None

    def value(query: _Query) -> float:
        ranks, total = query.relevant(rel)
        summed = 0.0
        for nth, rank in enumerate(ranks, 1):
            if rank <= k:
                summed += nth / rank
        return summed / total if total else 0.0

    return value


_MAKERS: dict[str, Callable[..., _Value | None]] = {
    "nDCG": _ndcg,
    "P": _precision,
    "R": _recall,
    "Success": _success,
    "RR": _reciprocal_rank,
    "AP": _average_precision,
}
