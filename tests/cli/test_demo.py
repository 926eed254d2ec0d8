"""`rankproof demo`: the whole loop on the project that comes with the package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from rankproof.cli import demo
from rankproof.cli.main import run
from rankproof.retrieval.corpora import CorpusFiles, read_documents

NO_NETWORK = """\
import socket

def refuse(*_, **__):
    raise OSError("there is no network in this test")

socket.socket.connect = socket.getaddrinfo = refuse
"""
NO_MODEL = "import sys\nsys.modules['wordllama'] = None\n"


class Played(NamedTuple):
    """A demo that was run, and what it said."""

    folder: Path
    exit_code: int
    output: str
    remarks: str

    @property
    def commands(self) -> list[str]:
        return [line[2:] for line in self.output.splitlines() if line.startswith("$ ")]

    def after(self, command: str) -> str:
        """What was printed from this command on to the next."""
        return self.output.partition(f"$ {command}\n")[2].partition("\n$ ")[0]


def play(where: Path, first: str) -> Played:
    """Run the demo in a process that begins with this code."""
    (where / "start").mkdir(exist_ok=True)
    (where / "start" / "sitecustomize.py").write_text(first)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RANKPROOF_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(where / "start"), environment.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "rankproof", "demo"]
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, check=False)
    return Played(where / "rankproof-demo", done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("demo"), NO_NETWORK)


def test_it_runs_the_whole_loop_without_a_network(played: Played) -> None:
    assert (played.exit_code, played.remarks) == (0, "")
    assert [command.partition(" -")[0] for command in played.commands] == [
        "cd rankproof-demo",
        "rankproof eval",
        "rankproof compare .rankproof/runs/keyword.scores.json .rankproof/runs/hybrid.scores.json",
        "rankproof eval",
        "rankproof baseline record",
        "rankproof gate",
        "rankproof gate changed.yaml",
        "rankproof report changed.yaml",
    ]


def test_three_ways_to_search_are_scored_by_kind_of_question(played: Played) -> None:
    shown = played.after("rankproof eval -m nDCG@10 --misses 0")
    assert re.search(r"^measure +keyword +vector +hybrid$", shown, re.MULTILINE)
    assert re.findall(r"^([a-z-]+) +\d+  nDCG@10 ", shown, re.MULTILINE) == ["direct", "indirect", "synonym-drift"]


def test_the_verdict_of_a_comparison_is_a_sentence(played: Played) -> None:
    assert "hybrid against keyword in nDCG@10: " in played.output


def test_the_failures_are_classed(played: Played) -> None:
    shown = played.after("rankproof eval --mode hybrid -m nDCG@10 --analyze --misses 1")
    assert re.search(r"^hybrid: \d+ failures in 101 queries", shown, re.MULTILINE)
    assert re.search(r"^corpus-gap +7 ", shown, re.MULTILINE)


def test_the_unchanged_project_passes(played: Played) -> None:
    assert "the baseline of 94 queries is in rankproof-baseline.json\n" in played.output
    assert played.after("rankproof gate").startswith("The gate passes.\n")


def test_the_planted_mistake_turns_the_gate_red_and_names_rule_group_and_questions(played: Played) -> None:
    shown = played.after("rankproof gate changed.yaml --mode hybrid")
    assert re.search(r"^✗ max_drop nDCG@10 +worse ", shown, re.MULTILINE)
    assert re.search(r"^✗ max_drop nDCG@10, group direct +worse ", shown, re.MULTILINE)
    _, _, worst = shown.partition("max_drop nDCG@10, group direct, worst queries: ")
    assert len(re.findall(r"[a-z0-9-]+\s+-\d\.\d{4}", worst.partition("\n\n")[0])) == 5
    assert "The gate does not pass: quality is worse.\n\nexit code 1\n" in shown


def test_the_report_is_in_the_folder(played: Played) -> None:
    assert (played.folder / "report.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def test_no_line_is_longer_than_a_screen_but_commands(played: Played) -> None:
    assert [line for line in played.output.splitlines() if len(line) > 100 and "rankproof " not in line] == []


def test_the_folder_has_every_page_of_the_documentation(played: Played) -> None:
    there, here = (
        read_documents(CorpusFiles("docs/**/*.md"), folder) for folder in (played.folder, Path(__file__).parents[2])
    )
    assert {page.id: page.text for page in there} == {page.id: page.text for page in here}


def test_it_ends_with_three_commands_that_work(
    played: Played, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(played.folder.parent)
    named = [line.split()[1:] for line in played.output.splitlines() if line.startswith("  rankproof ")]
    assert [arguments[0] for arguments in named] == ["eval", "explain", "rq"]
    assert played.output.splitlines()[-1] == f"  rankproof {' '.join(named[-1])}"
    assert [run(arguments) for arguments in named] == [0, 0, 0]
    assert re.findall(r"^(annotator|engineer|researcher) ", capfd.readouterr().out, re.MULTILINE)


def test_a_second_run_keeps_what_was_edited_and_says_the_same(played: Played) -> None:
    (played.folder / "groups.tsv").write_text("reset\tmine\n")
    (played.folder / "docs" / "index.md").unlink()
    again = play(played.folder.parent, NO_NETWORK)
    assert (again.exit_code, again.output) == (0, played.output)
    assert (played.folder / "groups.tsv").read_text() == "reset\tmine\n"
    assert (played.folder / "docs" / "index.md").is_file()


def test_without_the_extra_a_cosine_of_word_counts_stands_in_and_it_says_so(tmp_path: Path) -> None:
    played = play(tmp_path, NO_NETWORK + NO_MODEL)
    assert (played.exit_code, played.remarks) == (0, "")
    assert "`vector` is a cosine of word counts" in " ".join(played.output.split())
    for name in ("rankproof.yaml", "changed.yaml"):
        project = (played.folder / name).read_text(encoding="utf-8")
        assert "vector: {retrieve: {bow: {language: english, stop_words: english}}}" in project
        assert "so a cosine of word counts stands in for search by meaning" in project
        assert "dense:" not in project
    assert "The gate passes." in played.output
    assert "exit code 1\n" in played.after("rankproof gate changed.yaml --mode hybrid")


@pytest.mark.parametrize("name", ["rankproof.yaml", "gold.json", "rankproof-baseline.json", "docs/mine.md"])
def test_a_project_of_somebodys_own_is_left_alone(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    assert run(["demo", str(tmp_path)]) == 2
    assert f"has a {name.partition('/')[0]} of its own; name a new folder" in capfd.readouterr().err
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [path]
    assert path.read_text() == "mine"


def test_a_file_is_no_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "demo").write_text("")
    assert run(["demo", str(tmp_path / "demo")]) == 2
    assert "is a file; name a folder for the demo" in capfd.readouterr().err


def test_a_step_that_ends_otherwise_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "changed.yaml").write_text("gold: gold.json\n")
    (tmp_path / "gold.json").write_text("{}")
    assert run(["demo", str(tmp_path)]) == 3
    captured = capfd.readouterr()
    assert "\nexit code 3\n" in captured.out
    assert 'there is no list of "queries" in it' in captured.err
    assert "`rankproof eval -m nDCG@10 --misses 0` ended with exit code 3, not 0: were files in" in captured.err


def test_an_installation_without_the_pages_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "__file__", str(tmp_path / "lib" / "python" / "rankproof" / "cli" / "demo.py"))
    assert run(["demo", str(tmp_path / "new")]) == 5
    assert "The documentation that the demo searches is not part of this installation" in capfd.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_pages_of_a_wheel_come_before_those_of_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src" / "rankproof"
    monkeypatch.setattr(demo, "__file__", str(package / "cli" / "demo.py"))
    for folder in (tmp_path / "docs", package / "demo" / "docs"):
        folder.mkdir(parents=True)
        (folder / "index.md").write_text("# Index\n")
    assert demo._documentation() == package / "demo" / "docs"
