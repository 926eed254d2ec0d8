"""Configurations of the deterministic A/B: the keys of its own dialect, or a project file of ours.

In the dialect `t2.quality.enabled` decides. Off, documents are ranked by their similarity to the query alone
(`semantic`, the cosine of token counts unless another retriever is named). On, that is fused with BM25 (`lexical`), and
normaliser, aliases and MMR may be added. `shadow` leaves the ranking as it is and only traces; if both are on,
`enabled` wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike
from rankproof.project.faults import BadProject, refuse_any
from rankproof.project.project import load_project
from rankproof.project.validate import unknown_key, validated
from rankproof.project.yaml_text import YamlText, read_yaml
from rankproof.retrieval.pipeline import DEPTH, Fuse, Named, Pipeline
from rankproof.retrieval.stage import RetrieverStage, stage_class
from rankproof.retrieval.stages.aliases import Aliases
from rankproof.retrieval.stages.bm25 import Bm25
from rankproof.retrieval.stages.mmr import Mmr
from rankproof.retrieval.stages.normalizer import Normalizer

RANK_CONSTANT = 60
STOP_WORDS = {"none": None, "en-basic": "english"}

_QUALITY_BLOCKS = ("semantic", "lexical", "fusion", "mmr", "normalizer", "aliasing")
_OWN_KEYS = ("pipelines", "gold", "corpus")


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Lexical(_Block):
    bm25_k1: float = Field(default=1.2, ge=0)
    bm25_b: float = Field(default=0.75, ge=0, le=1)
    stopwords: str | list[str] | None = None


class _Fusion(_Block):
    mode: Literal["score_interp", "rank"] = "score_interp"
    alpha_semantic: float = Field(default=0.5, ge=0, le=1)


class _Mmr(_Block):
    enabled: bool = False
    diversity: float = Field(default=0.5, alias="lambda", ge=0, le=1)
    """The weight of diversity, which is how this dialect reads its λ; ours weighs relevance."""
    k: int | None = Field(default=None, ge=1)


class _Aliasing(_Block):
    map_path: str | None = None


class _Quality(_Block):
    enabled: bool = False
    shadow: bool = False
    redact: bool = True
    """Whether traces leave the text of queries out."""
    semantic: dict[str, dict[str, Any]] = Field(default={"bow": {}}, min_length=1, max_length=1)
    """The retriever that ranks by similarity: its name, and its options."""
    lexical: _Lexical = _Lexical()
    fusion: _Fusion = _Fusion()
    mmr: _Mmr = _Mmr()
    normalizer: dict[str, Any] | None = None
    """The options of our normaliser, and `enabled`."""
    aliasing: _Aliasing = _Aliasing()


class _T2(_Block):
    quality: _Quality = _Quality()


class _Metrics(_Block):
    report_memory: bool = False
    trace_dir: str | None = None


class _Perf(_Block):
    enabled: bool = False
    metrics: _Metrics = _Metrics()


class _Dialect(_Block):
    t2: _T2 = _T2()
    perf: _Perf = _Perf()


@dataclass(frozen=True)
class AbConfig:
    """One side of an A/B: its pipelines, the one that counts, and whether it may be traced."""

    path: str
    """As it was given."""
    folder: Path
    pipelines: Mapping[str, Pipeline]
    use: str
    trace_reason: str | None = None
    """Why traces may be written (`enabled` or `shadow`); None if the gates are not open."""
    trace_dir: str | None = None
    redact: bool = True


def read_ab_config(path: PathLike, k: int) -> AbConfig:
    """A configuration of either kind; k is how many results will be looked at."""
    text = read_yaml(path)
    if not isinstance(text.data, dict):
        raise BadProject.of(text.source, "the file holds no keys", 1)
    if any(key in text.data for key in _OWN_KEYS):
        return _own(path)
    return _dialect(text, k)


def _own(path: PathLike) -> AbConfig:
    project = load_project(path, environment={})
    used = {name for pipeline in project.pipelines.values() for name in pipeline.inputs}
    last = [name for name in project.pipelines if name not in used]
    if len(last) != 1:
        names = ", ".join(last) or "none"
        raise BadProject.of(str(path), f"one pipeline must be the last, which no other takes hits from; here: {names}")
    return AbConfig(str(path), project.folder, project.pipelines, last[0])


def _dialect(text: YamlText, k: int) -> AbConfig:
    faults = Faults(text.source)
    quality, perf = _settings(text, faults)
    semantic = _semantic(quality, text, faults)
    prepare = _prepare(quality, text, faults) if quality.enabled else ()
    refuse_any(faults)
    depth = max(DEPTH, k)
    first = Pipeline("semantic", retrieve=semantic, prepare=prepare, depth=depth)
    pipelines = {"semantic": first}
    use = "semantic"
    if quality.enabled:
        pipelines["lexical"] = Pipeline("lexical", retrieve=_lexical(quality), prepare=prepare, depth=depth)
        pipelines["quality"] = Pipeline("quality", fuse=_fuse(quality), rerank=_rerank(quality), depth=depth)
        use = "quality"
    gates = perf.enabled and perf.metrics.report_memory and (quality.shadow or quality.enabled)
    reason = ("enabled" if quality.enabled else "shadow") if gates else None
    folder = Path(text.source).parent
    return AbConfig(text.source, folder, pipelines, use, reason, perf.metrics.trace_dir, quality.redact)


def _settings(text: YamlText, faults: Faults) -> tuple[_Quality, _Perf]:
    """The blocks of quality may stand under `t2.quality` or at the top."""
    known = ("t2", "perf", *_QUALITY_BLOCKS)
    data = dict(text.data)
    for key in list(data):
        if key not in known:
            faults.add(unknown_key(key, known), text.line_of((key,)))
            del data[key]
    at_top = {key: data.pop(key) for key in _QUALITY_BLOCKS if key in data}
    found = validated(_Dialect, data, text, faults)
    dialect = found or _Dialect()
    quality = dialect.t2.quality
    for key in at_top:
        if key in quality.model_fields_set:
            faults.add(f"`{key}` stands at the top and under `t2.quality`; keep one of them", text.line_of((key,)))
    # Held against the same model, so that a fault in a block at the top is told with its own line.
    top = validated(_Quality, at_top, text, faults)
    if top is not None:
        quality = quality.model_copy(update={key: getattr(top, key) for key in at_top})
    return quality, dialect.perf


def _semantic(quality: _Quality, text: YamlText, faults: Faults) -> Named | None:
    ((name, options),) = quality.semantic.items()
    place = ("semantic",) if "semantic" in text.data else ("t2", "quality", "semantic")
    stage = validated(stage_class(name, RetrieverStage), options, text, faults, (*place, name))
    return None if stage is None else Named(name, stage)


def _lexical(quality: _Quality) -> Named:
    words = quality.lexical.stopwords
    stop_words = STOP_WORDS.get(words, words) if isinstance(words, str) else words
    options = {"k1": quality.lexical.bm25_k1, "b": quality.lexical.bm25_b, "stop_words": stop_words}
    return Named("bm25", Bm25.model_validate(options))


def _fuse(quality: _Quality) -> Fuse:
    alpha = quality.fusion.alpha_semantic
    sides, weights = ("semantic", "lexical"), [alpha, 1 - alpha]
    if quality.fusion.mode == "rank":
        return Fuse(sides, "rrf", {"weights": weights, "k": RANK_CONSTANT})
    return Fuse(sides, "weighted", {"weights": weights, "normalize": "min-max"})


def _rerank(quality: _Quality) -> tuple[Named, ...]:
    if not quality.mmr.enabled:
        return ()
    return (Named("mmr", Mmr.model_validate({"lambda": 1 - quality.mmr.diversity, "k": quality.mmr.k})),)


def _prepare(quality: _Quality, text: YamlText, faults: Faults) -> tuple[Named, ...]:
    found: list[Named] = []
    if quality.normalizer is not None:
        options = dict(quality.normalizer)
        place = ("normalizer",) if "normalizer" in text.data else ("t2", "quality", "normalizer")
        if options.pop("enabled", True):
            stage = validated(Normalizer, options, text, faults, place)
            if stage is not None:
                found.append(Named("normalizer", stage))
    if quality.aliasing.map_path is not None:
        found.append(Named("aliases", Aliases(path=quality.aliasing.map_path)))
    return tuple(found)
