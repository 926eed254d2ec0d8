"""`rankproof label --plain` from the outside: files in, ground truth out."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rankproof.cli.main import VERBS, run
from rankproof.data.gold import GoldSet
from rankproof.labeling.lock import Lock

CORPUS = [{"id": one, "title": f"Title {one}", "text": f"The text of {one}."} for one in "abcdef"]
RUN = "".join(f"q{q} Q0 {doc} {rank} {9 - rank} bm25\n" for q in (1, 2) for rank, doc in enumerate("abcdef", 1))
LABEL = ["label", "--plain", "--queries", "queries.tsv", "--corpus", "corpus.jsonl", "--run", "bm25.run"]
ANNA = [*LABEL, "--annotator", "anna", "--out", "truth.json"]

# The verb as a program of its own, whether or not the table of verbs has it yet.
PROGRAM = (
    "import sys; from rankproof.cli import main; main.VERBS.setdefault('label', ''); sys.exit(main.run(sys.argv[1:]))"
)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(VERBS, "label", "Judge results, one document after the other.")
    Path("queries.tsv").write_text("q1\thow to deploy\nq2\twho may edit\n")
    Path("corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in CORPUS))
    Path("bm25.run").write_text(RUN)
    return tmp_path


def label(monkeypatch: pytest.MonkeyPatch, typed: str, *arguments: str, code: int = 0) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert run(list(arguments)) == code


def grades(file: str = "truth.json") -> dict[str, dict[str, float]]:
    return GoldSet.read(file).qrels.to_dict()


def program(*arguments: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, *arguments]


def test_ten_lines_label_ten_results_and_the_next_call_begins_at_the_eleventh(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    label(monkeypatch, "r\np\nn\n2\n1\n0\nr\nr\nr\nr\n", *ANNA, "--depth", "6")
    heard = capfd.readouterr()
    assert sum(line.startswith("saved: ") for line in heard.out.splitlines()) == 10
    assert "10 judgments by anna" in heard.err
    label(monkeypatch, "q\n", *ANNA, "--depth", "6")
    assert "Document 5 of 6" in capfd.readouterr().out.splitlines()[3]


def test_what_comes_out_goes_into_score_without_conversion(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    label(monkeypatch, "r\n" * 12, *ANNA, "--depth", "6")
    capfd.readouterr()
    assert run(["score", "truth.json", "bm25.run", "-m", "P@5", "-m", "MRR", "--preset", "labels"]) == 0
    assert "1.0000" in capfd.readouterr().out
    Path("other.run").write_text(RUN.replace("bm25", "other"))
    assert run(["compare", "truth.json", "bm25.run", "other.run", "-m", "P@5"]) == 0
    Path("rankproof.yaml").write_text(
        "gold: truth.json\ncorpus: corpus.jsonl\npipelines: {p: {retrieve: {run: bm25.run}}}\n"
    )
    assert run(["eval", "--quiet", "--no-cache"]) == 0


def test_five_documents_of_each_run_are_pooled_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("other.run").write_text("q1 Q0 f 1 1 dense\n")
    label(monkeypatch, "", *ANNA, "--run", "other.run", "--show-rank")
    assert "Document 1 of 6" in capfd.readouterr().out
    label(monkeypatch, "", *ANNA)
    heard = capfd.readouterr().out
    assert "Document 1 of 5" in heard
    assert "bm25" not in heard


def test_a_query_can_be_named_by_its_number_from_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    label(monkeypatch, "r\n", *ANNA, "--query", "2")
    assert "Query 2 of 2: who may edit" in capfd.readouterr().out
    assert list(grades()) == ["q2"]
    label(monkeypatch, "", *ANNA, "--query", "3", code=2)
    assert "There is no query 3; the queries are numbered 1 to 2" in capfd.readouterr().err


def test_labels_are_continued_and_restart_keeps_a_backup(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    label(monkeypatch, "r\nr\n", *ANNA)
    label(monkeypatch, "r\n", *ANNA)
    label(monkeypatch, "", *ANNA, "--resume")
    assert sum(map(len, grades().values())) == 3
    label(monkeypatch, "n\n", *ANNA, "--restart")
    assert "the file as it was is truth.json.bak" in capfd.readouterr().err
    assert [list(row.values()) for row in grades().values()] == [[0]]
    assert sum(map(len, json.loads(Path("truth.json.bak").read_text())["queries"])) > 0


def test_when_everything_is_judged_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    label(monkeypatch, "r\n" * 10, *ANNA)
    capfd.readouterr()
    label(monkeypatch, "n\n", *ANNA)
    heard = capfd.readouterr()
    assert heard.out == ""
    assert "Everything is judged already; --query N shows a query again." in heard.err


def test_the_defaults_are_the_users_name_and_the_file_of_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "audri")
    label(monkeypatch, "r\n", *LABEL)
    assert Path("data/labels/audri.jsonl").exists()
    assert json.loads(Path("data/retrieval-ground-truth.json").read_text())["reviewer"] == "audri"


def test_journals_can_lie_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    label(monkeypatch, "r\n", *ANNA, "--labels", "elsewhere")
    assert Path("elsewhere/anna.jsonl").exists()


def test_judged_documents_come_last_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    results = [{"id": one, "relevance": "relevant"} for one in "abcd"]
    gold = {"queries": [{"id": "q1", "query": "how to deploy", "persona": "HR", "results": results}]}
    Path("gold.json").write_text(json.dumps(gold))
    arguments = [*ANNA]
    arguments[arguments.index("queries.tsv")] = "gold.json"
    label(monkeypatch, "", *arguments)
    assert "Query 1 of 1 (HR): how to deploy\n\nDocument 1 of 5: Title e" in capfd.readouterr().out
    label(monkeypatch, "", *arguments, "--unjudged-only")
    assert "Document 1 of 1: Title e" in capfd.readouterr().out


def test_a_project_names_queries_documents_and_pipelines(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("rankproof.yaml").write_text(
        "gold: queries.tsv\ncorpus: corpus.jsonl\npipelines:\n"
        "  counts: {retrieve: bow}\n  file: {retrieve: {run: bm25.run}}\n"
    )
    label(monkeypatch, "r\n", "label", "--plain", "--annotator", "anna", "--pipeline", "file", "--show-rank")
    assert "Rank" in capfd.readouterr().out
    assert grades("data/retrieval-ground-truth.json").keys() == {"q1"}
    label(monkeypatch, "", "label", "--plain", "--pipeline", "fil", code=2)
    assert "Did you mean 'file'" in capfd.readouterr().err


def test_a_pipeline_that_fails_makes_no_pool(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("mine.py").write_text("def search(text, k):\n    raise RuntimeError('no answer')\n")
    Path("rankproof.yaml").write_text(
        "gold: queries.tsv\ncorpus: corpus.jsonl\npipelines:\n  live: {retrieve: {python: {call: 'mine:search'}}}\n"
    )
    label(monkeypatch, "", "label", "--plain", code=4)
    assert "The pipeline 'live' failed for query 'q1'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["label", "--queries", "queries.tsv"], 2, "--plain"),
        (["label", "--plain"], 2, "rankproof init"),
        (["label", "--plain", "--queries", "queries.tsv"], 2, "Without a project, --corpus and --run must be given."),
        ([*ANNA[:-2], "--out", "."], 2, "is not an ordinary file"),
        ([*ANNA, "--annotator", "../x"], 2, "cannot be an annotator's name"),
        ([*ANNA, "--guideline", "gone.md"], 3, "gone.md: there is no such file"),
        ([*ANNA, "--run", "gone.run"], 3, "gone.run: there is no such file"),
    ],
)
def test_wrong_calls_say_what_to_do(
    capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert run(arguments) == code
    assert message in capfd.readouterr().err


def test_a_second_labeller_of_the_same_name_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("labels").mkdir()
    lock = Lock(Path("labels/anna.jsonl"))
    lock.acquire("anna", "2026-03-01T10:00:00Z")
    label(monkeypatch, "r\n", *ANNA, code=2)
    assert "is being written by anna (process" in capfd.readouterr().err
    lock.release()


def test_a_lock_of_another_host_is_taken_over_when_forced(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("labels").mkdir()
    holder = {"annotator": "anna", "pid": 1, "host": "gone.example", "since": "yesterday"}
    Path("labels/.anna.jsonl.lock").write_text(json.dumps(holder))
    label(monkeypatch, "r\n", *ANNA, code=2)
    assert "--force-unlock" in capfd.readouterr().err
    label(monkeypatch, "r\n", *ANNA, "--force-unlock")
    assert "was left behind and is taken over" in capfd.readouterr().err


def test_a_damaged_journal_is_mended_when_asked(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    label(monkeypatch, "r\np\n", *ANNA)
    journal = Path("labels/anna.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b'"grade":2', b'"grade":0'))
    label(monkeypatch, "", *ANNA, code=3)
    assert "labels/anna.jsonl:2: the line is damaged" in capfd.readouterr().err
    label(monkeypatch, "", *ANNA, "--mend")
    assert "1 damaged line of labels/anna.jsonl left out" in capfd.readouterr().err


def test_a_terminal_that_lacks_characters_and_input_that_is_no_text_do_not_end_it(files: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "TERM": "dumb", "LANG": "C"}
    (files / "queries.tsv").write_text("q1\tpå deltid 🙂\n", encoding="utf-8")
    done = subprocess.run(
        program(*ANNA), input=b"\x00\xff\nr\n", capture_output=True, check=False, env=environment, cwd=files
    )
    assert done.returncode == 0, done.stderr
    assert b"p\xe5 deltid ?" in done.stdout
    assert done.stdout.count(b"saved: ") == 1


def test_ctrl_c_at_the_prompt_ends_with_130_and_everything_on_disk(files: Path) -> None:
    process = subprocess.Popen(
        program(*ANNA), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=files
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("r\n")
    process.stdin.flush()
    while "saved: " not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    assert sum(map(len, grades().values())) == 1
    assert not (files / "labels" / ".anna.jsonl.lock").exists()


def test_on_a_terminal_a_line_is_typed_and_answered(files: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(program(*ANNA), stdin=slave, stdout=slave, stderr=slave, cwd=files, close_fds=True)
    os.close(slave)
    os.write(master, b"r\np\nq\n")
    heard = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        heard += part
    os.close(master)
    assert process.wait() == 0
    assert b"saved: relevant (1 judged, 9 left)" in heard
    assert b"saved: partial (2 judged, 8 left)" in heard


def test_whoever_stops_reading_loses_nothing(files: Path) -> None:
    process = subprocess.Popen(program(*ANNA), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=files)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(b"r\n" * 3)
    process.stdin.close()
    assert process.wait() == 0
    assert (files / "labels" / "anna.jsonl").exists()
