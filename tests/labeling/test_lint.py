"""What is wrong with a gold set."""

from __future__ import annotations

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.labeling.lint import lint


def gold(*queries: Query, **grades: dict[str, float]) -> GoldSet:
    return GoldSet(queries, Qrels.from_dict(grades))


def kinds(of: GoldSet, corpus: Corpus | None = None) -> list[str]:
    return [one.kind for one in lint(of, corpus)]


def test_a_sound_gold_set_is_clean() -> None:
    of = gold(Query("q1", "one", "g"), Query("q2", "two", "g", no_answer=True), q1={"a": 1}, q2={"a": 0})
    assert lint(of, Corpus((Document("a", "text"),))) == []


def test_a_query_asked_twice_is_found_whatever_its_case_and_spacing() -> None:
    of = gold(Query("q1", "How much?"), Query("q2", "how  much?"), q1={"a": 1}, q2={"a": 1})
    (found,) = lint(of)
    assert (found.kind, found.query_ids, found.is_fault) == ("duplicate query", ("q1", "q2"), True)
    assert "differ only in case or spacing: 'How much?'" in found.message


def test_one_question_with_two_grades_for_a_document_is_a_contradiction() -> None:
    of = gold(Query("q1", "how?"), Query("q2", "how?"), q1={"a": 1}, q2={"a": 0, "b": 1})
    assert kinds(of) == ["duplicate query", "contradiction"]
    assert lint(of)[1].message == "document 'a' has grade 1 under 'q1', 0 under 'q2', one question"


def test_no_answer_and_a_relevant_document_are_a_contradiction() -> None:
    (found,) = lint(gold(Query("q", "how?", no_answer=True), q={"a": 2}))
    assert (found.kind, found.doc_id) == ("contradiction", "a")


def test_queries_without_judgments_or_relevant_documents_are_found() -> None:
    assert kinds(gold(Query("q1", "one"), Query("q2", "two"), q1={"a": 0})) == ["no relevant document", "no judgment"]


def test_empty_texts_are_found() -> None:
    of = gold(Query("q1", "one"), Query("q2", " "), q1={"a": 1}, q2={"a": 1})
    assert kinds(of, Corpus((Document("a", " "),))) == ["empty query", "empty document"]


def test_judgments_alone_have_no_texts_to_be_missed() -> None:
    assert kinds(gold(Query("q1"), q1={"a": 1})) == []


def test_a_document_that_the_corpus_lacks_is_stale() -> None:
    (found,) = lint(gold(Query("q", "how?"), q={"refunds": 1}), Corpus((Document("refund", "text"),), "docs"))
    assert (found.kind, found.message) == ("stale id", "document 'refunds' is not in docs; nearest: 'refund'")


def test_a_group_of_one_is_worth_knowing_and_no_fault() -> None:
    (found,) = lint(gold(Query("q", "how?", "hr"), q={"a": 1}))
    assert (found.kind, found.is_fault) == ("group of one", False)
