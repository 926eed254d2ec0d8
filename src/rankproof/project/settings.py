"""rankproof.yaml as it is written: one model per mapping. The reference page and the JSON Schema are made of these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from rankproof.project.gate import Gate
from rankproof.retrieval.chunking import OVERLAP, SIZE, By
from rankproof.retrieval.pipeline import DEPTH
from rankproof.retrieval.stage import RollUp

CACHE = ".rankproof"
"""The folder for answers and indexes, unless another is named."""
MAX_PIPELINES = 500


class Part(BaseModel):
    """A mapping of the project file."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _path(value: Any) -> Any:
    """A bare text is a path."""
    return {"path": value} if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    """A bare value is a list of one."""
    return value if isinstance(value, list) or value is None else [value]


def _stage(value: Any) -> Any:
    """A bare name is a stage with no options."""
    return {value: {}} if isinstance(value, str) else value


def _stages(value: Any) -> Any:
    listed = _listed(value)
    return [_stage(one) for one in listed] if isinstance(listed, list) else listed


StageOptions = Annotated[
    dict[str, Any],
    BeforeValidator(_stage),
    Field(min_length=1, max_length=1),
]
"""One stage: its name, and its options under it."""


class Gold(Part):
    """The gold set."""

    path: str = Field(min_length=1, description="A file or folder; with `qrels`, of the queries alone.")
    format: str | None = Field(default=None, description="What it is, where that cannot be told by looking.")
    qrels: str | None = Field(
        default=None, min_length=1, description="Judgments, where they are in a file of their own."
    )


class Chunk(Part):
    """How documents are cut into pieces that are searched."""

    by: By = Field(default="heading", description="`heading`: a piece per section · `size`: pieces of so many words.")
    size: int = Field(default=SIZE, ge=1, description="The most words of a piece; a longer section is cut.")
    overlap: int = Field(default=OVERLAP, ge=0, description="How many words a piece repeats of the one before it.")

    @model_validator(mode="after")
    def _overlap_is_less(self) -> Chunk:
        if self.overlap >= self.size:
            raise ValueError(f"an overlap of {self.overlap} words is too much for a size of {self.size}; make it less")
        return self


class Columns(Part):
    """Which columns of a CSV file hold what."""

    id: str | None = Field(default=None, description="The column of ids.")
    title: str | None = Field(default=None, description="The column of titles.")
    text: str | None = Field(default=None, description="The column of texts.")


class CorpusSettings(Part):
    """The documents that are searched."""

    path: str = Field(min_length=1, description="A file, a folder, or a pattern such as docs/**/*.md.")
    format: str | None = Field(default=None, description="What it is, where that cannot be told by looking.")
    ids: Literal["stem", "path"] = Field(
        default="stem",
        description="What a page is called: its file name without the suffix, or its path without the suffix.",
    )
    columns: Columns | None = Field(default=None, description="Of a CSV file: the names of its columns.")
    chunk: Chunk | None = Field(
        default=None, description="Cut documents into pieces; without it each is searched whole."
    )
    roll_up: RollUp = Field(default="best", description="What a document scores whose pieces were found.")


class FuseSettings(Part):
    """Several pipelines joined into one."""

    of: list[str] = Field(min_length=2, description="The pipelines.")
    by: str = Field(default="rrf", description="The method, as `rankproof fuse --by` takes it.")
    weights: list[float] | None = Field(default=None, description="One number for each pipeline.")
    normalize: str | None = Field(default=None, description="How scores are brought to one scale.")
    k: float | None = Field(
        default=None, ge=0, description="Of rrf: how little the first ranks stand out; 60 unless given."
    )


class PipelineSettings(Part):
    """Where hits come from (`retrieve`, `fuse` or `from`), and what is done to them."""

    retrieve: StageOptions | None = Field(default=None, description="The stage that finds documents.")
    fuse: FuseSettings | None = Field(default=None, description="Several pipelines joined into one.")
    base: str | None = Field(default=None, alias="from", description="Another pipeline whose hits are taken.")
    prepare: Annotated[list[StageOptions], BeforeValidator(_stages)] = Field(
        default_factory=list, description="What is done to the text of queries and documents first."
    )
    rerank: Annotated[list[StageOptions], BeforeValidator(_stages)] = Field(
        default_factory=list, description="The stage, or the stages one after another, that reorder hits."
    )
    depth: int = Field(default=DEPTH, ge=1, description="How many documents are fetched, and handed to the rerankers.")
    top: int | None = Field(default=None, ge=1, description="How many are returned in the end; all unless given.")

    @model_validator(mode="after")
    def _one_source(self) -> PipelineSettings:
        given = [name for name, value in self._sources.items() if value is not None]
        if len(given) != 1:
            what = "none of them is given" if not given else f"{' and '.join(f'`{name}`' for name in given)} are given"
            raise ValueError(f"a pipeline has one of `retrieve`, `fuse` and `from`; {what}")
        if self.prepare and self.retrieve is None:
            raise ValueError(f"`prepare` goes with `retrieve`; put it into the pipelines that `{given[0]}` names")
        return self

    @property
    def _sources(self) -> dict[str, Any]:
        return {"retrieve": self.retrieve, "fuse": self.fuse, "from": self.base}


class StatisticalAnalysis(Part):
    """What is said about chance."""

    confidence_intervals: bool = Field(default=True, description="Print an interval beside each mean.")
    significance_testing: bool = Field(
        default=True, description="Test the systems against the first of them, in pairs."
    )
    alpha_level: float = Field(
        default=0.05, gt=0, lt=1, description="The share of false alarms; intervals hold 1 − this."
    )


class Performance(Part):
    """How the work is done; no number depends on it."""

    batch_size: int = Field(default=100, ge=1, description="How many queries go to a pipeline at once.")
    caching_enabled: bool = Field(default=True, description="Whether answers are kept; `false` is `cache: false`.")
    parallel_processing: bool = Field(default=True, description="Whether more than one core may be used.")


class RetrievalMetrics(Part):
    """Measures and statistics in one block."""

    enabled_metrics: Annotated[list[str], BeforeValidator(_listed)] = Field(min_length=1, description="The measures.")
    graded_relevance: bool = Field(
        default=False, description="Whether grades count as gains; if not, every relevant document gains 1."
    )
    statistical_analysis: StatisticalAnalysis = Field(
        default_factory=StatisticalAnalysis, description="What is said about chance."
    )
    performance: Performance = Field(
        default_factory=Performance, description="How the work is done; no number depends on it."
    )


class MetricsFile(BaseModel):
    """A file that holds the block `retrieval_metrics` alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    retrieval_metrics: RetrievalMetrics = Field(description="Measures and statistics in one block.")


class Settings(Part):
    """The whole file."""

    gold: Annotated[Gold, BeforeValidator(_path)] | None = Field(
        default=None, description="The gold set: queries and judgments."
    )
    corpus: Annotated[CorpusSettings, BeforeValidator(_path)] | None = Field(
        default=None, description="The documents that are searched."
    )
    pipelines: dict[str, PipelineSettings] = Field(
        default_factory=dict,
        max_length=MAX_PIPELINES,
        description="Name → where hits come from, and what is done to them.",
    )
    measures: Annotated[list[str], BeforeValidator(_listed)] | None = Field(
        default=None, min_length=1, description="What is measured, such as nDCG@10."
    )
    preset: str = Field(default="default", description="The rules under which numbers are computed.")
    groups: str | None = Field(
        default=None, min_length=1, description="A file of query and group; else the gold set's groups."
    )
    cache: bool | str = Field(default=CACHE, description="The folder for answers and indexes; `false` keeps nothing.")
    gate: Gate | None = Field(default=None, description="When quality counts as worse.")
    identifiers: list[str] = Field(
        default_factory=list, description="Regular expressions of codes that a keyword search should find."
    )
    retrieval_metrics: RetrievalMetrics | None = Field(
        default=None, description="Measures and statistics in one block; stands in place of `measures`."
    )
