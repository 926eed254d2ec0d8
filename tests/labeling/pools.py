"""Small pools for tests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.labeling.pool import Candidate, Pool, Task
from rankproof.labeling.session import Session


def corpus(letters: str = "abcdef") -> Corpus:
    """A document for each letter."""
    return Corpus(tuple(Document(one, f"The text of {one}.", f"Title {one}") for one in letters))


def pool(**docs: str) -> Pool:
    """A pool in which each query has the documents of a word, in that order."""
    documents = corpus("".join(sorted(set("".join(docs.values())))))
    tasks = [
        Task(Query(name, f"text of {name}"), tuple(Candidate(documents.by_id[one]) for one in word))
        for name, word in docs.items()
    ]
    return Pool(tuple(tasks), documents)


def ticking(start: str = "2026-03-01T10:00:00+00:00", step: float = 60) -> Callable[[], datetime]:
    """A clock that goes on by a minute whenever somebody looks at it."""
    now = [datetime.fromisoformat(start).astimezone(UTC)]

    def clock() -> datetime:
        now[0] += timedelta(seconds=step)
        return now[0]

    return clock


def opened(tmp_path: Path, of: Pool, annotator: str = "anna", **options: object) -> Session:
    """A session on a pool in a folder of the test."""
    options.setdefault("clock", ticking())
    return Session.open(of, tmp_path / "truth.json", annotator, **options)  # type: ignore[arg-type]
