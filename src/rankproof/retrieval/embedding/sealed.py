"""Files of the store that are used whole or not at all: each begins with the digest of the rest of it."""

from __future__ import annotations

import mmap
from hashlib import sha256
from pathlib import Path

from rankproof.data.files import write_whole
from rankproof.errors import BadInput

_SEAL = sha256().digest_size


def write_sealed(path: Path, data: bytes) -> None:
    """Write a file that read_sealed will trust; the folder is made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise BadInput.of(str(path.parent), f"the folder cannot be made: {exc.strerror or exc}") from exc
    write_whole(path, sha256(data).digest() + data)


def read_sealed(path: Path) -> memoryview | None:
    """What write_sealed wrote; None if there is no such file, or if it is cut short or damaged."""
    try:
        if path.stat().st_size < _SEAL:
            return None
        # Mapped, not read: token vectors of a corpus may be larger than the memory at hand.
        with path.open("rb") as file:
            whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise BadInput.of(str(path), f"cannot be read: {exc.strerror or exc}") from exc
    return whole[_SEAL:] if sha256(whole[_SEAL:]).digest() == bytes(whole[:_SEAL]) else None
