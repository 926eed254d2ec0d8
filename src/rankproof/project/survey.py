"""What lies in a folder: documents that could be searched, and gold sets."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from rankproof.data.corpus import Corpus
from rankproof.data.files import head
from rankproof.data.gold import GoldSet
from rankproof.errors import RankproofError, count

PAGES = (".md", ".markdown", ".txt")
LOOKED_FOR = (
    "folders of .md, .markdown or .txt pages, BEIR folders (corpus.jsonl), *.jsonl and *.csv corpora; "
    "gold sets as .csv, .json or .tsv"
)
_PACKED = ("", ".gz", ".zst")
_DEPTH = 2
_MOST_FILES = 50_000
_MOST_BYTES = 50 << 20
"""A gold set is small; a bigger file is not opened in search of one."""
_PASSED_OVER = {"node_modules", "venv", "env", "__pycache__", "site-packages", "build", "dist", "target"}
_ABOUT_THE_PROJECT = re.compile(
    r"(readme|changelog|changes|history|license|licence|notice|authors|contributing|code_of_conduct|security|todo"
    r"|requirements.*|robots)(\..*)?", re.IGNORECASE
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """Something that could be the corpus or the gold set."""

    path: str
    """As the project file would write it."""
    about: str
    """What it is, in words."""
    ids: str = "stem"
    """Of pages: by what they must be called, so that no two are called the same."""


@dataclass(frozen=True)
class Survey:
    """What was found, the most likely first."""

    corpora: tuple[Candidate, ...] = ()
    golds: tuple[Candidate, ...] = ()


@dataclass
class _Seen:
    files: list[str] = field(default_factory=list)
    """Files that are no pages, by their path from the folder."""
    pages: dict[str, list[str]] = field(default_factory=dict)
    """First folder → the pages below it; the folder itself is the empty string."""


def survey(folder: Path) -> Survey:
    """Look at a folder; nothing below hidden folders, environments and build results is looked at."""
    seen = _look(folder)
    beir = list(_beir_folders(seen.files))
    inside = {f"{path}/" if path != "." else "" for path in beir}
    loose = [file for file in seen.files if not any(file.startswith(above) for above in inside)]
    corpora = [
        *(Candidate(path, "a BEIR folder") for path in beir),
        *_readable_corpora(folder, loose, (".jsonl", ".ndjson")),
        *_page_folders(seen.pages),
        *_readable_corpora(folder, loose, (".csv",)),
    ]
    return Survey(tuple(corpora), tuple(_golds(folder, beir, seen.files)))


def _look(folder: Path) -> _Seen:
    seen = _Seen()
    n_files = 0
    for above, below, names in os.walk(folder):
        here = PurePath(above).relative_to(folder)
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in _PASSED_OVER)
        n_files += len(names)
        if n_files > _MOST_FILES:
            break
        for name in sorted(names):
            path = here / name
            if name.startswith("."):
                continue
            if path.suffix.lower() in PAGES:
                if len(path.parts) > 1 or not _ABOUT_THE_PROJECT.fullmatch(name):
                    seen.pages.setdefault("" if len(path.parts) == 1 else path.parts[0], []).append(path.as_posix())
            elif len(path.parts) <= _DEPTH + 1:
                seen.files.append(path.as_posix())
    return seen


def _beir_folders(files: list[str]) -> Iterator[str]:
    for file in files:
        if PurePath(file).name in {f"corpus.jsonl{ending}" for ending in _PACKED}:
            yield PurePath(file).parent.as_posix()


def _page_folders(pages: dict[str, list[str]]) -> Iterator[Candidate]:
    """The folders with pages, the one with most first."""
    for first, names in sorted(pages.items(), key=lambda item: (-len(item[1]), item[0])):
        [(suffix, _), *others] = Counter(PurePath(name).suffix for name in sorted(names)).most_common()
        if first:
            path = first if others else f"{first}/**/*{suffix}"
        else:
            # The whole folder would take in everything below it.
            path = f"*{suffix}"
            names = [name for name in names if name.endswith(suffix)]
        kind = "" if others and first else f"{suffix} "
        stems = Counter(PurePath(name).stem for name in names)
        ids = "path" if max(stems.values()) > 1 else "stem"
        yield Candidate(path, count(len(names), f"{kind}page", f"{kind}pages"), ids)


def _readable_corpora(folder: Path, files: list[str], suffixes: tuple[str, ...]) -> Iterator[Candidate]:
    for file in files:
        if _suffix(file) in suffixes and "quer" not in PurePath(file).name.lower() and _has_documents(folder / file):
            yield Candidate(file, "a corpus of JSON lines" if ".csv" not in suffixes else "a corpus as CSV")


def _has_documents(path: Path) -> bool:
    """Whether the first record has an id and a text; the file may be long, so no more of it is read."""
    try:
        lines = head(path).splitlines()
    except RankproofError:
        return False
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith(b"#")), b"")
    if _suffix(path.name) == ".csv":
        names = {name.strip().lower() for name in first.decode(errors="replace").split(",")}
    else:
        try:
            record = json.loads(first)
        except (ValueError, RecursionError):
            return b'"text"' in first and b'id"' in first
        names = set(record) if isinstance(record, dict) else set()
    return "text" in names and bool(names & {"id", "_id", "doc_id"})


def _golds(folder: Path, beir: list[str], files: list[str]) -> Iterator[Candidate]:
    """Gold sets that can be read and have judgments, those called so first."""
    named = sorted(files, key=lambda file: ("gold" not in file.lower(), "truth" not in file.lower(), file))
    for path in (*beir, *(file for file in named if _suffix(file) in (".csv", ".json", ".tsv"))):
        target = folder / path
        if target.is_file() and target.stat().st_size > _MOST_BYTES:
            continue
        try:
            gold = GoldSet.read(target)
        except RankproofError:
            continue
        if len(gold.qrels):
            yield Candidate(path, gold_words(gold))


def gold_words(gold: GoldSet) -> str:
    """How much there is of a gold set."""
    return f"{count(len(gold), 'query', 'queries')}, {count(len(gold.qrels), 'judgment', 'judgments')}"


def _suffix(name: str) -> str:
    plain = PurePath(name)
    while plain.suffix in _PACKED[1:]:
        plain = plain.with_suffix("")
    return plain.suffix.lower()


_FREQUENT = {
    "danish": "og i det at en den til er som på de med der af for ikke et har jeg",
    "dutch": "de het een van en in is dat op te zijn met voor niet aan er om ook als",
    "english": "the of and to in is that it was for on are with as be this at by from",
    "finnish": "ja on ei että se hän oli joka mutta ovat kun niin myös tai kuin ole jos",
    "french": "le la les de des du et en un une est que qui dans pour pas sur au par",
    "german": "der die und das den von zu mit sich des auf für ist im dem nicht ein eine",
    "italian": "il di che la e un per non sono del della con le una si da come anche nel",
    "norwegian": "og i det på som er en til av at for med de ikke har den om et jeg fra",
    "portuguese": "o de que e do da em um para não uma os com no se na por mais as dos",
    "spanish": "el la de que y en los del se las por un para con no una su al lo como",
    "swedish": "och i att det som en på är av för med den till inte har de ett om jag",
}
_SAMPLE = 200
_LEAST_SHARE = 0.08
_LEAD = 1.3


def guessed_language(corpus: Corpus) -> str | None:
    """The language of the first documents, where one is clearly ahead of all others; else None."""
    words = [
        word for document in corpus.documents[:_SAMPLE] for word in re.findall(r"\w+", document.text[:2000].lower())
    ]
    if not words:
        return None
    counts = Counter(words)
    shares = {name: sum(counts[word] for word in text.split()) / len(words) for name, text in _FREQUENT.items()}
    (best, share), (_, second), *_ = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    return best if share >= _LEAST_SHARE and share >= _LEAD * second else None
