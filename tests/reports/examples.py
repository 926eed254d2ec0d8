"""Reports for the tests of the page, made without a project: small ones by hand, and a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankproof.baseline import Baseline
from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.evaluation import Evaluation, Request, evaluate_runs
from rankproof.failures import Analysis, Evidence, analyse
from rankproof.measures.parse import parse_measures
from rankproof.report import Report, Standard, build
from rankproof.retrieval.analysis import Analyser
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.pipeline import PipelineRun
from rankproof.scoring.rules import PRESETS

MEASURES = ("nDCG@10", "RR", "P@5", "R@100")


def hits(ids: Sequence[str]) -> list[Hit]:
    return [Hit(doc_id, float(len(ids) - i)) for i, doc_id in enumerate(ids)]


def run(name: str, queries: Sequence[Query], answers: Mapping[str, Sequence[str] | Answer]) -> PipelineRun:
    """A run of one stage, unless an answer is given whole."""
    made = [answers[query.id] for query in queries]
    whole = [one if isinstance(one, Answer) else Answer().after("bm25", hits(one)) for one in made]
    return PipelineRun(name, tuple(queries), tuple(whole), f"digest of {name}")


def gold_of(grades: Mapping[str, Mapping[str, float]], queries: Sequence[Query]) -> GoldSet:
    return GoldSet(tuple(queries), Qrels.from_dict(grades), "gold.csv")


def evaluated(
    gold: GoldSet, runs: Sequence[PipelineRun], measures: Sequence[str] = MEASURES, corpus: Corpus | None = None
) -> Evaluation:
    return evaluate_runs(gold, runs, Request(parse_measures(measures), PRESETS["default"]), corpus)


def baseline_of(found: Evaluation, gold: GoldSet) -> Baseline:
    """What these figures would be, recorded."""
    scores = {mode.name: mode.scores for mode in found.modes}
    return Baseline("rankproof-baseline.json", scores, gold.qrels.digest, None, dict.fromkeys(scores, "old"))


def analyses_of(found: Evaluation, gold: GoldSet, corpus: Corpus) -> list[Analysis]:
    """Every miss is looked at without another search having found anything."""
    nothing = [
        PipelineRun("keyword", mode.run.queries, tuple(Answer() for _ in mode.run.queries), "x") for mode in found.modes
    ]
    return [
        analyse(found, mode, gold, Evidence(keyword, None, corpus, Analyser()))
        for mode, keyword in zip(found.modes, nothing, strict=True)
    ]


def large_report(n_queries: int = 1_000, n_docs: int = 5_000) -> Report:
    """Three pipelines that find the answer at different ranks among documents of any kind."""
    corpus = Corpus(
        tuple(
            Document(
                f"handbook/chapter-{i % 97}/page-{i}", f"The text of page {i}.", f"How page {i} explains the matter"
            )
            for i in range(n_docs)
        )
    )
    ids = [document.id for document in corpus]
    queries = [
        Query(f"q{i:04}", f"how do I do the thing number {i} when the other one fails", f"group {i % 6}")
        for i in range(n_queries)
    ]
    grades = {query.id: {ids[7 * i % n_docs]: 2.0, ids[(7 * i + 3) % n_docs]: 1.0} for i, query in enumerate(queries)}

    def answers(pipeline: int) -> dict[str, Answer]:
        made = {}
        for i, query in enumerate(queries):
            wanted = ids[7 * i % n_docs]
            found = [ids[(31 * i + 101 * rank + 13 * pipeline) % n_docs] for rank in range(100)]
            others = [doc_id for doc_id in dict.fromkeys(found) if doc_id != wanted]
            place = (i * (pipeline + 1)) % (12 + 3 * pipeline)
            ranked = [*others[:place], wanted, *others[place:]]
            made[query.id] = Answer().after("dense", hits(ranked[1:] + ranked[:1])).after("rerank", hits(ranked))
        return made

    gold = gold_of(grades, queries)
    names = ("keyword", "vector", "hybrid")
    before = evaluated(gold, [run(name, queries, answers(2 - i)) for i, name in enumerate(names)], corpus=corpus)
    found = evaluated(gold, [run(name, queries, answers(i)) for i, name in enumerate(names)], corpus=corpus)
    standard = Standard(baseline=baseline_of(before, gold))
    return build(found, gold, corpus=corpus, analyses=analyses_of(found, gold, corpus), standard=standard)
