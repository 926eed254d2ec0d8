"""What was found about gold sets and those who made them, for eyes and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankproof.data.gold import Query
from rankproof.errors import count
from rankproof.labeling.agreement import AgreementFound, Disagreement, Findings, Pair
from rankproof.labeling.judge import Judged
from rankproof.labeling.lint import Finding
from rankproof.labeling.merge import How, Merged, Undecided
from rankproof.labeling.stale import KINDS, Checked, Fixed, Staleness
from rankproof.priorities import Bounds, Hole, Priorities
from rankproof.reports.json import SCHEMA_VERSION, dump, rules_data
from rankproof.reports.text import foundation, number, printable, table
from rankproof.stats.agreement import Coefficient, Table

SHOWN = 20
_UNDEFINED = "undefined"


def agreement_text(found: AgreementFound, *, shown: int = SHOWN) -> str:
    """Each pair with its table, all people together, the groups, and the documents that they disagree on."""
    parts = [_labels_line(found)]
    parts += [_pair_text(pair) for pair in found.overall.pairs]
    if len(found.people) > 2:
        parts.append(_together_text(found))
    elif found.overall.together:
        parts.append("\n".join(["Krippendorff's α and Fleiss' κ of both:", _coefficients(found.overall.together)]))
    if found.by_group:
        parts.append(_groups_text(found))
    parts += [_disagreements_text(found.disagreements, shown), _agreement_notes(found)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _labels_line(found: AgreementFound) -> str:
    return " · ".join(f"{printable(name)} {count(n, 'label', 'labels')}" for name, n in found.n_labels.items())


def _pair_text(pair: Pair) -> str:
    names = f"{printable(pair.first)} and {printable(pair.second)}"
    if not pair.table.n_items:
        return f"{names}: no document in common, so nothing can be said"
    same = pair.table.n_same / pair.table.n_items
    head = f"{names}: {count(pair.table.n_items, 'document', 'documents')} in common, the same grade for {same:.1%}"
    kappa = pair.coefficients[0]
    lines = [head, _in_words(kappa), _coefficients(pair.coefficients), "", _table_text(pair)]
    return "\n".join(lines)


def _in_words(kappa: Coefficient) -> str:
    """What a κ says, in its own terms: no word stands for a range of values, because what is enough depends on use."""
    if kappa.value is None:
        return f"  {kappa.reason}"
    chance = 1 - (kappa.expected or 0.0)
    by_chance = f"  chance alone would give the same grade to {chance:.1%}"
    if kappa.value < 0:
        return f"{by_chance}: they agree less often than that"
    said = f"{by_chance}; of what it leaves open, {kappa.value:.1%} is reached"
    low = kappa.interval.low
    return f"{said}; the interval holds 0, so it may be chance" if low is not None and low <= 0 else said


def _coefficients(coefficients: Iterable[Coefficient]) -> str:
    rows = []
    level = 0.95
    for one in coefficients:
        level = one.interval.level
        rows.append([one.name, _figure(one), _interval(one), f"{one.n_items:,}"])
    return table(["coefficient", "value", f"{level * 100:g} % interval", "documents"], rows)


def _figure(one: Coefficient) -> str:
    return _UNDEFINED if one.value is None else f"{one.value:.4f}"


def _interval(one: Coefficient) -> str:
    ends = one.interval.as_list()
    return "none" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"


def _table_text(pair: Pair) -> str:
    first, second = printable(pair.first), printable(pair.second)
    header = [f"{first} ↓  {second} →", *(f"{grade:g}" for grade in pair.table.grades)]
    rows = [[f"{g:g}", *map(str, row)] for g, row in zip(pair.table.grades, pair.table.counts, strict=True)]
    return table(header, rows)


def _together_text(found: AgreementFound) -> str:
    names = ", ".join(map(printable, found.people))
    return f"all people together ({names}):\n{_coefficients(found.overall.together)}"


def _groups_text(found: AgreementFound) -> str:
    rows = []
    for name, findings in found.by_group.items():
        for i, (who, one) in enumerate(_of_group(findings)):
            rows.append([name if i == 0 else "", who, one.name, _figure(one), _interval(one), f"{one.n_items:,}"])
    return table(["group", "who", "coefficient", "value", "interval", "documents"], rows, n_text=3)


def _of_group(findings: Findings) -> list[tuple[str, Coefficient]]:
    if len(findings.pairs) == 1:
        pair = findings.pairs[0]
        return [(f"{pair.first}, {pair.second}", one) for one in pair.coefficients]
    rows = [(f"{pair.first}, {pair.second}", pair.coefficients[0]) for pair in findings.pairs]
    return rows + [("all people", one) for one in findings.together]


def _disagreements_text(found: Sequence[Disagreement], shown: int) -> str:
    if not found:
        return "no disagreement on any document"
    lines = [f"{count(len(found), 'disagreement', 'disagreements')}, the furthest apart first"]
    lines += [f"  {_said(one.item.query_id, one.item.doc_id, one.grades)}" for one in found[:shown]]
    return _cut(lines, len(found), shown, "--list")


def _said(query_id: str, doc_id: str, grades: Any) -> str:
    said = ", ".join(f"{printable(name)} {grade:g}" for name, grade in grades.items())
    return f"{printable(query_id)}  {printable(doc_id)}: {said}"


def _cut(lines: list[str], total: int, shown: int, option: str) -> str:
    more = total - shown
    hint = f"  … and {more:,} more; {option} {total} shows them, --format json has all"
    return "\n".join([*lines, hint] if more > 0 else lines)


def _agreement_notes(found: AgreementFound) -> str:
    chance = found.bootstrap
    lines = [f"intervals: percentiles of {chance.resamples:,} resamples of documents, seed {chance.seed}"]
    reasons = {
        f"{one.name}: {one.interval.reason}"
        for pair in found.overall.pairs
        for one in pair.coefficients
        if one.interval.reason and one.value is not None
    }
    lines += [f"note: {reason}" for reason in sorted(reasons)]
    models = [name for name in found.n_labels if name not in found.people]
    if models:
        lines.append(f"note: {', '.join(map(printable, models))}: a model, in the pairs and in no figure of all people")
    for name, n in found.n_taken_over.items():
        lines.append(
            f"note: {count(n, 'judgment', 'judgments')} in the journal of {printable(name)} came from somebody else and"
            " are left out"
        )
    return "\n".join(lines)


def agreement_json(found: AgreementFound) -> str:
    """The same for programs, with every disagreement."""
    return dump(_agreement_data(found))


def _agreement_data(found: AgreementFound) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "n_labels": dict(found.n_labels),
        "people": list(found.people),
        **_findings_data(found.overall),
        "by_group": {name: _findings_data(one) for name, one in found.by_group.items()},
        "disagreements": [
            {"query_id": d.item.query_id, "doc_id": d.item.doc_id, "grades": dict(d.grades), "spread": d.spread}
            for d in found.disagreements
        ],
        "level": found.bootstrap.level,
        "resamples": found.bootstrap.resamples,
        "seed": found.bootstrap.seed,
        "n_taken_over": dict(found.n_taken_over),
    }


def _findings_data(found: Findings) -> dict[str, Any]:
    return {
        "n_items": found.n_items,
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "table": _table_data(pair.table),
                "coefficients": [_coefficient_data(one) for one in pair.coefficients],
            }
            for pair in found.pairs
        ],
        "together": [_coefficient_data(one) for one in found.together],
    }


def _table_data(found: Table) -> dict[str, Any]:
    return {
        "grades": list(found.grades),
        "counts": [list(row) for row in found.counts],
        "n_items": found.n_items,
        "n_same": found.n_same,
    }


def _coefficient_data(one: Coefficient) -> dict[str, Any]:
    return {
        "name": one.name,
        "value": one.value,
        "interval": one.interval.as_list(),
        "no_interval": one.interval.reason,
        "observed": one.observed,
        "expected": one.expected,
        "n_items": one.n_items,
        "reason": one.reason,
    }


_HOW: Mapping[How, str] = {
    "unanimous": "all said the same",
    "majority": "by majority",
    "mean": "the mean of different grades",
    "single": "judged by one",
    "adjudicated": "adjudicated",
}


def merge_text(found: Merged, *, shown: int = SHOWN) -> str:
    """How the grades came about, and which documents somebody has to decide."""
    n = len(found.gold.qrels)
    lines = [f"{count(n, 'judgment', 'judgments')} of {', '.join(map(printable, found.annotators))}"]
    lines += [f"  {words}: {found.how[how]:,}" for how, words in _HOW.items() if found.how.get(how)]
    if found.left_out:
        names = ", ".join(map(printable, found.left_out))
        lines.append(f"left out: {names}; the labels of a model go in only if asked for (--with-model NAME)")
    if found.unsettled_answers:
        queries = ", ".join(map(printable, found.unsettled_answers))
        lines.append(f"as many say that there is no answer as say the opposite: {queries}; taken as having one")
    text = "\n".join(lines)
    undecided = _undecided_text(found, shown)
    return "\n\n".join(part for part in (text, undecided) if part) + "\n"


def _undecided_text(found: Merged, shown: int) -> str:
    if not found.undecided:
        return ""
    what = {
        "list": "they have no grade; adjudicate them (--by adjudicated --adjudicator FILE), or choose --ties",
        "skip": "they have no grade",
        "higher": "they took the higher grade",
        "lower": "they took the lower grade",
    }[found.ties]
    lines = [f"{count(len(found.undecided), 'document', 'documents')} without a majority: {what}"]
    if found.ties != "skip":
        lines += [f"  {_said(one.item.query_id, one.item.doc_id, one.grades)}" for one in found.undecided[:shown]]
        return _cut(lines, len(found.undecided), shown, "--list")
    return "\n".join(lines)


def merge_json(found: Merged) -> str:
    """The same for programs."""
    return dump(
        {
            "schema_version": SCHEMA_VERSION,
            "annotators": list(found.annotators),
            "left_out": list(found.left_out),
            "n_judgments": len(found.gold.qrels),
            "how": {how: found.how.get(how, 0) for how in (*_HOW, "undecided")},
            "ties": found.ties,
            "undecided": [_undecided_data(one) for one in found.undecided],
            "unsettled_answers": list(found.unsettled_answers),
        }
    )


def _undecided_data(one: Undecided) -> dict[str, Any]:
    return {"query_id": one.item.query_id, "doc_id": one.item.doc_id, "grades": dict(one.grades)}


def staleness_text(found: Staleness, fixed: Fixed | None = None, *, shown: int = SHOWN) -> str:
    """How many judged documents are still what was judged, and the evidence for each that is not."""
    counts = Counter(one.kind for one in found.checked)
    rows = [[kind, f"{counts[kind]:,}", words] for kind, words in KINDS.items() if counts[kind]]
    parts = [f"{count(len(found.checked), 'judged document', 'judged documents')}\n{_kinds_table(rows)}"]
    for kind in KINDS:
        those = found.of_kind(kind)
        if kind not in ("valid", "present") and those:
            lines = [f"{kind}:", *(line for one in those[:shown] for line in _checked_lines(one))]
            parts.append(_cut(lines, len(those), shown, "--list"))
    if counts["present"]:
        parts.append(
            f"note: {count(counts['present'], 'document was', 'documents were')} judged without a digest of the text,"
            " so only the id could be checked; --was CORPUS, the corpus that was judged, tells more"
        )
    if fixed is not None:
        parts.append(_fixed_text(fixed))
    return "\n\n".join(parts) + "\n"


def _kinds_table(rows: Sequence[Sequence[str]]) -> str:
    width = max((len(row[0]) for row in rows), default=0)
    digits = max((len(row[1]) for row in rows), default=0)
    return "\n".join(f"  {kind:<{width}}  {n:>{digits}}  {words}" for kind, n, words in rows)


def _checked_lines(one: Checked) -> list[str]:
    queries = ", ".join(map(printable, one.query_ids[:3])) + (" …" if len(one.query_ids) > 3 else "")
    lines = [f"  {printable(one.doc_id)} ({queries}): {printable(one.evidence)}"]
    lines += [
        f"      {piece.share:.0%} of it in {printable(piece.doc_id)}, {piece.of_piece:.0%} of that document"
        for piece in one.pieces
        if piece.doc_id != one.doc_id
    ]
    if one.nearest_ids:
        lines.append(f"      nearest ids: {', '.join(map(printable, one.nearest_ids))}")
    if one.nearest_titles:
        titles = (f"{printable(doc_id)} ({printable(title)})" for doc_id, title in one.nearest_titles)
        lines.append(f"      nearest titles: {', '.join(titles)}")
    return lines


def _fixed_text(fixed: Fixed) -> str:
    lines = [f"{count(len(fixed.moved), 'moved document is', 'moved documents are')} called by the new id"]
    lines += [f"  {printable(old)} → {printable(new)}" for old, new in fixed.moved]
    if fixed.not_moved:
        lines.append(f"{count(len(fixed.not_moved), 'moved document keeps', 'moved documents keep')} the old id")
        lines += [f"  {printable(doc_id)}: {printable(why)}" for doc_id, why in fixed.not_moved]
    return "\n".join(lines)


def staleness_json(found: Staleness, fixed: Fixed | None = None) -> str:
    """The same for programs, with every document."""
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "counts": {kind: len(found.of_kind(kind)) for kind in KINDS},
        "n_fingerprints": found.n_fingerprints,
        "with_old_texts": found.with_old_texts,
        "documents": [
            {
                "doc_id": one.doc_id,
                "kind": one.kind,
                "query_ids": list(one.query_ids),
                "header": one.header,
                "new_ids": list(one.new_ids),
                "pieces": [{"doc_id": p.doc_id, "share": p.share, "of_piece": p.of_piece} for p in one.pieces],
                "nearest_ids": list(one.nearest_ids),
                "nearest_titles": [{"doc_id": doc_id, "title": title} for doc_id, title in one.nearest_titles],
                "evidence": one.evidence,
            }
            for one in found.checked
        ],
    }
    if fixed is not None:
        data["fixed"] = dict(fixed.moved)
        data["not_fixed"] = dict(fixed.not_moved)
    return dump(data)


def lint_text(source: str, found: Sequence[Finding]) -> str:
    """Every fault, then what is worth knowing."""
    faults = [one for one in found if one.is_fault]
    lines = [f"{printable(source)}: {count(len(faults), 'fault', 'faults') if faults else 'clean'}"]
    lines += [f"  {one.kind}: {printable(one.message)}" for one in faults]
    lines += [f"  note, {one.kind}: {printable(one.message)}" for one in found if not one.is_fault]
    return "\n".join(lines) + "\n"


def lint_json(source: str, found: Sequence[Finding]) -> str:
    """The same for programs."""
    findings = [
        {
            "kind": one.kind, "fault": one.is_fault, "message": one.message, "query_ids": list(one.query_ids),
            "doc_id": one.doc_id,
        }
        for one in found
    ]  # fmt: skip
    n_faults = sum(one.is_fault for one in found)
    return dump({"schema_version": SCHEMA_VERSION, "source": source, "n_faults": n_faults, "findings": findings})


def priorities_text(found: Priorities, queries: dict[str, Query]) -> str:
    """What is uncertain, what to judge first, and what that is worth."""
    measure = str(found.measure)
    parts = [_open_text(found)]
    if found.proposed:
        parts += [_holes_table(found, queries), _after_text(found, measure)]
    else:
        parts.append(f"Nothing to label: everything down to rank {found.depth} is judged, for every query.")
    parts.append(foundation([], found.preset, [found.measure]))
    return "\n\n".join(parts) + "\n"


def _open_text(found: Priorities) -> str:
    what = str(found.measure)
    if len(found.runs) == 2:
        what = f"{what} of {printable(found.runs[1])} − {printable(found.runs[0])}"
    holes = count(len(found.holes), "document", "documents")
    lines = [
        f"{what} is {number(found.now)} over {count(found.n_queries, 'query', 'queries')}.",
        f"{holes} down to rank {found.depth} {'is' if len(found.holes) == 1 else 'are'} unjudged; whatever grade "
        f"({_levels(found)}) they get, it lies within {_bounds(found.bounds)}.",
    ]
    if len(found.runs) == 2 and found.holes:
        either = "Either run can turn out to be the better one."
        certain = "No judgment of these can change which run is better."
        lines.append(either if found.sign_is_open else certain)
    if found.n_loose:
        queries = count(found.n_loose, "query has", "queries have")
        lines.append(f"note: {queries} so many unjudged documents that the bounds are wider than they would have to be")
    if found.n_estimated:
        queries = count(found.n_estimated, "query has", "queries have")
        lines.append(f"note: {queries} so many unjudged documents that what single judgments are worth is an estimate")
    return "\n".join(lines)


def _levels(found: Priorities) -> str:
    return ", ".join(f"{grade:g}" for grade in found.grades)


def _bounds(bounds: Bounds) -> str:
    return f"[{bounds.low:.4f}, {bounds.high:.4f}]"


def _holes_table(found: Priorities, queries: dict[str, Query]) -> str:
    ranks = [f"rank in {printable(name)}" for name in found.runs]
    header = ["query", "document", *ranks, "expected shrink", "at least", *(["winner"] if len(ranks) == 2 else [])]
    rows = []
    for hole in found.proposed:
        places = ["–" if rank is None else str(rank) for rank in hole.ranks]
        winner = [["shut", "open"][hole.flips]] if len(ranks) == 2 else []
        rows.append([_asked(hole, queries), hole.doc_id, *places, f"{hole.expected:.4f}", f"{hole.least:.4f}", *winner])
    return table(header, rows, n_text=2)


def _asked(hole: Hole, queries: dict[str, Query]) -> str:
    text = queries[hole.query_id].text if hole.query_id in queries else ""
    return (
        hole.query_id if text in ("", hole.query_id) else f"{hole.query_id} {text[:40]}{'…' if len(text) > 40 else ''}"
    )


def _after_text(found: Priorities, measure: str) -> str:
    after, n = found.after, len(found.proposed)
    these = "this one" if n == 1 else f"these {n:,}"
    what = f"the difference in {measure}" if len(found.runs) == 2 else measure
    lines = [
        f"Labelling {these} shrinks the bounds of {what} from {_bounds(found.bounds)} to {_bounds(after.expected)}, as "
        "expected from how often each grade was given so far;",
        f"in the worst case they are {after.widest:.4f} apart instead of {found.bounds.width:.4f}.",
    ]
    if after.n_unworked:
        queries = count(after.n_unworked, "query has", "queries have")
        lines.append(f"note: {queries} too many of them to go through, and are counted as if nothing had been judged")
    return "\n".join(lines)


def priorities_json(found: Priorities) -> str:
    """The same for programs, with every unjudged document."""
    return dump(
        {
            "schema_version": SCHEMA_VERSION,
            "measure": str(found.measure),
            **rules_data(found.preset),
            "runs": list(found.runs),
            "depth": found.depth,
            "grades": list(found.grades),
            "n_queries": found.n_queries,
            "now": found.now,
            "bounds": list(found.bounds),
            "sign_is_open": found.sign_is_open if len(found.runs) == 2 else None,
            "by_query": {query_id: list(bounds) for query_id, bounds in found.by_query.items()},
            "n_proposed": found.n_proposed,
            "documents": [
                {
                    "query_id": hole.query_id, "doc_id": hole.doc_id, "ranks": list(hole.ranks),
                    "expected_shrink": hole.expected, "least_shrink": hole.least, "flips": hole.flips,
                }
                for hole in found.holes
            ],
            "after": {
                "expected_bounds": list(found.after.expected), "widest": found.after.widest,
                "n_unworked": found.after.n_unworked,
            },
            "n_loose": found.n_loose,
            "n_estimated": found.n_estimated,
        }
    )  # fmt: skip


def judged_text(judged: Judged, agreement: AgreementFound | None, *, shown: int = SHOWN) -> str:
    """What the model did, and how far it agrees with people."""
    rows = [
        ("judged", judged.of("judged")),
        ("abstained: the answer was no grade", judged.of("abstained")),
        ("failed: no answer", judged.of("failed")),
    ]
    n_cached = sum(one.cached for one in judged.verdicts)
    documents = count(len(judged.verdicts), "document", "documents")
    head = f"{printable(judged.annotator)}: {documents}, {n_cached:,} from the cache"
    lines = [head, *(f"  {words}: {len(those):,}" for words, those in rows if those)]
    for words, those in rows[1:]:
        lines += [f"  {words.partition(':')[0]}: {_of_verdict(one)}" for one in those[:shown]]
    parts = ["\n".join(lines)]
    if agreement is None:
        parts.append(
            "Nobody else has judged any of these documents, so nothing is known about how good its labels are."
        )
    else:
        parts.append(agreement_text(agreement, shown=shown).rstrip("\n"))
    return "\n\n".join(parts) + "\n"


def _of_verdict(one: Any) -> str:
    query, document = one.question
    return f"{printable(query.id)}  {printable(document.id)}: {printable(one.reason)}"


def judged_json(judged: Judged, agreement: AgreementFound | None) -> str:
    """The same for programs."""
    return dump(
        {
            "schema_version": SCHEMA_VERSION,
            "annotator": judged.annotator,
            "n_judged": len(judged.of("judged")),
            "n_abstained": len(judged.of("abstained")),
            "n_failed": len(judged.of("failed")),
            "n_cached": sum(one.cached for one in judged.verdicts),
            "verdicts": [
                {
                    "query_id": one.question.query.id, "doc_id": one.question.document.id, "outcome": one.outcome,
                    "grade": one.grade, "reason": one.reason,
                }
                for one in judged.verdicts
            ],
            "agreement": None if agreement is None else _agreement_data(agreement),
        }
    )  # fmt: skip
