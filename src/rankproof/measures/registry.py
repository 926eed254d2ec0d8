"""Measures by name. `@measure` declares one where it stands; names, parameters and help come from its signature.

A measure is a pure function from `Judged` to one float per query. Keyword-only parameters are its parameters; `k`
is the cut-off that is written behind the `@`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from rankproof.errors import NotMeasured, UnknownName, UsageError
from rankproof.measures.judged import Floats, Judged

Aggregate = Literal["mean", "sum", "geometric"]
Function = Callable[..., Floats]

REQUIRED = inspect.Parameter.empty


@dataclass
class Family:
    """A measure before its parameters are chosen: what one decorated function declares."""

    name: str
    function: Function
    aliases: tuple[str, ...]
    parameters: dict[str, Any]
    """Parameter → default; `REQUIRED` where there is none."""
    aggregate: Aggregate
    bounds: tuple[float, float]
    perfect: float | None
    """What a perfect ranking scores, where every perfect ranking scores the same."""
    cutoff: Literal["none", "optional", "required"]
    doc: str
    shortcuts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Aliases that also set parameters."""
    expectation: Function | None = None
    ordered: bool = True
    """Whether the order of the ranking matters to it."""

    @cached_property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """Parameter → the words it may take, read off its annotation."""
        try:
            hints = get_type_hints(self.function)
        except NameError:
            return {}
        return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}

    def expected(self, function: Function) -> Function:
        """Declare the decorated function as the exact mean of the measure over all orders of tied documents."""
        self.expectation = function
        return function

    def __call__(self, **parameters: Any) -> Measure:
        """The measure with these parameters: `nDCG(gain="exp")`."""
        return make_measure(self, parameters)

    def __matmul__(self, k: float) -> Measure:
        """The measure at a cut-off: `nDCG @ 10`."""
        return make_measure(self, {"k": k})


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters: a value that can be written, compared and used as a key."""

    family: str
    parameters: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return self._written

    @cached_property
    def _written(self) -> str:
        given = dict(self.parameters)
        k = given.pop("k", None)
        inner = ",".join(f"{name}={_written(value)}" for name, value in given.items())
        return self.family + (f"({inner})" if inner else "") + (f"@{k}" if k is not None else "")

    def __repr__(self) -> str:
        return f"<Measure {self}>"

    def __matmul__(self, k: float) -> Measure:
        return make_measure(family(self.family), {**dict(self.parameters), "k": k})

    @property
    def k(self) -> int | None:
        """The rank cut-off, if the measure has one."""
        k = dict(self.parameters).get("k")
        return k if isinstance(k, int) else None

    @property
    def aggregate(self) -> Aggregate:
        """How values of queries become one value."""
        return family(self.family).aggregate

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value of a query."""
        return family(self.family).bounds

    def compute(self, judged: Judged, defaults: Mapping[str, Mapping[str, Any]], *, expected: bool = False) -> Floats:
        """One value per query. `defaults` are the parameter defaults of a preset, by family."""
        own = family(self.family)
        parameters = {**defaults.get(self.family, {}), **dict(self.parameters)}
        if parameters.pop("judged_only", False):
            judged = judged.condensed()
        function = own.function
        if expected and own.ordered:
            if own.expectation is None:
                known = ", ".join(sorted(f.name for f in families().values() if f.expectation))
                raise NotMeasured(f"{self} has no exact mean over ties; ties='expected' works for {known}")
            function = own.expectation
        values = function(judged, **_frozen_out(parameters))
        return np.asarray(values, np.float64)


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{a}:{b}" for a, b in value) + "}"
    return repr(value)


def _frozen_out(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: dict(v) if isinstance(v, tuple) else v for name, v in parameters.items()}


_families: dict[str, Family] = {}
_by_alias: dict[str, tuple[Family, Mapping[str, Any]]] = {}


def measure(
    name: str,
    *,
    aliases: tuple[str, ...] = (),
    shortcuts: Mapping[str, Mapping[str, Any]] | None = None,
    aggregate: Aggregate = "mean",
    bounds: tuple[float, float] = (0.0, 1.0),
    perfect: float | None = 1.0,
    ordered: bool = True,
) -> Callable[[Function], Family]:
    """Register the decorated function, `Judged` to one float per query, as a measure."""

    def declare(function: Function) -> Family:
        parameters, cutoff = _signature(function)
        made = Family(
            name, function, aliases, parameters, aggregate, bounds, perfect, cutoff,
            inspect.getdoc(function) or "", shortcuts or {}, ordered=ordered,
        )  # fmt: skip
        _register(made)
        return made

    return declare


def query_measure(name: str, **options: Any) -> Callable[[Callable[..., float]], Family]:
    """Register a plain function of one query: `f(ranks, grades, ideal, n_retrieved, **parameters) -> float`.

    `ranks` and `grades` are lists of the judged documents that were retrieved, `ideal` all grades, best first.
    """

    def declare(function: Callable[..., float]) -> Family:
        def every_query(judged: Judged, **parameters: Any) -> Floats:
            n = judged.n_queries
            edges = np.searchsorted(judged.hits.query, np.arange(n + 1)).tolist()
            ideal_edges = np.searchsorted(judged.ideal.query, np.arange(n + 1)).tolist()
            ranks, grades = judged.hits.rank.tolist(), judged.hits.grade.tolist()
            ideal, retrieved = judged.ideal.grade.tolist(), judged.n_retrieved.tolist()
            return np.array([
                function(ranks[a:b], grades[a:b], ideal[c:d], r, **parameters)
                for a, b, c, d, r in zip(edges, edges[1:], ideal_edges, ideal_edges[1:], retrieved, strict=False)
            ], np.float64)  # fmt: skip

        every_query.__doc__ = function.__doc__
        every_query.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return measure(name, **options)(every_query)

    return declare


def _signature(function: Function) -> tuple[dict[str, Any], Literal["none", "optional", "required"]]:
    keyword = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    parameters = {p.name: p.default for p in keyword}
    if "k" not in parameters:
        return parameters, "none"
    return parameters, "required" if parameters["k"] is REQUIRED else "optional"


def _register(made: Family) -> None:
    names: dict[str, Mapping[str, Any]] = {name.lower(): {} for name in (made.name, *made.aliases)}
    names |= {alias.lower(): fixed for alias, fixed in made.shortcuts.items()}
    for alias in names:
        taken = _by_alias.get(alias)
        if taken is not None and taken[0].name != made.name:
            raise UsageError(f"The name {alias!r} of measure {made.name!r} already belongs to {taken[0].name!r}.")
    _families[made.name] = made
    for alias, fixed in names.items():
        _by_alias[alias] = (made, fixed)


@cache
def _load_all() -> None:
    package = importlib.import_module("rankproof.measures")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"rankproof.measures.{module.name}")


def families() -> dict[str, Family]:
    """All measures by canonical name."""
    _load_all()
    return dict(sorted(_families.items(), key=lambda item: item[0].lower()))


def family(name: str) -> Family:
    """The measure of that canonical name."""
    if name not in _families:
        _load_all()
    if name not in _families:
        raise UnknownName("measure", name, _families)
    return _families[name]


def by_alias(name: str) -> tuple[Family, Mapping[str, Any]] | None:
    """The measure that goes by this name in any tool, and the parameters that the name implies."""
    _load_all()
    return _by_alias.get(name.lower())


def all_names() -> list[str]:
    """Canonical names and aliases."""
    _load_all()
    return [f.name for f in _families.values()] + list(_by_alias)


def make_measure(own: Family, given: Mapping[str, Any]) -> Measure:
    """A measure with checked parameters in the order of its signature."""
    if own.cutoff == "none" and "k" in given:
        raise UsageError(f"{own.name} has no cut-off; write it without '@'.")
    allowed = [*own.parameters, "judged_only"]
    for name in given:
        if name not in allowed:
            raise UnknownName(f"parameter of {own.name}", name, allowed)
    if own.cutoff == "required" and given.get("k") is None:
        raise UsageError(f"{own.name} needs a cut-off: write {own.name}@10.")
    values = {name: _checked(own, name, given[name]) for name in allowed if given.get(name) is not None}
    if values.get("judged_only") is False:
        del values["judged_only"]
    return Measure(own.name, tuple(values.items()))


def _checked(own: Family, name: str, value: Any) -> Any:
    if name == "k" and own.name != "IPrec":
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"The cut-off of {own.name} is a rank, 1 or more, not {value!r}.")
        return value
    choices = own.choices.get(name)
    if choices is not None and value not in choices:
        raise UnknownName(f"{name} of {own.name}", str(value), choices)
    if isinstance(value, Mapping):
        return tuple(sorted(value.items()))
    return value
