"""The table of exit codes: real commands, each in a process of its own, that end with each of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.docs.markdown import page_text

N = 24
PROJECT = """\
gold: gold.csv
corpus: corpus.jsonl
pipelines: {search: {retrieve: bm25, depth: 10}}
measures: [RR]
gate: {floors: {RR: 0.4}, max_drop: {RR: 0.01}}
"""
DOCUMENTS = [{"id": f"d{i}", "text": f"word{i} word{i} and common words"} for i in range(N)]
THIEVES = [{"id": f"thief{i}", "text": f"word{i} word{i} word{i}"} for i in range(N)]
STORY = """\
Sc1 group begin
  Sc1 describes "A storm gathers over the sea."
Sc1 group end
Sc2 group begin
  Sc2 describes "The bell rings in the tower."
Sc2 group end
"""


def searching(retrieve: str, rerank: str = "") -> str:
    """The project with another pipeline."""
    return PROJECT.replace("retrieve: bm25, depth: 10", f"retrieve: {retrieve}, depth: 10{rerank}")


def lines(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def rq(relevant: list[str]) -> str:
    return json.dumps([{"id": "q1", "query": "storm over the sea", "relevant": relevant}])


COHERE = searching("bm25", ", rerank: {cohere: {model: rerank-v4.0-pro, key_env: NO_SUCH_KEY}}")
HTTP = searching("{http: {url: 'http://127.0.0.1:1/?q={query}', key_env: NO_SUCH_KEY}}")
KEY_FILE = searching("{http: {url: 'http://127.0.0.1:1/?q={query}', key_file: gone.key}}")
REFUSING = searching("{http: {url: 'http://127.0.0.1:PORT/?q={query}', retries: 0}}")
FLAKY = "def search(text, k):\n    if text.endswith('7'):\n        raise OSError('gone')\n    return ['d' + text[9:]]\n"
FAILING = {"rankproof.yaml": searching("{python: {call: 'flaky:search'}}"), "flaky.py": FLAKY}
ENDLESS = "import pathlib, time\n\ndef search(text, k):\n    pathlib.Path('began').touch()\n    time.sleep(120)\n"
WAITING = {"rankproof.yaml": searching("{python: {call: 'endless:search'}}"), "endless.py": ENDLESS}
BROKEN_STAGE = """\
from rankproof.retrieval.stages.bm25 import Bm25

class Planted(Bm25):
    def open(self, place):
        return 1 / 0
"""
BROKEN_MEASURE = """\
from rankproof.measures.registry import family
from rankproof.retrieval.stages.bm25 import Bm25 as Planted

family("RR").function = lambda judged, **parameters: judged.n_retrieved * 0.0
"""
# What a package that is installed looks like: metadata with an entry point, beside the module.
PLANTED = {
    "rankproof.yaml": searching("planted"),
    "installed/planted-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n",
    "installed/planted-1.0.dist-info/entry_points.txt": "[rankproof.retrievers]\nplanted = planted:Planted\n",
}


@dataclass(frozen=True)
class Case:
    """A command, what is different in the project, and how it ends."""

    code: int
    command: str
    said: str
    """What stands in one of the streams."""
    files: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code}: {self.command}: {self.said[:40]}"


def for_each(verbs: tuple[str, ...], code: int, said: str, files: Mapping[str, str]) -> list[Case]:
    return [Case(code, verb, said, files) for verb in verbs]


MEASURING = ("eval", "gate", "baseline record")
TABLE = [
    Case(0, "gate", "The gate passes."),
    Case(0, "eval", "RR"),
    Case(0, "baseline record", "the baseline of 24 queries is in rankproof-baseline.json"),
    Case(0, "gold lint gold.csv corpus.jsonl", "gold.csv: clean"),
    Case(0, "rq story.cnl queries.json", "passes, above the threshold", {"queries.json": rq(["Sc1"])}),
    Case(0, "--help", "Exit codes:"),
    Case(1, "gate", "quality is worse", {"corpus.jsonl": lines(DOCUMENTS + THIEVES)}),
    Case(1, "rq story.cnl queries.json", "FAILS, not above the threshold", {"queries.json": rq(["Sc2"])}),
    Case(2, "gate --nope", "No such option"),
    Case(2, "gat", "There is no command called 'gat'. Did you mean 'gate'?"),
    Case(2, "eval --mode serch", "There is no pipeline called 'serch'. Did you mean 'search'?"),
    Case(2, "eval -m ndgc", "There is no measure called 'ndgc'"),
    Case(2, "eval gone", "gone: there is no such file or folder"),
    Case(2, "gate", "There is no rule to gate by", {"rankproof.yaml": PROJECT.partition("gate:")[0]}),
    *for_each(MEASURING, 2, "Did you mean 'gold'?", {"rankproof.yaml": PROJECT.replace("gold:", "gld:")}),
    *for_each(
        MEASURING, 2, 'needs: pip install "rankproof[http]"',
        {"rankproof.yaml": REFUSING.replace("PORT", "1"), "installed/httpx2.py": "raise ModuleNotFoundError",
         "installed/jmespath.py": "raise ModuleNotFoundError"},
    ),
    *for_each(MEASURING, 3, "gold.csv", {"gold.csv": "nothing,that,we,know\n1,2,3,4\n"}),
    Case(3, "gate --baseline other.json", "is no baseline", {"other.json": "{}"}),
    Case(3, "score qrels.txt a.run", "qrels.txt:1", {"qrels.txt": "q1 0 d1 high\n", "a.run": "q1 Q0 d1 1 1 x\n"}),
    Case(3, "gold lint gold.csv corpus.jsonl", "1 fault in the gold set", {"gold.csv": "query,ideal_page\na,gone\n"}),
    *for_each(MEASURING, 4, "environment variable NO_SUCH_KEY, which is not set", {"rankproof.yaml": COHERE}),
    *for_each(MEASURING, 4, "environment variable NO_SUCH_KEY, which is not set", {"rankproof.yaml": HTTP}),
    *for_each(MEASURING, 4, "from the file gone.key, which cannot be read", {"rankproof.yaml": KEY_FILE}),
    *for_each(MEASURING, 4, "none of the first 5 requests got through", {"rankproof.yaml": REFUSING}),
    Case(4, "eval", "2 queries could not be measured; the figures are without them", FAILING),
    Case(4, "gate", "2 failed (flaky:search raised OSError: gone): find word7, find word17", FAILING),
    Case(4, "baseline record", "2 queries could not be measured, so no baseline was recorded", FAILING),
    *for_each(
        MEASURING, 5, "no query has a judgment",
        {"rankproof.yaml": PROJECT.replace("gold.csv", "queries.json"), "queries.json": rq([])},
    ),
    Case(5, "rq story.cnl queries.json", "RQ was not measured", {"queries.json": rq([])}),
    Case(5, "eval --corpus none/*.md", "no file matches"),
    Case(70, "eval", "ZeroDivisionError: division by zero (this is a bug of ours",
         {**PLANTED, "installed/planted.py": BROKEN_STAGE}),
    Case(70, "gate", "The oracle, which returns the gold, scores 0.0000 in RR",
         {**PLANTED, "installed/planted.py": BROKEN_MEASURE}),
    *for_each(MEASURING, 130, "interrupted", WAITING),
]  # fmt: skip
CODES = {0, 1, 2, 3, 4, 5, 70, 130}


def environment(folder: Path) -> dict[str, str]:
    """What the command sees: no key, not in a build, and what the case has installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RANKPROOF_", "GITHUB_"))}
    kept.pop("NO_SUCH_KEY", None)
    return {**kept, "PYTHONPATH": str(folder / "installed"), "PYTHONUTF8": "1"}


def command_of(case: Case) -> list[str]:
    return [sys.executable, "-m", "rankproof", *case.command.split()]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with its baseline."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "rankproof.yaml").write_text(PROJECT)
    (folder / "corpus.jsonl").write_text(lines(DOCUMENTS))
    (folder / "gold.csv").write_text("query,ideal_page\n" + "".join(f"find word{i},d{i}\n" for i in range(N)))
    (folder / "story.cnl").write_text(STORY)
    command = [sys.executable, "-m", "rankproof", "baseline", "record", "--quiet"]
    subprocess.run(command, cwd=folder, env=environment(folder), check=True)
    return folder


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / "project")


def prepare(case: Case, folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    for name, text in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("PORT", port))


@pytest.mark.parametrize("case", [case for case in TABLE if case.code != 130], ids=str)
def test_a_command_ends_with_the_code_of_the_table(case: Case, folder: Path) -> None:
    prepare(case, folder)
    done = subprocess.run(
        command_of(case), cwd=folder, env=environment(folder), capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == case.code, done.stdout + done.stderr
    assert case.said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("case", [case for case in TABLE if case.code == 130], ids=str)
def test_a_command_that_is_interrupted_says_so(case: Case, folder: Path) -> None:
    prepare(case, folder)
    # A shell may have told its background jobs to ignore the signal, which children inherit.
    running = subprocess.Popen(
        command_of(case), cwd=folder, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        while not (folder / "began").exists() and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
    finally:
        running.kill()
    assert (running.returncode, out) == (130, "")
    assert case.said in err
    assert "Traceback" not in err


def test_every_code_has_a_command_that_ends_with_it() -> None:
    assert {case.code for case in TABLE} == CODES


def test_the_page_and_the_help_name_the_same_codes() -> None:
    page = {int(code) for code in re.findall(r"^\| (\d+) \|", page_text("docs/reference/exit-codes.md"), re.MULTILINE)}
    assert page == CODES
    done = subprocess.run(
        [sys.executable, "-m", "rankproof", "--help"], capture_output=True, encoding="utf-8", check=True
    )
    listed = " ".join(done.stdout.partition("Exit codes:")[2].partition("Options:")[0].split())
    assert {int(code) for code in re.findall(r"(?:^|· )(\d+) \w", listed)} == CODES
