"""Cohere's reranker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field, field_validator

from rankproof.data.gold import Query
from rankproof.errors import NotMeasured
from rankproof.retrieval.answers import Hit
from rankproof.retrieval.stage import Place, Reranker, RerankerStage, idle
from rankproof.retrieval.stages.http import Listing, Path, Remote, json_body
from rankproof.retrieval.stages.http_rerank import ids_at, kept_open, reordered
from rankproof.retrieval.web import Request, Web, why_refused

_MOST_DOCUMENTS = 1000


class Cohere(Remote, RerankerStage):
    """Cohere's reranker, version 2 of its interface, one request per query.

    All documents that the pipeline fetched (`depth`) are sent and come back with a score; `top` cuts them. To fetch
    four times as many as are returned, as is usual, write `depth: 20` and `top: 5`.
    """

    model: str = Field(min_length=1, description="The model, such as rerank-v4.0-pro.")
    max_tokens_per_doc: int | None = Field(
        default=None, ge=1, description="Where long documents are cut; Cohere's own if null."
    )
    base: str = Field(default="https://api.cohere.com", description="The server; another one for a proxy of your own.")
    key_env: str | None = idle("COHERE_API_KEY", description="The environment variable that holds the key.")

    @field_validator("base")
    @classmethod
    def _address(cls, base: str) -> str:
        if "@" in base:
            raise ValueError("the address holds a name or password; leave it out")
        reason = why_refused(base)
        if reason is not None:
            raise ValueError(f"{base!r} cannot be asked: {reason}")
        return base.rstrip("/")

    def open(self, place: Place) -> Reranker:
        """Ready to ask; a key that is missing is an error now."""
        return _CohereReranker(self, place, self.web(place, what="Cohere", key_header="Authorization: Bearer {key}"))


class _CohereReranker:
    def __init__(self, stage: Cohere, place: Place, web: Callable[[], Web]) -> None:
        self._stage, self._place = stage, place
        self._results, self._index, self._score = Listing("results"), Path("index"), Path("relevance_score")
        self._web = kept_open(self, web)

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The hits by the relevance that Cohere gives them."""
        if not hits:
            return []
        if len(hits) > _MOST_DOCUMENTS:
            raise NotMeasured(
                f"{len(hits):,} documents are more than the {_MOST_DOCUMENTS:,} that Cohere takes; lower `depth`"
            )
        sent = [hit.doc_id for hit in hits]
        body: dict[str, Any] = {
            "model": self._stage.model,
            "query": query.text,
            "documents": [self._place.text_of(doc_id) for doc_id in sent],
            "top_n": len(sent),
        }
        if self._stage.max_tokens_per_doc is not None:
            body["max_tokens_per_doc"] = self._stage.max_tokens_per_doc
        request = Request("POST", f"{self._stage.base}/v2/rerank", json_body(body))
        results = self._results.of(self._web.fetch_json(request).value)
        scores = [self._score.of(result) for result in results]
        return reordered(sent, ids_at([self._index.of(result) for result in results], sent), scores)
