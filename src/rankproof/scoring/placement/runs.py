"""Place the judged documents in a run that is held in columns."""

from __future__ import annotations

import numpy as np

from rankproof.data.run import Run
from rankproof.data.table import Table, name_keys
from rankproof.measures.judged import Ints
from rankproof.scoring.placement.facts import Order, Placement, Prepared, f32
from rankproof.scoring.placement.table import Ranked, place_rows


def place_run(prepared: Prepared, run: Run, *, order: Order | None, single: bool) -> Placement:
    """Where the judged documents stand in the run; `single` compares scores in single precision."""
    table = run.table
    query_of_group = _query_numbers(prepared, table)
    scores = f32(table.values) if single else table.values
    found = place_rows(prepared, Ranked(table.starts, table.docs, scores, table.index), query_of_group, order)
    known = query_of_group >= 0
    n_retrieved = np.zeros(prepared.n_queries, np.int64)
    n_retrieved[query_of_group[known]] = table.counts[known]
    in_run = np.zeros(prepared.n_queries, np.bool_)
    in_run[query_of_group[known]] = table.counts[known] > 0
    extra = np.flatnonzero(~known & (table.counts > 0))
    names = tuple(table.query_ids[i] for i in extra[:20].tolist())
    return Placement(found.row, found.above, found.tied, found.place, n_retrieved, in_run, names, len(extra))


def _query_numbers(prepared: Prepared, table: Table) -> Ints:
    if table.query_ids == prepared.qrels.query_ids:
        return np.arange(len(table.query_ids))
    return prepared.query_numbers(table.queries, name_keys(table.queries))
