"""What there is to choose from, described from the code itself: for the terminal and for the reference pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankproof.measures.parse import parse_measure
from rankproof.measures.registry import REQUIRED, Family, by_alias, families, family
from rankproof.scoring.rules import PRESETS, Preset, Rules


def first_line(own: Family) -> str:
    """The sentence that says what a measure is."""
    return own.doc.split("\n\n")[0].replace("\n", " ")


def written(own: Family) -> str:
    """How the measure is written: `nDCG[@k]`."""
    cut = {"none": "", "optional": "[@k]", "required": "@k"}[own.cutoff]
    return f"{own.name}{cut}" if own.name != "IPrec" else "IPrec@recall"


def parameters_of(own: Family) -> dict[str, Any]:
    """The parameters in parentheses, with their defaults."""
    return {name: default for name, default in own.parameters.items() if name != "k" and default is not REQUIRED}


def other_names(own: Family) -> list[str]:
    """Names that other tools use for it."""
    return [*own.aliases, *own.shortcuts]


def measure_list() -> str:
    """One line per measure."""
    rows = [(written(own), first_line(own)) for own in families().values()]
    width = max(len(name) for name, _ in rows)
    return "".join(f"{name:<{width}}  {text}\n" for name, text in rows)


def measure_page(name: str) -> str:
    """All there is to say about one measure."""
    known = by_alias(name)
    own = known[0] if known else family(parse_measure(name).family)
    lines = [written(own), "", own.doc, ""]
    for parameter, default in parameters_of(own).items():
        words = own.choices.get(parameter)
        lines.append(f"  {parameter} = {default!r}" + (f"  ({', '.join(map(str, words))})" if words else ""))
    low, high = own.bounds
    lines.append(f"range: {low:g} to {high:g}")
    if other_names(own):
        lines.append(f"also read as: {', '.join(other_names(own))}")
    if own.aggregate != "mean":
        lines.append(f"over queries: {own.aggregate}")
    return "\n".join(lines) + "\n"


def departures(preset: Preset) -> dict[str, Any]:
    """The rules of a preset that are not those of the default."""
    plain = Rules().as_dict()
    return {name: value for name, value in preset.rules.as_dict().items() if value != plain[name]}


def default_words(defaults: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The parameter defaults of a preset, one text per measure."""
    texts = []
    for name, parameters in sorted(defaults.items()):
        inner = ", ".join(f"{k}={'any positive' if isinstance(v, float) else v}" for k, v in parameters.items())
        texts.append(f"{name}({inner})")
    return texts


def preset_list() -> str:
    """Presets with what sets them apart."""
    lines = []
    for preset in PRESETS.values():
        lines.append(f"{preset.name}\n    {preset.about}")
        apart = [f"{name}={value}" for name, value in departures(preset).items()] + default_words(preset.defaults)
        if apart:
            lines.append(f"    {', '.join(apart)}")
    return "\n".join(lines) + "\n"
