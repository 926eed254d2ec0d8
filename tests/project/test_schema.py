"""The JSON Schema agrees with the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rankproof.project.project import project_of
from rankproof.project.schema import KINDS, project_schema, schema_path, schema_text, stages
from rankproof.project.yaml_text import parse_yaml
from tests.project.test_metrics import SEED
from tests.project.test_project import DESIGN

OWN = """\
corpus: {path: a.csv, columns: {id: sku}, chunk: {by: size, size: 100, overlap: 10}, roll_up: mean, ids: path}
gold: {path: x, format: csv}
cache: false
measures: MRR
groups: g.tsv
identifiers: ["RFC \\\\d+"]
gate: {max_drop: {MRR: {relative: 0.1}}, margin: 0.01, coverage: 0.9}
pipelines:
  a: {retrieve: finds, prepare: [lowers, {lowers: }], rerank: [sorts, {sorts: {table: {d: 1}}}], top: 3}
  b: {retrieve: {calls: "m:f"}}
  c: {retrieve: {calls: {call: "m:f"}}}
  d: {fuse: {of: [a, b], by: weighted, weights: [1, 2], normalize: max}}
"""
UNKNOWN = [
    "gld: x",
    "corpus: {path: x, pth: y}",
    "corpus: {path: x, chunk: {by: heading, sise: 3}}",
    "corpus: {chunk: {by: heading}}",
    "corpus: {path: x, format: cvs}",
    "preset: trec_evl",
    "pipelines: {a: {retrieve: find}}",
    "pipelines: {a: {retrieve: finds, dept: 3}}",
    "pipelines: {a: {retrieve: {finds: {strenght: 3}}}}",
    "pipelines: {a: {retrieve: {finds: {inner: {wight: 3}}}}}",
    "pipelines: {a: {retrieve: {finds: {strength: -1}}}}",
    "pipelines: {a: {retrieve: calls}}",
    "pipelines: {a: {retrieve: {finds: , calls: x}}}",
    "pipelines: {a: {retrieve: finds, depth: '3'}}",
    "pipelines: {a: {depth: 3}}",
    "pipelines: {a: {retrieve: finds, from: b}, b: {retrieve: finds}}",
    "pipelines: {a: {retrieve: finds, rerank: sort}}",
    "gate: {flors: {MRR: 1}}",
    "retrieval_metrics: {enabled_metrics: [mrr], performance: {batchsize: 3}}",
]


def fits(text: str, schema: dict[str, Any]) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(parse_yaml(text, "f").data))


def test_the_published_schema_is_what_the_models_say() -> None:
    assert schema_path().read_text(encoding="utf-8") == schema_text(), "run `make docs`"


def test_the_published_schema_is_a_schema_and_fits_the_example_of_the_design() -> None:
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert fits(DESIGN, schema)
    assert fits(SEED, schema)
    assert not fits(DESIGN.replace("k1: 1.2", "k2: 1.2"), schema)
    assert not fits(DESIGN.replace("depth: 20", "dept: 20"), schema)


@pytest.mark.parametrize("key", KINDS)
def test_every_stage_of_the_package_is_in_the_published_schema(key: str) -> None:
    known = json.loads(schema_text())["$defs"]
    own = [name for name, found in stages(KINDS[key], own_only=True) if found is not None]
    assert own
    assert all(f"{key}.{name}" in known for name in own)


@pytest.mark.usefixtures("fake_stages")
def test_what_loads_fits() -> None:
    schema = project_schema()
    project_of(Path("rankproof.yaml"), parse_yaml(OWN, "f"), environment={})
    assert fits(OWN, schema)
    assert schema["$defs"]["retrieve.finds"]["properties"]["strength"]["description"] == "How strong it is."


@pytest.mark.usefixtures("fake_stages")
@pytest.mark.parametrize("text", UNKNOWN)
def test_what_does_not_load_does_not_fit(text: str) -> None:
    assert not fits(text, project_schema())


@pytest.mark.usefixtures("fake_stages")
def test_a_stage_that_cannot_be_loaded_takes_any_options() -> None:
    assert fits("pipelines: {a: {retrieve: {broken: {x: 1}}}}", project_schema())


@pytest.mark.usefixtures("fake_stages")
def test_the_stages_of_others_are_not_in_the_published_schema() -> None:
    assert "retrieve.finds" in project_schema()["$defs"]
    assert "retrieve.finds" not in json.loads(schema_text())["$defs"]
