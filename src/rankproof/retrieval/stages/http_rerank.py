"""A reranker that is asked over HTTP."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, model_validator

from rankproof.data.gold import Query
from rankproof.data.json_text import shown
from rankproof.errors import NotMeasured
from rankproof.retrieval.answers import Hit, ordered
from rankproof.retrieval.stage import Place, Reranker, RerankerStage
from rankproof.retrieval.stages.http import (
    Endpoint,
    Listing,
    Path,
    filled,
    json_body,
    placeholders,
    ranking,
    refuse_unknown_placeholders,
    refuse_unwritable,
)
from rankproof.retrieval.web import Request, Web

_LISTS = {"documents", "ids"}


class HttpRerank(Endpoint, RerankerStage):
    """A reranker that is asked over HTTP, one POST request per query.

    It must give every document that it was given, each once. The defaults read what Cohere, Jina and Voyage answer.
    """

    url: str = Field(description="Where to ask.")
    body: dict[str, JsonValue] = Field(
        default={"query": "{query}", "documents": "{documents}", "top_n": "{n}"},
        description="JSON to send: {query}, {documents} (the list of texts), {ids} (the list of ids), {n} (how many).",
    )
    hits: str = Field(default="results", description="JMESPath to the list of results in the answer.")
    index: str | None = Field(
        default=None,
        description="JMESPath from a result to the place of its document in the list that was sent, from 0; `index`, "
        "unless `id` or `in_order` is given.",
    )
    id: str | None = Field(default=None, description="JMESPath from a result to the id of its document.")
    score: str | None = Field(
        default="relevance_score", description="JMESPath from a result to its score; the rank if null."
    )
    in_order: bool = Field(
        default=False, description="Whether the results stand in the order of the documents that were sent."
    )

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        refuse_unknown_placeholders(placeholders(self.body), ("query", "documents", "ids", "n"))
        refuse_unknown_placeholders(placeholders(self.url), ())
        if not {"query", "documents"} <= placeholders(self.body):
            raise ValueError("`body` must hold {query} and {documents}")
        _refuse_lists_in_text(self.body)
        refuse_unwritable(self.body)
        if sum((self.index is not None, self.id is not None, self.in_order)) > 1:
            raise ValueError("give one of `index`, `id` and `in_order`; they say the same thing")
        if self.in_order and self.score is None:
            raise ValueError("`in_order` needs `score`, as the order says nothing")
        return self

    def open(self, place: Place) -> Reranker:
        """Ready to ask; nothing is sent yet."""
        what = f"The reranker at {urlsplit(self.url).netloc}"
        web = self.web(place, what=what, key_header=self.key_header, headers=self.headers)
        return _HttpReranker(self, place, web)


class _HttpReranker:
    def __init__(self, stage: HttpRerank, place: Place, web: Callable[[], Web]) -> None:
        self._stage, self._place = stage, place
        self._hits = Listing(stage.hits)
        self._id = None if stage.id is None else Path(stage.id)
        self._index = Path(stage.index or "index")
        self._score = None if stage.score is None else Path(stage.score)
        self._web = kept_open(self, web)

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The hits by the scores of the server."""
        if not hits:
            return []
        sent = [hit.doc_id for hit in hits]
        texts = [self._place.text_of(doc_id) for doc_id in sent]
        values = {"query": query.text, "documents": texts, "ids": sent, "n": len(sent)}
        request = Request("POST", self._stage.url, json_body(filled(self._stage.body, values)))
        results = self._hits.of(self._web.fetch_json(request).value)
        scores = None if self._score is None else [self._score.of(result) for result in results]
        return reordered(sent, self._named(results, sent), scores)

    def _named(self, results: Sequence[Any], sent: Sequence[str]) -> list[object]:
        """The ids of the results."""
        if self._id is not None:
            return [self._id.of(result) for result in results]
        if self._stage.in_order:
            return ids_at(range(len(results)), sent)
        return ids_at([self._index.of(result) for result in results], sent)


def kept_open(owner: object, web: Callable[[], Web]) -> Web:
    """A client that is closed once its owner is gone."""
    client = web()
    weakref.finalize(owner, client.close)
    return client


def ids_at(indices: Sequence[object], sent: Sequence[str]) -> list[object]:
    """The ids at places of the list that was sent; raises NotMeasured if there is no such place."""
    found: list[object] = []
    for rank, index in enumerate(indices, 1):
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(sent):
            raise NotMeasured(
                f"result {rank} has the index {shown(index)}; {len(sent)} documents were sent, 0 is the first"
            )
        found.append(sent[index])
    return found


def reordered(sent: Sequence[str], returned: Sequence[object], scores: Sequence[object] | None) -> tuple[Hit, ...]:
    """The documents that were sent, by what was returned; raises NotMeasured unless each of them was, once."""
    hits = ranking(returned, scores, "score")
    found = {hit.doc_id for hit in hits}
    strange = sorted(found.difference(sent))
    if strange:
        raise NotMeasured(f"document {shown(strange[0])} was returned, and it was not sent")
    lacking = [doc_id for doc_id in sent if doc_id not in found]
    if lacking:
        raise NotMeasured(f"{len(lacking)} of {len(sent)} documents were not returned, {shown(lacking[0])} among them")
    return ordered(hits)


def _refuse_lists_in_text(body: JsonValue) -> None:
    if isinstance(body, str):
        for name in placeholders(body) & _LISTS:
            if body != f"{{{name}}}":
                raise ValueError(f"{{{name}}} is a list; it must be a value of its own, not part of {body!r}")
    elif isinstance(body, dict | list):
        for value in body.values() if isinstance(body, dict) else body:
            _refuse_lists_in_text(value)
