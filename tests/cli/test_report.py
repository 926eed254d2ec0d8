"""`rankproof report`: what it holds the figures against, where the page goes, and its exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rankproof.cli.main import run
from tests.reports.shop import PROJECT, spoil_shop, write_shop

PAGE = "rankproof-report.html"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_shop(tmp_path)
    return tmp_path


def record() -> None:
    assert run(["baseline", "record", "--quiet"]) == 0


def page(name: str = PAGE) -> str:
    return Path(name).read_text(encoding="utf-8")


def test_the_page_shows_the_verdict_and_the_exit_code_is_0_whatever_it_is(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    record()
    assert run(["report"]) == 0
    assert '<p class="badge pass">' in page()
    spoil_shop(project)
    assert run(["report"]) == 0
    assert '<p class="badge worse">' in page()
    assert "max_drop nDCG@10, group billing" in page()
    out, err = capfd.readouterr()
    assert out == ""
    kilobytes = len(page().encode()) / 1000
    assert f"the report is in {PAGE} ({kilobytes:,.0f} kB)" in err


def test_a_missing_baseline_leaves_its_rules_open_and_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["report"]) == 0
    said = "There is no rankproof-baseline.json, so what may fall is not judged; "
    assert f"{said}`rankproof baseline record` makes one." in capfd.readouterr().err
    assert f"{said}<code>rankproof baseline record</code> makes one." in page()
    assert '<p class="badge not-measured">' in page()
    # The floor needs no baseline: it is judged.
    assert "at or above the floor 0.4" in page()


def test_a_missing_baseline_is_told_where_no_other_rule_is_left(project: Path) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace("floors: {RR: 0.4}, ", ""))
    assert run(["report", "--quiet"]) == 0
    assert "No verdict: 6 of 6 rules could not be decided." in page()


def test_without_rules_there_is_no_verdict_and_a_baseline_is_compared_with_all_the_same(project: Path) -> None:
    record()
    (project / "rankproof.yaml").write_text("".join(line for line in PROJECT.splitlines(True) if "gate:" not in line))
    spoil_shop(project)
    assert run(["report", "--quiet"]) == 0
    assert '<p class="badge measured">' in page()
    assert "Differences from the baseline" in page()


def test_no_gate_leaves_out_rules_and_baseline_unless_one_is_named() -> None:
    record()
    assert run(["report", "--quiet", "--no-gate"]) == 0
    assert '<p class="badge measured">' in page()
    assert "Differences from keyword" in page()
    assert run(["report", "--quiet", "--no-gate", "--baseline", "rankproof-baseline.json"]) == 0
    assert "Differences from the baseline" in page()


def test_modes_choose_the_pipelines() -> None:
    assert run(["report", "--quiet", "--no-gate", "--mode", "words", "--mode", "keyword", "-o", "two.html"]) == 0
    assert "<h1>words, keyword on gold.csv</h1>" in page("two.html")
    assert not Path(PAGE).exists()


def test_a_dash_writes_the_page_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--mode", "keyword", "--no-gate", "-o", "-"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("<!doctype html>")
    assert "the report is in" not in err


def test_a_baseline_of_another_gold_set_is_refused_with_the_way_out(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    record()
    gold = project / "gold.csv"
    gold.write_text(gold.read_text().replace(",2,", ",1,", 1))
    for arguments in (
        ["report", "--quiet"],
        ["report", "--quiet", "--no-gate", "--baseline", "rankproof-baseline.json"],
    ):
        assert run(arguments) == 2
        assert "cannot be compared with: another gold set" in capfd.readouterr().err
    assert not Path(PAGE).exists()
    assert run(["report", "--quiet", "--no-gate"]) == 0


def test_queries_that_could_not_be_measured_are_on_the_page_and_the_exit_code_is_4(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "flaky.py").write_text(
        "def search(text, k):\n    if 'card' in text:\n        raise OSError('gone')\n    return ['invoices']\n"
    )
    (project / "rankproof.yaml").write_text(
        "gold: gold.csv\ncorpus: corpus.jsonl\ncache: false\n"
        "pipelines:\n  search: {retrieve: {python: {call: 'flaky:search'}}}\n"
    )
    assert run(["report"]) == 4
    assert "3 queries could not be measured; the figures are without them." in capfd.readouterr().err
    assert "Not measured: 3 queries failed and left the means of all pipelines" in page()
    assert page().count('<tr data-o="n">') == 3


def test_without_a_corpus_there_are_no_titles_and_no_classes_of_failures(project: Path) -> None:
    Path("a.run").write_text("q1 Q0 d2 1 2.0 x\nq1 Q0 d1 2 1.0 x\nq2 Q0 d1 1 1.0 x\n")
    Path("truth.csv").write_text("query_id,query,ideal_page,category\nq1,one,d1,x\nq2,two,d1,y\n")
    Path("rankproof.yaml").write_text("gold: truth.csv\npipelines:\n  saved: {retrieve: {run: {path: a.run}}}\n")
    assert run(["report", "--quiet"]) == 0
    assert '<section id="failures">' not in page()
    data = json.loads(page().split('id="data">')[1].split("</script>")[0])
    assert data["titles"] == []
    assert data["docs"] == ["d2", "d1"]


def test_the_same_project_gives_the_same_bytes_in_another_folder(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    record()
    spoil_shop(project)
    assert run(["report", "--quiet"]) == 0
    other = tmp_path_factory.mktemp("elsewhere") / "copy"
    shutil.copytree(project, other)
    assert run(["report", str(other), "--quiet", "-o", "other.html"]) == 0
    assert Path("other.html").read_bytes() == Path(PAGE).read_bytes()
    assert str(other).encode() not in Path("other.html").read_bytes()
    assert b"\r" not in Path(PAGE).read_bytes()


def test_a_folder_that_is_not_there_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "nowhere"]) == 2
    assert "nowhere" in capfd.readouterr().err
