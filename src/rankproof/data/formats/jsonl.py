"""JSON lines: corpora (`id`, `text`, `title`) and queries (`_id`, `text`, `group`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rankproof.data.corpus import Corpus, Document
from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats import Sample, reads, writes
from rankproof.data.formats.ground_truth import is_ground_truth
from rankproof.data.gold import GoldSet, Query
from rankproof.data.json_text import is_id, json_bytes, parse_json, shown
from rankproof.data.lines import numbered_lines
from rankproof.data.qrels import Qrels
from rankproof.data.table import empty_table, id_strings
from rankproof.errors import BadInput, NothingToEvaluate

_GROUP = ("group", "persona", "category")


class _Record(NamedTuple):
    line: int
    id: str
    fields: dict[str, Any]


def _is_jsonl(sample: Sample) -> bool:
    if sample.folder or sample.suffix in {".jsonl", ".ndjson"}:
        return sample.folder is None
    return sample.suffix not in {".json", ".csv", ".tsv"} and sample.begins_with(b"{")


@reads("corpus", "jsonl", "one object with id and text on each line", when=_is_jsonl)
def read_jsonl_corpus(path: PathLike) -> Corpus:
    """Documents from JSON lines; keys other than id, title and text become metadata."""
    faults = Faults(source_name(path))
    documents = []
    for record in _records(path, ("id", "_id", "doc_id"), "document", faults):
        text = _take_text(record, ("text",), faults)
        title = _take_text(record, ("title", "header"), faults, default="")
        documents.append(Document(record.id, text, title, _metadata(record.fields)))
    faults.raise_any()
    return Corpus(tuple(documents), faults.source)


@reads(
    "gold", "jsonl", "one query with _id and text on each line", when=lambda s: _is_jsonl(s) and not is_ground_truth(s)
)
def read_jsonl_queries(path: PathLike) -> GoldSet:
    """Queries from JSON lines, with no judgments."""
    faults = Faults(source_name(path))
    queries = []
    for record in _records(path, ("_id", "id", "query_id"), "query", faults):
        text = _take_text(record, ("text", "query"), faults)
        described = record._replace(fields=_metadata(record.fields))
        queries.append(Query(record.id, text, _take_text(described, _GROUP, faults, default="") or None))
    faults.raise_any()
    return GoldSet(tuple(queries), Qrels(empty_table(), source=faults.source), faults.source)


def _records(path: PathLike, id_keys: tuple[str, ...], kind: str, faults: Faults) -> list[_Record]:
    """The object of each line with its id taken out; no id stands twice."""
    found: list[tuple[int, Any, dict[str, Any]]] = []
    for number, line in numbered_lines(read_bytes(path)):
        try:
            fields = parse_json(line, faults.source, number)
        except BadInput as exc:
            faults.add(exc.faults[0].message, number)
            continue
        if not isinstance(fields, dict):
            faults.add(f"the line holds {shown(fields)}, not an object {{…}}", number)
            continue
        key = next((key for key in id_keys if key in fields), None)
        if key is None:
            faults.add(f"there is no {id_keys[0]!r} in it", number)
        elif not is_id(fields[key]):
            faults.add(f"{key!r} is {shown(fields[key])}, which cannot be an id", number)
        else:
            found.append((number, fields.pop(key), fields))
    if not found and not len(faults):
        raise NothingToEvaluate(f"{faults.source}: there is no {kind} in it")
    names = id_strings([raw for _, raw, _ in found], kind, faults)
    first: dict[str, int] = {}
    for (number, _, _), name in zip(found, names, strict=True):
        if first.setdefault(name, number) != number:
            faults.add(f"{kind} {name!r} stands twice (first on line {first[name]}); keep one of them", number)
    return [_Record(number, name, fields) for (number, _, fields), name in zip(found, names, strict=True)]


def _take_text(record: _Record, names: tuple[str, ...], faults: Faults, default: str | None = None) -> str:
    """The string under the first of these names, taken out; without a default it must be there."""
    name = next((name for name in names if name in record.fields), None)
    value = default if name is None else record.fields.pop(name)
    if isinstance(value, str):
        return value
    if value is None and default is not None:
        return default
    problem = f"there is no {names[0]!r} in it" if name is None else f"{name!r} is {shown(value)}, not a string"
    faults.add(problem, record.line)
    return ""


def _metadata(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with those of `metadata` among them; of two with one name the outer one counts."""
    inner = fields.get("metadata")
    if not isinstance(inner, dict):
        return dict(fields)
    return {**inner, **{key: value for key, value in fields.items() if key != "metadata"}}


@writes("corpus", "jsonl", ".jsonl")
def write_jsonl_corpus(corpus: Corpus, path: PathLike) -> None:
    """Documents as JSON lines."""
    source = source_name(path)
    write_whole(path, b"".join(json_bytes(_fields(document), source) for document in corpus))


def _fields(document: Document) -> dict[str, Any]:
    title = {"title": document.title} if document.title else {}
    metadata = {"metadata": dict(document.metadata)} if document.metadata else {}
    return {"id": document.id, **title, "text": document.text, **metadata}
