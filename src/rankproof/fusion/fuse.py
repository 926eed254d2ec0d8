"""From several runs to one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankproof.data.formats import is_path
from rankproof.data.run import Run
from rankproof.data.table import Table
from rankproof.errors import UsageError
from rankproof.fusion.candidates import Candidates, lay_over
from rankproof.fusion.order import ranked_rows, running_count
from rankproof.fusion.registry import Fusion, choose

DEFAULT_DEPTH = 1000


def fuse(
    runs: Iterable[Any],
    *,
    by: str = "rrf",
    weights: Sequence[float] | None = None,
    normalize: str | None = None,
    depth: int | None = DEFAULT_DEPTH,
    **parameters: Any,
) -> Run:
    """Make one run of several.

    Each of `runs` may be an object of ours, a path, a dict of dicts, (query, document, score) tuples or a data frame.
    `by` names the method: rrf, weighted, combsum, combmnz, combanz, combmax, combmin, combmed, isr, borda or condorcet.
    `weights`, one for each run, go with rrf and weighted; `normalize` (none, min-max, z-score, rank, max or sum) with
    the methods that look at scores, which take min-max unless told; `k` with rrf. A query is fused from the runs that
    have it. The result is cut to `depth` documents for each query, None keeping all; queries come by their id,
    documents by fused score, equal ones by id from high to low.
    """
    held = listed_runs(runs)
    fusion = choose(by, len(held), weights=weights, normalize=normalize, **parameters)
    check_depth(depth)
    return fused_run(lay_over([Run.of(run) for run in held]), fusion, depth=depth)


def listed_runs(runs: Iterable[Any]) -> list[Any]:
    """The runs as a list; a single run given in place of several is refused."""
    if is_path(runs) or isinstance(runs, (Run, Mapping)):
        raise UsageError("Fusing takes a list of runs; a single run was given. Write fuse([first, second]).")
    return list(runs)


def check_depth(depth: int | None) -> None:
    """Raise UsageError unless the depth is a number of documents."""
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, (int, np.integer)) or depth < 1):
        raise UsageError(f"The depth is a number of documents, 1 or more, not {depth!r}.")


def fused_run(candidates: Candidates, fusion: Fusion, *, depth: int | None, name: str | None = None) -> Run:
    """The candidates ordered by their fused scores."""
    scores = fusion.scores(candidates)
    rows = ranked_rows(candidates.query, scores, candidates.docs)
    counts = candidates.n_rows
    if depth is not None:
        rows = rows[running_count(candidates.starts) <= depth]
        counts = np.minimum(counts, depth)
    starts = np.concatenate(([0], np.cumsum(counts)))
    table = Table(starts, scores[rows], queries=candidates.query_ids, docs=candidates.docs.take(rows))
    return Run(table, name=name or fusion.name, source=name or fusion.name)
