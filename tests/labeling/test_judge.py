"""A model as one more annotator."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate, NotMeasured, UsageError
from rankproof.labeling.identity import fingerprint_of
from rankproof.labeling.judge import Prompt, Question, gold_of, judge, parse_answer, questions_of

PROMPT = Prompt("Q: {query}\nT: {title}\nD: {document}\n")
CORPUS = Corpus((Document("a", "text of a", "A"), Document("b", "text of b", "B"), Document("c", "text of c")))
QUERY = Query("q", "what?", "hr")
QUESTIONS = [Question(QUERY, document) for document in CORPUS]


class Model:
    """Answers by document and counts what it is asked."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, prompt: str) -> str:
        with self._lock:
            self.asked.append(prompt)
        answer = self.answers[prompt.strip()[-1]]
        if answer == "down":
            raise NotMeasured("HTTP 503: out of order")
        return answer


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        ("relevant", 2),
        ("Relevant.\nIt answers the question.", 2),
        ("**partial**", 1),
        ("not relevant", 0),
        ("not_relevant", 0),
        ("2", 2),
        (" 0 \n", 0),
        ('{"grade": 1}', 1),
        ('{"relevance": "not-relevant", "why": "another topic"}', 0),
        ('```json\n{"label": "2"}\n```', 2),
    ],
)
def test_a_grade_is_read(answer: str, grade: int) -> None:
    assert parse_answer(answer) == grade


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I think it is relevant",
        "irrelevant",
        "3",
        "-1",
        "1.5",
        "2 or 1",
        "Here is my answer:\nrelevant",
        "{}",
        '{"grade": 3}',
        '{"grade": true}',
        '{"grade": 1.0}',
        '{"grade": null}',
        '{"grade": 2, "grade": 0}',
        '{"grade": 2, "label": 0}',
        '{"grade": [2]}',
        '{"grade": 2',
        "[2]",
        "{" * 100_000,
    ],
)
def test_anything_else_is_no_grade(answer: str) -> None:
    assert parse_answer(answer) is None


@settings(deadline=None)
@given(answer=st.text(max_size=200))
def test_no_answer_makes_it_fail(answer: str) -> None:
    assert parse_answer(answer) in (None, 0, 1, 2)


def test_what_stands_in_a_text_is_never_filled_in() -> None:
    prompt = Prompt("{query} | {document} | {title} | {}")
    assert prompt.filled(Query("q", "{document}"), Document("d", "{title} {query}", "T")) == (
        "{document} | {title} {query} | T | {}"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{query} only", "does not hold {document}"),
        ("{document} only", "does not hold {query}"),
        ("{query} {document} {titel}", "Did you mean {title}"),
    ],
)
def test_a_prompt_that_shows_too_little_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text(text)
    with pytest.raises(BadInput, match=message):
        Prompt.read(tmp_path / "prompt.txt")


def test_braces_that_are_no_field_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text('Answer with {"grade": 0} or {grade}.\n{query}\n{document}')
    prompt = Prompt.read(tmp_path / "prompt.txt")
    assert prompt.filled(Query("q", "Q"), Document("d", "D")) == 'Answer with {"grade": 0} or {grade}.\nQ\nD'


def test_answers_become_grades_abstentions_and_failures() -> None:
    found = judge(QUESTIONS, Model(a="relevant", b="maybe", c="down"), model="small", prompt=PROMPT)
    assert [(one.outcome, one.grade) for one in found.verdicts] == [
        ("judged", 2),
        ("abstained", None),
        ("failed", None),
    ]
    assert found.of("abstained")[0].reason == "the answer is no grade: 'maybe'"
    assert found.of("failed")[0].reason == "HTTP 503: out of order"
    assert found.annotator == "model:small"


def test_answers_are_kept_and_failures_are_not(tmp_path: Path) -> None:
    first = Model(a="relevant", b="maybe", c="down")
    judge(QUESTIONS, first, model="small", prompt=PROMPT, cache=tmp_path)
    again = Model(a="0", b="0", c="partial")
    found = judge(QUESTIONS, again, model="small", prompt=PROMPT, cache=tmp_path)
    assert [(one.outcome, one.grade, one.cached) for one in found.verdicts] == [
        ("judged", 2, True),
        ("abstained", None, True),
        ("judged", 1, False),
    ]
    assert len(again.asked) == 1


@pytest.mark.parametrize("what", ["model", "prompt", "query", "text", "title"])
def test_whatever_the_answer_depends_on_makes_it_ask_again(what: str, tmp_path: Path) -> None:
    question = [Question(QUERY, CORPUS.by_id["a"])]
    judge(question, Model(a="2"), model="small", prompt=PROMPT, cache=tmp_path)
    changed = {
        "query": [Question(Query("q", "when?"), CORPUS.by_id["a"])],
        "text": [Question(QUERY, Document("a", "other text of a", "A"))],
        "title": [Question(QUERY, Document("a", "text of a", "AA"))],
    }.get(what, question)
    other = Model(a="1")
    found = judge(
        changed, other, model="big" if what == "model" else "small",
        prompt=Prompt("Please. " + PROMPT.text) if what == "prompt" else PROMPT, cache=tmp_path,
    )  # fmt: skip
    assert (found.verdicts[0].grade, len(other.asked)) == (1, 1)


def test_an_id_is_no_part_of_what_is_kept(tmp_path: Path) -> None:
    judge([Question(QUERY, Document("old", "text of a"))], Model(a="2"), model="m", prompt=PROMPT, cache=tmp_path)
    found = judge([Question(QUERY, Document("new", "text of a"))], Model(), model="m", prompt=PROMPT, cache=tmp_path)
    assert (found.verdicts[0].grade, found.verdicts[0].cached) == (2, True)


def test_a_damaged_file_in_the_cache_is_asked_again(tmp_path: Path) -> None:
    judge(QUESTIONS[:1], Model(a="2"), model="m", prompt=PROMPT, cache=tmp_path)
    (kept,) = tmp_path.rglob("*.json")
    kept.write_bytes(kept.read_bytes()[:5])
    assert judge(QUESTIONS[:1], Model(a="1"), model="m", prompt=PROMPT, cache=tmp_path).verdicts[0].grade == 1


def test_verdicts_stand_in_the_order_of_the_questions_however_many_ask() -> None:
    many = [Question(Query(f"q{i}", f"{i}?"), CORPUS.by_id["abc"[i % 3]]) for i in range(50)]
    one, several = (
        judge(many, Model(a="2", b="1", c="0"), model="m", prompt=PROMPT, workers=n).verdicts for n in (1, 8)
    )
    assert one == several


def test_its_labels_are_a_gold_set_of_their_own(tmp_path: Path) -> None:
    judged = judge(QUESTIONS, Model(a="2", b="hm", c="down"), model="small", prompt=PROMPT)
    gold_of(judged).write(tmp_path / "model.json")
    gold = GoldSet.read(tmp_path / "model.json")
    assert (gold.meta["reviewer"], gold.qrels.to_dict(), gold.groups) == ("model:small", {"q": {"a": 2}}, {"q": "hr"})
    assert gold.meta["queries"]["q"]["results"] == {
        "a": {"contextualHeader": "A", "fingerprint": fingerprint_of("text of a")},
        "b": {"contextualHeader": "B", "fingerprint": fingerprint_of("text of b"), "cantTell": True},
    }


def test_asked_is_about_what_people_judged_and_more() -> None:
    gold = GoldSet((QUERY,), Qrels.from_dict({"q": {"b": 1, "gone": 0}}))
    questions, unknown = questions_of(gold, CORPUS, {"q": ["a", "b"], "other": ["c"]})
    assert [one.document.id for one in questions] == ["a", "b"]
    assert unknown == ["gone"]


def test_nothing_to_ask_and_no_name_are_refused() -> None:
    with pytest.raises(NothingToEvaluate, match="no document to ask"):
        judge([], Model(), model="m", prompt=PROMPT)
    with pytest.raises(UsageError, match="needs a name"):
        judge(QUESTIONS, Model(), model=" ", prompt=PROMPT)
