"""The RQ of a story: the mean reciprocal rank of labelled queries over the full ranking of its scenes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum
from typing import Literal

from rankproof.comparison import Findings, compare, intervals_of
from rankproof.data.corpus import Corpus
from rankproof.data.faults import Faults
from rankproof.data.formats.cnl import World
from rankproof.data.gold import GoldSet, Query
from rankproof.errors import MAX_FAULTS, BadInput, UsageError, nearest
from rankproof.measures.parse import parse_measures
from rankproof.scoring.evaluate import Evaluator
from rankproof.scoring.scores import NO_GROUP, Scores
from rankproof.stats.intervals import Interval
from rankproof.story.profiles import Ranker, profile_name

THRESHOLD = 0.6
"""A story passes if its RQ is greater than this."""
DEFAULT_K = 5
"""How many scenes recall looks at where a query does not say."""
PRESET = "rq"

Reason = Literal["no_scenes", "no_text", "no_ground_truth"]
"""Why there is no value: no scene, no scene with a word in it, no query with a relevant scene."""

_SHOWN = 5


@dataclass(frozen=True)
class Found:
    """What one labelled query found."""

    query: Query
    relevant: tuple[str, ...]
    k: int
    """The `topK` of the query, else 5."""
    rank: int
    """Where the first relevant scene stands; every scene is ranked, so there is always one."""
    reciprocal_rank: float
    recall_at_k: float
    recall_at_5: float
    recall_at_10: float
    first: str
    """The scene that came first."""
    similarity: float
    """How alike the first scene and the query are."""


@dataclass(frozen=True)
class IndexSize:
    """How big the index is."""

    scenes: int
    empty_scenes: int
    """Scenes without a word, which come last for every query."""
    bytes: int


@dataclass(frozen=True)
class Quality:
    """The RQ of a story under one profile."""

    profile: str
    threshold: float
    value: float | None
    """The mean reciprocal rank; None if there is nothing to take it over."""
    reason: Reason | None
    """Why there is no value."""
    found: tuple[Found, ...]
    """The labelled queries."""
    skipped: tuple[Query, ...]
    """Queries without a relevant scene, which leave the mean."""
    index: IndexSize
    interval: Interval | None = None
    """The 95 % interval of the value."""
    scores: Scores | None = None
    """What the comparison of profiles takes."""

    @property
    def passed(self) -> bool | None:
        """Whether the value is greater than the threshold; None without a value."""
        return None if self.value is None else self.value > self.threshold

    @property
    def means(self) -> dict[str, float | None]:
        """MRR, and recall at each query's own k, at 5 and at 10."""
        return means_of(self.found)

    @property
    def misses(self) -> tuple[Found, ...]:
        """The queries whose first scene is not relevant, the worst first."""
        return tuple(sorted((one for one in self.found if one.rank > 1), key=lambda one: -one.rank))

    def by_group(self) -> dict[str, tuple[Found, ...]]:
        """The labelled queries of each group; those without a group come last."""
        members: dict[str, list[Found]] = {}
        for one in self.found:
            members.setdefault(one.query.group or NO_GROUP, []).append(one)
        return {name: tuple(members[name]) for name in sorted(members, key=lambda name: (name == NO_GROUP, name))}


def means_of(found: Sequence[Found]) -> dict[str, float | None]:
    """MRR, and recall at each query's own k, at 5 and at 10, over some of the queries; None over none."""
    names = ("recall_at_k", "recall_at_5", "recall_at_10")
    recalls = {name: fsum(getattr(one, name) for one in found) / len(found) if found else None for name in names}
    return {"mrr": mean_reciprocal_rank(found), **recalls}


def mean_reciprocal_rank(found: Sequence[Found]) -> float | None:
    """The mean of 1/rank, rounded once: a mean of exactly the threshold must not exceed it by the last digit."""
    if not found:
        return None
    ranks = Counter(one.rank for one in found)
    return float(sum(Fraction(n, rank) for rank, n in ranks.items()) / len(found))


def retrieval_quality(
    story: World | Corpus, queries: GoldSet, *, profile: str = "vsa", threshold: float = THRESHOLD
) -> Quality:
    """Rank all scenes for each labelled query, and measure where the relevant ones stand."""
    if not 0 <= threshold < 1:
        raise UsageError(f"A threshold lies between 0 and 1, as in {THRESHOLD}; {threshold:g} does not.")
    corpus = story.to_corpus() if isinstance(story, World) else story
    name = profile_name(profile)
    ranker = Ranker.of([document.text for document in corpus], name)
    size = IndexSize(len(corpus), int((~ranker.worded).sum()), ranker.index.n_bytes)
    relevant = _relevant(queries)
    labelled = [query for query in queries.queries if query.id in relevant]
    skipped = tuple(query for query in queries.queries if query.id not in relevant)
    nothing = Quality(name, threshold, None, _reason(size, labelled), (), skipped, size)
    if size.scenes:
        _refuse_unknown_scenes(relevant, corpus, queries.source)
    if nothing.reason is not None:
        return nothing
    cut_offs = {query.id: _top_k(queries, query.id) for query in labelled}
    run = dict(_run(ranker, corpus, labelled, relevant, cut_offs))
    scores = _scores(relevant, {query_id: one.scenes for query_id, one in run.items()}, set(cut_offs.values()))
    by_query = scores.by_query()
    found = tuple(
        Found(
            query=query,
            relevant=relevant[query.id],
            k=cut_offs[query.id],
            rank=run[query.id].rank,
            reciprocal_rank=by_query[query.id]["RR"],
            recall_at_k=by_query[query.id][f"R@{cut_offs[query.id]}"],
            recall_at_5=by_query[query.id]["R@5"],
            recall_at_10=by_query[query.id]["R@10"],
            first=run[query.id].first,
            similarity=run[query.id].similarity,
        )
        for query in labelled
    )
    interval = intervals_of(scores)[scores.measures[0]]
    value = mean_reciprocal_rank(found)
    return replace(nothing, value=value, found=found, interval=interval, scores=replace(scores, name=name))


def compare_profiles(found: Sequence[Quality]) -> Findings | None:
    """Each later profile against the first: their reciprocal ranks, query by query; None if there are no two."""
    scores = [one.scores.only(parse_measures("RR")) for one in found if one.scores is not None]
    return compare(scores) if len(scores) > 1 else None


def _reason(size: IndexSize, labelled: Sequence[Query]) -> Reason | None:
    if not size.scenes:
        return "no_scenes"
    if size.empty_scenes == size.scenes:
        return "no_text"
    return None if labelled else "no_ground_truth"


def _relevant(queries: GoldSet) -> dict[str, tuple[str, ...]]:
    """Query → its relevant scenes, for the queries that have any."""
    grades = queries.qrels.to_dict()
    rows = {q: tuple(scene for scene, grade in row.items() if grade >= 1) for q, row in grades.items()}
    return {query_id: scenes for query_id, scenes in rows.items() if scenes}


def _refuse_unknown_scenes(relevant: Mapping[str, Sequence[str]], corpus: Corpus, source: str) -> None:
    faults = Faults(source)
    for query_id, scenes in relevant.items():
        for scene in scenes:
            if scene in corpus.by_id:
                continue
            if len(faults) >= MAX_FAULTS:
                # Looking for the nearest name takes time, and nobody would read it.
                faults.add_more(1)
            else:
                faults.add(f"query {query_id!r}: {scene!r} is no scene of the story. {_way_out(scene, corpus)}")
    faults.raise_any()


def _way_out(scene: str, corpus: Corpus) -> str:
    if near := nearest(scene, corpus.by_id):
        return f"Did you mean {' or '.join(map(repr, near))}?"
    names = list(corpus.by_id)
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"Its scenes are {', '.join(map(repr, names[:_SHOWN]))}{more}."


def _top_k(queries: GoldSet, query_id: str) -> int:
    k = queries.meta.get("queries", {}).get(query_id, {}).get("topK", DEFAULT_K)
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise BadInput.of(queries.source, f"query {query_id!r}: 'topK' is {k!r}, not a whole number from 1 on")
    return k


@dataclass(frozen=True)
class _Ranked:
    scenes: dict[str, float]
    """Down to the last relevant scene and the deepest cut-off, with scores that fall by rank."""
    rank: int
    first: str
    similarity: float


def _run(
    ranker: Ranker, corpus: Corpus, queries: Sequence[Query], relevant: Mapping[str, Sequence[str]],
    cut_offs: Mapping[str, int],
) -> Iterator[tuple[str, _Ranked]]:  # fmt: skip
    ids = [document.id for document in corpus]
    places = {scene: place for place, scene in enumerate(ids)}
    rankings = ranker.rankings([query.text for query in queries])
    for query, (order, similarities) in zip(queries, rankings, strict=True):
        ranks = {place: rank for rank, place in enumerate(order.tolist(), 1)}
        wanted = [ranks[places[scene]] for scene in relevant[query.id]]
        # What stands deeper than all of these changes no figure.
        depth = max(10, cut_offs[query.id], *wanted)
        top = order[:depth].tolist()
        scenes = {ids[place]: float(-rank) for rank, place in enumerate(top, 1)}
        yield query.id, _Ranked(scenes, min(wanted), ids[top[0]], float(similarities[top[0]]))


def _scores(
    relevant: Mapping[str, Sequence[str]], run: Mapping[str, Mapping[str, float]], cut_offs: set[int]
) -> Scores:
    qrels = {query_id: dict.fromkeys(relevant[query_id], 1) for query_id in run}
    measures = ["RR", "R@5", "R@10", *(f"R@{k}" for k in sorted(cut_offs - {5, 10}))]
    return Evaluator(qrels, preset=PRESET).evaluate(run, measures)
