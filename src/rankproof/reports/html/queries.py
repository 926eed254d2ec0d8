"""The queries: a table that needs no script, and the data from which the script makes the drill-down of a row.

Documents are named by their place in one list, so that an id and a title stand in the page once however often they were
returned; sentences that differ in documents and numbers only stand there once too. Values are whole thousandths. What
the script reads by place is written by place here: see `_data_row`. Where the page would become too large, texts and
lists are cut shorter, and the page says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankproof.errors import count
from rankproof.failures import CLASSES, Failure
from rankproof.report import RETURNED, PipelineAnswer, QueryRow, Report, Wanted
from rankproof.reports.html.markup import capped, escaped, figure, paragraph, scrolling, section, signed
from rankproof.reports.text import printable

MOST_QUERIES = 2_000
"""How many queries the page lists; the worst come first."""
_ID = 120
_REASON = 200
_GROUP = 60
_MISSED = ("wrong", "partial", "nothing")
_NUMBER, _DOCUMENT = "\ue000", "\ue001"
"""What stands for a number and for a document in a sentence: characters for private use, which no text of ours has."""
_NUMBERS = re.compile(r"(\d+)")


class Limits(NamedTuple):
    """How much of each query is kept."""

    text: int
    """Characters of its text and notes."""
    returned: int
    title: int
    """Characters of the title of a document."""
    evidence: int
    """Sentences on why it was missed."""


_LIMITS = (
    Limits(300, 5, 80, 5), Limits(300, 5, 40, 3), Limits(160, 5, 0, 2), Limits(80, 3, 0, 1), Limits(60, 1, 0, 0),
)  # fmt: skip
"""From what a page holds if there is room to what it holds at least."""


def queries_section(report: Report, room: int) -> str:
    """The table of queries with the controls that the script brings to life, and its data.

    It keeps to `room` bytes for each thousand queries if any of the limits allows that.
    """
    rows = _ordered(report)[:MOST_QUERIES]
    most = room * max(1.0, len(rows) / 1_000)
    made = ""
    for limits in _LIMITS:
        made = _section(report, rows, limits)
        if len(made.encode()) <= most:
            break
    return made


def _section(report: Report, rows: Sequence[QueryRow], limits: Limits) -> str:
    caption = f"{report.main} of each query; 1st is the rank of the first relevant document"
    columns = _Columns.of(report)
    kinds = f"{'grouped' if columns.groups else ''} {'reasoned' if columns.reasons else ''}".strip()
    body = "".join(_row(row, report, columns, limits) for row in rows)
    head = f"<caption>{escaped(caption)}</caption>{_head(report, columns)}"
    table = f'<table id="queries" class="{kinds}">{head}<tbody>{body}</tbody></table>'
    return section(
        "list",
        "Queries",
        _NO_SCRIPT,
        _controls(report, rows),
        scrolling("Queries", table),
        paragraph(" ".join(_notes(report, rows, limits)), "faint"),
        f'<script type="application/json" id="data">{_data(report, rows, limits)}</script>',
        _KEYS,
    )


def _notes(report: Report, rows: Sequence[QueryRow], limits: Limits) -> Sequence[str]:
    notes = [f"Texts are cut at {limits.text} characters."]
    if report.titles:
        cut = (
            f"Titles are cut at {limits.title} characters." if limits.title else "Titles are left out for want of room."
        )
        notes.append(cut)
    if limits.returned < RETURNED:
        first = "first result is" if limits.returned == 1 else f"first {limits.returned} results are"
        notes.append(f"Of each pipeline the {first} listed.")
    if len(rows) < len(report.queries):
        notes.append(f"{len(rows):,} of {len(report.queries):,} queries are listed, those that lost most first.")
    if limits != _LIMITS[0] or len(rows) < len(report.queries):
        notes.append("`rankproof eval --format json` has everything.")
    return notes


_NO_SCRIPT = (
    "<noscript><p>Without JavaScript this is a plain table: queries that got worse, were missed or could not be "
    "measured are open and name the documents that were expected. Sorting, filters and the documents that were "
    "returned need JavaScript; the page brings its own along.</p></noscript>"
)
_KEYS = """<dialog id="keys" aria-labelledby="keys-h"><h2 id="keys-h">Keys</h2>
<dl><div><dt><kbd>/</kbd></dt><dd>filter the queries</dd></div>
<div><dt><kbd>Esc</kbd></dt><dd>clear the filter</dd></div>
<div><dt><kbd>j</kbd> <kbd>k</kbd> or <kbd>↓</kbd> <kbd>↑</kbd></dt><dd>next, previous query</dd></div>
<div><dt><kbd>Enter</kbd> or <kbd>o</kbd></dt><dd>open or close a query</dd></div>
<div><dt><kbd>?</kbd></dt><dd>these keys</dd></div></dl>
<p><label><input id="single" type="checkbox" checked> single keys work</label></p>
<button type="button">Close <kbd>Esc</kbd></button></dialog>"""


def _ordered(report: Report) -> list[QueryRow]:
    """What lost most first, then what was missed; what was not scored comes last."""
    column = report.measures.index(report.main)

    def key(row: QueryRow) -> tuple[bool, float, int, float]:
        changes = [answer.changes[column] for answer in row.answers if answer.changes]
        values = [answer.values[column] for answer in row.answers if answer.values]
        missed = sum(answer.missed is not None for answer in row.answers)
        return row.state != "scored", min(changes, default=0.0), -missed, min(values, default=0.0)

    return sorted(report.queries, key=key)


def _controls(report: Report, rows: Sequence[QueryRow]) -> str:
    groups = sorted({capped(row.query.group, _GROUP) for row in rows if row.query.group})
    picks = [_select("measure", "measure", [(str(i), str(one)) for i, one in enumerate(report.measures)])]
    if groups:
        picks.append(_select("group", "group", [("", "all groups"), *((name, name) for name in groups)]))
    if len(report.pipelines) > 1:
        named = [("", "any pipeline"), *((str(i), one.name) for i, one in enumerate(report.pipelines))]
        picks.append(_select("pipeline", "pipeline", named))
    outcomes = [("", "all"), *([("w", "worse"), ("b", "better")] if report.against else [])]
    picks.append(_select("outcome", "outcome", [*outcomes, ("m", "misses"), ("n", "not measured")]))
    return (
        '<div class="controls js"><label>filter <input id="filter" type="search" autocomplete="off" spellcheck="false">'
        f'</label>{"".join(picks)}<button id="help" type="button">Keys <kbd>?</kbd></button>'
        f'<p id="shown" role="status">{count(len(rows), "query", "queries")}</p></div>'
    )


def _select(name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    inner = "".join(f'<option value="{escaped(value)}">{escaped(said)}</option>' for value, said in options)
    return f'<label>{label} <select id="by-{name}" autocomplete="off">{inner}</select></label>'


class _Columns(NamedTuple):
    """Which columns the table has beside values and ranks."""

    groups: bool
    changes: tuple[bool, ...]
    """For each pipeline."""
    reasons: bool
    """Whether any query has a class of failure or a state to be told."""

    @classmethod
    def of(cls, report: Report) -> _Columns:
        held = {one.pipeline for one in report.against}
        reasons = bool(report.analyses) or any(row.state != "scored" for row in report.queries)
        return cls(bool(report.groups), tuple(one.name in held for one in report.pipelines), reasons)


def _head(report: Report, columns: _Columns) -> str:
    main = escaped(str(report.main))
    tops, below = "", ""
    for one, moved in zip(report.pipelines, columns.changes, strict=True):
        tops += f'<th class="c" scope="colgroup" colspan="{3 if moved else 2}">{escaped(one.name)}</th>'
        below += _sorter("value", main) + (_sorter("change", "change") if moved else "") + _sorter("rank", "1st")
    first = _sorter("query", "query", tall=True) + (_sorter("group", "group", tall=True) if columns.groups else "")
    last = _sorter("why", "why missed", tall=True) if columns.reasons else ""
    return f"<thead><tr>{first}{tops}{last}</tr><tr>{below}</tr></thead>"


def _sorter(kind: str, said: str, *, tall: bool = False) -> str:
    look = ' rowspan="2"' if tall else ' class="n"'
    return f'<th scope="col" data-k="{kind}"{look}><button type="button" disabled>{said}</button></th>'


def _row(row: QueryRow, report: Report, columns: _Columns, limits: Limits) -> str:
    column = report.measures.index(report.main)
    told = _outcomes(row, column)
    text = escaped(capped(row.query.text or row.query.id, limits.text))
    # Open where it deserves a look: so it is on paper too, where no script runs; the script closes them at first.
    looked_at = not set(told).isdisjoint("wmn")
    plain = _plain(row, report) if looked_at else ""
    name = f"<details{' open' if looked_at else ''}><summary>{text}</summary>{plain}</details>"
    cells = f"<td>{escaped(capped(row.query.group or '', _GROUP))}</td>" if columns.groups else ""
    for answer, moved in zip(row.answers, columns.changes, strict=True):
        cells += f"<td>{figure(answer.values[column], 3) if answer.values else '–'}</td>"
        cells += _change_cell(answer, column) if moved else ""
        cells += f"<td>{answer.first if answer.first and row.state == 'scored' else '–'}</td>"
    if columns.reasons:
        kinds = dict.fromkeys(answer.failure.kind for answer in row.answers if answer.failure is not None)
        cells += f"<td>{', '.join(kinds) if row.state == 'scored' else row.state}</td>"
    return f'<tr data-o="{told}"><th scope="row">{name}</th>{cells}</tr>\n'


def _change_cell(answer: PipelineAnswer, column: int) -> str:
    if not answer.changes:
        return "<td>–</td>"
    by = round(answer.changes[column], 3)
    kind = ' class="w"' if by < 0 else ' class="b"' if by > 0 else ""
    return f"<td{kind}>{signed(by, 3)}</td>"


def _outcomes(row: QueryRow, column: int) -> str:
    """For each pipeline: worse, better, missed, not measured."""
    told = []
    for answer in row.answers:
        by = round(answer.changes[column], 3) if answer.changes else 0.0
        word = "w" if by < 0 else "b" if by > 0 else ""
        word += "m" if answer.missed is not None else ""
        word += "n" if row.state == "not measured" else ""
        told.append(word or ".")
    return " ".join(told)


def _plain(row: QueryRow, report: Report) -> str:
    """What is shown without a script and on paper made without one."""
    reasons = [f"{one.name}: {a.reason}" for one, a in zip(report.pipelines, row.answers, strict=True) if a.reason]
    if reasons:
        return f"<p>{escaped(capped('; '.join(reasons), _REASON))}</p>"
    said = [capped(one.doc_id, _ID) for one in row.expected[:2]]
    more = row.n_expected - len(said)
    return f"<p>expected {escaped(', '.join(said))}{f' and {more:,} more' if more else ''}</p>" if said else ""


@dataclass
class _Lists:
    """What the rows name by its place: documents, chains of stages, and sentences with gaps."""

    docs: dict[str, int] = field(default_factory=dict)
    stages: dict[tuple[str, ...], int] = field(default_factory=dict)
    sentences: dict[str, int] = field(default_factory=dict)

    def doc(self, doc_id: str) -> int:
        return self.docs.setdefault(doc_id, len(self.docs))

    def sentence(self, text: str, doc_id: str | None) -> list[int]:
        """Its place among the sentences, and what fills its gaps."""
        parts = [capped(text.replace(_NUMBER, "").replace(_DOCUMENT, ""), _REASON)]
        if doc_id:
            # As a word of its own: a document may be called by a letter.
            parts = re.split(rf"(?<!\w){re.escape(doc_id)}(?!\w)", parts[0])
        filled: list[int] = []
        pieces = []
        for i, part in enumerate(parts):
            if i:
                filled.append(self.doc(doc_id or ""))
                pieces.append(_DOCUMENT)
            for j, piece in enumerate(_NUMBERS.split(part)):
                # A number with a leading zero, or of more digits than the script holds, stays as it is written.
                if j % 2 and str(int(piece)) == piece and len(piece) < 16:
                    filled.append(int(piece))
                    pieces.append(_NUMBER)
                else:
                    pieces.append(printable(piece))
        return [self.sentences.setdefault("".join(pieces), len(self.sentences)), *filled]


def _data(report: Report, rows: Sequence[QueryRow], limits: Limits) -> str:
    """What the script needs, as text that cannot end the element it stands in."""
    lists = _Lists()
    made = [_data_row(row, lists, limits) for row in rows]
    titles = [printable(capped(report.titles.get(d, ""), limits.title)) if limits.title else "" for d in lists.docs]
    data = {
        "main": report.measures.index(report.main),
        "measures": list(map(str, report.measures)),
        "pipelines": [printable(one.name) for one in report.pipelines],
        "classes": list(CLASSES),
        "stages": [list(map(printable, names)) for names in lists.stages],
        "sentences": list(lists.sentences),
        "docs": [printable(capped(doc_id, _ID)) for doc_id in lists.docs],
        "titles": titles if any(titles) else [],
        "rows": made,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data_row(row: QueryRow, lists: _Lists, limits: Limits) -> list[Any]:
    """[id, notes, state, [pipeline …], [expected …], how many were expected]"""
    query = row.query
    answers = []
    for i, answer in enumerate(row.answers):
        names = next((tuple(name for name, _ in one.places[i].stages) for one in row.expected), ())
        stages = lists.stages.setdefault(names, len(lists.stages))
        answers.append(_data_answer(answer, lists, stages, limits))
    expected = [_data_expected(one, lists) for one in row.expected]
    name = "" if query.id == query.text else printable(capped(query.id, _ID))
    state = "" if row.state == "scored" else row.state
    return [name, printable(capped(query.notes, limits.text)), state, answers, expected, row.n_expected]


def _data_answer(answer: PipelineAnswer, lists: _Lists, stages: int, limits: Limits) -> list[Any]:
    """[values, before, returned, n_returned, stages, missed, class, evidence, reason]; trailing blanks are left out.

    `returned` names documents by place, those that somebody judged as [place, grade].
    """
    failure = answer.failure
    made: list[Any] = [
        [round(value * 1e3) for value in answer.values],
        [round(value * 1e3) for value in answer.before],
        [_judged(lists.doc(doc_id), grade) for doc_id, grade in answer.returned[: limits.returned]],
        answer.n_returned,
        stages,
        0 if answer.missed is None else 1 + _MISSED.index(answer.missed),
        0 if failure is None else 1 + CLASSES.index(failure.kind),
        [] if failure is None else _evidence(failure, lists, limits),
        printable(capped(answer.reason, _REASON)),
    ]
    while made and made[-1] in (0, "", []):
        made.pop()
    return made


def _evidence(failure: Failure, lists: _Lists, limits: Limits) -> list[list[int]]:
    said = list(failure.evidence)
    if failure.crowded:
        said.append(f"{count(failure.crowded, 'result above it repeats', 'results above it repeat')} another one")
    doc_id = failure.expected.doc_id if failure.expected is not None else None
    return [lists.sentence(one, doc_id) for one in said[: limits.evidence]]


def _judged(place: int, grade: float | None) -> Any:
    return place if grade is None else [place, _short(grade)]


def _data_expected(one: Wanted, lists: _Lists) -> list[Any]:
    """[document, grade, [rank, rank after each stage …] for each pipeline]; 0 where it was not among the results."""
    ranks = [[place.rank or 0, *(rank or 0 for _, rank in place.stages)] for place in one.places]
    return [lists.doc(one.doc_id), _short(one.grade), *ranks]


def _short(grade: float) -> float | int:
    return int(grade) if grade == int(grade) else grade
