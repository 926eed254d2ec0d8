"""The pool: which documents are shown for which query, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal, NamedTuple

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.data.run import Run
from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.labeling.identity import fingerprint_of, header_of

DEPTH = 5

Judged = Literal["last", "leave out"]
"""What becomes of documents that are judged already: they come after the others, or not at all."""


class Sighting(NamedTuple):
    """Where a system returned a document."""

    system: str
    rank: int
    score: float


@dataclass(frozen=True)
class Candidate:
    """A document to be judged for a query."""

    document: Document
    sightings: tuple[Sighting, ...] = ()
    """Where it was found. A front end shows `Current.sightings` instead, which is empty unless ranks are asked for."""

    @property
    def doc_id(self) -> str:
        """The id of the document."""
        return self.document.id

    @property
    def header(self) -> str:
        """The first 100 characters of its header, as labels keep them."""
        return header_of(self.document)

    @cached_property
    def fingerprint(self) -> str:
        """The digest of its text, by which a label knows the content that was judged."""
        return fingerprint_of(self.document.text)


@dataclass(frozen=True)
class Task:
    """One query and the documents to be judged for it; there may be none."""

    query: Query
    candidates: tuple[Candidate, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        """Document → its place among the candidates, from 0."""
        return {candidate.doc_id: place for place, candidate in enumerate(self.candidates)}


@dataclass(frozen=True)
class Pool:
    """All queries in the order of the gold set, each with its documents in the order in which they are shown."""

    tasks: tuple[Task, ...]
    corpus: Corpus
    unknown: tuple[str, ...] = ()
    """Documents that a run returned and the corpus does not have; nobody can judge them."""

    @cached_property
    def places(self) -> dict[str, int]:
        """Query → its place in the pool, from 0."""
        return {task.query.id: place for place, task in enumerate(self.tasks)}

    def __len__(self) -> int:
        """How many documents there are to judge, each counted once per query."""
        return sum(len(task.candidates) for task in self.tasks)


def make_pool(
    queries: Sequence[Query], runs: Sequence[Run], corpus: Corpus, *, depth: int = DEPTH, seed: int = 0,
    judged: Mapping[str, Iterable[str]] | None = None, then: Judged = "last",
) -> Pool:  # fmt: skip
    """The best `depth` documents of every run for each query, each document once, shuffled by the seed.

    Runs are ranked by score, equal scores by id, descending, as `trec` rules do. The place of a document among the
    others depends on seed, query and document alone: a pool that grows keeps the order of those that were in it.
    `judged` names the documents of each query that are judged already.
    """
    if depth < 1:
        raise UsageError(f"A pool of depth {depth} is empty; take 1 or more.")
    _check_common_queries(queries, runs)
    known = {query: frozenset(docs) for query, docs in (judged or {}).items()}
    ranked = [(run.name or f"run {number}", run.to_dict()) for number, run in enumerate(runs, 1)]
    unknown: dict[str, None] = {}
    tasks = []
    for query in queries:
        sightings: dict[str, list[Sighting]] = {}
        for system, results in ranked:
            for rank, (doc_id, score) in enumerate(_best(results.get(query.id, {}), depth), 1):
                sightings.setdefault(doc_id, []).append(Sighting(system, rank, score))
        unknown |= dict.fromkeys(doc_id for doc_id in sightings if doc_id not in corpus.by_id)
        done = known.get(query.id, frozenset())
        shown = [d for d in sightings if d in corpus.by_id and (then == "last" or d not in done)]
        shown.sort(key=lambda doc_id: (doc_id in done, _shuffled(seed, query.id, doc_id)))
        tasks.append(Task(query, tuple(Candidate(corpus.by_id[d], tuple(sightings[d])) for d in shown)))
    pool = Pool(tuple(tasks), corpus, tuple(unknown))
    _check_something_to_judge(pool, any(known.values()) and then == "leave out")
    return pool


def _best(results: Mapping[str, float], depth: int) -> list[tuple[str, float]]:
    ranked = sorted(results.items(), key=lambda hit: (hit[1], hit[0].encode(errors="surrogatepass")), reverse=True)
    return ranked[:depth]


def _shuffled(seed: int, query_id: str, doc_id: str) -> bytes:
    return sha256(f"{seed}\0{query_id}\0{doc_id}".encode(errors="surrogatepass")).digest()


def _check_common_queries(queries: Sequence[Query], runs: Sequence[Run]) -> None:
    if not queries:
        raise NothingToEvaluate("There is no query to label results for.")
    asked = {query.id for query in queries}
    for run in runs:
        if not asked.intersection(run.query_ids):
            ours, theirs = queries[0].id, next(iter(run.query_ids), None)
            raise BadInput.of(
                run.source, f"no query of the run is asked here: it has {theirs!r}, the queries have {ours!r}"
            )


def _check_something_to_judge(pool: Pool, left_out: bool) -> None:
    if len(pool):
        return
    if pool.unknown:
        first = pool.unknown[0]
        raise BadInput.of(
            pool.corpus.source,
            f"no document of the runs is in the corpus; the first is {first!r}. Is it the right one?",
        )
    why = "every document in the pool is judged already" if left_out else "the runs returned no document"
    raise NothingToEvaluate(f"There is nothing to label: {why}.")
