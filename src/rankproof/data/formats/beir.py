"""BEIR: judgments with a header line, and folders of `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`."""

from __future__ import annotations

import re
from pathlib import Path

from rankproof.data.corpus import Corpus
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats import Sample, read_qrels, reads, writes
from rankproof.data.formats.jsonl import read_jsonl_corpus, read_jsonl_queries
from rankproof.data.formats.tsv import has_beir_header, tabbed_lines, tabbed_table
from rankproof.data.gold import GoldSet
from rankproof.data.lines import numbered_lines
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, Fault

_HEADER = "query-id\tcorpus-id\tscore"
_FORM = "query-id TAB corpus-id TAB score, with that header, or a folder that has it under qrels"
_SPLITS = ("test", "dev", "train")
_ENDINGS = ("", ".gz", ".zst")


def _member(folder: Path | None, name: str) -> Path | None:
    """The file of that name in the folder, packed or not."""
    if folder is None:
        return None
    found = (folder / f"{name}{ending}" for ending in _ENDINGS)
    return next((file for file in found if file.is_file()), None)


def _judgments(folder: Path | None) -> Path | None:
    """The file of judgments in the folder: of the test split if there is one, else dev, train or the only one."""
    if folder is None:
        return None
    splits = [_member(folder, f"qrels/{split}.tsv") for split in _SPLITS]
    for file in (*splits, _member(folder, "qrels.txt"), _member(folder, "qrels.tsv")):
        if file is not None:
            return file
    others = sorted(file for ending in _ENDINGS for file in (folder / "qrels").glob(f"*.tsv{ending}"))
    if len(others) > 1:
        names = ", ".join(file.name for file in others)
        raise BadInput.of(str(folder / "qrels"), f"there is no test.tsv but {names}; name the file to be used")
    return others[0] if others else None


def _is_beir_qrels(sample: Sample) -> bool:
    return _judgments(sample.folder) is not None or has_beir_header(sample)


@reads("qrels", "beir", _FORM, when=_is_beir_qrels)
def read_beir_qrels(path: PathLike) -> Qrels:
    """Judgments from a BEIR file or from the file of judgments in a BEIR folder."""
    source = source_name(path)
    if source != "<stdin>" and Path(path).is_dir():
        file = _judgments(Path(path))
        if file is None:
            raise BadInput.of(source, "there is no qrels/test.tsv, dev.tsv or train.tsv and no qrels.txt in the folder")
        return read_qrels(file)
    text = read_bytes(path)
    number, header = next(numbered_lines(text), (1, b""))
    names = "\t".join(name.strip().lower() for name in header.decode(errors="replace").split("\t"))
    if names != _HEADER:
        raise BadInput.of(source, f"the first line is {names[:60]!r}, not the header {_HEADER!r}", number)
    rest = re.split(rb"\r\n|\r|\n", text, maxsplit=number)[number:]
    return Qrels(tabbed_table(b"".join(rest), source, number + 1), source=source)


@reads("gold", "beir", "a folder with queries.jsonl", when=lambda s: _member(s.folder, "queries.jsonl") is not None)
def read_beir_gold(path: PathLike) -> GoldSet:
    """Queries and judgments of a BEIR folder; where there are judgments, only the judged queries are kept."""
    source = source_name(path)
    queries = read_jsonl_queries(_required(path, "queries.jsonl"))
    file = _judgments(Path(path))
    if file is None:
        return GoldSet(queries.queries, queries.qrels, source)
    qrels = read_qrels(file)
    by_id = {query.id: query for query in queries.queries}
    unknown = [query_id for query_id in qrels.query_ids if query_id not in by_id]
    if unknown:
        message = "query {!r} is judged, but it is not in queries.jsonl"
        raise BadInput([Fault(str(file), None, message.format(query_id)) for query_id in unknown])
    judged = set(qrels.query_ids)
    return GoldSet(tuple(query for query in queries.queries if query.id in judged), qrels, source)


@reads("corpus", "beir", "a folder with corpus.jsonl", when=lambda s: _member(s.folder, "corpus.jsonl") is not None)
def read_beir_corpus(path: PathLike) -> Corpus:
    """The documents of a BEIR folder."""
    return read_jsonl_corpus(_required(path, "corpus.jsonl"))


def _required(path: PathLike, name: str) -> Path:
    file = _member(Path(path), name)
    if file is None:
        raise BadInput.of(source_name(path), f"there is no {name} in it; is this a BEIR folder?")
    return file


@writes("qrels", "beir")
def write_beir_qrels(qrels: Qrels, path: PathLike) -> None:
    """Judgments with BEIR's header line."""
    write_whole(path, "".join([f"{_HEADER}\n", *tabbed_lines(qrels, path)]).encode())
