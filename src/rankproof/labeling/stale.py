"""Whether the documents of a gold set are still what was judged: valid, moved, changed, split, merged or gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, nearest
from rankproof.labeling.identity import HEADER_LENGTH, fingerprint_of, header_of

Kind = Literal["valid", "present", "moved", "changed", "split", "merged", "gone"]
KINDS: Mapping[Kind, str] = {
    "valid": "the document is there, and its text is the one that was judged",
    "present": "the id is there; whether its text is the one that was judged cannot be told",
    "moved": "the text that was judged stands under another id",
    "changed": "the document is there with another text",
    "split": "the text that was judged is spread over several documents",
    "merged": "the text that was judged is part of a longer document",
    "gone": "neither the id nor the text is there",
}

WORDS_OF_A_SHINGLE = 5
FOUND = 0.8
"""A text counts as found again if so much of it is."""
_PIECE = 0.1
"""A document is a piece of a text if it holds so much of it."""
_NEAREST = 3


@dataclass(frozen=True)
class Piece:
    """A document that holds part of a text that was judged."""

    doc_id: str
    share: float
    """How much of the judged text stands in it."""
    of_piece: float
    """How much of the document that is."""


@dataclass(frozen=True)
class Checked:
    """One judged document, and what has become of it."""

    doc_id: str
    kind: Kind
    query_ids: tuple[str, ...]
    """The queries that it is judged for."""
    header: str = ""
    """How it was headed when it was judged, if that is known."""
    new_ids: tuple[str, ...] = ()
    """Of a moved document: where its text stands now. Several are copies, of which none is guessed."""
    pieces: tuple[Piece, ...] = ()
    """Where parts of its text stand."""
    nearest_ids: tuple[str, ...] = ()
    nearest_titles: tuple[tuple[str, str], ...] = ()
    """Documents whose titles look like its header: id and title."""
    evidence: str = ""


@dataclass(frozen=True)
class Staleness:
    """What has become of every judged document."""

    checked: tuple[Checked, ...]
    n_fingerprints: int
    """How many of them have a digest of the text that was judged."""
    with_old_texts: bool
    """Whether the texts that were judged were at hand."""

    def of_kind(self, *kinds: Kind) -> list[Checked]:
        """The documents of some kinds."""
        return [one for one in self.checked if one.kind in kinds]

    @property
    def stale(self) -> list[Checked]:
        """The documents whose judgments no longer speak of what stands under their id."""
        return [one for one in self.checked if one.kind not in ("valid", "present")]


def find_staleness(gold: GoldSet, corpus: Corpus, *, was: Corpus | None = None) -> Staleness:
    """What has become of the judged documents in this corpus.

    A digest of the judged text tells whether a document is valid, moved or changed. How much of it changed, and whether
    it was split or merged, takes the text itself: `was` is the corpus that was judged.
    """
    judged = _judged(gold)
    prints = {doc_id: _fingerprint(doc_id, told, was, gold.source) for doc_id, (_, told) in judged.items()}
    search = _Search(corpus, [was.by_id[doc_id].text for doc_id in judged if was is not None and doc_id in was.by_id])
    checked = []
    for doc_id, (query_ids, told) in sorted(judged.items()):
        old = None if was is None else was.by_id.get(doc_id)
        header = _header(told, old)
        found = search.check(doc_id, prints[doc_id], header, None if old is None else old.text)
        checked.append(replace(found, query_ids=tuple(query_ids), header=header))
    return Staleness(tuple(checked), sum(one is not None for one in prints.values()), was is not None)


def _judged(gold: GoldSet) -> dict[str, tuple[list[str], list[Mapping[str, Any]]]]:
    """Document → the queries that it is judged for, and what the file tells of it under each."""
    extras = gold.meta.get("queries", {})
    found: dict[str, tuple[list[str], list[Mapping[str, Any]]]] = {}
    for query_id, row in gold.qrels.to_dict().items():
        for doc_id in row:
            queries, told = found.setdefault(doc_id, ([], []))
            queries.append(query_id)
            told.append(extras.get(query_id, {}).get("results", {}).get(doc_id, {}))
    return found


def _fingerprint(doc_id: str, told: Iterable[Mapping[str, Any]], was: Corpus | None, source: str) -> str | None:
    given = sorted({one["fingerprint"] for one in told if isinstance(one.get("fingerprint"), str)})
    if len(given) > 1:
        raise BadInput.of(source, f"document {doc_id!r} was judged with {len(given)} different texts; label it again")
    if given:
        return str(given[0])
    return fingerprint_of(was.by_id[doc_id].text) if was is not None and doc_id in was.by_id else None


def _header(told: Iterable[Mapping[str, Any]], old: Document | None) -> str:
    given = (one["contextualHeader"] for one in told if isinstance(one.get("contextualHeader"), str))
    return next(given, "" if old is None else header_of(old))


class _Search:
    """A corpus, to be searched for texts and parts of texts."""

    def __init__(self, corpus: Corpus, old_texts: Iterable[str]) -> None:
        self.corpus = corpus
        self._old_texts = list(old_texts)

    @cached_property
    def _by_print(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for document in self.corpus:
            found.setdefault(fingerprint_of(document.text), []).append(document.id)
        return found

    @cached_property
    def _by_header(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for document in self.corpus:
            found.setdefault(header_of(document), []).append(document.id)
        return found

    @cached_property
    def _shingled(self) -> tuple[dict[int, list[str]], dict[str, frozenset[int]]]:
        """Shingle → the documents that have it, for shingles that are looked for; and the shingles of each document."""
        wanted = frozenset().union(*map(shingles, self._old_texts))
        holders: dict[int, list[str]] = {}
        sizes: dict[str, frozenset[int]] = {}
        for document in self.corpus:
            own = shingles(document.text)
            if shared := own & wanted:
                sizes[document.id] = own
                for shingle in shared:
                    holders.setdefault(shingle, []).append(document.id)
        return holders, sizes

    def check(self, doc_id: str, mark: str | None, header: str, text: str | None) -> Checked:
        """What has become of a document with this digest, header and, if it is known, text."""
        here = self.corpus.by_id.get(doc_id)
        if here is None and header == doc_id and (named := self._by_header.get(header[:HEADER_LENGTH])):
            return self._without_own_id(doc_id, mark, header, named)
        if here is not None and mark is None:
            return Checked(doc_id, "present", (), evidence="no digest of the judged text is kept")
        if here is not None and fingerprint_of(here.text) == mark:
            return Checked(doc_id, "valid", (), evidence="same id, same text")
        copies = tuple(self._by_print.get(mark, ())) if mark is not None and text != "" else ()
        if copies:
            now = "" if here is None else f"; under {doc_id!r} stands another text now"
            where = (
                f"the same text under {copies[0]!r}" if len(copies) == 1 else f"{len(copies)} documents have the text"
            )
            return Checked(doc_id, "moved", (), new_ids=copies, evidence=f"{where}{now}")
        pieces = self._pieces(text)
        if here is not None:
            return Checked(doc_id, "changed", (), pieces=pieces, evidence=_how_much(doc_id, text, here, pieces))
        return self._without_id(doc_id, header, pieces, text is not None)

    def _without_own_id(self, doc_id: str, mark: str | None, header: str, named: list[str]) -> Checked:
        """What has become of a document that its label knows by the header, where documents have that header."""
        same = [one for one in named if mark is not None and fingerprint_of(self.corpus.by_id[one].text) == mark]
        if len(same) == 1:
            return Checked(doc_id, "valid", (), evidence=f"same header, same text: {same[0]!r}")
        if len(same) > 1 or (mark is None and len(named) > 1):
            titles = tuple((one, self.corpus.by_id[one].title) for one in (same or named)[:_NEAREST])
            said = f"{len(same or named)} documents have this header; give the label the id of the one that is meant"
            return Checked(doc_id, "gone", (), nearest_titles=titles, evidence=said)
        if mark is None:
            return Checked(doc_id, "present", (), evidence=f"{named[0]!r} has this header; no digest is kept")
        copies = tuple(self._by_print.get(mark, ()))
        if copies:
            return Checked(doc_id, "moved", (), new_ids=copies, evidence=f"the same text under {copies[0]!r}")
        return Checked(doc_id, "changed", (), evidence=f"{named[0]!r} has this header, and another text")

    def _without_id(self, doc_id: str, header: str, pieces: tuple[Piece, ...], text_known: bool) -> Checked:
        found = sum(piece.share for piece in pieces)
        if pieces and pieces[0].share >= FOUND:
            whole = pieces[0]
            if whole.of_piece >= FOUND:
                said = (
                    f"{whole.doc_id!r} has {whole.share:.0%} of the text and little else; it may be the same document"
                )
                return Checked(doc_id, "changed", (), pieces=pieces, evidence=said)
            said = f"{whole.share:.0%} of the text stands in {whole.doc_id!r} and makes up {whole.of_piece:.0%} of it"
            return Checked(doc_id, "merged", (), pieces=pieces, evidence=said)
        if len(pieces) > 1 and found >= FOUND:
            return Checked(doc_id, "split", (), pieces=pieces, evidence=f"{len(pieces)} documents share the text")
        # A label without an id is known by its header.
        titled = self._by_header.get((header or doc_id)[:HEADER_LENGTH], [])
        near = nearest(doc_id, (one for one in self.corpus.by_id))
        titles = {document.title: document.id for document in self.corpus if document.title}
        alike = [(titles[title], title) for title in nearest(header or doc_id, titles)]
        same = [(one, self.corpus.by_id[one].title) for one in titled[:_NEAREST]]
        left = f", and only {found:.0%} of the text is left" if found else ", and its text is nowhere"
        evidence = f"no such id{left if text_known else ''}"
        return Checked(
            doc_id, "gone", (), pieces=pieces, nearest_ids=near,
            nearest_titles=tuple(dict.fromkeys([*same, *alike])), evidence=evidence,
        )  # fmt: skip

    def _pieces(self, text: str | None) -> tuple[Piece, ...]:
        """The documents that hold a fair part of the text, each with what no earlier one has.

        A text of fewer words than a shingle could stand anywhere by chance, and is not looked for.
        """
        left = shingles(text or "")
        if not left:
            return ()
        total = len(left)
        holders, own = self._shingled
        pieces = []
        while left:
            counts: dict[str, int] = {}
            for shingle in left:
                for doc_id in holders.get(shingle, ()):
                    counts[doc_id] = counts.get(doc_id, 0) + 1
            best = min(counts, key=lambda doc_id: (-counts[doc_id], doc_id), default=None)
            if best is None or counts[best] < _PIECE * total:
                break
            pieces.append(Piece(best, counts[best] / total, counts[best] / len(own[best])))
            left = left - own[best]
        return tuple(pieces)


def _how_much(doc_id: str, text: str | None, here: Document, pieces: tuple[Piece, ...]) -> str:
    if text is None:
        return "same id, another text; how much changed takes the corpus that was judged (--was)"
    length = max(min(WORDS_OF_A_SHINGLE, _n_words(text), _n_words(here.text)), 1)
    before, now = shingles(text, length), shingles(here.text, length)
    kept = len(before & now)
    old_share = kept / len(before) if before else 0.0
    new_share = 1 - kept / len(now) if now else 0.0
    said = f"{old_share:.0%} of the judged text is still there, {new_share:.0%} of the present text is new"
    elsewhere = [piece for piece in pieces if piece.doc_id != doc_id]
    if elsewhere:
        said += f"; {sum(piece.share for piece in elsewhere):.0%} of it stands in other documents"
    return said


def shingles(text: str, length: int = WORDS_OF_A_SHINGLE) -> frozenset[int]:
    """Every so many words in a row, as numbers; case, marks and line breaks mean nothing."""
    words = _words(text)
    parts = (" ".join(words[i : i + length]) for i in range(len(words) - length + 1))
    return frozenset(int.from_bytes(blake2b(part.encode(), digest_size=8).digest(), "little") for part in parts)


def _n_words(text: str) -> int:
    """How many words a text has."""
    return len(_words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


@dataclass(frozen=True)
class Fixed:
    """A gold set whose moved documents are called by their new ids."""

    gold: GoldSet
    moved: tuple[tuple[str, str], ...]
    """Old id → new id."""
    not_moved: tuple[tuple[str, str], ...]
    """Moved documents that keep their old id, and why."""


def fix_moved(gold: GoldSet, found: Staleness) -> Fixed:
    """The gold set with each moved document called by its new id; what has no one new id stays as it is.

    A document that was judged under both ids keeps one judgment where both say the same; where they do not, nothing is
    changed for it.
    """
    names: dict[str, str] = {}
    stays: list[tuple[str, str]] = []
    grades = gold.qrels.to_dict()
    for one in found.of_kind("moved"):
        why = _why_not(one, grades, names.values())
        if why:
            stays.append((one.doc_id, why))
        else:
            names[one.doc_id] = one.new_ids[0]
    rows = {q: {names.get(doc, doc): grade for doc, grade in row.items()} for q, row in grades.items()}
    extras = gold.meta.get("queries", {})
    told = {query_id: _renamed(extra, names) for query_id, extra in extras.items()}
    meta = {**gold.meta, "queries": told} if extras else gold.meta
    fixed = replace(gold, qrels=Qrels.from_dict(rows, source=gold.qrels.source), meta=meta)
    return Fixed(fixed, tuple(sorted(names.items())), tuple(stays))


def _why_not(one: Checked, grades: Mapping[str, Mapping[str, float]], taken: Iterable[str]) -> str:
    if len(one.new_ids) != 1:
        copies = ", ".join(map(repr, one.new_ids[:_NEAREST]))
        return f"{len(one.new_ids)} documents have its text ({copies}); say which one is meant"
    new_id = one.new_ids[0]
    if new_id in taken:
        return f"another judged document moved to {new_id!r} as well"
    for query_id in one.query_ids:
        row = grades[query_id]
        if new_id in row and row[new_id] != row[one.doc_id]:
            return (
                f"query {query_id!r} has it judged twice, {one.doc_id!r} with {row[one.doc_id]:g} and {new_id!r} with "
                f"{row[new_id]:g}; keep one of them"
            )
    return ""


def _renamed(extra: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    if "results" not in extra:
        return dict(extra)
    # What is said under the new id already goes before what is said under the old one.
    old = {names[doc]: told for doc, told in extra["results"].items() if doc in names}
    return {**extra, "results": {**old, **{doc: told for doc, told in extra["results"].items() if doc not in names}}}
