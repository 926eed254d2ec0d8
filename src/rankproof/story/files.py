"""Stories and their queries from files."""

from __future__ import annotations

from rankproof.data.corpus import Corpus
from rankproof.data.files import PathLike, source_name
from rankproof.data.formats import readers, sample
from rankproof.data.formats.cnl import World, read_world
from rankproof.data.gold import GoldSet
from rankproof.data.qrels import Qrels
from rankproof.errors import NothingToEvaluate


def read_story(path: PathLike) -> World | Corpus:
    """A story in CNL, or a corpus in another format that is recognised; one that says nothing has no scene."""
    seen = sample(path)
    others = [one for one in readers("corpus") if one.format != "cnl" and one.matches(seen)]
    if len(others) != 1:
        return read_world(path)
    corpus: Corpus = others[0].read(path)
    return corpus


def read_queries(path: PathLike) -> GoldSet:
    """Labelled queries in any format of gold sets; a file that asks nothing is a gold set without queries."""
    try:
        # An empty list has nothing by which it could be told from other JSON.
        is_list = sample(path).begins_with(b"[")
        return GoldSet.read(path, format="story" if is_list else None)
    except NothingToEvaluate:
        source = source_name(path)
        return GoldSet((), Qrels.from_dict({}, source=source), source)
