"""A labelling session as the page sees it: places by number, one call at a time, answers as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, get_args

from rankproof.data.formats.ground_truth import GRADES
from rankproof.data.gold import Query
from rankproof.errors import BadInput, RankproofError, UsageError
from rankproof.labeling.events import Event, Mark, Said, Spot, State, fold
from rankproof.labeling.journal import journal_paths, read_journal
from rankproof.labeling.keys import Action as KeyAction
from rankproof.labeling.pool import Candidate, Pool, Sighting
from rankproof.labeling.session import Saved, Session
from rankproof.labeling.truth import WORDS

_EVENT_KINDS = dict.fromkeys(GRADES, "judge") | {
    "cant_tell": "cant_tell", "later": "later", "note": "note", "no_answer": "no_answer", "undo": "undo",
    "redo": "redo",
}  # fmt: skip
_ABOUT_A_DOCUMENT = frozenset({*GRADES, "cant_tell", "later"})
assert set(_EVENT_KINDS) <= set(get_args(KeyAction))
_ONCE = re.compile(r"[\w-]{8,64}", re.ASCII)


class Conflict(UsageError):
    """Another action was sent under the same name before."""


@dataclass(frozen=True)
class Action:
    """What a person did on the page."""

    name: str
    """As the keys call it: `relevant`, `note`, `undo`."""
    once: str
    """A name that the page gave it, so that it counts once however often it is sent."""
    spot: Spot | None = None
    text: str = ""
    flag: bool = True

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Action:
        """An action out of what a request says; anything odd about it is refused."""
        name, once, text, flag = told.get("action"), told.get("once"), told.get("text", ""), told.get("flag", True)
        if not isinstance(name, str) or name not in _EVENT_KINDS:
            raise UsageError("There is no such action.")
        if not isinstance(once, str) or not _ONCE.fullmatch(once):
            raise UsageError("The action has no name of its own.")
        if not isinstance(text, str) or not isinstance(flag, bool):
            raise UsageError("The note is no text.")
        spot = _spot(told.get("spot"))
        if name in _ABOUT_A_DOCUMENT and (spot is None or spot.doc_id is None):
            raise UsageError("The action does not say which document it is about.")
        if name in ("note", "no_answer") and spot is None:
            raise UsageError("The action does not say which query it is about.")
        # Half a character cannot be kept, and what is kept is compared when the action is sent again.
        return cls(name, once, spot, text.encode(errors="replace").decode(), flag)

    def is_event(self, event: Event) -> bool:
        """Whether this is what an event recorded."""
        if event.kind != _EVENT_KINDS[self.name]:
            return False
        if self.name in ("undo", "redo") or self.spot is None:
            return True
        if event.kind in ("note", "no_answer"):
            said = event.text or "" if event.kind == "note" else event.flag
            return event.query_id == self.spot.query_id and said == (self.text if event.kind == "note" else self.flag)
        return event.spot == self.spot and event.grade == GRADES.get(self.name)


def _spot(value: Any) -> Spot | None:
    if value is None:
        return None
    if not isinstance(value, list) or not 1 <= len(value) <= 2 or not all(isinstance(part, str) for part in value):
        raise UsageError("The action does not say what it is about.")
    return Spot(*value)


class Place(NamedTuple):
    """A query and a document under it, numbered from 1; document 0 where there is none."""

    query: int
    doc: int


@dataclass(frozen=True)
class Shown:
    """A document on the page."""

    number: int
    spot: Spot
    candidate: Candidate
    mark: str
    """What the annotator said of it, in words; empty if nothing."""
    sightings: tuple[Sighting, ...]


@dataclass(frozen=True)
class Sheet:
    """All that the page shows of a query."""

    number: int
    n_queries: int
    query: Query
    documents: tuple[Shown, ...]
    note: str
    no_answer: bool
    n_judged: int
    n_left: int

    def as_dict(self) -> dict[str, Any]:
        """What the page's script keeps up to date."""
        return {
            "number": self.number,
            "id": self.query.id,
            "marks": [shown.mark for shown in self.documents],
            "note": self.note,
            "no_answer": self.no_answer,
            "judged": self.n_judged,
            "left": self.n_left,
        }


@dataclass(frozen=True)
class Done:
    """What became of an action."""

    saved: Saved | None
    """None if there was nothing to undo or redo."""
    sheet: Sheet | None
    """Of the query that it was about."""
    next: Place
    finished: bool


@dataclass(frozen=True)
class Progress:
    """How far an annotator has come."""

    annotator: str
    n_judged: int = 0
    n_cant_tell: int = 0
    n_later: int = 0
    n_left: int = 0
    n_notes: int = 0
    last_at: str = ""
    fault: str = ""
    """Why the journal cannot be read."""


class Desk:
    """The session, and the journals of the others beside it."""

    def __init__(
        self, session: Session, truth: Path, labels: Path, *, guideline: str | None = None, adjudicates: bool = False
    ) -> None:  # fmt: skip
        self.session = session
        self.truth = truth
        self.labels = labels
        self.guideline = guideline
        self.adjudicates = adjudicates
        """Whether this annotator has the last word where the others disagree."""
        self.id = desk_id(labels, session.annotator)
        # The session is one call at a time; this makes several calls one.
        self._lock = Lock()

    @property
    def pool(self) -> Pool:
        """What is labelled."""
        return self.session.pool

    @property
    def annotator(self) -> str:
        """Who labels."""
        return self.session.annotator

    def place(self) -> Place:
        """Where to go on."""
        with self._lock:
            return self._place()

    def first_left(self, query_number: int) -> Place:
        """The first document of a query that is left, or else its first."""
        with self._lock:
            self.session.go_to(query_number)
            return self._place()

    def sheet(self, number: int) -> Sheet | None:
        """All that is shown of a query, by its number; None if there is no such query."""
        if not 1 <= number <= len(self.pool.tasks):
            return None
        with self._lock:
            return self._sheet(number)

    def do(self, action: Action) -> Done:
        """Do it once, and say where to go on. Raises NotSaved if it is not on disk, Conflict if the name was used."""
        with self._lock:
            earlier = self.session.state.once.get(action.once)
            if earlier is not None and not action.is_event(earlier):
                raise Conflict("Another action was sent under the same name before.")
            if action.spot is not None:
                self.session.go_to_spot(action.spot)
            saved = self._do(action)
            about = saved.spot.query_id if saved is not None else None
            number = self.pool.places[about] + 1 if about in self.pool.places else None
            sheet = None if number is None else self._sheet(number)
            return Done(saved, sheet, self._place(), self.session.finished)

    def do_form(self, action: Action) -> Done:
        """Do what a form says; one that is sent again after something else was said is meant anew."""
        with self._lock:
            state = self.session.state
            earlier = state.once.get(action.once)
            known = earlier is None or (action.is_event(earlier) and _stands(action, earlier, state))
            fresh = sha256(f"{action.once}\0{state.seq}\0{action.name}".encode()).hexdigest()[:32]
        return self.do(action if known else replace(action, once=fresh))

    def progress(self) -> list[Progress]:
        """How far everybody has come who labels for this file."""
        found = []
        for path in journal_paths(self.labels):
            if path.stem == self.annotator:
                with self._lock:
                    found.append(self._progress(path.stem, self.session.state))
                continue
            try:
                events = read_journal(path).events
            except BadInput as exc:
                found.append(Progress(path.stem, fault=without_paths(exc)))
                continue
            if events and (events[0].details or {}).get("truth") in (None, self.truth.name):
                found.append(self._progress(path.stem, fold(events)))
        return found

    def _progress(self, annotator: str, state: State) -> Progress:
        marks = state.marks()
        spots = [Spot(task.query.id, one.doc_id) for task in self.pool.tasks for one in task.candidates]
        here = [marks.get(spot) for spot in spots]
        notes = [said for said in state.notes().values() if said.value]
        times = [mark.at for mark in marks.values()] + [said.at for said in notes]
        return Progress(
            annotator,
            n_judged=sum(mark is not None and mark.kind == "judge" for mark in here),
            n_cant_tell=sum(mark is not None and mark.kind == "cant_tell" for mark in here),
            n_later=sum(mark is not None and mark.waits for mark in here),
            n_left=sum(mark is None or mark.waits for mark in here),
            n_notes=len(notes),
            last_at=max(times, default=""),
        )

    def _do(self, action: Action) -> Saved | None:
        session, once, spot = self.session, action.once, action.spot
        if action.name in GRADES:
            return session.judge(GRADES[action.name], at=spot, once=once)
        if action.name == "cant_tell":
            return session.cant_tell(at=spot, once=once)
        if action.name == "later":
            return session.later(at=spot, once=once)
        if action.name == "note":
            return session.note(action.text, at=spot, once=once)
        if action.name == "no_answer":
            return session.no_answer(action.flag, at=spot, once=once)
        return session.undo(once=once) if action.name == "undo" else session.redo(once=once)

    def _place(self) -> Place:
        current = self.session.current
        return Place(current.query_number, current.doc_number)

    def _sheet(self, number: int) -> Sheet:
        task = self.pool.tasks[number - 1]
        state, current = self.session.state, self.session.current
        documents = []
        for doc_number, candidate in enumerate(task.candidates, 1):
            spot = Spot(task.query.id, candidate.doc_id)
            sightings = candidate.sightings if self.session.show_rank else ()
            documents.append(Shown(doc_number, spot, candidate, word_of(state.mark(*spot)), sightings))  # type: ignore[arg-type]
        return Sheet(
            number, len(self.pool.tasks), task.query, tuple(documents), state.note(task.query.id),
            state.no_answer(task.query.id), current.n_judged, current.n_left,
        )  # fmt: skip


def _stands(action: Action, event: Event, state: State) -> bool:
    """Whether what an event said is still what counts."""
    if action.spot is None:
        return True
    said: dict[str, Said] = {"note": state.notes(), "no_answer": state.no_answers()}.get(action.name, {})
    standing = said.get(action.spot.query_id) or state.marks().get(action.spot)
    return standing is not None and standing.seq == event.seq


def desk_id(labels: Path, annotator: str) -> str:
    """What a browser keeps unsent judgments under: the same at each start, another for other labels."""
    return sha256(f"{labels.resolve()}\0{annotator}".encode(errors="surrogatepass")).hexdigest()[:16]


def word_of(mark: Mark | None) -> str:
    """A mark in words."""
    if mark is None:
        return ""
    return WORDS[mark.grade] if mark.grade is not None else "later" if mark.waits else "can't tell"


_PATH = re.compile(r"(?:[A-Za-z]:)?[^\s'\"(),;:]*[/\\]([^\s/\\'\"(),;:]+)")


def without_paths(exc: RankproofError | str) -> str:
    """What went wrong, with the names of files but not where they lie."""
    text = "; ".join(fault.message for fault in exc.faults) if isinstance(exc, BadInput) else str(exc)
    return _PATH.sub(r"\1", text)
