"""`rankproof eval` from the outside: a folder of pages and a gold set in, figures, misses and files out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rankproof.cli.main import run

PAGES = {
    "Docker": "# Running in a container\n\nStart the container with docker run and open the port.",
    "Postgres": "# Database\n\nInstall PostgreSQL and create the database before the first start.",
    "Search": "# Full text search\n\nThe index is built at night; search finds pages by words.",
    "Login": "# Signing in\n\nA forgotten password is reset by mail.",
}
GOLD = """\
query,ideal_page,category
run it in a container,Docker,setup
create the database,Postgres,setup
find pages by words,Search,use
port of the database before the first start,Docker,use
reset my password,LoginHelp,use
"""
PROJECT = """\
gold: gold.csv
corpus: docs/*.md
pipelines:
  keyword: {retrieve: {bm25: {language: english}}, depth: 10}
  counts: {retrieve: bow}
  both: {fuse: {of: [keyword, counts]}}
measures: [RR, P@1]
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    (tmp_path / "gold.csv").write_text(GOLD)
    (tmp_path / "rankproof.yaml").write_text(PROJECT)
    return tmp_path


def evaluated(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert run(["eval", *arguments, "--format", "json", "--quiet"]) == code
    found: dict[str, Any] = json.loads(capfdbinary.readouterr().out)
    return found


def test_every_pipeline_is_run_and_scored(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    found = evaluated(capfdbinary)
    assert [mode["name"] for mode in found["modes"]] == ["keyword", "counts", "both"]
    assert (found["n_queries"], found["n_scored"]) == (5, 4)
    assert found["modes"][0]["mean"].keys() == {"RR", "P@1"}
    assert found["modes"][0]["by_group"].keys() == {"setup", "use"}
    assert {(c["baseline"], c["candidate"]) for c in found["comparisons"]} == {
        ("keyword", "counts"),
        ("keyword", "both"),
    }


def test_stale_gold_is_told_apart_with_the_nearest_name(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    found = evaluated(capfdbinary, "--mode", "keyword")
    (stale,) = found["stale"]
    assert (stale["doc_id"], stale["nearest"]) == ("LoginHelp", ["Login"])
    assert all(miss["query"] != "reset my password" for miss in found["modes"][0]["misses"])


def test_a_miss_shows_where_the_expected_page_stood(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    found = evaluated(capfdbinary, "--mode", "keyword")
    (miss,) = found["modes"][0]["misses"]
    assert miss["query"] == "port of the database before the first start"
    assert miss["returned"][0]["doc_id"] == "Postgres"
    assert miss["expected"] == [
        {"doc_id": "Docker", "grade": 1, "rank": 2, "stages": [{"stage": "bm25", "rank": 2}]}
    ]  # fmt: skip


def test_the_oracle_scores_one(capfdbinary: pytest.CaptureFixture[bytes], project: Path) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace("counts: {retrieve: bow}", "counts: {retrieve: oracle}"))
    found = evaluated(capfdbinary, "--mode", "counts")
    assert found["modes"][0]["mean"] == {"RR": 1.0, "P@1": 1.0}


def test_runs_and_scores_are_saved_and_can_be_compared_again(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    found = evaluated(capfdbinary, "--save", "out")
    assert run(["compare", "out/keyword.scores.json", "out/both.scores.json", "-m", "RR", "--format", "json"]) == 0
    again = json.loads(capfdbinary.readouterr().out)["comparisons"][0]
    before = next(c for c in found["comparisons"] if c["candidate"] == "both" and c["measure"] == "RR")
    assert again["difference"] == before["difference"]
    # The queries are called by their texts, which a TREC file cannot hold.
    assert sorted(path.name for path in Path("out").glob("*.run*")) == [
        "both.run.json", "counts.run.json", "keyword.run.json",
    ]  # fmt: skip


def test_judgments_may_be_in_a_file_of_their_own_and_plain_ids_go_into_a_trec_file(
    capfdbinary: pytest.CaptureFixture[bytes], project: Path
) -> None:
    Path("queries.tsv").write_text("q1\tcontainer\n")
    Path("qrels.txt").write_text("q1 0 Docker 1\n")
    (project / "rankproof.yaml").write_text(
        PROJECT.replace("gold: gold.csv", "gold: {path: queries.tsv, qrels: qrels.txt}")
    )
    assert evaluated(capfdbinary, "--mode", "keyword", "--save", "out")["modes"][0]["mean"]["RR"] == 1.0
    assert Path("out/keyword.run").read_text().startswith("q1 Q0 Docker 1 ")


def test_a_second_run_comes_from_the_cache_and_gives_the_same_bytes(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    first = evaluated(capfdbinary)
    kept = {path: path.read_bytes() for path in Path(".rankproof/answers").iterdir()}
    assert len(kept) == 3
    assert evaluated(capfdbinary) == first
    assert {path: path.read_bytes() for path in Path(".rankproof/answers").iterdir()} == kept
    assert evaluated(capfdbinary, "--no-cache") == first


def test_nothing_is_kept_where_that_is_asked_for(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    evaluated(capfdbinary, "--no-cache")
    assert not Path(".rankproof").exists()


def test_a_query_that_fails_is_listed_and_the_exit_code_is_4(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:  # fmt: skip
    (project / "mine.py").write_text(
        "def search(text, k):\n"
        "    if 'database' in text:\n"
        "        raise RuntimeError('no answer')\n"
        "    return ['Docker']\n"
    )
    project_file = PROJECT.replace("counts: {retrieve: bow}", "counts: {retrieve: {python: {call: 'mine:search'}}}")
    (project / "rankproof.yaml").write_text(project_file)
    assert run(["eval", "--mode", "keyword", "--mode", "counts", "--quiet"]) == 4
    heard = capfd.readouterr()
    assert "NOT MEASURED: 2 queries failed and left the means of all pipelines" in heard.out
    assert "RuntimeError: no answer" in heard.out
    assert "2 queries could not be measured" in heard.err


def test_the_project_is_found_from_a_folder_below(capfdbinary: pytest.CaptureFixture[bytes], project: Path) -> None:
    os.chdir(project / "docs")
    assert evaluated(capfdbinary, "--mode", "keyword")["n_queries"] == 5


def test_seed_003s_block_decides_measures_and_statistics(
    capfdbinary: pytest.CaptureFixture[bytes], project: Path
) -> None:  # fmt: skip
    block = (
        "retrieval_metrics:\n  enabled_metrics: [hit@1, mrr]\n"
        "  statistical_analysis: {confidence_intervals: false, significance_testing: false, alpha_level: 0.2}\n"
        "  performance: {batch_size: 2, caching_enabled: false}\n"
    )
    (project / "rankproof.yaml").write_text(PROJECT.replace("measures: [RR, P@1]\n", block))
    found = evaluated(capfdbinary)
    assert found["measures"] == ["Success@1", "RR"]
    assert found["level"] == 0.8
    assert "comparisons" not in found
    assert not Path(".rankproof").exists()
    assert run(["eval", "--quiet"]) == 0
    assert b"intervals" not in capfdbinary.readouterr().out.splitlines()[0]


def test_labels_that_call_a_document_by_its_header_are_matched(
    capfdbinary: pytest.CaptureFixture[bytes], project: Path
) -> None:  # fmt: skip
    results = [{"contextualHeader": "Running in a container", "relevance": "relevant"}]
    truth = {"version": 1, "queries": [{"query": "run it in a container", "persona": "it", "results": results}]}
    (project / "truth.json").write_text(json.dumps(truth))
    found = evaluated(capfdbinary, "--gold", "truth.json", "--mode", "keyword")
    assert found["stale"] == []
    assert found["modes"][0]["mean"]["RR"] == 1.0


def test_misses_are_analysed_with_their_evidence(
    capfdbinary: pytest.CaptureFixture[bytes], project: Path
) -> None:  # fmt: skip
    (project / "rankproof.yaml").write_text(PROJECT.replace("depth: 10", "depth: 10, top: 1"))
    found = evaluated(capfdbinary, "--mode", "keyword", "--analyze")
    (analysis,) = found["analyses"]
    assert analysis["distribution"] == {"corpus-gap": 0, "ranking-gap": 1, "keyword-gap": 0, "semantic-gap": 0}
    assert analysis["failures"][0]["evidence"] == [
        "Docker was among the candidates; its rank after each stage: bm25 2"
    ]  # fmt: skip
    assert "too few to decide" in analysis["recommendation"]
    assert run(["eval", "--mode", "keyword", "--analyze", "--quiet"]) == 0
    text = capfdbinary.readouterr().out.decode()
    assert "keyword: 1 failure in 4 queries (25%)" in text
    assert "recommendation: 1 failure is too few to decide on" in text


def test_the_recommended_change_is_tried(capfdbinary: pytest.CaptureFixture[bytes], project: Path) -> None:
    # A retriever that never finds what keywords would: twelve keyword gaps.
    (project / "shelf.py").write_text("def search(text, k):\n    return ['Login']\n")
    rows = "".join(
        f"{word} {i},{page},x\n" for word, page in (("container", "Docker"), ("words", "Search")) for i in range(6)
    )
    (project / "gold.csv").write_text(f"query,ideal_page,category\n{rows}")
    file = PROJECT.replace("counts: {retrieve: bow}", "counts: {retrieve: {python: {call: 'shelf:search'}}}")
    (project / "rankproof.yaml").write_text(file)
    assert run(["eval", "--mode", "counts", "--analyze", "--what-if", "-m", "RR", "--quiet"]) == 0
    text = capfdbinary.readouterr().out.decode()
    assert "100% of the 12 failures are of the class keyword-gap" in text
    assert "tried: counts + bm25 − counts in RR: +" in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--mode", "keywrd"], 2, "Did you mean 'keyword'"),
        (["-m", "ndgc"], 2, "Did you mean 'nDCG'"),
        (["--gold", "gone.csv"], 3, "gone.csv"),
        (["nowhere"], 2, "nowhere"),
        (["--preset", "trec"], 2, "trec_eval"),
    ],
)
def test_wrong_calls_say_what_to_do(
    capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:  # fmt: skip
    assert run(["eval", *arguments]) == code
    assert message in capfd.readouterr().err


def test_without_a_project_file_init_is_named(
    capfd: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    assert run(["eval"]) == 2
    assert "rankproof init" in capfd.readouterr().err


def test_init_and_eval_on_a_folder_of_pages(capfdbinary: pytest.CaptureFixture[bytes], project: Path) -> None:
    (project / "rankproof.yaml").unlink()
    assert run(["init"]) == 0
    capfdbinary.readouterr()
    found = evaluated(capfdbinary, "--mode", "keyword")
    assert found["n_scored"] == 4


def test_the_same_bytes_in_another_process_and_hash_seed(project: Path) -> None:
    def output(seed: str) -> bytes:
        command = [sys.executable, "-m", "rankproof", "eval", "--format", "json", "--no-cache", "--quiet"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(command, cwd=project, capture_output=True, check=True, env=environment).stdout

    assert output("1") == output("2")
