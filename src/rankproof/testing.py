"""For those who write stages: checks that every retriever and reranker must pass, and fakes that pass them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rankproof.data.gold import Query
from rankproof.errors import NotMeasured
from rankproof.retrieval.answers import Answer, Hit, checked, ordered
from rankproof.retrieval.stage import Reranker, Retriever


def check_retriever(retriever: Retriever, queries: Sequence[Query], *, k: int = 10) -> list[Answer]:
    """Raise AssertionError unless the retriever keeps its promises; returns its answers.

    One answer per query, in order; at most k hits, best first, each document once, finite scores; the same answers when
    asked again, one query at a time, and in another order; the first hits stay the first if more are asked for.
    """
    answers = list(retriever.search(queries, k))
    assert len(answers) == len(queries), f"{len(answers)} answers to {len(queries)} queries"
    for query, answer in zip(queries, answers, strict=True):
        _check_answer(query, answer, k)
    assert _ids(retriever.search(queries, k)) == _ids(answers), "asked again, it answers otherwise"
    alone = [answer for query in queries for answer in retriever.search([query], k)]
    assert _ids(alone) == _ids(answers), "asked one query at a time, it answers otherwise"
    backwards = list(retriever.search(list(reversed(queries)), k))[::-1]
    assert _ids(backwards) == _ids(answers), "asked in another order, it answers otherwise"
    fewer = _ids(retriever.search(queries, 1))
    assert fewer == [ids[:1] for ids in _ids(answers)], "the best of one is not the first of many"
    assert list(retriever.search([], k)) == [], "no query, yet an answer"
    return answers


def check_reranker(reranker: Reranker, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Raise AssertionError unless the reranker keeps its promises; returns what it made of the hits.

    No document that was not given, none twice, finite scores, best first; the same when asked again and when the hits
    come in another order; nothing out of nothing.
    """
    found = reranker.rerank(query, hits)
    _check_hits(query, found)
    assert {hit.doc_id for hit in found} <= {hit.doc_id for hit in hits}, "a document that was not given"
    again = reranker.rerank(query, hits)
    assert [hit.doc_id for hit in again] == [hit.doc_id for hit in found], "asked again, it answers otherwise"
    backwards = reranker.rerank(query, list(reversed(hits)))
    assert [hit.doc_id for hit in backwards] == [hit.doc_id for hit in found], (
        "the order of the hits changes its answer"
    )
    assert list(reranker.rerank(query, [])) == [], "something out of nothing"
    return found


def _ids(answers: Iterable[Answer]) -> list[tuple[str, ...]]:
    return [tuple(hit.doc_id for hit in answer.hits) for answer in answers]


def _check_answer(query: Query, answer: Answer, k: int) -> None:
    assert len(answer.hits) <= k, f"{query.id}: {len(answer.hits)} hits where {k} were asked for"
    assert answer.state == "measured" or answer.reason, f"{query.id}: {answer.state} without a reason"
    assert answer.state != "not measured" or not answer.hits, f"{query.id}: not measured, yet there are hits"
    _check_hits(query, answer.hits)


def _check_hits(query: Query, hits: Sequence[Hit]) -> None:
    try:
        checked(hits)
    except NotMeasured as exc:
        raise AssertionError(f"{query.id}: {exc}") from exc
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True), f"{query.id}: the hits are not best first"


@dataclass
class FakeRetriever:
    """Answers from a table; queries in `failing` fail with the reason given there."""

    table: Mapping[str, Mapping[str, float]]
    failing: Mapping[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """The queries that it was asked, in order."""

    def search(self, queries: Sequence[Query], k: int) -> Iterable[Answer]:
        """One answer per query."""
        for query in queries:
            self.asked.append(query.id)
            if query.id in self.failing:
                yield Answer.failed(self.failing[query.id])
            else:
                hits = ordered(Hit(doc_id, score) for doc_id, score in self.table.get(query.id, {}).items())
                yield Answer(hits[:k])


@dataclass
class FakeReranker:
    """Orders by a table of scores, a document that is not in it last; queries in `failing` fail."""

    table: Mapping[str, float]
    failing: Mapping[str, str] = field(default_factory=dict)

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The hits in their new order."""
        if query.id in self.failing:
            raise NotMeasured(self.failing[query.id])
        return ordered(Hit(hit.doc_id, self.table.get(hit.doc_id, 0.0)) for hit in hits)
