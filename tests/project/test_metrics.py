"""The block `retrieval_metrics`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankproof.measures.parse import parse_measures
from rankproof.project import BadProject, MetricsConfig, read_metrics_config
from rankproof.scoring.evaluate import evaluate
from tests.project.conftest import Load

# The configuration of the document that defines these metrics, word for word.
SEED = """\
retrieval_metrics:
  enabled_metrics:
    - hit@1
    - hit@3
    - hit@5
    - hit@10
    - ndcg@5
    - ndcg@10
    - mrr
    - map@10

  graded_relevance: false  # Enable graded relevance scoring

  statistical_analysis:
    confidence_intervals: true
    significance_testing: true
    alpha_level: 0.05

  performance:
    batch_size: 100
    caching_enabled: true
    parallel_processing: true
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "metrics.yaml"
    file.write_text(text)
    return file


def test_the_block_is_read_as_a_file_of_its_own(tmp_path: Path) -> None:
    names = ["Success@1", "Success@3", "Success@5", "Success@10"]
    names += ['nDCG(gain="binary")@5', 'nDCG(gain="binary")@10', "RR", "AP@10"]
    assert read_metrics_config(write(tmp_path, SEED)) == MetricsConfig(
        measures=parse_measures(names),
        graded=False,
        intervals=True,
        tests=True,
        alpha=0.05,
        batch_size=100,
        caching=True,
        parallel=True,
    )


def test_the_block_is_read_in_the_project_file(load: Load) -> None:
    text = SEED.replace("caching_enabled: true", "caching_enabled: false").replace("0.05", "0.1")
    project = load(f"preset: spec\n{text}")
    assert project.metrics is not None
    assert (project.metrics.alpha, project.metrics.caching, project.cache) == (0.1, False, None)
    assert project.measures == project.metrics.measures
    assert [str(one) for one in project.measures][-2:] == ["RR", "AP@10"]


def test_what_is_not_said_has_the_default_of_the_document(tmp_path: Path) -> None:
    found = read_metrics_config(write(tmp_path, "retrieval_metrics: {enabled_metrics: [mrr]}"))
    assert found == MetricsConfig(parse_measures("RR"), False, True, True, 0.05, 100, True, True)


def test_without_graded_relevance_every_relevant_document_gains_the_same(tmp_path: Path) -> None:
    qrels, run = {"q": {"a": 3, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    values = {}
    for graded in ("true", "false"):
        text = f"retrieval_metrics: {{enabled_metrics: [ndcg@5], graded_relevance: {graded}}}"
        [measure] = read_metrics_config(write(tmp_path, text)).measures
        values[graded] = evaluate(qrels, run, [measure]).mean()[str(measure)]
    # (1 + 3/log2 3) / (3 + 1/log2 3) with grades; both are relevant, and so the order is perfect, without.
    assert values["true"] == pytest.approx(0.7967075809905066, abs=1e-12)
    assert values["false"] == 1.0


def test_a_gain_that_is_written_out_is_kept(tmp_path: Path) -> None:
    text = "retrieval_metrics: {enabled_metrics: ['nDCG(gain=\"exp\")@5']}"
    assert str(read_metrics_config(write(tmp_path, text)).measures[0]) == "nDCG(gain='exp')@5"


def test_every_fault_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    text = SEED.replace("hit@3", "hitt@3").replace("alpha_level: 0.05", "alpha_levle: 0.05").replace("100", "0")
    with pytest.raises(BadProject) as caught:
        read_metrics_config(write(tmp_path, text))
    assert [(fault.line, fault.message) for fault in caught.value.faults] == [
        (4, "There is no measure called 'hitt'. Did you mean 'hit' or 'hits'?"),
        (17, "there is no key 'alpha_levle' in `retrieval_metrics.statistical_analysis`. Did you mean 'alpha_level'?"),
        (20, "`retrieval_metrics.performance.batch_size` is 0; a number of 1 or more belongs there"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("enabled_metrics: [mrr]", "there is no key 'enabled_metrics'"),
        ("retrieval_metrics: {}", "`retrieval_metrics` has no `enabled_metrics`"),
        ("retrieval_metrics: {enabled_metrics: []}", "something that is not empty belongs there"),
        ("- mrr", "a mapping"),
        ("retrieval_metrics: {enabled_metrics: [3]}", "is 3; a text belongs there"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadProject) as caught:
        read_metrics_config(write(tmp_path, text))
    assert message in str(caught.value)
