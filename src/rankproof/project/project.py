"""A project: rankproof.yaml read, checked and turned into what the rest of the program works with."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike
from rankproof.data.formats import Noun, readers
from rankproof.data.gold import GoldSet
from rankproof.data.groups import read_groups
from rankproof.data.qrels import Qrels
from rankproof.errors import UnknownName, UsageError
from rankproof.fusion.registry import choose
from rankproof.measures.parse import parse_measures
from rankproof.measures.registry import Measure
from rankproof.project.faults import BadProject, refuse_any
from rankproof.project.gate import Gate
from rankproof.project.metrics import MetricsConfig, check_measures, metrics_config
from rankproof.project.secrets import find_secrets
from rankproof.project.settings import CACHE, MAX_PIPELINES, CorpusSettings, Settings
from rankproof.project.validate import sole_option, validated
from rankproof.project.yaml_text import Place as At
from rankproof.project.yaml_text import YamlText, read_yaml
from rankproof.retrieval.chunking import Chunking
from rankproof.retrieval.corpora import CorpusFiles, read_library
from rankproof.retrieval.pipeline import DEPTH, Fuse, Named, Pipeline
from rankproof.retrieval.stage import (
    Library,
    Place,
    Progress,
    RerankerStage,
    RetrieverStage,
    Stage,
    TextStage,
    no_progress,
    stage_class,
    stage_names,
)
from rankproof.scoring.rules import PRESETS, Preset

FILE = "rankproof.yaml"

ENVIRONMENT = {
    "RANKPROOF_GOLD": "gold",
    "RANKPROOF_CORPUS": "corpus",
    "RANKPROOF_GROUPS": "groups",
    "RANKPROOF_PRESET": "preset",
    "RANKPROOF_MEASURES": "measures",
    "RANKPROOF_CACHE": "cache",
}
"""Environment variable → the key that it stands in for. What the command line gives counts before the environment, and
the environment before the file; an empty variable is none. Paths in variables and on the command line start from the
current folder, those in the file from the folder of the file."""

_PATHS = ("gold", "corpus", "groups", "cache")


@dataclass(frozen=True)
class Project:
    """What a project file says, checked. Gold set and corpus are read when they are first asked for."""

    file: Path
    """The file itself."""
    settings: Settings
    pipelines: Mapping[str, Pipeline]
    measures: tuple[Measure, ...]
    """What is measured; empty if the file does not say."""
    preset: Preset
    cache: Path | None
    """The folder for answers, indexes and runs; None keeps nothing."""
    metrics: MetricsConfig | None = None
    """The block `retrieval_metrics`, if there is one."""
    identifiers: tuple[re.Pattern[str], ...] = ()
    gate: Gate = field(default_factory=Gate)

    @property
    def folder(self) -> Path:
        """What relative paths start from."""
        return self.file.parent

    @property
    def answers(self) -> Path | None:
        """Where the answers of pipelines are kept; None keeps nothing."""
        return None if self.cache is None else self.cache / "answers"

    @property
    def store(self) -> Path | None:
        """Where stages keep indexes and vectors; None keeps nothing."""
        return None if self.cache is None else self.cache / "store"

    @property
    def saved_runs(self) -> Path | None:
        """Where runs and their scores are put; None keeps nothing."""
        return None if self.cache is None else self.cache / "runs"

    def gold(self) -> GoldSet:
        """The gold set."""
        return self._gold

    def library(self) -> Library | None:
        """The documents, and the pieces of them that are searched; None if no corpus is named."""
        return self._library

    def groups(self) -> dict[str, str]:
        """Query → group: of the file that `groups` names, else of the gold set."""
        named = self.settings.groups
        return read_groups(self.folder / named) if named is not None else self._gold.groups

    def place(self, progress: Progress = no_progress) -> Place:
        """Where stages work; gold set and corpus are read now, each if it is named."""
        return Place(
            folder=self.folder,
            library=self._library,
            gold=self._gold if self.settings.gold is not None else None,
            store=self.store,
            progress=progress,
        )

    @cached_property
    def _gold(self) -> GoldSet:
        named = self.settings.gold
        if named is None:
            raise UsageError(f"{self.file.name} names no gold set; add `gold: gold.csv` to it.")
        gold = GoldSet.read(self.folder / named.path, format=named.format)
        return gold if named.qrels is None else replace(gold, qrels=Qrels.read(self.folder / named.qrels))

    @cached_property
    def _library(self) -> Library | None:
        named = self.settings.corpus
        if named is None:
            return None
        return read_library(_corpus_files(named), self.folder, chunking=_chunking(named), roll_up=named.roll_up)


def _corpus_files(named: CorpusSettings) -> CorpusFiles:
    columns = named.columns.model_dump(exclude_none=True) if named.columns is not None else {}
    return CorpusFiles(named.path, named.format, named.ids, columns)


def _chunking(named: CorpusSettings) -> Chunking | None:
    return None if named.chunk is None else Chunking(named.chunk.by, named.chunk.size, named.chunk.overlap)


def find_project(start: PathLike = ".") -> Path:
    """The project file: the one given, or the one in the folder given or in the nearest folder above it."""
    path = Path(start)
    if path.is_file():
        return path
    if not path.is_dir():
        raise UsageError(f"{os.fspath(start)}: there is no such file or folder.")
    if (path / FILE).is_file():
        return path / FILE
    whole = path.resolve()
    for folder in (whole, *whole.parents):
        if (folder / FILE).is_file():
            return folder / FILE
        if (folder / "rankproof.yml").is_file():
            raise UsageError(f"{folder / 'rankproof.yml'} is called otherwise than {FILE}; rename it.")
    raise UsageError(
        f"There is no {FILE} in {os.fspath(start)!r} or in a folder above it; `rankproof init` writes one."
    )


def load_project(start: PathLike = ".", *, environment: Mapping[str, str] | None = None, **given: Any) -> Project:
    """The project of a file or folder; raises BadProject with everything that is wrong with it.

    Keywords (`gold`, `corpus`, `groups`, `preset`, `measures`, `cache`) stand in for keys of the file; None leaves one
    as it is. They count before the environment, and the environment before the file.
    """
    file = find_project(start)
    return project_of(file, read_yaml(file), environment=environment, **given)


def project_of(file: Path, text: YamlText, *, environment: Mapping[str, str] | None = None, **given: Any) -> Project:
    """The project that a text makes if it stands in this file."""
    for key in given:
        if key not in ENVIRONMENT.values():
            raise UnknownName("key that can be given", key, ENVIRONMENT.values())
    if not isinstance(text.data, dict):
        raise BadProject.of(text.source, "the file holds no keys; `rankproof init` writes one to begin with", 1)
    faults = Faults(text.source)
    for at, message in find_secrets(text.data):
        faults.add(message, text.line_of(at))
    # Nothing else is said about a file with secrets in it, for what is said might repeat one.
    refuse_any(faults)
    layers = _layers(given, os.environ if environment is None else environment, file.parent)
    data = {**text.data}
    for key, (value, _) in layers.items():
        data[key] = _overlaid(data.get(key), key, value)
    return _Builder(file, text, data, {key: source for key, (_, source) in layers.items()}, faults).project()


def _layers(given: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> dict[str, tuple[Any, str]]:
    """Key → its value and where that comes from, for what does not come from the file."""
    found: dict[str, tuple[Any, str]] = {}
    for variable, key in ENVIRONMENT.items():
        if environment.get(variable, "").strip():
            found[key] = (environment[variable].strip(), variable)
    for key, value in given.items():
        if value is not None and value != ():
            found[key] = (list(value) if isinstance(value, tuple) else value, f"--{key}")
    return {key: (_from_here(key, value, folder), source) for key, (value, source) in found.items()}


def _from_here(key: str, value: Any, folder: Path) -> Any:
    if key == "cache" and value in (False, "false"):
        return False
    if key in _PATHS and isinstance(value, str | os.PathLike):
        return from_folder(value, folder)
    return [value] if key == "measures" and isinstance(value, str) else value


def from_folder(path: PathLike, folder: Path) -> str:
    """A path from the current folder as one from another folder; an absolute one stays as it is."""
    if os.path.isabs(path):
        return os.fspath(path)
    return PurePath(os.path.relpath(path, folder)).as_posix()


def _overlaid(before: Any, key: str, value: Any) -> Any:
    """Another corpus is cut up as the file says; what the file says about the format was said about its own."""
    if key == "corpus" and isinstance(before, dict):
        return {**{k: v for k, v in before.items() if k not in ("format", "columns")}, "path": value}
    return value


class _Builder:
    """Makes a project of checked settings, collecting what is wrong on the way."""

    def __init__(
        self, file: Path, text: YamlText, data: dict[str, Any], origins: Mapping[str, str], faults: Faults
    ) -> None:
        self.file = file
        self.text = YamlText(
            text.source, data, {at: line for at, line in text.lines.items() if not at or at[0] not in origins}
        )
        self.data = data
        self.origins = origins
        self.faults = faults

    def project(self) -> Project:
        settings = validated(Settings, self.data, self.text, self.faults)
        measures = self._measures()
        preset = self._preset()
        identifiers = tuple(self._identifiers())
        self._format("gold")
        self._format("corpus")
        self._gate_measures()
        pipelines = dict(self._pipelines())
        self._check_inputs(pipelines)
        cache = self._cache()
        refuse_any(self.faults)
        assert settings is not None
        assert preset is not None
        block = settings.retrieval_metrics
        metrics = None
        if block is not None:
            metrics = metrics_config(block, self._named_measures(("retrieval_metrics", "enabled_metrics")))
            measures = metrics.measures
            cache = cache if metrics.caching else None
        return Project(
            file=self.file,
            settings=settings,
            pipelines=pipelines,
            measures=measures,
            preset=preset,
            cache=cache,
            metrics=metrics,
            identifiers=identifiers,
            gate=settings.gate or Gate(),
        )

    def _fault(self, message: str, at: At) -> None:
        origin = self.origins.get(str(at[0])) if at else None
        if origin is not None:
            self.faults.add(f"{origin}: {message}")
        else:
            self.faults.add(message, self.text.line_of(at))

    def _at(self, at: At) -> Any:
        """What stands at a place of the file, or None."""
        value: Any = self.data
        for part in at:
            if isinstance(value, dict):
                value = value.get(part)
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                value = value[part]
            else:
                return None
        return value

    def _named_measures(self, at: At) -> tuple[Measure, ...]:
        return check_measures(self._at(at), at, self._fault)

    def _measures(self) -> tuple[Measure, ...]:
        if self._at(("measures",)) is not None and self._at(("retrieval_metrics",)) is not None:
            self._fault("`measures` and `retrieval_metrics` both say what is measured; keep one of them", ("measures",))
        self._named_measures(("retrieval_metrics", "enabled_metrics"))
        return self._named_measures(("measures",))

    def _preset(self) -> Preset | None:
        name = self._at(("preset",))
        if name is None:
            return PRESETS["default"]
        if isinstance(name, str) and name not in PRESETS:
            self._fault(str(UnknownName("preset", name, PRESETS)), ("preset",))
        return PRESETS.get(name) if isinstance(name, str) else None

    def _format(self, noun: Noun) -> None:
        name = self._at((noun, "format"))
        known = [reader.format for reader in readers(noun)]
        if isinstance(name, str) and name not in known:
            self._fault(str(UnknownName(f"{noun} format", name, known)), (noun, "format"))

    def _identifiers(self) -> Iterator[re.Pattern[str]]:
        patterns = self._at(("identifiers",))
        for i, pattern in enumerate(patterns if isinstance(patterns, list) else []):
            if not isinstance(pattern, str):
                continue
            try:
                with warnings.catch_warnings():
                    # What a later Python may read otherwise is no fault yet.
                    warnings.simplefilter("ignore", FutureWarning)
                    yield re.compile(pattern)
            except (re.error, RecursionError, OverflowError) as exc:
                self._fault(f"{pattern!r} is no regular expression: {exc}", ("identifiers", i))

    def _gate_measures(self) -> None:
        for key in ("floors", "max_drop"):
            named = self._at(("gate", key))
            for name in named if isinstance(named, dict) else {}:
                try:
                    parse_measures(name)
                except UsageError as exc:
                    self._fault(str(exc), ("gate", key, name))

    def _cache(self) -> Path | None:
        value = self._at(("cache",))
        if value is False:
            return None
        name = CACHE if value is None or value is True else str(value)
        target = self.file.parent / name
        # Whoever sets a variable chooses a folder of their own machine; a file that came with a project may not.
        if "cache" not in self.origins and not target.resolve().is_relative_to(self.file.parent.resolve()):
            way_out = "name one inside it, or set RANKPROOF_CACHE"
            self._fault(f"`cache` is {name!r}, a folder outside the project; {way_out}", ("cache",))
        return target

    def _pipelines(self) -> Iterator[tuple[str, Pipeline]]:
        named = self._at(("pipelines",))
        for name, body in named.items() if isinstance(named, dict) else ():
            if isinstance(body, dict):
                yield name, self._pipeline(name, body, ("pipelines", name))

    def _pipeline(self, name: str, body: dict[str, Any], at: At) -> Pipeline:
        """The pipeline, as far as it can be made out; the faults decide whether it is ever used."""
        depth, top, base = body.get("depth"), body.get("top"), body.get("from")
        return Pipeline(
            name,
            retrieve=self._stage(body.get("retrieve"), RetrieverStage, (*at, "retrieve")),
            fuse=self._fuse(body.get("fuse"), (*at, "fuse")),
            base=base if isinstance(base, str) else None,
            prepare=self._stages(body.get("prepare"), TextStage, (*at, "prepare")),
            rerank=self._stages(body.get("rerank"), RerankerStage, (*at, "rerank")),
            depth=depth if isinstance(depth, int) else DEPTH,
            top=top if isinstance(top, int) else None,
        )

    def _stages(self, value: Any, kind: type[Stage], at: At) -> tuple[Named, ...]:
        both = [(one, (*at, i)) for i, one in enumerate(value)] if isinstance(value, list) else [(value, at)]
        return tuple(stage for stage in (self._stage(one, kind, where) for one, where in both) if stage is not None)

    def _stage(self, value: Any, kind: type[Stage], at: At) -> Named | None:
        if isinstance(value, dict) and len(value) == 1:
            [(name, options)] = value.items()
        else:
            name, options = value, {}
        if not isinstance(name, str):
            return None
        where = (*at, name) if isinstance(value, dict) else at
        try:
            found = stage_class(name, kind)
        except UsageError as exc:
            known = f" Known are {', '.join(stage_names(kind))}." if "Did you mean" not in str(exc) else ""
            self._fault(f"{exc}{known}", where)
            return None
        except (ImportError, AttributeError) as exc:
            self._fault(f"The stage {name!r} cannot be loaded: {exc}.", where)
            return None
        needed = sole_option(found)
        if isinstance(options, str) and needed is not None:
            options = {needed: options}
        stage = validated(found, {} if options is None else options, self.text, self.faults, where)
        return None if stage is None else Named(name, stage)

    def _fuse(self, value: Any, at: At) -> Fuse | None:
        if not isinstance(value, dict) or not isinstance(value.get("of"), list):
            return None
        of = tuple(str(name) for name in value["of"])
        by = value.get("by", "rrf")
        options = {key: value[key] for key in ("weights", "normalize", "k") if value.get(key) is not None}
        if len(of) >= 2 and isinstance(by, str):
            try:
                choose(by, len(of), **options)
            except UsageError as exc:
                self._fault(str(exc), at)
            except TypeError:
                # A value of the wrong type is told where the settings are validated.
                return None
        return Fuse(of, str(by), options)

    def _check_inputs(self, pipelines: Mapping[str, Pipeline]) -> None:
        for name, pipeline in pipelines.items():
            at: At = ("pipelines", name, "fuse", "of") if pipeline.fuse is not None else ("pipelines", name, "from")
            for i, other in enumerate(pipeline.inputs):
                if other not in pipelines:
                    others = [known for known in pipelines if known != name]
                    self._fault(str(UnknownName("pipeline", other, others)), (*at, i))
            if pipeline.fuse is not None and len(set(pipeline.fuse.of)) < len(pipeline.fuse.of):
                self._fault(f"`fuse` of {name!r} names a pipeline twice; use weights to count one more", at)
        for circle in _circles(pipelines) if len(pipelines) <= MAX_PIPELINES else ():
            words = " → ".join(circle)
            self._fault(f"Pipelines take hits from each other in a circle: {words}.", ("pipelines", circle[0]))


def _circles(pipelines: Mapping[str, Pipeline]) -> Iterator[tuple[str, ...]]:
    """Each circle once, beginning at the pipeline of it that stands first in the file."""
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if name in path:
            yield (*path[path.index(name) :], name)
            return
        if name in done or name not in pipelines:
            return
        for other in pipelines[name].inputs:
            yield from walk(other, (*path, name))
        done.add(name)

    for name in pipelines:
        yield from walk(name, ())
