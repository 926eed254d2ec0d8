"""`rankproof baseline record` and `rankproof gate`: the loop that a build runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankproof.cli.main import run
from rankproof.measures import registry

N = 24
PROJECT = """\
gold: gold.csv
corpus: corpus.jsonl
pipelines:
  search: {retrieve: bm25, depth: 10}
measures: [RR]
gate: {floors: {RR: 0.4}, max_drop: {RR: 0.01}, groups: {min_size: 5}}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each query asks for the word of one document; the words are far apart."""
    monkeypatch.chdir(tmp_path)
    documents = [{"id": f"d{i}", "text": f"word{i} word{i} and common words"} for i in range(N)]
    Path("corpus.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    rows = "".join(f"find word{i},d{i},{'even' if i % 2 == 0 else 'odd'}\n" for i in range(N))
    Path("gold.csv").write_text(f"query,ideal_page,category\n{rows}")
    Path("rankproof.yaml").write_text(PROJECT)
    return tmp_path


def record() -> None:
    assert run(["baseline", "record", "--quiet"]) == 0


def spoil(*numbers: int) -> None:
    """Another document says the word of these queries more often."""
    thieves = [json.dumps({"id": f"thief{i}", "text": f"word{i} word{i} word{i}"}) for i in numbers]
    Path("corpus.jsonl").write_text(Path("corpus.jsonl").read_text() + "\n".join(thieves) + "\n")


def test_an_unchanged_pipeline_passes(capfd: pytest.CaptureFixture[str]) -> None:
    record()
    assert run(["gate", "--quiet"]) == 0
    text = capfd.readouterr().out
    assert "✓ max_drop RR, group even" in text
    assert "The gate passes." in text


def test_a_regression_turns_it_red_with_the_rule_the_group_and_the_worst_queries(
    capfd: pytest.CaptureFixture[str],
) -> None:
    record()
    spoil(*range(0, N, 2))
    assert run(["gate", "--quiet", "--junit", "gate.xml"]) == 1
    text = capfd.readouterr().out
    assert "✗ max_drop RR, group even" in text
    assert "✓ max_drop RR, group odd" in text
    assert "max_drop RR, group even, worst queries: find word0 -0.5000" in text
    assert "The gate does not pass: quality is worse." in text
    suite = ElementTree.parse("gate.xml").getroot()[0]
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["max_drop RR", "max_drop RR, group even"]


def test_a_drop_inside_the_noise_passes_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    record()
    spoil(3)
    assert run(["gate", "--quiet"]) == 0
    assert "cannot be told from noise" in capfd.readouterr().out


def test_a_floor_needs_no_baseline(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace("max_drop: {RR: 0.01}, ", "").replace("RR: 0.4", "RR: 0.9"))
    assert run(["gate", "--quiet"]) == 0
    spoil(*range(N))
    assert run(["gate", "--quiet"]) == 1
    assert "is below the floor 0.9" in capfd.readouterr().out


def test_what_could_not_be_measured_is_neither_passed_nor_worse(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:  # fmt: skip
    record()
    (project / "flaky.py").write_text(
        "def search(text, k):\n    if text.endswith('7'):\n        raise OSError('gone')\n    return ['d' + text[9:]]\n"
    )
    file = PROJECT.replace("{retrieve: bm25, depth: 10}", "{retrieve: {python: {call: 'flaky:search'}}}")
    (project / "rankproof.yaml").write_text(file)
    assert run(["gate", "--quiet", "--format", "json"]) == 4
    data = json.loads(capfd.readouterr().out)
    assert data["outcome"] == "not measured"
    assert data["pipelines"]["search"][0]["why"] == (
        "22 of 24 queries measured (91.7%); 2 failed (flaky:search raised OSError: gone): find word7, find word17; "
        "100.0% must be"
    )
    assert run(["baseline", "record", "--quiet"]) == 4
    assert "no baseline was recorded" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("find word1,d1,odd", "find word1,d2,odd", "another gold set"),
        ("", "", "missing=zero then, missing=skip now"),
    ],
)
def test_another_gold_set_or_other_rules_are_refused(
    capfd: pytest.CaptureFixture[str], project: Path, old: str, new: str, message: str
) -> None:
    record()
    if old:
        (project / "gold.csv").write_text((project / "gold.csv").read_text().replace(old, new))
    else:
        (project / "rankproof.yaml").write_text(f"{PROJECT}preset: trec_eval\n")
    assert run(["gate", "--quiet"]) == 2
    assert message in capfd.readouterr().err


def test_the_baseline_is_the_same_bytes_every_time() -> None:
    record()
    first = Path("rankproof-baseline.json").read_bytes()
    record()
    assert Path("rankproof-baseline.json").read_bytes() == first
    assert str(Path.cwd()).encode() not in first


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_the_gate_writes_the_same_bytes_twice(form: str) -> None:
    record()
    outputs = []
    for _ in range(2):
        assert run(["gate", "--quiet", "--format", form, "-o", "out", "--junit", "gate.xml"]) == 0
        outputs.append((Path("out").read_bytes(), Path("gate.xml").read_bytes()))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("replaced", "by", "message"),
    [
        ("gate: {floors: {RR: 0.4}, max_drop: {RR: 0.01}, groups: {min_size: 5}}\n", "", "There is no rule to gate by"),
        ("", "", "`rankproof baseline record` makes one"),
        ("floors: {RR: 0.4}", "flors: {RR: 0.4}", "Did you mean 'floors'"),
    ],
)
def test_wrong_use_says_what_to_do(
    capfd: pytest.CaptureFixture[str], project: Path, replaced: str, by: str, message: str
) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace(replaced, by) if replaced else PROJECT)
    assert run(["gate"]) == 2
    assert message in capfd.readouterr().err


def test_a_file_that_is_no_baseline_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    Path("x.json").write_text("{}")
    assert run(["gate", "--baseline", "x.json"]) == 3
    assert "is no baseline" in capfd.readouterr().err


def test_names_are_escaped_where_they_could_do_harm(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace("  search:", "  'a|b<i>]]>':"))
    record()
    assert run(["gate", "--quiet", "--format", "markdown", "--junit", "gate.xml"]) == 0
    assert r"a\|b\<i\>\]\]\>" in capfd.readouterr().out
    assert ElementTree.parse("gate.xml").getroot()[0].get("name") == "a|b<i>]]>"


def test_loader_and_measures_are_proven_first(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    record()
    monkeypatch.setattr(registry.family("RR"), "function", lambda judged, **parameters: judged.n_retrieved * 0.0)
    assert run(["gate", "--quiet"]) == 70
    assert "The oracle, which returns the gold, scores 0.0000 in RR" in capfd.readouterr().err


def test_queries_whose_answers_left_the_corpus_are_not_measured(capfd: pytest.CaptureFixture[str]) -> None:
    record()
    lines = Path("corpus.jsonl").read_text().splitlines(keepends=True)
    Path("corpus.jsonl").write_text("".join(lines[2:]))
    assert run(["gate", "--quiet"]) == 4
    said = (
        "22 of 24 queries measured (91.7%); 2 without a relevant document that left the corpus (`rankproof gold stale` "
        "says what became of it): find word0, find word1; 100.0% must be"
    )
    assert said in capfd.readouterr().out


def test_a_latency_that_no_stage_measured_is_not_passed(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace("gate: {", "gate: {latency: 0.5, "))
    record()
    assert run(["gate", "--quiet"]) == 4
    assert "the run has no times" in capfd.readouterr().out


def test_a_red_gate_stays_red_where_nobody_reads_it(project: Path) -> None:
    record()
    spoil(*range(0, N, 2))
    command = f"{sys.executable} -m rankproof gate --quiet --junit gate.xml | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "<failure" in Path("gate.xml").read_text()


def test_a_changed_gold_set_is_told_by_its_queries(capfd: pytest.CaptureFixture[str]) -> None:
    record()
    lines = Path("gold.csv").read_text().splitlines()
    Path("gold.csv").write_text("\n".join([*lines[:-2], "find common words,d0,even"]) + "\n")
    assert run(["gate", "--quiet"]) == 2
    told = "another gold set (1 query added: find common words; 2 queries gone: find word22, find word23)"
    assert told in capfd.readouterr().err
    record()
    Path("gold.csv").write_text("\n".join([*lines[:-2], "find common words,d1,even"]) + "\n")
    assert run(["gate", "--quiet"]) == 2
    assert "another gold set (the same queries, judged otherwise)" in capfd.readouterr().err


def test_pipelines_that_the_baseline_does_not_have_are_named(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:  # fmt: skip
    record()
    (project / "rankproof.yaml").write_text(PROJECT.replace("depth: 10}", "depth: 10}\n  fresh: {retrieve: bow}"))
    assert run(["gate"]) == 0
    assert "not in the baseline, and so not gated: fresh" in capfd.readouterr().err


def test_judgments_that_leave_the_corpus_do_not_pass_for_a_gain(capfd: pytest.CaptureFixture[str]) -> None:
    # Each query has two relevant documents, and one of each is found; without the other, recall would double.
    rows = "".join(f"find word{i},d{i}\nfind word{i},other{i}\n" for i in range(N))
    Path("gold.csv").write_text(f"query,ideal_page\n{rows}")
    found = Path("corpus.jsonl").read_text()
    others = "".join(json.dumps({"id": f"other{i}", "text": "nothing in common"}) + "\n" for i in range(N))
    Path("corpus.jsonl").write_text(found + others)
    record()
    assert run(["gate", "--quiet"]) == 0
    Path("corpus.jsonl").write_text(found)
    capfd.readouterr()
    assert run(["gate", "--quiet"]) == 4
    assert "0 of 24 queries measured (0.0%); 24 without a relevant document" in capfd.readouterr().out


def test_queries_that_are_said_to_have_no_answer_do_not_leave_the_gate_unseen(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:  # fmt: skip
    truth = {
        "version": 1,
        "queries": [
            {"id": f"q{i}", "query": f"find word{i}", "results": [{"id": f"d{i}", "relevance": "relevant"}]}
            for i in range(N)
        ],
    }
    (project / "rankproof.yaml").write_text(PROJECT.replace("gold.csv", "gold.json"))
    Path("gold.json").write_text(json.dumps(truth))
    record()
    truth["queries"][3]["noAnswerInCorpus"] = True  # type: ignore[index]
    Path("gold.json").write_text(json.dumps(truth))
    assert run(["gate", "--quiet"]) == 4
    assert "1 in the baseline and no longer scored: q3" in capfd.readouterr().out


def test_a_measure_that_only_a_rule_names_is_recorded_too(project: Path) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace("max_drop: {", "max_drop: {nDCG@5: 0.01, "))
    record()
    assert run(["gate", "--quiet"]) == 0


@pytest.mark.parametrize("measure", ["Unjudged@5", "NumRelRet", "GMAP"])
def test_what_is_no_loss_when_it_falls_has_no_largest_drop(
    measure: str, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace("max_drop: {", f"max_drop: {{{measure}: 0.01, "))
    assert run(["gate", "--quiet"]) == 2
    assert f"`max_drop` of {measure} says nothing" in capfd.readouterr().err


def test_a_pipeline_that_finds_nothing_at_all_is_worse(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    record()
    (project / "lost_index.py").write_text("def search(text, k):\n    return []\n")
    file = PROJECT.replace("{retrieve: bm25, depth: 10}", "{retrieve: {python: {call: 'lost_index:search'}}}")
    (project / "rankproof.yaml").write_text(file)
    assert run(["gate", "--quiet"]) == 1
    assert "1.0000 → 0.0000 fell by 1.0000, more than 0.01" in capfd.readouterr().out
    assert run(["eval", "--quiet"]) == 0
    assert run(["report", "--quiet"]) == 0


def test_gold_that_was_stale_when_the_baseline_was_recorded_is_no_news() -> None:
    Path("gold.csv").write_text(Path("gold.csv").read_text() + "find the gone page,gone,even\n")
    record()
    assert run(["gate", "--quiet"]) == 0
