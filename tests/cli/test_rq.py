"""`rankproof rq` from the outside: a story and queries in, verdict, figures and exit codes out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from rankproof.cli import main
from rankproof.cli.main import run

STORY = """\
"Part One" group begin
  Sc1 group begin
    Sc1 describes "A storm gathers over the sea."
  Sc1 group end
  Sc2 group begin
    Sc2 describes "The bell rings in the tower."
  Sc2 group end
  Sc3 group begin
    Marcus meets Anna at Village
  Sc3 group end
  Sc4 group begin
  Sc4 group end
"Part One" group end
"""
GOOD = [
    {"id": "q1", "query": "storm over the sea", "relevant": ["Sc1"], "group": "event"},
    {"id": "q2", "query": "Marcus and Anna", "relevant": ["Sc3"], "topK": 1, "group": "who"},
    {"id": "q3", "query": "a mood", "relevant": []},
]
BAD = [{"id": "q1", "query": "storm over the sea", "relevant": ["Sc2"]}]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(main.VERBS, "rq", "Measure the Retrieval Quality of a story.")
    (tmp_path / "story.cnl").write_text(STORY)
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    (tmp_path / "bad.json").write_text(json.dumps({"queries": BAD}))
    return tmp_path


def measured(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert run(["rq", *arguments, "--format", "json", "--quiet"]) == code
    found: dict[str, Any] = json.loads(capfdbinary.readouterr().out)
    return found


def said(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str, code: int = 0) -> str:
    assert run(["rq", *arguments]) == code
    return capfdbinary.readouterr().out.decode()


def test_it_passes_with_0_and_prints_the_verdict_in_words(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    text = said(capfdbinary, "story.cnl", "good.json")
    assert text.startswith("RQ 1.0000 with profile vsa: passes, above the threshold of 0.6 (2 queries")
    assert "vsa: no miss, the first scene is relevant for every labelled query." in text
    assert "3 queries, 2 scored\n1 skipped (no_ground_truth): q3\n" in text
    assert "1 scene has no text and came last each time" in text


def test_it_fails_with_1_and_shows_what_came_first(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    text = said(capfdbinary, "story.cnl", "bad.json", "--profile", "bow", code=1)
    assert text.startswith("RQ 0.5000 with profile bow: FAILS, not above the threshold of 0.6 (1 query)")
    assert "came first  Sc1 (0.8165)\n      relevant    Sc2, the first of them at rank 2" in text


@pytest.mark.parametrize(("threshold", "code"), [("0.49", 0), ("0.5", 1), ("0", 0)])
def test_the_threshold_is_an_option_and_strict(threshold: str, code: int) -> None:
    assert run(["rq", "story.cnl", "bad.json", "--threshold", threshold]) == code


def test_json_has_the_value_in_front_and_every_query(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    found = measured(capfdbinary, "story.cnl", "good.json")
    front = {"schema_version": 1, "metric": "RQ", "profile": "vsa", "value": 1.0, "pass": True, "reason": None}
    assert {key: found[key] for key in front} == front
    assert found["threshold"] == 0.6
    (profile,) = found["profiles"]
    assert profile["index"] == {"scenes": 4, "empty_scenes": 1, "bytes": 4 * 1256}
    assert [(row["id"], row["rank"], row["k"], row["recall_at_k"]) for row in profile["queries"]] == [
        ("q1", 1, 5, 1.0),
        ("q2", 1, 1, 1.0),
    ]
    assert profile["skipped"] == [{"id": "q3", "query": "a mood", "reason": "no_ground_truth"}]
    assert profile["by_group"]["who"] == {
        "n": 1,
        "mrr": 1.0,
        "recall_at_k": 1.0,
        "recall_at_5": 1.0,
        "recall_at_10": 1.0,
    }
    assert {"mrr", "recall_at_5", "recall_at_10", "recall_at_k", "n_queries", "n_scored", "interval"} <= profile.keys()
    assert (found["preset"], found["comparisons"]) == ("rq", [])


@pytest.mark.parametrize(
    ("story", "queries", "reason"),
    [
        ("", json.dumps(GOOD), "no_scenes"),
        ("// nothing\n", json.dumps(GOOD), "no_scenes"),
        ("Sc1 group begin\nSc1 group end\n", '[{"id": "q", "query": "x", "relevant": ["Sc1"]}]', "no_text"),
        (STORY, "[]", "no_ground_truth"),
        (STORY, "", "no_ground_truth"),
        (STORY, '{"queries": []}', "no_ground_truth"),
        (STORY, '{"queries": [{"id": "q", "query": "x", "relevant": []}]}', "no_ground_truth"),
    ],
)
def test_without_scenes_or_labels_value_and_pass_are_null_with_a_reason_and_exit_5(
    files: Path, capfdbinary: pytest.CaptureFixture[bytes], story: str, queries: str, reason: str
) -> None:
    (files / "a.cnl").write_text(story)
    (files / "a.json").write_text(queries)
    found = measured(capfdbinary, "a.cnl", "a.json", code=5)
    assert (found["value"], found["pass"], found["reason"]) == (None, None, reason)
    text = said(capfdbinary, "a.cnl", "a.json", "--profile", "bow", code=5)
    assert text.startswith("RQ not measured with profile bow: ")
    assert f"({reason})" in text


def test_a_scene_that_is_not_there_is_bad_input_with_the_nearest(
    files: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (files / "a.json").write_text('[{"id": "q", "query": "x", "relevant": ["Sc11"]}]')
    assert run(["rq", "story.cnl", "a.json", "--quiet"]) == 3
    error = capfdbinary.readouterr().err.decode()
    assert error == "rankproof: a.json: query 'q': 'Sc11' is no scene of the story. Did you mean 'Sc1'?\n"


def test_all_faults_of_a_story_are_told_with_their_lines(
    files: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (files / "a.cnl").write_text('Sc1 group begin\nSc1 describes "x\nSc2 group end\n')
    assert run(["rq", "a.cnl", "good.json", "--quiet"]) == 3
    lines = capfdbinary.readouterr().err.decode().splitlines()
    assert [line.split(":")[2] for line in lines] == ["2", "3", "1"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["story.cnl", "none.json"], 3),
        (["none.cnl", "good.json"], 3),
        (["story.cnl", "good.json", "--profile", "vsaa"], 2),
        (["story.cnl", "good.json", "--threshold", "1"], 2),
        (["story.cnl", "good.json", "--profile", "bow", "--profile", "basic"], 2),
        (["story.cnl"], 2),
    ],
)
def test_exit_codes_of_wrong_calls(arguments: list[str], code: int) -> None:
    assert run(["rq", *arguments]) == code


def test_what_describes_outside_every_scene_is_remarked(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (files / "a.cnl").write_text(f'World describes "All of it."\n{STORY}')
    assert run(["rq", "a.cnl", "good.json"]) == 0
    assert "a.cnl:1: 1 `describes` line stands outside every scene" in capfdbinary.readouterr().err.decode()


def test_two_profiles_stand_side_by_side_and_the_first_decides(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    folder = resources.files("rankproof.demo").joinpath("story")
    files = [str(folder.joinpath("story.cnl")), str(folder.joinpath("queries.json"))]
    text = said(capfdbinary, *files, "--profile", "vsa", "--profile", "bow", "--misses", "2")
    assert "RQ, the mean reciprocal rank  0.6820  0.6924" in text
    assert "bow − vsa on 43 queries" in text
    assert "bow against vsa in RR: no difference shown." in text
    assert "paraphrase        9   0.0879   0.1281" in text
    assert "… and 13 more; --misses 15 shows them" in text
    found = measured(capfdbinary, *files, "--profile", "basic", "--profile", "vsa")
    assert [one["profile"] for one in found["profiles"]] == ["bow", "vsa"]
    assert (found["profile"], found["value"]) == ("bow", found["profiles"][0]["value"])
    (comparison,) = found["comparisons"]
    assert (comparison["baseline"], comparison["candidate"], comparison["n"]) == ("bow", "vsa", 43)


def test_a_labelled_gold_set_of_another_kind_works_too(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (files / "gold.csv").write_text("query,ideal_page,category\nstorm,Sc1,event\n")
    assert measured(capfdbinary, "story.cnl", "gold.csv")["value"] == 1.0


def test_the_same_input_gives_the_same_bytes_in_another_process_and_folder(files: Path) -> None:
    outputs = set()
    for seed, name in (("0", "a"), ("7", "b")):
        folder = files / name
        folder.mkdir()
        for file in ("story.cnl", "good.json"):
            (folder / file).write_bytes((files / file).read_bytes())
        call = ["rq", "story.cnl", "good.json", "--format", "json", "--profile", "vsa", "--profile", "bow"]
        script = f"from rankproof.cli import main\nmain.VERBS.setdefault('rq', '')\nassert main.run({call}) == 0"
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=folder, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        )  # fmt: skip
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_the_result_goes_into_a_file_if_one_is_named(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["rq", "story.cnl", "good.json", "--format", "json", "-o", "out.json", "--quiet"]) == 0
    assert capfdbinary.readouterr() == (b"", b"")
    assert json.loads((files / "out.json").read_text())["value"] == 1.0


def test_what_would_act_on_a_terminal_is_neutralised(files: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (files / "a.cnl").write_text('"Sc 1" group begin\nx describes "storm"\n"Sc 1" group end\n' + STORY)
    entry = {"id": "\x1b[31mq", "query": "bell\u202e", "relevant": ["Sc 1"]}
    (files / "a.json").write_text(json.dumps([entry]))
    text = said(capfdbinary, "a.cnl", "a.json", code=1)
    assert "\x1b" not in text
    assert "\u202e" not in text
