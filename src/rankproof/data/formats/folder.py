"""A folder of Markdown and text pages as a corpus: one document for each file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from rankproof.data.corpus import Corpus, Document
from rankproof.data.files import PathLike, read_bytes, source_name
from rankproof.data.formats import Sample, reads
from rankproof.data.lines import decode_text
from rankproof.errors import BadInput, Fault, NothingToEvaluate

_MARKDOWN = {".md", ".markdown"}
_PAGES = _MARKDOWN | {".txt"}
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def _is_folder_of_pages(sample: Sample) -> bool:
    return sample.folder is not None and not any(sample.folder.glob("corpus.jsonl*"))


@reads("corpus", "folder", "a folder of .md, .markdown or .txt pages", when=_is_folder_of_pages)
def read_folder(path: PathLike) -> Corpus:
    """The pages of a folder and those below it, by their path; a page is called as its file without the suffix."""
    source = source_name(path)
    documents: list[Document] = []
    files: dict[str, str] = {}
    faults: list[Fault] = []
    for name in sorted(_page_names(path)):
        page = PurePath(name)
        if page.stem in files:
            message = f"{files[page.stem]} and {name} have the same name {page.stem!r}; rename one of them"
            faults.append(Fault(source, None, message))
            continue
        files[page.stem] = name
        try:
            documents.append(_page(Path(path, name), page))
        except BadInput as exc:
            faults.extend(exc.faults)
    if faults:
        raise BadInput(faults)
    if not documents:
        raise NothingToEvaluate(f"{source}: there is no .md, .markdown or .txt page in the folder")
    return Corpus(tuple(documents), source)


def _page_names(path: PathLike) -> Iterator[str]:
    """The pages below the folder, relative to it, with slashes; hidden files and folders are left out."""

    def refuse(exc: OSError) -> None:
        raise BadInput.of(source_name(path), f"cannot be read: {exc.strerror or exc}") from exc

    for folder, below, names in os.walk(path, onerror=refuse):
        below[:] = [name for name in below if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and PurePath(name).suffix.lower() in _PAGES:
                yield Path(folder, name).relative_to(path).as_posix()


def _page(file: Path, page: PurePath) -> Document:
    try:
        page.stem.encode()
    except UnicodeEncodeError as exc:
        raise BadInput.of(repr(str(file)), "the name of the file is not valid UTF-8; rename it") from exc
    text = decode_text(read_bytes(file), str(file))
    heading = _first_heading(text) if page.suffix.lower() in _MARKDOWN else None
    return Document(page.stem, text, heading or page.stem)


def _first_heading(text: str) -> str | None:
    """The first `#` heading that is neither in the front matter nor in a block of code."""
    lines = iter(text.splitlines())
    end: str | None = None
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if end is not None:
            if line.strip().startswith(end) and not line.strip().strip(end[0]):
                end = None
        elif number == 0 and line.rstrip() == "---":
            end = "---"
        elif fence:
            end = fence[1]
        elif heading := _HEADING.fullmatch(line):
            return heading[1].strip()
    return None
