"""The screen of the labeller, and what its keys do.

Keys are taken one at a time, in the order in which they came: one that saves is done when the session says so, and only
then is the next one looked at. Saving happens in a thread, so that the screen can be scrolled and resized meanwhile.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from rankproof.data.corpus import Document
from rankproof.data.files import PathLike
from rankproof.data.formats.ground_truth import GRADES
from rankproof.errors import RankproofError
from rankproof.labeling.disk import NotSaved
from rankproof.labeling.session import Current, Saved, Session
from rankproof.terminal import views
from rankproof.terminal.keys import COMMANDS, Command
from rankproof.terminal.texts import common_words, readable, words_of

INTERRUPTED = 130
_PASTE = "paste"
_LOW = 16
_PADDING = 2


class Stroke(NamedTuple):
    """A key that was pressed or clicked, or a text that was pasted."""

    key: str
    """Textual's name of it."""
    text: str
    """The character that it types, if it types one."""

    @property
    def command(self) -> Command | None:
        """What it asks for; a capital that means nothing of its own is one typed with the caps lock on."""
        return COMMANDS.get(self.text) or COMMANDS.get(self.key) or COMMANDS.get(self.text.lower())


@dataclass(frozen=True)
class Sheet:
    """Something to be read, in the place of the document."""

    kind: Literal["notices", "help", "guideline", "finished"]
    content: Content
    closed_by: frozenset[str]


@dataclass(frozen=True)
class Prompt:
    """A line that is being typed."""

    kind: Literal["note", "go_to"]
    before: str


class _View(NamedTuple):
    """What the session says after something was done."""

    current: Current
    finished: bool


_MOVES: dict[Command, Callable[[Session], bool]] = {
    "next_document": Session.next,
    "previous_document": Session.previous,
    "next_query": Session.next_query,
    "previous_query": Session.previous_query,
}
_NO_FURTHER: dict[Command, str] = {
    "next_document": "This is the last document.",
    "previous_document": "This is the first document.",
    "next_query": "This is the last query.",
    "previous_query": "This is the first query.",
}
_SCROLLS: dict[str, Callable[[VerticalScroll], None]] = {
    "up": lambda pane: pane.scroll_up(animate=False),
    "down": lambda pane: pane.scroll_down(animate=False),
    "pageup": lambda pane: pane.scroll_page_up(animate=False),
    "pagedown": lambda pane: pane.scroll_page_down(animate=False),
    "home": lambda pane: pane.scroll_home(animate=False),
    "end": lambda pane: pane.scroll_end(animate=False),
}
_LEAVE = frozenset({"escape", "enter"})
# Once all is judged, a grade typed too much must not change the last document.
_FINISHED_COMMANDS = frozenset(_MOVES) | {"undo", "redo", "go_to", "note", "help", "guideline", "quit"}


def _editing() -> dict[str, str]:
    """Key → action of an input line, as Textual binds them."""
    found: dict[str, str] = {}
    for binding in Input.BINDINGS:
        assert isinstance(binding, Binding)
        found |= dict.fromkeys(binding.key.split(","), binding.action)
    return found


class Labeller(App[Exception]):
    """One query and one document at a time; returns what went wrong, if that was unexpected."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #query { height: auto; max-height: 30%; padding: 0 1; }
    #document, #sheet { height: 1fr; border-top: solid ansi_blue; border-bottom: solid ansi_blue; padding: 0 1; }
    VerticalScroll {
        scrollbar-size-vertical: 1; scrollbar-color: ansi_blue; scrollbar-color-hover: ansi_blue;
        scrollbar-color-active: ansi_blue; scrollbar-background: ansi_default;
        scrollbar-background-hover: ansi_default; scrollbar-background-active: ansi_default;
    }
    #sheet { padding: 1 2; display: none; }
    #heading, #text, #sheet_text { width: 100%; max-width: 100; padding-right: 1; }
    #text { margin-top: 1; }
    #progress, #told, #keys { height: auto; padding: 0 1; }
    #told { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #told.-whole { height: auto; min-height: 1; max-height: 5; text-wrap: wrap; }
    #keys, #text { link-color: ansi_default; link-background: ansi_default; link-style: none; }
    #keys, #text { link-color-hover: ansi_default; link-background-hover: ansi_default; link-style-hover: underline; }
    #prompt { height: 1; padding: 0 1; display: none; }
    #prompt_label { width: auto; }
    #typed { width: 1fr; }
    .-narrow #sheet { padding: 0 1; }
    .-low #text { margin-top: 0; }
    .-full #query_text { text-wrap: nowrap; text-overflow: ellipsis; }
    .-sheet #document { display: none; }
    .-sheet #sheet { display: block; }
    .-prompt #prompt { display: block; }
    """

    def __init__(
        self, session: Session, *, corpus_text: Callable[[str], Document] | None = None, guideline: str | None = None,
        file: PathLike | None = None,
    ) -> None:  # fmt: skip
        # The terminal's own colours: right on a light ground and on a dark one.
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.session = session
        self.strokes: asyncio.Queue[Stroke] = asyncio.Queue()
        """What was typed and is not done yet."""
        self.current = session.current
        self.fate: views.Fate = ""
        self.sheet: Sheet | None = None
        self.prompt: Prompt | None = None
        self.full = False
        self.over = False
        """Whether the annotator has quit; what was typed behind that counts no more."""
        self._corpus_text = corpus_text
        self._guideline = guideline
        self._file = None if file is None else os.fspath(file)
        self._looks = views.PLAIN if self.no_color else views.Looks()
        self._common: frozenset[str] = frozenset()
        self._editing = _editing()

    def compose(self) -> ComposeResult:
        """The parts of the screen, from top to bottom."""
        with VerticalScroll(id="query", can_focus=False):
            yield Static(id="query_text", markup=False)
        with VerticalScroll(id="document", can_focus=False):
            yield Static(id="heading", markup=False)
            yield Static(id="text", markup=False)
        with VerticalScroll(id="sheet", can_focus=False):
            yield Static(id="sheet_text", markup=False)
        yield Static(id="progress", markup=False)
        yield Static(id="told", markup=False)
        with Horizontal(id="prompt"):
            yield Static(id="prompt_label", markup=False)
            yield Input(id="typed", compact=True, select_on_focus=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Show what there is to be told first, and begin to listen."""
        tasks = self.session.pool.tasks
        self._common = common_words(one.document.text for task in tasks for one in task.candidates)
        self._show_session()
        if self.session.notices:
            self._open_sheet("notices", views.notices_view(self.session.notices), "space")
        elif self.session.finished:
            self._open_finished()
        self.run_worker(self._listen(), exit_on_error=False)

    def on_resize(self, event: events.Resize) -> None:
        """Show as many keys as there is room for."""
        self.screen.set_class(event.size.width < views.NARROW, "-narrow")
        self.screen.set_class(event.size.height < _LOW, "-low")
        self._show_keys(event.size.width)
        self._show_fate(self.fate, event.size.width)

    async def on_event(self, event: events.Event) -> None:
        """Take keys before anything else sees them, so that none overtakes another."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.strokes.put_nowait(Stroke(event.key, event.character or "" if event.is_printable else ""))
        elif isinstance(event, events.Paste) and not event.is_forwarded:
            self.strokes.put_nowait(Stroke(_PASTE, event.text))
        else:
            await super().on_event(event)

    def action_press(self, key: str) -> None:
        """A key that was clicked."""
        self.strokes.put_nowait(Stroke("space" if key == " " else key, key if len(key) == 1 else ""))

    async def _listen(self) -> None:
        """Do what was typed, one after the other."""
        while not self.over:
            stroke = await self.strokes.get()
            try:
                await self._do(stroke)
            except Exception as exc:  # whatever it is, the command line tells it
                self._end(exc)
            finally:
                self.strokes.task_done()

    def _end(self, failure: Exception | None = None, code: int = 0) -> None:
        self.over = True
        self.exit(failure, code)

    async def _do(self, stroke: Stroke) -> None:
        if stroke.key == "ctrl+c":
            self._end(code=INTERRUPTED)
        elif self.prompt is not None:
            await self._type(self.prompt, stroke)
        elif stroke.key == _PASTE:
            # What is pasted by mistake must not become labels.
            self._tell("Pasting works in a note only.")
        elif stroke.key in _SCROLLS:
            _SCROLLS[stroke.key](self.query_one("#sheet" if self.sheet else "#document", VerticalScroll))
        elif self.sheet is not None:
            await self._leave(self.sheet, stroke)
        elif stroke.key == "escape":
            self._show_full(False)
        else:
            await self._obey(stroke.command)

    async def _leave(self, sheet: Sheet, stroke: Stroke) -> None:
        """Close the sheet, if that is what was typed."""
        command = stroke.command
        if stroke.key in sheet.closed_by or stroke.text in sheet.closed_by:
            self._close_sheet()
        elif command == "quit":
            self._end()
        elif sheet.kind == "finished" and command in _FINISHED_COMMANDS:
            self._close_sheet()
            await self._obey(command)

    async def _obey(self, command: Command | None) -> None:
        session = self.session
        if command in GRADES:
            grade = GRADES[command]
            await self._save(lambda: session.judge(grade))
        elif command == "cant_tell":
            await self._save(session.cant_tell)
        elif command == "later":
            await self._save(session.later)
        elif command == "no_answer":
            flag = not self.current.no_answer
            await self._save(lambda: session.no_answer(flag))
        elif command == "undo":
            await self._save(session.undo, otherwise="There is nothing to undo.")
        elif command == "redo":
            await self._save(session.redo, otherwise="There is nothing to redo.")
        elif command in _MOVES:
            await self._move(command)
        elif command == "full_text":
            self._show_full(not self.full)
        elif command == "note":
            self._open_prompt("note", "note: ", views.line(self.current.note))
        elif command == "go_to":
            self._open_prompt("go_to", f"go to query (1–{self.current.n_queries}): ", "")
        elif command == "guideline":
            self._open_sheet("guideline", views.guideline_view(self._guideline), "space", "h", "q")
        elif command == "help":
            self._open_sheet("help", views.help_view(self._looks), "space", "?", "q")
        elif command == "quit":
            self._end()
        else:
            self._tell("That key does nothing here; ? shows the keys.")

    async def _save(self, change: Callable[[], Saved | None], *, otherwise: str = "") -> None:
        """Change something, and say that it is saved when it is, and only then."""
        about = self.current
        self._show_fate("saving …")
        try:
            saved, view = await asyncio.to_thread(lambda: (change(), self._look()))
        except NotSaved as exc:
            self._show_fate("NOT SAVED")
            self._tell(
                f"{readable(str(exc))}\nNothing has changed; press the key again to try again.", self._looks.loud
            )
            return
        except RankproofError as exc:
            self._show_fate("")
            self._tell(readable(str(exc)))
            return
        self.fate = "saved ✓" if saved is not None else ""
        self.current = view.current
        self.full = False
        self._show_session()
        if saved is None:
            self._tell(otherwise)
        elif saved.warning:
            self._tell(readable(saved.warning), self._looks.loud)
        else:
            self._tell(_account(saved, about), self._looks.aside, whole=False)
        if view.finished:
            self._open_finished()

    async def _move(self, command: Command) -> None:
        move = _MOVES[command]
        moved, view = await asyncio.to_thread(lambda: (move(self.session), self._look()))
        if not moved:
            self._tell(_NO_FURTHER[command])
            return
        self._arrive(view)

    async def _go_to(self, typed: str) -> None:
        if not typed:
            return
        try:
            number = int(typed)
        except ValueError:
            self._tell(f"{views.line(typed)!r} is no number of a query.")
            return
        try:
            _, view = await asyncio.to_thread(lambda: (self.session.go_to(number), self._look()))
        except RankproofError as exc:
            self._tell(readable(str(exc)))
            return
        self._arrive(view)

    def _look(self) -> _View:
        return _View(self.session.current, self.session.finished)

    def _arrive(self, view: _View) -> None:
        self.current = view.current
        self.full = False
        self._show_session()
        if self.fate != "NOT SAVED":
            self._tell("")

    async def _type(self, prompt: Prompt, stroke: Stroke) -> None:
        """Edit the line, or end it."""
        line = self.query_one("#typed", Input)
        if stroke.key == "escape":
            self._close_prompt()
        elif stroke.key == "enter":
            typed = line.value.strip()
            self._close_prompt()
            if prompt.kind == "go_to":
                await self._go_to(typed)
            elif typed != prompt.before:
                await self._save(lambda: self.session.note(typed))
        elif stroke.text:
            line.insert_text_at_cursor(views.line(stroke.text) if stroke.key == _PASTE else stroke.text)
        elif stroke.key in self._editing:
            await self.run_action(self._editing[stroke.key], line)

    def _open_prompt(self, kind: Literal["note", "go_to"], label: str, value: str) -> None:
        self.prompt = Prompt(kind, value)
        line = self.query_one("#typed", Input)
        line.value = value
        line.cursor_position = len(value)
        self.query_one("#prompt_label", Static).update(Content(label))
        self.screen.add_class("-prompt")
        line.focus()
        self._show_keys()

    def _close_prompt(self) -> None:
        self.prompt = None
        self.screen.remove_class("-prompt")
        self.screen.set_focus(None)
        self._show_keys()

    def _open_sheet(
        self, kind: Literal["notices", "help", "guideline", "finished"], content: Content, *closed_by: str
    ) -> None:
        self.sheet = Sheet(kind, content, _LEAVE.union(closed_by))
        self.query_one("#sheet_text", Static).update(content)
        self.query_one("#sheet", VerticalScroll).scroll_home(animate=False)
        self.screen.add_class("-sheet")
        self._show_keys()

    def _open_finished(self) -> None:
        self._open_sheet("finished", views.finished_view(self.current, self._file))

    def _close_sheet(self) -> None:
        was = self.sheet
        self.sheet = None
        self.screen.remove_class("-sheet")
        self._show_keys()
        if was is not None and was.kind == "notices" and self.session.finished:
            self._open_finished()

    def _show_session(self) -> None:
        """Everything anew, the document from its beginning."""
        words = words_of(self.current.query.text)
        # A query of nothing but common words is better set off than not at all.
        words = (words - self._common) or words
        query = views.query_view(self.current, self.session.annotator, self._looks, full=self.full)
        self.query_one("#query_text", Static).update(query)
        self.query_one("#heading", Static).update(views.heading_view(self.current, words, self._looks))
        self.query_one("#text", Static).update(self._text(words))
        self.screen.set_class(self.full, "-full")
        self.query_one("#document", VerticalScroll).scroll_home(animate=False)
        self._show_fate(self.fate)
        self._show_keys()

    def _text(self, words: frozenset[str]) -> Content:
        candidate = self.current.candidate
        if candidate is None:
            return Content()
        document = candidate.document
        if self.full and self._corpus_text is not None:
            document = self._corpus_text(candidate.doc_id)
        return views.text_view(document, words, self._looks, full=self.full)

    def _show_full(self, full: bool) -> None:
        if full != self.full:
            self.full = full
            self._show_session()

    def _show_fate(self, fate: views.Fate, width: int | None = None) -> None:
        self.fate = fate
        progress = views.progress_view(self.current, fate, self._looks, self._room(width))
        self.query_one("#progress", Static).update(progress)

    def _room(self, width: int | None) -> int:
        return (self.size.width if width is None else width) - _PADDING

    def _show_keys(self, width: int | None = None) -> None:
        room = self._room(width)
        looks = self._looks
        if self.prompt is not None:
            verb = "save" if self.prompt.kind == "note" else "go"
            content = views.back_view(looks, room, ("enter", verb), ("escape", "leave it"))
        elif self.sheet is None:
            content = views.keys_view(self.current, looks, room)
        elif self.sheet.kind == "finished":
            content = views.back_view(looks, room, ("q", "quit"), ("enter", "look again"), ("u", "undo"))
        elif self.sheet.kind == "notices":
            content = views.back_view(looks, room, ("enter", "begin"), ("q", "quit"))
        else:
            content = views.back_view(looks, room, ("escape", "back"))
        self.query_one("#keys", Static).update(content)

    def _tell(self, text: str, look: str = "", *, whole: bool = True) -> None:
        """Say something below the progress; on one line, be it cut, unless it must be read as a whole."""
        place = self.query_one("#told", Static)
        place.update(Content.styled(text, look))
        place.set_class(whole, "-whole")


def _account(saved: Saved, about: Current) -> str:
    """What was saved, and of which document."""
    candidate = about.candidate
    if candidate is None or saved.spot.doc_id != candidate.doc_id:
        return views.line(saved.what)
    return views.line(f"{saved.what}: {candidate.document.title or candidate.doc_id}")
