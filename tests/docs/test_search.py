"""The search over our own documentation stays as good as it was: the project of the demo, held against its baseline.

A page that is added or reworded changes what is found a little, which the rules allow for. If the gate turns red for a
change that is meant, `make baseline` records what is measured now.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from rankproof.baseline import FILE
from rankproof.cli.gated import Gated, gate_project
from rankproof.cli.main import run
from rankproof.data.gold import GoldSet
from rankproof.project.project import load_project
from tests.docs.markdown import ROOT

SEARCH = ROOT / "src" / "rankproof" / "demo" / "search"
HAS_MODEL = all(find_spec(name) is not None for name in ("wordllama", "tokenizers", "safetensors"))
MODES = ("keyword", "vector", "hybrid") if HAS_MODEL else ("keyword",)


def gated(file: str, cache: Path) -> Gated:
    """A project file of the demo, over the pages as they are in this checkout."""
    project = load_project(SEARCH / file, environment={}, corpus=ROOT / "docs/**/*.md", cache=cache)
    return gate_project(project, MODES, quiet=True)


def kinds() -> dict[str, str]:
    return dict(line.split("\t") for line in (SEARCH / "kinds.tsv").read_text(encoding="utf-8").splitlines())


def test_the_search_is_as_good_as_its_baseline(tmp_path: Path) -> None:
    found = gated("rankproof.yaml", tmp_path)
    worse = [verdict for of_mode in found.verdicts.values() for verdict in of_mode if verdict.outcome != "pass"]
    assert worse == []
    assert found.outcome == "pass"
    assert tuple(found.verdicts) == MODES


def test_the_planted_mistake_is_found_and_named(tmp_path: Path) -> None:
    found = gated("changed.yaml", tmp_path)
    assert found.outcome == "worse"
    by_rule = {verdict.rule: verdict for verdict in found.verdicts[MODES[-1]]}
    assert by_rule["max_drop nDCG@10"].outcome == "worse"
    named = by_rule["max_drop nDCG@10, group direct"]
    assert (named.outcome, named.group, named.measure) == ("worse", "direct", "nDCG@10")
    assert len(named.worst) == 5
    assert all(change < 0 for _, change in named.worst)
    assert {kinds()[query] for query, _ in named.worst} == {"direct"}


def test_the_planted_mistake_is_one_word_of_the_project_file() -> None:
    def settings(name: str) -> list[str]:
        lines = (SEARCH / name).read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line and not line.lstrip().startswith("#")]

    good, bad = settings("rankproof.yaml"), settings("changed.yaml")
    assert [(one, other) for one, other in zip(good, bad, strict=True) if one != other] == [
        (
            "corpus: {path: docs/**/*.md, chunk: {by: heading}}",
            "corpus: {path: docs/**/*.md, chunk: {by: heading}, roll_up: sum}",
        )
    ]


def test_lint_finds_nothing_wrong_with_the_gold_set(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gold", "lint", str(SEARCH / "gold.json"), str(ROOT / "docs"), "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["findings"] == []


def test_every_question_has_a_kind_and_a_persona() -> None:
    gold = GoldSet.read(SEARCH / "gold.json")
    assert [query.id for query in gold.queries] == list(kinds())
    assert {query.group for query in gold.queries} == {"engineer", "researcher", "annotator"}
    assert set(kinds().values()) == {"direct", "synonym-drift", "indirect", "no-answer"}
    assert [query.id for query in gold.queries if query.no_answer] == [
        query for query, kind in kinds().items() if kind == "no-answer"
    ]
    assert len(gold) >= 60


def test_the_gold_set_stands_as_the_program_writes_it(tmp_path: Path) -> None:
    GoldSet.read(SEARCH / "gold.json").write(tmp_path / "gold.json")
    assert (tmp_path / "gold.json").read_bytes() == (SEARCH / "gold.json").read_bytes()


@pytest.mark.skipif(not HAS_MODEL, reason="The baseline is recorded with the extra `dense`")
def test_the_baseline_is_of_all_pipelines() -> None:
    from rankproof.baseline import read_baseline

    assert tuple(read_baseline(SEARCH / FILE).scores) == ("keyword", "vector", "hybrid")
