from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from rankproof.cli.main import run

QRELS = "q1 0 a 2\nq1 0 b 0\nq2 0 c 1\n"
GOOD = "q1 Q0 a 1 2.5 good\nq1 Q0 b 2 1.5 good\nq2 Q0 c 1 3 good\n"
POOR = "q1 Q0 b 1 2.5 poor\nq1 Q0 a 2 1.5 poor\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"qrels.txt": QRELS, "good.run": GOOD, "poor.run": POOR}.items():
        Path(name).write_text(text)
    return tmp_path


def test_runs_stand_side_by_side(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "qrels.txt", "good.run", "poor.run", "-m", "RR", "-m", "P@1"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[:4] == [
        "measure  good.run  poor.run",
        "───────  ────────  ────────",
        "RR         1.0000    0.2500",
        "P@1        1.0000    0.0000",
    ]
    assert "poor.run: 2 of 2 judged queries scored · 1 missing from the run" in out
    assert "rules: default (ties=trec, missing=zero" in out
    assert "qrels.txt: 3 judgments of 2 queries" in err


def test_json_is_the_contract(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["score", "qrels.txt", "poor.run", "-m", "RR", "--format", "json", "--per-query"]
    assert run(arguments) == 0
    first = capfd.readouterr().out
    data = json.loads(first)
    assert data["schema_version"] == 1
    assert data["measures"] == ["RR"]
    assert data["preset"] == "default"
    assert data["rules"]["missing"] == "zero"
    (one,) = data["runs"]
    assert one["name"] == "poor.run"
    assert one["mean"] == {"RR": 0.25}
    assert one["by_query"] == {"q1": {"RR": 0.5}, "q2": {"RR": 0.0}}
    assert one["coverage"]["n_missing"] == 1
    assert one["coverage"]["missing"] == ["q2"]
    run(arguments)
    assert capfd.readouterr().out == first


def test_csv_and_tsv_have_full_precision(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "qrels.txt", "poor.run", "-m", "nDCG@2", "--format", "csv", "--quiet"]) == 0
    out, err = capfd.readouterr()
    assert out == "run,query,measure,value\npoor.run,all,nDCG@2,0.31546487678572877\n"
    assert err == ""
    assert run(["score", "qrels.txt", "poor.run", "-m", "RR", "--format", "tsv", "-q"]) == 0
    assert capfd.readouterr().out.splitlines()[1] == "poor.run\tq1\tRR\t0.5"


def test_csv_cells_that_a_spreadsheet_would_run_are_disarmed(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("qrels.txt").write_text("=1+1 0 a 1\n")
    Path("bad.run").write_text("=1+1 Q0 a 1 1 t\n")
    assert run(["score", "qrels.txt", "bad.run", "-m", "RR", "--format", "csv", "-q"]) == 0
    assert "bad.run,'=1+1,RR,1.0" in capfd.readouterr().out


def test_trec_prints_what_trec_eval_prints(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["score", "qrels.txt", "good.run", "-m", "map", "-m", "P_5", "-m", "num_ret", "--format", "trec", "-q"]
    assert run(arguments) == 0
    assert capfd.readouterr().out == (
        "map                   \tq1\t1.0000\n"
        "P_5                   \tq1\t0.2000\n"
        "num_ret               \tq1\t2\n"
        "map                   \tq2\t1.0000\n"
        "P_5                   \tq2\t0.2000\n"
        "num_ret               \tq2\t1\n"
        "runid                 \tall\tgood\n"
        "map                   \tall\t1.0000\n"
        "P_5                   \tall\t0.2000\n"
        "num_ret               \tall\t3\n"
    )


def test_groups_come_from_a_tsv(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("groups.tsv").write_text("q1\thard\nq2\teasy\n")
    assert run(["score", "qrels.txt", "poor.run", "-m", "RR", "--group-by", "groups.tsv", "--format", "json"]) == 0
    (one,) = json.loads(capfd.readouterr().out)["runs"]
    assert one["by_group"] == {"easy": {"RR": 0.0}, "hard": {"RR": 0.5}}
    assert one["group_sizes"] == {"easy": 1, "hard": 1}


def test_a_group_file_with_a_query_in_two_groups_is_refused(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("groups.tsv").write_text("q1\thard\nq1\teasy\n")
    assert run(["score", "qrels.txt", "poor.run", "-m", "RR", "--group-by", "groups.tsv"]) == 3
    assert "groups.tsv:2: query 'q1' is in two groups, 'hard' and 'easy'" in capfd.readouterr().err


def test_the_result_goes_into_a_file_whole(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "qrels.txt", "good.run", "-m", "RR", "--format", "json", "-o", "out.json"]) == 0
    assert json.loads(Path("out.json").read_text())["runs"][0]["mean"] == {"RR": 1.0}
    assert capfd.readouterr().out == ""
    assert sorted(p.name for p in files.iterdir()) == ["good.run", "out.json", "poor.run", "qrels.txt"]


def test_a_result_that_cannot_be_written_is_an_error(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "qrels.txt", "good.run", "-m", "RR", "-o", "no/such/folder/out.json"]) == 3
    assert "cannot be written" in capfd.readouterr().err


@pytest.mark.parametrize("packed", [False, True])
def test_a_dash_is_standard_input(
    files: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    data = GOOD.encode()

    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(gzip.compress(data) if packed else data))

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert run(["score", "qrels.txt", "-", "-m", "RR", "--format", "csv"]) == 0
    assert capfd.readouterr().out.splitlines()[1] == "<stdin>,all,RR,1.0"


def test_presets_change_the_number_and_say_so(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "qrels.txt", "poor.run", "-m", "RR", "--preset", "trec_eval"]) == 0
    out = capfd.readouterr().out
    assert "RR         0.5000" in out
    assert "1 of 2 judged queries scored · 1 missing from the run" in out
    assert "rules: trec_eval (ties=trec, missing=skip" in out


def test_terminal_escapes_in_ids_are_not_sent_to_the_terminal(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("qrels.txt").write_text("q\u202e1 0 a 1\n")
    Path("esc.run").write_text("q\u202e1 Q0 a 1 1 t\n")
    assert run(["score", "qrels.txt", "esc.run", "-m", "RR", "--per-query"]) == 0
    assert "\u202e" not in capfd.readouterr().out


def test_judgments_and_run_in_the_wrong_order_are_told_so(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "good.run", "qrels.txt", "-m", "RR"]) == 3
    err = capfd.readouterr().err
    assert "good.run: cannot tell what kind of qrels file this is" in err
    assert "It looks like a run file (query Q0 document rank score tag): judgments come first, then the runs." in err


def test_a_metrics_config_says_what_is_measured_and_what_about_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 2\nq1 0 b 1\nq2 0 a 1\n")
    Path("x.run").write_text("q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\nq2 Q0 a 1 1 x\n")
    Path("y.run").write_text("q1 Q0 a 1 2 y\nq2 Q0 b 1 2 y\nq2 Q0 a 2 1 y\n")
    Path("metrics.yaml").write_text(
        "retrieval_metrics:\n  enabled_metrics: [hit@1, ndcg@5, map@10]\n  graded_relevance: false\n"
        "  statistical_analysis: {alpha_level: 0.1}\n"
    )
    assert run(["score", "qrels.txt", "x.run", "y.run", "--metrics-config", "metrics.yaml", "--format", "json"]) == 0
    data = json.loads(capfdbinary.readouterr().out)
    assert data["measures"] == ["Success@1", "nDCG(gain='binary')@5", "AP@10"]
    # Binary gain: the order of two relevant documents does not matter.
    assert data["runs"][0]["mean"]["nDCG(gain='binary')@5"] == 1.0
    assert data["runs"][1]["interval"]["Success@1"] == [0.0, 1.0]
    assert len(data["comparisons"]) == 3
    Path("metrics.yaml").write_text("retrieval_metrics: {enabled_metrics: [hitt@1]}\n")
    assert run(["score", "qrels.txt", "x.run", "--metrics-config", "metrics.yaml"]) == 2
    assert b"metrics.yaml:1" in capfdbinary.readouterr().err
