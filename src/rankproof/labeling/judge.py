"""A model as one more annotator: asked with a prompt, read strictly, kept apart from people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple

from rankproof.data.corpus import Corpus, Document
from rankproof.data.files import PathLike, read_bytes, source_name, write_whole
from rankproof.data.formats.ground_truth import GRADES
from rankproof.data.gold import GoldSet, Query
from rankproof.data.json_text import json_bytes, unique_keys
from rankproof.data.lines import decode_text
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate, NotMeasured, UsageError, nearest
from rankproof.labeling.annotators import MODEL
from rankproof.labeling.disk import make_folder
from rankproof.labeling.identity import fingerprint_of, header_of

Complete = Callable[[str], str]
"""A prompt leads to the model's answer; raises NotMeasured if there is none. It may be called by several threads."""
Progress = Callable[[int, int], None]

Outcome = Literal["judged", "abstained", "failed"]

FIELDS = ("query", "document", "title")
_FIELD = re.compile(r"\{(\w+)\}")
_KEYS = ("grade", "relevance", "label")
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_BY_NUMBER = {str(grade): grade for grade in GRADES.values()}


@dataclass(frozen=True)
class Prompt:
    """What a model is asked; {query}, {title} and {document} are filled in."""

    text: str

    @classmethod
    def read(cls, path: PathLike) -> Prompt:
        """The prompt in a file."""
        source = source_name(path)
        text = decode_text(read_bytes(path), source)
        names = {match.group(1) for match in _FIELD.finditer(text)}
        for name in sorted(names - set(FIELDS)):
            if near := nearest(name, FIELDS):
                raise BadInput.of(source, f"there is no {{{name}}} to fill in. Did you mean {{{near[0]}}}?")
        for name in ("query", "document"):
            if name not in names:
                raise BadInput.of(source, f"the prompt does not hold {{{name}}}, so the model would never see it")
        return cls(text)

    def filled(self, query: Query, document: Document) -> str:
        """The prompt for one document; what stands in texts is never taken for a field."""
        values = {"query": query.text, "document": document.text, "title": document.title}
        return _FIELD.sub(lambda match: values.get(match.group(1), match.group()), self.text)


def parse_answer(text: str) -> int | None:
    """The grade in an answer; None if there is anything but one.

    Read is a JSON object with the key `grade`, `relevance` or `label`, or a first line that is a grade and nothing
    else: relevant, partial, not-relevant, 2, 1 or 0.
    """
    stripped = text.strip()
    fenced = _FENCE.match(stripped)
    body = fenced.group(1) if fenced else stripped
    if body.startswith("{"):
        return _from_json(body)
    return _grade(body.partition("\n")[0])


def _from_json(text: str) -> int | None:
    try:
        told = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        return None
    given = [told[key] for key in _KEYS if key in told] if isinstance(told, dict) else []
    if len(given) != 1 or isinstance(given[0], bool) or not isinstance(given[0], int | str):
        return None
    return _grade(str(given[0]))


def _grade(word: str) -> int | None:
    plain = word.strip().strip("\"'*`.").strip().lower().replace(" ", "-").replace("_", "-")
    return GRADES.get(plain, _BY_NUMBER.get(plain))


class Question(NamedTuple):
    """A document to be judged for a query."""

    query: Query
    document: Document


@dataclass(frozen=True)
class Verdict:
    """What the model made of one document."""

    question: Question
    outcome: Outcome
    grade: int | None = None
    reason: str = ""
    """Why there is no grade."""
    cached: bool = False


@dataclass(frozen=True)
class Judged:
    """What the model made of all of them."""

    model: str
    verdicts: tuple[Verdict, ...]

    @property
    def annotator(self) -> str:
        """The name under which its labels stand."""
        return f"{MODEL}{self.model}"

    def of(self, outcome: Outcome) -> list[Verdict]:
        """The verdicts with this outcome."""
        return [one for one in self.verdicts if one.outcome == outcome]


def judge(
    questions: Sequence[Question], complete: Complete, *, model: str, prompt: Prompt, cache: Path | None = None,
    workers: int = 4, progress: Progress | None = None,
) -> Judged:  # fmt: skip
    """Ask the model about each document; what it answered before about the same texts is not asked again.

    An answer that is no grade counts as an abstention. A request that fails is told as such and asked again next time.
    """
    if not questions:
        raise NothingToEvaluate("There is no document to ask the model about.")
    if not model.strip():
        raise UsageError("The model needs a name; its labels stand under it.")

    lock = Lock()

    def ask(question: Question) -> Verdict:
        place = None if cache is None else _place(cache, model, prompt, question)
        kept = None if place is None else _kept(place)
        if kept is not None:
            return replace(_read(question, kept), cached=True)
        try:
            answer = complete(prompt.filled(*question))
        except NotMeasured as exc:
            return Verdict(question, "failed", reason=str(exc))
        if place is not None:
            # The same text may stand under two ids, and two threads must not write one file.
            with lock:
                make_folder(place.parent)
                write_whole(place, json_bytes({"answer": answer}, str(place)))
        return _read(question, answer)

    verdicts = []
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        try:
            for done, verdict in enumerate(pool.map(ask, questions), 1):
                verdicts.append(verdict)
                if progress is not None:
                    progress(done, len(questions))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Judged(model, tuple(verdicts))


def _read(question: Question, answer: str) -> Verdict:
    grade = parse_answer(answer)
    if grade is None:
        return Verdict(question, "abstained", reason=f"the answer is no grade: {answer.strip()[:60]!r}")
    return Verdict(question, "judged", grade)


def _place(cache: Path, model: str, prompt: Prompt, question: Question) -> Path:
    """Where an answer is kept: by everything that it depends on."""
    query, document = question
    parts = [model, prompt.text, query.text, document.title, document.text]
    key = sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
    return cache / key[:2] / f"{key}.json"


def _kept(place: Path) -> str | None:
    try:
        told = json.loads(place.read_bytes())
    except (OSError, ValueError):
        # Never asked, or not readable: it is asked again.
        return None
    answer = told.get("answer") if isinstance(told, dict) else None
    return answer if isinstance(answer, str) else None


def questions_of(
    gold: GoldSet, corpus: Corpus, more: Mapping[str, Iterable[str]] | None = None
) -> tuple[list[Question], list[str]]:
    """The judged documents of a gold set and more of them; and those that the corpus does not have."""
    grades = gold.qrels.to_dict()
    questions, unknown = [], []
    for query in gold.queries:
        for doc_id in sorted({*grades.get(query.id, {}), *((more or {}).get(query.id, ()))}):
            if doc_id in corpus.by_id:
                questions.append(Question(query, corpus.by_id[doc_id]))
            else:
                unknown.append(doc_id)
    return questions, sorted(set(unknown))


def gold_of(judged: Judged) -> GoldSet:
    """The model's labels as a gold set of its own, to be written as ground-truth JSON."""
    grades: dict[str, dict[str, int]] = {}
    queries: dict[str, Query] = {}
    told: dict[str, dict[str, Any]] = {}
    for one in judged.verdicts:
        query, document = one.question
        queries.setdefault(query.id, Query(query.id, query.text, query.group))
        extra = {"contextualHeader": header_of(document), "fingerprint": fingerprint_of(document.text)}
        if one.outcome == "failed":
            continue
        if one.grade is None:
            told.setdefault(query.id, {"results": {}})["results"][document.id] = {**extra, "cantTell": True}
            continue
        grades.setdefault(query.id, {})[document.id] = one.grade
        told.setdefault(query.id, {"results": {}})["results"][document.id] = extra
    meta = {"reviewer": judged.annotator, "queries": told}
    return GoldSet(tuple(queries.values()), Qrels.from_dict(grades, source=judged.annotator), judged.annotator, meta)
