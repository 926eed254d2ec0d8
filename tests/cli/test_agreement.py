from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest

from rankproof.cli.main import run

QRELS = "q1 0 a 1\nq1 0 b 1\nq2 0 a 1\n"
# Under RR `first` beats `second` and `third`, under R@2 `second` beats it; `third` finds nothing at the top.
RUNS = {
    "first.run": "q1 Q0 a 1 9 t\nq1 Q0 x 2 8 t\nq2 Q0 a 1 9 t\n",
    "second.run": "q1 Q0 x 1 9 t\nq1 Q0 a 2 8 t\nq1 Q0 b 3 7 t\nq2 Q0 a 1 9 t\n",
    "third.run": "q1 Q0 x 1 9 t\nq1 Q0 y 2 8 t\nq2 Q0 x 1 9 t\nq2 Q0 a 2 8 t\n",
}
THREE = ["first.run", "second.run", "third.run"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"qrels.txt": QRELS, "other.txt": "q1 0 x 1\nq2 0 x 1\n", **RUNS}.items():
        Path(name).write_text(text)
    return tmp_path


def test_correlate_shows_the_orders_and_the_swap(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["correlate", "qrels.txt", *THREE, "-m", "RR", "-m", "R@3"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[:5] == [
        "system              RR         R@3",
        "──────────  ──────────  ──────────",
        "first.run   1.0000 (1)  0.7500 (2)",
        "second.run  0.7500 (2)  1.0000 (1)",
        "third.run   0.2500 (3)  0.5000 (3)",
    ]
    assert "R@3  0.3333" in out
    assert "RR and R@3, pairs of systems that change places: 1 of 3\n" in out
    assert "  first.run is above second.run by 0.2500, then below by 0.2500\n" in out
    assert "note: with 3 systems τ says little" in out
    assert "qrels.txt: 3 judgments of 2 queries" in err


def test_correlate_holds_judgments_against_others(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["correlate", "qrels.txt", *THREE, "-m", "RR", "--against", "other.txt", "--format", "json", "--quiet"]
    assert run(arguments) == 0
    out, err = capfd.readouterr()
    assert err == ""
    data = json.loads(out)
    assert data["between_measures"] == []
    (found,) = data["between_judgments"]
    assert found["first"] == {"measure": "RR", "judgments": "qrels.txt"}
    assert found["second"] == {"measure": "RR", "judgments": "other.txt"}
    # By the other judgments third 1, second 0.5, first 0.25: the order turned round.
    assert (found["tau"], found["tau_ap"], len(found["swaps"])) == (-1.0, -1.0, 3)


def test_overlap_needs_no_judgments(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["overlap", "first.run", "second.run", "-p", "0.5", "--format", "csv"]) == 0
    out, err = capfd.readouterr()
    (row,) = csv.DictReader(io.StringIO(out))
    # q1: a x against x a b. Depth 1: nothing; depth 2: all; depth 3: (2 + 2/2 · 1) / 3, all: 1/2. q2: the same.
    assert row["rbo"] == "0.75"
    assert (row["run"], row["other_run"], row["queries"], row["overlap@1"]) == ("first.run", "second.run", "2", "0.5")
    assert "first.run: 3 results for 2 queries" in err


def test_overlap_prints_the_queries_that_one_run_lacks(capfd: pytest.CaptureFixture[str]) -> None:
    Path("short.run").write_text("q1 Q0 a 1 9 t\n")
    assert run(["overlap", "first.run", "short.run"]) == 0
    assert "1 query is in first.run but not in short.run, and in no figure: q2" in capfd.readouterr().out


def test_discriminate_counts_pairs_and_prints_the_seed(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["discriminate", "qrels.txt", *THREE, "-m", "RR", "--permutations", "500", "--seed", "3"]
    assert run([*arguments, "--svg", "asl.svg"]) == 0
    out = capfd.readouterr().out
    assert out.splitlines()[2].split()[:4] == ["RR", "0", "of", "3"]
    assert "3 systems · paired randomisation test, two-sided, 500 permutations, seed 3" in out
    assert Path("asl.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert run([*arguments, "--format", "json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert (data["schema_version"], data["seed"], data["permutations"], data["alpha"]) == (1, 3, 500, 0.05)
    # Two queries have four assignments of signs: p is 1/2 at least.
    assert [pair["p_value"] for pair in data["measures"][0]["asl"]] == [1.0, 0.5, 0.5]


COMMANDS = {
    "correlate": ["correlate", "qrels.txt", *THREE, "-m", "RR", "-m", "R@3", "--against", "other.txt"],
    "overlap": ["overlap", *THREE],
    "discriminate": ["discriminate", "qrels.txt", *THREE, "-m", "RR", "-m", "AP", "--permutations", "100"],
}


@pytest.mark.parametrize("form", ["text", "json", "csv"])
@pytest.mark.parametrize("verb", COMMANDS)
def test_the_same_input_gives_the_same_bytes_also_with_its_lines_shuffled(
    verb: str, form: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    many = random.Random(5)
    for name in THREE:
        lines = [f"q{q} Q0 d{d} 1 {many.randrange(8)} t\n" for q in range(25) for d in many.sample(range(20), 12)]
        Path(name).write_text("".join(lines))
    for name in ("qrels.txt", "other.txt"):
        Path(name).write_text("".join(f"q{q} 0 d{d} {many.randrange(3)}\n" for q in range(25) for d in range(9)))
    arguments = [*COMMANDS[verb], "--format", form, "--quiet"]
    assert run(arguments) == 0
    first = capfdbinary.readouterr().out
    assert run(arguments) == 0
    assert capfdbinary.readouterr().out == first
    for name in ("qrels.txt", "other.txt", *THREE):
        lines = Path(name).read_text().splitlines(keepends=True)
        many.shuffle(lines)
        Path(name).write_text("".join(lines))
    assert run(arguments) == 0
    assert capfdbinary.readouterr().out == first


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_result_goes_into_a_file(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*COMMANDS[verb], "--format", "json", "-o", "out.json", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["schema_version"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["correlate", "qrels.txt", "first.run"], 2, "takes 2 runs or more, not 1; add the runs of other systems"),
        (["correlate", "qrels.txt", *THREE, "-m", "RR"], 2, "Name two measures or more, or other judgments"),
        (["correlate", "qrels.txt", *THREE, "-m", "ndgc"], 2, "Did you mean 'nDCG'"),
        (["correlate", "qrels.txt", *THREE, "--against", "none.txt"], 3, "none.txt"),
        (["overlap", "first.run"], 2, "takes 2 runs or more, not 1; add another run"),
        (["overlap", "first.run", "second.run", "-p", "1"], 2, "lies between 0 and 1, as in 0.9"),
        (["overlap", "first.run", "second.run", "--depth", "0"], 2, "1 or more; 0 is none"),
        (["overlap", "first.run", "strange.run"], 3, "no query is in both: first.run has 'q1', 'q2' …"),
        (["discriminate", "qrels.txt", *THREE[:2]], 2, "Discriminative power takes 3 runs or more, not 2"),
        (["discriminate", "qrels.txt", *THREE, "--alpha", "5"], 2, "between 0 and 1, as in 0.05; 5 does not"),
        (["discriminate", "qrels.txt", *THREE, "--permutations", "0"], 2, "at least 1 permutation"),
    ],
)
def test_a_wrong_call_says_the_way_out(
    arguments: list[str], code: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("strange.run").write_text("other Q0 a 1 9 t\n")
    assert run(arguments) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_preset_that_skips_missing_queries_is_refused_where_runs_differ(capfd: pytest.CaptureFixture[str]) -> None:
    Path("short.run").write_text("q1 Q0 a 1 9 t\n")
    assert run(["correlate", "qrels.txt", "first.run", "short.run", "--preset", "trec_eval"]) == 3
    err = capfd.readouterr().err
    assert "different queries: only first.run has q2. Under these rules a query missing from a run is left out" in err
