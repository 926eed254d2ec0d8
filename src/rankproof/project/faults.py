"""What is wrong with a project file."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.data.faults import Faults
from rankproof.errors import BadInput, Fault, UsageError


class BadProject(UsageError):
    """The project file cannot be followed; carries every fault, with its place."""

    def __init__(self, faults: Sequence[Fault], *, more: int = 0) -> None:
        told = BadInput(faults, more=more)
        self.faults = told.faults
        self.more = told.more
        super().__init__(str(told))

    @classmethod
    def of(cls, source: str, message: str, line: int | None = None) -> BadProject:
        """A single fault."""
        return cls([Fault(source, line, message)])


def refuse_any(faults: Faults) -> None:
    """Refuse the file if anything is wrong with it; what stands first in it is told first."""
    if len(faults):
        raise BadProject(sorted(faults.found, key=lambda fault: fault.line or 0), more=faults.more)
