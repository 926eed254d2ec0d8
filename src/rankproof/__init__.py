"""rankproof: proof, not vibes, that search got better.

Importing the package loads nothing heavy; each name below is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rankproof.agreement import correlate as correlate
    from rankproof.agreement import discriminate as discriminate
    from rankproof.agreement import overlap as overlap
    from rankproof.comparison import Comparison as Comparison
    from rankproof.comparison import Findings as Findings
    from rankproof.comparison import Method as Method
    from rankproof.comparison import compare as compare
    from rankproof.data.corpus import Corpus as Corpus
    from rankproof.data.corpus import Document as Document
    from rankproof.data.gold import GoldSet as GoldSet
    from rankproof.data.gold import Query as Query
    from rankproof.data.qrels import Qrels as Qrels
    from rankproof.data.run import Run as Run
    from rankproof.errors import BadInput as BadInput
    from rankproof.errors import MissingExtra as MissingExtra
    from rankproof.errors import NothingToEvaluate as NothingToEvaluate
    from rankproof.errors import NotMeasured as NotMeasured
    from rankproof.errors import RankproofError as RankproofError
    from rankproof.errors import UnknownName as UnknownName
    from rankproof.errors import UsageError as UsageError
    from rankproof.fusion.fuse import fuse as fuse
    from rankproof.measures.judged import Judged as Judged
    from rankproof.measures.parse import parse_measure as parse_measure
    from rankproof.measures.parse import parse_measures as parse_measures
    from rankproof.measures.registry import Measure as Measure
    from rankproof.measures.registry import measure as measure
    from rankproof.measures.registry import query_measure as query_measure
    from rankproof.planning import Plan as Plan
    from rankproof.planning import plan as plan
    from rankproof.planning import plan_from_spread as plan_from_spread
    from rankproof.scoring.evaluate import Evaluator as Evaluator
    from rankproof.scoring.evaluate import evaluate as evaluate
    from rankproof.scoring.explain import Explanation as Explanation
    from rankproof.scoring.explain import explain as explain
    from rankproof.scoring.rules import PRESETS as PRESETS
    from rankproof.scoring.rules import Preset as Preset
    from rankproof.scoring.rules import Rules as Rules
    from rankproof.scoring.scores import Coverage as Coverage
    from rankproof.scoring.scores import Scores as Scores
    from rankproof.stats.corrections import adjust as adjust
    from rankproof.stats.intervals import Interval as Interval
    from rankproof.stats.intervals import mean_interval as mean_interval
    from rankproof.stats.paired import PairedTest as PairedTest
    from rankproof.stats.paired import paired_test as paired_test
    from rankproof.stats.power import queries_needed as queries_needed
    from rankproof.stats.power import smallest_difference as smallest_difference
    from rankproof.stats.unpaired import welch_test as welch_test
    from rankproof.tuning import tune_weights as tune_weights

_HOME = {
    "BadInput": "errors",
    "Comparison": "comparison",
    "Corpus": "data.corpus",
    "Coverage": "scoring.scores",
    "Document": "data.corpus",
    "Evaluator": "scoring.evaluate",
    "Explanation": "scoring.explain",
    "Findings": "comparison",
    "GoldSet": "data.gold",
    "Interval": "stats.intervals",
    "Judged": "measures.judged",
    "Measure": "measures.registry",
    "Method": "comparison",
    "MissingExtra": "errors",
    "NotMeasured": "errors",
    "NothingToEvaluate": "errors",
    "PRESETS": "scoring.rules",
    "PairedTest": "stats.paired",
    "Plan": "planning",
    "Preset": "scoring.rules",
    "Qrels": "data.qrels",
    "Query": "data.gold",
    "RankproofError": "errors",
    "Rules": "scoring.rules",
    "Run": "data.run",
    "Scores": "scoring.scores",
    "UnknownName": "errors",
    "UsageError": "errors",
    "adjust": "stats.corrections",
    "compare": "comparison",
    "correlate": "agreement",
    "discriminate": "agreement",
    "evaluate": "scoring.evaluate",
    "explain": "scoring.explain",
    "fuse": "fusion.fuse",
    "mean_interval": "stats.intervals",
    "measure": "measures.registry",
    "overlap": "agreement",
    "paired_test": "stats.paired",
    "parse_measure": "measures.parse",
    "parse_measures": "measures.parse",
    "plan": "planning",
    "plan_from_spread": "planning",
    "queries_needed": "stats.power",
    "query_measure": "measures.registry",
    "smallest_difference": "stats.power",
    "tune_weights": "tuning",
    "welch_test": "stats.unpaired",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rankproof' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rankproof.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
