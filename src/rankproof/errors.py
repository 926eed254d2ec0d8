"""Everything that rankproof raises on purpose.

RankproofError
├── UsageError             exit 2   the call is wrong: an option, a name, a missing extra
│   ├── UnknownName                 a measure, preset, rule or format that does not exist
│   └── MissingExtra                a capability that needs `pip install "rankproof[…]"`
├── BadInput               exit 3   the data are wrong; carries every fault, with its place
├── NotMeasured            exit 4   a number could not be had, and none is made up
└── NothingToEvaluate      exit 5   no judgments, or no results at all
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

MAX_FAULTS = 20


class RankproofError(Exception):
    """The base of every error raised on purpose."""

    exit_code: ClassVar[int] = 70


class UsageError(RankproofError):
    """The call itself is wrong."""

    exit_code = 2


class UnknownName(UsageError):
    """There is nothing of that name; the nearest names are offered."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name = kind, name
        self.nearest = nearest(name, known)
        hint = f" Did you mean {' or '.join(repr(n) for n in self.nearest)}?" if self.nearest else ""
        super().__init__(f"There is no {kind} called {name!r}.{hint}")


class MissingExtra(UsageError):
    """A library of an optional extra is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f'{what} needs: pip install "rankproof[{extra}]"')


class Fault(NamedTuple):
    """One thing wrong with the input, and where it stands."""

    source: str
    line: int | None
    message: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.message}"


class BadInput(RankproofError):
    """The data cannot be trusted; nothing was computed from them."""

    exit_code = 3

    def __init__(self, faults: Sequence[Fault], *, more: int = 0, unread: bool = False) -> None:
        self.faults = tuple(faults[:MAX_FAULTS])
        self.more = more + max(0, len(faults) - MAX_FAULTS)
        lines = [str(fault) for fault in self.faults]
        if self.more or unread:
            least = "at least " if unread and self.more else ""
            lines.append(
                f"… and {least}{self.more:,} more" if self.more else "… and perhaps more: the rest was not read"
            )
        super().__init__("\n".join(lines))

    @classmethod
    def of(cls, source: str, message: str, line: int | None = None) -> BadInput:
        """A single fault."""
        return cls([Fault(source, line, message)])


class NotMeasured(RankproofError):
    """A number was asked for that could not be measured."""

    exit_code = 4


class NothingToEvaluate(RankproofError):
    """There is nothing to evaluate."""

    exit_code = 5


def count(n: int, one: str, many: str) -> str:
    """A number with its noun: 1 query, 2 queries."""
    return f"{n:,} {one if n == 1 else many}"


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Up to two known names that look like the given one."""
    import difflib

    by_lower: dict[str, str] = {}
    for one in known:
        by_lower.setdefault(one.lower(), one)
    return tuple(by_lower[m] for m in difflib.get_close_matches(name.lower(), by_lower, n=2, cutoff=0.6))
