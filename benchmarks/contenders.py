"""The tools that are measured: each evaluates files, dicts, or what it had prepared, and returns the means.

Every tool gives the value of every query and the mean over queries, in the form that it gives them: dicts for
pytrec_eval, a stream of tuples for ir_measures, arrays for ranx and for us.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from benchmarks.data import Dicts, Grades, Shape

Means = dict[str, float]
Work = Callable[[], Means]

OURS = ["nDCG@10", "RR", "AP", "R@100", "P@10", "Success@1", "Success@5", "Success@10"]
_TREC = ["ndcg_cut_10", "recip_rank", "map", "recall_100", "P_10", "success_1", "success_5", "success_10"]
_TREC_ASKED = {"ndcg_cut.10", "recip_rank", "map", "recall.100", "P.10", "success.1,5,10"}
_RANX = ["ndcg@10", "mrr", "map", "recall@100", "precision@10", "hit_rate@1", "hit_rate@5", "hit_rate@10"]


class Rankproof:
    """Us."""

    def files(self, shape: Shape) -> Means:
        """From two files."""
        from rankproof import evaluate

        return evaluate(shape.qrels_file, shape.run_file, OURS).mean()

    def dicts(self, qrels: Grades, run: Dicts) -> Means:
        """From dicts of dicts."""
        from rankproof import evaluate

        return evaluate(qrels, run, OURS).mean()

    def prepared(self, qrels: Grades, run: Dicts) -> Work:
        """Judgments prepared and the run held in columns."""
        from rankproof import Evaluator, Run

        evaluator, columns = Evaluator(qrels), Run(Run.of(run).table)
        return lambda: evaluator.evaluate(columns, OURS).mean()


class PytrecEval:
    """trec_eval's C code behind Python dicts."""

    def files(self, shape: Shape) -> Means:
        """From two files, by its own readers."""
        import pytrec_eval

        with shape.qrels_file.open() as qrels, shape.run_file.open() as run:
            return self.dicts(pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run))

    def dicts(self, qrels: Grades, run: Dicts) -> Means:
        """From dicts of dicts."""
        return self.prepared(qrels, run)()

    def prepared(self, qrels: Grades, run: Dicts) -> Work:
        """Judgments prepared; a run it takes as a dict only."""
        import pytrec_eval

        evaluator = pytrec_eval.RelevanceEvaluator(qrels, _TREC_ASKED)

        def work() -> Means:
            values = evaluator.evaluate(run).values()
            return {
                ours: float(pytrec_eval.compute_aggregated_measure(name, [row[name] for row in values]))
                for ours, name in zip(OURS, _TREC, strict=True)
            }

        return work


class IrMeasures:
    """ir_measures, which calls pytrec_eval for these measures."""

    def files(self, shape: Shape) -> Means:
        """From two files, by its own readers."""
        tool = self._tool()
        return self._means(tool.read_trec_qrels(str(shape.qrels_file)), tool.read_trec_run(str(shape.run_file)))

    def dicts(self, qrels: Grades, run: Dicts) -> Means:
        """From dicts of dicts."""
        return self._means(qrels, run)

    def _means(self, qrels: Any, run: Any) -> Means:
        tool = self._tool()
        measures = [tool.parse_measure(name) for name in OURS]
        means, _ = tool.calc(measures, qrels, run)
        return {name: float(means[measure]) for name, measure in zip(OURS, measures, strict=True)}

    def _tool(self) -> Any:
        import ir_measures

        return ir_measures


class Ranx:
    """ranx, compiled by numba."""

    def files(self, shape: Shape) -> Means:
        """From two files, by its own readers."""
        from ranx import Qrels, Run

        qrels = Qrels.from_file(str(shape.qrels_file), kind="trec")
        return self._means(qrels, Run.from_file(str(shape.run_file), kind="trec"))

    def dicts(self, qrels: Grades, run: Dicts) -> Means:
        """From dicts of dicts."""
        return self.prepared(qrels, run)()

    def prepared(self, qrels: Grades, run: Dicts) -> Work:
        """Judgments and run as objects of its own."""
        from ranx import Qrels, Run

        its_qrels, its_run = Qrels(qrels), Run(run)
        return lambda: self._means(its_qrels, its_run)

    def _means(self, qrels: Any, run: Any) -> Means:
        from ranx import evaluate

        means = evaluate(qrels, run, _RANX)
        return {ours: float(means[name]) for ours, name in zip(OURS, _RANX, strict=True)}


CONTENDERS: dict[str, Any] = {
    "rankproof": Rankproof(),
    "pytrec_eval": PytrecEval(),
    "ir_measures": IrMeasures(),
    "ranx cold": Ranx(),
    "ranx warm": Ranx(),
}


def package_of(contender: str) -> str:
    """The package that a contender needs."""
    return contender.split()[0]


def is_installed(contender: str) -> bool:
    """Whether its package can be imported."""
    return find_spec(package_of(contender)) is not None
