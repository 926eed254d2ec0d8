"""Before any figure is believed: a retriever that returns the gold must score 1, and one that finds nothing 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankproof.data.qrels import Qrels
from rankproof.errors import RankproofError
from rankproof.measures.registry import Measure, family
from rankproof.scoring.evaluate import Evaluator
from rankproof.scoring.rules import Preset
from rankproof.scoring.scores import Scores

NOBODY = "\x00"
"""A document that no gold set can name."""


class SelfTestFailed(RankproofError):
    """Loader or measures are broken: nothing that they say can be believed."""


def self_test(qrels: Qrels, measures: Sequence[Measure], preset: Preset) -> None:
    """Raise SelfTestFailed unless the oracle scores what is perfect and the empty retriever nothing, query by query.

    Measures whose perfect value depends on the query, such as P@5, are only held to the second.
    """
    grades = {query: row for query, row in qrels.to_dict().items() if any(grade > 0 for grade in row.values())}
    if not grades:
        return
    evaluator = Evaluator(Qrels.from_dict(grades, source=qrels.source), preset=preset)
    # Falling scores, so that no rule on ties can change the order.
    oracle = {query: _ranked(row) for query, row in grades.items()}
    nothing = {query: {NOBODY: 1.0} for query in grades}
    for measure in measures:
        perfect = family(measure.family).perfect
        if perfect is not None:
            needed = _relevant_from(measure, preset)
            among = [query for query, row in grades.items() if max(row.values()) >= needed]
            _expect(
                evaluator.evaluate(oracle, [measure]), measure, perfect, among, "The oracle, which returns the gold,"
            )
            _expect(
                evaluator.evaluate(nothing, [measure]), measure, 0.0, list(grades), "A retriever that finds nothing"
            )


def _ranked(row: Mapping[str, float]) -> dict[str, float]:
    best_first = sorted((doc for doc, grade in row.items() if grade > 0), key=lambda doc: (-row[doc], doc))
    return {doc: float(-rank) for rank, doc in enumerate(best_first)}


def _relevant_from(measure: Measure, preset: Preset) -> float:
    parameters = {**preset.defaults.get(measure.family, {}), **dict(measure.parameters)}
    return float(parameters.get("rel", 1) or 1)


def _expect(scores: Scores, measure: Measure, expected: float, among: Sequence[str], who: str) -> None:
    values = scores.by_query()
    for query in among:
        if query in values and abs(values[query][str(measure)] - expected) > 1e-9:
            found = values[query][str(measure)]
            raise SelfTestFailed(
                f"{who} scores {found:.4f} in {measure} on query {query!r}, and {expected:g} is right. "
                "Nothing was judged by this measure; please report it."
            )
