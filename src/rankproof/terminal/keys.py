"""The keys of the screen: those that all front ends share, and what only a screen needs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rankproof.labeling import keys as shared

Command = shared.Action | Literal["go_to"]


class Key(NamedTuple):
    """A command, the keys that give it, and what it does."""

    command: Command
    keys: tuple[str, ...]
    """Characters, or Textual's names of keys that have none. The first is the one that is printed."""
    about: str


_OWN = (
    Key("redo", ("U", "ctrl+r", "y"), "redo"),
    Key("go_to", ("g",), "go to a query by its number"),
)
_OWN_COMMANDS = {key.command for key in _OWN}
_LAST = ("help", "quit")

KEYS: tuple[Key, ...] = (
    *(Key(*key) for key in shared.KEYS if key.action not in _OWN_COMMANDS and key.action not in _LAST),
    *_OWN,
    *(Key(*key) for key in shared.KEYS if key.action in _LAST),
)
COMMANDS: dict[str, Command] = {key: one.command for one in KEYS for key in one.keys}
"""Key → command."""

SHORT: dict[Command, str] = {
    "relevant": "relevant",
    "partial": "partial",
    "not-relevant": "not relevant",
    "cant_tell": "can't tell",
    "later": "later",
    "full_text": "full",
    "note": "note",
    "no_answer": "no answer",
    "undo": "undo",
    "redo": "redo",
    "next_document": "next",
    "previous_document": "back",
    "next_query": "next query",
    "previous_query": "query before",
    "go_to": "go to",
    "guideline": "guideline",
    "help": "help",
    "quit": "quit",
}
"""What a command is called where there is little room."""


def name_of(key: str) -> str:
    """A key as it is printed."""
    return "space" if key == " " else key
