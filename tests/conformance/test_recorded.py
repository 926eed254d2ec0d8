"""The presets give what was recorded of the tools they are named after; see `record`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankproof import PRESETS, Rules, evaluate, parse_measure
from tests.conformance.record import FOLDER, SCHEMA_VERSION

RECORDINGS = sorted(FOLDER.glob("*.json"))


def cases_of(name: str) -> list[dict[str, Any]]:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    cases: list[dict[str, Any]] = content["cases"]
    return cases


def assert_same_by_query(case: dict[str, Any], *, preset: str, rules: Rules | None = None) -> None:
    names = list(next(iter(case["by_query"].values())))
    ours = evaluate(case["qrels"], case["run"], names, preset=preset, rules=rules).by_query()
    for query, values in case["by_query"].items():
        for name, value in values.items():
            mine = ours[query][str(parse_measure(name))]
            assert abs(mine - value) <= 1e-9, (name, query, case["qrels"][query], case["run"][query])


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_says_what_it_was_recorded_from(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["schema_version"] == SCHEMA_VERSION
    assert content["tool"]["name"]
    assert content["tool"]["version"] or "re-statement" in content["source"]


def test_the_recordings_are_small_and_complete() -> None:
    assert {path.stem for path in RECORDINGS} == {
        "beir", "elasticsearch", "opensearch", "ranx", "ranx-fusion", "scikit-learn", "sentence-transformers",
    }  # fmt: skip
    assert sum(path.stat().st_size for path in RECORDINGS) < 200_000


@pytest.mark.parametrize("preset", ["ranx", "elasticsearch", "opensearch", "sentence-transformers"])
def test_a_preset_scores_each_query_as_its_tool(preset: str) -> None:
    for case in cases_of(preset):
        assert_same_by_query(case, preset=preset)


def test_expected_values_over_ties_are_those_of_scikit_learn() -> None:
    for case in cases_of("scikit-learn"):
        assert_same_by_query(case, preset="default", rules=Rules(ties="expected"))


def test_the_preset_beir_gives_the_means_of_beir() -> None:
    assert PRESETS["beir"].rules.round_mean == 5
    for case in cases_of("beir"):
        ours = evaluate(case["qrels"], case["run"], list(case["mean"]), preset="beir").mean()
        assert ours == pytest.approx(case["mean"], abs=1e-9), (case["qrels"], case["run"])
