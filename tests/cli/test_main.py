from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankproof.cli import main
from rankproof.cli.main import VERBS, run
from tests.docs.generate import unpack_demo


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help_that_agrees_with_the_list(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == 0
    assert f"rankproof {verb}" in capfd.readouterr().out
    command = main.cli.get_command(None, verb)  # type: ignore[arg-type]
    assert command is not None
    assert command.short_help == VERBS[verb]


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["scor"], 2, "There is no command called 'scor'. Did you mean 'score'?"),
        (["score"], 2, "Missing argument 'QRELS'."),
        (["score", "a", "b", "--nope"], 2, "No such option"),
        (["score", "a", "b", "--format", "xml"], 2, "'xml' is not one of"),
        (["score", "none.txt", "b.run"], 3, "none.txt: there is no such file"),
        (["explain", "a", "b"], 2, "Name one or two presets"),
        (["measures", "ndgc"], 2, "There is no measure called 'ndgc'. Did you mean 'nDCG'"),
    ],
)
def test_wrong_use_is_answered_with_a_sentence(
    arguments: list[str], code: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_bug_of_ours_has_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(main.cli, "main", broken)
    assert run([]) == 70
    assert "ZeroDivisionError: planted (this is a bug of ours" in capfd.readouterr().err


def test_an_interrupt_has_its_own_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main.cli, "main", stopped)
    assert run([]) == 130


def test_explain_prints_the_rule_and_the_queries(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    qrels, result = tmp_path / "qrels.txt", tmp_path / "some.run"
    qrels.write_text("q1 0 a 1\nq2 0 b 1\n")
    result.write_text("q1 Q0 a 1 1 t\nq1 Q0 z 2 1 t\n")
    assert run(["explain", str(qrels), str(result), "-m", "RR", "--preset", "trec_eval", "--preset", "ab"]) == 0
    out = capfd.readouterr().out
    assert "RR: 0.5000 under trec_eval, 0.5000 under ab" in out
    assert "ties: trec → id (as ab): +0.5000, 1 query\n      q1" in out
    assert "missing: skip → zero (as ab): -0.2500, 1 query\n      q2" in out
    assert run(["explain", str(qrels), str(result), "-m", "RR", "--preset", "ab", "--format", "json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["differences"][0]["changes"][0]["queries"] == ["q1"]


def test_measures_and_presets_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["measures"]) == 0
    assert "nDCG[@k]" in capfd.readouterr().out
    assert run(["measures", "ndcg_cut_10"]) == 0
    assert "gain = 'linear'" in capfd.readouterr().out
    assert run(["presets"]) == 0
    assert "sentence-transformers" in capfd.readouterr().out


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, **more}


def test_a_closed_pipe_and_a_plain_locale_give_no_traceback() -> None:
    command = [sys.executable, "-m", "rankproof", "measures", "nDCG"]
    done = subprocess.run(
        command, capture_output=True, env=environment(LANG="C", LC_ALL="C", PYTHONUTF8="0"), check=False
    )
    assert done.returncode == 0
    assert "Järvelin".encode() in done.stdout
    piped = subprocess.run(
        f"{sys.executable} -m rankproof measures | head -n 1; exit ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert piped.returncode == 0
    assert "Traceback" not in piped.stderr


def test_the_same_input_gives_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    unpack_demo(tmp_path)
    outputs = {
        subprocess.run(
            [sys.executable, "-m", "rankproof", "score", "qrels.txt", "keyword.run", "--format", "json", "-q"],
            capture_output=True, cwd=tmp_path / "rankproof-demo", env=environment(PYTHONHASHSEED=seed), check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }  # fmt: skip
    assert len(outputs) == 1


@pytest.mark.parametrize("redirection", [">&-", "2>&- >&-", "| head -1 >/dev/null"])
def test_a_closed_or_broken_stdout_is_no_fault(redirection: str) -> None:
    command = f"set -o pipefail; {sys.executable} -m rankproof measures {redirection}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_that_nobody_reads_to_its_end_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"query-{i} 0 d 1\n" for i in range(20_000)))
    (tmp_path / "some.run").write_text("query-1 Q0 d 1 1 t\n")
    scored = f"{sys.executable} -m rankproof score qrels.txt some.run --per-query --quiet"
    command = f"set -o pipefail; {scored} | head -1 >/dev/null"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_output_that_cannot_be_written_is_no_bug_of_ours(tmp_path: Path) -> None:
    full = f"{sys.executable} -m rankproof measures > /dev/full"
    done = subprocess.run(["bash", "-c", full], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr == "rankproof: standard output: cannot be written: No space left on device\n"


def test_without_a_verb_the_help_is_shown_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert capfd.readouterr().err.startswith("Usage: rankproof [OPTIONS]")
