"""Metric definitions of tools that cannot run here, stated anew in plain Python.

These are re-statements of what the tools define, not the tools: Elasticsearch and OpenSearch are servers, BEIR and
sentence-transformers need torch. They share no code with the package, so that two readings of a definition meet.
"""

from __future__ import annotations

import heapq
import math
import struct
from collections.abc import Mapping, Sequence

from tests.conformance.cases import Case

CUTOFFS = (1, 3, 5, 8, 10)

Values = dict[str, float]


def by_score(row: Mapping[str, float]) -> list[str]:
    """Documents by falling score, equal ones as given: what an engine returned, in its order."""
    return sorted(row, key=lambda doc: -row[doc])


def by_single_score_then_id(row: Mapping[str, float]) -> list[str]:
    """trec_eval's order in single precision: falling score, then falling id by bytes."""

    def single(score: float) -> float:
        rounded: float = struct.unpack("f", struct.pack("f", score))[0]
        return rounded

    return sorted(row, key=lambda doc: (single(row[doc]), doc.encode()), reverse=True)


def from_heap(row: Mapping[str, float]) -> list[str]:
    """sentence-transformers' order: a heap of (score, id) filled as documents come, then sorted by score alone.

    Equal scores so keep the order of the heap's list: ascending ids where all are equal and come by ascending id.
    """
    heap: list[tuple[float, str]] = []
    for doc, score in row.items():
        heapq.heappush(heap, (score, doc))
    return [doc for score, doc in sorted(heap, key=lambda pair: -pair[0])]


def dcg(gains: Sequence[float]) -> float:
    """Gains from rank 1 on, each over log2(rank + 1)."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ratio(part: float, whole: float) -> float:
    """The share, 0 of nothing."""
    return part / whole if whole else 0.0


def reciprocal_rank(hits: Sequence[bool]) -> float:
    """One over the rank of the first hit."""
    return next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)


def precision_sum(hits: Sequence[bool]) -> float:
    """The precisions at the ranks of the hits, summed."""
    return sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit)


def elasticsearch(grades: Mapping[str, int], row: Mapping[str, float]) -> Values:
    """One request of the rank evaluation API, `normalize` on: exponential gain, the ideal list as long as the hits."""
    ranking = by_score(row)
    best = sorted(grades.values(), reverse=True)
    n_relevant = sum(grade >= 1 for grade in best)
    values: Values = {}
    for k in CUTOFFS:
        top = ranking[:k]
        hits = [grades.get(doc, 0) >= 1 for doc in top]
        gained = dcg([2.0 ** grades[doc] - 1 if doc in grades else 0.0 for doc in top])
        values[f"DCG@{k}"] = gained
        values[f"nDCG@{k}"] = ratio(gained, dcg([2.0**grade - 1 for grade in best[: len(top)]]))
        values[f"P@{k}"] = ratio(sum(hits), len(top))
        values[f"R@{k}"] = ratio(sum(hits), n_relevant)
        values[f"RR@{k}"] = reciprocal_rank(hits)
    return values


def opensearch(grades: Mapping[str, int], row: Mapping[str, float]) -> Values:
    """One query of the search relevance workbench: the ideal list cut at k, each value rounded to two decimals."""

    def rounded(value: float) -> float:
        # Java's Math.round takes halves up.
        return math.floor(value * 100 + 0.5) / 100

    ranking = by_score(row)
    best = sorted(grades.values(), reverse=True)
    n_relevant = sum(grade >= 1 for grade in best)
    values: Values = {}
    for k in CUTOFFS:
        top = ranking[:k]
        hits = [grades.get(doc, 0) >= 1 for doc in top]
        gained = dcg([2.0 ** grades[doc] - 1 if doc in grades else 0.0 for doc in top])
        values[f"DCG@{k}"] = rounded(gained)
        values[f"nDCG@{k}"] = rounded(ratio(gained, dcg([2.0**grade - 1 for grade in best[:k]])))
        values[f"P@{k}"] = rounded(ratio(sum(hits), len(top)))
        values[f"R@{k}"] = rounded(ratio(sum(hits), n_relevant))
        values[f"AP@{k}"] = rounded(ratio(precision_sum(hits), n_relevant))
        values[f"RR@{k}"] = rounded(reciprocal_rank(hits))
    return values


def sentence_transformers(grades: Mapping[str, int], row: Mapping[str, float]) -> Values:
    """One query of InformationRetrievalEvaluator: a set of relevant documents, AP over at most k of them."""
    relevant = {doc for doc, grade in grades.items() if grade > 0}
    ranking = from_heap(row)
    values: Values = {}
    for k in CUTOFFS:
        hits = [doc in relevant for doc in ranking[:k]]
        values[f"Success@{k}"] = float(any(hits))
        values[f"P@{k}"] = sum(hits) / k
        values[f"R@{k}"] = sum(hits) / len(relevant)
        values[f"RR@{k}"] = reciprocal_rank(hits)
        values[f"nDCG@{k}"] = dcg([float(hit) for hit in hits]) / dcg([1.0] * min(k, len(relevant)))
        values[f"AP@{k}"] = precision_sum(hits) / min(k, len(relevant))
    return values


def beir(case: Case) -> Values:
    """EvaluateRetrieval.evaluate: means over the queries in both, to five decimals, a query's own id taken out."""
    summed: Values = {}
    queries = [query for query in case.run if query in case.qrels]
    for query in queries:
        grades = case.qrels[query]
        ranking = by_single_score_then_id({doc: score for doc, score in case.run[query].items() if doc != query})
        best = sorted((max(grade, 0) for grade in grades.values()), reverse=True)
        n_relevant = sum(grade >= 1 for grade in best)
        for k in CUTOFFS:
            top = ranking[:k]
            hits = [grades.get(doc, 0) >= 1 for doc in top]
            for name, value in {
                f"nDCG@{k}": ratio(dcg([max(grades.get(doc, 0), 0) for doc in top]), dcg(best[:k])),
                f"AP@{k}": ratio(precision_sum(hits), n_relevant),
                f"R@{k}": ratio(sum(hits), n_relevant),
                f"P@{k}": sum(hits) / k,
            }.items():
                summed[name] = summed.get(name, 0.0) + value
    return {name: round(value / len(queries), 5) for name, value in summed.items()}
