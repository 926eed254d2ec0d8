"""From judgments and a run to scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankproof.data.files import source_name
from rankproof.data.formats import choose_reader, is_path
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.data.table import Table
from rankproof.errors import BadInput, NothingToEvaluate, count
from rankproof.measures.judged import Judged
from rankproof.measures.judged_share import judged_share
from rankproof.measures.parse import parse_measures
from rankproof.measures.registry import Family, Measure
from rankproof.scoring.placement import Placement, Prepared
from rankproof.scoring.placement.dicts import place_dicts, suits
from rankproof.scoring.placement.runs import place_run
from rankproof.scoring.placement.stream import place_stream
from rankproof.scoring.ranks import judge, order_of
from rankproof.scoring.rules import Preset, Rules, preset
from rankproof.scoring.scores import Coverage, Scores
from rankproof.scoring.small import small_values

MeasureLike = str | Measure | Family
Measures = MeasureLike | Iterable[MeasureLike]
Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far and the size of the file, if known."""

_SHOWN = 20


def evaluate(
    qrels: Any, run: Any, measures: Measures, *, preset: str | Preset = "default", rules: Rules | None = None
) -> Scores:
    """Score a run against judgments.

    `qrels` and `run` may be objects of ours, paths, dicts of dicts, (query, document, number) tuples or data frames.
    `preset` names the rules; `rules` replaces those of the preset.
    """
    if type(qrels) is dict and type(run) is dict:
        chosen = parse_measures(measures)
        named = _preset(preset, rules)
        found = small_values(qrels, run, chosen, named)
        if found is not None:
            # The caller may change the dicts before the coverage is asked for: it must be that of these values.
            kept_qrels, kept_run = ({q: dict(row) for q, row in side.items()} for side in (qrels, run))
            coverage = partial(_coverage_of, kept_qrels, kept_run, chosen, named)
            return Scores(chosen, *found, coverage, named, find_judgments=lambda: Qrels.of(kept_qrels).digest)
    return Evaluator(qrels, preset=preset, rules=rules).evaluate(run, measures)


def _coverage_of(qrels: Any, run: Any, measures: tuple[Measure, ...], preset: Preset) -> Coverage:
    return Evaluator(qrels, preset=preset).evaluate(run, measures).coverage


class Evaluator:
    """Judgments prepared once, for many runs."""

    def __init__(self, qrels: Any, *, preset: str | Preset = "default", rules: Rules | None = None) -> None:
        self.prepared = Prepared(Qrels.of(qrels))
        self.preset = _preset(preset, rules)
        if not len(self.prepared.qrels):
            raise NothingToEvaluate(f"{self.prepared.qrels.source}: there is no judgment in it")

    def evaluate(
        self, run: Any, measures: Measures, *, progress: Progress | None = None, may_be_empty: bool = False
    ) -> Scores:
        """The scores of one run. One without any result is refused, since it is mostly a mistake; `may_be_empty` says
        that a system was asked and found nothing."""
        chosen = parse_measures(measures)
        name, placement = self._place(run, progress)
        scored = self._check(placement, name, may_be_empty=may_be_empty)
        judged = judge(self.prepared, placement, self.preset.rules, scored)
        values = self._compute(judged, chosen)
        coverage = partial(_coverage, self.prepared, placement, judged, chosen, scored)
        ids = self.prepared.qrels.query_ids
        scored_ids = ids if scored.all() else [ids[i] for i in np.flatnonzero(scored).tolist()]
        judgments = self.prepared.qrels
        return Scores(
            chosen, scored_ids, values, coverage, self.preset, name, placement.tag, lambda: judgments.digest
        )  # fmt: skip

    def _compute(self, judged: Judged, measures: tuple[Measure, ...]) -> NDArray[np.float64]:
        rules = self.preset.rules
        values = np.empty((len(measures), judged.n_queries))
        for row, measure in zip(values, measures, strict=True):
            row[:] = measure.compute(judged, self.preset.defaults, expected=rules.ties == "expected")
        if rules.round_query is None:
            return values
        # Halves go up, as in the engines that round, not to the even neighbour.
        scale = 10.0**rules.round_query
        return np.floor(values * scale + 0.5) / scale

    def _place(self, run: Any, progress: Progress | None) -> tuple[str, Placement]:
        rules = self.preset.rules
        order, single = order_of(rules), rules.precision == "float32"
        if is_path(run) and rules.self_match == "keep":
            name = _stem(run)
            if choose_reader("run", run).format == "trec":
                return name, place_stream(self.prepared, run, order=order, single=single, progress=progress)
        held = Run.of(run)
        name = _stem(run) if is_path(run) else held.name or held.source
        if rules.self_match == "drop":
            held = _without_self_matches(held)
        if suits(held):
            placement = place_dicts(self.prepared, held, order=order, single=single)
            if placement is not None:
                return name, placement
        return name, place_run(self.prepared, held, order=order, single=single)

    def _check(self, placement: Placement, name: str, *, may_be_empty: bool) -> NDArray[np.bool_]:
        """Apply the rules on absent queries; returns which judged queries are scored."""
        rules, ids = self.preset.rules, self.prepared.qrels.query_ids
        is_empty = placement.n_run_queries == 0
        if is_empty and not may_be_empty:
            raise NothingToEvaluate(f"{name}: the run holds no results")
        if not is_empty and not placement.in_run.any():
            raise _nothing_in_common(ids, placement, name)
        if rules.extra == "error" and placement.n_extra:
            shown = ", ".join(placement.extra[:_SHOWN])
            queries = count(placement.n_extra, "query of the run is", "queries of the run are")
            raise BadInput.of(name, f"{queries} not judged, which the rules refuse: {shown}")
        scored = np.ones(len(ids), np.bool_)
        missing = ("judged query is missing from the run", "judged queries are missing from the run")
        without = ("query has no relevant document", "queries have no relevant document")
        for rule, absent, words in (
            (rules.missing, ~placement.in_run, missing),
            (rules.no_relevant, ~self.prepared.has_relevant, without),
        ):
            if rule == "error" and absent.any():
                shown = ", ".join(_names(ids, absent))
                what = count(int(absent.sum()), *words)
                raise BadInput.of(name, f"{what}, which the rules refuse: {shown}")
            if rule == "skip":
                scored &= ~absent
        if not scored.any():
            raise NothingToEvaluate(f"{name}: under the rules ({rules}) no query is left to score")
        return scored


def _preset(name: str | Preset, rules: Rules | None) -> Preset:
    chosen = preset(name)
    return chosen if rules is None else replace(chosen, rules=rules)


def _stem(path: Any) -> str:
    name = source_name(path)
    return name if name == "<stdin>" else Path(os.fspath(path)).name


def _names(ids: list[str], which: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(ids[i] for i in np.flatnonzero(which)[:_SHOWN].tolist())


def _nothing_in_common(ids: list[str], placement: Placement, name: str) -> BadInput:
    ours, theirs = (", ".join(map(repr, names[:3])) for names in (ids, placement.extra))
    message = f"no query of the run is judged: the judgments have {ours} …, the run has {theirs} …"
    return BadInput.of(name, f"{message}. Check that both files use the same query ids.")


def _without_self_matches(run: Run) -> Run:
    table = run.table
    query_names = [table.query_ids[i] for i in table.row_query.tolist()]
    keep = np.array([doc != query for doc, query in zip(table.doc_ids, query_names, strict=True)], np.bool_)
    if keep.all():
        return run
    rows = np.flatnonzero(keep)
    starts = np.concatenate(([0], np.cumsum(np.bincount(table.row_query[keep], minlength=len(table.query_ids)))))
    held = Table(starts, table.values[rows], queries=table.query_ids, docs=table.docs.take(rows))
    return Run(held, name=run.name)


def _coverage(
    prepared: Prepared, placement: Placement, judged: Judged, measures: tuple[Measure, ...], scored: NDArray[np.bool_]
) -> Coverage:
    ids = prepared.qrels.query_ids
    cutoffs = sorted({m.k for m in measures if m.k is not None}) or [10]
    judged_at = {}
    for k in cutoffs:
        judged_at[k] = float(judged_share.function(judged, k=k).mean())
    missing, none = ~placement.in_run, ~prepared.has_relevant
    grades = prepared.qrels.table.values
    return Coverage(
        n_judged_queries=len(ids),
        n_run_queries=placement.n_run_queries,
        n_scored=int(scored.sum()),
        n_missing=int(missing.sum()),
        n_extra=placement.n_extra,
        n_no_relevant=int(none.sum()),
        judged_at=judged_at,
        tied_at={k: _cut_by_tie(judged, k) for k in cutoffs},
        missing=_names(ids, missing),
        extra=placement.extra,
        no_relevant=_names(ids, none),
        n_fractional=int(((grades > 0) & (grades < 1)).sum()),
    )


def _cut_by_tie(judged: Judged, k: int) -> int:
    hits = judged.hits
    if not len(hits.tied) or int(hits.tied.max()) == 1:
        return 0
    cut = (hits.above < k) & (hits.above + hits.tied > k)
    return len(np.unique(hits.query[cut]))
