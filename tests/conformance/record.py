"""Record what other tools say about a fixed set of cases: `python -m tests.conformance.record`.

ranx and scikit-learn are run; tools that cannot run here are recorded from their definitions in `formulas`.
`test_recorded` compares the package with the files.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

from tests.conformance import formulas
from tests.conformance.cases import Case, Results, random_case

FOLDER = Path(__file__).parent / "recorded"
SCHEMA_VERSION = 1
STATED = "a re-statement of the definition (tests/conformance/formulas.py), not the tool itself"

RANX = [
    "hits@5", "hit_rate@5", "precision@1", "precision@5", "precision@10", "recall@1", "recall@5", "recall@10", "f1@5",
    "r-precision", "mrr", "mrr@5", "map", "map@5", "ndcg", "ndcg@5", "ndcg@10", "ndcg_burges", "ndcg_burges@5", "dcg@5",
    "dcg_burges@5", "precision@5-l2", "recall@5-l2", "map@5-l2", "mrr-l2", "ndcg@5-l2",
]  # fmt: skip
RANX_BINARY = ["rbp.80", "rbp.95"]
RANX_JUDGED = ["bpref"]
RANX_BY_RANK = {"rrf": "rrf", "isr": "isr", "borda": "bordafuse"}
RANX_BY_SCORE = {
    "combsum": "sum", "combmnz": "mnz", "combanz": "anz", "combmax": "max", "combmin": "min", "combmed": "med",
}  # fmt: skip
RANX_NORMS = {"none": None, "min-max": "min-max", "z-score": "zmuv", "rank": "rank", "max": "max", "sum": "sum"}

Query = Callable[[Mapping[str, int], Mapping[str, float]], formulas.Values]


def main() -> int:
    """Write every recording; returns the exit code."""
    try:
        recordings = {"ranx": ranx(), "ranx-fusion": ranx_fusion(), "scikit-learn": scikit_learn()}
    except ImportError as exc:
        print(f'{exc}. Needs: pip install "rankproof[peers]"', file=sys.stderr)
        return 2
    recordings |= {
        "elasticsearch": stated(formulas.elasticsearch, engine_cases(1)),
        "opensearch": stated(formulas.opensearch, engine_cases(2)),
        "sentence-transformers": stated(formulas.sentence_transformers, heap_cases()),
        "beir": beir(),
    }
    FOLDER.mkdir(exist_ok=True)
    for name, content in recordings.items():
        path = FOLDER / f"{name}.json"
        path.write_text(_written(content), encoding="utf-8")
        print(f"{path.name}: {len(content['cases'])} cases", file=sys.stderr)
    return 0


def _written(content: Mapping[str, Any]) -> str:
    """One case per line. Keys stay unsorted: the order of the documents of a run has a meaning."""
    head = {"schema_version": SCHEMA_VERSION, **content, "cases": []}
    lines = (json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in content["cases"])
    return json.dumps(head, indent=1).replace("[]", "[\n" + ",\n".join(lines) + "\n ]") + "\n"


def ranx() -> dict[str, Any]:
    """ranx on queries that both sides have; with ties at most 15 documents, because it scrambles longer lists."""
    from ranx import Qrels, Run, evaluate

    rng = Random(11)
    kinds: list[tuple[list[str], dict[str, Any]]] = [
        (RANX, {"ties": True, "most_docs": 15, "grade_ranges": [(0, 3), (-1, 2), (0, 1), (0, 0)]}),
        (RANX, {"ties": False, "most_docs": 30, "grade_ranges": [(0, 3), (-2, 4)]}),
        (RANX + RANX_BINARY, {"ties": True, "most_docs": 15, "grade_ranges": [(0, 1)]}),
        (RANX_JUDGED, {"ties": True, "most_docs": 15, "grade_ranges": [(0, 1), (0, 3)]}),
    ]
    recorded = []
    for names, options in kinds:
        for _ in range(12):
            case = random_case(rng, absent=0, most_queries=3, odd_ids=False, **options)
            if names is RANX_JUDGED:
                case = _with_both_kinds(case)
            run = Run(case.run)
            evaluate(Qrels(case.qrels), run, names)
            values = {query: {name: float(run.scores[name][query]) for name in names} for query in case.qrels}
            assert all(math.isfinite(v) for row in values.values() for v in row.values())
            recorded.append({**case._asdict(), "by_query": values})
    return {"tool": {"name": "ranx", "version": version("ranx")}, "source": "run", "cases": recorded}


def _with_both_kinds(case: Case) -> Case:
    """Every query with a relevant and a non-relevant judgment, without which ranx's bpref is not a number."""
    return Case({query: {**grades, "yes": 1, "no": 0} for query, grades in case.qrels.items()}, case.run)


def ranx_fusion() -> dict[str, Any]:
    """ranx's fusions of runs on which its rules and ours agree; test_ranx_fusion says where they do not.

    Scores are positive and without ties, lists have two documents or more, and every run has every query. In one case
    out of two all runs have the same documents, which is where the treatment of absent ones cannot differ.
    """
    rng = Random(13)
    recorded = []
    for number in range(10):
        runs = _runs_to_fuse(rng, n_runs=2 if number % 5 == 4 else 3, complete=number % 2 == 0)
        fused = {by: _ranx_fused(runs, method, None) for by, method in RANX_BY_RANK.items()}
        fused["rrf k=10"] = _ranx_fused(runs, "rrf", None, {"k": 10})
        for by, method in RANX_BY_SCORE.items():
            for ours, norm in RANX_NORMS.items():
                fused[f"{by} {ours}"] = _ranx_fused(runs, method, norm)
        weights = [0.25, 0.5, 0.75][: len(runs)]
        fused["weighted min-max"] = _ranx_fused(runs, "wsum", "min-max", {"weights": weights})
        if _every_majority_is_transitive(runs):
            fused["condorcet"] = _ranx_fused(runs, "condorcet", None)
        recorded.append({"runs": runs, "fused": fused})
    return {"tool": {"name": "ranx", "version": version("ranx")}, "source": "run", "cases": recorded}


def _runs_to_fuse(rng: Random, *, n_runs: int, complete: bool) -> list[Results]:
    pool = [f"d{i}" for i in range(6)]
    shared = rng.sample(pool, 5)
    runs = []
    for _ in range(n_runs):
        docs = rng.sample(shared, len(shared)) if complete else rng.sample(pool, rng.randint(2, 5))
        scores = [number / 64 for number in rng.sample(range(1, 4096), len(docs))]
        runs.append({"q": dict(zip(docs, scores, strict=True))})
    return runs


def _ranx_fused(runs: list[Results], method: str, norm: str | None, params: dict[str, Any] | None = None) -> Results:
    from ranx import Run, fuse

    fused = fuse([Run(run) for run in runs], norm=norm, method=method, params=params)
    return {query: {doc: float(score) for doc, score in row.items()} for query, row in fused.to_dict().items()}


def _every_majority_is_transitive(runs: list[Results]) -> bool:
    """Whether all runs rank the same documents, and the votes on them order them strictly, without a circle."""
    for query, row in runs[0].items():
        if any(run[query].keys() != row.keys() for run in runs):
            return False
        wins = {
            one: sum(sum(run[query][one] > run[query][other] for run in runs) * 2 > len(runs) for other in row)
            for one in row
        }
        if sorted(wins.values()) != list(range(len(row))):
            return False
    return True


def scikit_learn() -> dict[str, Any]:
    """scikit-learn's nDCG and DCG, means over the orders of ties. It knows only documents that have a score."""
    from sklearn.metrics import dcg_score, ndcg_score

    rng = Random(12)
    recorded = []
    for _ in range(40):
        docs = [f"d{i}" for i in range(rng.randint(2, 20))]
        grades = [rng.randint(0, 3) for _ in docs]
        scores = [float(rng.choice((1, 2, 3, 4))) for _ in docs]
        values = {}
        for k in (None, 1, 3, 5, 10):
            cut = "" if k is None else f"@{k}"
            values[f"nDCG{cut}"] = float(ndcg_score([grades], [scores], k=k))
            values[f"DCG{cut}"] = float(dcg_score([grades], [scores], k=k))
        case = Case({"q": dict(zip(docs, grades, strict=True))}, {"q": dict(zip(docs, scores, strict=True))})
        recorded.append({**case._asdict(), "by_query": {"q": values}})
    tool = {"name": "scikit-learn", "version": version("scikit-learn")}
    return {"tool": tool, "source": "run", "cases": recorded}


def stated(query: Query, cases: list[Case]) -> dict[str, Any]:
    """A definition applied to each query of the cases."""
    recorded = []
    for case in cases:
        values = {name: query(case.qrels[name], case.run[name]) for name in case.qrels}
        recorded.append({**case._asdict(), "by_query": values})
    return {"tool": {"name": query.__name__, "version": None}, "source": STATED, "cases": recorded}


def engine_cases(seed: int) -> list[Case]:
    """What an engine returns: an answer to every query, grades from 0 on, equal scores in an order of its own."""
    rng = Random(seed)
    return [random_case(rng, absent=0, most_queries=3, most_docs=15, grade_ranges=[(0, 3), (0, 1)]) for _ in range(20)]


def heap_cases() -> list[Case]:
    """Scores without ties, and lists of equal scores by ascending id; every query has a relevant document."""
    rng = Random(3)
    untied = [random_case(rng, absent=0, ties=False, most_queries=3, most_docs=15) for _ in range(15)]
    tied = [
        Case({"q": {f"d{i}": i % 3 for i in range(n)}}, {"q": {f"d{i}": 1.0 for i in range(n)}}) for n in range(2, 8)
    ]
    return [Case({q: {**grades, "d0": 1} for q, grades in case.qrels.items()}, case.run) for case in untied + tied]


def beir() -> dict[str, Any]:
    """Means with queries missing from the run, scores equal in single precision, and documents that are the query."""
    rng = Random(4)
    recorded = []
    for number in range(20):
        case = random_case(rng, absent=0.3, most_queries=4, most_docs=15)
        if number % 2:
            case.run["q0"]["q0"] = 99.0
        recorded.append({**case._asdict(), "mean": formulas.beir(case)})
    return {"tool": {"name": "beir", "version": None}, "source": STATED, "cases": recorded}


if __name__ == "__main__":
    sys.exit(main())
