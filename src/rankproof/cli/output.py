"""Where results and remarks go: results to stdout or a file, everything else to stderr."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click


def write_result(text: str, path: str | None) -> None:
    """Print the result, or put it into a file whole or not at all."""
    if path is None or path == "-":
        try:
            _print(text)
        except BrokenPipeError:
            # Whoever read our output has what they wanted; what else is to be done, and the exit code, stay the same.
            nobody_reads()
        except OSError as exc:
            from rankproof.errors import BadInput

            nobody_reads()
            raise BadInput.of("standard output", f"cannot be written: {exc.strerror or exc}") from exc
        return
    from rankproof.data.files import write_whole

    write_whole(path, text.encode())


def _print(text: str) -> None:
    # The same bytes everywhere: LF and UTF-8, whatever the platform and its locale say.
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        click.echo(text, nl=False)
    else:
        buffer.write(text.encode())
        buffer.flush()


def nobody_reads() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_PLOT_WIDTH = 72


def plot_room(path: str | None) -> tuple[int, bool]:
    """How wide a plot may be, and whether it must do with ASCII: the same always, unless a person watches."""
    if path not in (None, "-") or not sys.stdout.isatty():
        return _PLOT_WIDTH, False
    return min(_PLOT_WIDTH, shutil.get_terminal_size().columns), os.environ.get("TERM") == "dumb"


def text_room(path: str | None) -> int | None:
    """How wide a text may be; None, which is as wide as it likes, unless a person watches."""
    return None if path not in (None, "-") or not sys.stdout.isatty() else shutil.get_terminal_size().columns


def remark(text: str, quiet: bool) -> None:
    """Say something beside the result."""
    if not quiet:
        click.echo(text, err=True)


_WORTH_SHOWING = 64 << 20
_WORTH_WAITING = 1.0


@contextmanager
def file_progress(label: str, quiet: bool) -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar on stderr for big files, where a person watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task: list[int] = []

        def show(done: int, total: int | None) -> None:
            if total is not None and total < _WORTH_SHOWING:
                return
            if not task:
                task.append(bar.add_task(label, total=total))
            bar.update(task[0], completed=done)  # type: ignore[arg-type]

        yield show


@contextmanager
def work_progress(label: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr for work that takes more than a second, where a person watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    start = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task: list[Any] = []

        def show(done: int, total: int) -> None:
            if time.monotonic() - start < _WORTH_WAITING:
                return
            if not task:
                task.append(bar.add_task(label, total=total))
            bar.update(task[0], completed=done)

        yield show


@contextmanager
def stage_progress(quiet: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar on stderr for each thing that is being done, where a person watches."""
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield show
