"""Place the judged documents in a TREC run file as it streams by, in constant memory.

The file is cut into blocks at the borders between queries. Each block is taken apart with whole-array operations and
forgotten; up to four threads work on blocks while the next is read, since NumPy lets go of the interpreter's lock.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from rankproof.data.faults import Faults
from rankproof.data.files import BOM, PathLike, open_bytes, source_name
from rankproof.data.formats.trec import RUN, read_trec_run
from rankproof.data.ids import PAD, Ids, Words
from rankproof.data.lines import Rows, read_carefully, rows_of_buffer
from rankproof.data.lookup import RowIndex
from rankproof.data.table import name_keys, repeat_message
from rankproof.errors import MAX_FAULTS, BadInput, Fault, NothingToEvaluate, count
from rankproof.measures.judged import Ints
from rankproof.scoring.placement.facts import Order, Placement, Prepared, f32
from rankproof.scoring.placement.runs import place_run
from rankproof.scoring.placement.table import Found, Ranked, place_rows, row_keys

_BLOCK = 2 << 20
"""Bytes read at a time: large enough that threads seldom wait for the interpreter, small enough for the caches."""
_NEWLINE = 10
_TAIL = PAD + 1
"""Room behind the text of a block: for a newline that the file lacks, and for the padding."""
_SHOWN = 20


class _Interleaved(Exception):
    """A query came back after another one: the file cannot be cut at the borders between queries."""

    def __init__(self, query: str) -> None:
        self.query = query


@dataclass(frozen=True)
class _Block:
    number: int
    buffer: NDArray[np.uint8]
    """Whole lines, padded; ends in a newline."""
    memory: bytearray
    """What the buffer looks at; to be used again for a later block."""


@dataclass(frozen=True)
class _Placed:
    """What a block leaves behind."""

    number: int
    n_lines: int
    queries: Words
    """The key of each query of the block."""
    numbers: Ints
    """Its number among the judged ones, or -1."""
    sizes: Ints
    extra: list[str]
    """Queries that are not judged, the first ones."""
    found: Found | None
    faults: Faults


def place_stream(
    prepared: Prepared,
    path: PathLike,
    *,
    order: Order | None,
    single: bool,
    progress: Callable[[int, int | None], None] | None = None,
) -> Placement:
    """Where the judged documents stand in the run file."""
    try:
        return _Stream(prepared, path, order, single, progress).place()
    except _Interleaved as exc:
        if source_name(path) == "<stdin>" or not Path(path).is_file():
            message = f"{exc.query} comes again after other queries; a run from a pipe must be grouped by query"
            hint = "sort it first (sort -s -k1,1) or give it as a file"
            raise BadInput.of(source_name(path), f"{message}: {hint}") from exc
        return place_run(prepared, read_trec_run(path), order=order, single=single)


class _Stream:
    def __init__(
        self, prepared: Prepared, path: PathLike, order: Order | None, single: bool,
        progress: Callable[[int, int | None], None] | None,
    ) -> None:  # fmt: skip
        self.prepared, self.path, self.order, self.single = prepared, path, order, single
        self.progress = progress
        self.source = source_name(path)
        # Worked out here, once, before two threads ask for it.
        nothing = Ids.of([])
        prepared.query_numbers(nothing, name_keys(nothing))
        _ = prepared.qrels.table.doc_hashes, prepared.qrels.table.counts

    def place(self) -> Placement:
        with open_bytes(self.path) as file:
            blocks = _Blocks(file, self.path, self.progress)
            results: list[_Placed] = []
            failures: list[BaseException] = []

            def work() -> None:
                memory: bytearray | None = None
                try:
                    while not failures and (block := blocks.next(memory)) is not None:
                        results.append(self._block(block))
                        if len(results[-1].faults) >= _SHOWN:
                            return
                        memory = block.memory
                        del block
                except BaseException as exc:
                    failures.append(exc)

            others = [threading.Thread(target=work, daemon=True) for _ in range(blocks.n_threads - 1)]
            for thread in others:
                thread.start()
            work()
            for thread in others:
                thread.join()
            if failures:
                raise failures[0]
            blocks.refuse_change()
            self.unread = not blocks.at_end
            self.tag = blocks.tag
        return self._joined(sorted(results, key=lambda placed: placed.number))

    def _block(self, block: _Block) -> _Placed:
        rows = rows_of_buffer(block.buffer, RUN)
        if rows is not None and rows.lines is None:
            n_lines = len(rows)
        else:
            n_lines = int(np.count_nonzero(block.buffer == _NEWLINE))
        faults = Faults(self.source)
        if rows is None:
            rows = read_carefully(block.buffer[PAD:-PAD].tobytes()[:-1], RUN, faults)
        if len(faults) or not len(rows):
            none = np.zeros(0, np.int64)
            return _Placed(block.number, n_lines, none.view(np.uint64), none, none, [], None, faults)
        first = np.concatenate(([0], np.flatnonzero(rows.queries.differs_from_previous()) + 1))
        starts = np.append(first, len(rows))
        queries = rows.queries.take(first)
        index = RowIndex(row_keys(rows.docs, starts))
        _note_repeats(index, rows, starts, queries, faults)
        keys = name_keys(queries)
        numbers = self.prepared.query_numbers(queries, keys)
        scores = f32(rows.values) if self.single else rows.values
        found = place_rows(self.prepared, Ranked(starts, rows.docs, scores, index), numbers, self.order)
        extra = queries.take(np.flatnonzero(numbers < 0)[:_SHOWN]).strings()
        return _Placed(block.number, n_lines, keys, numbers, np.diff(starts), extra, found, faults)

    def _joined(self, results: list[_Placed]) -> Placement:
        _raise_faults(results, unread=self.unread)
        keys = np.concatenate([placed.queries for placed in results])
        if not len(keys):
            raise NothingToEvaluate(f"{self.source}: there is no row in it")
        numbers = np.concatenate([placed.numbers for placed in results])
        if len(repeated := RowIndex(keys).repeated()):
            raise _Interleaved(self._name(int(numbers[repeated[0, 0]])))
        sizes = np.concatenate([placed.sizes for placed in results])
        known = numbers >= 0
        n_retrieved = np.zeros(self.prepared.n_queries, np.int64)
        n_retrieved[numbers[known]] = sizes[known]
        extra = [query for placed in results for query in placed.extra][:_SHOWN]
        parts = [placed.found for placed in results if placed.found is not None]
        row, above, tied, place = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("row", "above", "tied", "place")
        )
        n_extra = int(np.count_nonzero(~known))
        return Placement(row, above, tied, place, n_retrieved, n_retrieved > 0, tuple(extra), n_extra, self.tag)

    def _name(self, number: int) -> str:
        return f"query {self.prepared.qrels.query_ids[number]!r}" if number >= 0 else "a query"


def _note_repeats(index: RowIndex, rows: Rows, starts: Ints, queries: Ids, faults: Faults) -> None:
    pairs = index.repeated()
    if not len(pairs):
        return
    pairs = pairs[rows.docs.take(pairs[:, 0]).equal(rows.docs.take(pairs[:, 1]))]
    for one, again in pairs[:MAX_FAULTS].tolist():
        query = queries[int(np.searchsorted(starts, one, "right")) - 1]
        first, line = (at + 1 if rows.lines is None else int(rows.lines[at]) for at in (one, again))
        # Lines are counted from the start of the block; `_raise_faults` moves the fault to its place in the file.
        apart = f" ({count(line - first, 'line', 'lines')} apart)"
        faults.add(repeat_message(rows.docs[one], query, apart, rows.values[one], rows.values[again]), line)
    faults.add_more(len(pairs) - min(len(pairs), MAX_FAULTS))


def _raise_faults(results: list[_Placed], *, unread: bool) -> None:
    """Refuse the file if any block has faults, with line numbers counted from the start of the file."""
    found: list[Fault] = []
    before = 0
    for placed in results:
        moved = [fault._replace(line=before + fault.line if fault.line else None) for fault in placed.faults.found]
        found += moved
        before += placed.n_lines
    if found:
        raise BadInput(found, more=sum(placed.faults.more for placed in results), unread=unread)


class _Blocks:
    """Cuts a stream into blocks of whole queries. `next` may be called from several threads."""

    def __init__(
        self, file: IO[bytes], path: PathLike, progress: Callable[[int, int | None], None] | None
    ) -> None:  # fmt: skip
        self._file = cast(Any, file)
        self._path = path
        self._progress = progress
        self._lock = threading.Lock()
        self._carry = b""
        self._number = 0
        self._read = 0
        self._end = False
        self.tag = ""
        self._status = self._look()
        large = self._status is None or self._status.st_size > _BLOCK
        self.n_threads = max(1, min(4, os.cpu_count() or 1)) if large else 1

    def _look(self) -> os.stat_result | None:
        try:
            return os.fstat(self._file.fileno())
        except (OSError, AttributeError, ValueError):
            return None

    def refuse_change(self) -> None:
        """Raise BadInput if the file was written to while it was read."""
        now = self._look()
        if self._status is None or now is None:
            return
        if (now.st_size, now.st_mtime_ns) != (self._status.st_size, self._status.st_mtime_ns):
            raise BadInput.of(source_name(self._path), "the file changed while it was read; run the command again")

    @property
    def at_end(self) -> bool:
        """Whether everything was handed out."""
        return self._end and not self._carry

    def next(self, memory: bytearray | None = None) -> _Block | None:
        """The next block, or None at the end. The memory of a block that is done with may be given to be used again."""
        with self._lock:
            return self._next(memory)

    def _next(self, memory: bytearray | None) -> _Block | None:
        if self.at_end:
            return None
        size = _BLOCK
        # A quarter more than a block holds what the last one left over, so that the memory fits every time.
        room = PAD + max(len(self._carry), size // 4) + size + _TAIL
        text = memory if memory is not None and len(memory) == room else bytearray(room)
        text[:PAD] = b" " * PAD
        end = PAD + len(self._carry)
        text[PAD:end] = self._carry
        while True:
            end = self._fill(text, end)
            if self._number == 0 and text.startswith(BOM, PAD):
                del text[PAD : PAD + len(BOM)]
                end -= len(BOM)
            cut = end if self._end else _last_query(text, end)
            if cut is not None:
                break
            text += bytes(size)
            size *= 2
        self._carry = bytes(text[cut:end])
        if cut == PAD:
            return None
        if text[cut - 1] != _NEWLINE:
            text[cut] = _NEWLINE
            cut += 1
        if self._number == 0:
            self.tag = _last_word(text)
        text[cut : cut + PAD] = b" " * PAD
        self._number += 1
        return _Block(self._number, np.frombuffer(text, np.uint8, cut + PAD), text)

    def _fill(self, text: bytearray, at: int) -> int:
        """Read more text from there on, up to the tail or the end of the stream; returns where it ends."""
        end, limit = at, len(text) - _TAIL
        with memoryview(text) as view:
            while end < limit and not self._end:
                got = self._file.readinto(view[end:limit])
                self._end = not got
                end += got or 0
        self._read += end - at
        if self._progress is not None:
            total = self._status.st_size if self._status is not None else None
            self._progress(self._read, total)
        return end


def _last_query(text: bytearray, end: int) -> int | None:
    """Where the lines of the last query of the text begin, or None where no other query stands before it."""
    line_end = text.rfind(b"\n", PAD, end)
    if line_end < 0:
        return None
    same = text.rfind(b"\n", PAD, line_end) + 1 or PAD
    query = _first_word(text, same)
    if not query:
        return line_end + 1 if line_end + 1 > PAD else None
    other = PAD
    if _first_word(text, other) == query:
        return None
    while True:
        middle = (other + same) // 2
        at = text.find(b"\n", middle, same) + 1
        if at == 0 or at >= same:
            at = text.rfind(b"\n", other, middle) + 1
            if at <= other:
                return same
        if _first_word(text, at) == query:
            same = at
        else:
            other = at


def _first_word(text: bytearray, at: int) -> bytes:
    words = bytes(text[at : text.find(b"\n", at)]).split(None, 1)
    return words[0] if words else b""


def _last_word(text: bytearray) -> str:
    words = bytes(text[PAD : text.find(b"\n")]).split()
    return words[-1].decode(errors="replace") if len(words) == RUN.columns else ""
