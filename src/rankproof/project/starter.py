"""The project file that `rankproof init` writes, and the empty gold set beside it."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rankproof.data.corpus import Corpus
from rankproof.data.files import write_whole
from rankproof.data.gold import GoldSet
from rankproof.errors import BadInput, NothingToEvaluate, UsageError, count
from rankproof.project.project import FILE, from_folder, project_of
from rankproof.project.survey import LOOKED_FOR, Candidate, gold_words, guessed_language, survey
from rankproof.project.yaml_text import parse_yaml, yaml_word
from rankproof.retrieval.corpora import CorpusFiles, is_pattern, read_documents
from rankproof.retrieval.stage import RetrieverStage, stage_class

GOLD = "gold.csv"
EMPTY_GOLD = (
    "query,ideal_page,category\n"
    "# One row for each query and page that answers it; a line that begins with # is left out. Two examples:\n"
    "# how do I reset my password,ResetPassword,account\n"
    '# "where are invoices, and who gets them",Invoices,billing\n'
)
_DENSE_NEEDS = ("wordllama", "tokenizers", "safetensors")


def can_embed() -> bool:
    """Whether the libraries of the light embedding model are installed."""
    return all(find_spec(name) is not None for name in _DENSE_NEEDS)


@dataclass(frozen=True)
class Started:
    """What `init` saw and what it wrote."""

    saw: tuple[str, ...]
    wrote: tuple[str, ...]
    has_gold: bool
    has_vectors: bool


def start_project(folder: Path, *, gold: str | None = None, corpus: str | None = None, force: bool = False) -> Started:
    """Write rankproof.yaml, and an empty gold set where there is none, after looking at the folder.

    `gold` and `corpus` are paths from the current folder. A file that is there is not overwritten unless forced, and a
    gold set never is. Either everything is written or nothing.
    """
    if not folder.is_dir():
        raise UsageError(f"{os.fspath(folder)}: there is no such folder.")
    target = folder / FILE
    if target.exists() and not force:
        raise UsageError(f"{os.fspath(target)} is there already; --force writes it anew.")
    found = survey(folder)
    corpora = (_given(corpus, folder),) if corpus is not None else found.corpora
    golds = (_given(gold, folder),) if gold is not None else found.golds
    if not corpora:
        where = os.fspath(folder)
        raise NothingToEvaluate(
            f"{where}: nothing that could be searched was found. Looked for: {LOOKED_FOR}. Name the documents with "
            "--corpus PATH."
        )
    chosen, documents = _readable(corpora[0], folder)
    saw = [f"{_in_words(chosen, documents)}: {count(len(documents), 'document', 'documents')}"]
    saw += [f"{other.path}: {other.about}, not used" for other in corpora[1:]]
    if golds:
        read = GoldSet.read(folder / golds[0].path)
        saw.append(f"{golds[0].path}: gold set, {gold_words(read)}")
        saw += [f"{other.path}: gold set, {other.about}, not used" for other in golds[1:]]
    elif (folder / GOLD).exists():
        saw.append(f"{GOLD}: {_why_empty(folder / GOLD)}")
    has_vectors = can_embed()
    text = project_text(
        chosen,
        golds[0].path if golds else GOLD,
        language=guessed_language(documents),
        has_vectors=has_vectors,
    )
    wrote = _write(folder, text, needs_gold=not golds and not (folder / GOLD).exists())
    return Started(tuple(saw), wrote, bool(golds), has_vectors)


def _why_empty(gold: Path) -> str:
    """What is the matter with a gold set that has no judgments; one that cannot be read is refused."""
    with suppress(NothingToEvaluate):
        GoldSet.read(gold)
    return "a gold set without judgments"


def _in_words(corpus: Candidate, documents: Corpus) -> str:
    language = guessed_language(documents)
    return corpus.path + (f" ({language.capitalize()}, as far as can be told)" if language else "")


def _given(path: str, folder: Path) -> Candidate:
    return Candidate(from_folder(path, folder), "as given")


def _readable(corpus: Candidate, folder: Path) -> tuple[Candidate, Corpus]:
    """The corpus with its documents; pages are called by their path if two would have one name."""
    if corpus.ids == "stem":
        try:
            return corpus, read_documents(CorpusFiles(corpus.path), folder)
        except BadInput:
            if not is_pattern(corpus.path) and not (folder / corpus.path).is_dir():
                raise
    by_path = Candidate(corpus.path, corpus.about, "path")
    return by_path, read_documents(CorpusFiles(corpus.path, ids="path"), folder)


def _write(folder: Path, text: str, *, needs_gold: bool) -> tuple[str, ...]:
    target, gold = folder / FILE, folder / GOLD
    # What cannot be read again must not take the place of a file that can.
    project_of(target, parse_yaml(text, FILE), environment={})
    if needs_gold:
        write_whole(gold, EMPTY_GOLD.encode())
    try:
        write_whole(target, text.encode())
    except BaseException:
        if needs_gold:
            gold.unlink(missing_ok=True)
        raise
    return (FILE, GOLD) if needs_gold else (FILE,)


def project_text(corpus: Candidate, gold: str, *, language: str | None, has_vectors: bool) -> str:
    """The project file, with a comment where there is something to choose."""
    path = yaml_word(corpus.path)
    named = path
    if corpus.ids == "path":
        named = f"\n  path: {path}\n  ids: path # several pages have the same file name"
    return f"""\
# What is evaluated, and how: `rankproof eval` reads this file. Paths start from its folder.

# Queries, and which documents answer them.
gold: {yaml_word(gold)}

# What is searched: a file, a folder, or a pattern. To search sections instead of whole documents, write
#   corpus: {{path: {path}, chunk: {{by: heading}}}}
corpus: {named}

# Ways to search, compared with each other.
pipelines:
{_keyword(language)}
{_vectors(has_vectors)}
measures: [RR@10, P@1, R@5, R@20, nDCG@10]

# When a build must not pass: `rankproof baseline record` keeps what is reached, `rankproof gate` holds builds to it.
gate: {{max_drop: {{nDCG@10: 0.02}}}}

# Answers and indexes are kept here and can be deleted at any time; keep the folder out of version control.
cache: .rankproof
"""


def _keyword(language: str | None) -> str:
    if language is None or "language" not in stage_class("bm25", RetrieverStage).model_fields:
        return (
            "  # A stemmer helps where all documents are in one language: {bm25: {language: english}}\n"
            "  keyword: {retrieve: bm25, depth: 100}"
        )
    return (
        "  # The language was guessed from the documents; leave it out if they are in several.\n"
        f"  keyword: {{retrieve: {{bm25: {{language: {language}}}}}, depth: 100}}"
    )


def _vectors(is_installed: bool) -> str:
    lines = [
        "  vector: {retrieve: {dense: {model: wordllama}}, depth: 100}",
        "  hybrid: {fuse: {of: [keyword, vector], by: rrf}}",
    ]
    if is_installed:
        return "\n".join(lines) + "\n"
    comment = '  # Search by meaning takes: pip install "rankproof[dense]". Then uncomment:'
    return "\n".join([comment, *(line.replace("  ", "  # ", 1) for line in lines)]) + "\n"
