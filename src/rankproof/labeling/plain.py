"""The labeller line by line: prompts that work over a pipe, on a dumb terminal and with a screen reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rankproof.data.formats.ground_truth import GRADES
from rankproof.errors import RankproofError, count
from rankproof.labeling.disk import NotSaved
from rankproof.labeling.keys import ACTIONS, KEYS, Action
from rankproof.labeling.session import Current, Saved, Session
from rankproof.labeling.truth import WORDS
from rankproof.labeling.visible import excerpt, visible, visible_line

PROMPT = "[r]elevant / [p]artial / [n]ot-relevant, ? for more: "
_EXCERPT = 600
_WORDS: dict[str, Action] = {key.action.replace("_", " "): key.action for key in KEYS} | {
    key.action: key.action for key in KEYS
}


class Ask(Protocol):
    """Shows a prompt and returns the line that was typed, without its end; None at the end of the input."""

    def __call__(self, prompt: str) -> str | None: ...


class Plain:
    """A conversation about one document after the other."""

    def __init__(self, session: Session, ask: Ask, say: Callable[[str], None], *, guideline: str | None = None) -> None:
        self.session = session
        self.ask = ask
        self.say = say
        self.guideline = guideline
        self._shown: tuple[int, int] | None = None

    def run(self) -> None:
        """Go on until the annotator quits or the input ends."""
        self._show()
        while (line := self.ask(PROMPT)) is not None:
            if not self._heard(line):
                return

    def _heard(self, line: str) -> bool:
        """Do what a line says; False to quit."""
        action, rest = _understood(line)
        if action == "quit":
            return False
        try:
            self._do(action, rest, line)
        except NotSaved as exc:
            self.say(f"NOT saved: {visible_line(str(exc))}")
            self.say("Nothing has changed; try again.")
        except RankproofError as exc:
            self.say(visible(str(exc)))
        self._show()
        return True

    def _do(self, action: Action | str | None, rest: str, line: str) -> None:
        session = self.session
        if action in GRADES:
            self._told(session.judge(GRADES[action]))
        elif action == "cant_tell":
            self._told(session.cant_tell())
        elif action == "later":
            self._told(session.later())
        elif action == "undo":
            self._told(session.undo(), "There is nothing to undo.")
        elif action == "redo":
            self._told(session.redo(), "There is nothing to redo.")
        elif action == "no_answer":
            self._told(session.no_answer(not session.current.no_answer))
        elif action == "note":
            self._note(rest)
        elif action == "go_to":
            session.go_to(int(rest))
        elif action == "full_text":
            self._full_text()
        elif action == "guideline":
            self.say(visible(self.guideline or "There is no guideline; --guideline FILE names one."))
        elif action == "help":
            self._help()
        elif action in _MOVES:
            if not _MOVES[action](session):
                self.say(f"There is no {action.replace('_', ' ')}.")
        else:
            self.say(f"{excerpt(line, 40)!r} is not known. Possible are:" if line else "Possible are:")
            self._help()

    def _told(self, saved: Saved | None, otherwise: str = "") -> None:
        if saved is None:
            self.say(otherwise)
            return
        current = self.session.current
        self.say(f"saved: {visible_line(saved.what)} ({current.n_judged} judged, {current.n_left} left)")
        if saved.warning:
            self.say(f"Warning: {visible_line(saved.warning)}")
        if self.session.finished:
            self.say("Everything is judged. q quits; k and K go back.")

    def _note(self, text: str) -> None:
        if not text:
            typed = self.ask("note (empty leaves it as it is, - removes it): ")
            text = "" if typed is None else typed.strip()
        if text:
            self._told(self.session.note("" if text == "-" else text))

    def _show(self) -> None:
        """Say what is to be judged, if it is another document than before."""
        current = self.session.current
        before, self._shown = self._shown, (current.query_number, current.doc_number)
        if before == self._shown:
            return
        if before is None or before[0] != current.query_number:
            self._show_query(current)
        self._show_document(current)

    def _show_query(self, current: Current) -> None:
        group = f" ({visible_line(current.query.group)})" if current.query.group else ""
        self.say("")
        self.say(f"Query {current.query_number} of {current.n_queries}{group}: {visible_line(current.query.text)}")
        if current.note:
            self.say(f"Note: {visible_line(current.note)}")
        if current.no_answer:
            self.say("Marked: no answer in the corpus.")

    def _show_document(self, current: Current) -> None:
        candidate = current.candidate
        if candidate is None:
            self.say("No document was found for this query.")
            return
        self.say("")
        header = visible_line(candidate.document.title) or visible_line(candidate.doc_id)
        self.say(f"Document {current.doc_number} of {current.n_docs}: {excerpt(header, 200)}")
        for system, rank, score in current.sightings:
            self.say(f"Rank {rank} of {visible_line(system)}, score {score:.6g}")
        self.say(excerpt(candidate.document.text, _EXCERPT))
        mark = current.mark
        if mark is not None:
            told = WORDS[mark.grade] if mark.grade is not None else "later" if mark.waits else "can't tell"
            self.say(f"Judged before: {told}")

    def _full_text(self) -> None:
        candidate = self.session.current.candidate
        if candidate is None:
            self.say("No document was found for this query.")
            return
        self.say(visible(candidate.document.text))
        self.say(f"(end of the document, {count(len(candidate.document.text), 'character', 'characters')})")

    def _help(self) -> None:
        for key in KEYS:
            names = " or ".join("space" if one == " " else one for one in key.keys)
            self.say(f"  {names}: {key.about}")
        self.say("  #7: go to query 7")


_MOVES: dict[str, Callable[[Session], bool]] = {
    "next_document": Session.next,
    "previous_document": Session.previous,
    "next_query": Session.next_query,
    "previous_query": Session.previous_query,
}


def _understood(line: str) -> tuple[Action | str | None, str]:
    """What a line asks for: a key, a word, `#7`, or `m` with the note behind it."""
    word = line.strip()
    if line and not word:
        return "cant_tell", ""
    if word.startswith("#") and word[1:].strip().isdecimal():
        return "go_to", word[1:].strip()
    if word[:2] in ("m ", "m\t"):
        return "note", word[2:].strip()
    if word in ACTIONS:
        return ACTIONS[word], ""
    return ACTIONS.get(word.lower()) or _WORDS.get(word.lower()), ""
