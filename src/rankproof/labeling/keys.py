"""The keys of the labeller, the same in every front end."""

from __future__ import annotations

from typing import Literal, NamedTuple

Action = Literal[
    "relevant", "partial", "not-relevant", "cant_tell", "later", "full_text", "note", "no_answer", "undo", "redo",
    "next_document", "previous_document", "next_query", "previous_query", "guideline", "help", "quit",
]  # fmt: skip


class Key(NamedTuple):
    """An action, the keys that do it, and what it is called."""

    action: Action
    keys: tuple[str, ...]
    """The first is the one that is printed."""
    about: str


KEYS = (
    Key("relevant", ("r", "2"), "relevant: it answers the query"),
    Key("partial", ("p", "1"), "partial: related, but no direct answer"),
    Key("not-relevant", ("n", "0"), "not relevant: the wrong document"),
    Key("cant_tell", (" ", "c"), "can't tell"),
    Key("later", ("s",), "later: come back to it when the others are done"),
    Key("full_text", ("o",), "the full text of the document"),
    Key("note", ("m",), "write a note on the query"),
    Key("no_answer", ("x",), "the corpus has no answer to the query; again to take it back"),
    Key("undo", ("u",), "undo"),
    Key("redo", ("U", "y"), "redo"),
    Key("next_document", ("j",), "next document"),
    Key("previous_document", ("k",), "previous document"),
    Key("next_query", ("J",), "next query"),
    Key("previous_query", ("K",), "previous query"),
    Key("guideline", ("h",), "show the guideline"),
    Key("help", ("?",), "this help"),
    Key("quit", ("q",), "quit; everything is saved"),
)

ACTIONS: dict[str, Action] = {key: one.action for one in KEYS for key in one.keys}
"""Key → what it does."""
