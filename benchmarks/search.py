"""Search: an index of texts, and the vectors nearest to a query; ours beside others.

`python -m benchmarks.search SHAPE` writes the data of a shape. With CASE CONTENDER SHAPE REPEAT it measures one case
for one contender and says what `worker` says. Everybody gets the same list of texts, and returns ids and scores.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contenders import Means
from benchmarks.data import OUT

Vectors = NDArray[np.float32]
Scores = list[float]
"""Of all hits of all queries."""

N_DOCUMENTS, N_QUERIES = 100_000, 1_000
N_WORDS, SHORTEST, LONGEST = 100_000, 30, 90
"""Different words, and how many a document has: 60 on average."""
DIMENSIONS, N_CENTRES = 384, 1_000
BATCH = 256
ONE_BY_ONE = 100
"""So many queries are measured one at a time, and the time scaled to all."""
K1, B = 1.2, 0.75
_SEED = 20_261_101


@dataclass(frozen=True)
class Work:
    """What is timed, how its result is read, and how many times it the whole case is."""

    run: Callable[[], Any]
    means: Callable[[Any], Means]
    times: float = 1.0


# The data


def write(shape: str) -> None:
    """Write the data of a shape unless they are there; the same bytes every time."""
    n_documents = N_DOCUMENTS // 10 if shape.endswith("-small") else N_DOCUMENTS
    OUT.mkdir(exist_ok=True)
    if shape.startswith("texts"):
        _write_texts(shape, n_documents)
    else:
        _write_vectors(shape, n_documents)


def _write_texts(shape: str, n_documents: int) -> None:
    texts, queries = _file(shape, "documents.txt"), _file(shape, "queries.txt")
    if texts.exists() and queries.exists():
        return
    rng = np.random.RandomState(_SEED)
    lengths = rng.randint(SHORTEST, LONGEST + 1, n_documents)
    numbers = np.split(_zipf(rng, int(lengths.sum())), np.cumsum(lengths)[:-1])
    words = _vocabulary(rng)
    _replace(texts, "".join(f"{_sentences([words[i] for i in row])}\n" for row in numbers).encode())
    # Words of one document, frequent ones too, as questions are.
    asked = [np.unique(numbers[i]) for i in rng.randint(0, n_documents, N_QUERIES)]
    rows = [rng.choice(row, rng.randint(3, 7), replace=False) for row in asked]
    _replace(queries, "".join(f"{' '.join(words[i] for i in row)}\n" for row in rows).encode())


def _zipf(rng: np.random.RandomState, size: int) -> NDArray[np.int64]:
    """Numbers of words: the n-th is drawn 1/n times as often as the first."""
    shares = np.cumsum(1 / np.arange(1, N_WORDS + 1))
    drawn: NDArray[np.int64] = np.searchsorted(shares, rng.random_sample(size) * shares[-1])
    return drawn


def _vocabulary(rng: np.random.RandomState) -> list[str]:
    """Different words of two letters and more, the frequent ones short; one in 200 has a letter beyond ASCII."""
    words: dict[str, None] = {}
    while len(words) < N_WORDS:
        n_syllables = 1 + len(words) // 60 if len(words) < 120 else rng.randint(2, 5)
        places = zip(rng.randint(0, 20, n_syllables), rng.randint(0, 5, n_syllables), strict=True)
        word = "".join("bcdfghjklmnprstvwxyz"[consonant] + "aeiou"[vowel] for consonant, vowel in places)
        words[word.replace("e", "é") if len(words) % 200 == 199 else word] = None
    return list(words)


def _sentences(words: list[str]) -> str:
    """The words as sentences of twelve, with a comma in each."""
    parts = (words[start : start + 12] for start in range(0, len(words), 12))
    return " ".join(f"{' '.join(part[:5])}, {' '.join(part[5:])}.".capitalize() for part in parts)


def _write_vectors(shape: str, n_documents: int) -> None:
    """Vectors of length 1 around common centres, as those of texts on common subjects lie."""
    path = _file(shape, "npy")
    if path.exists():
        return
    rng = np.random.RandomState(_SEED)
    n_vectors = n_documents + N_QUERIES
    vectors = rng.standard_normal((N_CENTRES, DIMENSIONS)).astype(np.float32)[rng.randint(0, N_CENTRES, n_vectors)]
    for start in range(0, n_vectors, 10_000):
        part = vectors[start : start + 10_000]
        part += rng.standard_normal(part.shape).astype(np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    partial = path.with_suffix(".part")
    with partial.open("wb") as file:
        np.save(file, vectors)
    partial.replace(path)


def _read_texts(shape: str) -> tuple[list[str], list[str]]:
    """Documents and queries."""
    documents, queries = (
        _file(shape, name).read_text("utf-8").splitlines() for name in ("documents.txt", "queries.txt")
    )
    return documents, queries


def _read_vectors(shape: str) -> tuple[Vectors, Vectors]:
    """Documents and queries."""
    vectors = np.load(_file(shape, "npy"))
    return vectors[:-N_QUERIES], vectors[-N_QUERIES:]


def _file(shape: str, name: str) -> Path:
    return OUT / f"{shape}.{name}"


def _replace(path: Path, content: bytes) -> None:
    partial = path.with_suffix(".part")
    partial.write_bytes(content)
    partial.replace(path)


# Engines for texts: `build` makes an index of texts, `search` finds the k best for each query.


class Rankproof:
    """Us."""

    def build(self, texts: Sequence[str]) -> Any:
        """A retriever over a corpus of the texts."""
        from rankproof.data.corpus import Corpus, Document
        from rankproof.retrieval.stage import Library, Place
        from rankproof.retrieval.stages.bm25 import Bm25

        corpus = Corpus(tuple(Document(str(number), text) for number, text in enumerate(texts)))
        return Bm25(k1=K1, b=B).open(Place(Path(), Library(corpus, corpus)))

    def search(self, index: Any, queries: Sequence[str], k: int) -> list[Any]:
        """Answers."""
        from rankproof.data.gold import Query

        return list(index.search([Query(str(number), text) for number, text in enumerate(queries)], k))

    def scores(self, found: list[Any]) -> Scores:
        """Scores of all hits."""
        return [hit.score for answer in found for hit in answer.hits]


class Tantivy:
    """tantivy, with its own analyser, threads as it chooses them, in memory."""

    def build(self, texts: Sequence[str]) -> Any:
        """An index whose documents are committed."""
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw")
        schema.add_text_field("text")
        index = tantivy.Index(schema.build())
        writer = index.writer(heap_size=256_000_000)
        for number, text in enumerate(texts):
            writer.add_document(tantivy.Document(id=str(number), text=text))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return index

    def search(self, index: Any, queries: Sequence[str], k: int) -> list[Any]:
        """Ids and scores."""
        searcher = index.searcher()
        return [
            [
                (searcher.doc(address)["id"][0], score)
                for score, address in searcher.search(index.parse_query(query, ["text"]), k, count=False).hits
            ]
            for query in queries
        ]

    def scores(self, found: list[Any]) -> Scores:
        """Scores of all hits, without the factor k1 + 1, which is the same for all."""
        return [score / (K1 + 1) for hits in found for _, score in hits]


class Bm25s:
    """bm25s without numba, with its own analyser and no stop words."""

    def build(self, texts: Sequence[str]) -> Any:
        """An index, which holds the score of every word in every document."""
        import bm25s

        index = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numpy")
        index.index(self._tokens(texts), show_progress=False)
        return index

    def search(self, index: Any, queries: Sequence[str], k: int) -> Any:
        """Numbers of documents, and scores."""
        return index.retrieve(self._tokens(queries), k=k, show_progress=False)

    def scores(self, found: Any) -> Scores:
        """Scores of all hits; it fills up with documents that score 0."""
        kept: Scores = found.scores[found.scores > 0].tolist()
        return kept

    def _tokens(self, texts: Sequence[str]) -> Any:
        import bm25s

        return bm25s.tokenize(list(texts), stopwords=None, show_progress=False)


ENGINES: dict[str, Any] = {"rankproof": Rankproof(), "tantivy": Tantivy(), "bm25s": Bm25s()}


def _built(contender: str, shape: str) -> Work:
    engine, (texts, _) = ENGINES[contender], _read_texts(shape)
    engine.build(texts[:100])
    return Work(lambda: engine.build(texts), lambda _: {"documents": float(len(texts))})


def _asked(k: int) -> Callable[[str, str], Work]:
    def work(contender: str, shape: str) -> Work:
        engine, (texts, queries) = ENGINES[contender], _read_texts(shape)
        index = engine.build(texts)
        engine.search(index, queries[:10], k)
        return Work(lambda: engine.search(index, queries, k), lambda found: _means(engine.scores(found)))

    return work


# Nearest vectors: the work for all queries is a function without arguments that returns scores.


def _nearest(k: int) -> Callable[[str, str], Work]:
    def work(contender: str, shape: str) -> Work:
        vectors, queries = _read_vectors(shape)
        n_queries = ONE_BY_ONE if contender == "numpy single" else len(queries)
        run = _SEARCHES[contender](vectors, queries[:n_queries], k)
        return Work(run, lambda found: _means(_first_scores(found, k)), len(queries) / n_queries)

    return work


def _first_scores(found: Any, k: int) -> Scores:
    """Of the queries that everybody was asked."""
    scores: Scores = np.concatenate(found, axis=None)[: ONE_BY_ONE * k].tolist()
    return scores


def _our_nearest(vectors: Vectors, queries: Vectors, k: int) -> Callable[[], Any]:
    from rankproof.retrieval.nearest import Exact

    exact, halves = Exact(vectors.astype(np.float16)), queries.astype(np.float16)
    return lambda: [found.scores for found in exact.search(halves, k)]


def _in_batches(size: int) -> Callable[[Vectors, Vectors, int], Callable[[], Any]]:
    def prepared(vectors: Vectors, queries: Vectors, k: int) -> Callable[[], Any]:
        return lambda: [_best(vectors, queries[i : i + size], k)[1] for i in range(0, len(queries), size)]

    return prepared


def _best(vectors: Vectors, queries: Vectors, k: int) -> tuple[NDArray[np.intp], Vectors]:
    scores = queries @ vectors.T
    rows = np.argpartition(scores, -k, axis=1)[:, -k:]
    values = np.take_along_axis(scores, rows, axis=1)
    order = np.argsort(-values, axis=1)
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(values, order, axis=1)


def _usearch(vectors: Vectors, queries: Vectors, k: int) -> Callable[[], Any]:
    from usearch.index import Index

    index = Index(ndim=vectors.shape[1], metric="ip", dtype="f16", expansion_search=64)
    index.add(np.arange(len(vectors)), vectors)
    return lambda: [1 - index.search(queries, k).distances]


_SEARCHES: dict[str, Callable[[Vectors, Vectors, int], Callable[[], Any]]] = {
    "rankproof": _our_nearest,
    "numpy batches": _in_batches(BATCH),
    "numpy single": _in_batches(1),
    "usearch graph": _usearch,
}


_CASES = {
    "search texts build": _built,
    "search texts k=10": _asked(10),
    "search texts k=100": _asked(100),
    "search vectors k=10": _nearest(10),
    "search vectors k=100": _nearest(100),
}


def _means(scores: Scores) -> Means:
    return {"hits": float(len(scores)), "score": float(np.mean(scores))}


def measure(case: str, contender: str, shape: str, repeat: int) -> Iterator[dict[str, Any]]:
    """What is to be said: that everything is ready, and the figures of each repetition."""
    start = time.perf_counter()
    work = _CASES[case](contender, shape)
    base_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield {"ready": True, "untimed": time.perf_counter() - start, "times": work.times, "base_mb": base_mb}
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        found = work.run()
        spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        means = work.means(found)
        # Two results in memory at once would count double.
        del found
        yield {**spent, "mean": means}


if __name__ == "__main__":
    if len(sys.argv) == 2:
        write(sys.argv[1])
    else:
        case, contender, shape, repeat = sys.argv[1:]
        for facts in measure(case, contender, shape, int(repeat)):
            print(json.dumps(facts), flush=True)
