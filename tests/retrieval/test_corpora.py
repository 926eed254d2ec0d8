"""Corpora as a project names them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.retrieval.chunking import Chunking
from rankproof.retrieval.corpora import CorpusFiles, PageIds, cut_up, matching_files, read_documents, read_library
from rankproof.retrieval.stage import Library

Save = Callable[[str, str], Path]
WIKI = Path(__file__).parents[3] / "shared" / "data" / "wiki" / "pages"


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(name: str, text: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


def ids(path: str, folder: Path, *, by: PageIds = "stem") -> list[str]:
    return [document.id for document in read_documents(CorpusFiles(path, ids=by), folder)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("docs/**/*.md", ["a", "b"]),
        ("docs/*.md", ["a"]),
        ("docs/*/*.md", ["b"]),
        ("docs/**/*.txt", ["c"]),
        ("docs/**", ["a", "c", "b"]),
        ("docs/?.md", ["a"]),
        ("docs/[ab].*", ["a"]),
        ("**/*.md", ["a", "b"]),
        ("./docs/../docs/*.md", ["a"]),
        ("docs", ["a", "c", "b"]),
        ("docs/a.md", ["a"]),
    ],
)
def test_a_path_is_a_file_a_folder_or_a_pattern(save: Save, tmp_path: Path, pattern: str, expected: list[str]) -> None:
    for name in ("docs/a.md", "docs/sub/b.md", "docs/c.txt", "docs/.hidden/d.md", "docs/.e.md"):
        save(name, "words")
    assert ids(pattern, tmp_path) == expected
    assert ids(str(tmp_path / pattern), Path("/nowhere")) == expected


def test_two_files_of_one_name_are_both_named_with_the_way_out(save: Save, tmp_path: Path) -> None:
    save("docs/a/index.md", "one")
    save("docs/b/index.md", "two")
    with pytest.raises(BadInput) as caught:
        read_documents(CorpusFiles("docs/**/*.md"), tmp_path)
    assert str(caught.value) == (
        "docs/**/*.md: docs/a/index.md and docs/b/index.md are both called 'index'; rename one of them, or write "
        "`ids: path` to call pages by their path"
    )


@pytest.mark.parametrize("path", ["docs/**/*.md", "docs", "docs/"])
def test_pages_may_be_called_by_their_path(save: Save, tmp_path: Path, path: str) -> None:
    save("docs/a/index.md", "one")
    save("docs/b/index.md", "# Two\ntwo")
    found = read_documents(CorpusFiles(path, ids="path"), tmp_path)
    assert found.documents == (Document("a/index", "one", "index"), Document("b/index", "# Two\ntwo", "Two"))


def test_a_page_keeps_its_path_when_another_is_added_elsewhere(save: Save, tmp_path: Path) -> None:
    save("docs/a/x/one.md", "one")
    assert ids("docs/**/*.md", tmp_path, by="path") == ["a/x/one"]
    save("docs/two.md", "two")
    assert ids("docs/**/*.md", tmp_path, by="path") == ["a/x/one", "two"]


def test_a_pattern_joins_corpora(save: Save, tmp_path: Path) -> None:
    save("c/1.jsonl", '{"id": "a", "text": "x"}\n')
    save("c/2.jsonl", '{"id": "b", "text": "y"}\n')
    assert ids("c/*.jsonl", tmp_path) == ["a", "b"]
    save("c/3.jsonl", '{"id": "a", "text": "z"}\n')
    with pytest.raises(BadInput, match=r"c/1.jsonl and c/3.jsonl are both called 'a'"):
        ids("c/*.jsonl", tmp_path)


def test_beir_folders_json_lines_and_csv_are_read(save: Save, tmp_path: Path) -> None:
    save("beir/corpus.jsonl", '{"_id": "a", "text": "x"}\n')
    save("shop.csv", "sku,name,body\nb,B,words\n")
    assert ids("beir", tmp_path) == ids("beir/corpus.jsonl", tmp_path) == ids("beir", tmp_path, by="path") == ["a"]
    columns = {"id": "sku", "title": "name", "text": "body"}
    found = read_documents(CorpusFiles("shop.csv", columns=columns), tmp_path)
    assert found.documents == (Document("b", "words", "B"),)
    with pytest.raises(UsageError, match="go with the format csv, not with 'jsonl'"):
        read_documents(CorpusFiles("shop.csv", "jsonl", columns=columns), tmp_path)


def test_a_pattern_that_matches_nothing_is_nothing_to_evaluate(tmp_path: Path) -> None:
    with pytest.raises(NothingToEvaluate, match=r"docs/\*\*/\*.md: no file matches"):
        ids("docs/**/*.md", tmp_path)


def test_every_page_that_is_no_text_is_told(save: Save, tmp_path: Path) -> None:
    save("a.md", "fine")
    (tmp_path / "b.md").write_bytes(b"\xff")
    (tmp_path / "c.md").write_bytes(b"x\n\xff")
    with pytest.raises(BadInput) as caught:
        ids("*.md", tmp_path)
    assert [(Path(fault.source).name, fault.line) for fault in caught.value.faults] == [("b.md", 1), ("c.md", 2)]


def test_links_to_folders_lead_into_no_circle(save: Save, tmp_path: Path) -> None:
    save("docs/a.md", "words")
    (tmp_path / "docs" / "again").symlink_to(tmp_path / "docs")
    assert [path.name for path in matching_files("docs/**/*.md", tmp_path)] == ["a.md"]


def test_a_library_knows_the_document_of_each_piece(save: Save, tmp_path: Path) -> None:
    save("a.md", "# A\none\n## B\ntwo")
    save("b.md", "")
    library = read_library(CorpusFiles("*.md"), tmp_path, chunking=Chunking(), roll_up="sum")
    assert [document.id for document in library.documents] == ["a", "b"]
    assert [piece.id for piece in library.pieces] == ["a#(start)", "a#b", "b#(start)"]
    assert library.document_of == {"a#(start)": "a", "a#b": "a", "b#(start)": "b"}
    assert library.roll_up == "sum"


def test_without_chunking_each_document_is_searched_whole() -> None:
    corpus = Corpus((Document("a", "words"),))
    assert cut_up(corpus, None) == Library(corpus, corpus)


def test_ids_of_pieces_are_unique_even_where_ids_of_documents_look_like_them() -> None:
    corpus = Corpus((Document("a", "x y"), Document("a#1", "z")))
    library = cut_up(corpus, Chunking("size", 1, 0))
    assert [piece.id for piece in library.pieces] == ["a#1", "a#2", "a#1#1"]
    assert library.document_of == {"a#1": "a", "a#2": "a", "a#1#1": "a#1"}


def test_a_corpus_without_a_word_is_nothing_to_evaluate() -> None:
    with pytest.raises(NothingToEvaluate, match="no document has a text or a title"):
        cut_up(Corpus((Document("a", " "),)), Chunking())


@pytest.mark.skipif(not WIKI.is_dir(), reason="the shared collections are not here")
@pytest.mark.parametrize("how", [Chunking(), Chunking("size")])
def test_real_pages_lose_no_word(how: Chunking) -> None:
    library = read_library(CorpusFiles("**/*.md"), WIKI, chunking=Chunking(how.by, how.size, 0))
    words: dict[str, list[str]] = {}
    for piece in library.pieces:
        assert 0 < len(piece.text.split()) <= how.size
        words.setdefault(library.document_of[piece.id], []).extend(piece.text.split())
    assert len(library.documents) == 1201
    assert len({piece.id for piece in library.pieces}) == len(library.pieces)
    assert all(words[document.id] == document.text.split() for document in library.documents)
