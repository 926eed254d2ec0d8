"""The deterministic A/B: two configurations over the same queries, to the same bytes everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rankproof.data.gold import Query
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.errors import NotMeasured
from rankproof.retrieval.pipeline import PipelineRun
from rankproof.scoring.evaluate import Evaluator

PRESET = "ab"
METRICS = ("recall", "mrr", "ndcg")


class Row(NamedTuple):
    """What one system scores on one query, and which of its results are relevant, in rank order."""

    recall: float
    mrr: float
    ndcg: float
    hits: tuple[str, ...]

    def metrics(self) -> dict[str, float]:
        """The three figures by name."""
        return {"recall": self.recall, "mrr": self.mrr, "ndcg": self.ndcg}


@dataclass(frozen=True)
class System:
    """One side: where its configuration is, what it does, and what it scores."""

    config_path: str
    """As it was given."""
    config_digest: str
    """Of everything in the configuration that changes the ranking."""
    rows: Mapping[str, Row]

    def macro(self) -> dict[str, float]:
        """The mean over all queries, judged or not."""
        return {name: sum(row.metrics()[name] for row in self.rows.values()) / len(self.rows) for name in METRICS}


@dataclass(frozen=True)
class AbResult:
    """Both sides, and the digests of what they were given."""

    k: int
    corpus_digest: str | None
    queries_digest: str
    qrels_digest: str
    first: System
    second: System


def ab_rows(run: PipelineRun, qrels: Qrels, k: int) -> dict[str, Row]:
    """Recall, reciprocal rank and nDCG with exponential gain, all at k; a query without judgments counts 0.

    Queries keep the order in which they were asked. A query that failed is refused: no figure is made up for it.
    """
    failed = {**run.of_state("not measured"), **run.of_state("degraded")}
    if failed:
        query_id, reason = next(iter(failed.items()))
        raise NotMeasured(f"{run.name}: {len(failed):,} queries failed; the first is {query_id!r}: {reason}")
    grades = qrels.to_dict()
    values = _values(run.to_run(), grades, run.queries, k)
    rows = {}
    for query, answer in zip(run.queries, run.answers, strict=True):
        relevant = grades.get(query.id, {})
        hits = tuple(hit.doc_id for hit in answer.hits[:k] if relevant.get(hit.doc_id, 0) > 0)
        rows[query.id] = Row(*values.get(query.id, (0.0, 0.0, 0.0)), hits)
    return rows


def _values(
    run: Run, grades: Mapping[str, Mapping[str, float]], queries: Sequence[Query], k: int
) -> dict[str, tuple[float, float, float]]:
    asked = {query.id for query in queries}
    judged = {query: row for query, row in grades.items() if query in asked and row}
    if not judged or not any(query in judged for query in run.query_ids):
        return {}
    names = (f"R@{k}", f"RR@{k}", f"nDCG@{k}")
    scores = Evaluator(Qrels.from_dict(judged, source="truth"), preset=PRESET).evaluate(run, names)
    return {
        query: (row[0], row[1], row[2]) for query, row in zip(scores.query_ids, scores.values.T.tolist(), strict=True)
    }
