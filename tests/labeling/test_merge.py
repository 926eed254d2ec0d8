"""One gold set of several annotators."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.data.gold import GoldSet, Query
from rankproof.errors import BadInput, UnknownName, UsageError
from rankproof.labeling.annotators import Item, Labels
from rankproof.labeling.merge import Ties, merge


def said(annotator: str, **grades: float) -> Labels:
    """What somebody said of the documents of query q."""
    return Labels(annotator, {"q": grades})


def grades_of(*labels: Labels, **options: object) -> dict[str, float]:
    return merge(labels, **options).gold.qrels.to_dict().get("q", {})  # type: ignore[arg-type]


ANNA, BEN, CLEO = said("anna", a=2, b=0, c=1), said("ben", a=2, b=2, c=0), said("cleo", a=0, b=1)


def test_most_decide() -> None:
    assert grades_of(ANNA, BEN, CLEO) == {"a": 2}
    found = merge([ANNA, BEN, CLEO])
    assert dict(found.how) == {"majority": 1, "undecided": 2}


def test_without_a_majority_nothing_is_guessed_and_the_document_is_listed() -> None:
    found = merge([ANNA, BEN, CLEO])
    assert [(one.item.doc_id, one.grades) for one in found.undecided] == [
        ("b", {"anna": 0, "ben": 2, "cleo": 1}),
        ("c", {"anna": 1, "ben": 0}),
    ]


@pytest.mark.parametrize(
    ("ties", "expected"), [("higher", {"b": 2, "c": 1}), ("lower", {"b": 0, "c": 0}), ("skip", {})]
)
def test_a_rule_for_ties_decides_if_it_is_asked_for(ties: Ties, expected: dict[str, float]) -> None:
    assert grades_of(ANNA, BEN, CLEO, ties=ties) == {"a": 2, **expected}


def test_a_tie_is_between_the_grades_that_most_gave() -> None:
    votes = [said(name, a=grade) for name, grade in zip("vwxyz", [2, 2, 0, 0, 1], strict=True)]
    assert grades_of(*votes, ties="higher") == {"a": 2}
    assert grades_of(*votes, ties="lower") == {"a": 0}


def test_the_mean_of_the_grades() -> None:
    assert grades_of(ANNA, BEN, CLEO, by="mean") == {"a": 4 / 3, "b": 1, "c": 0.5}


def test_the_adjudicator_has_the_last_word_and_the_rest_goes_by_majority() -> None:
    judge = said("judge", b=1, d=2)
    found = merge([ANNA, BEN, CLEO], by="adjudicated", adjudicator=judge)
    assert found.gold.qrels.to_dict() == {"q": {"a": 2, "b": 1, "d": 2}}
    assert [one.item.doc_id for one in found.undecided] == ["c"]
    assert found.how["adjudicated"] == 2


def test_an_adjudicator_and_the_way_go_together() -> None:
    with pytest.raises(UsageError, match="goes with --by adjudicated"):
        merge([ANNA, BEN], adjudicator=CLEO)
    with pytest.raises(UsageError, match="goes with --by adjudicated"):
        merge([ANNA, BEN], by="adjudicated")


def test_a_document_that_one_judged_keeps_that_grade() -> None:
    assert grades_of(said("anna", a=1), said("ben", b=2)) == {"a": 1, "b": 2}


def test_a_model_goes_in_only_if_it_is_named() -> None:
    model = said("model:small", a=0, b=2, c=0)
    found = merge([ANNA, BEN, model])
    assert (found.annotators, found.left_out) == (("anna", "ben"), ("model:small",))
    assert found.gold.qrels.to_dict() == {"q": {"a": 2}}
    asked = merge([ANNA, BEN, model], with_models=["small"])
    assert (asked.annotators, asked.left_out) == (("anna", "ben", "model:small"), ())
    assert asked.gold.qrels.to_dict() == {"q": {"a": 2, "b": 2, "c": 0}}
    with pytest.raises(UnknownName, match=r"'model:smal'\. Did you mean 'model:small'"):
        merge([ANNA, BEN, model], with_models=["smal"])


def test_a_person_and_an_unasked_model_are_too_few() -> None:
    with pytest.raises(UsageError, match="2 annotators or more, not 1"):
        merge([ANNA, said("model:small", a=0)])


def test_other_texts_under_one_id_are_refused() -> None:
    ones = [
        Labels(name, {"q": {"a": 2}}, told={Item("q", "a"): {"fingerprint": f"sha256:{name}"}}) for name in ("x", "y")
    ]
    with pytest.raises(BadInput, match="had another text for x and y"):
        merge(ones)


def test_the_file_keeps_who_said_what_also_where_nothing_was_decided(tmp_path: Path) -> None:
    mark = f"sha256:{'0' * 64}"
    anna = Labels("anna", {"q": {"a": 2, "b": 0}}, {"q": Query("q", "what?", "hr", "note")},
                  {Item("q", "a"): {"fingerprint": mark, "contextualHeader": "A"}})  # fmt: skip
    ben = Labels("ben", {"q": {"a": 2, "b": 2}}, {"q": Query("q")})
    merge([anna, ben]).gold.write(tmp_path / "merged.json")
    gold = GoldSet.read(tmp_path / "merged.json")
    assert gold.queries == (Query("q", "what?", "hr", "note"),)
    assert gold.qrels.to_dict() == {"q": {"a": 2}}
    assert gold.meta["reviewer"] == "anna, ben"
    assert gold.meta["merge"] == {"by": "majority", "ties": "list"}
    assert gold.meta["queries"]["q"]["results"] == {
        "a": {"contextualHeader": "A", "fingerprint": mark, "judgments": {"anna": "relevant", "ben": "relevant"}},
        "b": {"judgments": {"anna": "not-relevant", "ben": "relevant"}},
    }


def test_notes_are_kept_under_their_names_and_no_answer_goes_by_majority() -> None:
    def query(note: str, no_answer: bool) -> dict[str, Query]:
        return {"q": Query("q", "what?", notes=note, no_answer=no_answer)}

    labels = [
        Labels("anna", {}, query("old law", True)),
        Labels("ben", {"q": {"a": 0}}, query("", True)),
        Labels("cleo", {"q": {"a": 0}}, query("see b", False)),
    ]
    (found,) = merge(labels).gold.queries
    assert (found.no_answer, found.notes) == (True, "anna: old law\ncleo: see b")
    undecided = merge(labels[1:])
    assert undecided.unsettled_answers == ("q",)
    assert not undecided.gold.queries[0].no_answer


votes = st.lists(st.integers(0, 2), min_size=2, max_size=5)


@settings(deadline=None)
@given(votes=votes, data=st.data())
def test_neither_order_nor_names_of_annotators_decide(votes: list[int], data: st.DataObject) -> None:
    names = data.draw(st.permutations("vwxyz"))
    labels = [said(name, a=grade) for name, grade in zip(names, votes, strict=False)]
    shuffled = data.draw(st.permutations(labels))
    for by, ties in itertools.product(("majority", "mean"), ("list", "higher", "lower")):
        assert grades_of(*labels, by=by, ties=ties) == grades_of(*shuffled, by=by, ties=ties)


@settings(deadline=None)
@given(votes=votes)
def test_a_majority_is_given_by_more_than_any_other_grade(votes: list[int]) -> None:
    found = grades_of(*(said(name, a=grade) for name, grade in zip("vwxyz", votes, strict=False)))
    most = max(votes.count(grade) for grade in votes)
    winners = [grade for grade in set(votes) if votes.count(grade) == most]
    assert found == ({"a": winners[0]} if len(winners) == 1 else {})
