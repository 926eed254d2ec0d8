"""Labelled queries of a story: JSON objects of `id`, `query`, the `relevant` scenes and `topK`."""

from __future__ import annotations

import re
from typing import Any

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name
from rankproof.data.formats import Sample, reads
from rankproof.data.gold import GoldSet, Query
from rankproof.data.json_text import is_id, parse_json, shown
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate, nearest

_ABOUT = 'JSON with a list of queries, each with the names of its "relevant" scenes'
_LIST = re.compile(rb"\s*\[\s*\{")
_QUERIES_LIST = re.compile(rb'(?<!\\)"queries"\s*:\s*\[')
_LABEL = re.compile(rb'(?<!\\)"(?:relevant(?:_ids)?|topK)"\s*:')
_RELEVANT = ("relevant", "relevant_ids")
_TOP = ("topK", "topk", "top_k")
_GROUP = ("group", "kind", "category", "persona")
_KNOWN = ("id", "query", *_RELEVANT, *_TOP, *_GROUP, "notes")


def is_story_queries(sample: Sample) -> bool:
    """Whether this is JSON that names relevant scenes; a bare list of objects is nothing else of ours."""
    if sample.folder or sample.suffix in {".jsonl", ".ndjson", ".csv", ".tsv"}:
        return False
    if sample.begins_with(b"{"):
        return bool(_QUERIES_LIST.search(sample.head) and _LABEL.search(sample.head))
    return _LIST.match(sample.head) is not None


@reads("gold", "story", _ABOUT, when=is_story_queries)
def read_story_queries(path: PathLike) -> GoldSet:
    """Queries and their relevant scenes; a query that names none is kept without judgments.

    `meta` holds under `queries` what else is told of each query, `topK` among it.
    """
    source = source_name(path)
    faults = Faults(source)
    queries: dict[str, Query] = {}
    grades: dict[str, dict[str, int]] = {}
    extras: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(_entries(parse_json(read_bytes(path), source), source), 1):
        before = len(faults)
        place = f"query {number}"
        if not isinstance(entry, dict):
            faults.add(f"{place} is {shown(entry)}, not an object {{…}}")
            continue
        query = _query(entry, place, faults)
        relevant = _relevant(entry, place, faults)
        top = _top(entry, place, faults)
        _refuse_misspelt(entry, place, faults)
        if query.id in queries:
            faults.add(f"{place}: {query.id!r} is there twice; give each its own 'id', or keep one of them")
        if len(faults) > before:
            continue
        queries[query.id] = query
        extras[query.id] = {key: value for key, value in entry.items() if key not in _KNOWN}
        if top is not None:
            extras[query.id]["topK"] = top
        if relevant:
            grades[query.id] = dict.fromkeys(relevant, 1)
    faults.raise_any()
    return GoldSet(tuple(queries.values()), Qrels.from_dict(grades, source=source), source, {"queries": extras})


@reads("qrels", "story", _ABOUT, when=is_story_queries)
def read_story_qrels(path: PathLike) -> Qrels:
    """The relevant scenes of a file of queries."""
    qrels = read_story_queries(path).qrels
    if not len(qrels):
        raise NothingToEvaluate(f"{qrels.source}: no query names a relevant scene")
    return qrels


def _entries(content: Any, source: str) -> list[Any]:
    entries = content.get("queries") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise BadInput.of(source, 'there is no list of queries in it; write [{"id": …, "query": …, "relevant": […]}]')
    return entries


def _query(entry: dict[str, Any], place: str, faults: Faults) -> Query:
    text, query_id = entry.get("query"), entry.get("id")
    if not isinstance(text, str):
        faults.add(f"{place}: 'query' is {shown(text)}, not a string")
        text = ""
    if query_id is None:
        query_id = text
    if not is_id(query_id):
        faults.add(f"{place}: {shown(query_id)} cannot be an id")
    group, notes = _text(entry, _GROUP, place, faults), _text(entry, ("notes",), place, faults)
    return Query(str(query_id), text, group or None, notes)


def _text(entry: dict[str, Any], names: tuple[str, ...], place: str, faults: Faults) -> str:
    """The string under the first of these names, if there is one."""
    name, value = _first(entry, names)
    if value is None or isinstance(value, str):
        return value or ""
    faults.add(f"{place}: {name!r} is {shown(value)}, not a string")
    return ""


def _relevant(entry: dict[str, Any], place: str, faults: Faults) -> list[str]:
    name, value = _first(entry, _RELEVANT)
    if value is None:
        return []
    if not isinstance(value, list):
        faults.add(f"{place}: {name!r} is {shown(value)}, not a list of scenes")
        return []
    if all(entry.get(key) is not None for key in _RELEVANT):
        faults.add(f"{place}: 'relevant' and 'relevant_ids' both name scenes; keep one of them")
    found: list[str] = []
    for scene in value:
        if not is_id(scene):
            faults.add(f"{place}: {shown(scene)} among {name!r} cannot be the name of a scene")
        elif str(scene) in found:
            faults.add(f"{place}: the scene {str(scene)!r} stands twice among {name!r}; keep one of them")
        else:
            found.append(str(scene))
    return found


def _top(entry: dict[str, Any], place: str, faults: Faults) -> int | None:
    name, value = _first(entry, _TOP)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        faults.add(f"{place}: {name!r} is {shown(value)}, not a whole number from 1 on")
        return None
    return value


def _first(entry: dict[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """The first of these keys that has a value, and the value."""
    return next(((name, entry[name]) for name in names if entry.get(name) is not None), (names[0], None))


def _refuse_misspelt(entry: dict[str, Any], place: str, faults: Faults) -> None:
    """A key that is nearly one that is not there: read as something else, a label would be lost."""
    absent = [names[0] for names in (("query",), _RELEVANT, _TOP) if not any(name in entry for name in names)]
    for key in entry:
        if key not in _KNOWN and (meant := nearest(key, absent)):
            faults.add(f"{place}: there is no key {key!r}. Did you mean {meant[0]!r}?")
