"""Weights for a fusion, chosen on some of the judged queries and held to account on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import PurePath
from typing import Any

import numpy as np

from rankproof.comparison import Findings, compare
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.data.table import Table
from rankproof.errors import NothingToEvaluate, NotMeasured, UsageError, count
from rankproof.fusion.candidates import Candidates, lay_over
from rankproof.fusion.fuse import DEFAULT_DEPTH, check_depth, fused_run, listed_runs
from rankproof.fusion.registry import Fusion, choose
from rankproof.measures.parse import parse_measure
from rankproof.measures.registry import Family, Measure
from rankproof.scoring.alike import distinct_names
from rankproof.scoring.evaluate import Evaluator
from rankproof.scoring.scores import Scores

Weights = tuple[float, ...]
Progress = Callable[[int, int], None]
"""Called with the number of weights tried so far and of those to try."""

EQUAL, TUNED = "equal weights", "tuned weights"

_LEAST_QUERIES = 2
_WHOLE_GRID_UP_TO = 3
"""Runs up to which every point of the grid is tried; of more runs one weight is moved at a time."""
_DIGITS = 12
"""Decimals in which values and distances are the same; beyond them is the noise of adding up."""


@dataclass(frozen=True)
class Split:
    """The judged queries, parted once: weights are chosen on one part and judged on the other."""

    train: list[str]
    held_out: list[str]
    seed: int


@dataclass(frozen=True)
class Tuned:
    """Weights that were best on the train queries, and what everything scores on the held-out ones."""

    weights: Weights
    fusion: Fusion
    """The method with these weights."""
    measure: Measure
    train_value: float
    """What the weights reach on the queries that they were chosen on; too good to be quoted."""
    n_tried: int
    split: Split
    held_out: tuple[Scores, ...]
    """On the held-out queries: each run by itself, then equal weights, then the tuned ones."""
    best_single: int
    """Which run is best by itself on the train queries."""
    comparison: Findings
    """The tuned weights against that run, on the held-out queries."""
    candidates: Candidates = field(repr=False)

    def run(self, *, depth: int | None = DEFAULT_DEPTH, name: str | None = None) -> Run:
        """All queries fused with the tuned weights."""
        return fused_run(self.candidates, self.fusion, depth=depth, name=name)


def tune_weights(
    runs: Iterable[Any],
    qrels: Any,
    measure: str | Measure | Family,
    *,
    by: str = "weighted",
    normalize: str | None = None,
    train_share: float = 0.5,
    seed: int = 0,
    step: float = 0.1,
    depth: int | None = DEFAULT_DEPTH,
    progress: Progress | None = None,
    **parameters: Any,
) -> Tuned:
    """Choose the weights of a fusion on a share of the judged queries, and score them on the rest.

    The queries are parted by a hash of seed and query id, whatever their order. Up to three runs, all weights that add
    up to 1 in whole steps are tried; of more, one weight at a time is moved as long as that helps, from equal weights
    on. Equal weights are always tried, and of weights that do equally well those closest to equal are taken. `by` is
    `weighted` or `rrf`; other arguments as in `fuse`. A query without results counts 0.
    """
    given = listed_runs(runs)
    equal = (1 / max(1, len(given)),) * len(given)
    fusion = choose(by, len(given), weights=equal, normalize=normalize, **parameters)
    check_depth(depth)
    steps = _whole_steps(step)
    chosen, judged = parse_measure(measure), Qrels.of(qrels)
    split = split_queries(judged.query_ids, train_share=train_share, seed=seed)
    read = [Run.of(run) for run in given]
    singles = [
        Run(run.table, name=name) for run, name in zip(read, distinct_names(list(map(_name, read))), strict=True)
    ]
    for run in singles:
        _check_answers(run, split)
    candidates = lay_over(singles)

    on_train = Evaluator(_some_qrels(judged, split.train))
    train = candidates.of_queries(split.train)
    trials = _Trials(on_train, train, fusion, chosen, depth, progress)
    weights = trials.best_weights(equal, steps)
    alone = [_mean(on_train.evaluate(_some_run(run, split.train), chosen)) for run in singles]
    best_single = alone.index(max(alone))

    on_rest = Evaluator(_some_qrels(judged, split.held_out))
    rest = candidates.of_queries(split.held_out)
    fused = [
        fused_run(rest, fusion.weighted(one), depth=depth, name=name)
        for one, name in ((equal, EQUAL), (weights, TUNED))
    ]
    contenders = [*(_some_run(run, split.held_out) for run in singles), *fused]
    scores = tuple(on_rest.evaluate(run, chosen) for run in contenders)
    return Tuned(
        weights=weights,
        fusion=fusion.weighted(weights),
        measure=chosen,
        train_value=trials.value(weights),
        n_tried=len(trials.values),
        split=split,
        held_out=scores,
        best_single=best_single,
        comparison=compare([scores[best_single], scores[-1]]),
        candidates=candidates,
    )


def split_queries(query_ids: Iterable[str], *, train_share: float, seed: int) -> Split:
    """Part the queries by a hash of seed and id; the order in which they come does not matter."""
    if not 0 < train_share < 1:
        raise UsageError(f"The share of queries to choose weights on lies between 0 and 1, not {train_share!r}.")
    hashed = sorted(set(query_ids), key=lambda query: blake2b(f"{seed}\0{query}".encode()).digest())
    n_train = round(train_share * len(hashed))
    if min(n_train, len(hashed) - n_train) < _LEAST_QUERIES:
        judged = count(len(hashed), "judged query", "judged queries")
        raise NotMeasured(
            f"Of {judged} {n_train} would choose the weights and {len(hashed) - n_train} judge them; "
            f"either side needs {_LEAST_QUERIES}. Judge more queries, or divide them in another share."
        )
    return Split(sorted(hashed[:n_train]), sorted(hashed[n_train:]), seed)


def _whole_steps(step: float) -> int:
    steps = round(1 / step) if 0 < step <= 1 else 0
    if not steps or abs(steps * step - 1) > 1e-9:
        raise UsageError(f"Weights go from 0 to 1 in whole steps, such as 0.1, 0.05 or 0.25; {step!r} is no such step.")
    return steps


def _name(run: Run) -> str:
    return run.name or PurePath(run.source).name


def _check_answers(run: Run, split: Split) -> None:
    answered = set(run.query_ids)
    for side, queries in (("to choose weights on", split.train), ("held out", split.held_out)):
        if answered.isdisjoint(queries):
            raise NothingToEvaluate(
                f"{run.name}: it has results for none of the {len(queries):,} judged queries {side}, such as "
                f"{queries[0]!r}. Leave the run out, or see whether its query ids are those of the judgments."
            )


@dataclass(frozen=True)
class _Trials:
    """Weights tried on the train queries, each once."""

    evaluator: Evaluator
    candidates: Candidates
    fusion: Fusion
    measure: Measure
    depth: int | None
    progress: Progress | None
    values: dict[Weights, float] = field(default_factory=dict)

    def value(self, weights: Weights) -> float:
        """What the fusion with these weights scores."""
        if weights not in self.values:
            run = fused_run(self.candidates, self.fusion.weighted(weights), depth=self.depth)
            self.values[weights] = _mean(self.evaluator.evaluate(run, self.measure))
        return self.values[weights]

    def best_weights(self, equal: Weights, steps: int) -> Weights:
        """The best on the grid, or as far as moving one weight at a time leads."""
        if len(equal) <= _WHOLE_GRID_UP_TO:
            return self._best([equal, *_grid(len(equal), steps)])
        current, before = equal, None
        while current != before:
            before = current
            for run in range(len(equal)):
                current = self._best([current, *_moved(current, run, steps)])
        return current

    def _best(self, offered: Sequence[Weights]) -> Weights:
        new = [weights for weights in dict.fromkeys(offered) if weights not in self.values]
        total = len(self.values) + len(new)
        for weights in new:
            self.value(weights)
            if self.progress is not None:
                self.progress(len(self.values), total)
        return max(offered, key=self._merit)

    def _merit(self, weights: Weights) -> tuple[float, float, Weights]:
        apart = sum((weight - 1 / len(weights)) ** 2 for weight in weights)
        return round(self.values[weights], _DIGITS), -round(apart, _DIGITS), weights


def _grid(n_runs: int, steps: int) -> Iterator[Weights]:
    """All weights that add up to 1 in whole steps."""
    for parts in _parts(n_runs, steps):
        yield tuple(part / steps for part in parts)


def _parts(n: int, total: int) -> Iterator[tuple[int, ...]]:
    if n == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _parts(n - 1, total - first):
            yield first, *rest


def _moved(weights: Weights, run: int, steps: int) -> Iterator[Weights]:
    """One weight at every step from 0 to 1, the others sharing the rest in their proportions."""
    others = sum(weights) - weights[run]
    for part in range(steps + 1):
        rest = 1 - part / steps
        shared = [rest * weight / others if others > 0 else rest / (len(weights) - 1) for weight in weights]
        shared[run] = part / steps
        yield tuple(round(weight, _DIGITS) for weight in shared)


def _mean(scores: Scores) -> float:
    return scores.mean()[str(scores.measures[0])]


def _some_qrels(qrels: Qrels, query_ids: Sequence[str]) -> Qrels:
    return Qrels(_some(qrels.table, query_ids), source=qrels.source)


def _some_run(run: Run, query_ids: Sequence[str]) -> Run:
    return Run(_some(run.table, query_ids), name=run.name)


def _some(table: Table, query_ids: Sequence[str]) -> Table:
    """The rows of some of the queries, which come in the order given."""
    number = {query: i for i, query in enumerate(table.query_ids)}
    groups = [number[query] for query in query_ids if query in number]
    rows = np.concatenate([np.arange(table.starts[group], table.starts[group + 1]) for group in groups])
    starts = np.concatenate(([0], np.cumsum(table.counts[groups])))
    names = [table.query_ids[group] for group in groups]
    return Table(starts, table.values[rows], queries=names, docs=table.docs.take(rows))
