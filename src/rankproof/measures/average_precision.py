"""Average precision and what is made of it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rankproof.measures.judged import Floats, Judged, running_count, running_total, share
from rankproof.measures.registry import measure

Denominator = Literal["relevant", "attainable", "found"]


def _denominator(judged: Judged, k: int | None, rel: float, denominator: Denominator) -> Any:
    if denominator == "found":
        return judged.found(rel, k)
    total = judged.relevant(rel).total
    return np.minimum(total, k) if denominator == "attainable" and k is not None else total


@measure("AP", aliases=("MAP", "map_cut", "average_precision"))
def average_precision(
    judged: Judged, *, k: int | None = None, rel: float = 1, denominator: Denominator = "relevant"
) -> Floats:
    """Mean of the precision at the rank of every relevant document, those not retrieved counting 0.

    `denominator`: all relevant documents; `attainable`, at most k of them; `found`, those found.
    """
    relevant = judged.relevant(rel)
    precision = relevant.nth / relevant.rank
    if k is not None:
        precision = np.where(relevant.rank <= k, precision, 0.0)
    return share(judged.total(relevant.query, precision), _denominator(judged, k, rel, denominator))


@average_precision.expected
def expected_average_precision(
    judged: Judged, *, k: int | None = None, rel: float = 1, denominator: Denominator = "relevant"
) -> Floats:
    """The mean over the orders of every tie.

    A relevant document at place i of a tie of t, m of them relevant, has (i − 1)(m − 1)/(t − 1) others before it.
    """
    if denominator == "found":
        from rankproof.errors import NotMeasured

        raise NotMeasured("AP(denominator='found') has no exact mean over ties.")
    hits = judged.hits
    chosen = hits.grade >= rel
    query, above, tied = hits.query[chosen], hits.above[chosen], hits.tied[chosen]
    if not len(query):
        return np.zeros(judged.n_queries)
    first = np.flatnonzero(np.concatenate(([True], (np.diff(query) != 0) | (np.diff(above) != 0))))
    m = np.diff(np.append(first, len(query)))
    query, above, tied = query[first], above[first], tied[first]
    before = np.cumsum(m) - m
    before -= before[np.searchsorted(query, query)]
    tie = np.repeat(np.arange(len(m)), tied)
    place = np.arange(1, len(tie) + 1) - np.repeat(np.cumsum(tied) - tied, tied)
    others = (place - 1) * (m[tie] - 1) / np.maximum(tied[tie] - 1, 1)
    rank = above[tie] + place
    term = m[tie] / tied[tie] * (before[tie] + 1 + others) / rank
    if k is not None:
        term = np.where(rank <= k, term, 0.0)
    return share(judged.total(query[tie], term), _denominator(judged, k, rel, denominator))


@measure("GMAP", aliases=("gm_map",), aggregate="geometric")
def geometric_map(judged: Judged, *, rel: float = 1) -> Floats:
    """Average precision, summed up over queries by the geometric mean, each taken as at least 0.00001.

    The value of a query is its plain average precision.
    """
    return average_precision.function(judged, rel=rel)


@measure("SetAP", aliases=("set_map",), perfect=None, ordered=False)
def set_average_precision(judged: Judged, *, rel: float = 1) -> Floats:
    """Precision times recall of the whole set returned."""
    found = judged.found(rel)
    return share(found, judged.n_retrieved) * share(found, judged.relevant(rel).total)


@measure("infAP", aliases=("inferred_ap",), perfect=None)
def inferred_average_precision(judged: Judged, *, rel: float = 1) -> Floats:
    """Average precision estimated from a sample of judgments.

    Yilmaz & Aslam, CIKM 2006, as in trec_eval: a negative grade marks a document that was pooled but not sampled.
    """
    hits = judged.hits
    pooled = running_count(hits.query)
    relevant = running_total(hits.query, (hits.grade >= rel).astype(np.float64), judged.n_queries)
    not_relevant = running_total(
        hits.query, ((hits.grade >= 0) & (hits.grade < rel)).astype(np.float64), judged.n_queries
    )
    chosen = hits.grade >= rel
    above = hits.rank[chosen] - 1.0
    seen_relevant, seen_not = relevant[chosen] - 1.0, not_relevant[chosen]
    tiny = 0.00001
    estimate = (seen_relevant + tiny) / (seen_relevant + seen_not + 2 * tiny)
    share_pooled = np.divide(pooled[chosen] - 1.0, above, out=np.zeros(len(above)), where=above > 0)
    terms = np.where(above > 0, 1 / (above + 1) + above / (above + 1) * share_pooled * estimate, 1.0)
    return share(judged.total(hits.query[chosen], terms), judged.relevant(rel).total)
