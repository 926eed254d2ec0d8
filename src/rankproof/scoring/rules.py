"""Rules, and presets that bundle them: the one table of how each tool treats what others treat differently."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rankproof.errors import UnknownName

Ties = Literal["trec", "id", "input", "best", "worst", "expected"]
Absent = Literal["zero", "skip", "error"]

ANY_POSITIVE = math.ulp(0.0)
"""As a threshold: every grade above 0 is relevant, fractions of 1 included."""


@dataclass(frozen=True)
class Rules:
    """How ties, absent queries and unjudged documents are treated."""

    ties: Ties = "trec"
    """Equal scores: `trec` id descending by bytes · `id` ascending · `input` as given · `best` and `worst` bounds ·
    `expected` the exact mean over all orders."""
    missing: Absent = "zero"
    """A judged query that the run does not have: counts 0, leaves the mean, or is refused."""
    no_relevant: Absent = "zero"
    """A query without a relevant document: counts 0, leaves the mean, or is refused."""
    extra: Literal["ignore", "error"] = "ignore"
    """A query of the run that nobody judged: ignored and counted, or refused."""
    unjudged: Literal["nonrelevant", "condensed"] = "nonrelevant"
    """A document nobody judged: counts as not relevant, or is taken out of the ranking."""
    precision: Literal["float64", "float32"] = "float64"
    """In what precision scores are compared."""
    self_match: Literal["keep", "drop"] = "keep"
    """A document whose id is that of the query: kept, or taken out of the run."""
    round_query: int | None = None
    """Decimals to which each query's value is rounded before the mean."""
    round_mean: int | None = None
    """Decimals to which the mean is rounded."""

    def __post_init__(self) -> None:
        for name, words in _words().items():
            value = getattr(self, name)
            if value not in words:
                raise UnknownName(f"rule for {name}", str(value), words)

    def as_dict(self) -> dict[str, Any]:
        """The rules as plain data."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.as_dict().items() if value is not None)


@cache
def _words() -> dict[str, tuple[str, ...]]:
    """The words that each rule may take, read off its annotation."""
    return {name: get_args(hint) for name, hint in get_type_hints(Rules).items() if get_origin(hint) is Literal}


@dataclass(frozen=True)
class Preset:
    """Rules and parameter defaults under a name."""

    name: str
    about: str
    rules: Rules = field(default_factory=Rules)
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Measure → parameter → default, where it differs from the measure's own."""

    def with_rules(self, **changes: Any) -> Preset:
        """The same preset with some rules changed."""
        known = [f.name for f in fields(Rules)]
        for name in changes:
            if name not in known:
                raise UnknownName("rule", name, known)
        return replace(self, rules=replace(self.rules, **changes))


_EXP = {"nDCG": {"gain": "exp"}, "DCG": {"gain": "exp"}}
_POSITIVE = {name: {"rel": ANY_POSITIVE} for name in ("P", "R", "RR", "AP", "Success", "F", "Rprec")}


def _merged(*tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {}
    for table in tables:
        for name, parameters in table.items():
            merged[name] = {**merged.get(name, {}), **parameters}
    return merged


_ALL = [
    Preset("default", "ties as trec_eval, a missing query counts 0, scores compared in double precision"),
    Preset("trec_eval", "trec_eval 9.0.8: queries missing from the run leave the mean", Rules(missing="skip")),
    Preset("trec_eval-c", "trec_eval -c: queries missing from the run count 0"),
    Preset("trec_eval-10", "trec_eval 10: a query missing from the run is refused", Rules(missing="error")),
    Preset("pytrec_eval", "pytrec_eval: as trec_eval 9, scores rounded to single precision",
           Rules(missing="skip", precision="float32")),
    Preset("ranx", "ranx: ties as given, both sides must have the same queries",
           Rules(ties="input", missing="error", extra="error")),
    Preset("beir", "BEIR: pytrec_eval, a document with the id of its query dropped, means rounded to 5 decimals",
           Rules(missing="skip", precision="float32", self_match="drop", round_mean=5)),
    Preset("elasticsearch", "Elasticsearch rank evaluation: order as returned, exponential gain",
           Rules(ties="input"), _merged(_EXP, {"nDCG": {"ideal": "returned"}, "P": {"denominator": "returned"}})),
    Preset("opensearch", "OpenSearch search relevance: order as returned, each query rounded to 2 decimals",
           Rules(ties="input", round_query=2), _merged(_EXP, {"P": {"denominator": "returned"}})),
    Preset("sentence-transformers", "InformationRetrievalEvaluator: ids ascending, binary gain, AP over at most k",
           Rules(ties="id", no_relevant="skip"), {"nDCG": {"gain": "binary"}, "AP": {"denominator": "attainable"}}),
    Preset("rq", "Retrieval Quality of a story: ties in story order, queries without relevant scenes leave the mean",
           Rules(ties="input", no_relevant="skip")),
    Preset("labels", "relevant = 2, partial = 1: RR counts relevant only, precision both, nDCG the grades",
           Rules(), {"RR": {"rel": 2}, "P": {"rel": 1}}),
    Preset("ab", "the deterministic A/B: ids ascending, exponential gain, every grade above 0 is relevant",
           Rules(ties="id"), _merged(_EXP, _POSITIVE)),
    Preset("spec", "Precision@k over the documents returned, order as given",
           Rules(ties="input"), {"P": {"denominator": "returned"}}),
    Preset("wiki", "Recall@k is the share of queries with an ideal page among the first k",
           Rules(ties="input"), {"R": {"of": "any"}}),
]  # fmt: skip

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _ALL}


def preset(name: str | Preset) -> Preset:
    """The preset of that name."""
    if isinstance(name, Preset):
        return name
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]
