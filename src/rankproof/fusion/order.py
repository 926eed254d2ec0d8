"""The order of trec_eval: score from high to low, equal scores by id from high to low."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankproof.data.ids import Ids

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROWS_AT_ONCE = 1 << 16


def ranked_rows(query: Ints, scores: Floats, docs: Ids) -> Ints:
    """The rows by query, then by score from high to low, then by id from high to low in the order of bytes."""
    order = np.arange(len(query))
    if bool((query[1:] < query[:-1]).any()):
        order = np.argsort(query, kind="stable")
        query, scores = query[order], scores[order]
    if not bool(((query[1:] == query[:-1]) & (scores[1:] >= scores[:-1])).any()):
        return order
    borders = np.flatnonzero(query[1:] != query[:-1]) + 1
    for begin, end in blocks(np.concatenate(([0], borders, [len(query)]))):
        part = slice(begin, end)
        order[part] = order[part][_ranked(query[part], scores[part], docs.take(order[part]))]
    return order


def blocks(edges: Ints) -> Iterator[tuple[int, int]]:
    """Stretches from edge to edge, of about as many rows as the processor's cache holds."""
    chosen = np.concatenate(([True], np.diff(edges // _ROWS_AT_ONCE) > 0))
    chosen[-1] = True
    return itertools.pairwise(edges[chosen].tolist())


def _ranked(query: Ints, scores: Floats, docs: Ids) -> Ints:
    order = np.arange(len(query))
    same_query = query[1:] == query[:-1]
    if bool((same_query & (scores[1:] > scores[:-1])).any()):
        order = np.lexsort((-scores, query))
        scores = scores[order]
    # Queries stand where they stood, so this holds after the scores have moved as well.
    _settle_ties(order, same_query & (scores[1:] == scores[:-1]), docs)
    return order


def running_count(starts: Ints) -> Ints:
    """1, 2, 3 … within each stretch between two starts."""
    counted: Ints = np.arange(1, int(starts[-1]) + 1) - np.repeat(starts[:-1], np.diff(starts))
    return counted


def _settle_ties(order: Ints, like_previous: NDArray[np.bool_], docs: Ids) -> None:
    """Bring the rows of each tie into the order of their ids; eight bytes at a time, as long as some are equal."""
    at, tie = _shared(np.concatenate(([False], like_previous)))
    offset, longest = 0, int(docs.lengths.max(initial=0))
    while len(at) and offset < longest + 8:
        ids = docs.take(order[at])
        # Past the last byte only the length is left; it tells apart ids that differ in bytes of value 0.
        key = ~(ids.ordered_word(offset) if offset < longest else ids.lengths.view(np.uint64))
        inner = np.lexsort((key, tie))
        order[at] = order[at[inner]]
        key, offset = key[inner], offset + 8
        within, inner_tie = _shared(np.concatenate(([False], (key[1:] == key[:-1]) & (tie[1:] == tie[:-1]))))
        at, tie = at[within], inner_tie


def _shared(like_previous: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The places that are like a neighbour, and a number for each stretch of them."""
    like_next = np.append(like_previous[1:], False)
    at = np.flatnonzero(like_previous | like_next)
    return at, np.cumsum(~like_previous[at])
