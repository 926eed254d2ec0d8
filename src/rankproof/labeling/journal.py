"""The journal: one append-only file per annotator, one line per event, on disk before it is acknowledged.

Each line is a JSON object with the number of the event and a checksum over the rest of the line, so that a damaged line
is noticed and never read as another grade. A line is written with one call; if anything fails, the file is cut back to
what it was, and the event did not happen.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from rankproof.data.files import sync_folder, write_whole
from rankproof.errors import BadInput, UsageError, count
from rankproof.labeling.disk import NotSaved, make_folder, numbered, refuse_link, sweep, told
from rankproof.labeling.events import KINDS, VERSION, Event
from rankproof.labeling.lock import Lock

Clock = Callable[[], datetime]

SUFFIX = ".jsonl"
_NAME = re.compile(r"\w[\w.@+-]{0,63}")
_WINDOWS_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_TYPES: dict[str, tuple[type, ...]] = {
    "seq": (int,), "at": (str,), "kind": (str,), "query_id": (str,), "doc_id": (str,), "grade": (int,),
    "header": (str,), "fingerprint": (str,), "text": (str,), "flag": (bool,), "of": (int,), "once": (str,),
    "details": (dict,),
}  # fmt: skip
assert _TYPES.keys() == {field.name for field in fields(Event)}


def utc_now() -> datetime:
    """The time by the clock of the machine."""
    return datetime.now(UTC)


def stamp(clock: Clock) -> str:
    """A time as labels keep it: UTC, to the second."""
    return clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def journal_path(folder: Path, annotator: str) -> Path:
    """The file of an annotator, whose name must be fit for one."""
    if not _NAME.fullmatch(annotator) or annotator.endswith(".") or _WINDOWS_DEVICES.fullmatch(annotator):
        raise UsageError(
            f"{annotator!r} cannot be an annotator's name, because a file is called by it:"
            " use letters, digits and . _ - + @, up to 64 of them."
        )
    return folder / f"{annotator}{SUFFIX}"


def journal_paths(folder: Path) -> list[Path]:
    """The journals in a folder, by name."""
    try:
        return sorted(path for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith("."))
    except OSError as exc:
        raise BadInput.of(str(folder), f"cannot be read: {exc.strerror or exc}") from exc


@dataclass(frozen=True)
class Reading:
    """What a journal file holds."""

    events: tuple[Event, ...]
    size: int
    """How many bytes of the file are whole lines."""
    torn: bytes = b""
    """What a crash left behind them."""
    unended: bool = False
    """Whether the last line is whole but for its end."""


def read_journal(path: Path) -> Reading:
    """The events of a journal; damage anywhere but in the unfinished last line is an error."""
    return reading_of(_bytes_of(path), path)


def reading_of(data: bytes, path: Path) -> Reading:
    """The events that these bytes of a journal hold."""
    whole, _, tail = data.rpartition(b"\n")
    lines = [*whole.split(b"\n")] if whole or data.startswith(b"\n") else []
    size = len(data) - len(tail)
    unended = False
    for end in (tail, tail[:-1]):
        # The last byte alone may be what is missing or damaged; the record itself is then as good as any.
        if end and _fault(end) is None:
            lines, tail, unended, size = [*lines, end], b"", True, size + len(end)
            break
    return Reading(tuple(_events(lines, path)), size, tail, unended)


def _events(lines: list[bytes], path: Path) -> Iterator[Event]:
    expected = 1
    lost = _lost_numbers(lines)
    for number, line in enumerate(lines, 1):
        fault = _fault(line)
        if fault is not None:
            raise _damaged(path, number, fault)
        event = _parsed(line)
        while expected in lost and expected < event.seq:
            expected += 1
        if event.seq != expected:
            raise _damaged(path, number, f"this is event {event.seq} where {expected} belongs")
        expected += 1
        yield event


def _damaged(path: Path, line: int, fault: str) -> BadInput:
    way_out = "put back a copy of the file, or let --mend set the damaged lines aside and keep the others"
    return BadInput.of(str(path), f"{fault}; {way_out}", line)


def _lost_numbers(lines: list[bytes]) -> set[int]:
    """The numbers that an earlier mending found missing."""
    found: set[int] = set()
    for line in lines:
        if b'"kind":"mend"' in line and _fault(line) is None:
            found.update((_parsed(line).details or {}).get("lost", ()))
    return found


def line_of(event: Event) -> bytes:
    """An event as a line of the journal."""
    told = {key: value for key, value in asdict(event).items() if value is not None}
    body = json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False)[:-1].encode()
    return body + b',"sum":"%s"}\n' % _sum(body)


def _sum(body: bytes) -> bytes:
    return sha256(body).hexdigest()[:16].encode()


def _fault(line: bytes) -> str | None:
    """What is wrong with a line; None if nothing is."""
    body, mark, rest = line.rpartition(b',"sum":"')
    if not mark or rest != _sum(body) + b'"}':
        return "the line is damaged: its checksum does not fit"
    try:
        told = json.loads(line)
    except ValueError:
        return "the line is no JSON"
    del told["sum"]
    if told.get("kind") not in KINDS:
        return f"event {told.get('kind')!r} is not known; a newer rankproof may have written it"
    for key, value in told.items():
        if key not in _TYPES or not isinstance(value, _TYPES[key]):
            return f"{key!r} is {value!r}; a newer rankproof may have written it"
    if "seq" not in told or "at" not in told:
        return "the line has no number or no time"
    return None


def _parsed(line: bytes) -> Event:
    told = json.loads(line)
    del told["sum"]
    return Event(**told)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as exc:
        raise BadInput.of(str(path), f"cannot be read: {exc.strerror or exc}") from exc


class Journal:
    """The journal of one annotator, open for writing by this process alone."""

    def __init__(self, path: Path, annotator: str, truth_name: str, clock: Clock) -> None:
        self.path = path
        self.annotator = annotator
        self.truth_name = truth_name
        self.clock = clock
        self.events: list[Event] = []
        """Everything that is on disk."""
        self.notices: list[str] = []
        """What the annotator should be told."""
        self._lock = Lock(path)
        self._file = -1
        self._ends = {0: 0}
        """How long the file is after so many events."""
        self._attempted = b""
        """The line that was being written last."""

    @classmethod
    def open(
        cls, folder: Path, annotator: str, *, truth_name: str, clock: Clock = utc_now, force_unlock: bool = False,
        mend: bool = False,
    ) -> Journal:  # fmt: skip
        """Lock the journal, read it, and set aside what a crash left unfinished."""
        journal = cls(journal_path(folder, annotator), annotator, truth_name, clock)
        make_folder(folder)
        before = journal._lock.acquire(annotator, stamp(clock), force=force_unlock)
        if before is not None:
            journal.notices.append(f"The lock of {before} was left behind and is taken over.")
        try:
            with told(journal.path):
                sweep(folder, journal.path.name)
                if mend:
                    journal._mend()
                journal._begin()
        except BaseException:
            journal.close()
            raise
        return journal

    def append(self, kind: str, **told: Any) -> Event:
        """Put an event on disk. Returns when it is there; raises NotSaved, with the file as it was, if it is not."""
        event = Event(self.next_seq, stamp(self.clock), kind, **_valid_text(told))  # type: ignore[arg-type]
        line = line_of(event)
        self._write(line)
        self._ends[len(self.events) + 1] = self._size + len(line)
        # An interrupt before this leaves a line that never happened; after it, one that did. There is no third way.
        self.events.append(event)
        return event

    @property
    def _size(self) -> int:
        return self._ends[len(self.events)]

    @property
    def next_seq(self) -> int:
        """The number that the next event gets."""
        return self.events[-1].seq + 1 if self.events else 1

    @property
    def closed(self) -> bool:
        """Whether another may write now."""
        return self._file < 0

    def close(self) -> None:
        """Let the next writer in."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._lock.release()

    def _begin(self) -> None:
        self._open_file()
        reading = read_journal(self.path)
        self.events = list(reading.events)
        self._ends = {len(self.events): reading.size}
        if reading.torn:
            self._set_aside(reading.torn)
        if reading.unended:
            self._write(b"\n")
            self._ends[len(self.events)] += 1
        if not self.events:
            details = {"annotator": self.annotator, "truth": self.truth_name, "version": VERSION}
            self.append("begin", details=details)
        self._check_owner()

    def _open_file(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        refuse_link(self.path)
        try:
            self._file = os.open(self.path, flags, 0o666)
            sync_folder(self.path.parent)
        except OSError as exc:
            raise NotSaved.of(str(self.path), f"cannot be written: {exc.strerror or exc}") from exc

    def _check_owner(self) -> None:
        begin = self.events[0].details or {}
        if begin.get("version", VERSION) > VERSION:
            raise BadInput.of(str(self.path), "a newer rankproof began this journal; use that one", 1)
        owner, truth = begin.get("annotator"), begin.get("truth")
        if owner is not None and owner != self.annotator:
            raise UsageError(
                f"{self.path} is the journal of {owner!r}, which this file system takes for {self.annotator!r};"
                " label under another name."
            )
        if truth is not None and truth != self.truth_name:
            raise UsageError(
                f"{self.path} holds the labels of {truth}, not of {self.truth_name};"
                " name a folder of their own for the new ones with --labels."
            )

    def _write(self, line: bytes) -> None:
        """Append a line with one call and wait until it is on disk; if anything fails, cut the file back."""
        try:
            self._check_file()
        except OSError as exc:
            raise NotSaved.of(str(self.path), f"cannot be written: {exc.strerror or exc}") from exc
        self._attempted = line
        try:
            self._check_written(os.write(self._file, line), line)
            os.fsync(self._file)
        except OSError as exc:
            self._cut_back()
            raise NotSaved.of(str(self.path), f"cannot be written: {exc.strerror or exc}") from exc
        except BaseException:
            self._cut_back()
            raise

    def _check_written(self, written: int, line: bytes) -> None:
        if written != len(line) or os.fstat(self._file).st_size != self._size + len(line):
            raise NotSaved.of(str(self.path), f"only {written} of {len(line)} bytes were written; is the disk full?")

    def _check_file(self) -> None:
        """Refuse to go on if somebody replaced, removed or changed the file meanwhile."""
        if self._file < 0:
            raise NotSaved.of(str(self.path), "the journal is closed")
        own = os.fstat(self._file)
        try:
            same = os.path.samestat(own, os.stat(self.path))
        except FileNotFoundError:
            same = False
        if not same:
            raise NotSaved.of(str(self.path), "somebody replaced or removed the file; quit and start again")
        if own.st_size > self._size:
            # A failed write could not be cut back then; it must go before the next line comes.
            self._refuse_foreign_bytes()
            os.ftruncate(self._file, self._size)
        elif own.st_size < self._size:
            raise NotSaved.of(str(self.path), "somebody cut the file short; quit and put back a copy of it")

    def _refuse_foreign_bytes(self) -> None:
        os.lseek(self._file, self._size, os.SEEK_SET)
        tail = os.read(self._file, len(self._attempted) + 1)
        if not self._attempted.startswith(tail):
            raise NotSaved.of(str(self.path), "somebody else wrote to the file; quit and start again")

    def _cut_back(self) -> None:
        with contextlib.suppress(OSError):
            if self._file >= 0 and os.fstat(self._file).st_size > self._size:
                os.ftruncate(self._file, self._size)
                os.fsync(self._file)

    def _set_aside(self, torn: bytes) -> None:
        """Keep what a crash left unfinished in a file of its own, then take it out of the journal."""
        place = numbered(self.path, ".torn")
        write_whole(place, torn)
        try:
            os.ftruncate(self._file, self._size)
            os.fsync(self._file)
        except OSError as exc:
            raise NotSaved.of(str(self.path), f"cannot be mended: {exc.strerror or exc}") from exc
        self.notices.append(
            f"The last line of {self.path} was not finished, so what it said was never acknowledged;"
            f" its {len(torn)} bytes are set aside in {place.name}."
        )

    def _mend(self) -> None:
        """Set damaged lines aside, keeping the whole file as a backup, and note which numbers are missing."""
        data = _bytes_of(self.path)
        lines = data.split(b"\n")[:-1]
        tail = data[len(data) - len(data.rpartition(b"\n")[2]) :]
        good: dict[int, bytes] = {}
        for line in lines:
            if _fault(line) is None:
                event = _parsed(line)
                if event.seq > max(good, default=0):
                    good[event.seq] = line
        if len(good) == len(lines):
            with contextlib.suppress(BadInput):
                read_journal(self.path)
                return
        if not good:
            raise BadInput.of(str(self.path), "no line of it is whole; put back a copy of the file")
        backup = numbered(self.path, ".bak")
        write_whole(backup, data)
        known = set(good) | _lost_numbers(list(good.values()))
        last = max(good)
        lost = sorted(set(range(1, last)) - known)
        mended = Event(last + 1, stamp(self.clock), "mend", details={"lost": lost})
        write_whole(self.path, b"".join(line + b"\n" for line in good.values()) + line_of(mended) + tail)
        left_out = count(len(lines) - len(good), "damaged line", "damaged lines")
        self.notices.append(f"{left_out} of {self.path} left out; the file as it was is {backup.name}.")


def _valid_text(told: dict[str, Any]) -> dict[str, Any]:
    """What was typed, with halves of characters replaced, for a file is UTF-8."""
    return {
        key: value.encode(errors="replace").decode() if isinstance(value, str) else value for key, value in told.items()
    }
