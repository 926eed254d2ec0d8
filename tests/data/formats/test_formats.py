"""The registry: one format fits a file, and no file makes a reader stumble."""

from __future__ import annotations

import gzip
import io
from contextlib import suppress
from pathlib import Path

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.formats import Noun, choose_reader, readers, writers
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate, RankproofError, UnknownName
from tests.data.formats.conftest import Save

TRUTH = '{"version": 1, "queries": [{"query": "q", "results": [{"id": "d", "relevance": "partial"}]}]}'
NOUNS: tuple[Noun, ...] = ("qrels", "run", "gold", "corpus")


def parquet() -> bytes:
    out = io.BytesIO()
    polars.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}).write_parquet(out)
    return out.getvalue()


FILES: list[tuple[Noun, str, str, bytes]] = [
    ("qrels", "trec", "a.qrels", b"q1 0 d1 1\n"),
    ("qrels", "trec", "a.tsv", b"q1\t0\td1\t1\nq1\t0\td2\t1\n"),
    ("qrels", "trec", "a", b"# x\n\nq1 0 d1 1\nq1 0 d2\nq1 0 d3 0\n"),
    ("qrels", "tsv", "a.tsv", b"q1\td1\t1\n"),
    ("qrels", "tsv", "a.txt", b"q1\td1\t1\nq1\td2\t1\n"),
    ("qrels", "tsv", "a.tsv", b"q 1\td1\t1\nq 1\td2\t1\n"),
    ("qrels", "beir", "a.tsv", b"query-id\tcorpus-id\tscore\nq1\td1\t1\n"),
    ("qrels", "beir", "a.tsv", b"query-id\tcorpus-id\tscore\nq 1\td1\t1\nq 1\td2\t1\n"),
    ("qrels", "csv", "a.csv", b"query,ideal_page,category\nwhat is it now,A,x\n"),
    ("qrels", "csv", "a.txt", b"# c\nquery,ideal_page\nwhat is it,A\n"),
    ("qrels", "ground-truth", "a.json", TRUTH.encode()),
    ("qrels", "ground-truth", "a", TRUTH.encode()),
    ("qrels", "ranx", "a.json", b'{"q1": {"d1": 1}}'),
    ("qrels", "ranx", "a", b'{"q1":{"d1": 1, "d2": 1}}'),
    ("qrels", "ranx", "a.json", b'{"queries": {"d1": 1}}'),
    ("qrels", "ranx", "a.json", b'{"say \\"queries\\": [": {"d1": 1}}'),
    ("qrels", "parquet", "a.parquet", parquet()),
    ("qrels", "parquet", "a", parquet()),
    ("run", "trec", "a.run", b"q1 Q0 d1 1 0.5 x\n"),
    ("run", "ranx", "a.json", b'{"q1": {"d1": 0.5}}'),
    ("run", "parquet", "a.parquet", parquet()),
    ("gold", "tsv-queries", "a.tsv", b"q1\twhat is it\n"),
    ("gold", "csv", "a.csv", b"query,ideal_page,category\nwhat,A,x\n"),
    ("gold", "ground-truth", "a.json", TRUTH.encode()),
    ("gold", "ground-truth", "a", TRUTH.encode()),
    ("gold", "jsonl", "a.jsonl", b'{"_id": "q", "text": "what"}\n'),
    ("gold", "jsonl", "a", b'{"_id": "q", "text": "what"}\n'),
    ("gold", "jsonl", "a.jsonl", b'{"_id": "q", "text": "what", "queries": [1]}\n'),
    ("gold", "beir", "queries.jsonl", b"{}"),
    ("corpus", "csv", "a.csv", b"id,title,text\nd,t,words\n"),
    ("corpus", "jsonl", "a.jsonl", b'{"id": "d", "text": "words"}\n'),
    ("corpus", "beir", "corpus.jsonl", b"{}"),
    ("corpus", "folder", "a.md", b"words"),
    ("corpus", "cnl", "a.cnl", b"Anna meets Marcus\n"),
    ("corpus", "cnl", "a", b'// A story\n"Scene 1" group begin\nAnna meets Marcus\n"Scene 1" group end\n'),
    ("gold", "story", "a.json", b'[{"id": "q", "query": "who", "relevant": ["Sc1"]}]'),
    ("gold", "story", "a", b'{"queries": [{"id": "q", "query": "who", "relevant_ids": ["Sc1"]}]}'),
    ("qrels", "story", "a.json", b'{"queries": [{"id": "q", "query": "who", "relevant": ["Sc1"], "topK": 3}]}'),
    ("qrels", "story", "a.json", b'[{"id": "q", "query": "who", "relevant": ["Sc1"]}]'),
]


def whole(noun: Noun, kind: str, file: Path) -> Path:
    """The folder of the file where the format is one of folders."""
    return file.parent if kind == "folder" or (kind == "beir" and noun != "qrels") else file


@pytest.mark.parametrize(("noun", "kind", "name", "content"), FILES)
def test_exactly_one_format_fits(save: Save, noun: Noun, kind: str, name: str, content: bytes) -> None:
    assert choose_reader(noun, whole(noun, kind, save(name, content))).format == kind


@pytest.mark.parametrize(("noun", "kind", "name", "content"), [f for f in FILES if f[1] not in {"folder", "beir"}])
def test_packing_does_not_hide_the_format(save: Save, noun: Noun, kind: str, name: str, content: bytes) -> None:
    assert choose_reader(noun, save(f"{name}.gz", gzip.compress(content))).format == kind


def test_every_reader_has_a_file_here() -> None:
    known = {(noun, reader.format) for noun in NOUNS for reader in readers(noun)}
    assert {(noun, kind) for noun, kind, _, _ in FILES} == known


def test_no_two_writers_want_one_suffix() -> None:
    for noun in NOUNS:
        suffixes = [suffix for writer in writers(noun) for suffix in writer.suffixes]
        assert len(suffixes) == len(set(suffixes))


def test_what_could_be_two_formats_is_not_guessed(save: Save) -> None:
    with pytest.raises(BadInput, match="several formats fit its first line"):
        Qrels.read(save("a.txt", "q 1\td1\t1\nq 1\td2\t1\n"))


def test_what_fits_no_format_is_told_with_the_known_ones(save: Save) -> None:
    with pytest.raises(BadInput, match=r"no format fits its first line 'hello'. Known are beir \("):
        Qrels.read(save("a.txt", "hello\n"))


def test_utf_16_is_named(save: Save) -> None:
    with pytest.raises(BadInput, match="UTF-16"):
        Qrels.read(save("a.txt", "q1 0 d1 1\n".encode("utf-16")))


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_nothing_to_evaluate(save: Save, content: bytes) -> None:
    with pytest.raises(NothingToEvaluate, match="the file is empty"):
        Qrels.read(save("a.txt", content))


def test_an_unknown_format_is_answered_with_the_nearest(save: Save) -> None:
    with pytest.raises(UnknownName, match=r"There is no qrels format called 'tcv'. Did you mean 'tsv'"):
        Qrels.read(save("a.txt", "x"), format="tcv")


def test_a_name_without_a_known_ending_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="known endings are"):
        Qrels.from_dict({"q": {"d": 1}}).write(tmp_path / "a.xls")


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with some pieces replaced by others."""
    for _ in range(draw(st.integers(0, 4))):
        at, size = draw(st.integers(0, len(content))), draw(st.integers(0, 6))
        piece = draw(
            st.binary(max_size=6) | st.sampled_from([b'"', b"{", b"]", b"\\ud800", b"\0", b",", b"\t", b"1e999"])
        )
        content = content[:at] + piece + content[at + size :]
    return content


@pytest.mark.parametrize(("noun", "kind", "name", "content"), FILES)
@given(data=st.data())
def test_a_reader_reads_or_says_what_is_wrong(
    tmp_path_factory: pytest.TempPathFactory, noun: Noun, kind: str, name: str, content: bytes, data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("fuzz") / name
    file.write_bytes(data.draw(st.binary() | damaged(content)))
    path = whole(noun, kind, file)
    for chosen in (None, kind):
        with suppress(RankproofError):
            choose_reader(noun, path, chosen).read(path)
