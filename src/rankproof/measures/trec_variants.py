"""The experimental measures of trec_eval, for those who compare with old figures."""

from __future__ import annotations

import numpy as np

from rankproof.measures.judged import Floats, Ints, Judged, ideal_gain_at, running_total, share
from rankproof.measures.ndcg import discounts, ndcg
from rankproof.measures.registry import measure


@measure("BinG", aliases=("binG",))
def binary_g(judged: Judged, *, rel: float = 1) -> Floats:
    """Mean over the relevant documents of 1 / log2(2 + the non-relevant ones above); those not retrieved count 0."""
    relevant = judged.relevant(rel)
    not_relevant = relevant.rank - relevant.nth
    return share(judged.total(relevant.query, 1.0 / np.log2(2.0 + not_relevant)), relevant.total)


@measure("G", aliases=("G",))
def g(judged: Judged, *, rel: float = 1) -> Floats:
    """Share of all gain, each relevant document's discounted by log2(2 + what the ranking is behind the best one).

    Every rank beyond the number of relevant documents puts it one further behind.
    """
    hits, relevant = judged.hits, judged.relevant(rel)
    chosen = hits.grade >= rel
    grade = hits.grade[chosen]
    gained = running_total(relevant.query, grade, judged.n_queries)
    best = ideal_gain_at(judged, relevant.query, relevant.rank, rel)
    beyond = np.maximum(relevant.rank - relevant.total[relevant.query], 0)
    ideal = judged.ideal
    whole = judged.total(ideal.query, np.where(ideal.grade >= rel, ideal.grade, 0.0))
    return share(judged.total(relevant.query, grade / np.log2(2.0 + best + beyond - gained)), whole)


@measure("Rndcg", aliases=("Rndcg",))
def r_ndcg(judged: Judged) -> Floats:
    """Mean of nDCG cut at the number of documents of each positive grade or better, over the grades that occur.

    As trec_eval does it, the whole ranking counts once more if it goes on for two documents beyond the last cut.
    """
    summed, levels = np.zeros(judged.n_queries), np.zeros(judged.n_queries)
    for level in np.unique(judged.ideal.grade[judged.ideal.grade > 0]).tolist():
        at_level = judged.ideal.grade == level
        occurs = judged.total(judged.ideal.query[at_level]) > 0
        depth = judged.relevant(level).total
        summed += np.where(occurs, _ndcg_at(judged, depth), 0.0)
        levels += occurs
    longer = judged.n_retrieved > judged.total(judged.ideal.query[judged.ideal.grade > 0]) + 1
    summed += np.where(longer, ndcg.function(judged), 0.0)
    return share(summed, levels + longer)


def _ndcg_at(judged: Judged, depth: Ints) -> Floats:
    """nDCG with a cut-off of its own for each query."""
    hits, best = judged.hits, judged.ideal
    gained = np.where(hits.rank <= depth[hits.query], np.maximum(hits.grade, 0) * discounts(hits.rank), 0.0)
    most = np.where(best.place <= depth[best.query], np.maximum(best.grade, 0) * discounts(best.place), 0.0)
    return share(judged.total(hits.query, gained), judged.total(best.query, most))


@measure("nDCGrel", aliases=("ndcg_rel",))
def ndcg_at_relevant(judged: Judged) -> Floats:
    """Mean of nDCG at the rank of every document of positive grade; those not retrieved count as the whole ranking."""
    hits, best = judged.hits, judged.ideal
    gained = running_total(hits.query, np.maximum(hits.grade, 0) * discounts(hits.rank), judged.n_queries)
    most = running_total(best.query, np.maximum(best.grade, 0) * discounts(best.place), judged.n_queries)
    starts = np.searchsorted(best.query, np.arange(judged.n_queries))
    counts = np.bincount(best.query, minlength=judged.n_queries)
    chosen = hits.grade > 0
    query, rank = hits.query[chosen], hits.rank[chosen]
    at = gained[chosen] / most[starts[query] + np.minimum(rank, counts[query]) - 1]
    total = judged.total(best.query[best.grade > 0])
    not_found = total - judged.total(query)
    return share(judged.total(query, at) + not_found * ndcg.function(judged), total)
