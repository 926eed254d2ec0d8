"""A run file as a retriever: results that another system has written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.data.gold import Query
from rankproof.data.run import Run
from rankproof.errors import BadInput
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.digest import digest_of_file
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage


class RunFile(RetrieverStage):
    """Answers from a run file, by the id of the query.

    Results stand in the order of trec_eval: score from high to low, equal scores by id from high to low. A query
    that the file does not have was answered with nothing: run files have no other way to say so.
    """

    reads_corpus = False

    path: str
    """The file, in any format that rankproof reads."""
    format: str | None = None
    """Its format, where that cannot be told by content or suffix."""

    def behaviour(self, place: Place) -> dict[str, Any]:
        """The content of the file, wherever it lies."""
        return {"run": digest_of_file(place.path(self.path)), "format": self.format}

    def open(self, place: Place) -> Retriever:
        """Read the file."""
        results = Run.read(place.path(self.path), format=self.format).to_dict()
        if place.gold is not None and place.gold.queries:
            _refuse_strangers(self.path, list(results), [query.id for query in place.gold.queries])
        return _Results(results)


@dataclass(frozen=True)
class _Results:
    scores: Mapping[str, Mapping[str, float]]

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        for query in queries:
            hits = [Hit(doc_id, score) for doc_id, score in self.scores.get(query.id, {}).items()]
            hits.sort(key=lambda hit: (hit.score, hit.doc_id), reverse=True)
            yield Answer(tuple(hits[:k]))


def _refuse_strangers(source: str, ours: Sequence[str], asked: Sequence[str]) -> None:
    if set(ours) & set(asked):
        return
    raise BadInput.of(source, f"has no query of the gold set: it has {_some(ours)}, the gold set has {_some(asked)}")


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(repr(one) for one in ids[:3])
    return f"{shown} …" if len(ids) > 3 else shown
