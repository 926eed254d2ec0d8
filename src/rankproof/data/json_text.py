"""JSON that is read strictly: every key once, every number finite, every string valid Unicode."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

from rankproof.data.lines import decode_text
from rankproof.errors import BadInput

Pairs = list[tuple[str, Any]]


class _Unfit(ValueError):
    """Well-formed JSON that has no one meaning."""


def unique_keys(pairs: Pairs) -> dict[str, Any]:
    """The object of these pairs; a key that stands twice is refused."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        again = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Unfit(f"the key {again!r} stands twice in one object; keep one of them")
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if abs(value) == float("inf"):
        raise _Unfit(f"{digits} is not a finite number")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise _Unfit(f"{name} is not a finite number")


def parse_json(
    data: bytes, source: str, line: int | None = None, *, pairs: Callable[[Pairs], Any] = unique_keys
) -> Any:
    """The value of a JSON text; `line` is where the text begins, if it is one line of a file."""
    text = decode_text(data, source, line or 1)
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_float=_finite, parse_constant=_refuse_constant)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as exc:
        place = (line or 1) + exc.lineno - 1
        raise BadInput.of(source, f"invalid JSON at column {exc.colno}: {exc.msg}", place) from exc
    except RecursionError as exc:
        raise BadInput.of(source, "the JSON is nested too deeply", line) from exc
    except _Unfit as exc:
        raise BadInput.of(source, str(exc), line) from exc
    except UnicodeEncodeError as exc:
        half = f"\\u{ord(exc.object[exc.start]):04x}"
        raise BadInput.of(source, f"{half} is half a character; write both halves or the character", line) from exc
    except ValueError as exc:
        raise BadInput.of(source, "a number has too many digits", line) from exc
    return value


def json_bytes(value: Any, source: str, *, indent: int | None = None) -> bytes:
    """The value as JSON in UTF-8; what JSON cannot hold is refused."""
    try:
        return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent) + "\n").encode()
    except (TypeError, ValueError, RecursionError) as exc:
        raise BadInput.of(source, f"cannot be written as JSON: {exc}") from exc


def is_id(value: object) -> bool:
    """Whether a JSON value can be an id: a string with something in it, or a whole number."""
    return (isinstance(value, str) and value != "") or (isinstance(value, int) and not isinstance(value, bool))


def shown(value: object) -> str:
    """A value as messages show it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
