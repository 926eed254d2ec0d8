"""Any Python function as a retriever."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import Field

from rankproof.data.gold import Query
from rankproof.data.json_text import shown
from rankproof.errors import NotMeasured, UnknownName, UsageError
from rankproof.retrieval.answers import Answer, Hit, checked
from rankproof.retrieval.digest import digest_of_file
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage

_ID_KEYS = ("id", "doc_id", "_id")
_LONGEST_MESSAGE = 300


class Python(RetrieverStage):
    """Calls a function with the text of a query and the number of results that are wanted.

    It returns the ids of documents, best first; or (id, score) pairs; or dicts with `id` and `score`. An id is a string
    or a whole number. Scores may not rise from one result to the next: numbers that rise may be distances, and nobody
    should guess. Ids without scores score 1, 1/2, 1/3 and so on. More results than wanted are cut off. A query for
    which the function raises an exception or returns something else is not measured.
    """

    reads_corpus = False
    volatile = True

    call: str = Field(pattern=r"^\w+(\.\w+)*:\w+(\.\w+)*$")
    """Where the function is, as `module:function`; modules in the folder of rankproof.yaml are found first."""

    def behaviour(self, place: Place) -> dict[str, Any]:
        """Its options, and the content of the module, so that an interrupted run does not go on with other code."""
        file = getattr(_module(self.call, place.folder.resolve()), "__file__", None)
        return {**super().behaviour(place), "module": None if file is None else digest_of_file(Path(file))}

    def open(self, place: Place) -> Retriever:
        """Import the function."""
        folder = place.folder.resolve()
        return _Called(_function(self.call, folder), self.call, folder)


@dataclass(frozen=True)
class _Called:
    function: Callable[[str, int], object]
    name: str
    folder: Path

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        for query in queries:
            yield self._asked(query, k)

    def _asked(self, query: Query, k: int) -> Answer:
        began = time.perf_counter()
        try:
            with _importing_from(self.folder):
                hits = _hits(self.function(query.text, k))
        except NotMeasured as exc:
            return Answer.failed(f"{self.name}: {exc}")
        except Exception as exc:  # it is not our code, and may raise anything
            return Answer.failed(f"{self.name} raised {_described(exc)}")
        return Answer(hits[:k], seconds=time.perf_counter() - began)


def _hits(returned: object) -> tuple[Hit, ...]:
    if not isinstance(returned, Iterable) or isinstance(returned, (str, bytes, Mapping)):
        raise NotMeasured(f"it returned {_kind(returned)}, not a list of results")
    pairs = [_id_and_score(result, rank) for rank, result in enumerate(returned, 1)]
    scored = [score is not None for _, score in pairs]
    if any(scored) and not all(scored):
        raise NotMeasured(
            f"result {scored.index(not scored[0]) + 1} differs from the first: all have scores or none has"
        )
    hits = checked([Hit(doc_id, 1 / rank if score is None else score) for rank, (doc_id, score) in enumerate(pairs, 1)])
    _refuse_rising(hits)
    return hits


def _id_and_score(result: Any, rank: int) -> tuple[str, float | None]:
    given_id, score = result, None
    if isinstance(result, Mapping):
        key = next((key for key in _ID_KEYS if key in result), None)
        if key is None:
            raise NotMeasured(f"result {rank} is {_kind(result)}, and has none of the keys {', '.join(_ID_KEYS)}")
        given_id, score = result[key], result.get("score")
    elif isinstance(result, (tuple, list)) and len(result) == 2:
        given_id, score = result
        if score is None:
            raise NotMeasured(f"result {rank} is {_kind(result)}, a pair without a score")
    if isinstance(given_id, bool) or not isinstance(given_id, (str, Integral)):
        raise NotMeasured(f"result {rank} is {_kind(result)}, not an id, a pair of id and score, or a dict with both")
    if score is not None and (isinstance(score, bool) or not isinstance(score, Real)):
        raise NotMeasured(f"result {rank} ({given_id!r}) has the score {shown(score)}, which is no number")
    return str(given_id), None if score is None else float(score)


def _refuse_rising(hits: Sequence[Hit]) -> None:
    for rank, (one, other) in enumerate(pairwise(hits), 1):
        if other.score > one.score:
            raise NotMeasured(
                f"result {rank + 1} ({other.doc_id!r}) scores {other.score!r}, more than the one before it with "
                f"{one.score!r}; return the best first, and distances with a minus sign"
            )


def _function(call: str, folder: Path) -> Callable[[str, int], object]:
    module = _module(call, folder)
    path = call.partition(":")[2]
    try:
        found = reduce(getattr, path.split("."), module)
    except AttributeError as exc:
        raise UnknownName(f"function in the module {module.__name__!r}", path, vars(module)) from exc
    if not callable(found):
        raise UsageError(f"{call!r} is {_kind(found)}, not a function of a text and a number of results.")
    return found


_homes: dict[str, Path] = {}
"""Module → the project that it was imported for."""


def _module(call: str, folder: Path) -> ModuleType:
    top = call.partition(":")[0].partition(".")[0]
    if (folder / f"{top}.py").exists() or (folder / top / "__init__.py").exists():
        if _homes.get(top, folder) != folder:
            # Another project has a module of that name; what was taken from there goes on working.
            for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
                del sys.modules[name]
        _homes[top] = folder
    with _importing_from(folder):
        # A file that was written a moment ago is not seen otherwise.
        importlib.invalidate_caches()
        try:
            return importlib.import_module(call.partition(":")[0])
        except Exception as exc:  # it is not our code, and may raise anything
            raise UsageError(f"The module of {call!r} cannot be imported: {_described(exc)}") from exc


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        # The code that was called may have changed the list itself.
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def _described(exc: Exception) -> str:
    message = " ".join(str(exc).split())
    cut = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}..."
    return f"{type(exc).__name__}: {cut}" if cut else type(exc).__name__


def _kind(value: object) -> str:
    return f"{shown(value)} ({type(value).__name__})"
