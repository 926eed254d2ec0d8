"""Stages: what a pipeline is made of. A stage is a class of options with one method, `open`; entry points name them.

Ours and everybody's are found by the same road: an entry point in the group of its kind (`rankproof.retrievers`,
`rankproof.rerankers`, `rankproof.texts`) leads to the class. Its fields are the options in rankproof.yaml.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from rankproof.data.corpus import Corpus
from rankproof.data.gold import GoldSet, Query
from rankproof.errors import NotMeasured, UnknownName, UsageError
from rankproof.retrieval.answers import Answer, Hit
from rankproof.retrieval.digest import digest_of, digest_of_corpus

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler

RollUp = Literal["best", "sum", "mean"]
"""What a document scores whose chunks were found."""

Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and how much there is."""


class Retriever(Protocol):
    """Finds documents."""

    def search(self, queries: Sequence[Query], k: int) -> Iterable[Answer]:
        """One answer per query, in the order of the queries, each with at most k hits.

        A query that fails gets `Answer.failed(reason)`; an error is raised only where no query can be answered.
        Answers may come one by one, so that those had are kept if the work is interrupted.
        """
        ...


class Reranker(Protocol):
    """Puts documents that were found into a better order."""

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The hits in their new order, with new scores; raises NotMeasured if it cannot, and never passes them on."""
        ...


def no_progress(what: str, done: int, total: int | None) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Library:
    """A corpus, and the pieces of it that are searched."""

    documents: Corpus
    pieces: Corpus
    """Chunks of the documents; the documents themselves if they are not cut up."""
    document_of: Mapping[str, str] = field(default_factory=dict)
    """Chunk → document; empty if they are not cut up."""
    roll_up: RollUp = "best"

    @cached_property
    def digest(self) -> str:
        """What is searched, and how its pieces become documents again."""
        return digest_of([digest_of_corpus(self.pieces), dict(self.document_of), self.roll_up])


@dataclass(frozen=True)
class Place:
    """Where a stage works: the corpus, the folders, and who watches."""

    folder: Path
    """What relative paths start from: the folder of rankproof.yaml."""
    library: Library | None = None
    """The documents; None if no corpus is named."""
    gold: GoldSet | None = None
    store: Path | None = None
    """Where indexes and vectors are kept from one run to the next; None keeps nothing."""
    progress: Progress = field(default=no_progress)

    @property
    def corpus(self) -> Corpus:
        """What is searched: the documents, or the chunks of them."""
        return self._library.pieces

    def text_of(self, doc_id: str) -> str:
        """Title and text of a document, for stages that read what was found; raises NotMeasured if there is none."""
        document = self._library.documents.by_id.get(doc_id)
        if document is None:
            raise NotMeasured(f"document {doc_id!r} was returned, and the corpus does not have it")
        return f"{document.title}\n{document.text}" if document.title else document.text

    @property
    def _library(self) -> Library:
        if self.library is None:
            raise UsageError("This pipeline reads a corpus; name one by `corpus:` in rankproof.yaml or by --corpus.")
        return self.library

    def path(self, name: str) -> Path:
        """A path as the project file writes it."""
        return self.folder / name


def secret(key_env: str | None, key_file: str | None, place: Place, *, what: str) -> str | None:
    """A key from the environment or from a file of its own; it never stands in the project file.

    Raises NotMeasured if there is none where one should be: the project is right, and this machine cannot measure it.
    """
    if key_env is not None:
        value = os.environ.get(key_env, "").strip()
        if not value:
            raise NotMeasured(f"{what} takes its key from the environment variable {key_env}, which is not set.")
        return value
    if key_file is None:
        return None
    try:
        value = place.path(key_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise NotMeasured(f"{what} takes its key from the file {key_file}, which cannot be read: {reason}") from exc
    if not value:
        raise NotMeasured(f"{what} takes its key from the file {key_file}, which is empty.")
    return value


def idle(default: Any, **more: Any) -> Any:
    """A field that does not change what a stage returns, such as a time limit; it is left out of the digest."""
    return Field(default, json_schema_extra={"idle": True}, **more)


class Stage(BaseModel):
    """The options of a stage, as rankproof.yaml gives them."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    reads_corpus: ClassVar[bool] = True
    """Whether its results depend on the corpus."""
    volatile: ClassVar[bool] = False
    """Whether its results may change although nothing here did, as those of a server do. They are kept only until a run
    is complete, so that an interrupted one can go on."""

    def behaviour(self, place: Place) -> dict[str, Any]:
        """Everything that its results depend on besides corpus and query: options, and digests of files they name."""
        idle_fields = {
            name
            for name, option in type(self).model_fields.items()
            if isinstance(option.json_schema_extra, dict) and option.json_schema_extra.get("idle")
        }
        return self.model_dump(mode="json", exclude=idle_fields)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema with what stands below each option in the code."""
        schema = handler(core_schema)
        # pydantic can do this by itself, but then reads and parses the code of every stage whenever one is used.
        options = handler.resolve_ref_schema(schema).get("properties", {})
        about = _option_docs(cls)
        for name, option in cls.model_fields.items():
            key = option.alias or name
            if name in about and key in options:
                options[key].setdefault("description", about[name])
        return schema


def _option_docs(stage: type[Stage]) -> dict[str, str]:
    """Option → the text that stands below it in the code."""
    import ast
    import inspect
    import textwrap

    found = {}
    for one in reversed([one for one in stage.__mro__ if issubclass(one, Stage)]):
        try:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        except OSError:
            # A class without a file, such as one that was typed at a prompt.
            continue
        for option, below in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
            if isinstance(option, ast.AnnAssign) and isinstance(option.target, ast.Name):
                match below:
                    case ast.Expr(ast.Constant(str() as about)):
                        found[option.target.id] = inspect.cleandoc(about)
    return found


class RetrieverStage(Stage):
    """A stage that finds documents."""

    @abstractmethod
    def open(self, place: Place) -> Retriever:
        """Make it ready to search; indexes are built or fetched here."""


class TextStage(Stage):
    """A stage that rewrites the text of queries and of documents, both alike."""

    @abstractmethod
    def open(self, place: Place) -> Callable[[str], str]:
        """The function that rewrites a text."""


class RerankerStage(Stage):
    """A stage that reorders documents."""

    @abstractmethod
    def open(self, place: Place) -> Reranker:
        """Make it ready to rerank."""


GROUPS: dict[type[Stage], str] = {
    RetrieverStage: "rankproof.retrievers",
    RerankerStage: "rankproof.rerankers",
    TextStage: "rankproof.texts",
}
"""Kind of stage → the group of entry points that names its classes."""

_NOUNS = {RetrieverStage: "retriever", RerankerStage: "reranker", TextStage: "text stage"}


@cache
def _entries(kind: type[Stage]) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUPS[kind])}


def stage_names(kind: type[Stage]) -> list[str]:
    """The names of all stages of a kind, ours and installed ones."""
    return sorted(_entries(kind))


def stage_class(name: str, kind: type[Stage]) -> type[Stage]:
    """The class of options of a stage."""
    entries = _entries(kind)
    if name not in entries:
        raise UnknownName(_NOUNS[kind], name, entries)
    found = entries[name].load()
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise UsageError(f"The {_NOUNS[kind]} {name!r} leads to {found!r}, which does not derive from {kind.__name__}.")
    return found
