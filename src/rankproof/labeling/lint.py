"""What is wrong with a gold set, before anything is measured with it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rankproof.data.corpus import Corpus
from rankproof.data.gold import GoldSet, Query
from rankproof.errors import nearest

Kind = Literal[
    "duplicate query", "contradiction", "no relevant document", "no judgment", "empty query", "empty document",
    "stale id", "group of one",
]  # fmt: skip
HARMLESS: frozenset[Kind] = frozenset({"group of one"})
"""What is worth knowing and no fault."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or worth knowing."""

    kind: Kind
    message: str
    query_ids: tuple[str, ...] = ()
    doc_id: str | None = None

    @property
    def is_fault(self) -> bool:
        """Whether figures made with the gold set suffer."""
        return self.kind not in HARMLESS


def lint(gold: GoldSet, corpus: Corpus | None = None) -> list[Finding]:
    """All that is wrong with a gold set; with a corpus, whether it has the judged documents."""
    grades = gold.qrels.to_dict()
    found = [*_duplicates(gold, grades), *_queries(gold, grades), *_groups(gold)]
    if corpus is not None:
        found += _documents(grades, corpus)
    return found


def _plain(text: str) -> str:
    """A text as a reader hears it: case, spacing and the make of its characters aside."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _duplicates(gold: GoldSet, grades: Mapping[str, Mapping[str, float]]) -> Iterator[Finding]:
    asked: dict[str, list[Query]] = {}
    for query in gold.queries:
        if query.text.strip():
            asked.setdefault(_plain(query.text), []).append(query)
    for queries in asked.values():
        if len(queries) < 2:
            continue
        ids = tuple(query.id for query in queries)
        same = len({query.text for query in queries}) == 1
        how = "have the same text" if same else "differ only in case or spacing"
        yield Finding("duplicate query", f"{_listed(ids)} {how}: {queries[0].text!r}; keep one of them", ids)
        yield from _contradictions(ids, grades)


def _contradictions(ids: tuple[str, ...], grades: Mapping[str, Mapping[str, float]]) -> Iterator[Finding]:
    for doc_id in sorted({doc for query_id in ids for doc in grades.get(query_id, {})}):
        given = {query_id: grades[query_id][doc_id] for query_id in ids if doc_id in grades.get(query_id, {})}
        if len(set(given.values())) > 1:
            said = ", ".join(f"{grade:g} under {query_id!r}" for query_id, grade in given.items())
            yield Finding("contradiction", f"document {doc_id!r} has grade {said}, one question", tuple(given), doc_id)


def _queries(gold: GoldSet, grades: Mapping[str, Mapping[str, float]]) -> Iterator[Finding]:
    has_texts = any(query.text.strip() for query in gold.queries)
    for query in gold.queries:
        row = grades.get(query.id, {})
        relevant = [doc for doc, grade in row.items() if grade > 0]
        if has_texts and not query.text.strip():
            yield Finding("empty query", f"query {query.id!r} has no text", (query.id,))
        if query.no_answer and relevant:
            said = f"query {query.id!r} is said to have no answer in the corpus, and {relevant[0]!r} is judged relevant"
            yield Finding("contradiction", f"{said}; one of both is wrong", (query.id,), relevant[0])
        elif not row and not query.no_answer:
            yield Finding("no judgment", f"query {query.id!r} has no judgment; label it, or leave it out", (query.id,))
        elif not relevant and not query.no_answer:
            way_out = "mark it as having no answer, look deeper for one, or leave it out"
            yield Finding(
                "no relevant document", f"query {query.id!r} has no relevant document; {way_out}", (query.id,)
            )


def _groups(gold: GoldSet) -> Iterator[Finding]:
    members: dict[str, list[str]] = {}
    for query_id, group in gold.groups.items():
        members.setdefault(group, []).append(query_id)
    for group, ids in sorted(members.items()):
        if len(ids) == 1:
            said = f"group {group!r} has one query, {ids[0]!r}: its figures have no spread, and no gate can hold them"
            yield Finding("group of one", said, tuple(ids))


def _documents(grades: Mapping[str, Mapping[str, float]], corpus: Corpus) -> Iterator[Finding]:
    judged: dict[str, list[str]] = {}
    for query_id, row in grades.items():
        for doc_id in row:
            judged.setdefault(doc_id, []).append(query_id)
    for doc_id, ids in sorted(judged.items()):
        document = corpus.by_id.get(doc_id)
        if document is None:
            near = nearest(doc_id, corpus.by_id)
            hint = f"; nearest: {', '.join(map(repr, near))}" if near else ""
            yield Finding("stale id", f"document {doc_id!r} is not in {corpus.source}{hint}", tuple(ids), doc_id)
        elif not document.text.strip() and not document.title.strip():
            yield Finding("empty document", f"document {doc_id!r} has neither text nor title", tuple(ids), doc_id)


def _listed(ids: tuple[str, ...]) -> str:
    return "queries " + " and ".join(map(repr, ids[:3])) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
