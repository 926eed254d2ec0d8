"""What a pipeline answers to a query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from rankproof.errors import NotMeasured

State = Literal["measured", "degraded", "not measured"]
"""`degraded`: a later stage failed, so these are not the results that the pipeline would give. `not measured`: there
are none."""


class Hit(NamedTuple):
    """A document that was returned, and its score."""

    doc_id: str
    score: float


class Step(NamedTuple):
    """The documents as they stood after a stage, best first."""

    stage: str
    doc_ids: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What was returned for one query: hits best first, and how far they can be trusted."""

    hits: tuple[Hit, ...] = ()
    state: State = "measured"
    reason: str = ""
    """Why it is not measured, or degraded."""
    seconds: float | None = None
    """How long it took, where that was measured for this query alone."""
    trail: tuple[Step, ...] = ()
    """What each stage made of it, first stage first."""

    @classmethod
    def failed(cls, reason: str) -> Answer:
        """No answer could be had."""
        return cls(state="not measured", reason=reason)

    def degraded(self, reason: str) -> Answer:
        """The same hits, marked as not being what the pipeline promises."""
        return replace(self, state="degraded", reason=reason)

    def after(self, stage: str, hits: Iterable[Hit]) -> Answer:
        """The answer once a stage has worked on it."""
        changed = tuple(hits)
        step = Step(stage, tuple(hit.doc_id for hit in changed))
        return replace(self, hits=changed, trail=(*self.trail, step))

    def lasting(self, seconds: float) -> Answer:
        """The answer once so many seconds more were spent on it; one whose time is not known stays so."""
        return self if self.seconds is None else replace(self, seconds=self.seconds + seconds)


def ordered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Best first; equal scores by id, from low to high, so that no order depends on chance."""
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.doc_id)))


def checked(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits, once it is sure that a ranking can be made of them; raises NotMeasured with what is wrong."""
    seen: set[str] = set()
    for rank, hit in enumerate(hits, 1):
        if not isinstance(hit.doc_id, str) or not hit.doc_id:
            raise NotMeasured(f"result {rank} has the id {hit.doc_id!r}, which is no name of a document")
        if isinstance(hit.score, bool) or not isinstance(hit.score, (int, float)) or not math.isfinite(hit.score):
            raise NotMeasured(f"result {rank} ({hit.doc_id!r}) has the score {hit.score!r}, which is no number")
        if hit.doc_id in seen:
            raise NotMeasured(f"document {hit.doc_id!r} was returned twice")
        seen.add(hit.doc_id)
    return tuple(Hit(hit.doc_id, float(hit.score)) for hit in hits)
