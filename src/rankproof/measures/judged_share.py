"""How much of a ranking somebody has judged."""

from __future__ import annotations

import numpy as np

from rankproof.measures.judged import Floats, Judged, share
from rankproof.measures.registry import measure


@measure("Judged", aliases=("judged",), perfect=None)
def judged_share(judged: Judged, *, k: int) -> Floats:
    """Share of the first k documents returned that have a judgment, of whatever grade. Nothing returned: 0."""
    return share(judged.total(judged.cut(k).query), np.minimum(k, judged.n_retrieved))


@measure("Unjudged", aliases=("unjudged",), bounds=(0.0, np.inf), perfect=None)
def unjudged_count(judged: Judged, *, k: int | None = None) -> Floats:
    """How many of the (first k) documents returned nobody has judged."""
    returned = judged.n_retrieved if k is None else np.minimum(k, judged.n_retrieved)
    return returned - judged.total(judged.cut(k).query)
