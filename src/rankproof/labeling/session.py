"""A labelling session: what a front end shows and what it calls.

Every call that changes something returns a `Saved` when the change is on disk, or raises `NotSaved` with everything as
it was. Moving about is not recorded. All calls may come from several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar, cast

from rankproof.data.files import PathLike
from rankproof.data.gold import Query
from rankproof.errors import RankproofError, UsageError, count
from rankproof.labeling.disk import make_folder, told
from rankproof.labeling.events import Event, Mark, Spot, State, fold
from rankproof.labeling.journal import Clock, Journal, utc_now
from rankproof.labeling.pool import Candidate, Pool, Sighting
from rankproof.labeling.truth import WORDS, TruthFile

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True)
class Saved:
    """A change that is on disk."""

    seq: int
    what: str
    """What was done, in words: `relevant`, `undone: relevant`."""
    spot: Spot
    """The query, and the document if it was about one."""
    warning: str = ""
    """What went wrong besides: the ground-truth file could not be written yet. The change is in the journal all the
    same, and the file is written again after the next query."""


@dataclass(frozen=True)
class Current:
    """Where the session stands."""

    query: Query
    candidate: Candidate | None
    """The document; None if the query has none to judge."""
    query_number: int
    """From 1, as all numbers that people see."""
    n_queries: int
    doc_number: int
    """From 1; 0 if there is no document."""
    n_docs: int
    n_judged: int
    """How many documents of the pool are judged, over all queries."""
    n_left: int
    """How many nobody has dealt with yet; those put off for later count, those that cannot be told do not."""
    mark: Mark | None
    """What the annotator said of the document."""
    note: str
    no_answer: bool
    sightings: tuple[Sighting, ...]
    """Systems, ranks and scores; empty unless the session shows ranks, so that judges are not led."""

    def __str__(self) -> str:
        return (
            f"query {self.query_number}/{self.n_queries} · doc {self.doc_number}/{self.n_docs} · {self.n_judged} judged"
        )


def _alone(method: Callable[Concatenate[Session, _P], _R]) -> Callable[Concatenate[Session, _P], _R]:
    """One call at a time, on a state that has caught up with what is on disk."""

    @wraps(method)
    def called(self: Session, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self._guard:
            self._catch_up()
            return method(self, *args, **kwargs)

    return cast("Callable[Concatenate[Session, _P], _R]", called)


class Session:
    """One annotator at work on a pool."""

    def __init__(self, pool: Pool, journal: Journal, truth: TruthFile, *, show_rank: bool = False) -> None:
        self.pool = pool
        self.annotator = journal.annotator
        self.show_rank = show_rank
        self.notices: list[str] = []
        """What the annotator should be told before the first document."""
        self._journal = journal
        self._truth = truth
        self._state = fold(journal.events)
        self._applied = len(journal.events)
        self._guard = RLock()
        self._stale: set[str] = set()
        self._query = 0
        self._doc = 0

    @classmethod
    def open(
        cls, pool: Pool, truth: PathLike, annotator: str, *, labels: PathLike | None = None, clock: Clock = utc_now,
        show_rank: bool = False, restart: bool = False, force_unlock: bool = False, mend: bool = False,
    ) -> Session:  # fmt: skip
        """Open the annotator's journal and go to the first document that is left after the last one dealt with.

        The journal lies in `labels`, or in a folder of that name beside the truth file. Labels that are there are
        continued; `restart` begins again, with the truth file kept under another name and the journal keeping
        everything. `force_unlock` takes over a lock from another host, `mend` sets damaged lines of the journal aside.
        Raises Held if somebody else has the journal open.
        """
        target = Path(truth)
        folder = target.parent / "labels" if labels is None else Path(labels)
        make_folder(target.parent)
        journal = Journal.open(
            folder, annotator, truth_name=target.name, clock=clock, force_unlock=force_unlock, mend=mend
        )
        try:
            session = cls(pool, journal, TruthFile(target, folder, pool), show_rank=show_rank)
            with told(target):
                session._begin(restart)
        except BaseException:
            journal.close()
            raise
        return session

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    @_alone
    def current(self) -> Current:
        """Where the session stands, with everything that is to be shown."""
        task = self.pool.tasks[self._query]
        candidate = task.candidates[self._doc] if task.candidates else None
        marks = [self._mark(spot) for spot in self._spots()]
        return Current(
            query=task.query,
            candidate=candidate,
            query_number=self._query + 1,
            n_queries=len(self.pool.tasks),
            doc_number=self._doc + 1 if candidate else 0,
            n_docs=len(task.candidates),
            n_judged=sum(mark is not None and mark.kind == "judge" for mark in marks),
            n_left=sum(mark is None or mark.waits for mark in marks),
            mark=None if candidate is None else self._state.mark(task.query.id, candidate.doc_id),
            note=self._state.note(task.query.id),
            no_answer=self._state.no_answer(task.query.id),
            sightings=candidate.sightings if candidate is not None and self.show_rank else (),
        )

    @property
    @_alone
    def finished(self) -> bool:
        """Whether every document is judged or cannot be told."""
        return not any((mark := self._mark(spot)) is None or mark.waits for spot in self._spots())

    @property
    @_alone
    def state(self) -> State:
        """All that the annotator said; to be looked at only."""
        return self._state

    @_alone
    def mark(self, query_id: str, doc_id: str) -> Mark | None:
        """What the annotator said of a document."""
        return self._state.mark(query_id, doc_id)

    @_alone
    def judge(self, grade: int, *, at: Spot | None = None, once: str | None = None) -> Saved:
        """Grade a document (2 relevant, 1 partial, 0 not relevant) and go on to the next one.

        The document is the current one, or the one that `at` names: then the session stays where it is, unless that is
        the current one. An action that is sent twice under one name `once` counts once.
        """
        if grade not in WORDS or isinstance(grade, bool):
            raise UsageError(f"There is no grade {grade!r}: 2 is relevant, 1 partial, 0 not relevant.")
        return self._mark_document("judge", WORDS[grade], at, once, grade=grade)

    @_alone
    def cant_tell(self, *, at: Spot | None = None, once: str | None = None) -> Saved:
        """Say that a document cannot be judged, and go on; it counts as unjudged, and is not asked again."""
        return self._mark_document("cant_tell", "can't tell", at, once)

    @_alone
    def later(self, *, at: Spot | None = None, once: str | None = None) -> Saved:
        """Put a document off until the others are done, and go on."""
        return self._mark_document("later", "later", at, once)

    @_alone
    def note(self, text: str, *, at: Spot | None = None, once: str | None = None) -> Saved:
        """Write the note on a query, instead of the one that is there; an empty one takes it back."""
        spot = Spot((at or self._spot()).query_id)
        what = "note" if text else "note taken back"
        return self._settled(self._save("note", what, spot, once, text=text))

    @_alone
    def no_answer(self, flag: bool = True, *, at: Spot | None = None, once: str | None = None) -> Saved:
        """Say that the corpus has no answer to a query, or take that back."""
        spot = Spot((at or self._spot()).query_id)
        what = "no answer in the corpus" if flag else "there may be an answer in the corpus"
        return self._settled(self._save("no_answer", what, spot, once, flag=flag))

    @_alone
    def undo(self, *, once: str | None = None) -> Saved | None:
        """Take back what was done last, and go there; None if there is nothing to undo."""
        return self._step_back("undo", "undone", self._state.undoable, once)

    @_alone
    def redo(self, *, once: str | None = None) -> Saved | None:
        """Do again what was undone last, and go there; None if there is nothing to redo."""
        return self._step_back("redo", "redone", self._state.redoable, once)

    @_alone
    def next(self) -> bool:
        """Go to the next document, of the next query if need be; False if this is the last."""
        if self._doc + 1 < len(self.pool.tasks[self._query].candidates):
            self._doc += 1
            return True
        return self.next_query()

    @_alone
    def previous(self) -> bool:
        """Go to the previous document, of the query before if need be; False if this is the first."""
        if self._doc > 0:
            self._doc -= 1
            return True
        if not self.previous_query():
            return False
        self._doc = max(0, len(self.pool.tasks[self._query].candidates) - 1)
        return True

    @_alone
    def next_query(self) -> bool:
        """Go to the first document of the next query; False if this is the last."""
        return self._move_to(self._query + 1, 0)

    @_alone
    def previous_query(self) -> bool:
        """Go to the first document of the query before; False if this is the first."""
        return self._move_to(self._query - 1, 0)

    @_alone
    def go_to(self, query_number: int) -> None:
        """Go to a query by its number, from 1: to its first document that is left, or else to its first."""
        if not 1 <= query_number <= len(self.pool.tasks):
            raise UsageError(f"There is no query {query_number}; the queries are numbered 1 to {len(self.pool.tasks)}.")
        place = query_number - 1
        task = self.pool.tasks[place]
        left = (d for d, c in enumerate(task.candidates) if self._state.mark(task.query.id, c.doc_id) is None)
        self._move_to(place, next(left, 0))

    @_alone
    def go_to_spot(self, spot: Spot) -> None:
        """Go to a query, or to a document under it."""
        place = self._place(spot)
        doc = 0 if spot.doc_id is None else self.pool.tasks[place].places[spot.doc_id]
        self._move_to(place, doc)

    @_alone
    def close(self) -> str:
        """Bring the truth file up to date and let the journal go; returns what went wrong with the file, or nothing."""
        try:
            return self._write_truth() if self._stale and not self._journal.closed else ""
        finally:
            self._journal.close()

    def _begin(self, restart: bool) -> None:
        self.notices += self._journal.notices
        if self.pool.unknown:
            lacking = count(len(self.pool.unknown), "document", "documents")
            self.notices.append(
                f"The corpus lacks {lacking} that the runs returned, so nobody can judge them:"
                f" {', '.join(self.pool.unknown[:3])}{' …' if len(self.pool.unknown) > 3 else ''}."
            )
        self._truth.tidy(self.annotator)
        adopted = self._adopt()
        if restart:
            self._restart()
        elif adopted:
            self.notices.append(adopted)
        if self._truth.is_behind(self._state):
            warning = self._write_truth()
            self.notices += [warning] if warning else []
        self._resume()

    def _restart(self) -> None:
        backup = self._truth.back_up(self.annotator)
        self._journal.append("restart")
        self._catch_up()
        kept = f"; the file as it was is {backup.name}" if backup else ""
        self.notices.append(f"Labelling starts over{kept}. The journal keeps what was said before.")

    def _adopt(self) -> str:
        """Take over what the truth file says and no journal does; returns what there is to tell of it."""
        details = self._truth.changes(self.annotator, self._journal.events)
        if details is None:
            return ""
        self._journal.append("adopt", details=details)
        self._catch_up()
        taken = [
            count(len(details["judgments"]), "judgment", "judgments"),
            count(len(details["notes"]), "note", "notes"),
            count(len(details["no_answer"]), "no-answer flag", "no-answer flags"),
        ]
        told = ", ".join(one for one in taken if not one.startswith("0 "))
        return f"Taken over from {self._truth.path.name}, because no journal has it: {told}."

    def _resume(self) -> None:
        if self._state.last is not None:
            self._look_at(self._state.last)
        self._advance()

    def _look_at(self, spot: Spot) -> None:
        """Go where something happened; what the pool does not have any more is passed over."""
        place = self.pool.places.get(spot.query_id)
        if place is None or (spot.doc_id is None and place == self._query):
            return
        self._query, self._doc = place, self.pool.tasks[place].places.get(spot.doc_id or "", 0)

    def _catch_up(self) -> None:
        # An interrupt may strike between the disk and the state; what is on disk has happened.
        while self._applied < len(self._journal.events):
            event = self._journal.events[self._applied]
            self._state.apply(event)
            self._applied += 1

    def _spots(self) -> Iterator[Spot]:
        for task in self.pool.tasks:
            for candidate in task.candidates:
                yield Spot(task.query.id, candidate.doc_id)

    def _mark(self, spot: Spot) -> Mark | None:
        return self._state.mark(spot.query_id, spot.doc_id or "")

    def _spot(self) -> Spot:
        task = self.pool.tasks[self._query]
        return Spot(task.query.id, task.candidates[self._doc].doc_id if task.candidates else None)

    def _place(self, spot: Spot) -> int:
        """The place of the query in the pool; what is not in the pool cannot be labelled."""
        place = self.pool.places.get(spot.query_id)
        if place is None:
            raise UsageError(f"There is no query {spot.query_id!r} in the pool.")
        if spot.doc_id is not None and spot.doc_id not in self.pool.tasks[place].places:
            raise UsageError(f"There is no document {spot.doc_id!r} in the pool of query {spot.query_id!r}.")
        return place

    def _mark_document(
        self, kind: str, what: str, at: Spot | None, once: str | None, grade: int | None = None
    ) -> Saved:  # fmt: skip
        spot = at or self._spot()
        task = self.pool.tasks[self._place(spot)]
        if spot.doc_id is None:
            raise UsageError(f"Query {spot.query_id!r} has no document to judge.")
        candidate = task.candidates[task.places[spot.doc_id]]
        again = self._mark(spot)
        here = spot == self._spot()
        saved = self._save(
            kind, what, spot, once, grade=grade, header=candidate.header, fingerprint=candidate.fingerprint
        )  # fmt: skip
        if here:
            last_of_query = self._doc + 1 == len(task.candidates)
            if again is not None and not again.waits and not last_of_query:
                # Whoever labels a query once more wants to see the rest of it too.
                self._doc += 1
            else:
                self._advance()
        return self._settled(saved)

    def _save(self, kind: str, what: str, spot: Spot, once: str | None, **told: object) -> Saved:
        self._place(spot)
        if once is not None and once in self._state.once:
            return Saved(self._state.once[once].seq, what, spot)
        event = self._journal.append(kind, query_id=spot.query_id, doc_id=spot.doc_id, once=once, **told)
        self._catch_up()
        self._stale.add(spot.query_id)
        return Saved(event.seq, what, spot)

    def _settled(self, saved: Saved) -> Saved:
        """Bring the file up to date if a query was done or left since it was written."""
        here = self.pool.tasks[self._query].query.id
        done = any(self._is_complete(query_id) and query_id != here for query_id in self._stale)
        if not (done or len(self._stale) > 1 or (self._is_complete(here) and self.finished)):
            return saved
        return replace(saved, warning=self._write_truth())

    def _step_back(self, kind: str, word: str, event: Event | None, once: str | None) -> Saved | None:
        if once is not None and once in self._state.once:
            earlier = self._state.once[once]
            return Saved(earlier.seq, word, self._spot())
        if event is None or event.spot is None:
            return None
        written = self._journal.append(kind, of=event.seq, once=once)
        self._catch_up()
        spot = event.spot
        self._stale.add(spot.query_id)
        self._look_at(spot)
        return self._settled(Saved(written.seq, f"{word}: {_words(event)}", spot))

    def _is_complete(self, query_id: str) -> bool:
        candidates = self.pool.tasks[self.pool.places[query_id]].candidates
        marks = [self._state.mark(query_id, candidate.doc_id) for candidate in candidates]
        return all(mark is not None and not mark.waits for mark in marks)

    def _write_truth(self) -> str:
        """Write the truth file; returns what went wrong, for the labels themselves are in the journal already."""
        try:
            self._truth.write(self._state)
        except (RankproofError, OSError) as exc:
            return f"The label is in the journal, but the file is behind: {exc}"
        self._stale.clear()
        return ""

    def _move_to(self, query: int, doc: int) -> bool:
        if not 0 <= query < len(self.pool.tasks):
            return False
        self._query, self._doc = query, doc
        return True

    def _advance(self) -> None:
        """Go to the first document from here on that is left, round to the beginning; if none is, to one put off."""
        waiting = []
        for place in self._places_from_here():
            mark = self._mark(self._spot_at(place))
            if mark is None:
                self._query, self._doc = place
                return
            if mark.waits:
                waiting.append(place)
        # The one that was just put off comes last of those.
        for place in [*(one for one in waiting if one != (self._query, self._doc)), *waiting][:1]:
            self._query, self._doc = place

    def _places_from_here(self) -> Iterator[tuple[int, int]]:
        n = len(self.pool.tasks)
        sizes = [len(task.candidates) for task in self.pool.tasks]
        yield from ((self._query, doc) for doc in range(self._doc, sizes[self._query]))
        yield from ((q % n, doc) for q in range(self._query + 1, self._query + n) for doc in range(sizes[q % n]))
        yield from ((self._query, doc) for doc in range(min(self._doc, sizes[self._query])))

    def _spot_at(self, place: tuple[int, int]) -> Spot:
        task = self.pool.tasks[place[0]]
        return Spot(task.query.id, task.candidates[place[1]].doc_id)


def _words(event: Event) -> str:
    if event.kind == "judge" and event.grade is not None:
        return WORDS[event.grade]
    if event.kind == "no_answer":
        return "no answer in the corpus" if event.flag else "there may be an answer in the corpus"
    return {"cant_tell": "can't tell", "later": "later", "note": "note"}.get(event.kind, event.kind)
