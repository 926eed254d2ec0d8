"""What goes wrong on disk, and names and folders that last."""

from __future__ import annotations

import contextlib
import glob
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from rankproof.data.files import sync_folder
from rankproof.errors import BadInput, UsageError


class NotSaved(BadInput):
    """Something could not be put on disk; nothing has changed, and it can be tried again."""


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Whatever the disk refuses becomes a NotSaved with the path."""
    try:
        yield
    except OSError as exc:
        raise NotSaved.of(str(path), f"cannot be used: {exc.strerror or exc}") from exc


def sweep(folder: Path, name: str) -> None:
    """Remove what a killed writer of a file left beside it; for whoever holds the lock of the file."""
    for left in folder.glob(f".{glob.escape(name)}.*.tmp"):
        with contextlib.suppress(OSError):
            left.unlink()


def numbered(path: Path, ending: str) -> Path:
    """A name beside a file that nothing has yet: with the ending, or with the ending and a number."""
    place, number = path.with_name(path.name + ending), 1
    while place.exists() or place.is_symlink():
        number += 1
        place = path.with_name(f"{path.name}{ending}.{number}")
    return place


def refuse_link(path: Path) -> None:
    """Refuse what is no ordinary file: what is moved into the place of a link does not reach its target."""
    if path.is_symlink():
        raise UsageError(f"{path} is a link to {os.readlink(path)}; name that file itself.")
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is not an ordinary file.")


def make_folder(folder: Path) -> None:
    """Make the folder and those above it, so that they last."""
    try:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for one in missing:
            sync_folder(one.parent)
    except OSError as exc:
        raise NotSaved.of(str(folder), f"cannot be made: {exc.strerror or exc}") from exc
