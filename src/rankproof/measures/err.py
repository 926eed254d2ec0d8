"""Expected reciprocal rank."""

from __future__ import annotations

import numpy as np

from rankproof.measures.judged import Floats, Ints, Judged, running_total, share
from rankproof.measures.registry import measure


def _err(judged: Judged, query: Ints, rank: Ints, grade: Floats, k: int | None, max_grade: float | None) -> Floats:
    top = judged.max_grade if max_grade is None else max_grade
    stop = (np.exp2(np.clip(grade, 0.0, top)) - 1.0) / np.exp2(top)
    # The chance to get past all documents above: a product, taken as a sum of logarithms per query.
    passed = running_total(query, np.log1p(-stop), judged.n_queries) - np.log1p(-stop)
    terms = stop * np.exp(passed) / rank
    if k is not None:
        terms = np.where(rank <= k, terms, 0.0)
    return judged.total(query, terms)


@measure("ERR", aliases=("err",), perfect=None)
def err(judged: Judged, *, k: int | None = None, max_grade: float | None = None) -> Floats:
    """Expected reciprocal rank at which a reader, stopping with a chance that grows with the grade, is satisfied.

    Chapelle et al., CIKM 2009: a document of grade g stops the reader with (2^g − 1) / 2^max. The maximum grade is
    that of all judgments unless given.
    """
    hits = judged.hits
    return _err(judged, hits.query, hits.rank, hits.grade, k, max_grade)


@measure("nERR", aliases=("nerr",))
def normalized_err(judged: Judged, *, k: int | None = None, max_grade: float | None = None) -> Floats:
    """ERR as a share of the best possible. No relevant document: 0."""
    best = judged.ideal
    ideal = _err(judged, best.query, best.place, best.grade, k, max_grade)
    return np.minimum(share(err.function(judged, k=k, max_grade=max_grade), ideal), 1.0)
