"""Long loops that somebody can watch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from rankproof.retrieval.stage import Progress

_EVERY = 1000

_T = TypeVar("_T")


def watched(items: Sequence[_T], what: str, progress: Progress) -> Iterator[_T]:
    """The items one by one; now and then it is told how many are done, and at the end that all are."""
    for done, item in enumerate(items):
        if done % _EVERY == 0:
            progress(what, done, len(items))
        yield item
    progress(what, len(items), len(items))
