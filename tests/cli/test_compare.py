"""`rankproof compare` from the outside: files in, text, JSON, CSV, Markdown and LaTeX out."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from rankproof.cli.main import run

N = 30


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """30 queries with one relevant document each, at ranks that differ between three runs."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(7)
    Path("qrels.txt").write_text("".join(f"q{q} 0 d0 1\n" for q in range(N)))
    for name, worst in (("bm25.run", 8), ("dense.run", 4), ("hybrid.run", 2)):
        lines = []
        for q in range(N):
            at = rng.randint(1, worst)
            docs = [f"x{i}" for i in range(1, 10)]
            docs.insert(at - 1, "d0")
            lines += [f"q{q} Q0 {doc} {i} {100 - i} {name}\n" for i, doc in enumerate(docs, 1)]
        Path(name).write_text("".join(lines))
    Path("groups.tsv").write_text("".join(f"q{q}\t{'even' if q % 2 == 0 else 'odd'}\n" for q in range(N)))
    return tmp_path


def output(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> str:
    assert run(["compare", *arguments]) == 0
    return capfdbinary.readouterr().out.decode()


def test_the_plain_form_gives_the_promised_json(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    text = output(capfdbinary, "qrels.txt", "bm25.run", "dense.run", "hybrid.run", "-m", "nDCG@10", "--format", "json")
    data = json.loads(text)
    assert data["schema_version"] == 1
    assert [(c["baseline"], c["candidate"]) for c in data["comparisons"]] == [
        ("bm25.run", "dense.run"), ("bm25.run", "hybrid.run"),
    ]  # fmt: skip
    promised = {
        "baseline", "candidate", "measure", "n", "mean_baseline", "mean_candidate", "difference", "interval",
        "p_value", "p_adjusted", "effect_size", "wins", "ties", "losses",
    }  # fmt: skip
    for one in data["comparisons"]:
        assert promised <= one.keys()
        assert one["difference"] == pytest.approx(one["mean_candidate"] - one["mean_baseline"])
        assert one["interval"][0] < one["difference"] < one["interval"][1]
        assert one["wins"] + one["ties"] + one["losses"] == one["n"] == N
    assert data["method"]["seed"] == 0
    assert data["method"]["permutations"] == 100_000


def _values(run_name: str, measure: str, capfdbinary: pytest.CaptureFixture[bytes]) -> dict[str, float]:
    assert run(["score", "qrels.txt", run_name, "-m", measure, "--per-query", "--format", "json", "--quiet"]) == 0
    runs: list[Any] = json.loads(capfdbinary.readouterr().out)["runs"]
    return {query: row[measure] for query, row in runs[0]["by_query"].items()}


def test_its_figures_are_those_of_scipy(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    old, new = (_values(name, "nDCG@10", capfdbinary) for name in ("bm25.run", "dense.run"))
    before, after = np.array(list(old.values())), np.array([new[query] for query in old])
    arguments = ("qrels.txt", "bm25.run", "dense.run", "-m", "nDCG@10", "--format", "json")
    (one,) = json.loads(output(capfdbinary, *arguments))["comparisons"]
    sampled = scipy.stats.permutation_test(
        (after - before,), np.mean, permutation_type="samples", n_resamples=50_000, rng=np.random.default_rng(1)
    )
    assert one["p_value"] == pytest.approx(sampled.pvalue, abs=4 * (0.25 / 50_000) ** 0.5)
    assert one["interval"] == pytest.approx(list(scipy.stats.ttest_rel(after, before).confidence_interval()))
    (wilcoxon,) = json.loads(output(capfdbinary, *arguments, "--test", "sign"))["comparisons"]
    binomial = scipy.stats.binomtest(wilcoxon["wins"], wilcoxon["wins"] + wilcoxon["losses"])
    assert wilcoxon["p_value"] == pytest.approx(binomial.pvalue)


def test_the_same_bytes_whatever_the_order_of_lines_the_folder_and_the_hash_seed(files: Path) -> None:
    def bytes_of(folder: Path, **environment: str) -> bytes:
        arguments = ["compare", "qrels.txt", "bm25.run", "hybrid.run", "--format", "json", "--interval", "bca"]
        command = [sys.executable, "-m", "rankproof", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True, env={**os.environ, **environment})
        return done.stdout

    other = files / "elsewhere" / "deeper"
    other.mkdir(parents=True)
    (other / "hybrid.run").write_bytes((files / "hybrid.run").read_bytes())
    for name in ("qrels.txt", "bm25.run"):
        rows = (files / name).read_text().splitlines(keepends=True)
        random.Random(1).shuffle(rows)
        (other / name).write_text("".join(rows))
    first = bytes_of(files, PYTHONHASHSEED="1")
    assert bytes_of(files, PYTHONHASHSEED="2", OPENBLAS_NUM_THREADS="1", LC_ALL="C") == first
    assert bytes_of(other, PYTHONHASHSEED="3") == first


def test_the_text_says_it_in_words(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    text = output(capfdbinary, "qrels.txt", "bm25.run", "dense.run", "hybrid.run", "-m", "RR", "--margin", "0.05")
    assert "c  hybrid.run" in text
    assert "hybrid.run against bm25.run in RR: better by" in text
    assert "not worse by 0.05 or more: shown" in text
    assert (
        "A raised letter names a system that this one is better than, p < 0.05 after Holm's correction over 2" in text
    )
    assert "seed 0" in text
    assert "rules: default" in text
    assert "Largest gains and losses in RR, bm25.run → hybrid.run" in text


def test_raised_letters_name_the_systems_that_are_beaten(
    files: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:  # fmt: skip
    arguments = ("qrels.txt", "bm25.run", "hybrid.run", "-m", "RR")
    assert "ᵃ" in output(capfdbinary, *arguments)
    assert "<sup>a</sup>" in output(capfdbinary, *arguments, "--format", "markdown")
    latex = output(capfdbinary, *arguments, "--format", "latex")
    assert "$^{a}$" in latex
    for command in ("\\toprule", "\\midrule", "\\bottomrule", "\\begin{tabular}{lr}"):
        assert command in latex
    backwards = output(capfdbinary, *arguments, "--baseline", "hybrid.run", "--format", "markdown")
    assert "b  hybrid.run | 0.7" in backwards
    assert backwards.count("<sup>a</sup>") == 1


def test_csv_has_one_row_per_comparison_and_group(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments = ("qrels.txt", "bm25.run", "dense.run", "-m", "RR", "-m", "P@1", "--group-by", "groups.tsv")
    rows = list(csv.DictReader(io.StringIO(output(capfdbinary, *arguments, "--format", "csv"))))
    assert [(row["group"], row["measure"]) for row in rows] == [
        ("", "RR"), ("", "P@1"), ("even", "RR"), ("even", "P@1"), ("odd", "RR"), ("odd", "P@1"),
    ]  # fmt: skip
    assert [row["n"] for row in rows] == ["30", "30", "15", "15", "15", "15"]


def test_score_files_compare_as_their_runs_do(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for name in ("bm25", "dense"):
        arguments = ["qrels.txt", f"{name}.run", "-m", "RR", "-m", "AP", "--per-query", "--format", "json"]
        assert run(["score", *arguments, "-o", f"{name}.json", "--quiet"]) == 0
    from_scores = output(capfdbinary, "bm25.json", "dense.json", "-m", "RR", "--format", "json")
    assert from_scores == output(capfdbinary, "qrels.txt", "bm25.run", "dense.run", "-m", "RR", "--format", "json")


def test_scores_of_trec_eval_compare_with_a_note(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for name in ("bm25", "dense"):
        arguments = ["qrels.txt", f"{name}.run", "-m", "map", "--per-query", "--format", "trec"]
        assert run(["score", *arguments, "-o", f"{name}.eval", "--quiet"]) == 0
    text = output(capfdbinary, "--scores", "bm25.eval", "dense.eval")
    assert "rules: not recorded in the files" in text
    assert "could not be checked" in text


def test_scores_against_other_judgments_are_refused(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "other.txt").write_text("".join(f"q{q} 0 d0 2\n" for q in range(N)))
    for qrels, name in (("qrels.txt", "bm25"), ("other.txt", "dense")):
        arguments = [qrels, f"{name}.run", "-m", "RR", "--per-query", "--format", "json", "--quiet"]
        assert run(["score", *arguments, "-o", f"{name}.json"]) == 0
    assert run(["compare", "bm25.json", "dense.json"]) == 3
    assert "different judgments" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["qrels.txt", "bm25.run"], 2, "at least two runs"),
        (["qrels.txt", "bm25.run", "nowhere.run"], 3, "nowhere.run: there is no such file"),
        (["qrels.txt", "bm25.run", "dense.run", "-m", "ndgc@10"], 2, "Did you mean 'nDCG'"),
        (["qrels.txt", "bm25.run", "dense.run", "--test", "anova"], 2, "anova"),
        (["qrels.txt", "bm25.run", "dense.run", "--level", "95"], 2, "Did you mean 0.95?"),
        (["qrels.txt", "bm25.run", "dense.run", "--permutations", "0"], 2, "at least 1 permutation"),
        (["qrels.txt", "bm25.run", "dense.run", "--interval", "bca", "--resamples", "0"], 2, "at least 1 resample"),
        (["qrels.txt", "bm25.run", "dense.run", "--baseline", "dens.run"], 2, "Did you mean 'dense.run'"),
        (["qrels.txt", "bm25.run", "short.run", "--preset", "trec_eval"], 3, "only bm25.run has q1, q10, q11"),
        (["empty.json", "empty.json"], 3, "is not a file of scores"),
        (["--scores", "qrels.txt", "qrels.txt"], 3, "4 columns where 3 belong"),
    ],
)  # fmt: skip
def test_wrong_calls_and_bad_data_say_what_to_do(
    files: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:  # fmt: skip
    (files / "short.run").write_text("q0 Q0 d0 1 1 short\n")
    (files / "empty.json").write_text('{"defaults": {}, "measures": [], "preset": "default", "rules": {}}')
    assert run(["compare", *arguments]) == code
    heard = capfd.readouterr()
    assert message in heard.err
    assert heard.out == ""


def test_files_of_the_same_name_go_by_their_paths(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for folder, source in (("monday", "bm25.run"), ("friday", "dense.run")):
        (files / folder).mkdir()
        (files / folder / "x.run").write_bytes((files / source).read_bytes())
    data = json.loads(output(capfdbinary, "qrels.txt", "monday/x.run", "friday/x.run", "-m", "RR", "--format", "json"))
    assert [system["name"] for system in data["systems"]] == ["monday/x.run", "friday/x.run"]


def test_names_are_shown_literally_in_every_form(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    name = "a|b_<i>$x%{}.run"
    (files / name).write_bytes((files / "hybrid.run").read_bytes())
    arguments = ("qrels.txt", "bm25.run", name, "-m", "RR")
    assert r"a\|b\_\<i\>$x%\{\}.run" in output(capfdbinary, *arguments, "--format", "markdown")
    assert r"a|b\_\textless{}i\textgreater{}\$x\%\{\}.run" in output(capfdbinary, *arguments, "--format", "latex")
    (files / "=1+1.run").write_bytes((files / "hybrid.run").read_bytes())
    assert "'=1+1.run" in output(capfdbinary, "qrels.txt", "bm25.run", "=1+1.run", "-m", "RR", "--format", "csv")
