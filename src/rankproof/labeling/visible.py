"""Text of others made fit to be shown: nothing in it can steer a terminal or turn its order around."""

from __future__ import annotations

import re

# Control characters but line feed and tab; marks that change the direction of writing; separators of lines.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with each character that is an instruction instead of a sign written out, such as `\\x1b`."""
    return _UNSEEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """The text on one line."""
    return " ".join(visible(text).split())


def excerpt(text: str, length: int) -> str:
    """The beginning of a text on one line, cut between words, with a sign where there is more."""
    line = visible_line(text[: 4 * length])
    if len(line) <= length and len(text) <= 4 * length:
        return line
    cut = line[:length].rpartition(" ")[0] or line[:length]
    return f"{cut} ..."
