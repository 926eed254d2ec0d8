"""Small corpora out of texts, and the collection that stands beside the project."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.retrieval.answers import Answer
from rankproof.retrieval.stage import Library, Place, Retriever

CRANFIELD = Path(__file__).parents[3] / "shared" / "data" / "cranfield"

needs_cranfield = pytest.mark.skipif(not CRANFIELD.is_dir(), reason="needs ../shared/data/cranfield")


def place_of(texts: dict[str, str], *, folder: Path = Path("."), titles: dict[str, str] | None = None) -> Place:
    """A place whose corpus has these texts by id."""
    titles = titles or {}
    corpus = Corpus(tuple(Document(doc_id, text, titles.get(doc_id, "")) for doc_id, text in texts.items()))
    return Place(folder, Library(corpus, corpus))


def ask(retriever: Retriever, text: str, k: int = 10) -> Answer:
    """The answer to one text."""
    (answer,) = retriever.search([Query("q", text)], k)
    return answer


def ids(answer: Answer) -> list[str]:
    """The documents of an answer, best first."""
    return [hit.doc_id for hit in answer.hits]


@cache
def cranfield() -> Place:
    """The Cranfield collection: 1,400 abstracts, 225 queries."""
    corpus = Corpus.read(CRANFIELD / "corpus.jsonl")
    lines = (CRANFIELD / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = tuple(Query(line["_id"], line["text"]) for line in map(json.loads, lines))
    gold = GoldSet(queries, Qrels.read(CRANFIELD / "qrels.txt"))
    return Place(CRANFIELD, Library(corpus, corpus), gold)
