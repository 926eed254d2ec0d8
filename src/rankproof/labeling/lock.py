"""One writer at a time, and the others are told who it is.

The lock is the operating system's (flock, or its Windows counterpart): it ends with the process, also by kill -9, it
lasts while a process is merely stopped, and it cannot be mistaken by a process number that was given out again. The
lock file says who holds it. Systems whose locks do not reach across a network are the reason why a file that still
names a holder on another host is believed until somebody forces it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rankproof.errors import UsageError
from rankproof.labeling.disk import NotSaved

_POLL = 0.01
# Windows keeps others from reading what is locked, so a byte far behind the text is.
_FAR = 1 << 30


@dataclass(frozen=True)
class Holder:
    """Who holds a lock."""

    annotator: str
    pid: int
    host: str
    since: str

    def __str__(self) -> str:
        since = f", since {self.since}" if self.since else ""
        return f"{self.annotator} (process {self.pid} on {self.host}{since})"


class Held(UsageError):
    """Somebody else is writing."""

    def __init__(self, path: Path, holder: Holder | None, way_out: str) -> None:
        self.path, self.holder = path, holder
        super().__init__(f"{path} is being written by {holder or 'another process'}. {way_out}")


class Lock:
    """A lock on a file, held from `acquire` to `release` or to the end of the process."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f".{target.name}.lock")
        self._handle: int | None = None

    def acquire(
        self, annotator: str, since: str = "", *, force: bool = False, wait: float = 0.0, beyond_hosts: bool = True
    ) -> Holder | None:
        """Take the lock, or raise Held. Returns whose dead hands it was taken from, if there were any.

        `force` takes it from another host as well. With `beyond_hosts` false a name from another host is no obstacle.
        """
        me = Holder(annotator, os.getpid(), socket.gethostname(), since)
        deadline = time.monotonic() + wait
        while True:
            handle = self._opened()
            if _try_lock(handle):
                if self._is_current(handle):
                    break
                # Whoever held it has removed the file meanwhile; the lock on what was removed means nothing.
                os.close(handle)
                continue
            holder = _read_holder(handle)
            os.close(handle)
            if force and holder is not None and holder.host != me.host:
                with contextlib.suppress(OSError):
                    self.path.unlink()
                continue
            if time.monotonic() >= deadline:
                raise Held(self.target, holder, self._way_out(holder, me))
            time.sleep(_POLL)
        before = _read_holder(handle)
        if before is not None and before.host != me.host and beyond_hosts and not force:
            os.close(handle)
            raise Held(self.target, before, self._way_out(before, me))
        self._handle = handle
        try:
            _write_holder(handle, me)
        except OSError as exc:
            self.release()
            raise NotSaved.of(str(self.path), f"cannot be written: {exc.strerror or exc}") from exc
        return before

    def release(self) -> None:
        """Give the lock back; the file goes away with it."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        with contextlib.suppress(OSError):
            # Windows does not remove an open file; an empty one names nobody.
            os.ftruncate(handle, 0)
            # Whoever took it by force has a file of their own there.
            if self._is_current(handle):
                self.path.unlink()
        os.close(handle)

    def _opened(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        try:
            return os.open(self.path, flags, 0o666)
        except OSError as exc:
            raise NotSaved.of(str(self.path), f"cannot be written: {exc.strerror or exc}") from exc

    def _is_current(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self.path))
        except FileNotFoundError:
            return False

    def _way_out(self, holder: Holder | None, me: Holder) -> str:
        if holder is not None and holder.host != me.host:
            return f"If nothing runs on {holder.host} any more, --force-unlock takes it over."
        return "End that one first, or label under another name."


def _read_holder(handle: int) -> Holder | None:
    """Who wrote the lock file; None if nobody did, or not to the end."""
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        return Holder(**json.loads(os.read(handle, 4096)))
    except (OSError, ValueError, TypeError):
        return None


def _write_holder(handle: int, holder: Holder) -> None:
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, (json.dumps(asdict(holder)) + "\n").encode())


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as exc:
            os.close(handle)
            raise UsageError(
                f"The file system has no locks ({exc.strerror}), and without one two writers could spoil the labels;"
                " put them elsewhere with --labels."
            ) from exc
        return True
