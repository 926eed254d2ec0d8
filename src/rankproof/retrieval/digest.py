"""Digests: what something is, in 64 hexadecimal digits, so that a changed thing is never taken for the old one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from rankproof.data.corpus import Corpus
from rankproof.errors import BadInput


def digest_of(value: Any) -> str:
    """Of plain data, whatever the order of its keys."""
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()).hexdigest()


def digest_of_file(path: Path) -> str:
    """Of the bytes of a file."""
    try:
        with path.open("rb") as file:
            found = sha256()
            while block := file.read(1 << 20):
                found.update(block)
    except OSError as exc:
        raise BadInput.of(str(path), f"cannot be read: {exc.strerror or exc}") from exc
    return found.hexdigest()


def digest_of_texts(texts: Iterable[str]) -> str:
    """Of texts in their order; where one ends and the next begins matters."""
    found = sha256()
    for text in texts:
        data = text.encode()
        found.update(f"{len(data)}:".encode())
        found.update(data)
    return found.hexdigest()


def digest_of_corpus(corpus: Corpus) -> str:
    """Of the ids, titles and texts of all documents, in their order."""
    return digest_of_texts(part for document in corpus for part in (document.id, document.title, document.text))
