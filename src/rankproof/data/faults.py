"""Collect what is wrong with a source, so that all of it is told at once."""

from __future__ import annotations

from rankproof.errors import MAX_FAULTS, BadInput, Fault


class Faults:
    """The faults of one source; the first ones in full, the rest counted."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: list[Fault] = []
        self._more = 0

    def add(self, message: str, line: int | None = None) -> None:
        """Note one fault."""
        if len(self._found) < MAX_FAULTS:
            self._found.append(Fault(self.source, line, message))
        else:
            self._more += 1

    def __len__(self) -> int:
        return len(self._found) + self._more

    @property
    def found(self) -> list[Fault]:
        """The faults that are told in full."""
        return list(self._found)

    @property
    def more(self) -> int:
        """How many there are besides."""
        return self._more

    def add_more(self, n: int) -> None:
        """Note faults that are merely counted."""
        self._more += n

    def raise_any(self) -> None:
        """Refuse the source if anything is wrong with it."""
        if self._found:
            raise BadInput(self._found, more=self._more)
