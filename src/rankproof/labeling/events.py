"""What an annotator did, event by event, and the state that follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal[
    "begin", "adopt", "judge", "cant_tell", "later", "note", "no_answer", "undo", "redo", "restart", "mend"
]  # fmt: skip
KINDS: frozenset[str] = frozenset(get_args(Kind))
VERSION = 1


class Spot(NamedTuple):
    """A document under a query, or a query as a whole."""

    query_id: str
    doc_id: str | None = None


@dataclass(frozen=True)
class Event:
    """One thing that happened; its place among the others is its number, whatever the clock said."""

    seq: int
    at: str
    kind: Kind
    query_id: str | None = None
    doc_id: str | None = None
    grade: int | None = None
    """Of a judgment: 2 relevant, 1 partial, 0 not relevant."""
    header: str | None = None
    fingerprint: str | None = None
    text: str | None = None
    """Of a note."""
    flag: bool | None = None
    """Of no_answer."""
    of: int | None = None
    """Of undo and redo: the number of the event that is undone or redone."""
    once: str | None = None
    """A name that a front end gave to the action, so that the same one sent twice counts once."""
    details: dict[str, Any] | None = None
    """Of begin: annotator, truth file, version. Of adopt: judgments, notes, no_answer. Of mend: the lost numbers."""

    @property
    def spot(self) -> Spot | None:
        """What it is about."""
        return None if self.query_id is None else Spot(self.query_id, self.doc_id)


@dataclass(frozen=True)
class Mark:
    """What stands on a document: a grade, that it cannot be told, or that it waits."""

    kind: Literal["judge", "cant_tell", "later"]
    grade: int | None
    at: str
    seq: int
    header: str = ""
    fingerprint: str | None = None
    adopted: bool = False
    """Whether it was taken over from a file, not judged by this annotator."""
    by: str | None = None
    """Who judged it, as the file that it was taken over from says."""

    @property
    def waits(self) -> bool:
        """Whether somebody still has to look at it."""
        return self.kind == "later"


@dataclass(frozen=True)
class Said:
    """What was said of a query as a whole."""

    value: str | bool
    at: str
    seq: int


class State:
    """All that follows from the events so far.

    Each thing that can be said has a pile of what was said of it; what lies on top counts, and undo takes it away.
    """

    def __init__(self) -> None:
        self.annotator = ""
        self.last: Spot | None = None
        """Where the last event was."""
        self.seq = 0
        self.once: dict[str, Event] = {}
        """The events that a front end gave a name to."""
        self.touched: set[Spot] = set()
        """Every document and query that anything was ever said of, undone or not."""
        self._marks: dict[Spot, list[Mark]] = {}
        self._notes: dict[str, list[Said]] = {}
        self._no_answer: dict[str, list[Said]] = {}
        self._done: list[Event] = []
        self._undone: list[Event] = []

    def mark(self, query_id: str, doc_id: str) -> Mark | None:
        """What stands on a document; None if nothing does."""
        pile = self._marks.get(Spot(query_id, doc_id))
        return pile[-1] if pile else None

    def marks(self) -> dict[Spot, Mark]:
        """Every mark that stands."""
        return {spot: pile[-1] for spot, pile in self._marks.items() if pile}

    def note(self, query_id: str) -> str:
        """The note on a query."""
        said = self.notes().get(query_id)
        return str(said.value) if said else ""

    def no_answer(self, query_id: str) -> bool:
        """Whether the annotator found that the corpus has no answer to the query."""
        pile = self._no_answer.get(query_id)
        return bool(pile and pile[-1].value)

    def notes(self) -> dict[str, Said]:
        """Query → the note that stands; an empty one is one that was taken back."""
        return {query_id: pile[-1] for query_id, pile in self._notes.items() if pile}

    def no_answers(self) -> dict[str, Said]:
        """Query → what was said last on whether it has no answer."""
        return {query_id: pile[-1] for query_id, pile in self._no_answer.items() if pile}

    @property
    def undoable(self) -> Event | None:
        """What undo would take back."""
        return self._done[-1] if self._done else None

    @property
    def redoable(self) -> Event | None:
        """What redo would bring back."""
        return self._undone[-1] if self._undone else None

    def apply(self, event: Event) -> None:
        """Go on by one event."""
        self.seq = event.seq
        if event.once is not None:
            self.once[event.once] = event
        if event.kind == "begin":
            self.annotator = (event.details or {}).get("annotator", "")
        elif event.kind == "adopt":
            self._adopt(event)
        elif event.kind == "restart":
            self._forget()
        elif event.kind == "undo":
            self._undo(event)
        elif event.kind == "redo":
            self._redo(event)
        elif event.kind != "mend":
            self._put(event)
            self._done.append(event)
            self._undone.clear()
            self.last = event.spot

    def _put(self, event: Event) -> None:
        spot = event.spot
        if spot is None:
            return
        self.touched.add(spot)
        if event.kind == "note":
            self._notes.setdefault(spot.query_id, []).append(Said(event.text or "", event.at, event.seq))
        elif event.kind == "no_answer":
            self._no_answer.setdefault(spot.query_id, []).append(Said(bool(event.flag), event.at, event.seq))
        elif event.kind in ("judge", "cant_tell", "later"):
            mark = Mark(event.kind, event.grade, event.at, event.seq, event.header or "", event.fingerprint)
            self._marks.setdefault(spot, []).append(mark)

    def _undo(self, event: Event) -> None:
        # The event may be among those that were lost to damage; then there is nothing to take back.
        if not self._done or self._done[-1].seq != event.of:
            return
        undone = self._done.pop()
        spot = undone.spot
        if spot is not None:
            pile: list[Any] = {
                "note": self._notes.get(spot.query_id, []),
                "no_answer": self._no_answer.get(spot.query_id, []),
            }.get(undone.kind, self._marks.get(spot, []))
            pile.pop()
        self._undone.append(undone)
        self.last = spot

    def _redo(self, event: Event) -> None:
        if not self._undone or self._undone[-1].seq != event.of:
            return
        redone = self._undone.pop()
        self._put(redone)
        self._done.append(redone)
        self.last = redone.spot

    def _adopt(self, event: Event) -> None:
        """Take over what a file says. Undo does not reach beyond it."""
        details = event.details or {}
        for one in details.get("judgments", ()):
            spot = Spot(one["query_id"], one["doc_id"])
            mark = Mark(
                "judge", one["grade"], one.get("at") or event.at, event.seq, one.get("header") or "",
                one.get("fingerprint"), adopted=True, by=one.get("by"),
            )  # fmt: skip
            self._marks.setdefault(spot, []).append(mark)
            self.touched.add(spot)
        at = details.get("at", {})
        for query_id, text in details.get("notes", {}).items():
            self._notes.setdefault(query_id, []).append(Said(text, at.get(query_id) or event.at, event.seq))
            self.touched.add(Spot(query_id))
        for query_id, flag in details.get("no_answer", {}).items():
            self._no_answer.setdefault(query_id, []).append(Said(flag, at.get(query_id) or event.at, event.seq))
            self.touched.add(Spot(query_id))
        self._done.clear()
        self._undone.clear()

    def _forget(self) -> None:
        for piles in (self._marks, self._notes, self._no_answer):
            piles.clear()
        self._done.clear()
        self._undone.clear()
        self.last = None


def fold(events: Iterable[Event]) -> State:
    """The state after these events."""
    state = State()
    for event in events:
        state.apply(event)
    return state
