"""`python -m benchmarks.quality`: how good our own pipelines are on two real collections, beside another BM25.

The collections lie in ../shared/data beside the project. Vectors are kept in benchmarks/out, so a second run is quick.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.data import OUT
from rankproof.comparison import Method, compare
from rankproof.data.corpus import Corpus
from rankproof.data.gold import GoldSet
from rankproof.data.qrels import Qrels
from rankproof.measures.parse import parse_measures
from rankproof.reports.comparison import p_words, signed
from rankproof.retrieval.pipeline import Fuse, Named, Pipeline, Runner
from rankproof.retrieval.stage import Library, Place, RerankerStage, RetrieverStage, stage_class
from rankproof.scoring.evaluate import Evaluator
from rankproof.scoring.scores import Scores

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "explanation" / "quality-seen.md"
BEGIN, END = "<!-- figures: written by `python -m benchmarks.quality` -->", "<!-- end of figures -->"


def main() -> int:
    """Measure both collections and write the figures into the page; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--model", default="minilm" if find_spec("onnxruntime") else "wordllama")
    parser.add_argument("--print", action="store_true", help="leave the page alone")
    given = parser.parse_args()
    if not DATA.exists():
        print("needs ../shared/data beside the project", file=sys.stderr)
        return 2
    text = f"{_cranfield(given.model)}\n\n{_wiki(given.model)}"
    print(text)
    if not given.print:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


def _retriever(name: str, **options: Any) -> Named:
    return Named(name, stage_class(name, RetrieverStage).model_validate(options))


def _reranker(name: str, **options: Any) -> Named:
    return Named(name, stage_class(name, RerankerStage).model_validate(options))


def _pipelines(model: str, **bm25: Any) -> dict[str, Pipeline]:
    return {
        "keyword": Pipeline("keyword", _retriever("bm25", **bm25)),
        "vector": Pipeline("vector", _retriever("dense", model=model)),
        "hybrid": Pipeline("hybrid", fuse=Fuse(("keyword", "vector"), "rrf")),
    }


def _runs(pipelines: Mapping[str, Pipeline], corpus: Corpus, gold: GoldSet, store: str) -> dict[str, dict[str, Any]]:
    place = Place(ROOT, Library(corpus, corpus), gold, OUT / "quality" / store, _say)
    runner = Runner(pipelines, place, cache=OUT / "quality" / store / "answers")
    return {name: runner.run(name, gold.queries).to_run().to_dict() for name in pipelines}


def _say(what: str, done: int, total: int | None) -> None:
    if done == total or done % 200 == 0:
        print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)


def _cranfield(model: str) -> str:
    folder = DATA / "cranfield"
    corpus = Corpus.read(folder / "corpus.jsonl")
    gold = GoldSet(GoldSet.read(folder / "queries.jsonl").queries, Qrels.read(folder / "qrels.txt"))
    pipelines = _pipelines(model, language="english", k1=0.9, b=0.4)
    if model == "minilm":
        rerank = (_reranker("maxsim", model=model),)
        pipelines["keyword + maxsim"] = Pipeline("keyword + maxsim", base="keyword", rerank=rerank)
    runs = _runs(pipelines, corpus, gold, "cranfield")
    runs = {"bm25s": _bm25s(corpus, gold), **runs} if find_spec("bm25s") else runs
    evaluator = Evaluator(gold)
    scores = [_scored(evaluator, run, name, ["nDCG@10", "RR", "R@100"]) for name, run in runs.items()]
    table = _table(scores)
    tests = [_test(scores, "keyword", "bm25s"), *(_test(scores, "hybrid", name) for name in ("keyword", "vector"))]
    head = f"### Cranfield\n\n{len(corpus):,} abstracts, {len(gold.queries)} queries; vectors by {model}."
    return "\n\n".join([head, table, "\n".join(filter(None, tests))])


def _bm25s(corpus: Corpus, gold: GoldSet) -> dict[str, dict[str, float]]:
    """The same by bm25s, with its own tokens: Lucene's variant, k1 0.9, b 0.4, English stems and stop words."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    texts = [f"{document.title}\n{document.text}" for document in corpus]
    tokens = bm25s.tokenize(texts, stemmer=stemmer, stopwords="en", show_progress=False)
    index = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    index.index(tokens, show_progress=False)
    asked = bm25s.tokenize([q.text for q in gold.queries], stemmer=stemmer, stopwords="en", show_progress=False)
    found, values = index.retrieve(asked, k=100, show_progress=False)
    ids = [document.id for document in corpus]
    return {
        query.id: {ids[i]: float(v) for i, v in zip(found[row], values[row], strict=True) if v > 0}
        for row, query in enumerate(gold.queries)
    }


def _wiki(model: str) -> str:
    folder = DATA / "wiki"
    corpus = Corpus.read(folder / "pages")
    gold = GoldSet.read(folder / "gold.csv")
    runs = _runs(_pipelines(model, language="english"), corpus, gold, "wiki")
    evaluator = Evaluator(gold, preset="wiki")
    scores = [_scored(evaluator, run, name, ["R@5", "R@20", "RR"]) for name, run in runs.items()]
    head = f"### A wiki\n\n{len(corpus):,} Markdown pages, {len(gold.queries)} queries; vectors by {model}."
    return "\n\n".join([head, _table(scores), _by_category(scores, gold), _test(scores, "hybrid", "keyword")])


def _scored(evaluator: Evaluator, run: dict[str, dict[str, float]], name: str, measures: list[str]) -> Scores:
    return replace(evaluator.evaluate(run, parse_measures(measures)), name=name)


def _table(scores: Sequence[Scores]) -> str:
    names = [str(measure) for measure in scores[0].measures]
    rows = [f"| {one.name} | {' | '.join(f'{one.mean()[name]:.3f}' for name in names)} |" for one in scores]
    return "\n".join([f"| pipeline | {' | '.join(names)} |", f"| :-- |{' --: |' * len(names)}", *rows])


def _by_category(scores: Sequence[Scores], gold: GoldSet) -> str:
    sizes = scores[0].group_sizes(gold.groups)
    rows = []
    for group in scores[0].by_group(gold.groups):
        figures = " | ".join(f"{one.by_group(gold.groups)[group]['RR']:.3f}" for one in scores)
        rows.append(f"| {group} | {sizes[group]} | {figures} |")
    head = f"| category | queries | {' | '.join(f'{one.name} RR' for one in scores)} |"
    return "\n".join([head, f"| :-- | --: |{' --: |' * len(scores)}", *rows])


def _test(scores: Sequence[Scores], candidate: str, baseline: str) -> str:
    named = {one.name: one for one in scores}
    if baseline not in named:
        return ""
    (found, *_) = compare([named[baseline], named[candidate]], method=Method(correction="none")).comparisons
    low, high = found.interval.as_list() or (0.0, 0.0)
    return (
        f"- {candidate} − {baseline} in {found.measure}: {signed(found.difference)}, 95 % interval {signed(low)} to "
        f"{signed(high)}, p = {p_words(found.p_value)}; {found.effect.wins} won, {found.effect.ties} tied, "
        f"{found.effect.losses} lost"
    )


if __name__ == "__main__":
    sys.exit(main())
