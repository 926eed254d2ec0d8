"""Corpora as a project names them: a file, a folder or a pattern of files, and the pieces that are searched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Literal

from rankproof.data.corpus import Corpus, Document
from rankproof.data.formats.corpus_csv import read_corpus_csv
from rankproof.data.formats.folder import _PAGES, _page
from rankproof.errors import BadInput, Fault, NothingToEvaluate, UsageError
from rankproof.retrieval.chunking import Chunking, chunks
from rankproof.retrieval.stage import Library, RollUp

PageIds = Literal["stem", "path"]
"""What a page is called: its file name without the suffix, or its path without the suffix."""

_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class CorpusFiles:
    """Where documents are, and how they are read."""

    path: str
    """A file, a folder, or a pattern such as docs/**/*.md."""
    format: str | None = None
    ids: PageIds = "stem"
    columns: Mapping[str, str] = field(default_factory=dict)
    """Of a CSV file: id, title, text → the name of the column."""


def is_pattern(path: str) -> bool:
    """Whether a path stands for many files."""
    return _MAGIC.search(path) is not None


def read_documents(files: CorpusFiles, folder: Path) -> Corpus:
    """The documents; a path that is not absolute starts from the folder."""
    target = folder / files.path
    if files.columns:
        if files.format not in (None, "csv"):
            raise UsageError(f"The names of columns go with the format csv, not with {files.format!r}.")
        corpus = read_corpus_csv(target, columns=files.columns)
    elif files.format is None and is_pattern(files.path) and not target.exists():
        corpus = _joined(files, folder)
    elif files.format is None and target.is_file() and target.suffix.lower() in _PAGES:
        corpus = Corpus((_page(target, PurePath(target.name)),))
    elif files.ids == "path" and files.format in (None, "folder") and _holds_pages(target):
        corpus = _joined(replace(files, path=f"{files.path.rstrip('/')}/**/*"), folder, only_pages=True)
    else:
        corpus = Corpus.read(target, format=files.format)
    return replace(corpus, source=files.path)


def read_library(
    files: CorpusFiles, folder: Path, *, chunking: Chunking | None = None, roll_up: RollUp = "best"
) -> Library:
    """The documents and the pieces of them that are searched."""
    return cut_up(read_documents(files, folder), chunking, roll_up=roll_up)


def cut_up(corpus: Corpus, chunking: Chunking | None, *, roll_up: RollUp = "best") -> Library:
    """The documents with their pieces; without chunking each is searched whole."""
    if chunking is None:
        return Library(corpus, corpus, roll_up=roll_up)
    pieces = []
    document_of = {}
    for document in corpus:
        for piece in chunks(document, chunking):
            pieces.append(piece)
            document_of[piece.id] = document.id
    if not pieces:
        raise NothingToEvaluate(f"{corpus.source}: no document has a text or a title")
    return Library(corpus, Corpus(tuple(pieces), corpus.source), document_of, roll_up)


def _holds_pages(target: Path) -> bool:
    return target.is_dir() and not any(target.glob("corpus.jsonl*"))


def matching_files(pattern: str, folder: Path) -> list[Path]:
    """The files that a pattern stands for, by their path; hidden files and folders are left out.

    `*` and `?` stay within a name, `**` stands for any number of folders. Links to folders are not followed by `**`.
    """
    base, rest = _base(pattern, folder)
    try:
        found = {path for path in base.glob(rest) if not _is_hidden(path.relative_to(base)) and path.is_file()}
    except (ValueError, OSError) as exc:
        raise BadInput.of(pattern, f"the pattern cannot be followed: {exc}") from exc
    return sorted(found, key=lambda path: path.relative_to(base).as_posix())


def _base(pattern: str, folder: Path) -> tuple[Path, str]:
    """The folder that all files lie in, and the pattern from there on."""
    parts = PurePath(pattern).parts
    first = next(i for i, part in enumerate(parts) if is_pattern(part))
    rest = parts[first:] if parts[-1] != "**" else (*parts[first:], "*")
    return folder.joinpath(*parts[:first]), "/".join(rest)


def _is_hidden(path: PurePath) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _joined(files: CorpusFiles, folder: Path, *, only_pages: bool = False) -> Corpus:
    """The documents of all files that match; pages, and files that are corpora themselves."""
    found = matching_files(files.path, folder)
    if only_pages:
        found = [path for path in found if path.suffix.lower() in _PAGES]
    if not found:
        raise NothingToEvaluate(f"{files.path}: no file matches; `**` stands for any number of folders")
    base, _ = _base(files.path, folder)

    def name(path: Path) -> str:
        return path.stem if files.ids == "stem" else path.relative_to(base).with_suffix("").as_posix()

    documents: dict[str, Document] = {}
    origin: dict[str, Path] = {}
    faults: list[Fault] = []
    for path in found:
        try:
            for document in _documents(path, name):
                if document.id in documents:
                    faults.append(Fault(files.path, None, _clash(document.id, origin[document.id], path, folder)))
                    continue
                documents[document.id] = document
                origin[document.id] = path
        except BadInput as exc:
            faults.extend(exc.faults)
    if faults:
        raise BadInput(faults)
    return Corpus(tuple(documents.values()))


def _documents(path: Path, name: Callable[[Path], str]) -> Iterator[Document]:
    if path.suffix.lower() in _PAGES:
        page = _page(path, PurePath(path.name))
        title = page.title if page.title != page.id else PurePath(name(path)).name
        yield replace(page, id=name(path), title=title)
    else:
        yield from Corpus.read(path)


def _clash(doc_id: str, first: Path, second: Path, folder: Path) -> str:
    names = " and ".join(_shown(path, folder) for path in (first, second))
    if first == second:
        return f"{names} has the document {doc_id!r} twice; keep one of them"
    return f"{names} are both called {doc_id!r}; rename one of them, or write `ids: path` to call pages by their path"


def _shown(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
