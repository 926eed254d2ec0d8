"""The labels of several annotators made into one gold set, with who said what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rankproof.data.formats.ground_truth import GRADES
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import UnknownName, UsageError
from rankproof.labeling.annotators import MODEL, Item, Labels, people_of, refuse_other_documents, refuse_too_few

Way = Literal["majority", "mean", "adjudicated"]
Ties = Literal["list", "higher", "lower", "skip"]
"""What becomes of a document without a majority: it is listed, takes the higher or lower grade, or is left out."""

How = Literal["unanimous", "majority", "mean", "single", "adjudicated", "undecided"]

_WORDS = {float(grade): word for word, grade in GRADES.items()}


@dataclass(frozen=True)
class Undecided:
    """A document on which the annotators have no one word."""

    item: Item
    grades: Mapping[str, float]


@dataclass(frozen=True)
class Merged:
    """One gold set of several annotators."""

    gold: GoldSet
    annotators: tuple[str, ...]
    """Whose labels went in."""
    left_out: tuple[str, ...]
    """Models whose labels were given and not asked for."""
    undecided: tuple[Undecided, ...]
    """Documents without a majority; they have no grade in the gold set unless a rule for ties gave them one."""
    ties: Ties
    how: Mapping[How, int]
    """How many grades came about in each way."""
    unsettled_answers: tuple[str, ...]
    """Queries on which annotators disagree whether the corpus has an answer, without a majority."""


def merge(
    labels: Sequence[Labels], *, by: Way = "majority", ties: Ties = "list", adjudicator: Labels | None = None,
    with_models: Iterable[str] = (),
) -> Merged:  # fmt: skip
    """One gold set of the labels.

    `majority` takes the grade that most gave, `mean` the mean of all grades, `adjudicated` the word of the adjudicator
    where there is one, else the majority. The labels of models stay out unless they are named.
    """
    if (by == "adjudicated") != (adjudicator is not None):
        raise UsageError("An adjudicator's file goes with --by adjudicated, and the other way round.")
    used, left_out = _asked_for(labels, with_models)
    if by == "adjudicated":
        if not used:
            raise UsageError("There is nothing to adjudicate: name the files of the annotators.")
    else:
        refuse_too_few(used, "A merge")
    everyone = [*used, *([adjudicator] if adjudicator is not None else [])]
    refuse_other_documents(everyone)
    votes = _votes(used)
    last_words = {} if adjudicator is None else _votes([adjudicator])
    counts: Counter[How] = Counter()
    grades: dict[str, dict[str, float]] = {}
    undecided = []
    for item in sorted({*votes, *last_words}):
        given = votes.get(item, {})
        grade, how = _decided(given, last_words.get(item, {}), by)
        if grade is None:
            undecided.append(Undecided(item, given))
            grade = _by_rule(given, ties)
        counts[how] += 1
        if grade is not None:
            grades.setdefault(item.query_id, {})[item.doc_id] = grade
    queries, unsettled = _queries(used, adjudicator)
    said = {item: {**votes.get(item, {}), **last_words.get(item, {})} for item in {*votes, *last_words}}
    names = [one.annotator for one in everyone]
    meta = {"reviewer": ", ".join(names), "merge": {"by": by, "ties": ties}, "queries": _told(everyone, said)}
    gold = GoldSet(tuple(queries), Qrels.from_dict(grades, source="merged"), "merged", meta)
    return Merged(gold, tuple(names), tuple(left_out), tuple(undecided), ties, counts, tuple(unsettled))


def _asked_for(labels: Sequence[Labels], with_models: Iterable[str]) -> tuple[list[Labels], list[str]]:
    """The labels that go in, and the models that were given unasked."""
    wanted = {name if name.startswith(MODEL) else f"{MODEL}{name}" for name in with_models}
    models = [one.annotator for one in labels if one.is_model]
    for name in sorted(wanted):
        if name not in models:
            raise UnknownName("model among the labels", name, models)
    people = people_of(labels)
    used = [one for one in labels if one in people or one.annotator in wanted]
    return used, [name for name in models if name not in wanted]


def _votes(labels: Iterable[Labels]) -> dict[Item, dict[str, float]]:
    votes: dict[Item, dict[str, float]] = {}
    for one in labels:
        for query_id, row in one.grades.items():
            for doc_id, grade in row.items():
                votes.setdefault(Item(query_id, doc_id), {})[one.annotator] = grade
    return votes


def _decided(given: Mapping[str, float], last_word: Mapping[str, float], by: Way) -> tuple[float | None, How]:
    """The grade, None where there is no one grade; and how it came about."""
    for grade in last_word.values():
        return grade, "adjudicated"
    if len(given) == 1:
        return next(iter(given.values())), "single"
    counts = Counter(given.values())
    if len(counts) == 1:
        return next(iter(counts)), "unanimous"
    if by == "mean":
        return sum(given.values()) / len(given), "mean"
    (grade, most), (_, second) = counts.most_common(2)
    return (None, "undecided") if most == second else (grade, "majority")


def _by_rule(given: Mapping[str, float], ties: Ties) -> float | None:
    counts = Counter(given.values())
    most = max(counts.values())
    tied = [grade for grade, n in counts.items() if n == most]
    return {"higher": max(tied), "lower": min(tied)}.get(ties)


def _queries(used: Sequence[Labels], adjudicator: Labels | None) -> tuple[list[Query], list[str]]:
    """Each query with its text, its group, all notes, and whether most found that it has no answer."""
    everyone = [*used, *([adjudicator] if adjudicator is not None else [])]
    ids = dict.fromkeys(q for one in everyone for q in (*one.queries, *one.grades))
    queries, unsettled = [], []
    for query_id in ids:
        known = [one.queries[query_id] for one in everyone if query_id in one.queries]
        no_answer = _no_answer([one.queries[query_id].no_answer for one in used if query_id in one.queries])
        if adjudicator is not None and query_id in adjudicator.queries:
            no_answer = adjudicator.queries[query_id].no_answer
        if no_answer is None:
            unsettled.append(query_id)
        notes = {one.annotator: one.queries[query_id].notes for one in everyone if query_id in one.queries}
        text = next((query.text for query in known if query.text), query_id)
        group = next((query.group for query in known if query.group), None)
        queries.append(Query(query_id, text, group, _joined(notes), bool(no_answer)))
    return queries, unsettled


def _no_answer(words: Sequence[bool]) -> bool | None:
    """What most say; None if as many say the one as the other."""
    yes = sum(words)
    return None if words and 2 * yes == len(words) else 2 * yes > len(words)


def _joined(notes: Mapping[str, str]) -> str:
    said = {name: note for name, note in notes.items() if note}
    if len(set(said.values())) < 2:
        return next(iter(said.values()), "")
    return "\n".join(f"{name}: {note}" for name, note in said.items())


def _told(labels: Sequence[Labels], said: Mapping[Item, Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Query → what the ground-truth file says of its documents besides the grade: who gave which, header, digest."""
    told: dict[str, dict[str, Any]] = {}
    for item in sorted(said):
        extra: dict[str, Any] = {}
        for one in labels:
            known = one.told.get(item, {})
            extra |= {key: value for key, value in known.items() if key in ("contextualHeader", "fingerprint")}
        extra["judgments"] = {name: _WORDS.get(grade, grade) for name, grade in said[item].items()}
        told.setdefault(item.query_id, {"results": {}})["results"][item.doc_id] = extra
    return told
