"""Bytes of a file, whatever wraps them: gzip, Zstandard, standard input, a byte order mark."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from rankproof.errors import BadInput

BOM = b"\xef\xbb\xbf"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOMB_BYTES, _BOMB_RATIO = 1 << 30, 200
_HEAD = 1 << 16

PathLike = str | os.PathLike[str]


def source_name(path: PathLike) -> str:
    """How the file is called in messages: as the caller wrote it."""
    return "<stdin>" if os.fspath(path) == "-" else os.fspath(path)


@contextmanager
def open_bytes(path: PathLike) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a file, `-` being standard input; every failure becomes a BadInput with the path."""
    name = source_name(path)
    try:
        with _opened(path) as plain:
            yield plain
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise BadInput.of(name, f"the compressed file is damaged or cut short ({exc}); copy it again") from exc
    except FileNotFoundError as exc:
        raise BadInput.of(name, "there is no such file") from exc
    except IsADirectoryError as exc:
        raise BadInput.of(name, "this is a folder, not a file") from exc
    except OSError as exc:
        raise BadInput.of(name, f"cannot be read: {exc.strerror or exc}") from exc
    except Exception as exc:
        if type(exc).__name__ == "ZstdError":
            raise BadInput.of(name, f"the compressed file is damaged or cut short ({exc}); copy it again") from exc
        raise


@contextmanager
def _opened(path: PathLike) -> Iterator[IO[bytes]]:
    if os.fspath(path) == "-":
        yield _standard_input()
        return
    if _is_pipe(path):
        with _kept_pipe(path) as pipe:
            yield pipe
        return
    with open(path, "rb") as raw, _decompressed(raw) as plain:
        yield plain


_stdin: tuple[object, IO[bytes]] | None = None


def _standard_input() -> IO[bytes]:
    """Standard input, unpacked once: looking at its head must not lose what the unpacker has taken from it."""
    global _stdin
    raw = sys.stdin.buffer
    if _stdin is None or _stdin[0] is not raw:
        plain = cast(Any, _decompressed(raw))
        _stdin = (raw, plain if plain is raw else cast(IO[bytes], io.BufferedReader(plain)))
    return _stdin[1]


_pipes: dict[str, tuple[IO[bytes], IO[bytes]]] = {}


def _is_pipe(path: PathLike) -> bool:
    """Whether this is a named pipe, or what a shell makes of `<(command)`: its bytes can be had only once."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


@contextmanager
def _kept_pipe(path: PathLike) -> Iterator[IO[bytes]]:
    """A pipe, opened at the first look and kept until its end has been read or reading fails."""
    name = os.fspath(path)
    if name not in _pipes:
        opened = open(path, "rb", _HEAD)  # noqa: SIM115
        _pipes[name] = (opened, cast(IO[bytes], io.BufferedReader(cast(Any, _decompressed(opened)), _HEAD)))
    raw, plain = _pipes[name]
    read_on = False
    try:
        yield plain
        read_on = bool(cast(Any, plain).peek(1))
    finally:
        if not read_on:
            del _pipes[name]
            plain.close()
            raw.close()


def _decompressed(raw: Any) -> IO[bytes]:
    magic = raw.peek(4)[:4]
    if magic[:2] == _GZIP:
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="rb"))
    if magic == _ZSTD:
        return _zstd_open(raw)
    return cast(IO[bytes], raw)


def _zstd_open(raw: IO[bytes]) -> IO[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return cast(IO[bytes], zstd.ZstdFile(raw))


def read_bytes(path: PathLike) -> bytes:
    """The whole decompressed file without its byte order mark."""
    name = source_name(path)
    with open_bytes(path) as file:
        parts: list[bytes] = []
        size = 0
        packed = Path(path).stat().st_size if name != "<stdin>" and Path(path).is_file() else 0
        while part := file.read(1 << 22):
            parts.append(part)
            size += len(part)
            if packed and size > _BOMB_BYTES and size > _BOMB_RATIO * packed:
                raise BadInput.of(
                    name, f"{packed:,} bytes unpack to more than {size:,}; unpack it yourself if it is real"
                )
    data = b"".join(parts)
    return data.removeprefix(BOM)


def head(path: PathLike, size: int = _HEAD) -> bytes:
    """The first bytes of a file; of standard input or a pipe, without taking them away."""
    if os.fspath(path) == "-" or _is_pipe(path):
        with open_bytes(path) as file:
            return bytes(cast(Any, file).peek(size)[:size]).removeprefix(BOM)
    with open_bytes(path) as file:
        return file.read(size).removeprefix(BOM)


def write_whole(path: PathLike, data: bytes) -> None:
    """Write a file beside its target and move it into place, so that nobody ever sees half of it.

    A link stays, and what it leads to is written. A device or a pipe is written into.
    """
    if os.fspath(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        _write_into(target, data, path)
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
        sync_folder(target.parent)
    except OSError as exc:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise BadInput.of(os.fspath(path), f"cannot be written: {exc.strerror or exc}") from exc


def append_line(path: PathLike, line: str) -> None:
    """Put a line at the end of a file, on disk, whoever else does the same at the same time."""
    try:
        # One write to a file that is open for appending goes to its end as a whole.
        with open(path, "ab+", buffering=0) as file:
            _append(file, line.encode())
            os.fsync(file.fileno())
        sync_folder(Path(path).absolute().parent)
    except OSError as exc:
        raise BadInput.of(os.fspath(path), f"cannot be written: {exc.strerror or exc}") from exc


def _append(file: IO[bytes], line: bytes) -> None:
    size = file.seek(0, os.SEEK_END)
    data = b"\n" + line if size and _last_byte(file) != b"\n" else line
    if file.write(data) != len(data):
        # Nothing of it rather than a part.
        file.truncate(size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def check_appendable(path: PathLike) -> None:
    """Refuse a file to which nothing can be appended."""
    try:
        open(path, "ab").close()
    except OSError as exc:
        raise BadInput.of(os.fspath(path), f"cannot be written: {exc.strerror or exc}") from exc


def _last_byte(file: IO[bytes]) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)


def _write_into(target: Path, data: bytes, path: PathLike) -> None:
    try:
        with open(target, "wb") as file:
            file.write(data)
    except OSError as exc:
        raise BadInput.of(os.fspath(path), f"cannot be written: {exc.strerror or exc}") from exc


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last as well as the bytes; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
