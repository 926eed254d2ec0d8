"""Long loops that somebody can watch."""

from __future__ import annotations

from rankproof.retrieval.watch import watched


def test_it_is_told_now_and_then_and_at_the_end() -> None:
    told: list[tuple[str, int, int | None]] = []
    items = list(range(2500))
    assert list(watched(items, "indexing", lambda *news: told.append(news))) == items
    assert told == [("indexing", done, 2500) for done in (0, 1000, 2000, 2500)]
