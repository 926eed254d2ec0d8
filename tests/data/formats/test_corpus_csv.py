"""Corpora as CSV."""

from __future__ import annotations

import csv

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.formats.corpus_csv import read_corpus_csv
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save


def test_a_row_is_a_document_and_other_columns_are_metadata(save: Save) -> None:
    file = save("a.csv", '\ufeffid,title,text,price\r\n# a comment\r\n1, One ,"first, ""x""\nline",3\r\n\r\n2,,,\r\n')
    assert Corpus.read(file).documents == (
        Document("1", 'first, "x"\nline', "One", {"price": "3"}),
        Document("2", "", "", {"price": ""}),
    )


def test_the_names_of_columns_may_be_others(save: Save) -> None:
    file = save("a.csv", "SKU,Name,Body,id\nx,A,words,7\n")
    found = read_corpus_csv(file, columns={"id": "sku", "title": "Name", "text": "body"})
    assert found.documents == (Document("x", "words", "A", {"id": "7"}),)


@pytest.mark.parametrize("header", ["_id,text", "doc_id,text", "text,ID"])
def test_usual_names_of_columns_are_known(save: Save, header: str) -> None:
    assert [one.title for one in Corpus.read(save("a.csv", f"{header}\nx,y\n"))] == [""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,title\n1,a\n", "1: the header is 'id,title'; it has no column 'text'."),
        ("idd,text\n1,a\n", "1: the header is 'idd,text'; it has no column 'id'. Did you mean 'idd'?"),
        ("id,text,text\n1,a,b\n", "1: the header has two columns 'text'; keep one of them"),
        ("id,text\n1,a,b\n", "2: 3 columns where the header has 2: '1,a,b'"),
        ("id,text\n,a\n", "2: the id is empty: ',a'"),
        ("id,text\n1,a\n1,b\n", "3: document '1' stands twice (first on line 2); keep one of them"),
        ('id,text\n1,"a\n', "2: the row cannot be taken apart (unexpected end of data); look at its quotes"),
    ],
)
def test_a_bad_row_is_told_with_its_line(save: Save, text: str, message: str) -> None:
    file = save("a.csv", text)
    with pytest.raises(BadInput) as caught:
        Corpus.read(file)
    assert str(caught.value) == f"{file}:{message}"


@pytest.mark.parametrize("text", ["id,text\n", "# nothing\n"])
def test_a_file_without_documents_is_nothing_to_evaluate(save: Save, text: str) -> None:
    with pytest.raises(NothingToEvaluate):
        Corpus.read(save("a.csv", text))


def test_a_column_that_is_named_must_be_there(save: Save) -> None:
    with pytest.raises(BadInput, match=r"it has no column 'nam'. Did you mean 'name'"):
        read_corpus_csv(save("a.csv", "id,name,text\n1,a,b\n"), columns={"title": "nam"})


def test_a_document_may_be_longer_than_the_usual_limit_of_a_cell(save: Save) -> None:
    before = csv.field_size_limit()
    text = "word " * 100_000
    assert Corpus.read(save("a.csv", f'id,text\n1,"{text}"\n')).documents[0].text == text
    assert csv.field_size_limit() == before
