"""The gold set as a retriever: what proves loader and measures before anything else is believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.data.gold import GoldSet, Query
from rankproof.errors import UsageError
from rankproof.retrieval.answers import Answer, Hit, ordered
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage


class Oracle(RetrieverStage):
    """Returns the relevant documents of the gold set, highest grade first, and nothing else; the grade is the score."""

    reads_corpus = False

    def behaviour(self, place: Place) -> dict[str, Any]:
        """The judgments."""
        return {"judgments": _gold(place).qrels.digest}

    def open(self, place: Place) -> Retriever:
        """Look the judgments up."""
        return _Judgments(_gold(place).qrels.to_dict())


@dataclass(frozen=True)
class _Judgments:
    grades: Mapping[str, Mapping[str, float]]

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        for query in queries:
            judged = self.grades.get(query.id, {})
            yield Answer(ordered(Hit(doc_id, float(grade)) for doc_id, grade in judged.items() if grade > 0)[:k])


def _gold(place: Place) -> GoldSet:
    if place.gold is None:
        raise UsageError("The oracle returns the gold set, and none is named; add `gold:` to rankproof.yaml.")
    return place.gold
