"""What to label next: the unjudged documents that keep a measure, or the difference of two runs, uncertain the most.

A hole is a document that nobody judged and that stands near the top of a run. Whatever grades the holes turn out to
have, the value lies between two bounds; a judgment takes a hole away and brings the bounds closer together. The bounds
are those over all completions: every assignment of grades to the holes of a query. Documents that stand in no run above
the depth are taken as not relevant throughout.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.measures.judged import Floats, Hits, Ideal, Ints, Judged
from rankproof.measures.rbp import rbp
from rankproof.measures.registry import Measure, family
from rankproof.scoring.rules import Preset

DEPTH = 10

_FEW = 4_096
"""So many completions of a query are all looked at, whatever the measure."""
_MANY = 65_536
"""So many are, where there is no shorter way."""
_ROWS = 1 << 18
"""How many completions are worked out at once, and for the documents that are proposed at most."""
_MEANINGLESS = {"Judged", "Unjudged", "RBPResidual", "infAP"}
"""Measures of the judgments rather than of the ranking."""

Progress = Callable[[int, int], None]


class Bounds(NamedTuple):
    """The least and the greatest value that is still possible."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How much is uncertain."""
        return self.high - self.low


@dataclass(frozen=True)
class Hole:
    """A document to judge, and what that is worth."""

    query_id: str
    doc_id: str
    ranks: tuple[int | None, ...]
    """Where it stands in each run."""
    expected: float
    """How much narrower the bounds of the mean become, in the mean over grades as frequent as those given so far."""
    least: float
    """How much narrower they become at least, whatever the grade."""
    flips: bool
    """Whether it has a say in which of two runs is better on this query."""


@dataclass(frozen=True)
class After:
    """What is left when the proposed documents are judged."""

    expected: Bounds
    """The bounds of the mean, in the mean over grades as frequent as those given so far."""
    widest: float
    """How far apart they are in the worst case."""
    n_unworked: int
    """Queries with too many proposed documents to go through; they are counted as if nothing had been judged."""


@dataclass(frozen=True)
class Priorities:
    """What is uncertain, and which judgments would change that most."""

    measure: Measure
    preset: Preset
    runs: tuple[str, ...]
    """One run, or a baseline and a candidate, whose difference is what matters."""
    depth: int
    grades: tuple[float, ...]
    n_queries: int
    now: float
    """The value as it is scored today."""
    bounds: Bounds
    by_query: Mapping[str, Bounds]
    holes: tuple[Hole, ...]
    """All of them, what matters most first."""
    n_proposed: int
    after: After
    n_loose: int
    """Queries with so many holes that their bounds are wider than they would have to be."""
    n_estimated: int
    """Queries with so many holes and grades that what single judgments are worth is an estimate; the bounds are not."""

    @property
    def proposed(self) -> tuple[Hole, ...]:
        """The documents to judge first."""
        return self.holes[: self.n_proposed]

    @property
    def sign_is_open(self) -> bool:
        """Whether either of two runs can turn out to be the better one."""
        return len(self.runs) == 2 and self.bounds.low < 0 < self.bounds.high


@dataclass(frozen=True)
class Request:
    """What is to be found out."""

    measure: Measure
    preset: Preset
    depth: int | None = None
    """How deep the holes lie; the cut-off of the measure, or 10 if it has none."""
    grades: tuple[float, ...] | None = None
    """What a document can be given; the whole numbers up to the highest grade given so far, if None."""
    n: int = 20
    """How many documents are proposed."""


def find_priorities(
    qrels: Qrels, runs: Sequence[Run], request: Request, *, queries: Sequence[str] | None = None,
    names: Sequence[str] | None = None, progress: Progress | None = None,
) -> Priorities:  # fmt: skip
    """The holes of one run, or of two runs that are compared, ordered by what a judgment is worth.

    `queries` are those to look at; all that are judged, if None. With two runs the difference second − first matters,
    and documents come first that have a say in its sign.
    """
    _check(request, runs)
    measure, rules = request.measure, request.preset.rules
    depth = request.depth or measure.k or DEPTH
    given = qrels.to_dict()
    levels = request.grades or _levels(qrels)
    if len(levels) < 2 or min(levels) > 0:
        raise UsageError(f"The grades {_listed(levels)} leave nothing to find out; name 0 and at least one above it.")
    wanted = list(dict.fromkeys(qrels.query_ids if queries is None else queries))
    rankings = [_Rankings(run, rules.ties, rules.precision == "float32") for run in runs]
    wanted = _scored(wanted, rankings, rules.missing)
    likely = _likelihoods(qrels, levels)
    cases = []
    for number, query_id in enumerate(wanted, 1):
        ranked = [one.of(query_id, drop_self=rules.self_match == "drop") for one in rankings]
        case = _Case.of(query_id, given.get(query_id, {}), ranked, depth, levels, request)
        cases.append(_Worked.of(case, likely))
        if progress is not None:
            progress(number, len(wanted))
    n = len(cases)
    holes = sorted((hole for case in cases for hole in case.holes(n)), key=_worth)
    bounds = _mean([case.bounds for case in cases])
    return Priorities(
        measure, request.preset, tuple(names or [run.name or run.source for run in runs]), depth, tuple(levels), n,
        math.fsum(case.now for case in cases) / n, bounds, {case.case.query_id: case.bounds for case in cases},
        tuple(holes), min(request.n, len(holes)), _after(cases, holes[: request.n]),
        sum(not case.bounder.exact for case in cases), sum(case.estimated for case in cases),
    )  # fmt: skip


def _check(request: Request, runs: Sequence[Run]) -> None:
    rules, own = request.preset.rules, family(request.measure.family)
    if len(runs) not in (1, 2):
        raise UsageError(f"Name one run, or two that are compared, not {len(runs)}.")
    if own.aggregate != "mean" or own.name in _MEANINGLESS:
        raise UsageError(f"{request.measure} has no bounds that judgments would narrow; take one such as nDCG@10.")
    if rules.ties not in ("trec", "id", "input"):
        raise UsageError(f"Holes have a rank only where ties are broken; ties={rules.ties!r} breaks none.")
    if rules.no_relevant != "zero":
        raise UsageError(
            f"The preset {request.preset.name!r} leaves queries without a relevant document out of the mean, so that a "
            "judgment may change how many queries there are; take one where they count 0, such as 'default'."
        )
    if (request.depth is not None and request.depth < 1) or request.n < 0:
        raise UsageError(f"Neither a depth of {request.depth} nor {request.n} documents can be looked at.")


def _levels(qrels: Qrels) -> tuple[float, ...]:
    seen = {float(grade) for grade in np.unique(qrels.table.values).tolist() if grade >= 0}
    levels = sorted(seen | set(map(float, range(int(max(seen, default=1.0)) + 1))) | {0.0, 1.0})
    if len(levels) > 10:
        raise UsageError(f"The judgments have {len(levels)} grades, too many to try out; name those to try (--grades).")
    return tuple(levels)


def _likelihoods(qrels: Qrels, levels: Sequence[float]) -> Floats:
    """How likely each grade is: as frequent as among the judgments, none of them out of the question."""
    counts = np.array([np.count_nonzero(qrels.table.values == level) + 1 for level in levels], np.float64)
    shares: Floats = counts / counts.sum()
    return shares


def _listed(levels: Sequence[float]) -> str:
    return ", ".join(f"{level:g}" for level in levels) or "(none)"


def _scored(queries: list[str], rankings: Sequence[_Rankings], missing: str) -> list[str]:
    """The queries that the rules count."""
    if not queries:
        raise NothingToEvaluate("There is no query to label results for.")
    absent = [query for query in queries if any(query not in one for one in rankings)]
    if len(absent) == len(queries) and all(query not in one for one in rankings for query in queries):
        theirs = next(iter(rankings[0].query_ids), None)
        raise BadInput.of(rankings[0].source, f"no query is in it that is to be labelled: it has {theirs!r}")
    if missing == "error" and absent:
        raise BadInput.of(rankings[0].source, f"query {absent[0]!r} is missing from a run, which the rules refuse")
    left = [query for query in queries if query not in set(absent)] if missing == "skip" else queries
    if not left:
        raise NothingToEvaluate("No query is in every run.")
    return left


def _worth(hole: Hole) -> tuple[object, ...]:
    # Rounded, so that the last bit of a logarithm does not decide which of two equals comes first.
    return (not hole.flips, -round(hole.expected, 12), -round(hole.least, 12), hole.query_id, hole.doc_id)


def _mean(bounds: Sequence[Bounds]) -> Bounds:
    # The holes of one query have no part in another: both ends can be reached by all queries at once.
    return Bounds(*(math.fsum(side) / len(bounds) for side in zip(*bounds, strict=True)))


class _Rankings:
    """A run, query by query, best first."""

    def __init__(self, run: Run, ties: str, single: bool) -> None:
        self.source = run.source
        self._rows = run.to_dict()
        self._ties, self._single = ties, single

    def __contains__(self, query_id: str) -> bool:
        return bool(self._rows.get(query_id))

    @property
    def query_ids(self) -> list[str]:
        return list(self._rows)

    def of(self, query_id: str, *, drop_self: bool) -> dict[str, int]:
        """Document → rank."""
        row = self._rows.get(query_id, {})
        docs = [doc for doc in row if not (drop_self and doc == query_id)]
        if self._ties != "input":
            docs.sort(key=str.encode, reverse=self._ties == "trec")
        docs.sort(key=lambda doc: -(float(np.float32(row[doc])) if self._single else row[doc]))
        return {doc: rank for rank, doc in enumerate(docs, 1)}


class _Placed(NamedTuple):
    """Where the judged documents and the holes stand in one run."""

    columns: Ints
    """Which of them are in it, by rank."""
    ranks: Ints
    n_retrieved: int


@dataclass(frozen=True)
class _Case:
    """One query: what is judged, what is not, and where all of it stands."""

    query_id: str
    known: Floats
    """Grades given."""
    holes: tuple[str, ...]
    hole_ranks: tuple[tuple[int | None, ...], ...]
    placed: tuple[_Placed, ...]
    levels: tuple[float, ...]
    """What a hole can be given, rising."""
    request: Request

    @classmethod
    def of(
        cls, query_id: str, known: Mapping[str, float], ranked: Sequence[Mapping[str, int]], depth: int,
        levels: Sequence[float], request: Request,
    ) -> _Case:  # fmt: skip
        tops = (doc for ranks in ranked for doc, rank in ranks.items() if rank <= depth)
        holes = tuple(sorted({doc for doc in tops if doc not in known}))
        docs = [*known, *holes]
        placed = []
        for ranks in ranked:
            inside = sorted((ranks[doc], column) for column, doc in enumerate(docs) if doc in ranks)
            rows = np.array(inside, np.int64).reshape(-1, 2)
            placed.append(_Placed(rows[:, 1], rows[:, 0], len(ranks)))
        hole_ranks = tuple(tuple(ranks.get(doc) for ranks in ranked) for doc in holes)
        grades = np.array(list(known.values()), np.float64)
        return cls(query_id, grades, holes, hole_ranks, tuple(placed), tuple(sorted(levels)), request)

    def values(self, completions: Floats) -> Floats:
        """The value under each completion, a row of grades of the holes; of two runs the difference."""
        parts = [self._values(placed, completions) for placed in self.placed]
        return parts[0] if len(parts) == 1 else parts[1] - parts[0]

    def alone(self, number: int) -> _Case:
        """The same for one of two runs."""
        return replace(self, placed=(self.placed[number],))

    def now(self) -> float:
        """The value as it is scored today, nobody having judged the holes."""
        judged = tuple(
            _Placed(
                one.columns[one.columns < len(self.known)], one.ranks[one.columns < len(self.known)], one.n_retrieved
            )
            for one in self.placed
        )
        return float(replace(self, holes=(), hole_ranks=(), placed=judged).values(np.zeros((1, 0)))[0])

    def _values(self, placed: _Placed, completions: Floats) -> Floats:
        n = len(completions)
        grades = np.concatenate((np.broadcast_to(self.known, (n, len(self.known))), completions), axis=1)
        columns, ranks = self._within_cutoff(placed)
        hits = Hits(
            np.repeat(np.arange(n), len(ranks)), np.tile(ranks, n), grades[:, columns].ravel(),
            np.tile(ranks - 1, n), np.ones(n * len(ranks), np.int64),
        )  # fmt: skip
        best = -np.sort(-grades, axis=1)
        ideal = Ideal(
            np.repeat(np.arange(n), grades.shape[1]), np.tile(np.arange(1, grades.shape[1] + 1), n), best.ravel()
        )
        judged = Judged(hits, ideal, np.full(n, placed.n_retrieved), self.levels[-1])
        preset = self.request.preset
        if preset.rules.unjudged == "condensed":
            judged = judged.condensed()
        return self.request.measure.compute(judged, preset.defaults)

    def _within_cutoff(self, placed: _Placed) -> tuple[Ints, Ints]:
        k = self.request.measure.k
        if k is None or self.request.preset.rules.unjudged == "condensed" or self._is_condensed:
            return placed.columns, placed.ranks
        inside = placed.ranks <= k
        return placed.columns[inside], placed.ranks[inside]

    @property
    def _is_condensed(self) -> bool:
        return bool(dict(self.request.measure.parameters).get("judged_only"))

    @cached_property
    def beyond(self) -> Bounds:
        """What documents below the ranking and the depth could still add: of RBP its exact residual, else nothing."""
        measure = self.request.measure
        if measure.family != "RBP" or measure.k is not None or self._is_condensed:
            return Bounds(0.0, 0.0)
        p = {**rbp.parameters, **self.request.preset.defaults.get("RBP", {}), **dict(measure.parameters)}["p"]
        left = [1.0 - math.fsum((1 - p) * p ** (placed.ranks - 1.0)) for placed in self.placed]
        return Bounds(0.0, left[0]) if len(left) == 1 else Bounds(-left[0], left[1])


class _Bounder(Protocol):
    """Finds the bounds of one query when some of its holes have grades."""

    exact: bool

    def __call__(self, columns: Sequence[int], grades: Floats) -> tuple[Floats, Floats]:
        """Low and high for each row of grades of these holes; the other holes are open."""
        ...


class _Everything:
    """All completions, worked out once: true for every measure."""

    exact = True

    def __init__(self, case: _Case) -> None:
        n, levels = len(case.holes), case.levels
        self._levels = np.array(levels)
        completions = list(itertools.product(levels, repeat=n))
        values = case.values(np.array(completions, np.float64).reshape(len(completions), n))
        self._values = values.reshape((len(levels),) * n)

    def __call__(self, columns: Sequence[int], grades: Floats) -> tuple[Floats, Floats]:
        others = tuple(axis for axis in range(self._values.ndim) if axis not in columns)
        # The axes that are left stand in rising order.
        order = np.argsort(columns)
        at = tuple(np.searchsorted(self._levels, grades[:, column]) for column in order)
        low, high = self._values.min(axis=others), self._values.max(axis=others)
        n = len(grades)
        return np.broadcast_to(low[at], n), np.broadcast_to(high[at], n)


class _Sorted:
    """How often each grade is given decides what is best possible; for the rest, better documents belong further up.

    So of all completions with the same number of documents of each grade only two matter: the one that gives the higher
    grades to the documents that help most, and the one that gives them to those that help least.
    """

    def __init__(self, case: _Case, order: Sequence[int], levels: Sequence[float]) -> None:
        self._case = case
        self._order = list(order)
        """The holes, those first whose relevance helps most."""
        self._levels = levels
        """What an open hole can be given."""
        self.exact = _n_multisets(len(case.holes), len(levels)) <= _MANY

    def __call__(self, columns: Sequence[int], grades: Floats) -> tuple[Floats, Floats]:
        free = [hole for hole in self._order if hole not in columns]
        if not self.exact:
            low, high = self._case.request.measure.bounds
            ends = (low, high) if len(self._case.placed) == 1 else (low - high, high - low)
            return np.full(len(grades), ends[0]), np.full(len(grades), ends[1])
        falling = list(itertools.combinations_with_replacement(self._levels[::-1], len(free)))
        some = np.array(falling, np.float64).reshape(len(falling), len(free))
        at_once = max(_ROWS // (2 * len(some)), 1)
        parts = [self._ends(columns, grades[i : i + at_once], free, some) for i in range(0, len(grades), at_once)]
        low_parts, high_parts = zip(*parts, strict=True)
        return np.concatenate(low_parts), np.concatenate(high_parts)

    def _ends(self, columns: Sequence[int], grades: Floats, free: list[int], some: Floats) -> tuple[Floats, Floats]:
        n_holes, n_rows = len(self._case.holes), len(grades) * len(some) * 2
        completions = np.empty((len(grades), len(some), 2, n_holes))
        completions[..., list(columns)] = grades[:, None, None, :]
        completions[:, :, 0, free] = some
        completions[:, :, 1, free[::-1]] = some
        values = self._case.values(completions.reshape(n_rows, n_holes)).reshape(len(grades), -1)
        return values.min(axis=1), values.max(axis=1)


class _Apart:
    """Two runs as if their holes had nothing to do with each other: bounds that hold, and may be too wide."""

    exact = False

    def __init__(self, first: _Bounder, second: _Bounder) -> None:
        self._first, self._second = first, second

    def __call__(self, columns: Sequence[int], grades: Floats) -> tuple[Floats, Floats]:
        (low_1, high_1), (low_2, high_2) = self._first(columns, grades), self._second(columns, grades)
        return low_2 - high_1, high_2 - low_1


def _n_multisets(n_holes: int, n_levels: int) -> int:
    """In how many ways so many documents can be given grades, if only the number of each grade counts."""
    return math.comb(n_holes + n_levels - 1, n_levels - 1)


def _bounder(case: _Case, levels: Sequence[float]) -> _Bounder:
    n_completions = len(case.levels) ** len(case.holes)
    if n_completions <= _FEW:
        return _Everything(case)
    if len(case.placed) == 1:
        return _Sorted(case, _by_rank(case), levels)
    if _is_weighted_sum(case.request):
        return _Sorted(case, _by_effect(case), levels)
    if n_completions <= _MANY:
        return _Everything(case)
    return _Apart(*(_Sorted(one, _by_rank(one), levels) for one in (case.alone(0), case.alone(1))))


def _by_rank(case: _Case) -> list[int]:
    """Holes in the run by rank; then those that it does not have, which only make the best possible better."""
    n_known = len(case.known)
    inside = [int(column) - n_known for column in case.placed[0].columns if column >= n_known]
    return inside + [hole for hole in range(len(case.holes)) if hole not in set(inside)]


def _by_effect(case: _Case) -> list[int]:
    """Holes by what the difference is if that one alone is relevant."""
    alone = np.eye(len(case.holes)) * case.levels[-1]
    order: list[int] = np.argsort(-case.values(alone), kind="stable").tolist()
    return order


def _is_weighted_sum(request: Request) -> bool:
    """Whether a run's value is a sum over documents of a worth of the grade times a weight of the rank.

    It may be divided by what depends on the number of documents of each grade alone, the same for both runs. Then the
    difference of two runs is such a sum as well, its weights being the differences of theirs.
    """
    measure = request.measure
    options = {**request.preset.defaults.get(measure.family, {}), **dict(measure.parameters)}
    if measure.family == "nDCG":
        return bool(options.get("ideal", "judged") == "judged" and not options.get("gains"))
    if measure.family == "R":
        return bool(options.get("of", "all") != "any")
    return measure.family in ("P", "RBP", "F") or (measure.family == "DCG" and not options.get("gains"))


@dataclass(frozen=True)
class _Worked:
    """One query with its bounds, now and after each judgment."""

    case: _Case
    bounder: _Bounder
    now: float
    bounds: Bounds
    expected: Floats
    """How much narrower the bounds become when each hole is judged, in the mean over likely grades."""
    least: Floats
    likely: Floats
    estimated: bool
    """Whether what a judgment is worth was worked out with fewer grades than there are."""

    @classmethod
    def of(cls, case: _Case, likely: Floats) -> _Worked:
        n = len(case.holes)
        bounder = _bounder(case, case.levels)
        nothing = np.zeros((1, 0))
        bounds = _plus(bounder([], nothing), case.beyond)
        q = len(case.levels)
        estimated = isinstance(bounder, _Sorted | _Apart) and n * q * _n_multisets(n, q) > _ROWS
        # What a judgment is worth is asked once for each hole and grade; where that is too much, the other holes are
        # taken as worth nothing or the most.
        by_hole = _bounder(case, (case.levels[0], case.levels[-1])) if estimated else bounder
        width = float(np.subtract(*by_hole([], nothing)[::-1])[0])
        each = np.array(case.levels).reshape(-1, 1)
        left = np.array([np.subtract(*by_hole([hole], each)[::-1]) for hole in range(n)]).reshape(n, q)
        shrink = np.maximum(width - left, 0.0)
        least = shrink.min(axis=1, initial=np.inf)
        return cls(case, bounder, case.now(), bounds, shrink @ likely, least, likely, estimated)

    def holes(self, n_queries: int) -> list[Hole]:
        """What each judgment is worth to the mean."""
        is_open = len(self.case.placed) == 2 and self.bounds.low < 0 < self.bounds.high
        rows = zip(self.case.holes, self.case.hole_ranks, self.expected.tolist(), self.least.tolist(), strict=True)
        return [
            Hole(self.case.query_id, doc, ranks, gain / n_queries, least / n_queries, is_open and gain > 1e-12)
            for doc, ranks, gain, least in rows
        ]


def _plus(ends: tuple[Floats, Floats], beyond: Bounds) -> Bounds:
    return Bounds(float(ends[0][0]) + beyond.low, float(ends[1][0]) + beyond.high)


def _after(cases: Sequence[_Worked], judged: Sequence[Hole]) -> After:
    """The bounds of the mean once these holes have grades."""
    chosen: dict[str, set[str]] = {}
    for hole in judged:
        chosen.setdefault(hole.query_id, set()).add(hole.doc_id)
    expected, widest, n_unworked = [], [], 0
    for worked in cases:
        found = _after_query(worked, chosen.get(worked.case.query_id, set()))
        n_unworked += found is None
        bounds, width = found if found is not None else (worked.bounds, worked.bounds.width)
        expected.append(bounds)
        widest.append(width)
    return After(_mean(expected), math.fsum(widest) / len(widest), n_unworked)


def _after_query(worked: _Worked, docs: set[str]) -> tuple[Bounds, float] | None:
    """Bounds in the mean over likely grades, and the greatest width; None where there are too many to go through."""
    case = worked.case
    columns = [column for column, doc in enumerate(case.holes) if doc in docs]
    if not columns:
        return worked.bounds, worked.bounds.width
    q, n_open = len(case.levels), len(case.holes) - len(columns)
    if q ** len(columns) * math.comb(n_open + q - 1, q - 1) > _ROWS:
        return None
    grades = np.array(list(itertools.product(case.levels, repeat=len(columns))), np.float64)
    low, high = worked.bounder(columns, grades)
    chances = worked.likely[np.searchsorted(case.levels, grades)].prod(axis=1)
    beyond = case.beyond
    means = [math.fsum(side * chances) for side in (low + beyond.low, high + beyond.high)]
    return Bounds(*means), float((high - low).max()) + beyond.width
