"""Preference of relevant over judged non-relevant documents."""

from __future__ import annotations

import numpy as np

from rankproof.measures.judged import Floats, Judged, running_total, share
from rankproof.measures.registry import measure


@measure("Bpref", aliases=("bpref",))
def bpref(judged: Judged, *, rel: float = 1) -> Floats:
    """How seldom a judged non-relevant document stands above a relevant one; unjudged ones do not count.

    Buckley & Voorhees, SIGIR 2004, as in trec_eval. Where nothing was judged non-relevant, every relevant document
    found counts fully. Negative grades count as unjudged.
    """
    hits, ideal = judged.hits, judged.ideal
    total = judged.relevant(rel).total
    against = judged.total(ideal.query[(ideal.grade >= 0) & (ideal.grade < rel)])
    not_relevant = ((hits.grade >= 0) & (hits.grade < rel)).astype(np.float64)
    before = running_total(hits.query, not_relevant, judged.n_queries)
    chosen = hits.grade >= rel
    query = hits.query[chosen]
    bound = np.minimum(against, total)[query]
    worse = share(np.minimum(before[chosen], total[query]), bound)
    return share(judged.total(query, 1.0 - worse), total)


@measure("GMBpref", aliases=("gm_bpref",), aggregate="geometric")
def geometric_bpref(judged: Judged, *, rel: float = 1) -> Floats:
    """Bpref, summed up over queries by the geometric mean, each taken as at least 0.00001."""
    return bpref.function(judged, rel=rel)
