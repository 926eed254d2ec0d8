"""Methods of fusion by name. `@method` declares one where it stands; its parameters come from its signature.

A method is a pure function from `Candidates` to one score per row. `weights` among its keywords means that runs can be
weighted, `normalize` that it looks at scores; one without `normalize` looks at ranks only.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from rankproof.errors import NotMeasured, UnknownName, UsageError, count
from rankproof.fusion.candidates import Candidates
from rankproof.fusion.normalization import check_normalization
from rankproof.fusion.order import Floats

Function = Callable[..., Floats]


@dataclass(frozen=True)
class Method:
    """What one decorated function declares."""

    name: str
    function: Function
    parameters: Mapping[str, Any]
    """Parameter → default."""
    doc: str

    @property
    def takes_weights(self) -> bool:
        """Whether runs can be weighted."""
        return "weights" in self.parameters

    @property
    def looks_at_scores(self) -> bool:
        """Whether scores matter to it, or ranks only."""
        return "normalize" in self.parameters


@dataclass(frozen=True)
class Fusion:
    """A method with its parameters chosen and checked."""

    method: Method
    parameters: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What a run that it makes is called."""
        return f"rankproof-{self.method.name}"

    def weighted(self, weights: Sequence[float]) -> Fusion:
        """The same with other weights."""
        return replace(self, parameters={**self.parameters, "weights": check_weights(weights, len(weights))})

    def scores(self, candidates: Candidates) -> Floats:
        """One fused score per row."""
        with np.errstate(over="ignore", invalid="ignore"):
            # Adding 0 leaves no negative zero, which would be written with its sign.
            found: Floats = self.method.function(candidates, **self.parameters) + 0.0
        if not bool(np.isfinite(found).all()):
            raise NotMeasured("The fused scores are too large for a number; normalise by min-max, or give less weight.")
        return found


_methods: dict[str, Method] = {}


def method(name: str) -> Callable[[Function], Function]:
    """Register the decorated function, `Candidates` to one score per row, as a method of fusion."""

    def declare(function: Function) -> Function:
        keyword = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        _methods[name] = Method(name, function, {p.name: p.default for p in keyword}, inspect.getdoc(function) or "")
        return function

    return declare


@cache
def _load_all() -> None:
    package = importlib.import_module("rankproof.fusion")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"rankproof.fusion.{module.name}")


def methods() -> dict[str, Method]:
    """All methods by name."""
    _load_all()
    return dict(sorted(_methods.items()))


def choose(
    by: str, n_runs: int, *, weights: Sequence[float] | None = None, normalize: str | None = None, **parameters: Any
) -> Fusion:
    """A method for so many runs, with its parameters checked; None leaves a parameter at its default."""
    known = methods()
    if by.lower() not in known:
        raise UnknownName("method of fusion", by, known)
    own = known[by.lower()]
    given = {"weights": weights, "normalize": normalize, **parameters}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in own.parameters:
            raise _not_a_parameter(own, name, known)
    if n_runs < 2:
        raise UsageError(f"Fusing takes two runs or more; {n_runs} was given.")
    if weights is not None:
        given["weights"] = check_weights(weights, n_runs)
    if normalize is not None:
        check_normalization(normalize)
    if "k" in given:
        given["k"] = _check_k(given["k"])
    return Fusion(own, given)


def _not_a_parameter(own: Method, name: str, known: Mapping[str, Method]) -> UsageError:
    if name == "weights":
        able = " and ".join(repr(one.name) for one in known.values() if one.takes_weights)
        return UsageError(f"The method {own.name!r} gives every run the same weight; {able} take weights.")
    if name == "normalize":
        return UsageError(f"The method {own.name!r} looks at ranks, not at scores; leave the normalisation out.")
    return UnknownName(f"parameter of {own.name!r}", name, own.parameters)


def check_weights(weights: Sequence[float], n_runs: int) -> tuple[float, ...]:
    """The weights as floats; raises UsageError unless they are one per run, none negative and not all of them 0."""
    if len(weights) != n_runs:
        runs = count(n_runs, "run", "runs")
        raise UsageError(f"{count(len(weights), 'weight', 'weights')} for {runs}: give one weight for each run.")
    for weight in weights:
        if not _is_number(weight) or weight < 0:
            raise UsageError(f"A weight is a number from 0 on, not {weight!r}; 0 leaves a run out of account.")
    if not any(weights):
        raise UsageError("All weights are 0, so no run would count; give at least one run a weight above 0.")
    return tuple(map(float, weights))


def _check_k(k: Any) -> float:
    if not _is_number(k) or k < 0:
        raise UsageError(f"k is a number from 0 on, not {k!r}; 60 is customary.")
    return float(k)


def _is_number(value: Any) -> bool:
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)
