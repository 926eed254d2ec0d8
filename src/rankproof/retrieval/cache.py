"""Answers kept between runs, one file per pipeline as it was, one line per query.

The name of a file is the digest of everything that the answers depend on, so a changed pipeline has another file and
nothing stale is served. Each line holds the digest of itself: one that was cut short by a crash is passed over, and its
query is asked again. Lines are only ever appended.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from rankproof.data.gold import Query
from rankproof.errors import BadInput
from rankproof.retrieval.answers import Answer, Hit, Step

VERSION = 1


class AnswerFile:
    """The answers of one pipeline as it was."""

    def __init__(self, folder: Path, key: str) -> None:
        self.path = folder / f"{key}.jsonl"
        self._known = self._read()

    def get(self, query: Query) -> Answer | None:
        """The answer to a query, if it was kept."""
        return self._known.get(_key(query))

    def put(self, query: Query, answer: Answer) -> None:
        """Keep an answer; one that failed is not kept, so that it is asked for again."""
        if answer.state != "measured":
            return
        body = json.dumps({"query": _key(query), **asdict(answer)}, ensure_ascii=False, allow_nan=False)
        line = f"{_sum(body)} {body}\n".encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            torn = self.path.exists() and not _ends_with_newline(self.path)
            with self.path.open("ab") as file:
                # What a crash left unfinished must not swallow the line that comes now.
                file.write(b"\n" + line if torn else line)
        except OSError as exc:
            raise BadInput.of(str(self.path), f"cannot be written: {exc.strerror or exc}") from exc
        self._known[_key(query)] = answer

    def forget(self) -> None:
        """Remove the file: its answers were kept only until the run was complete."""
        self.path.unlink(missing_ok=True)
        self._known.clear()

    def _read(self) -> dict[str, Answer]:
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return {}
        except OSError as exc:
            raise BadInput.of(str(self.path), f"cannot be read: {exc.strerror or exc}") from exc
        found = {}
        for line in lines:
            given, _, body = line.partition(b" ")
            try:
                text = body.decode()
                if given.decode() != _sum(text):
                    continue
            except UnicodeDecodeError:
                continue
            data = json.loads(text)
            query = data.pop("query")
            found[query] = _answer(data)
        return found


def _key(query: Query) -> str:
    return sha256(f"{VERSION}\0{query.id}\0{query.text}".encode()).hexdigest()[:32]


def _sum(body: str) -> str:
    return sha256(body.encode()).hexdigest()[:16]


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(0, 2)
        if file.tell() == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _answer(data: dict[str, Any]) -> Answer:
    hits = tuple(Hit(doc_id, score) for doc_id, score in data.pop("hits"))
    trail = tuple(Step(stage, tuple(doc_ids)) for stage, doc_ids in data.pop("trail"))
    return Answer(hits=hits, trail=trail, **data)
