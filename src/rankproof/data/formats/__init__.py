"""File formats, one file each. A module of this package declares what it reads and writes with `@reads` and `@writes`.

A new format is one new file here: importing the package finds it.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from rankproof.data.files import PathLike, head, source_name
from rankproof.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from rankproof.data.corpus import Corpus
    from rankproof.data.gold import GoldSet
    from rankproof.data.qrels import Qrels
    from rankproof.data.run import Run

Noun = Literal["qrels", "run", "gold", "corpus"]
_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Sample:
    """What can be seen of a file without reading it: enough to tell its format."""

    name: str
    suffix: str
    """The last suffix in lower case, one of compression left aside."""
    head: bytes
    folder: Path | None = None

    @property
    def first_line(self) -> bytes:
        """The first line that is neither empty nor a comment."""
        for line in self.head.splitlines():
            if line.strip() and not line.lstrip().startswith(b"#"):
                return line
        return b""

    def begins_with(self, sign: bytes) -> bool:
        """Whether the text begins with this sign, white space aside."""
        return self.head.lstrip().startswith(sign)


@dataclass(frozen=True)
class Reader:
    """One way to read one noun."""

    noun: Noun
    format: str
    about: str
    read: Callable[[PathLike], Any]
    matches: Callable[[Sample], bool]


@dataclass(frozen=True)
class Writer:
    """One way to write one noun."""

    noun: Noun
    format: str
    suffixes: tuple[str, ...]
    write: Callable[[Any, PathLike], None]


_readers: dict[tuple[Noun, str], Reader] = {}
_writers: dict[tuple[Noun, str], Writer] = {}


def reads(noun: Noun, format: str, about: str, *, when: Callable[[Sample], bool]) -> Callable[[_F], _F]:  # noqa: A002
    """Declare the decorated function as the reader of a noun in a format, to be used when the sample looks so."""

    def declare(function: _F) -> _F:
        _readers[noun, format] = Reader(noun, format, about, function, when)
        return function

    return declare


def writes(noun: Noun, format: str, *suffixes: str) -> Callable[[_F], _F]:  # noqa: A002
    """Declare the decorated function as the writer of a noun in a format, the one for these suffixes."""

    def declare(function: _F) -> _F:
        _writers[noun, format] = Writer(noun, format, suffixes, function)
        return function

    return declare


@cache
def _load_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def readers(noun: Noun) -> list[Reader]:
    """All readers of a noun."""
    _load_all()
    return [reader for (kind, _), reader in sorted(_readers.items()) if kind == noun]


def writers(noun: Noun) -> list[Writer]:
    """All writers of a noun."""
    _load_all()
    return [writer for (kind, _), writer in sorted(_writers.items()) if kind == noun]


def is_path(data: object) -> bool:
    """Whether the caller gave the name of a file."""
    return isinstance(data, (str, os.PathLike))


def sample(path: PathLike) -> Sample:
    """A first look at a file or folder."""
    name = source_name(path)
    if name != "<stdin>" and Path(path).is_dir():
        return Sample(name, "", b"", Path(path))
    suffixes = [s.lower() for s in Path(name).suffixes]
    while suffixes and suffixes[-1] in {".gz", ".zst", ".zstd"}:
        suffixes.pop()
    return Sample(name, suffixes[-1] if suffixes else "", head(path))


def choose_reader(noun: Noun, path: PathLike, format: str | None = None) -> Reader:  # noqa: A002
    """The reader for this file: the one named, or the one that recognises it."""
    available = readers(noun)
    if format is not None:
        for reader in available:
            if reader.format == format:
                return reader
        raise UnknownName(f"{noun} format", format, [reader.format for reader in available])
    seen = sample(path)
    if seen.folder is None and not seen.head.strip():
        from rankproof.errors import NothingToEvaluate

        raise NothingToEvaluate(f"{seen.name}: the file is empty")
    fitting = [reader for reader in available if reader.matches(seen)]
    if len(fitting) == 1:
        return fitting[0]
    if seen.head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput.of(seen.name, "the text is UTF-16; save it as UTF-8", 1)
    what = "several formats fit" if fitting else "no format fits"
    line = seen.first_line[:80].decode(errors="replace")
    shown = f"the folder {seen.name}" if seen.folder else f"its first line {line!r}"
    raise BadInput.of(
        seen.name, f"cannot tell what kind of {noun} file this is: {what} {shown}. {_way_out(noun, seen)}"
    )


def _way_out(noun: Noun, seen: Sample) -> str:
    """Where the file belongs, if it is known as something else; otherwise what is known."""
    if noun in ("qrels", "run"):
        other: Noun = "run" if noun == "qrels" else "qrels"
        for reader in readers(other):
            if reader.matches(seen):
                return f"It looks like a {other} file ({reader.about}): judgments come first, then the runs."
    return "Known are " + "; ".join(f"{reader.format} ({reader.about})" for reader in readers(noun))


def _read(noun: Noun, path: PathLike, format: str | None) -> Any:  # noqa: A002
    return choose_reader(noun, path, format).read(path)


def _write(noun: Noun, value: Any, path: PathLike, format: str | None) -> None:  # noqa: A002
    available = writers(noun)
    for writer in available:
        if format == writer.format or (format is None and str(path).endswith(writer.suffixes)):
            writer.write(value, path)
            return
    if format is not None:
        raise UnknownName(f"{noun} format", format, [writer.format for writer in available])
    endings = ", ".join(suffix for writer in available for suffix in writer.suffixes)
    raise BadInput.of(os.fspath(path), f"no {noun} format goes with this file name; known endings are {endings}")


def read_qrels(path: PathLike, format: str | None = None) -> Qrels:  # noqa: A002
    """Read judgments."""
    return cast("Qrels", _read("qrels", path, format))


def read_run(path: PathLike, format: str | None = None) -> Run:  # noqa: A002
    """Read a run."""
    return cast("Run", _read("run", path, format))


def read_gold(path: PathLike, format: str | None = None) -> GoldSet:  # noqa: A002
    """Read a gold set."""
    return cast("GoldSet", _read("gold", path, format))


def read_corpus(path: PathLike, format: str | None = None) -> Corpus:  # noqa: A002
    """Read a corpus."""
    return cast("Corpus", _read("corpus", path, format))


def write_qrels(qrels: Qrels, path: PathLike, format: str | None = None) -> None:  # noqa: A002
    """Write judgments."""
    _write("qrels", qrels, path, format)


def write_run(run: Run, path: PathLike, format: str | None = None) -> None:  # noqa: A002
    """Write a run."""
    _write("run", run, path, format)


def write_gold(gold: GoldSet, path: PathLike, format: str | None = None) -> None:  # noqa: A002
    """Write a gold set."""
    _write("gold", gold, path, format)


def write_corpus(corpus: Corpus, path: PathLike, format: str | None = None) -> None:  # noqa: A002
    """Write a corpus."""
    _write("corpus", corpus, path, format)
