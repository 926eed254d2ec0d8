"""Ground-truth JSON: what reviewers said of each query's results, in the words relevant, partial and not-relevant."""

from __future__ import annotations

import re
from typing import Any

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats import Sample, reads, writes
from rankproof.data.formats.story_queries import is_story_queries
from rankproof.data.gold import GoldSet, Query
from rankproof.data.json_text import is_id, json_bytes, parse_json, shown
from rankproof.data.qrels import Qrels
from rankproof.data.table import id_strings
from rankproof.errors import BadInput, NothingToEvaluate

VERSION = 1
GRADES = {"relevant": 2, "partial": 1, "not-relevant": 0}
_WORDS = {grade: word for word, grade in GRADES.items()}
_ABOUT = 'JSON with a list of "queries", each with "results" and their "relevance"'
_QUERIES_LIST = re.compile(rb'(?<!\\)"queries"\s*:\s*\[')
_QUERY_KEYS = {"id", "query", "persona", "noAnswerInCorpus", "reviewerNotes", "results"}
_TYPES = {"persona": str, "noAnswerInCorpus": bool, "reviewerNotes": str, "labeledAt": str, "results": list}
_RESULT_TYPES = {"contextualHeader": str, "fingerprint": str}


def is_ground_truth(sample: Sample) -> bool:
    """Whether this is JSON with a list of queries; no other JSON of ours has one but the queries of a story."""
    if sample.folder or sample.suffix in {".jsonl", ".ndjson", ".csv", ".tsv"}:
        return False
    return sample.begins_with(b"{") and _QUERIES_LIST.search(sample.head) is not None


def _is_gold(sample: Sample) -> bool:
    if is_story_queries(sample):
        return False
    return is_ground_truth(sample) or (sample.suffix == ".json" and not sample.folder)


@reads("gold", "ground-truth", _ABOUT, when=_is_gold)
def read_ground_truth(path: PathLike) -> GoldSet:
    """Queries and judgments; a query that nobody has judged yet is kept without judgments.

    `meta` holds the other keys of the file, and under `queries` those of each query and its results.
    """
    source = source_name(path)
    content = parse_json(read_bytes(path), source)
    entries = _entries(content, source)
    faults = Faults(source)
    queries: dict[str, Query] = {}
    grades: dict[str, dict[Any, int]] = {}
    extras: dict[str, dict[str, Any]] = {}
    raw_ids = [_first(entry, "id", "query") for entry in entries]
    for number, (entry, query_id) in enumerate(zip(entries, raw_ids, strict=True), 1):
        if not _is_query(entry, query_id, f"query {number}", faults):
            continue
        query_id = str(query_id)
        if query_id in queries:
            faults.add(f"query {number}: {query_id!r} is there twice; give each its own 'id', or keep one of them")
            continue
        group, no_answer, notes = (entry.get(key) for key in ("persona", "noAnswerInCorpus", "reviewerNotes"))
        queries[query_id] = Query(query_id, entry["query"], group or None, notes or "", bool(no_answer))
        extras[query_id] = {key: value for key, value in entry.items() if key not in _QUERY_KEYS}
        judged, headers = _results(entry.get("results") or [], query_id, faults)
        if judged:
            grades[query_id] = judged
        if headers:
            extras[query_id]["results"] = headers
    if not len(faults):
        id_strings([entry["id"] for entry in entries if entry.get("id") is not None], "query", faults)
    faults.raise_any()
    meta = {key: value for key, value in content.items() if key != "queries"}
    return GoldSet(tuple(queries.values()), Qrels.from_dict(grades, source=source), source, {**meta, "queries": extras})


def _entries(content: Any, source: str) -> list[Any]:
    """The list of queries in a file of the version we know."""
    if not isinstance(content, dict) or not isinstance(content.get("queries"), list):
        raise BadInput.of(source, 'there is no list of "queries" in it; is this ground-truth JSON?')
    version = content.get("version", VERSION)
    if version != VERSION:
        raise BadInput.of(source, f"version {shown(version)} is not known; this program reads version {VERSION}")
    if not content["queries"]:
        raise NothingToEvaluate(f"{source}: there is no query in it")
    return list(content["queries"])


def _first(fields: Any, *keys: str) -> Any:
    """The value of the first of these keys that has one."""
    values = [fields.get(key) for key in keys] if isinstance(fields, dict) else []
    return next((value for value in values if value is not None), None)


def _is_query(entry: Any, query_id: Any, place: str, faults: Faults) -> bool:
    """Whether the entry has what a query needs, in the right types."""
    before = len(faults)
    if not isinstance(entry, dict):
        faults.add(f"{place} is {shown(entry)}, not an object {{…}}")
        return False
    if not isinstance(entry.get("query"), str):
        faults.add(f"{place}: 'query' is {shown(entry.get('query'))}, not a string")
    elif not is_id(query_id):
        faults.add(f"{place}: {shown(query_id)} cannot be an id")
    for key, kind in _TYPES.items():
        if entry.get(key) is not None and not isinstance(entry[key], kind):
            faults.add(f"{place}: {key!r} is {shown(entry[key])}, not a {kind.__name__}")
    return len(faults) == before


def _results(results: list[Any], query_id: str, faults: Faults) -> tuple[dict[Any, int], dict[str, dict[str, Any]]]:
    """The grade of each judged document, and what else is told of each; a relevance of null is no judgment."""
    grades: dict[Any, int] = {}
    extras: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    for number, result in enumerate(results, 1):
        place = f"query {query_id!r}, result {number}"
        if not isinstance(result, dict):
            faults.add(f"{place} is {shown(result)}, not an object {{…}}")
            continue
        doc, relevance = _first(result, "id", "contextualHeader"), result.get("relevance", "")
        if not is_id(doc):
            faults.add(f"{place}: there is no 'id' or 'contextualHeader' that names the document")
        elif str(doc) in seen:
            way_out = "keep one of them" if result.get("id") is not None else "keep one of them, or give each its 'id'"
            faults.add(f"{place}: document {doc!r} stands twice; {way_out}")
        elif wrong := [key for key, kind in _RESULT_TYPES.items() if not isinstance(result.get(key) or "", kind)]:
            faults.add(f"{place}: {wrong[0]!r} is {shown(result[wrong[0]])}, not a string")
        elif relevance is not None and (not isinstance(relevance, str) or relevance not in GRADES):
            faults.add(f"{place}: relevance {shown(relevance)} is not one of {', '.join(GRADES)}")
        else:
            seen.add(str(doc))
            extras[str(doc)] = {key: value for key, value in result.items() if key not in {"id", "relevance"}}
            if relevance is not None:
                grades[doc] = GRADES[relevance]
    # A result that nobody judged has nothing but this to be remembered by.
    judged = {str(doc) for doc in grades}
    return grades, {doc: extra for doc, extra in extras.items() if extra or doc not in judged}


@reads("qrels", "ground-truth", _ABOUT, when=lambda s: is_ground_truth(s) and not is_story_queries(s))
def read_ground_truth_qrels(path: PathLike) -> Qrels:
    """The judgments of a ground-truth file."""
    qrels = read_ground_truth(path).qrels
    if not len(qrels):
        raise NothingToEvaluate(f"{qrels.source}: nobody has judged anything in it yet")
    return qrels


@writes("gold", "ground-truth", ".json")
def write_ground_truth(gold: GoldSet, path: PathLike) -> None:
    """The gold set as ground-truth JSON; what `meta` holds of an earlier file is written back."""
    source = source_name(path)
    grades = gold.qrels.to_dict()
    extras = gold.meta.get("queries", {})
    if unknown := sorted(grades.keys() - {query.id for query in gold.queries}):
        raise BadInput.of(source, f"query {unknown[0]!r} is judged, but it is not among the queries of the gold set")
    meta = {key: gold.meta[key] for key in sorted(gold.meta) if key not in {"version", "queries"}}
    entries = [
        _entry(number, query, grades.get(query.id, {}), extras.get(query.id, {}), source)
        for number, query in enumerate(gold.queries)
    ]
    write_whole(path, json_bytes({"version": VERSION, **meta, "queries": entries}, source, indent=2))


def _entry(number: int, query: Query, grades: dict[str, float], extra: dict[str, Any], source: str) -> dict[str, Any]:
    told = extra.get("results", {})
    unjudged = {doc: None for doc in told if doc not in grades}
    return {
        "queryIndex": extra.get("queryIndex", number),
        **({} if query.id == query.text else {"id": query.id}),
        "query": query.text,
        "persona": query.group,
        "noAnswerInCorpus": query.no_answer,
        "reviewerNotes": query.notes,
        **{key: extra[key] for key in sorted(extra) if key not in _QUERY_KEYS | {"queryIndex"}},
        "results": [
            _result(query.id, doc, grade, told.get(doc, {}), source) for doc, grade in {**grades, **unjudged}.items()
        ],
    }


def _result(query_id: str, doc: str, grade: float | None, extra: dict[str, Any], source: str) -> dict[str, Any]:
    if grade is not None and grade not in _WORDS:
        known = ", ".join(f"{word} = {number}" for word, number in GRADES.items())
        raise BadInput.of(source, f"query {query_id!r}, document {doc!r}: grade {grade!r} has no word ({known})")
    named = {} if extra.get("contextualHeader") == doc else {"id": doc}
    rest = {key: extra[key] for key in sorted(extra) if key not in {"id", "relevance"}}
    return {**named, **rest, "relevance": None if grade is None else _WORDS[int(grade)]}
