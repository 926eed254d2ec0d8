"""The files of a model: their digests, and the little that their settings say."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from rankproof.data.files import read_bytes
from rankproof.data.json_text import parse_json
from rankproof.errors import BadInput
from rankproof.retrieval.digest import digest_of_file


def file_digest(path: Path) -> str:
    """Of a file that is large and seldom changes; read again only if its size or time did."""
    try:
        now = path.stat()
    except OSError as exc:
        raise BadInput.of(str(path), f"cannot be read: {exc.strerror or exc}") from exc
    return _digest(path, now.st_size, now.st_mtime_ns)


@cache
def _digest(path: Path, size: int, time: int) -> str:
    return digest_of_file(path)


def settings(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of the folder; empty if there is no such file."""
    path = folder / name
    if not path.is_file():
        return {}
    found = parse_json(read_bytes(path), str(path))
    if not isinstance(found, dict):
        raise BadInput.of(str(path), "this is no JSON object, as the settings of a model are")
    return found


def module_kinds(folder: Path) -> list[str]:
    """The layers of a sentence-transformers model, by the last part of their type; empty if the folder says nothing."""
    path = folder / "modules.json"
    if not path.is_file():
        return []
    found = parse_json(read_bytes(path), str(path))
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise BadInput.of(str(path), "this is no list of modules")
    return [str(one.get("type", "")).rpartition(".")[2] for one in found]
