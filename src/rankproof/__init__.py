"""rankproof: proof, not vibes, that search got better.

Importing the package loads nothing heavy; each name below is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
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
    from rankproof.measures.judged import Judged as Judged
    from rankproof.measures.parse import parse_measure as parse_measure
    from rankproof.measures.parse import parse_measures as parse_measures
    from rankproof.measures.registry import Measure as Measure
    from rankproof.measures.registry import measure as measure
    from rankproof.measures.registry import query_measure as query_measure
    from rankproof.scoring.evaluate import Evaluator as Evaluator
    from rankproof.scoring.evaluate import evaluate as evaluate
    from rankproof.scoring.explain import Explanation as Explanation
    from rankproof.scoring.explain import explain as explain
    from rankproof.scoring.rules import PRESETS as PRESETS
    from rankproof.scoring.rules import Preset as Preset
    from rankproof.scoring.rules import Rules as Rules
    from rankproof.scoring.scores import Coverage as Coverage
    from rankproof.scoring.scores import Scores as Scores

_HOME = {
    "BadInput": "errors",
    "Corpus": "data.corpus",
    "Coverage": "scoring.scores",
    "Document": "data.corpus",
    "Evaluator": "scoring.evaluate",
    "Explanation": "scoring.explain",
    "GoldSet": "data.gold",
    "Judged": "measures.judged",
    "Measure": "measures.registry",
    "MissingExtra": "errors",
    "NotMeasured": "errors",
    "NothingToEvaluate": "errors",
    "PRESETS": "scoring.rules",
    "Preset": "scoring.rules",
    "Qrels": "data.qrels",
    "Query": "data.gold",
    "RankproofError": "errors",
    "Rules": "scoring.rules",
    "Run": "data.run",
    "Scores": "scoring.scores",
    "UnknownName": "errors",
    "UsageError": "errors",
    "evaluate": "scoring.evaluate",
    "explain": "scoring.explain",
    "measure": "measures.registry",
    "parse_measure": "measures.parse",
    "parse_measures": "measures.parse",
    "query_measure": "measures.registry",
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
