"""The baseline: what was measured when quality was last accepted, in a small file that is kept with the code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rankproof.data.files import PathLike, read_bytes, source_name
from rankproof.data.json_text import parse_json
from rankproof.errors import BadInput, UsageError, count
from rankproof.measures.parse import parse_measure
from rankproof.measures.registry import Measure
from rankproof.scoring.score_file import read_scores
from rankproof.scoring.scores import Scores

FILE = "rankproof-baseline.json"
VERSION = 1

Floors = Mapping[str, Mapping[Measure, float]]
"""Pipeline → measure → the least value that passes, as a ratchet left it; those of the project file count besides."""

_DECIMALS = 1_000
_SHOWN = 5


@dataclass(frozen=True)
class Baseline:
    """Scores by pipeline, and the digests of what they were made of."""

    source: str
    scores: Mapping[str, Scores]
    gold: str
    """The digest of all judgments of the gold set, measured or not."""
    corpus: str | None
    pipelines: Mapping[str, str]
    """Pipeline → the digest of its behaviour."""
    floors: Floors = field(default_factory=dict)

    def of(self, name: str) -> Scores:
        """The scores of a pipeline."""
        if name not in self.scores:
            known = ", ".join(self.scores)
            raise UsageError(f"{self.source} has no baseline of the pipeline {name!r}; it has {known}.")
        return self.scores[name]


def read_baseline(path: PathLike) -> Baseline:
    """A baseline from its file."""
    source = source_name(path)
    data = parse_json(read_bytes(path), source)
    if not isinstance(data, dict) or data.get("baseline_version") != VERSION:
        raise BadInput.of(source, f"is no baseline of version {VERSION}; `rankproof baseline record` makes one")
    scores = {one.name: one for one in read_scores(path)}
    try:
        floors = {
            name: {parse_measure(measure): float(floor) for measure, floor in of_pipeline.items()}
            for name, of_pipeline in data.get("floors", {}).items()
        }
        return Baseline(source, scores, str(data["gold"]), data["corpus"], dict(data["pipelines"]), floors)
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise BadInput.of(source, f"is no baseline as we write it ({exc!r}); record it again") from exc


def ratcheted(
    before: Mapping[Measure, float], reached: Mapping[Measure, float], *, raise_them: bool, lower_them: bool
) -> dict[Measure, float]:
    """The floors of a pipeline once these values are accepted.

    `reached` has the measures that are to have a floor. A floor above what is reached comes down only if that is asked
    for, and one below goes up only if that is.
    """
    floors = dict(before)
    for measure, value in reached.items():
        # Rounded down, so that the value which is accepted passes its own floor.
        new = math.floor(value * _DECIMALS * (1 + 1e-12)) / _DECIMALS
        old = floors.get(measure)
        if (raise_them and (old is None or new > old)) or (lower_them and old is not None and new < old):
            floors[measure] = new
    return floors


def check_comparable(baseline: Baseline, now: Sequence[Scores], gold: str) -> None:
    """Refuse to hold figures against a baseline that was made of another gold set or under other rules."""
    apart = []
    if baseline.gold != gold:
        apart.append(f"another gold set ({_of_queries(baseline, now)})")
    for one in now:
        before = baseline.of(one.name)
        ours, theirs = one.preset.rules.as_dict(), before.preset.rules.as_dict()
        apart += [f"{rule}={theirs[rule]} then, {rule}={ours[rule]} now" for rule in ours if ours[rule] != theirs[rule]]
        if dict(one.preset.defaults) != dict(before.preset.defaults):
            apart.append(f"parameters of the preset {before.preset.name} then, of {one.preset.name} now")
        missing = [str(measure) for measure in one.measures if measure not in before.measures]
        if missing:
            apart.append(f"no {', '.join(missing)} in the baseline")
    if apart:
        raise UsageError(
            f"{baseline.source} cannot be compared with: {'; '.join(dict.fromkeys(apart))}. "
            "Record the baseline again (`rankproof baseline record`) once the change is meant."
        )


def _of_queries(baseline: Baseline, now: Sequence[Scores]) -> str:
    """What became of the queries that are measured."""
    before = {query for scores in baseline.scores.values() for query in scores.query_ids}
    after = {query for scores in now for query in scores.query_ids}
    changes = [("added", sorted(after - before)), ("gone", sorted(before - after))]
    said = [f"{count(len(ids), 'query', 'queries')} {what}: {_some(ids)}" for what, ids in changes if ids]
    return "; ".join(said) or "the same queries, judged otherwise"


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more
