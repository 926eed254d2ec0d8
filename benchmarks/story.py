"""Scenes of a story as vectors: the text, and what each contender does with it.

Both read the same text in the same process and end with one similarity per scene and query; the peer weighs words by
their rarity (TF-IDF), so that the figures of the rankings are not compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cases import N_TOKENS
from benchmarks.contenders import Work

VOCABULARY = 20_000
N_QUERIES = 100
QUERY_TOKENS = 6


def texts(n_texts: int, n_tokens: int, seed: int) -> list[str]:
    """Texts whose words are as rare as words are: the nth most frequent one in proportion to 1/n."""
    rng = np.random.RandomState(seed)
    shares = 1 / np.arange(1, VOCABULARY + 1)
    ranks = rng.choice(VOCABULARY, (n_texts, n_tokens), p=shares / shares.sum())
    return [" ".join(f"word{rank}" for rank in row) for row in ranks.tolist()]


def work_of(case: str, contender: str, n_scenes: int) -> Work:
    """What is timed for a case: encoding all scenes, or one similarity per scene for each of the queries."""
    scenes, queries = texts(n_scenes, N_TOKENS, 20_261_101), texts(N_QUERIES, QUERY_TOKENS, 7)
    tools: dict[str, Any] = {"rankproof": _Ours(), "sklearn": _TfIdf()}
    tool = tools[contender]
    # Libraries are loaded at the first call.
    tool.search(tool.encode(scenes[:10]), queries[:1])
    if case == "story encode":
        return lambda: {"bytes": float(tool.size(tool.encode(scenes)))}
    index = tool.encode(scenes)
    return lambda: {"best": tool.search(index, queries)}


class _Ours:
    def encode(self, scenes: list[str]) -> Any:
        from rankproof.story.profiles import Ranker

        return Ranker.of(scenes, "vsa")

    def size(self, index: Any) -> int:
        return int(index.index.n_bytes)

    def search(self, index: Any, queries: list[str]) -> float:
        best = [similarities[order[0]] for order, similarities in index.rankings(queries)]
        return float(np.mean(best))


class _TfIdf:
    def encode(self, scenes: list[str]) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer()
        return vectorizer, vectorizer.fit_transform(scenes)

    def size(self, index: Any) -> int:
        _, matrix = index
        return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)

    def search(self, index: Any, queries: list[str]) -> float:
        vectorizer, matrix = index
        best = []
        for query in queries:
            # Vectors have the length 1, so that the product is the cosine.
            similarities = (matrix @ vectorizer.transform([query]).T).toarray().ravel()
            best.append(similarities[np.argsort(-similarities, kind="stable")[0]])
        return float(np.mean(best))
