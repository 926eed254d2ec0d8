"""Vectors kept by content, so that no text is embedded twice.

The key of a text is the digest of model and text, so another model or a changed text has another key and nothing stale
is served. Vectors are appended in segments: files that are written beside their target and moved into place, each named
after its content. An interrupted embedding therefore goes on after its last segment, and processes that embed the same
texts at the same time write the same files or different ones, never into each other's.

Vectors are rounded to float16 the moment they are made, before anybody sees them: the first run, which makes them, and
the second, which reads them, rank alike.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankproof.retrieval.embedding.model import EmbeddingModel, Rows, TokenModel
from rankproof.retrieval.embedding.sealed import read_sealed, write_sealed
from rankproof.retrieval.stage import Place, Progress, no_progress

Halves = NDArray[np.float16]
"""One vector per row, in half precision."""

_MAGIC = b"rankproof vectors 1\n"
_SIZES = struct.Struct("<QQ")
_KEY = sha256().digest_size


class VectorStore:
    """The rows of texts as one model makes them: a row for each text, or one for each of its tokens."""

    def __init__(self, folder: Path | None, digest: str) -> None:
        self.folder = None if folder is None else folder / digest[:32]
        self.digest = digest
        self._known: dict[bytes, Halves] = {}
        for path in sorted(self.folder.glob("*.vectors")) if self.folder is not None else ():
            data = read_sealed(path)
            if data is not None:
                self._known.update(_unpacked(data))

    def fetch(
        self,
        texts: Sequence[str],
        encode: Callable[[Sequence[str]], Sequence[Rows]],
        *,
        batch_size: int,
        progress: Progress = no_progress,
    ) -> list[Halves]:
        """The rows of each text; what is not known is encoded and saved, `batch_size` texts at a time."""
        keys = [self._key(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        todo, total = list(missing), len(set(keys))
        for start in range(0, len(todo), batch_size):
            progress("embedding", total - len(todo) + start, total)
            batch = todo[start : start + batch_size]
            rows = encode([missing[key] for key in batch])
            self._keep(batch, [np.asarray(made, np.float16) for made in rows])
        if todo:
            progress("embedding", total, total)
        return [self._known[key] for key in keys]

    def _key(self, text: str) -> bytes:
        return sha256(f"{self.digest}\0{text}".encode()).digest()

    def _keep(self, keys: Sequence[bytes], rows: Sequence[Halves]) -> None:
        self._known.update(zip(keys, rows, strict=True))
        if self.folder is not None:
            data = _packed(keys, rows)
            write_sealed(self.folder / f"{sha256(data).hexdigest()[:32]}.vectors", data)


def text_vectors(model: EmbeddingModel, texts: Sequence[str], place: Place, *, batch_size: int | None = None) -> Halves:
    """A vector for each text, from the store or made now; a text without anything in it has the zero vector."""
    store = VectorStore(_folder(place, "texts"), model.digest)
    filled = [i for i, text in enumerate(texts) if text.strip()]
    rows = store.fetch(
        [texts[i] for i in filled],
        lambda batch: list(model.encode(batch)[:, np.newaxis]),
        batch_size=batch_size or model.batch_size,
        progress=place.progress,
    )
    vectors = np.zeros((len(texts), model.dimensions), np.float16)
    if filled:
        vectors[filled] = np.concatenate(rows)
    return vectors


def token_store(model: TokenModel, place: Place) -> VectorStore:
    """Where the token vectors of a model are kept."""
    return VectorStore(_folder(place, "tokens"), model.digest)


def _folder(place: Place, kind: str) -> Path | None:
    return None if place.store is None else place.store / "vectors" / kind


def _packed(keys: Sequence[bytes], rows: Sequence[Halves]) -> bytes:
    """Magic word, number of texts and of dimensions, keys, number of rows of each text, rows."""
    counts = np.array([len(made) for made in rows], "<u4")
    values = np.concatenate(rows).astype("<f2")
    return b"".join(
        [_MAGIC, _SIZES.pack(len(keys), values.shape[1]), b"".join(keys), counts.tobytes(), values.tobytes()]
    )


def _unpacked(data: memoryview) -> Iterator[tuple[bytes, Halves]]:
    if data[: len(_MAGIC)] != _MAGIC:
        return
    n_texts, dimensions = _SIZES.unpack_from(data, len(_MAGIC))
    at_keys = len(_MAGIC) + _SIZES.size
    at_counts = at_keys + n_texts * _KEY
    counts = np.frombuffer(data, "<u4", n_texts, at_counts)
    rows = np.frombuffer(data, "<f2", offset=at_counts + counts.nbytes).reshape(-1, dimensions)
    end = 0
    for i, count in enumerate(counts.tolist()):
        start, end = end, end + count
        yield bytes(data[at_keys + i * _KEY : at_keys + (i + 1) * _KEY]), rows[start:end]
