"""The deterministic A/B by its contract: flags, keys, digests, ties, traces, exit codes, the same bytes everywhere."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rankproof.cli.main import run

CORPUS = {
    "d1": "apple tart recipe with cinnamon",
    "d2": "banana bread with walnuts",
    "d3": "apple pie, apple juice and apple jam",
    "d4": "bread and butter pudding",
}
BASELINE = "t2: {quality: {enabled: false}}\n"
CANDIDATE = """\
t2:
  quality:
    enabled: true
    lexical: {bm25_k1: 0.9, bm25_b: 0.4, stopwords: en-basic}
    fusion: {mode: rank, alpha_semantic: 0.3}
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path)
    return tmp_path


def _write(folder: Path) -> None:
    corpus = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in CORPUS.items())
    (folder / "corpus.jsonl").write_text(corpus)
    (folder / "queries.tsv").write_text("q1\tapple tart\nq2\tbanana bread\nq3\twalrus\n")
    (folder / "qrels.tsv").write_text("q1\td1\t2\nq1\td3\t1\nq2\td4\t1\n")
    (folder / "a.yaml").write_text(BASELINE)
    (folder / "b.yaml").write_text(CANDIDATE)


FILES = ["--corpus", "corpus.jsonl", "--queries", "queries.tsv", "--truth", "qrels.tsv"]
CONFIGS = ["--configA", "a.yaml", "--configB", "b.yaml"]


def compared(*more: str) -> dict[str, Any]:
    assert run(["compare", *FILES, *CONFIGS, "--out", "ab.json", "--quiet", *more]) == 0
    found: dict[str, Any] = json.loads(Path("ab.json").read_text())
    return found


def test_the_json_has_the_keys_of_the_contract() -> None:
    found = compared()
    assert found.keys() == {
        "schema_version", "k", "corpus_digest", "queries_digest", "qrels_digest", "systems", "delta", "per_query",
    }  # fmt: skip
    assert (found["schema_version"], found["k"]) == (1, 10)
    for name in "AB":
        assert found["systems"][name].keys() == {"config_path", "config_digest", "metrics"}
        assert found["systems"][name]["metrics"]["macro"].keys() == {"recall", "mrr", "ndcg"}
    assert [row["qid"] for row in found["per_query"]] == ["q1", "q2", "q3"]
    assert found["per_query"][0].keys() == {"qid", "A", "B", "delta"}
    assert found["per_query"][0]["A"].keys() == {"recall", "mrr", "ndcg", "hits"}


def test_digests_are_of_the_bytes_and_the_path_is_as_given() -> None:
    found = compared()
    for key, file in (
        ("corpus_digest", "corpus.jsonl"),
        ("queries_digest", "queries.tsv"),
        ("qrels_digest", "qrels.tsv"),
    ):
        assert found[key] == sha256(Path(file).read_bytes()).hexdigest()
    assert found["systems"]["A"]["config_path"] == "a.yaml"


def test_the_figures_by_hand() -> None:
    # Cosine of counts. q1 "apple tart": d1 has both of 5 words, 2/√(2·5) = 0.63; d3 has apple 3 times among pie, juice,
    # and, jam, 3/√(2·13) = 0.59. q2 "banana bread": d2 2/√(2·4) = 0.71, d4 1/√(2·4) = 0.35, and d4 is the relevant one.
    rows = {row["qid"]: row["A"] for row in compared()["per_query"]}
    assert rows["q1"] == {"recall": 1.0, "mrr": 1.0, "ndcg": 1.0, "hits": ["d1", "d3"]}
    assert rows["q2"]["mrr"] == 0.5
    assert rows["q2"]["ndcg"] == pytest.approx(0.6309297535714575)
    assert rows["q2"]["hits"] == ["d4"]
    assert rows["q3"] == {"recall": 0.0, "mrr": 0.0, "ndcg": 0.0, "hits": []}


def test_a_query_without_judgments_counts_zero_in_the_mean() -> None:
    assert compared()["systems"]["A"]["metrics"]["macro"]["mrr"] == pytest.approx((1 + 0.5 + 0) / 3)


def test_gain_is_exponential() -> None:
    Path("qrels.tsv").write_text("q2\td4\t2\nq2\td2\t1\n")
    # d2 before d4: (2¹ − 1)/1 + (2² − 1)/log2(3), of at most (2² − 1)/1 + (2¹ − 1)/log2(3).
    (row,) = [row for row in compared()["per_query"] if row["qid"] == "q2"]
    assert row["A"]["ndcg"] == pytest.approx((1 + 3 * 0.6309297535714575) / (3 + 0.6309297535714575))


def test_the_corpus_is_searched_and_the_difference_is_b_minus_a() -> None:
    found = compared("--k", "1")
    for row in found["per_query"]:
        for metric in ("recall", "mrr", "ndcg"):
            assert row["delta"][metric] == row["B"][metric] - row["A"][metric]
    assert found["delta"]["macro"]["mrr"] == pytest.approx(
        found["systems"]["B"]["metrics"]["macro"]["mrr"] - found["systems"]["A"]["metrics"]["macro"]["mrr"]
    )


def test_equal_scores_go_by_id() -> None:
    Path("corpus.jsonl").write_text("".join(json.dumps({"id": i, "text": "apple"}) + "\n" for i in ("z", "a", "m")))
    Path("qrels.tsv").write_text("q1\ta\t1\nq1\tm\t1\nq1\tz\t1\n")
    assert compared()["per_query"][0]["A"]["hits"] == ["a", "m", "z"]


def test_csv_has_a_row_per_query_and_system() -> None:
    compared("--csv", "ab.csv")
    text = Path("ab.csv").read_text()
    assert text.splitlines()[0] == "qid,system,recall,mrr,ndcg,hits"
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["qid"], row["system"]) for row in rows] == [(q, s) for q in ("q1", "q2", "q3") for s in "AB"]
    assert rows[0]["hits"] == "d1 d3"


def test_the_same_bytes_twice_elsewhere_and_under_another_locale_and_hash_seed(tmp_path: Path) -> None:
    other = tmp_path / "far" / "away"
    other.mkdir(parents=True)
    _write(other)
    seen = set()
    for folder, seed, locale in ((tmp_path, "0", "C.UTF-8"), (tmp_path, "1", "C"), (other, "2", "POSIX")):
        command = [sys.executable, "-m", "rankproof", "compare", *FILES, *CONFIGS, "--csv", "ab.csv"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True, env=environment)
        seen.add((done.stdout, (folder / "ab.csv").read_bytes()))
    assert len(seen) == 1
    ((text, _),) = seen
    assert text.endswith(b"}\n")
    assert b"\r" not in text


def config_digest(text: str) -> str:
    Path("b.yaml").write_text(text)
    digest: str = compared()["systems"]["B"]["config_digest"]
    return digest


def test_the_digest_of_a_config_sees_behaviour_and_nothing_else() -> None:
    digest = config_digest(CANDIDATE)
    reordered = """\
# another comment
perf: {enabled: true, metrics: {report_memory: true, trace_dir: elsewhere}}
fusion: {alpha_semantic: 0.3, mode: rank}
t2: {quality: {lexical: {stopwords: en-basic, bm25_b: 0.4, bm25_k1: 0.9}, shadow: true, enabled: true}}
"""
    assert config_digest(reordered) == digest
    assert config_digest(CANDIDATE.replace("0.9", "1.0")) != digest
    assert config_digest(CANDIDATE.replace("rank", "score_interp")) != digest
    # What is switched off changes no ranking.
    assert config_digest(CANDIDATE.replace("true", "false")) == compared()["systems"]["A"]["config_digest"]


def test_the_digest_of_a_config_sees_the_content_of_an_alias_map() -> None:
    text = f"{CANDIDATE}    aliasing: {{map_path: aliases.tsv}}\n"
    Path("aliases.tsv").write_text("walrus\tbread\n")
    first = config_digest(text)
    assert compared()["per_query"][2]["B"]["hits"] == []
    Path("qrels.tsv").write_text("q3\td4\t1\n")
    assert compared()["per_query"][2]["B"]["hits"] == ["d4"]
    Path("aliases.tsv").write_text("walrus\tapple\n")
    assert config_digest(text) != first


def test_shadow_leaves_the_ranking_alone_and_enabled_wins_over_it() -> None:
    off = config_digest(BASELINE)
    assert config_digest(CANDIDATE.replace("enabled: true", "shadow: true")) == off
    assert config_digest(CANDIDATE.replace("enabled: true", "enabled: true\n    shadow: true")) != off


def test_the_weight_of_diversity_is_turned_into_ours() -> None:
    relevance = config_digest(f"{CANDIDATE}    mmr: {{enabled: true, lambda: 0.0, k: 4}}\n")
    hits = [row["B"]["hits"] for row in compared()["per_query"]]
    Path("b.yaml").write_text(CANDIDATE)
    # Without any weight on diversity the order by score stays.
    assert [row["B"]["hits"] for row in compared()["per_query"]] == hits
    assert config_digest(f"{CANDIDATE}    mmr: {{enabled: true, lambda: 0.9, k: 4}}\n") != relevance


GATES = "perf: {enabled: true, metrics: {report_memory: true, trace_dir: traces}}\n"


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (GATES + CANDIDATE, "enabled"),
        (GATES + CANDIDATE.replace("enabled: true", "shadow: true"), "shadow"),
        (GATES + BASELINE, None),
        (GATES.replace("enabled: true", "enabled: false") + CANDIDATE, None),
        (GATES.replace("report_memory: true", "report_memory: false") + CANDIDATE, None),
    ],
)
def test_traces_come_only_through_all_three_gates(config: str, reason: str | None) -> None:
    Path("b.yaml").write_text(config)
    compared("--emit-traces")
    if reason is None:
        assert not Path("traces").exists()
        return
    lines = [json.loads(line) for line in Path("traces/rq_B.jsonl").read_text().splitlines()]
    assert [(line["qid"], line["system"], line["reason"]) for line in lines] == [
        (q, "B", reason) for q in ("q1", "q2", "q3")
    ]
    assert {line["query"] for line in lines} == {"[redacted]"}
    assert "apple" not in Path("traces/rq_B.jsonl").read_text()


def test_without_the_flag_there_are_no_traces_and_with_it_their_bytes_are_the_same() -> None:
    Path("b.yaml").write_text(GATES + CANDIDATE)
    compared()
    assert not Path("traces").exists()
    compared("--emit-traces")
    first = Path("traces/rq_B.jsonl").read_bytes()
    compared("--emit-traces")
    assert Path("traces/rq_B.jsonl").read_bytes() == first


def test_a_trace_holds_the_query_where_the_config_says_so() -> None:
    Path("b.yaml").write_text(GATES + CANDIDATE.replace("enabled: true\n", "enabled: true\n    redact: false\n"))
    compared("--emit-traces")
    assert json.loads(Path("traces/rq_B.jsonl").read_text().splitlines()[0])["query"] == "apple tart"


def test_run_files_need_no_corpus() -> None:
    Path("a.run").write_text("q1 Q0 d3 1 2 t\nq1 Q0 d1 2 1 t\n")
    Path("a.yaml").write_text("pipelines: {old: {retrieve: {run: {path: a.run}}}}\n")
    Path("b.yaml").write_text("pipelines: {new: {retrieve: {run: {path: a.run}}, top: 1}}\n")
    files = ["--queries", "queries.tsv", "--truth", "qrels.tsv"]
    assert run(["compare", *files, *CONFIGS, "--out", "ab.json", "--quiet"]) == 0
    found = json.loads(Path("ab.json").read_text())
    assert found["corpus_digest"] is None
    assert [found["per_query"][0][side]["hits"] for side in "AB"] == [["d3", "d1"], ["d3"]]


@pytest.mark.parametrize(
    ("file", "content", "code", "message"),
    [
        ("queries.tsv", "q1\tapple\textra\n", 3, "queries.tsv"),
        ("queries.tsv", "q1\tapple\nq1\tpear\n", 3, "queries.tsv:2"),
        ("qrels.tsv", "q1\td1\thigh\n", 3, "qrels.tsv:1: grade 'high' is not a number"),
        ("qrels.tsv", "q1\td1\t1\nq1\td1\t2\n", 3, "qrels.tsv:2"),
        ("corpus.jsonl", '{"id": "d1", "text": "a"}\n{"id": "d1", "text": "b"}\n', 3, "corpus.jsonl:2"),
        ("corpus.jsonl", '{"id": "d1"\n', 3, "corpus.jsonl:1: invalid JSON"),
        ("b.yaml", "lexicl: {}\n", 2, "b.yaml:1: there is no key 'lexicl'. Did you mean 'lexical'?"),
        ("b.yaml", "t2:\n  quality:\n    fuson: {}\n", 2, "b.yaml:3: there is no key 'fuson' in `t2.quality`"),
        ("b.yaml", "fusion: {mode: blend}\n", 2, "'score_interp' or 'rank' belongs there"),
        ("b.yaml", "fusion: {alpha_semantic: 2}\n", 2, "b.yaml:1"),
        ("b.yaml", "fusion: {}\nt2: {quality: {fusion: {}}}\n", 2, "keep one of them"),
        ("b.yaml", "semantic: {dens: {}}\n", 2, "Did you mean 'dense'"),
        ("b.yaml", "", 2, "the file is empty"),
        ("b.yaml", "t2: {quality: {enabled: true, aliasing: {map_path: gone.tsv}}}\n", 3, "gone.tsv"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_its_place(
    capfd: pytest.CaptureFixture[str], file: str, content: str, code: int, message: str
) -> None:
    Path(file).write_text(content)
    assert run(["compare", *FILES, *CONFIGS, "--out", "ab.json", "--quiet"]) == code
    assert message in capfd.readouterr().err
    assert not Path("ab.json").exists()


def test_a_missing_flag_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *CONFIGS, "--queries", "queries.tsv"]) == 2
    assert "An A/B also needs --truth." in capfd.readouterr().err
    assert run(["compare", *FILES, *CONFIGS, "qrels.tsv"]) == 2
    assert "Either runs or configurations" in capfd.readouterr().err
    assert run(["compare", "--queries", "queries.tsv", "--truth", "qrels.tsv", *CONFIGS]) == 2
    assert "or by --corpus" in capfd.readouterr().err
