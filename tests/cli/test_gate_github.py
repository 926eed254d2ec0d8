"""`rankproof gate` in a build on GitHub: the summary of the step, annotations, and files beside the result."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankproof.cli.main import run

N = 24
PROJECT = """\
gold: gold.csv
corpus: corpus.jsonl
pipelines:
  search: {retrieve: bm25, depth: 10}
measures: [RR]
gate: {floors: {RR: 0.4}, max_drop: {RR: 0.01}}
"""
WORSE = (
    "::error file=shop/rankproof.yaml,title=Quality is worse::search: max_drop RR: "
    "1.0000 → 0.5000 fell by 0.5000, more than 0.01 (p = "
)


@pytest.fixture(autouse=True)
def summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in a folder of a repository, its baseline, and what GitHub sets; returns the file of the summary."""
    folder = tmp_path / "repository" / "shop"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder.parent)
    documents = [{"id": f"d{i}", "text": f"word{i} word{i} and common words"} for i in range(N)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (folder / "gold.csv").write_text("query,ideal_page\n" + "".join(f"find word{i},d{i}\n" for i in range(N)))
    (folder / "rankproof.yaml").write_text(PROJECT)
    assert run(["baseline", "record", "shop", "--quiet"]) == 0
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path / "summary.md"


def spoil() -> None:
    corpus = Path("shop/corpus.jsonl")
    thieves = [json.dumps({"id": f"thief{i}", "text": f"word{i} word{i} word{i}"}) for i in range(N)]
    corpus.write_text(corpus.read_text() + "\n".join(thieves) + "\n")


def test_a_green_gate_writes_its_summary_and_no_annotation(summary: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "shop", "--quiet"]) == 0
    assert capfd.readouterr().err == ""
    assert summary.read_text().startswith("## rankproof gate\n\n**The gate passes.**\n")


def test_a_red_gate_annotates_the_project_file(summary: Path, capfd: pytest.CaptureFixture[str]) -> None:
    spoil()
    assert run(["gate", "shop", "--quiet"]) == 1
    out, err = capfd.readouterr()
    assert err.startswith(WORSE)
    assert err.endswith("Worst queries: find word0 -0.5000, find word1 -0.5000, find word10 -0.5000, "
                        "find word11 -0.5000, find word12 -0.5000\n")  # fmt: skip
    assert "::error" not in out
    assert "| find word0 | -0.5000 |" in summary.read_text()


def test_a_summary_is_added_to_what_is_there(summary: Path) -> None:
    summary.write_text("# of another")
    assert run(["gate", "shop", "--quiet"]) == 0
    assert summary.read_text().startswith("# of another\n## rankproof gate\n\n")


@pytest.mark.parametrize(("before", "room"), [((1 << 20) - 400, True), ((1 << 20) - 50, False), (2 << 20, False)])
def test_what_is_there_counts_towards_what_github_takes(
    summary: Path, capfd: pytest.CaptureFixture[str], before: int, room: bool
) -> None:
    summary.write_bytes(b"x" * before)
    assert run(["gate", "shop"]) == 0
    written = summary.stat().st_size
    if room:
        assert before < written <= 1 << 20
    else:
        assert written == before
        assert "the summary of the step is full, so the gate is not in it" in capfd.readouterr().err


def test_a_summary_that_cannot_be_written_is_a_remark(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "gone" / "summary.md"))
    assert run(["gate", "shop"]) == 0
    assert "the summary of the step cannot be written: No such file or directory" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("actions", "options", "told"),
    [("true", [], True), ("", [], False), ("true", ["--no-github"], False), ("", ["--github"], True)],
)
def test_it_is_on_where_github_runs_the_build_unless_told_otherwise(
    summary: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], actions: str,
    options: list[str], told: bool,
) -> None:  # fmt: skip
    monkeypatch.setenv("GITHUB_ACTIONS", actions)
    spoil()
    assert run(["gate", "shop", "--quiet", *options]) == 1
    assert capfd.readouterr().err.startswith(WORSE) is told
    assert summary.exists() is told


def test_without_a_file_for_the_summary_there_are_annotations_only(
    summary: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    spoil()
    assert run(["gate", "shop", "--quiet"]) == 1
    assert capfd.readouterr().err.startswith(WORSE)
    assert not summary.exists()


def test_a_gate_that_cannot_begin_is_told_of_everywhere(summary: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("gate.xml").write_text("of an earlier build, and green")
    Path("shop/rankproof-baseline.json").unlink()
    assert run(["gate", "shop", "--quiet", "--junit", "gate.xml", "--markdown", "gate.md"]) == 2
    said = "There is no rankproof-baseline.json to compare with; `rankproof baseline record` makes one."
    out, err = capfd.readouterr()
    assert out == ""
    assert err == (f"::error file=shop/rankproof.yaml,title=Not measured::rankproof: gate: {said}\nrankproof: {said}\n")
    assert ElementTree.parse("gate.xml").getroot()[0][0][0].attrib == {"message": said, "type": "not measured"}
    assert "not everything could be measured" in Path("gate.md").read_text()
    assert "There is no rankproof-baseline.json to compare with" in summary.read_text()


def test_a_report_that_cannot_be_written_does_not_hide_why_the_gate_could_not_begin(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("shop/rankproof-baseline.json").unlink()
    assert run(["gate", "shop", "--quiet", "--junit", "gone/gate.xml"]) == 2
    assert "rankproof: There is no rankproof-baseline.json" in capfd.readouterr().err


def test_no_name_in_the_log_is_taken_for_a_command(capfd: pytest.CaptureFixture[str]) -> None:
    text = PROJECT.replace("  search:", "  '::error::x':").replace("max_drop: {RR: 0.01}", "latency: 1")
    Path("shop/rankproof.yaml").write_text(text)
    Path("shop/rankproof-baseline.json").unlink()
    assert run(["gate", "shop", "--quiet"]) == 4
    assert capfd.readouterr().out.startswith(": :error::x\n")
    assert run(["gate", "shop", "--quiet", "--no-github"]) == 4
    assert capfd.readouterr().out.startswith("::error::x\n")


def test_markdown_can_be_had_beside_the_text(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "shop", "--quiet", "--markdown", "gate.md"]) == 0
    assert "The gate passes." in capfd.readouterr().out
    assert run(["gate", "shop", "--quiet", "--format", "markdown", "-o", "same.md"]) == 0
    assert Path("gate.md").read_bytes() == Path("same.md").read_bytes()
