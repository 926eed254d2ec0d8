"""What each annotator said, from whatever file holds it, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, source_name
from rankproof.data.formats import readers, sample
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import NothingToEvaluate, UsageError
from rankproof.labeling.events import fold
from rankproof.labeling.journal import SUFFIX, journal_paths, read_journal

MODEL = "model:"
"""How the name of an annotator begins who is no person."""

Grades = Mapping[str, Mapping[str, float]]


class Item(NamedTuple):
    """A document under a query: what annotators give a grade."""

    query_id: str
    doc_id: str


@dataclass(frozen=True)
class Labels:
    """What one annotator said."""

    annotator: str
    grades: Grades
    """Query → document → grade. What the annotator could not tell is not in it."""
    queries: Mapping[str, Query] = field(default_factory=dict)
    """What is known of the queries; notes and the word on missing answers are this annotator's."""
    told: Mapping[Item, Mapping[str, Any]] = field(default_factory=dict)
    """What the file says of each document besides: `contextualHeader`, `fingerprint`."""
    source: str = "labels"
    n_taken_over: int = 0
    """Judgments in a journal that somebody else made, and that are left out."""

    @property
    def is_model(self) -> bool:
        """Whether this is the word of a model, not of a person."""
        return self.annotator.startswith(MODEL)

    def __len__(self) -> int:
        return sum(map(len, self.grades.values()))

    def fingerprint(self, item: Item) -> str | None:
        """The digest of the text that was judged, if it is known."""
        found = self.told.get(item, {}).get("fingerprint")
        return found if isinstance(found, str) else None


def read_labels(paths: Iterable[PathLike]) -> list[Labels]:
    """The labels of each file, every annotator once; a folder stands for the journals in it.

    A journal is known by its annotator, a ground-truth file by its only reviewer, every other file by its name.
    """
    found: list[Labels] = []
    for path in paths:
        found += _read(path)
    by_name: dict[str, Labels] = {}
    for labels in found:
        if labels.annotator in by_name:
            other = by_name[labels.annotator].source
            raise UsageError(
                f"{other} and {labels.source} both hold what {labels.annotator!r} said; name one of them, or give the "
                "annotators names of their own."
            )
        by_name[labels.annotator] = labels
    return found


def _read(path: PathLike) -> list[Labels]:
    source = source_name(path)
    if source != "<stdin>" and Path(path).is_dir() and not (Path(path) / "queries.jsonl").exists():
        journals = journal_paths(Path(path))
        if not journals:
            raise NothingToEvaluate(f"{source}: there is no journal (*{SUFFIX}) in the folder")
        return [_journal(one) for one in journals]
    if source.endswith(SUFFIX):
        return [_journal(Path(path))]
    gold = read_any_gold(path)
    reviewer = gold.meta.get("reviewer")
    name = reviewer if isinstance(reviewer, str) and reviewer and ", " not in reviewer else _stem(source)
    return [labels_of(gold, name)]


def _stem(source: str) -> str:
    return Path(source).name.partition(".")[0] or source


def labels_of(gold: GoldSet, annotator: str) -> Labels:
    """A gold set as what one annotator said."""
    told = {
        Item(query_id, doc_id): extra
        for query_id, entry in gold.meta.get("queries", {}).items()
        for doc_id, extra in entry.get("results", {}).items()
    }
    return Labels(annotator, gold.qrels.to_dict(), {query.id: query for query in gold.queries}, told, gold.source)


def read_any_gold(path: PathLike, format: str | None = None) -> GoldSet:  # noqa: A002
    """A gold set, or judgments alone, whose queries are then known by their ids only."""
    seen = None if format else sample(path)
    if any(one.format == format if seen is None else one.matches(seen) for one in readers("gold")):
        return GoldSet.read(path, format=format)
    qrels = Qrels.read(path, format=format)
    return GoldSet(tuple(Query(query_id) for query_id in qrels.query_ids), qrels, qrels.source)


def _journal(path: Path) -> Labels:
    reading = read_journal(path)
    if not reading.events:
        raise NothingToEvaluate(f"{path}: the journal is empty")
    state = fold(reading.events)
    name = state.annotator or path.stem
    grades: dict[str, dict[str, float]] = {}
    told: dict[Item, dict[str, Any]] = {}
    n_taken_over = 0
    for (query_id, doc_id), mark in sorted(
        state.marks().items(), key=lambda one: (one[0].query_id, one[0].doc_id or "")
    ):
        if doc_id is None or mark.grade is None:
            continue
        if mark.adopted and mark.by not in (None, name):
            n_taken_over += 1
            continue
        grades.setdefault(query_id, {})[doc_id] = mark.grade
        extra = {"contextualHeader": mark.header or None, "fingerprint": mark.fingerprint}
        told[Item(query_id, doc_id)] = {key: value for key, value in extra.items() if value is not None}
    spoken = dict.fromkeys([*grades, *state.notes(), *state.no_answers()])
    queries = {q: Query(q, notes=state.note(q), no_answer=state.no_answer(q)) for q in sorted(spoken)}
    return Labels(name, grades, queries, told, str(path), n_taken_over)


def with_queries(labels: Sequence[Labels], gold: GoldSet) -> list[Labels]:
    """The same labels with the texts and groups of the gold set."""
    known = {query.id: query for query in gold.queries}

    def described(query: Query) -> Query:
        found = known.get(query.id)
        return (
            query if found is None else replace(query, text=query.text or found.text, group=query.group or found.group)
        )

    return [replace(one, queries={q: described(query) for q, query in one.queries.items()}) for one in labels]


def people_of(labels: Iterable[Labels]) -> list[Labels]:
    """The labels of people, without those of models."""
    return [one for one in labels if not one.is_model]


@dataclass(frozen=True)
class Ratings:
    """The grades of several annotators over the same items."""

    annotators: tuple[str, ...]
    items: tuple[Item, ...]
    """By query and document, so that the order of files and lines changes nothing."""
    grades: NDArray[np.float64]
    """One row per item, one column per annotator; NaN where there is no grade."""

    def of(self, queries: Iterable[str]) -> Ratings:
        """The items of some queries."""
        wanted = set(queries)
        rows = [i for i, item in enumerate(self.items) if item.query_id in wanted]
        return Ratings(self.annotators, tuple(self.items[i] for i in rows), self.grades[rows])


def ratings_of(labels: Sequence[Labels]) -> Ratings:
    """The labels side by side."""
    items = sorted({Item(q, d) for one in labels for q, row in one.grades.items() for d in row})
    grades = np.full((len(items), len(labels)), np.nan)
    at = {item: row for row, item in enumerate(items)}
    for column, one in enumerate(labels):
        for query_id, row in one.grades.items():
            for doc_id, grade in row.items():
                grades[at[Item(query_id, doc_id)], column] = grade
    return Ratings(tuple(one.annotator for one in labels), tuple(items), grades)


def refuse_other_documents(labels: Sequence[Labels]) -> None:
    """Refuse annotators who were shown different texts under one id: they did not judge the same document."""
    seen: dict[str, tuple[str, str]] = {}
    faults = Faults(", ".join(one.source for one in labels))
    told: set[str] = set()
    for one in labels:
        for item in sorted(one.told):
            mark = one.fingerprint(item)
            if mark is None or one.grades.get(item.query_id, {}).get(item.doc_id) is None:
                continue
            first, who = seen.setdefault(item.doc_id, (mark, one.annotator))
            if first != mark and item.doc_id not in told:
                told.add(item.doc_id)
                between = f"{who} and {one.annotator}" if who != one.annotator else who
                faults.add(
                    f"document {item.doc_id!r} had another text for {between} ({first[:15]}… and {mark[:15]}…); "
                    "label the newer text again, or leave the older labels out (rankproof gold stale shows them)"
                )
    faults.raise_any()


def refuse_too_few(labels: Sequence[Labels], what: str) -> None:
    """Refuse what takes two annotators if there are fewer."""
    if len(labels) < 2:
        raise UsageError(f"{what} takes 2 annotators or more, not {len(labels)}; add the journal of another.")
    if not any(len(one) for one in labels):
        raise NothingToEvaluate("Nobody has judged anything yet.")
