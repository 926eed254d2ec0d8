"""The block `retrieval_metrics`: measures and statistics, in a file of its own or in the project file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike
from rankproof.errors import UsageError
from rankproof.measures.parse import parse_measures
from rankproof.measures.registry import Measure, family
from rankproof.project.faults import refuse_any
from rankproof.project.settings import MetricsFile, RetrievalMetrics
from rankproof.project.validate import validated
from rankproof.project.yaml_text import Place, read_yaml


@dataclass(frozen=True)
class MetricsConfig:
    """What to measure, and what to say about chance."""

    measures: tuple[Measure, ...]
    """As they are computed: without graded relevance, gains are binary unless a measure says otherwise."""
    graded: bool
    """Whether grades count as gains."""
    intervals: bool
    """Whether an interval goes with each mean."""
    tests: bool
    """Whether systems are tested against the first of them, in pairs."""
    alpha: float
    """The share of false alarms; intervals hold 1 - alpha."""
    batch_size: int
    """How many queries go to a pipeline at once."""
    caching: bool
    """Whether answers are kept from one run to the next."""
    parallel: bool
    """Whether more than one core may be used."""


def read_metrics_config(path: PathLike) -> MetricsConfig:
    """The block `retrieval_metrics` of a YAML file that holds nothing else."""
    text = read_yaml(path)
    faults = Faults(text.source)
    found = validated(MetricsFile, text.data, text, faults)
    measured = check_measures(
        _metrics_of(text.data),
        ("retrieval_metrics", "enabled_metrics"),
        lambda message, place: faults.add(message, text.line_of(place)),
    )
    refuse_any(faults)
    assert found is not None
    return metrics_config(found.retrieval_metrics, measured)


def _metrics_of(data: Any) -> Any:
    block = data.get("retrieval_metrics") if isinstance(data, dict) else None
    return block.get("enabled_metrics") if isinstance(block, dict) else None


def metrics_config(block: RetrievalMetrics, measures: tuple[Measure, ...]) -> MetricsConfig:
    """The block with its measures as they are computed."""
    statistics, performance = block.statistical_analysis, block.performance
    return MetricsConfig(
        measures=measures if block.graded_relevance else tuple(map(_binary, measures)),
        graded=block.graded_relevance,
        intervals=statistics.confidence_intervals,
        tests=statistics.significance_testing,
        alpha=statistics.alpha_level,
        batch_size=performance.batch_size,
        caching=performance.caching_enabled,
        parallel=performance.parallel_processing,
    )


def _binary(measure: Measure) -> Measure:
    own = family(measure.family)
    given = dict(measure.parameters)
    if "binary" not in own.choices.get("gain", ()) or given.keys() & {"gain", "gains"}:
        return measure
    return own(**{**given, "gain": "binary"})


def check_measures(names: Any, place: Place, note: Callable[[str, Place], None]) -> tuple[Measure, ...]:
    """The measures of these names; one that does not exist is noted with its place."""
    found: dict[Measure, None] = {}
    if isinstance(names, str):
        names = [names]
    for i, name in enumerate(names if isinstance(names, list) else []):
        if not isinstance(name, str):
            continue
        try:
            found.update(dict.fromkeys(parse_measures(name)))
        except UsageError as exc:
            note(str(exc), (*place, i))
    return tuple(found)
