"""The ground-truth file: written from the journals, read back into one where other hands changed it."""

from __future__ import annotations

import contextlib
import glob
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from rankproof.data.files import write_whole
from rankproof.data.formats.ground_truth import GRADES, read_ground_truth, write_ground_truth
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate, RankproofError
from rankproof.labeling.annotators import MODEL
from rankproof.labeling.disk import NotSaved, make_folder, numbered, refuse_link, sweep
from rankproof.labeling.events import Event, Mark, Spot, State, fold
from rankproof.labeling.identity import Matcher
from rankproof.labeling.journal import Reading, journal_paths, read_journal
from rankproof.labeling.lock import Held, Lock
from rankproof.labeling.pool import Pool

DEFAULT_TRUTH = Path("data/retrieval-ground-truth.json")
SCHEMA = "ground-truth.schema.json"
WORDS = {grade: word for word, grade in GRADES.items()}
_PATIENCE = 10.0
_V = TypeVar("_V")


def schema_path() -> Path:
    """The published JSON Schema of ground-truth files."""
    return Path(str(resources.files("rankproof.labeling").joinpath(SCHEMA)))


@dataclass(frozen=True)
class Verdict:
    """What the annotators together say of a document."""

    grade: int | None
    """None if they disagree without a majority, or if nobody could tell."""
    by: Mapping[str, int]
    """Annotator → grade."""
    cant_tell: bool
    header: str
    fingerprint: str | None


@dataclass(frozen=True)
class Entry:
    """What the annotators together say of a query."""

    verdicts: Mapping[str, Verdict]
    notes: str
    no_answer: bool
    labeled_at: str


def entries_of(states: Mapping[str, State]) -> dict[str, Entry]:
    """Query → what is said of it. Where annotators disagree the majority counts; without one nothing is decided."""
    marks: dict[str, dict[str, dict[str, Mark]]] = {}
    notes: dict[str, dict[str, str]] = {}
    flags: dict[str, list[bool]] = {}
    times: dict[str, list[str]] = {}
    for annotator, state in sorted(states.items()):
        last: dict[str, tuple[int, str]] = {}
        for (query_id, doc_id), mark in state.marks().items():
            if not mark.waits and doc_id is not None:
                marks.setdefault(query_id, {}).setdefault(doc_id, {})[annotator] = mark
                last[query_id] = max(last.get(query_id, (0, "")), (mark.seq, mark.at))
        for query_id, said in state.notes().items():
            if said.value:
                notes.setdefault(query_id, {})[annotator] = str(said.value)
                last[query_id] = max(last.get(query_id, (0, "")), (said.seq, said.at))
        for query_id, said in state.no_answers().items():
            flags.setdefault(query_id, []).append(bool(said.value))
            last[query_id] = max(last.get(query_id, (0, "")), (said.seq, said.at))
        for query_id, (_, at) in last.items():
            times.setdefault(query_id, []).append(at)
    return {
        query_id: Entry(
            {doc_id: _verdict(by) for doc_id, by in sorted(marks.get(query_id, {}).items())},
            _joined(notes.get(query_id, {})),
            _majority(flags.get(query_id, [])) or False,
            max(at),
        )
        for query_id, at in times.items()
    }


def _verdict(marks: Mapping[str, Mark]) -> Verdict:
    grades = {annotator: mark.grade for annotator, mark in marks.items() if mark.grade is not None}
    latest = max(marks.values(), key=lambda mark: (mark.at, mark.header))
    return Verdict(
        _majority(list(grades.values())), grades, len(grades) < len(marks), latest.header, latest.fingerprint
    )


def _majority(votes: Sequence[_V]) -> _V | None:
    """What more than half of the votes say."""
    best = Counter(votes).most_common(1)
    return best[0][0] if best and 2 * best[0][1] > len(votes) else None


def _joined(notes: Mapping[str, str]) -> str:
    if len(notes) < 2:
        return "".join(notes.values())
    return "\n".join(f"{annotator}: {note}" for annotator, note in notes.items())


class TruthFile:
    """The ground-truth file of a pool and the journals that it is written from."""

    def __init__(self, path: Path, folder: Path, pool: Pool) -> None:
        self.path = path
        self.folder = folder
        self.pool = pool
        self._matcher = Matcher(pool.corpus)

    def write(self, own: State) -> None:
        """Write the file anew, whole or not at all; raises NotSaved with the old one in place.

        `own` is the state of the annotator who writes; what the others said is read from their journals.
        """
        with self._locked(own.annotator):
            states = {name: fold(reading.events) for name, reading in self._others(own.annotator)}
            states[own.annotator] = own
            gold = self._gold(states, self._existing())
            if gold is None:
                return
            self._publish_schema()
            try:
                write_ground_truth(gold, self.path)
            except BadInput as exc:
                raise NotSaved(exc.faults) from exc

    def changes(self, annotator: str, events: Sequence[Event]) -> dict[str, Any] | None:
        """What the file says and the journals do not, as details of an `adopt` event; None if there is nothing.

        The file notes up to which event of each journal it was written, so what differs from that was put there by
        other hands: a tool that made the file, an editor, a merge.
        """
        gold = self._existing()
        if gold is None:
            return None
        upto = _written_upto(gold)
        journals = {name: reading.events for name, reading in self._others(annotator)} | {annotator: events}
        expected = entries_of(
            {name: fold(e for e in told if e.seq <= upto.get(name, 0)) for name, told in journals.items()}
        )
        judgments = list(self._foreign_judgments(gold, expected))
        notes = {q.id: q.notes for q in gold.queries if q.notes != _entry(expected, q.id).notes and q.notes}
        flags = {q.id: q.no_answer for q in gold.queries if q.no_answer != _entry(expected, q.id).no_answer}
        if not (judgments or notes or flags):
            return None
        times = {q: extra["labeledAt"] for q, extra in gold.meta["queries"].items() if extra.get("labeledAt")}
        at = {q: times.get(q) or gold.meta.get("labeledAt") for q in [*notes, *flags]}
        return {"judgments": judgments, "notes": notes, "no_answer": flags, "at": at}

    def is_behind(self, own: State) -> bool:
        """Whether the journal says more than the file was written from."""
        gold = self._existing()
        upto = {} if gold is None else _written_upto(gold)
        says = own.annotator in upto or bool(own.touched)
        return says and upto.get(own.annotator, 0) < own.seq

    def tidy(self, annotator: str) -> None:
        """Remove what a killed writer left behind."""
        if any(self.path.parent.glob(f".{glob.escape(self.path.name)}.*")):
            with contextlib.suppress(RankproofError), self._locked(annotator):
                sweep(self.path.parent, SCHEMA)

    def back_up(self, annotator: str) -> Path | None:
        """Copy the file under a numbered name; None if there is none."""
        refuse_link(self.path)
        if not self.path.exists():
            return None
        with self._locked(annotator):
            place = numbered(self.path, ".bak")
            write_whole(place, self.path.read_bytes())
        return place

    def _foreign_judgments(self, gold: GoldSet, expected: Mapping[str, Entry]) -> Iterator[dict[str, Any]]:
        for query_id, row in gold.qrels.to_dict().items():
            extra = gold.meta["queries"].get(query_id, {})
            for doc_id, grade in row.items():
                known = _entry(expected, query_id).verdicts.get(doc_id)
                if known is not None and known.grade == int(grade):
                    continue
                result = extra.get("results", {}).get(doc_id, {})
                told = {
                    "query_id": query_id, "doc_id": doc_id, "grade": int(grade),
                    "header": result.get("contextualHeader"), "fingerprint": result.get("fingerprint"),
                    "at": extra.get("labeledAt") or gold.meta.get("labeledAt"), "by": gold.meta.get("reviewer"),
                }  # fmt: skip
                yield {key: value for key, value in told.items() if value is not None}

    def _existing(self) -> GoldSet | None:
        """The file as it is, its queries and documents called as the pool calls them; None if it says nothing yet."""
        refuse_link(self.path)
        if not self.path.exists() or not self.path.read_bytes().strip():
            return None
        try:
            return called_alike(read_ground_truth(self.path), self.pool, self._matcher)
        except NothingToEvaluate:
            return None

    def _others(self, annotator: str) -> Iterator[tuple[str, Reading]]:
        for path in journal_paths(self.folder):
            if path.stem != annotator:
                reading = read_journal(path)
                begun = (reading.events[0].details if reading.events else None) or {}
                # What a model says is never mixed in unasked.
                if begun.get("truth") == self.path.name and not str(begun.get("annotator")).startswith(MODEL):
                    yield path.stem, reading

    @contextlib.contextmanager
    def _locked(self, annotator: str) -> Iterator[None]:
        """Keep other annotators from writing at the same time: the last to write must have read what the first said."""
        make_folder(self.path.parent)
        lock = Lock(self.path)
        try:
            lock.acquire(annotator, wait=_PATIENCE, beyond_hosts=False)
        except Held as exc:
            raise NotSaved.of(str(self.path), str(exc)) from exc
        try:
            sweep(self.path.parent, self.path.name)
            yield
        finally:
            lock.release()

    def _publish_schema(self) -> None:
        """Put the schema beside the file, where an editor finds it; one that is there is left alone."""
        place = self.path.with_name(SCHEMA)
        if not place.exists():
            write_whole(place, schema_path().read_bytes())

    def _gold(self, states: Mapping[str, State], before: GoldSet | None) -> GoldSet | None:
        entries = entries_of(states)
        touched = _Touched(states.values())
        kept = {} if before is None else {query.id: query for query in before.queries}
        if not entries and not kept:
            return None
        extras: dict[str, Any] = {} if before is None else before.meta["queries"]
        queries: list[Query] = []
        grades: dict[str, dict[str, int]] = {}
        told: dict[str, dict[str, Any]] = {}
        asked = {task.query.id: task.query for task in self.pool.tasks}
        for query_id in dict.fromkeys([*(q for q in asked if q in entries or q in kept), *kept, *entries]):
            entry = _entry(entries, query_id)
            # A query that neither the pool nor the file has any more keeps its labels under its id.
            query = asked.get(query_id) or kept.get(query_id) or Query(query_id, query_id)
            group = query.group or (kept[query_id].group if query_id in kept else None)
            queries.append(replace(query, group=group, notes=entry.notes, no_answer=entry.no_answer))
            grades[query_id] = {d: v.grade for d, v in entry.verdicts.items() if v.grade is not None}
            told[query_id] = self._extra(query_id, entry, extras.get(query_id, {}), touched)
        meta = {
            **({} if before is None else before.meta),
            "$schema": f"./{SCHEMA}",
            "labeledAt": max((entry.labeled_at for entry in entries.values()), default=""),
            "reviewer": ", ".join(_reviewers(states)),
            "journals": {name: state.seq for name, state in sorted(states.items())},
            "queries": told,
        }
        rows = {query_id: row for query_id, row in grades.items() if row}
        return GoldSet(tuple(queries), Qrels.from_dict(rows, source=str(self.path)), str(self.path), meta)

    def _extra(
        self, query_id: str, entry: Entry, before: Mapping[str, Any], touched: _Touched
    ) -> dict[str, Any]:  # fmt: skip
        results = {
            doc_id: extra
            for doc_id, extra in before.get("results", {}).items()
            if Spot(query_id, doc_id) not in touched.spots
        }
        for doc_id, verdict in entry.verdicts.items():
            said = {
                "contextualHeader": verdict.header or None,
                "fingerprint": verdict.fingerprint,
                "cantTell": True if verdict.cant_tell and verdict.grade is None else None,
                "judgments": {name: WORDS[grade] for name, grade in verdict.by.items()}
                if len(verdict.by) > 1
                else None,
            }
            earlier = before.get("results", {}).get(doc_id, {})
            kept = {key: value for key, value in earlier.items() if key not in said}
            results[doc_id] = kept | {key: value for key, value in said.items() if value is not None}
        place = self.pool.places.get(query_id)
        index = {} if "queryIndex" in before or place is None else {"queryIndex": place}
        labeled = {"labeledAt": entry.labeled_at} if entry.labeled_at else {}
        if not labeled and query_id in touched.queries:
            # All that was said of it was taken back.
            before = {key: value for key, value in before.items() if key != "labeledAt"}
        return {**before, **index, **labeled, "results": dict(sorted(results.items()))}


def _written_upto(gold: GoldSet) -> dict[str, int]:
    """Annotator → the last event that the file was written from."""
    told = gold.meta.get("journals")
    return {name: seq for name, seq in told.items() if isinstance(seq, int)} if isinstance(told, dict) else {}


class _Touched:
    """What anything was ever said of, by anybody; the journals alone decide on it."""

    def __init__(self, states: Iterable[State]) -> None:
        self.spots = {spot for state in states for spot in state.touched}
        self.queries = {spot.query_id for spot in self.spots}


def _reviewers(states: Mapping[str, State]) -> list[str]:
    """Who said anything, those included whose labels were taken over from a file."""
    names = set()
    for annotator, state in states.items():
        marks = list(state.marks().values())
        if any(not mark.adopted for mark in marks) or state.notes() or state.no_answers():
            names.add(annotator)
        names.update(name for mark in marks if mark.by for name in mark.by.split(", "))
    return sorted(names)


_NOTHING = Entry({}, "", False, "")


def _entry(entries: Mapping[str, Entry], query_id: str) -> Entry:
    return entries.get(query_id, _NOTHING)


def called_alike(gold: GoldSet, pool: Pool, matcher: Matcher) -> GoldSet:
    """The gold set with its queries and documents called as the pool calls them.

    A query without an id is known by its text, a document without one by its header and content.
    """
    by_text: dict[str, list[str]] = {}
    for task in pool.tasks:
        by_text.setdefault(task.query.text, []).append(task.query.id)
    names = {}
    for query in gold.queries:
        fitting = by_text.get(query.text, [])
        known = query.id in pool.places or query.id != query.text or len(fitting) != 1
        names[query.id] = query.id if known else fitting[0]
    matched = with_corpus_ids(gold, matcher)
    extras = matched.meta.get("queries", {})
    return replace(
        matched,
        queries=tuple(replace(query, id=names[query.id]) for query in matched.queries),
        qrels=Qrels.from_dict(
            {names[q]: row for q, row in matched.qrels.to_dict().items()}, source=matched.qrels.source
        ),
        meta={**matched.meta, "queries": {names[q]: extra for q, extra in extras.items()}},
    )


def with_corpus_ids(gold: GoldSet, matcher: Matcher) -> GoldSet:
    """The gold set with documents that are called by their headers called by their ids in the corpus.

    A name that no document fits stays as it is. Two documents that fit one name, or two names that fit one document,
    are an error.
    """
    extras = gold.meta.get("queries", {})
    grades = gold.qrels.to_dict()
    rows: dict[str, dict[str, float]] = {}
    told: dict[str, dict[str, Any]] = {}
    for query_id in dict.fromkeys([*grades, *extras]):
        row = grades.get(query_id, {})
        results = extras.get(query_id, {}).get("results", {})
        names: dict[str, str] = {}
        for doc_id in dict.fromkeys([*row, *results]):
            found = matcher.find(doc_id, results.get(doc_id, {}).get("fingerprint"))
            name = doc_id if found is None else found.id
            if name in names.values():
                raise BadInput.of(
                    gold.source, f"query {query_id!r}: two results name the document {name!r}; keep one of them"
                )
            names[doc_id] = name
        if row:
            rows[query_id] = {names[doc_id]: grade for doc_id, grade in row.items()}
        if query_id in extras:
            told[query_id] = dict(extras[query_id])
            if results:
                told[query_id]["results"] = {names[doc_id]: extra for doc_id, extra in results.items()}
    return replace(gold, qrels=Qrels.from_dict(rows, source=gold.qrels.source), meta={**gold.meta, "queries": told})
