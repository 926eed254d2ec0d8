"""Small stages, so that the tests of the project file need none of the real ones."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, Field

from rankproof.retrieval.stage import (
    Place,
    Reranker,
    RerankerStage,
    Retriever,
    RetrieverStage,
    Stage,
    TextStage,
    idle,
)
from rankproof.testing import FakeReranker, FakeRetriever


class Inner(BaseModel, extra="forbid"):
    weight: float = 1.0


class Finds(RetrieverStage):
    """Finds what its table says."""

    table: dict[str, dict[str, float]] = Field(default_factory=dict)
    strength: float = Field(default=1.0, ge=0, description="How strong it is.")
    inner: Inner = Inner()
    kinds: tuple[str, ...] = ()
    timeout: float = idle(1.0)

    def open(self, place: Place) -> Retriever:
        return FakeRetriever(self.table)


class Calls(RetrieverStage):
    """Must be told what to call."""

    call: str

    def open(self, place: Place) -> Retriever:
        return FakeRetriever({})


class Sorts(RerankerStage):
    """Reorders by a table."""

    table: dict[str, float] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)

    def open(self, place: Place) -> Reranker:
        return FakeReranker(self.table)


class Lowers(TextStage):
    """Makes lower case."""

    def open(self, place: Place) -> Callable[[str], str]:
        return str.lower


NAMES: dict[type[Stage], dict[str, str]] = {
    RetrieverStage: {"finds": "Finds", "calls": "Calls", "broken": "Gone"},
    RerankerStage: {"sorts": "Sorts"},
    TextStage: {"lowers": "Lowers"},
}
