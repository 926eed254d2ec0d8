"""trec_eval's binG."""

from __future__ import annotations

import numpy as np

from rankproof.measures.judged import Floats, Judged, share
from rankproof.measures.registry import measure


@measure("BinG", aliases=("binG",))
def binary_g(judged: Judged, *, rel: float = 1) -> Floats:
    """Mean over the relevant documents of 1 / log2(2 + the non-relevant ones above); those not retrieved count 0."""
    relevant = judged.relevant(rel)
    not_relevant = relevant.rank - relevant.nth
    return share(judged.total(relevant.query, 1.0 / np.log2(2.0 + not_relevant)), relevant.total)
