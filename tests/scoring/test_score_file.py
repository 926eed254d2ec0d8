"""Scores read back are the scores that were written, and trec_eval's lines are read as well."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate
from rankproof.reports.json import scores_json
from rankproof.scoring.evaluate import Evaluator, evaluate
from rankproof.scoring.score_file import NOT_RECORDED, is_score_file, read_scores

QRELS = {"q1": {"a": 0, "b": 1, "c": 2}, "q2": {"a": 1}}
RUNS = ({"q1": {"c": 3.0, "b": 2.0}, "q2": {"b": 2.0, "a": 1.0}}, {"q1": {"a": 3.0}, "q9": {"a": 1.0}})


@pytest.mark.parametrize("preset", ["default", "ab", "beir", "opensearch"])
def test_scores_come_back_as_they_were(tmp_path: Path, preset: str) -> None:
    evaluator = Evaluator(QRELS, preset=preset)
    written = [evaluator.evaluate(run, ["nDCG@3", "P(rel=2)@5", "RR"]) for run in RUNS]
    path = tmp_path / "scores.json"
    path.write_text(scores_json(written[:1], per_query=True))
    (back,) = read_scores(path)
    assert is_score_file(path)
    assert back.measures == written[0].measures
    assert back.query_ids == written[0].query_ids
    assert np.array_equal(back.values, written[0].values)
    assert (back.preset.rules, dict(back.preset.defaults)) == (written[0].preset.rules, written[0].preset.defaults)
    assert (back.coverage, back.judgments, back.name) == (written[0].coverage, written[0].judgments, written[0].name)


def test_every_run_of_a_file_is_read(tmp_path: Path) -> None:
    evaluator = Evaluator(QRELS)
    path = tmp_path / "scores.json"
    path.write_text(scores_json([evaluator.evaluate(run, "RR") for run in RUNS], per_query=True))
    assert [one.mean()["RR"] for one in read_scores(path)] == [0.75, 0.0]


def test_the_digest_of_judgments_sees_a_changed_grade_and_not_their_order() -> None:
    digest = Qrels.of(QRELS).digest
    assert Qrels.of({"q2": {"a": 1}, "q1": {"c": 2, "a": 0, "b": 1}}).digest == digest
    assert Qrels.of({**QRELS, "q2": {"a": 2}}).digest != digest
    assert evaluate(QRELS, RUNS[0], "RR").judgments == digest
    assert Evaluator(QRELS).evaluate(RUNS[0], "RR").judgments == digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "is not a file of scores"),
        ('{"schema_version": 9, "runs": [{}]}', "schema_version 1"),
        ('{"schema_version": 1, "runs": [{}], "preset": "x", "rules": {}, "defaults": {}}', "only means"),
        ('{"schema_version": 1, "runs": [1], "preset": "x", "rules": {"x": 1}, "defaults": {}}', "as we write it"),
        ("{", "invalid JSON"),
    ],
)  # fmt: skip
def test_other_json_is_refused_with_the_way_to_make_one(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        read_scores(path)


def test_means_alone_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "means.json"
    path.write_text(scores_json([evaluate(QRELS, RUNS[0], "RR")]))
    with pytest.raises(BadInput, match="--per-query"):
        read_scores(path)


def test_a_value_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    data = json.loads(scores_json([evaluate(QRELS, RUNS[0], "RR")], per_query=True))
    data["runs"][0]["by_query"]["q1"]["RR"] = "high"
    path.write_text(json.dumps(data))
    with pytest.raises(BadInput, match="as we write it"):
        read_scores(path)


def test_lines_of_trec_eval_are_read(tmp_path: Path) -> None:
    path = tmp_path / "bm25.eval"
    path.write_text(
        "map     \tq1\t0.5000\nndcg_cut_10\tq1\t0.25\nmap\tq2\t1.0\nndcg_cut_10\tq2\t0.75\nmap\tall\t0.75\n"
    )
    (scores,) = read_scores(path)
    assert not is_score_file(path)
    assert scores.by_query() == {"q1": {"AP": 0.5, "nDCG@10": 0.25}, "q2": {"AP": 1.0, "nDCG@10": 0.75}}
    assert (scores.name, scores.preset, scores.judgments) == ("bm25.eval", NOT_RECORDED, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("map q1 high\n", "1: value 'high' of map is not a number"),
        ("map q1 0.5\nmapp q1 0.5\n", "2: There is no measure called 'mapp'. Did you mean 'map'"),
        ("map q1 nan\n", "not a finite number"),
        ("map q1\n", "2 columns where 3 belong"),
        ("map q1 0.5\nmap q1 0.6\n", "2: map stands twice for query 'q1'"),
        ("map q1 0.5\nrecip_rank q2 0.6\n", "RR has values for other queries than AP"),
    ],
)
def test_lines_that_make_no_sense_are_refused_with_their_number(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.eval"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_scores(path)
    assert message in str(caught.value)


def test_means_of_trec_eval_alone_are_nothing_to_evaluate(tmp_path: Path) -> None:
    path = tmp_path / "x.eval"
    path.write_text("map all 0.5\n")
    with pytest.raises(NothingToEvaluate, match="with -q"):
        read_scores(path)
