"""`rankproof init`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rankproof.cli.main import run
from rankproof.data.corpus import Corpus, Document
from rankproof.project import Project, load_project
from rankproof.project import starter as starting
from rankproof.project.survey import Survey, guessed_language, survey

GOLD = "query,ideal_page,category\nhow to install,install,x\n"
ENGLISH = "# {}\nThe server is started by the command in the shell, and it is stopped with the same command.\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(starting, "find_spec", lambda name: None)
    return tmp_path


def save(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def loaded(folder: str = ".") -> Project:
    return load_project(folder, environment={})


def test_pages_and_a_gold_set_make_a_project(capfd: pytest.CaptureFixture[str]) -> None:
    save("docs/install.md", ENGLISH.format("Install"))
    save("docs/sub/run.md", ENGLISH.format("Run"))
    save("gold.csv", GOLD)
    save("README.md", "about the project")
    assert run(["init"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert out == (
        "Saw:\n"
        "  docs/**/*.md (English, as far as can be told): 2 documents\n"
        "  gold.csv: gold set, 1 query, 1 judgment\n"
        "Wrote:\n"
        "  rankproof.yaml\n"
        "Next:\n"
        "  rankproof eval\n"
        '  pip install "rankproof[dense]" to search by meaning as well; see the comments\n'
    )
    assert (
        Path("rankproof.yaml").read_text(encoding="utf-8")
        == """\
# What is evaluated, and how: `rankproof eval` reads this file. Paths start from its folder.

# Queries, and which documents answer them.
gold: gold.csv

# What is searched: a file, a folder, or a pattern. To search sections instead of whole documents, write
#   corpus: {path: "docs/**/*.md", chunk: {by: heading}}
corpus: "docs/**/*.md"

# Ways to search, compared with each other.
pipelines:
  # The language was guessed from the documents; leave it out if they are in several.
  keyword: {retrieve: {bm25: {language: english}}, depth: 100}
  # Search by meaning takes: pip install "rankproof[dense]". Then uncomment:
  # vector: {retrieve: {dense: {model: wordllama}}, depth: 100}
  # hybrid: {fuse: {of: [keyword, vector], by: rrf}}

measures: [RR@10, P@1, R@5, R@20, nDCG@10]

# When a build must not pass: `rankproof baseline record` keeps what is reached, `rankproof gate` holds builds to it.
gate: {max_drop: {nDCG@10: 0.02}}

# Answers and indexes are kept here and can be deleted at any time; keep the folder out of version control.
cache: .rankproof
"""
    )
    project = loaded()
    library = project.library()
    assert library is not None
    assert [document.id for document in library.documents] == ["install", "run"]
    assert len(project.gold()) == 1
    assert list(project.pipelines) == ["keyword"]


def test_what_is_commented_out_loads_as_well() -> None:
    save("docs/a.md", "words")
    assert run(["init", "--quiet"]) == 0
    text = Path("rankproof.yaml").read_text(encoding="utf-8")
    save("rankproof.yaml", text.replace("  # vector", "  vector").replace("  # hybrid", "  hybrid"))
    assert list(loaded().pipelines) == ["keyword", "vector", "hybrid"]


def test_vectors_are_used_where_they_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "find_spec", lambda name: object())
    save("docs/a.md", "words")
    assert run(["init", "--quiet"]) == 0
    assert list(loaded().pipelines) == ["keyword", "vector", "hybrid"]


def test_without_a_gold_set_an_empty_one_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    save("wiki/pages/a.md", "words")
    assert run(["init", "wiki"]) == 0
    out = capfd.readouterr().out
    assert "Wrote:\n  wiki/rankproof.yaml\n  wiki/gold.csv\n" in out
    assert "  add queries to wiki/gold.csv: its comments show how\n  cd wiki; rankproof eval\n" in out
    lines = Path("wiki/gold.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "query,ideal_page,category"
    assert [line[0] for line in lines[1:]] == ["#", "#", "#"]
    examples = [line.removeprefix("# ") for line in lines[2:]]
    save("wiki/gold.csv", "\n".join([lines[0], *examples]))
    assert len(loaded("wiki").gold()) == 2


def test_nothing_is_overwritten_unless_forced(capfd: pytest.CaptureFixture[str]) -> None:
    save("docs/a.md", "words")
    save("rankproof.yaml", "preset: wiki\n")
    assert run(["init"]) == 2
    assert capfd.readouterr().err == "rankproof: rankproof.yaml is there already; --force writes it anew.\n"
    assert Path("rankproof.yaml").read_text() == "preset: wiki\n"
    assert not Path("gold.csv").exists()
    save("gold.csv", "query,ideal_page,category\n")
    assert run(["init", "--force"]) == 0
    assert "gold.csv: a gold set without judgments" in capfd.readouterr().out
    assert list(loaded().pipelines) == ["keyword"]
    assert Path("gold.csv").read_text() == "query,ideal_page,category\n"


def test_a_folder_with_nothing_in_it_says_what_was_looked_for(capfd: pytest.CaptureFixture[str]) -> None:
    save("src/main.py", "print()")
    save("README.md", "about")
    assert run(["init"]) == 5
    err = capfd.readouterr().err
    assert "nothing that could be searched was found. Looked for: folders of .md, .markdown or .txt pages" in err
    assert "--corpus PATH" in err
    assert sorted(os.listdir()) == ["README.md", "src"]


def test_gold_and_corpus_may_be_named(capfd: pytest.CaptureFixture[str]) -> None:
    save("a/one.md", "words")
    save("a/two.md", "words")
    save("b/three.md", "words")
    save("judged/g.csv", GOLD)
    Path("project").mkdir()
    assert run(["init", "project", "--corpus", "b/*.md", "--gold", "judged/g.csv"]) == 0
    settings = loaded("project").settings
    assert settings.corpus is not None
    assert settings.gold is not None
    assert (settings.corpus.path, settings.gold.path) == ("../b/*.md", "../judged/g.csv")
    assert os.listdir("project") == ["rankproof.yaml"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none"], 2, "none: there is no such folder"),
        ([".", "--gold", "none.csv"], 3, "none.csv: there is no such file"),
        ([".", "--corpus", "none/**/*.md"], 5, "no file matches"),
        ([".", "--corpus", "none.jsonl"], 3, "none.jsonl: there is no such file"),
    ],
)
def test_what_is_not_there_is_told_and_nothing_is_written(
    capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    save("docs/a.md", "words")
    assert run(["init", *arguments]) == code
    assert message in capfd.readouterr().err
    assert os.listdir() == ["docs"]


def test_pages_of_one_name_are_called_by_their_path() -> None:
    save("docs/a/index.md", "one")
    save("docs/b/index.md", "two")
    assert run(["init", "--quiet"]) == 0
    library = loaded().library()
    assert library is not None
    assert [document.id for document in library.documents] == ["a/index", "b/index"]
    assert run(["init", "--quiet", "--force", "--corpus", "docs"]) == 0


def test_a_beir_folder_is_corpus_and_gold_set(capfd: pytest.CaptureFixture[str]) -> None:
    save("data/corpus.jsonl", '{"_id": "d", "text": "words"}\n')
    save("data/queries.jsonl", '{"_id": "q", "text": "what"}\n')
    save("data/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n")
    assert run(["init"]) == 0
    assert "data: gold set, 1 query, 1 judgment" in capfd.readouterr().out
    settings = loaded().settings
    assert settings.corpus is not None
    assert settings.gold is not None
    assert (settings.corpus.path, settings.gold.path) == ("data", "data")


def test_a_gold_set_beside_a_corpus_without_judgments_is_found() -> None:
    save("corpus.jsonl", '{"_id": "install", "text": "words"}\n')
    save("queries.jsonl", '{"_id": "q", "text": "what"}\n')
    save("gold.csv", GOLD)
    assert run(["init", "--quiet"]) == 0
    settings = loaded().settings
    assert settings.corpus is not None
    assert settings.gold is not None
    assert (settings.corpus.path, settings.gold.path) == (".", "gold.csv")


def test_what_else_was_seen_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    save("docs/a.md", "words")
    save("docs/b.md", "words")
    save("notes/c.txt", "words")
    save("products.csv", "id,title,text\n1,a,b\n")
    save("gold.csv", GOLD)
    save("older.csv", GOLD)
    assert run(["init"]) == 0
    assert capfd.readouterr().out.splitlines()[1:6] == [
        "  docs/**/*.md: 2 documents",
        "  notes/**/*.txt: 1 .txt page, not used",
        "  products.csv: a corpus as CSV, not used",
        "  gold.csv: gold set, 1 query, 1 judgment",
        "  older.csv: gold set, 1 query, 1 judgment, not used",
    ]


def test_names_that_yaml_would_misread_are_quoted() -> None:
    save("no: #1/a.md", "words")
    save("gold: 'x'.csv", GOLD)
    assert run(["init", "--quiet"]) == 0
    project = loaded()
    assert len(project.gold()) == 1
    assert project.library() is not None


def test_a_failed_write_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    save("docs/a.md", "words")
    replace = os.replace

    def full(source: str, target: str) -> None:
        if str(target).endswith("rankproof.yaml"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert run(["init"]) == 3
    assert "No space left on device" in capfd.readouterr().err
    assert os.listdir() == ["docs"]


def test_the_same_folder_gives_the_same_bytes() -> None:
    for name in ("z.md", "a.md", "m/b.md"):
        save(f"docs/{name}", ENGLISH.format(name))
    written = []
    for _ in range(2):
        assert run(["init", "--quiet", "--force"]) == 0
        written.append(Path("rankproof.yaml").read_bytes())
    assert written[0] == written[1]
    assert b"\r" not in written[0]


def test_hidden_folders_and_environments_are_passed_over() -> None:
    for name in (".git/a.md", "node_modules/x/b.md", "venv/c.txt", "__pycache__/d.txt"):
        save(name, "words")
    assert survey(Path()) == Survey()


@pytest.mark.parametrize(
    ("names", "path", "about"),
    [
        (["a.md", "b.md", "c.txt", "sub/d.md"], "*.md", "2 .md pages"),
        (["docs/a.md", "docs/b.txt"], "docs", "2 pages"),
        (["docs/a.MD"], "docs/**/*.MD", "1 .MD page"),
        (["docs/a.md", "more/a.md", "more/b.md"], "more/**/*.md", "2 .md pages"),
        (["README.md", "docs/README.md"], "docs/**/*.md", "1 .md page"),
        (["documents.jsonl", "my-queries.jsonl", "docs/a.md"], "documents.jsonl", "a corpus of JSON lines"),
        (["a/corpus.jsonl.gz", "a/notes.jsonl"], "a", "a BEIR folder"),
        (["table.csv"], "table.csv", "a corpus as CSV"),
    ],
)
def test_the_likeliest_corpus_comes_first(names: list[str], path: str, about: str) -> None:
    for name in names:
        save(name, "id,text\n1,a\n" if name.endswith("csv") else '{"id": "1", "text": "a"}\n')
    first = survey(Path()).corpora[0]
    assert (first.path, first.about) == (path, about)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Server wird mit dem Befehl gestartet und ist nicht zu sehen, die Dateien sind im Ordner.", "german"),
        ("Det är inte tillåtet att köra bil på en väg som är avstängd för trafik och det gäller alla.", "swedish"),
        ("Le serveur est dans la salle et les fichiers sont sur le disque qui est dans une armoire.", "french"),
        ("def main(): return 42", None),
        ("", None),
    ],
)
def test_a_language_is_guessed_where_it_is_clear(text: str, language: str | None) -> None:
    assert guessed_language(Corpus((Document("d", text),))) == language


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a folder that cannot be written")
def test_a_folder_that_cannot_be_written_is_told(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save("docs/a.md", "words")
    here.chmod(0o500)
    assert run(["init"]) == 3
    assert "cannot be written" in capfd.readouterr().err
