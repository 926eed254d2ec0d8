"""What stands on the screen, made of what the session says. Everything that others wrote is text, never markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from textual.content import Content, Span
from textual.style import Style

from rankproof.data.corpus import Document
from rankproof.errors import count
from rankproof.labeling.events import Mark
from rankproof.labeling.session import Current
from rankproof.labeling.truth import WORDS
from rankproof.labeling.visible import visible_line
from rankproof.terminal.keys import KEYS, SHORT, Command, name_of
from rankproof.terminal.texts import matches, readable

EXCERPT = 6000
NARROW = 60
"""Below so many columns only the keys that nobody can do without are shown."""
_GAP = 1
_LONGEST_LINE = 2000

Fate = Literal["", "saving …", "saved ✓", "NOT SAVED"]
"""What became of the last change."""


class Looks(NamedTuple):
    """How parts of text are set off."""

    match: str = "bold ansi_black on ansi_yellow"
    loud: str = "bold ansi_bright_white on ansi_red"
    good: str = "bold ansi_green"
    key: str = "bold reverse"
    chosen: str = "bold underline"
    aside: str = "dim"


PLAIN = Looks(match="bold underline", loud="bold reverse", good="bold")
"""Without colours."""

_FATES: dict[Fate, str] = {"saving …": "aside", "saved ✓": "good", "NOT SAVED": "loud"}


def line(text: str) -> str:
    """Text of others on one line, of bearable length."""
    return readable(visible_line(text[:_LONGEST_LINE]))


def query_view(current: Current, annotator: str, looks: Looks, *, full: bool) -> Content:
    """Its id and group, the query, and what was said of it; the query alone where the text needs the room."""
    query = (line(current.query.text) or line(current.query.id), "bold")
    if full:
        return Content.assemble(query)
    origin = " · ".join(line(one) for one in (current.query.id, current.query.group, f"judged by {annotator}") if one)
    parts: list[str | Content | tuple[str, str]] = [
        (origin, looks.aside),
        "\n",
        query,
    ]
    if current.no_answer:
        parts += ["\n", (" no answer in the corpus ", "reverse")]
    if current.note:
        parts += ["\n", ("note: ", looks.aside), line(current.note)]
    return Content.assemble(*parts)


def heading_view(current: Current, words: frozenset[str], looks: Looks) -> Content:
    """The title of the document, its id, what was said of it, and where it was found if that may be known."""
    if current.candidate is None:
        return Content.styled("No document was found for this query.", "bold")
    document = current.candidate.document
    title = line(document.title)
    parts = [_marked(title or line(document.id), words, looks).stylize("bold")]
    if title:
        parts.append(Content.styled(line(document.id), looks.aside))
    parts += [
        Content.styled(f"rank {rank} of {line(system)}, score {score:.6g}", looks.aside)
        for system, rank, score in current.sightings
    ]
    if current.mark is not None:
        parts.append(Content.assemble(("judged before: ", looks.aside), (told(current.mark), "bold")))
    return Content("\n").join(parts)


def told(mark: Mark) -> str:
    """What a mark says, in words."""
    return WORDS[mark.grade] if mark.grade is not None else "later" if mark.waits else "can't tell"


def text_view(document: Document, words: frozenset[str], looks: Looks, *, full: bool) -> Content:
    """The text of a document with the words of the query set off; the beginning of it unless all is asked for."""
    cut = document.text if full or len(document.text) <= EXCERPT else _beginning(document.text)
    shown = _marked(readable(cut), words, looks)
    left = len(document.text) - len(cut)
    if not left:
        return shown if shown.plain.strip() else Content.styled("(the document has no text)", looks.aside)
    more = f"\n\n… {count(left, 'more character', 'more characters')}: "
    return Content.assemble(shown, (more, looks.aside), _key("full_text", looks))


def _beginning(text: str) -> str:
    cut = text[:EXCERPT]
    at = max(cut.rfind(" "), cut.rfind("\n"))
    return cut[:at] if at > EXCERPT // 2 else cut


def _marked(text: str, words: frozenset[str], looks: Looks) -> Content:
    return Content(text, [Span(start, end, looks.match) for start, end in matches(text, words)])


def progress_view(current: Current, fate: Fate, looks: Looks, width: int) -> Content:
    """Where the session stands, and whether it is on disk."""
    if not fate:
        return Content(str(current))
    style = getattr(looks, _FATES[fate])
    label = f" {fate} " if fate == "NOT SAVED" else fate
    place = str(current)
    between = " · " if len(place) + len(label) + 3 <= width else "\n"
    return Content.assemble(place, between, (label, style))


_FOOT: tuple[Command, ...] = (
    "relevant", "partial", "not-relevant", "cant_tell", "later", "full_text", "note", "no_answer", "undo",
    "previous_document", "next_document", "help", "quit",
)  # fmt: skip
_FOOT_NARROW: tuple[Command, ...] = ("relevant", "partial", "not-relevant", "cant_tell", "later", "help", "quit")


def keys_view(current: Current, looks: Looks, width: int) -> Content:
    """The keys that are needed most, to press or to click; what stands on the document is set off."""
    now = None if current.mark is None else told(current.mark).replace("-", " ")
    commands = _FOOT if width >= NARROW else _FOOT_NARROW
    return _rows([_key(command, looks, chosen=SHORT[command] == now) for command in commands], width)


def back_view(looks: Looks, width: int, *pairs: tuple[str, str]) -> Content:
    """The keys that lead on from a sheet or a prompt."""
    return _rows([_cap(key, label, looks) for key, label in pairs], width)


_PRINTED = {one.command: one.keys[0] for one in KEYS}


def _key(command: Command, looks: Looks, *, chosen: bool = False) -> Content:
    return _cap(_PRINTED[command], SHORT[command], looks, chosen=chosen)


def _cap(key: str, label: str, looks: Looks, *, chosen: bool = False) -> Content:
    cap = Content.assemble((f" {name_of(key)} ", looks.key), (f" {label}", looks.chosen if chosen else ""))
    return cap.stylize(Style.from_meta({"@click": f"app.press({key!r})"}))


def _rows(caps: Iterable[Content], width: int) -> Content:
    """Caps side by side, none of them broken over two lines."""
    rows: list[list[Content]] = []
    room = 0
    for cap in caps:
        if not rows or room < cap.cell_length + _GAP:
            rows.append([])
            room = width + _GAP
        rows[-1].append(cap)
        room -= cap.cell_length + _GAP
    return Content("\n").join(Content(" " * _GAP).join(row) for row in rows)


def help_view(looks: Looks) -> Content:
    """What every key does."""
    rows = [(", ".join(name_of(key) for key in one.keys), one.about) for one in KEYS]
    rows += [
        ("↑ ↓ page up, page down", "scroll the document"),
        ("ctrl+c", "quit, and tell whatever started this that it was interrupted"),
    ]
    width = max(len(keys) for keys, _ in rows[:-2])
    lines = [Content.assemble((keys.ljust(width), "bold"), f"  {about}") for keys, about in rows]
    title = Content.styled("Keys", "bold underline")
    why = Content.styled("Every label is on disk before `saved ✓` is shown.", looks.aside)
    return Content("\n").join([title, Content(), *lines, Content(), why])


def guideline_view(guideline: str | None) -> Content:
    """How to judge, as whoever asked for the labels wrote it."""
    if guideline is None:
        return Content("There is no guideline; --guideline FILE names one.")
    return Content(readable(guideline))


def notices_view(notices: Sequence[str]) -> Content:
    """What the annotator should know before the first document."""
    title = Content.styled("Before you begin", "bold underline")
    return Content("\n\n").join([title, *(Content(readable(notice)) for notice in notices)])


def finished_view(current: Current, file: str | None) -> Content:
    """That all is done, how much that is, and where it is."""
    skipped = "" if current.n_left == 0 else f", {current.n_left} left"
    parts: list[str | tuple[str, str]] = [
        ("Everything is judged.", "bold underline"),
        f"\n\n{count(current.n_judged, 'document', 'documents')} judged{skipped}.",
    ]
    if file:
        parts += ["\n\nThe labels are in ", (line(file), "bold"), "."]
    return Content.assemble(*parts)
