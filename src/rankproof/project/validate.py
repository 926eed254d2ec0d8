"""Plain data held against a model; what does not fit becomes a sentence with its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rankproof.data.faults import Faults
from rankproof.project.yaml_text import Place, YamlText, did_you_mean

_Model = TypeVar("_Model", bound=BaseModel)

_EXPECTED = {
    "string": "a text",
    "int": "a whole number",
    "int_from": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "dict": "a mapping (`key: value`)",
    "mapping": "a mapping (`key: value`)",
    "model": "a mapping (`key: value`)",
    "dataclass": "a mapping (`key: value`)",
}
"""How pydantic's error begins → what belongs there."""

_BOUNDS = {
    "greater_than": ("gt", "more than {}"),
    "greater_than_equal": ("ge", "{} or more"),
    "less_than": ("lt", "less than {}"),
    "less_than_equal": ("le", "{} or less"),
}


def validated(model: type[_Model], data: Any, text: YamlText, faults: Faults, place: Place = ()) -> _Model | None:
    """The model that the data fill, or None with a fault for each thing that does not fit."""
    try:
        # By way of JSON, a list may fill a tuple while a number in quotes is still no number.
        return model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as exc:
        by_place: dict[Place, list[ErrorDetails]] = {}
        for error in exc.errors(include_url=False):
            by_place.setdefault(_known(text, place, error["loc"]), []).append(error)
        for where, errors in by_place.items():
            faults.add(_sentence(model, place, where, errors), text.line_of(where))
        return None


def _known(text: YamlText, place: Place, loc: Sequence[str | int]) -> Place:
    """Where in the file the fault stands: as deep as the file goes, for a union adds names of its own."""
    found = place
    for part in loc:
        if (*found, part) not in text.lines:
            break
        found = (*found, part)
    return found


def _sentence(model: type[BaseModel], place: Place, where: Place, errors: list[ErrorDetails]) -> str:
    name = written(where)
    first = errors[0]
    if first["type"] == "extra_forbidden":
        known = field_names(_model_at(model, where[len(place) : -1]) or model)
        return unknown_key(str(where[-1]), known, where[:-1])
    if first["type"] == "missing":
        missing = " and ".join(f"`{error['loc'][-1]}`" for error in errors)
        return f"{name + ' has no ' if name else 'there is no '}{missing}"
    expected = list(dict.fromkeys(filter(None, map(_expectation, errors))))
    if len(expected) == len(errors) or (expected and len(errors) > 1):
        return f"{name} is {_shown(first['input'])}; {' or '.join(expected)} belongs there"
    message = str(first["ctx"]["error"]) if first["type"] == "value_error" else _lowered(first["msg"])
    return f"{name}: {message}" if name else message


def _expectation(error: ErrorDetails) -> str | None:
    kind, context = error["type"], error.get("ctx", {})
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return f"a number of {words.format(format(context[key], 'g'))}"
    if kind in ("literal_error", "enum"):
        return str(context["expected"])
    if kind in ("too_short", "string_too_short"):
        n = context["min_length"]
        return f"a list of {n} or more" if kind == "too_short" and n > 1 else "something that is not empty"
    if kind == "too_long":
        return "the name of one stage (several are a list, `- name`)"
    if kind.endswith(("_type", "_float", "_parsing")):
        return _EXPECTED.get(kind.rsplit("_", 1)[0])
    return None


def unknown_key(key: str, known: Sequence[str], place: Place = ()) -> str:
    """That there is no such key, with the nearest ones or all."""
    inside = f" in {written(place)}" if place else ""
    hint = did_you_mean(key, known) or (f" Known are {', '.join(known)}." if known else " It takes none.")
    return f"there is no key {key!r}{inside}.{hint}"


def written(place: Place) -> str:
    """A place as people write it: `pipelines.keyword.rerank[1]`."""
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    return f"`{text}`" if text else ""


def field_names(model: type[BaseModel]) -> list[str]:
    """The keys that a model takes, as the file writes them."""
    return [option.alias or name for name, option in model.model_fields.items()]


def sole_option(model: type[BaseModel]) -> str | None:
    """The one option that must be given, if there is one: `python: "module:function"` gives it without its name."""
    needed = [option.alias or name for name, option in model.model_fields.items() if option.is_required()]
    return needed[0] if len(needed) == 1 else None


def _model_at(model: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """The model that a place inside a model is held against."""
    current: Any = model
    for part in place:
        if current is None:
            return None
        options = {option.alias or name: option for name, option in current.model_fields.items()}
        if part in options:
            current = options[part].annotation
        models = list(_models(current))
        current = models[0] if models else None
    return current if isinstance(current, type) else None


def _models(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
