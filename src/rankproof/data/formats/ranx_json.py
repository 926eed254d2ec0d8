"""ranx's JSON: an object of queries, each an object of documents and numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats import Sample, reads, writes
from rankproof.data.formats.ground_truth import is_ground_truth
from rankproof.data.formats.story_queries import is_story_queries
from rankproof.data.json_text import Pairs, json_bytes, parse_json, shown
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.data.table import Table, table_from_mapping
from rankproof.errors import BadInput, NothingToEvaluate

_OTHERS = {".jsonl", ".ndjson", ".csv", ".tsv", ".parquet"}


def _is_ranx(sample: Sample) -> bool:
    if sample.folder or sample.suffix in _OTHERS or is_ground_truth(sample) or is_story_queries(sample):
        return False
    return sample.suffix == ".json" or sample.begins_with(b"{")


@reads("qrels", "ranx", 'JSON {"query": {"document": grade}}', when=_is_ranx)
def read_ranx_qrels(path: PathLike) -> Qrels:
    """Judgments from JSON; a grade of null means that nobody judged the document."""
    return Qrels(_table(path, "grade"), source=source_name(path))


@reads("run", "ranx", 'JSON {"query": {"document": score}}', when=_is_ranx)
def read_ranx_run(path: PathLike) -> Run:
    """A run from JSON."""
    return Run(_table(path, "score"), source=source_name(path))


class _Repeating(dict[str, Any]):
    """An object in which some keys stand twice."""

    again: tuple[str, ...] = ()


def _object(pairs: Pairs) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeating = _Repeating(found)
    repeating.again = tuple(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return repeating


def _table(path: PathLike, noun: str) -> Table:
    source = source_name(path)
    content = parse_json(read_bytes(path), source, pairs=_object)
    if not isinstance(content, dict):
        raise BadInput.of(source, f'it holds {shown(content)}, not {{"query": {{"document": {noun}}}}}')
    faults = Faults(source)
    for query in _repeated(content):
        faults.add(f"query {query!r} stands twice; keep one of them")
    for query, row in content.items():
        for doc in _repeated(row):
            faults.add(f"document {doc!r} stands twice for query {query!r}; keep one of them")
        for doc, value in row.items() if isinstance(row, dict) else ():
            if isinstance(value, bool):
                faults.add(f"query {query!r}, document {doc!r}: {noun} {str(value).lower()} is not a number")
    faults.raise_any()
    table = table_from_mapping(content, source=source, noun=noun, none_is_absent=noun == "grade")
    if not len(table):
        raise NothingToEvaluate(f"{source}: there is no document in it")
    return table


def _repeated(value: object) -> tuple[str, ...]:
    return value.again if isinstance(value, _Repeating) else ()


@writes("qrels", "ranx", ".json")
def write_ranx_qrels(qrels: Qrels, path: PathLike) -> None:
    """Judgments as JSON."""
    write_whole(path, json_bytes(qrels.to_dict(), source_name(path)))


@writes("run", "ranx", ".json")
def write_ranx_run(run: Run, path: PathLike) -> None:
    """A run as JSON."""
    write_whole(path, json_bytes(run.to_dict(), source_name(path)))
