from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from rankproof import Run
from rankproof.cli.main import run

FIRST = "q1 Q0 a 1 4 first\nq1 Q0 b 2 3 first\nq2 Q0 c 1 9 first\n"
SECOND = "q1 Q0 b 1 10 second\nq1 Q0 d 2 5 second\n"
FUSED = (
    "q1 Q0 b 1 0.03252247488101534 rankproof-rrf\n"
    "q1 Q0 a 2 0.01639344262295082 rankproof-rrf\n"
    "q1 Q0 d 3 0.016129032258064516 rankproof-rrf\n"
    "q2 Q0 c 1 0.01639344262295082 rankproof-rrf\n"
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"first.run": FIRST, "second.run": SECOND}.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.fixture
def judged(files: Path) -> Path:
    queries = [f"q{i}" for i in range(12)]
    Path("qrels.txt").write_text("".join(f"{q} 0 yes 1\n" for q in queries))
    Path("good.run").write_text("".join(f"{q} Q0 yes 1 9 g\n{q} Q0 no 2 8 g\n{q} Q0 nay 3 1 g\n" for q in queries))
    Path("bad.run").write_text("".join(f"{q} Q0 no 1 9 b\n{q} Q0 yes 2 1 b\n" for q in queries))
    return files


def test_the_fused_run_is_printed_as_a_trec_run(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["fuse", "first.run", "second.run"]) == 0
    out, err = capfd.readouterr()
    # 1/62 + 1/61, 1/61 and 1/62.
    assert out == FUSED
    assert (
        err == "2 runs: 2 queries, 4 documents; in the mean 16.7% of a query's documents stand in more than one run\n"
    )


def test_it_says_nothing_else_when_quiet(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["fuse", "first.run", "second.run", "--quiet"]) == 0
    assert capfd.readouterr() == (FUSED, "")


def test_the_order_of_lines_does_not_change_a_byte(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(1)
    lines = [[f"q{rng.randrange(9)} Q0 d{doc} 1 {rng.choice((1, 2, 2.5))} t" for doc in range(40)] for _ in range(3)]
    for by in ("rrf", "combsum", "borda", "condorcet", "combmed"):
        printed = []
        for _ in range(3):
            for i, run_lines in enumerate(lines):
                Path(f"{i}.run").write_text("\n".join(run_lines) + "\n")
                rng.shuffle(run_lines)
            assert run(["fuse", "0.run", "1.run", "2.run", "--by", by]) == 0
            printed.append(capfd.readouterr().out)
        assert printed[0]
        assert printed[0] == printed[1] == printed[2]


def test_a_file_is_written_whole_and_reads_back_in_the_same_order(
    files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["fuse", "first.run", "second.run", "-o", "fused.run", "--tag", "mine"]) == 0
    assert capfd.readouterr().out == ""
    assert Path("fused.run").read_text() == FUSED.replace("rankproof-rrf", "mine")
    assert list(Run.read("fused.run").to_dict()["q1"]) == ["b", "a", "d"]
    assert sorted(p.name for p in files.iterdir()) == ["first.run", "fused.run", "second.run"]


def test_the_suffix_says_the_format(files: Path) -> None:
    assert run(["fuse", "first.run", "second.run", "-o", "fused.json", "--depth", "1"]) == 0
    assert json.loads(Path("fused.json").read_text()) == {
        "q1": {"b": 0.03252247488101534},
        "q2": {"c": 0.01639344262295082},
    }


def test_options_reach_the_method(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["fuse", "first.run", "second.run", "--k", "0", "--weights", "2,1", "--depth", "2"]) == 0
    assert capfd.readouterr().out.splitlines()[:2] == ["q1 Q0 b 1 2.0 rankproof-rrf", "q1 Q0 a 2 2.0 rankproof-rrf"]
    arguments = ["--by", "weighted", "--weights", "0.25,0.75", "--normalize", "rank"]
    assert run(["fuse", "first.run", "second.run", *arguments]) == 0
    assert capfd.readouterr().out.splitlines()[0] == "q1 Q0 b 1 0.875 rankproof-weighted"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["first.run"], 2, "Fusing takes two runs or more; 1 was given."),
        (["first.run", "second.run", "--by", "combsun"], 2, "Did you mean 'combsum'"),
        (["first.run", "second.run", "--by", "isr", "--weights", "1,2"], 2, "'rrf' and 'weighted' take weights"),
        (["first.run", "second.run", "--weights", "1;2"], 2, "as in 0.3,0.7; '1;2' is not"),
        (["first.run", "second.run", "--weights", "0,0"], 2, "All weights are 0"),
        (["first.run", "second.run", "--depth", "0"], 2, "--depth"),
        (
            ["first.run", "second.run", "--step", "0.5"],
            2,
            "--step says how to tune weights; it goes with --tune QRELS.",
        ),
        (["first.run", "second.run", "--format", "json"], 2, "--format says how to tune weights"),
        (["first.run", "second.run", "--tune", "x", "--weights", "1,2"], 2, "leave out --weights or --tune"),
        (["first.run", "none.run"], 3, "none.run: there is no such file"),
        (["first.run", "second.run", "-o", "no/such/folder/fused.run"], 3, "cannot be written"),
        (["first.run", "second.run", "-o", "fused.doc"], 3, "known endings are"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_exit_code(
    files: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert run(["fuse", *arguments]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err


def test_a_fault_in_a_run_is_told_with_its_line(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("second.run").write_text("q1 Q0 b 1 nan t\n")
    assert run(["fuse", "first.run", "second.run"]) == 3
    assert "second.run:1:" in capfd.readouterr().err


def test_tuning_prints_what_the_weights_score_on_the_held_out_queries(
    judged: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["fuse", "good.run", "bad.run", "--tune", "qrels.txt", "-m", "RR", "-o", "fused.run"]) == 0
    out, err = capfd.readouterr()
    # By min-max yes has w in all, no has 7w/8 + (1 − w): yes is first from w = 0.9 on.
    assert out.startswith(
        "weighted: the best of 11 weightings on 6 queries, where it scores 1.0000.\n"
        "The figures below are of the 6 queries held out.\n\n"
        "run            weight      RR\n"
        "─────────────  ──────  ──────\n"
        "good.run          0.9  1.0000\n"
        "bad.run           0.1  0.5000\n"
        "equal weights          0.5000\n"
        "tuned weights          1.0000\n"
    )
    assert "tuned weights against good.run in RR: the same on every query." in out
    assert "seed 0" in out
    assert err.startswith("2 runs: 12 queries, 36 documents")
    assert Path("fused.run").read_text().splitlines()[0].startswith("q0 Q0 yes 1 0.9 rankproof-weighted")


def test_tuning_as_json_is_the_contract(judged: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["fuse", "bad.run", "good.run", "--tune", "qrels.txt", "-m", "RR", "--format", "json", "--seed", "3"]
    assert run(arguments) == 0
    first = capfd.readouterr().out
    data = json.loads(first)
    assert data["schema_version"] == 1
    assert data["method"] == "weighted"
    assert data["measure"] == "RR"
    assert data["seed"] == 3
    assert data["weights"] == [{"run": "bad.run", "weight": 0.1}, {"run": "good.run", "weight": 0.9}]
    assert data["train"]["value"] == 1.0
    assert data["train"]["best_single"] == "good.run"
    assert [(one["name"], one["mean"]) for one in data["held_out"]["runs"]] == [
        ("bad.run", 0.5), ("good.run", 1.0), ("equal weights", 0.5), ("tuned weights", 1.0),
    ]  # fmt: skip
    assert data["held_out"]["comparison"]["p_value"] == 1.0
    assert len(data["train"]["query_ids"]) == len(data["held_out"]["query_ids"]) == 6
    assert run(arguments) == 0
    assert capfd.readouterr().out == first


def test_tuning_does_not_depend_on_the_order_of_lines(judged: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["fuse", "good.run", "bad.run", "--tune", "qrels.txt", "-m", "RR", "--split", "0.25"]
    assert run(arguments) == 0
    first = capfd.readouterr().out
    for name in ("qrels.txt", "good.run", "bad.run"):
        lines = Path(name).read_text().splitlines(keepends=True)
        random.Random(5).shuffle(lines)
        Path(name).write_text("".join(lines))
    assert run(arguments) == 0
    assert capfd.readouterr().out == first
    assert "on 3 queries" in first


def test_too_few_judged_queries_are_not_measured(judged: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["fuse", "good.run", "bad.run", "--tune", "qrels.txt", "--split", "0.95"]) == 4
    assert "Of 12 judged queries 11 would choose the weights and 1 judge them" in capfd.readouterr().err
    assert run(["fuse", "good.run", "bad.run", "--tune", "qrels.txt", "--split", "2"]) == 2
    assert "lies between 0 and 1" in capfd.readouterr().err
