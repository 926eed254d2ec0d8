"""The JSON Schema of rankproof.yaml, for editors: made of the models and of the options of all stages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from rankproof.data.formats import Noun, readers
from rankproof.fusion.normalization import Normalization
from rankproof.fusion.registry import methods
from rankproof.project.settings import Settings
from rankproof.project.validate import sole_option
from rankproof.retrieval.stage import RerankerStage, RetrieverStage, Stage, TextStage, stage_class, stage_names
from rankproof.scoring.rules import PRESETS

KINDS: dict[str, type[Stage]] = {"retrieve": RetrieverStage, "rerank": RerankerStage, "prepare": TextStage}
"""Key of a pipeline → the kind of stage that it names."""

Schema = dict[str, Any]


def schema_path() -> Path:
    """The published schema, as a file that an editor can be pointed to."""
    return Path(str(resources.files("rankproof.project").joinpath("rankproof.schema.json")))


def schema_text() -> str:
    """The published schema: that of the package's own stages."""
    return json.dumps(project_schema(own_only=True), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def project_schema(*, own_only: bool = False) -> Schema:
    """The schema with the stages that are installed here, or with those of the package alone."""
    schema = Settings.model_json_schema(by_alias=True)
    parts = schema["$defs"]
    _accept_short_forms(schema, parts)
    pipeline = parts["PipelineSettings"]
    for key, kind in KINDS.items():
        parts[key] = _stage_schema(key, kind, parts, own_only=own_only)
        one = {"$ref": f"#/$defs/{key}"}
        several = [one, {"type": "array", "items": one}]
        about = pipeline["properties"][key].get("description", "")
        pipeline["properties"][key] = {**(one if key == "retrieve" else {"anyOf": several}), "description": about}
    pipeline["oneOf"] = [{"required": [key]} for key in ("retrieve", "fuse", "from")]
    fuse = parts["FuseSettings"]["properties"]
    fuse["by"]["enum"] = list(methods())
    _name_among(fuse["normalize"], get_args(Normalization))
    schema["properties"]["preset"]["enum"] = list(PRESETS)
    _name_among(parts["Gold"]["properties"]["format"], format_names("gold"))
    _name_among(parts["CorpusSettings"]["properties"]["format"], format_names("corpus"))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_tidy(schema),
        "title": "rankproof.yaml",
        "description": "A project of rankproof: gold set, corpus and pipelines.",
    }


def _accept_short_forms(schema: Schema, parts: Schema) -> None:
    """What the models make of a bare value before they look at it, which pydantic does not tell."""
    text = {"type": "string", "minLength": 1}
    for key in ("gold", "corpus", "measures"):
        schema["properties"][key]["anyOf"].append(text)
    metrics = parts["RetrievalMetrics"]["properties"]
    listed = metrics["enabled_metrics"]
    metrics["enabled_metrics"] = {"description": listed.pop("description"), "anyOf": [listed, text]}
    drops = parts["Gate"]["properties"]["max_drop"]
    drops["additionalProperties"] = {"anyOf": [drops["additionalProperties"], {"type": "number", "minimum": 0}]}


def format_names(noun: Noun) -> list[str]:
    """The formats in which a noun can be read."""
    return [reader.format for reader in readers(noun)]


def stages(kind: type[Stage], *, own_only: bool = False) -> Iterator[tuple[str, type[Stage] | None]]:
    """Each stage of a kind with its class, or None where that cannot be loaded."""
    for name in stage_names(kind):
        try:
            found = stage_class(name, kind)
        except (ImportError, AttributeError):
            yield name, None
            continue
        if not own_only or found.__module__.startswith("rankproof."):
            yield name, found


def _stage_schema(key: str, kind: type[Stage], parts: Schema, *, own_only: bool) -> Schema:
    """A name alone where every option has a default, or the name with its options."""
    options: Schema = {}
    bare = []
    for name, found in stages(kind, own_only=own_only):
        if found is None:
            options[name] = {"type": ["object", "null"]}
            bare.append(name)
            continue
        prefix = f"{key}.{name}"
        own = found.model_json_schema(by_alias=True, ref_template=f"#/$defs/{prefix}.{{model}}")
        parts |= {f"{prefix}.{inner}": schema for inner, schema in own.pop("$defs", {}).items()}
        parts[prefix] = own
        options[name] = {"$ref": f"#/$defs/{prefix}"}
        if sole_option(found) is not None:
            options[name] = {"anyOf": [options[name], {"type": "string"}]}
        elif not own.get("required"):
            bare.append(name)
            options[name] = {"anyOf": [options[name], {"type": "null"}]}
    one = {
        "type": "object",
        "properties": options,
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    return {"anyOf": [{"enum": bare}, one]} if bare else one


def _name_among(schema: Schema, names: Any) -> None:
    for one in schema["anyOf"]:
        if one.get("type") == "string":
            one["enum"] = list(names)


def _tidy(value: Any) -> Any:
    """Without what only the program reads: the mark of options that change no result, titles made of names, and the
    ends of lines inside a paragraph."""
    if isinstance(value, list):
        return [_tidy(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _tidy_named(key, inner)
        for key, inner in value.items()
        if not (key == "idle" and inner is True) and not (key == "title" and isinstance(inner, str))
    }


def _tidy_named(key: str, inner: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: _tidy(one) for name, one in inner.items()}
    if key == "description" and isinstance(inner, str):
        return "\n\n".join(" ".join(paragraph.split()) for paragraph in inner.split("\n\n"))
    return _tidy(inner)
