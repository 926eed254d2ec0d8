"""JSON lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("key", ["id", "_id", "doc_id"])
@pytest.mark.parametrize("title", ["title", "header"])
def test_a_document_is_an_object_with_an_id_and_a_text(save: Save, key: str, title: str) -> None:
    file = save("c.jsonl", f'{{"{key}": "d1", "{title}": "T", "text": "words", "year": 1999}}\n# note\n\n')
    assert Corpus.read(file).documents == (Document("d1", "words", "T", {"year": 1999}),)


def test_ids_may_be_whole_numbers_when_all_are(save: Save) -> None:
    assert list(Corpus.read(save("c.jsonl", '{"id": 1, "text": ""}\n{"id": 2, "text": ""}\n')).by_id) == ["1", "2"]
    with pytest.raises(BadInput, match="document ids are of mixed types: '2' is str, 1 is int"):
        Corpus.read(save("c.jsonl", '{"id": 1, "text": ""}\n{"id": "2", "text": ""}\n'))


def test_every_bad_line_is_told_with_its_number(save: Save) -> None:
    lines = [
        '{"id": "a", "text": "words"}',
        '{"id": "a", "text": "others"}',
        '{"text": "words"}',
        '{"id": "b"}',
        '{"id": "c", "text": 7}',
        '{"id": "d", "text": "x", "title": []}',
        '{"id": "", "text": "x"}',
        '{"id": true, "text": "x"}',
        '["e", "x"]',
        '{"id": "f", "text": "x"',
        '{"id": "g", "text": "x", "id": "h"}',
        '{"id": "i", "text": "x", "n": NaN}',
        '{"id": "\\udc00", "text": "x"}',
    ]
    with pytest.raises(BadInput) as caught:
        Corpus.read(save("c.jsonl", "\n".join(lines).encode() + b'\n{"id": "\xff"}\n'))
    assert sorted((fault.line, fault.message) for fault in caught.value.faults) == [
        (2, "document 'a' stands twice (first on line 1); keep one of them"),
        (3, "there is no 'id' in it"),
        (4, "there is no 'text' in it"),
        (5, "'text' is 7, not a string"),
        (6, "'title' is [], not a string"),
        (7, "'id' is '', which cannot be an id"),
        (8, "'id' is True, which cannot be an id"),
        (9, "the line holds ['e', 'x'], not an object {…}"),
        (10, "invalid JSON at column 24: Expecting ',' delimiter"),
        (11, "the key 'id' stands twice in one object; keep one of them"),
        (12, "NaN is not a finite number"),
        (13, "\\udc00 is half a character; write both halves or the character"),
        (14, "byte 0xff is not valid UTF-8; save the file as UTF-8"),
    ]


def test_faults_beyond_the_limit_are_counted(save: Save) -> None:
    with pytest.raises(BadInput) as caught:
        Corpus.read(save("c.jsonl", "{}\n" * 30))
    assert len(caught.value.faults) == 20
    assert caught.value.more == 10


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ('{"_id": "1", "text": "t", "metadata": {"persona": "HR"}}', Query("1", "t", "HR")),
        ('{"id": 1, "query": "t", "group": "HR"}', Query("1", "t", "HR")),
        ('{"query_id": "1", "text": "t", "category": ""}', Query("1", "t")),
        ('{"_id": "1", "text": "t", "metadata": {}, "persona": null}', Query("1", "t")),
    ],
)
def test_a_query_has_its_group_at_the_top_or_in_its_metadata(save: Save, line: str, query: Query) -> None:
    gold = GoldSet.read(save("q.jsonl", line))
    assert gold.queries == (query,)
    assert len(gold.qrels) == 0


def test_a_query_without_a_text_is_refused(save: Save) -> None:
    with pytest.raises(BadInput, match=r"q.jsonl:1: there is no 'text' in it"):
        GoldSet.read(save("q.jsonl", '{"_id": "1"}'))


def test_only_comments_are_nothing_to_evaluate(save: Save) -> None:
    for read in (Corpus.read, GoldSet.read):
        with pytest.raises(NothingToEvaluate):
            read(save("a.jsonl", "# nothing\n"))


def test_what_json_cannot_hold_is_not_written(tmp_path: Path) -> None:
    for document in (
        Document("d", "\ud800"),
        Document("d", "", "", {"n": float("nan")}),
        Document("d", "", "", {"s": {1}}),
    ):
        with pytest.raises(BadInput, match="cannot be written as JSON"):
            Corpus((document,)).write(tmp_path / "c.jsonl")


@given(
    st.lists(
        st.builds(Document, texts.filter(bool), texts, texts, st.dictionaries(texts, values, max_size=3)),
        min_size=1,
        unique_by=lambda document: document.id,
    )
)
def test_a_corpus_comes_back(tmp_path_factory: pytest.TempPathFactory, documents: list[Any]) -> None:
    file = tmp_path_factory.mktemp("jsonl") / "c.jsonl"
    Corpus(tuple(documents)).write(file)
    assert Corpus.read(file).documents == tuple(documents)
