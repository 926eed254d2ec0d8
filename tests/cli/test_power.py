from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankproof.cli.main import run
from rankproof.cli.output import plot_room

# Reciprocal ranks are 1, ½, ½, 1 and ½, 1, ½, ½: the differences −½, ½, 0, −½ have a standard deviation of √(11/48).
QRELS = "".join(f"q{i} 0 a 1\n" for i in range(1, 5))
FIRST, SECOND = "q{} Q0 a 1 2 t\nq{} Q0 b 2 1 t\n", "q{} Q0 b 1 2 t\nq{} Q0 a 2 1 t\n"


def run_of(*places: int) -> str:
    return "".join((FIRST, SECOND)[place - 1].format(i, i) for i, place in enumerate(places, 1))


FILES = {
    "qrels.txt": QRELS,
    "a.run": run_of(1, 2, 2, 1),
    "b.run": run_of(2, 1, 2, 2),
    "flat.run": run_of(1, 1, 1, 1),
    "short.run": run_of(2, 1, 2),
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["power", *arguments]) == 0
    return capfd.readouterr().out


def test_a_known_spread_is_answered_in_sentences(capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "--sd", "0.2", "--queries", "55", "--difference", "0.02")
    assert out.splitlines()[:2] == [
        "To see +0.02 with 80 % power you need 787 queries; with your 55 the smallest visible change is 0.077.",
        "With your 55, a true change of 0.02 would be seen 11 times out of 100.",
    ]
    assert " ● you are here: 55 queries, 0.077\n ◆ wanted: 0.02, 787 queries\n" in out
    assert out.endswith(
        "\nrests on: standard deviation 0.2 of differences, as given, 55 queries\n"
        "test: two-sided paired t-test, α = 0.05; the randomisation test has practically the same power\n"
    )


def test_the_textbook_case(capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "--sd", "1", "--queries", "34", "--difference", "0.5")
    assert "you need 34 queries; with your 34 the smallest visible change is 0.495." in out
    assert "a true change of 0.5 would be seen 81 times out of 100." in out
    assert "wanted" not in out


def test_numbers_are_written_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "--sd", "0.3", "--queries", "12000", "--difference", "-0.0005", "--power", "0.995")
    assert out.startswith(
        "To see +0.0005 with 99.5 % power you need 7,406,434 queries; with your 12,000 the smallest visible change is "
    )
    assert "12,000, a true change of 0.0005 would be seen 5 times out of 100" in out
    sure = said(capfd, "--sd", "0.1", "--queries", "9000", "-m", "RR")
    assert "the smallest visible change is 0.0030.\n" in sure
    assert "a true change of 0.02 would be seen more than 99 times out of 100.\n" in sure


def test_what_no_run_could_reach_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "--sd", "0.4", "--queries", "2", "-m", "RR")
    assert "with your 2 no change can be seen: it would have to be 4.62, and RR goes from 0 to 1.\n" in out


def test_two_runs_show_how_much_queries_vary(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "qrels.txt", "a.run", "b.run", "-m", "RR", "--difference", "0.5")
    assert out.splitlines()[:3] == [
        "To see +0.5 in RR with 80 % power you need 10 queries; with your 4 no change can be seen: it would have to be "
        "1.02, and RR goes from 0 to 1.",
        "How much queries vary is itself estimated, from 4 of them: with 95 % confidence you need 5 to 102 queries, "
        "and the smallest visible change lies between 0.577 and 3.80.",
        "With your 4, a true change of 0.5 would be seen 31 times out of 100.",
    ]
    assert "\nrests on: standard deviation 0.479 of the differences in RR between a.run and b.run, 4 queries\n" in out
    assert "\n4 of 4 judged queries scored · judged@10 50.0%\nrules: default (ties=trec" in out
    assert "assume" not in out


def test_one_run_says_what_is_assumed(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "qrels.txt", "a.run", "-m", "RR", "--difference", "0.5", "--correlation", "0.5")
    assert (
        "\nThis assumes that the other system correlates with this one by 0.5; it takes 3 queries at 0.9. "
        "A second run would tell.\n"
    ) in out
    assert "\nassumed: a second system that varies as much as a.run and correlates with it by 0.5\n" in out


def test_several_measures_share_the_picture(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "qrels.txt", "a.run", "b.run", "-m", "RR", "-m", "P@1")
    assert "To see +0.02 in RR with" in out
    assert "To see +0.02 in P@1 with" in out
    assert " A ⠤⠤⠤⠤⠤ RR\n B ⠄⠠ ⠄⠠ P@1\n ● you are here: 4 queries\n ◆ wanted: 0.02\n" in out


def test_json_is_the_contract(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ("qrels.txt", "a.run", "b.run", "-m", "RR", "--difference", "0.5", "--format", "json")
    first = said(capfd, *arguments)
    data = json.loads(first)
    assert data["schema_version"] == 1
    assert data["preset"] == "default"
    assert [one["name"] for one in data["runs"]] == ["a.run", "b.run"]
    (one,) = data["plans"]
    assert one["measure"] == "RR"
    assert (one["n_queries"], one["queries_needed"], one["queries_needed_interval"]) == (4, 10, [5, 102])
    assert one["sd"] == pytest.approx((11 / 48) ** 0.5)
    assert one["smallest_visible"] == pytest.approx(1.0187, abs=1e-4)
    assert one["power_now"] == pytest.approx(0.3090, abs=1e-4)
    assert (one["out_of_reach"], one["assumed_correlation"], one["alternatives"]) == (True, None, [])
    assert {"n_queries", "smallest_visible", "interval"} == set(one["curve"][0])
    assert said(capfd, *arguments) == first


def test_json_of_a_known_spread_has_no_runs(capfd: pytest.CaptureFixture[str]) -> None:
    data = json.loads(said(capfd, "--sd", "0.2", "--queries", "55", "--format", "json"))
    assert set(data) == {"plans", "schema_version"}
    assert data["plans"][0]["sd_interval"] is None
    assert data["plans"][0]["measure"] is None


@pytest.mark.parametrize("measures", [["-m", "RR"], ["-m", "RR", "-m", "P@1"]])
def test_the_drawing_goes_into_a_file(files: Path, capfd: pytest.CaptureFixture[str], measures: list[str]) -> None:
    arguments = ("qrels.txt", "a.run", "b.run", *measures, "--svg", "plan.svg", "-o", "plan.txt", "--quiet")
    assert said(capfd, *arguments) == ""
    drawn = Path("plan.svg").read_bytes()
    labels = ["".join(one.itertext()) for one in ElementTree.fromstring(drawn.decode()).iter()]
    assert any(label.startswith("you are here: 4 queries") for label in labels)
    assert any(label.startswith("wanted: 0.02") for label in labels)
    assert any(label.startswith("To see +0.02 in RR with 80 % power you need") for label in labels)
    said(capfd, *arguments)
    assert Path("plan.svg").read_bytes() == drawn


def test_a_name_that_is_a_payload_is_inert(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = "<script>alert(1)<\u202escript>.run"
    Path(name).write_text(FILES["b.run"])
    out = said(capfd, "qrels.txt", "a.run", name, "-m", "RR", "--svg", "plan.svg")
    assert "\u202e" not in out
    assert "<script>" not in Path("plan.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Give judgments and one or two runs: rankproof power QRELS BASELINE.run CANDIDATE.run"),
        (["qrels.txt"], 2, "or what you know of the differences: rankproof power --sd 0.2 --queries 55"),
        (["qrels.txt", "a.run", "b.run", "a.run"], 2, "Give judgments and one or two runs"),
        (["--sd", "0.2"], 2, "--sd and --queries go together, as in --sd 0.2 --queries 55."),
        (["--queries", "5"], 2, "--sd and --queries go together"),
        (["qrels.txt", "a.run", "--sd", "1", "--queries", "9"], 2, "leave out files; or leave out --sd and --queries"),
        (["--sd", "1", "--queries", "9", "--correlation", "0.5"], 2, "leave out --correlation"),
        (["--sd", "1", "--queries", "9", "-m", "RR", "-m", "AP"], 2, "--sd belongs to one measure"),
        (["--sd", "1", "--queries", "1"], 4, "One query cannot show any difference"),
        (["--sd", "0", "--queries", "9"], 2, "A standard deviation is a number above 0"),
        (["--sd", "1", "--queries", "9", "--difference", "0"], 2, "Name a difference that you want to see"),
        (["--sd", "1", "--queries", "9", "--svg", "-"], 2, "cannot both go to stdout"),
        (["qrels.txt", "a.run", "b.run", "-m", "GMAP"], 2, "GMAP is no mean over queries"),
        (["qrels.txt", "a.run", "b.run", "-m", "RR", "--correlation", "0.5"], 2, "leave out the assumed correlation"),
        (["qrels.txt", "a.run", "a.run", "-m", "RR"], 4, "Give a run that differs"),
        (["qrels.txt", "flat.run", "-m", "RR"], 4, "Every query of flat.run has the same RR"),
        (["qrels.txt", "a.run", "short.run", "-m", "RR", "--preset", "trec_eval"], 3, "only a.run has q4. "),
        (["qrels.txt", "a.run", "-m", "ndgc"], 2, "Did you mean"),
        (["qrels.txt", "none.run", "-m", "RR"], 3, "none.run"),
    ],
)
def test_an_error_says_what_to_do(
    files: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert run(["power", *arguments]) == code
    out, err = capfd.readouterr()
    assert message in err
    assert out == ""


def test_plots_fit_the_terminal_of_whoever_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((40, 20)))
    monkeypatch.setenv("TERM", "dumb")
    assert plot_room(None) == (40, True)
    assert plot_room("plan.txt") == (72, False)
    monkeypatch.setenv("TERM", "xterm")
    assert plot_room("-") == (40, False)
