"""`rankproof baseline accept` and `reject`, and the `rankproof log` that they write."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rankproof.cli.main import run

N = 20
PROJECT = """\
gold: gold.csv
corpus: corpus.jsonl
pipelines:
  search: {retrieve: bm25, depth: 10}
measures: [RR]
gate: {max_drop: {RR: 0.01}}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twenty queries for a word each; the documents of the first six come second, so that RR is 0.85."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    write_corpus(thieves=6)
    rows = "".join(f"find word{i},d{i}\n" for i in range(N))
    Path("gold.csv").write_text(f"query,ideal_page\n{rows}")
    Path("rankproof.yaml").write_text(PROJECT)
    assert run(["baseline", "record", "--quiet"]) == 0
    return tmp_path


def write_corpus(*, thieves: int) -> None:
    """A document for each query, and for so many of them another that says its word more often."""
    lines = [{"id": f"d{i}", "text": f"word{i} word{i} and common words"} for i in range(N)]
    lines += [{"id": f"thief{i}", "text": f"word{i} word{i} word{i}"} for i in range(thieves)]
    Path("corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def baseline() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path("rankproof-baseline.json").read_text())
    return data


def mean() -> float:
    value: float = baseline()["runs"][0]["mean"]["RR"]
    return value


def log() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("rankproof-log.jsonl").read_text().splitlines()]


def test_an_accepted_gain_becomes_the_baseline_and_is_written_down(capfd: pytest.CaptureFixture[str]) -> None:
    write_corpus(thieves=0)
    assert run(["baseline", "accept", "--why", "thieves are gone"]) == 0
    assert "accepted; the baseline is in rankproof-baseline.json" in capfd.readouterr().err
    assert mean() == 1.0
    [entry] = log()
    assert (entry["decision"], entry["date"], entry["why"], entry["outcome"]) == (
        "accepted", "2026-01-01", "thieves are gone", "pass",
    )  # fmt: skip
    [change] = entry["changes"]["search"]
    assert (change["measure"], change["baseline"], change["value"]) == ("RR", 0.85, 1.0)
    # Six of twenty queries differ, all upwards: 2 of the 2^6 sign patterns are as extreme.
    assert change["p_value"] == 2 / 64


def test_what_is_worse_is_not_accepted_and_nothing_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    before = Path("rankproof-baseline.json").read_bytes()
    write_corpus(thieves=N)
    assert run(["baseline", "accept"]) == 1
    said = capfd.readouterr()
    assert "✗ max_drop RR" in said.out
    assert "`--lower --why …` accepts it all the same" in said.err
    assert Path("rankproof-baseline.json").read_bytes() == before
    assert not Path("rankproof-log.jsonl").exists()


def test_lower_needs_a_reason_and_then_accepts_what_is_worse(capfd: pytest.CaptureFixture[str]) -> None:
    write_corpus(thieves=N)
    assert run(["baseline", "accept", "--lower"]) == 2
    assert "say why with --why" in capfd.readouterr().err
    assert run(["baseline", "accept", "--lower", "--why", "half the index for half the price", "--quiet"]) == 0
    assert mean() == 0.5
    assert log()[0]["outcome"] == "worse"


def test_a_ratchet_raises_floors_less_what_may_be_lost_and_never_lowers_them(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(["baseline", "accept", "--ratchet"]) == 0
    # 0.85 may fall by 0.01.
    assert baseline()["floors"] == {"search": {"RR": 0.84}}
    assert "search: the floor of RR is now 0.84" in capfd.readouterr().err
    write_corpus(thieves=0)
    assert run(["baseline", "accept", "--quiet"]) == 0
    assert baseline()["floors"] == {"search": {"RR": 0.84}}
    assert run(["baseline", "accept", "--ratchet", "--quiet"]) == 0
    assert baseline()["floors"] == {"search": {"RR": 0.99}}
    write_corpus(thieves=1)
    # One query of twenty is no proof of a loss, but the floor is a floor.
    assert run(["gate", "--quiet"]) == 1
    assert "0.9750 is below the floor 0.99" in capfd.readouterr().out
    assert run(["baseline", "accept", "--ratchet", "--quiet"]) == 1
    assert run(["baseline", "accept", "--lower", "--why", "a page that we need", "--quiet"]) == 0
    assert baseline()["floors"] == {"search": {"RR": 0.965}}
    assert log()[-1]["lowered"] == {"search": {"RR": 0.99}}
    assert run(["gate", "--quiet"]) == 0


def test_recording_again_keeps_the_floors() -> None:
    assert run(["baseline", "accept", "--ratchet", "--quiet"]) == 0
    assert run(["baseline", "record", "--quiet"]) == 0
    assert baseline()["floors"] == {"search": {"RR": 0.84}}


def test_a_baseline_that_cannot_be_read_is_recorded_anew_with_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    Path("rankproof-baseline.json").write_text("{")
    assert run(["baseline", "record"]) == 0
    assert "floors that stood in it are not kept" in capfd.readouterr().err
    assert baseline()["floors"] == {}


def test_a_floor_of_the_project_file_is_not_lowered_behind_anybodys_back(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:  # fmt: skip
    (project / "rankproof.yaml").write_text(PROJECT.replace("gate: {", "gate: {floors: {RR: 0.8}, "))
    write_corpus(thieves=N)
    assert run(["baseline", "accept", "--lower", "--why", "cheaper", "--quiet"]) == 2
    assert "RR of 'search' is 0.5000, below the floor 0.8 that stands under `gate:`" in capfd.readouterr().err
    assert mean() == 0.85


def test_what_could_not_be_measured_is_never_accepted(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    (project / "flaky_accept.py").write_text("def search(text, k):\n    raise OSError('gone')\n")
    file = PROJECT.replace("{retrieve: bm25, depth: 10}", "{retrieve: {python: {call: 'flaky_accept:search'}}}")
    (project / "rankproof.yaml").write_text(file)
    assert run(["baseline", "accept", "--lower", "--why", "why not", "--quiet"]) == 4
    assert mean() == 0.85
    assert not Path("rankproof-log.jsonl").exists()


def test_a_rejected_change_is_written_down_and_the_baseline_stays() -> None:
    before = Path("rankproof-baseline.json").read_bytes()
    write_corpus(thieves=N)
    assert run(["baseline", "reject", "--why", "too much lost", "--quiet"]) == 0
    assert Path("rankproof-baseline.json").read_bytes() == before
    [entry] = log()
    assert (entry["decision"], entry["outcome"]) == ("rejected", "worse")
    assert entry["changes"]["search"][0]["value"] == 0.5


def test_without_a_baseline_there_is_nothing_to_accept(capfd: pytest.CaptureFixture[str]) -> None:
    Path("rankproof-baseline.json").unlink()
    assert run(["baseline", "accept", "--quiet"]) == 2
    assert "`rankproof baseline record` makes one" in capfd.readouterr().err


def fill_log() -> None:
    for thieves, why in ((4, "fewer thieves"), (2, "fewer still"), (0, "none | left")):
        write_corpus(thieves=thieves)
        assert run(["baseline", "accept", "--why", why, "--quiet"]) == 0
    write_corpus(thieves=N)
    assert run(["baseline", "reject", "--why", "all back", "--quiet"]) == 0


def test_the_log_lists_the_newest_first_and_draws_what_was_accepted(capfd: pytest.CaptureFixture[str]) -> None:
    fill_log()
    capfd.readouterr()
    assert run(["log"]) == 0
    text = capfd.readouterr().out
    assert text.index("all back") < text.index("none | left") < text.index("fewer thieves")
    assert "4 changes: 3 accepted, 1 rejected" in text
    assert "accepted changes" in text


def test_the_log_in_other_forms(capfd: pytest.CaptureFixture[str]) -> None:
    fill_log()
    capfd.readouterr()
    assert run(["log", "--format", "json", "--last", "2"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert [one["why"] for one in data["experiments"]] == ["all back", "none | left"]
    assert run(["log", "--format", "markdown"]) == 0
    assert "none \\| left" in capfd.readouterr().out
    assert run(["log", "--format", "svg"]) == 0
    assert capfd.readouterr().out.startswith("<svg")


def test_the_same_decisions_make_the_same_log() -> None:
    fill_log()
    first = Path("rankproof-log.jsonl").read_bytes()
    Path("rankproof-log.jsonl").unlink()
    write_corpus(thieves=6)
    assert run(["baseline", "record", "--quiet"]) == 0
    fill_log()
    assert Path("rankproof-log.jsonl").read_bytes() == first


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"decision": "shrugged"}', "rankproof-log.jsonl:2: is no experiment: its decision is not one of"),
        ('{"decision": "accepted"}', "rankproof-log.jsonl:2: is no experiment as we write it"),
    ],
)
def test_a_line_that_is_no_experiment_is_named(line: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["baseline", "accept", "--quiet"]) == 0
    Path("rankproof-log.jsonl").write_text(Path("rankproof-log.jsonl").read_text() + line + "\n")
    assert run(["log"]) == 3
    assert message in capfd.readouterr().err


def test_an_empty_log_says_what_fills_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["log"]) == 5
    assert "`rankproof baseline accept`" in capfd.readouterr().err


def test_recording_below_a_floor_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["baseline", "accept", "--ratchet", "--quiet"]) == 0
    write_corpus(thieves=N)
    assert run(["baseline", "record"]) == 0
    assert "RR of search is 0.5000, below the floor 0.84 in the file" in capfd.readouterr().err


def test_a_log_whose_last_line_was_torn_goes_on_in_a_new_line() -> None:
    assert run(["baseline", "accept", "--quiet"]) == 0
    whole = Path("rankproof-log.jsonl").read_text()
    Path("rankproof-log.jsonl").write_text(whole[:-1])
    assert run(["baseline", "reject", "--why", "no", "--quiet"]) == 0
    assert [one["decision"] for one in log()] == ["accepted", "rejected"]


def test_a_line_that_a_crash_has_torn_is_told_and_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["baseline", "accept", "--why", "first", "--quiet"]) == 0
    whole = Path("rankproof-log.jsonl").read_text()
    Path("rankproof-log.jsonl").write_text(whole + whole[:40])
    assert run(["baseline", "reject", "--why", "second", "--quiet"]) == 0
    capfd.readouterr()
    assert run(["log", "--format", "json"]) == 0
    said = capfd.readouterr()
    assert [one["why"] for one in json.loads(said.out)["experiments"]] == ["second", "first"]
    assert "rankproof-log.jsonl:2: invalid JSON" in said.err
    assert "the line was left out" in said.err


def test_no_entry_is_lost_among_several_writers(project: Path) -> None:
    command = [sys.executable, "-m", "rankproof", "baseline", "reject", "--quiet", "--why"]
    writers = [subprocess.Popen([*command, f"number {i}"], cwd=project) for i in range(6)]
    assert [writer.wait() for writer in writers] == [0] * 6
    assert sorted(one["why"] for one in log()) == [f"number {i}" for i in range(6)]


def test_a_pipeline_that_is_not_named_does_not_leave_the_baseline(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:  # fmt: skip
    (project / "rankproof.yaml").write_text(PROJECT.replace("depth: 10}", "depth: 10}\n  other: {retrieve: bow}"))
    assert run(["baseline", "record", "--quiet"]) == 0
    before = Path("rankproof-baseline.json").read_bytes()
    for command in (["record"], ["accept", "--why", "x"]):
        assert run(["baseline", *command, "--mode", "search", "--quiet"]) == 2
        assert "The baseline also holds other, which would be lost" in capfd.readouterr().err
    assert Path("rankproof-baseline.json").read_bytes() == before


def test_what_lost_its_answers_is_not_accepted_even_if_asked_for() -> None:
    before = Path("rankproof-baseline.json").read_bytes()
    lines = Path("corpus.jsonl").read_text().splitlines(keepends=True)
    Path("corpus.jsonl").write_text("".join(lines[2:]))
    assert run(["baseline", "accept", "--lower", "--why", "y", "--quiet"]) == 4
    assert Path("rankproof-baseline.json").read_bytes() == before


def test_nothing_is_accepted_if_it_cannot_be_written_down() -> None:
    before = Path("rankproof-baseline.json").read_bytes()
    Path("rankproof-log.jsonl").mkdir()
    write_corpus(thieves=0)
    assert run(["baseline", "accept", "--quiet"]) == 3
    assert Path("rankproof-baseline.json").read_bytes() == before
