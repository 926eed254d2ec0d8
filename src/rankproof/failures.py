"""Why queries failed: each miss in the class that its evidence puts it in, and what the classes together recommend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rankproof.data.corpus import Corpus
from rankproof.data.gold import GoldSet, Query
from rankproof.errors import count
from rankproof.evaluation import Evaluation, Expected, Miss, Mode, Stale
from rankproof.retrieval.analysis import Analyser
from rankproof.retrieval.pipeline import PipelineRun
from rankproof.scoring.scores import NO_GROUP

FailureClass = Literal["corpus-gap", "ranking-gap", "keyword-gap", "semantic-gap"]
CLASSES: tuple[FailureClass, ...] = ("corpus-gap", "ranking-gap", "keyword-gap", "semantic-gap")

ADVICE: Mapping[FailureClass, str] = {
    "keyword-gap": "add keyword search: fuse this pipeline with BM25 (hybrid search)",
    "corpus-gap": "add the missing documents to the corpus",
    "semantic-gap": "try a better embedding model, or tune this one on such queries",
    "ranking-gap": "work on the ranking: a reranker, another one, or one that sees more candidates",
}
"""What helps, if more than the share below of the failures are of a class."""

DECIDING_SHARE = 0.30
FEWEST_FAILURES = 10
LOW_FAILURE_RATE = 0.10

IDENTIFIERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b[A-ZÅÄÖ]{2,}(?:FS)? ?\d{4}:\d+\b",  # AFS 2020:1
        r"\b\d{4}:\d+\b",  # 2018:218
        r"\b\d+ ?kap\.(?: ?\d+ ?§)?|\b\d+ ?§",  # 6 kap. 3 §
        r"\bRFC[ -]?\d+\b",
        r"\bCVE-\d{4}-\d{4,}\b",
        r"\bv?\d+\.\d+\.\d+(?:[-.]\w+)?\b",  # v1.2.3
        r"\b[A-Z]{2,}(?:[_-][A-Z0-9]+)*[_-]\d+\b",  # ERR_42
    )
)
"""What a name or number that must be matched exactly looks like."""

_NEAREST = 3
_ALIKE = 0.9
_SHINGLE = 5


@dataclass(frozen=True)
class Failure:
    """A query that failed, in the first class whose evidence holds."""

    query: Query
    kind: FailureClass
    evidence: tuple[str, ...]
    expected: Expected | None = None
    """The relevant document that stood best."""
    crowded: int = 0
    """How many of the results above it say nearly the same as another one above."""


class Decision(NamedTuple):
    """A class that more than the deciding share of the failures belong to, and what helps."""

    kind: FailureClass
    share: float
    advice: str


@dataclass(frozen=True)
class Analysis:
    """Why a pipeline failed, and what to do about it."""

    mode: str
    n_queries: int
    failures: tuple[Failure, ...]
    unjudged_top: tuple[str, ...]
    """Queries whose first result nobody judged: no failures yet, but the next to be labelled."""
    stale: tuple[Stale, ...]
    k: int
    decisions: tuple[Decision, ...] = ()
    verdict: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def failure_rate(self) -> float:
        """The share of queries that failed."""
        return len(self.failures) / self.n_queries if self.n_queries else 0.0

    def distribution(self, group: str | None = None) -> dict[FailureClass, int]:
        """Class → failures, of all queries or of one group."""
        among = [f for f in self.failures if group is None or self.groups.get(f.query.id, NO_GROUP) == group]
        return {kind: sum(failure.kind == kind for failure in among) for kind in CLASSES}

    def group_names(self) -> list[str]:
        """The groups that have failures."""
        return sorted({self.groups.get(failure.query.id, NO_GROUP) for failure in self.failures})


@dataclass(frozen=True)
class Evidence:
    """What is looked at besides the run itself."""

    keyword: PipelineRun
    """A keyword search over the whole corpus, as deep as it goes."""
    vector: PipelineRun | None
    """The vector stage over the whole corpus; None if the pipeline has none."""
    corpus: Corpus
    analyser: Analyser
    identifiers: Sequence[re.Pattern[str]] = IDENTIFIERS

    def ranks(self, run: PipelineRun, query: Query) -> dict[str, int]:
        """Document → rank, for one query."""
        return {hit.doc_id: rank for rank, hit in enumerate(run.by_query[query.id].hits, 1)}


def analyse(found: Evaluation, mode: Mode, gold: GoldSet, evidence: Evidence, *, k: int = 5) -> Analysis:
    """The failures of one pipeline by class, and the decision that follows from them.

    A miss whose first result nobody judged is no failure yet, if people judged what does not answer as well; where a
    gold set names answers only, everything else counts as not answering.
    """
    judged_both_ways = bool((gold.qrels.table.values <= 0).any())
    failures, unjudged = [], []
    for miss in mode.misses:
        if judged_both_ways and miss.returned and miss.returned[0][1] is None:
            unjudged.append(miss.query.id)
        else:
            failures.append(_classified(miss, mode, evidence, k))
    queries = {query.id: query for query in gold.queries}
    failures += [_without_answer(queries[query_id], evidence) for query_id in found.no_answer]
    n_queries = found.n_scored + len(found.no_answer)
    decisions, verdict = decide([failure.kind for failure in failures], n_queries)
    return Analysis(
        mode.name, n_queries, tuple(failures), tuple(unjudged), found.stale, k, decisions, verdict, gold.groups
    )  # fmt: skip


def decide(kinds: Sequence[FailureClass], n_queries: int) -> tuple[tuple[Decision, ...], str]:
    """The classes that decide, largest share first, and the verdict in words."""
    n = len(kinds)
    if n_queries and n / n_queries <= LOW_FAILURE_RATE:
        rate = f"{n} of {n_queries} queries fail ({n / n_queries:.0%})"
        return (), f"{rate}, which is few: the pipeline does what it should."
    if n < FEWEST_FAILURES:
        few = count(n, "failure is", "failures are")
        return (), f"{few} too few to decide on; label more queries, until {FEWEST_FAILURES} fail."
    shares = {kind: kinds.count(kind) / n for kind in CLASSES}
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    decisions = tuple(Decision(kind, share, ADVICE[kind]) for kind, share in ranked if share > DECIDING_SHARE)
    if not decisions:
        return (), f"No class holds more than {DECIDING_SHARE:.0%} of the {n} failures: there is no one thing to do."
    first = decisions[0]
    return decisions, f"{first.share:.0%} of the {n} failures are of the class {first.kind}: {first.advice}."


def _without_answer(query: Query, evidence: Evidence) -> Failure:
    said = ["the reviewer found that the corpus has no answer"]
    answer = evidence.keyword.by_query.get(query.id)
    if answer is not None and answer.hits:
        near = ", ".join(_named(hit.doc_id, evidence.corpus) for hit in answer.hits[:_NEAREST])
        said.append(f"nearest by keyword search: {near}")
    return Failure(query, "corpus-gap", tuple(said))


def _named(doc_id: str, corpus: Corpus) -> str:
    document = corpus.by_id.get(doc_id)
    return f"{doc_id} ({document.title})" if document is not None and document.title else doc_id


def _classified(miss: Miss, mode: Mode, evidence: Evidence, k: int) -> Failure:
    best = min(miss.expected, key=lambda one: (one.rank or _deepest(one), one.doc_id))
    if any(one.rank is not None or any(rank for _, rank in one.stages) for one in miss.expected):
        answer = mode.run.by_query[miss.query.id]
        above = [hit.doc_id for hit in answer.hits[: (best.rank or len(answer.hits) + 1) - 1]]
        crowded = _crowded(above, evidence.corpus)
        return Failure(miss.query, "ranking-gap", tuple(_path(best)), best, crowded)
    keyword = evidence.ranks(evidence.keyword, miss.query)
    in_reach = [one for one in miss.expected if keyword.get(one.doc_id, k + 1) <= k]
    if in_reach:
        best = min(in_reach, key=lambda one: keyword[one.doc_id])
        return Failure(miss.query, "keyword-gap", tuple(_keyword_words(miss.query, best, keyword, evidence)), best)
    return Failure(miss.query, "semantic-gap", tuple(_semantic_words(miss.query, best, keyword, evidence)), best)


def _deepest(one: Expected) -> int:
    """Below all that was returned, by the best rank that any stage gave it."""
    return 10**9 + min((rank for _, rank in one.stages if rank is not None), default=10**9)


def _path(best: Expected) -> Iterable[str]:
    """Where the document stood after each stage, and which stage lost it."""
    places = [f"{stage} {'–' if rank is None else rank}" for stage, rank in best.stages]
    yield f"{best.doc_id} was among the candidates; its rank after each stage: {', '.join(places)}"
    before: int | None = None
    for stage, rank in best.stages:
        if before is not None and rank is None:
            yield f"{stage} lost it: rank {before} before, not among the results after"
        elif before is not None and rank is not None and rank > before:
            yield f"{stage} moved it down from rank {before} to {rank}"
        before = rank


def _keyword_words(
    query: Query, best: Expected, ranks: Mapping[str, int], evidence: Evidence
) -> Iterable[str]:  # fmt: skip
    yield f"keyword search puts {best.doc_id} at rank {ranks[best.doc_id]}; it was not among the candidates"
    terms = _shared_terms(query, best.doc_id, evidence)
    yield f"terms in common: {', '.join(terms)}"
    names = [match.group() for pattern in evidence.identifiers for match in pattern.finditer(query.text)]
    if names:
        yield f"identifiers in the query: {', '.join(dict.fromkeys(names))}"


def _semantic_words(
    query: Query, best: Expected, ranks: Mapping[str, int], evidence: Evidence
) -> Iterable[str]:  # fmt: skip
    place = ranks.get(best.doc_id)
    said = "finds nothing in common" if place is None else f"puts it at rank {place}"
    yield f"{best.doc_id} was not among the candidates; keyword search {said}"
    if evidence.vector is not None:
        found = evidence.ranks(evidence.vector, query).get(best.doc_id)
        yield f"the vector stage puts it at rank {found} of the whole corpus" if found else "the vector stage lacks it"
    words = set(evidence.analyser.tokens(query.text))
    shared = _shared_terms(query, best.doc_id, evidence)
    yield f"{len(shared)} of the {len(words)} words of the query are in the document"


def _shared_terms(query: Query, doc_id: str, evidence: Evidence) -> list[str]:
    document = evidence.corpus.by_id.get(doc_id)
    text = "" if document is None else f"{document.title}\n{document.text}"
    held = set(evidence.analyser.tokens(text))
    return [token for token in dict.fromkeys(evidence.analyser.tokens(query.text)) if token in held]


def _crowded(doc_ids: Sequence[str], corpus: Corpus) -> int:
    """How many of the documents say nearly what another one before them says."""
    shingles = [_shingles(corpus.by_id[doc_id].text) for doc_id in doc_ids if doc_id in corpus.by_id]
    return sum(any(_alike(own, other) for other in shingles[:i]) for i, own in enumerate(shingles))


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + _SHINGLE]) for i in range(max(1, len(words) - _SHINGLE + 1))}


def _alike(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)
