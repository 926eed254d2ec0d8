"""The keys are those that the other front ends have."""

from __future__ import annotations

import pytest

from rankproof.labeling import keys as shared
from rankproof.terminal.keys import COMMANDS, KEYS, SHORT


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("r", "relevant"), ("2", "relevant"), ("p", "partial"), ("1", "partial"), ("n", "not-relevant"),
        ("0", "not-relevant"), (" ", "cant_tell"), ("s", "later"), ("o", "full_text"), ("m", "note"),
        ("x", "no_answer"), ("u", "undo"), ("U", "redo"), ("ctrl+r", "redo"), ("j", "next_document"),
        ("k", "previous_document"), ("J", "next_query"), ("K", "previous_query"), ("g", "go_to"), ("h", "guideline"),
        ("?", "help"), ("q", "quit"),
    ],
)  # fmt: skip
def test_a_key_does_what_the_table_promises(key: str, command: str) -> None:
    assert COMMANDS[key] == command


def test_every_action_of_the_other_front_ends_has_a_key_and_a_short_name() -> None:
    assert {key.action for key in shared.KEYS} <= {key.command for key in KEYS} == SHORT.keys()


def test_no_key_stands_twice() -> None:
    assert len(COMMANDS) == sum(len(key.keys) for key in KEYS)
