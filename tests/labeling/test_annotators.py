"""What each annotator said, from journals, ground-truth files and judgments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate, UsageError
from rankproof.labeling.annotators import (
    Item,
    Labels,
    ratings_of,
    read_any_gold,
    read_labels,
    refuse_other_documents,
    with_queries,
)
from rankproof.labeling.identity import fingerprint_of
from tests.labeling.pools import opened, pool


def labelled(tmp_path: Path, annotator: str, *grades: int | None) -> Path:
    """The journal of somebody who judged the documents of one query in order; None: can't tell."""
    with opened(tmp_path, pool(q="abcdef"[: len(grades)]), annotator) as session:
        for grade in grades:
            session.cant_tell() if grade is None else session.judge(grade)
    return tmp_path / "labels" / f"{annotator}.jsonl"


def test_a_journal_tells_who_judged_what_and_on_which_text(tmp_path: Path) -> None:
    (anna,) = read_labels([labelled(tmp_path, "anna", 2, None, 0)])
    assert (anna.annotator, anna.grades) == ("anna", {"q": {"a": 2, "c": 0}})
    assert anna.fingerprint(Item("q", "a")) == fingerprint_of("The text of a.")
    assert anna.told[Item("q", "a")]["contextualHeader"] == "Title a"
    assert not anna.is_model


def test_what_was_undone_is_not_said(tmp_path: Path) -> None:
    with opened(tmp_path, pool(q="ab"), "anna") as session:
        session.judge(2)
        session.judge(1)
        session.undo()
    (anna,) = read_labels([tmp_path / "labels" / "anna.jsonl"])
    assert anna.grades == {"q": {"a": 2}}


def test_notes_and_missing_answers_come_along(tmp_path: Path) -> None:
    with opened(tmp_path, pool(q="a"), "anna") as session:
        session.note("a law of 1982")
        session.no_answer()
    (anna,) = read_labels([tmp_path / "labels" / "anna.jsonl"])
    assert anna.queries == {"q": Query("q", notes="a law of 1982", no_answer=True)}


def test_a_folder_stands_for_the_journals_in_it(tmp_path: Path) -> None:
    labelled(tmp_path, "ben", 1)
    labelled(tmp_path, "anna", 2)
    assert [one.annotator for one in read_labels([tmp_path / "labels"])] == ["anna", "ben"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingToEvaluate, match="no journal"):
        read_labels([tmp_path / "empty"])


def test_what_a_journal_took_over_from_somebody_else_is_left_out_and_counted(tmp_path: Path) -> None:
    gold = GoldSet((Query("q", "text of q"),), Qrels.from_dict({"q": {"a": 2}}), meta={"reviewer": "zoe"})
    gold.write(tmp_path / "truth.json")
    with opened(tmp_path, pool(q="ab"), "anna") as session:
        session.judge(1)
    (anna,) = read_labels([tmp_path / "labels" / "anna.jsonl"])
    assert (anna.grades, anna.n_taken_over) == ({"q": {"b": 1}}, 1)


def test_a_ground_truth_file_is_known_by_its_reviewer_and_judgments_by_their_file(tmp_path: Path) -> None:
    gold = GoldSet((Query("q", "what?"),), Qrels.from_dict({"q": {"a": 2}}), meta={"reviewer": "model:small"})
    gold.write(tmp_path / "one.json")
    (tmp_path / "ben.qrels").write_text("q 0 a 1\n")
    model, ben = read_labels([tmp_path / "one.json", tmp_path / "ben.qrels"])
    assert (model.annotator, model.is_model, model.grades) == ("model:small", True, {"q": {"a": 2}})
    assert (ben.annotator, ben.is_model, ben.grades) == ("ben", False, {"q": {"a": 1}})


def test_one_annotator_in_two_files_is_refused(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ben.qrels").write_text("q 0 a 1\n")
    with pytest.raises(UsageError, match="both hold what 'ben' said"):
        read_labels([tmp_path / "x" / "ben.qrels", tmp_path / "y" / "ben.qrels"])


def test_labels_stand_side_by_side_whatever_the_order_of_lines() -> None:
    anna = Labels("anna", {"q2": {"b": 1}, "q1": {"a": 2}})
    ben = Labels("ben", {"q1": {"c": 0, "a": 2}})
    ratings = ratings_of([anna, ben])
    assert ratings.items == (Item("q1", "a"), Item("q1", "c"), Item("q2", "b"))
    assert np.array_equal(ratings.grades, [[2.0, 2.0], [np.nan, 0.0], [1.0, np.nan]], equal_nan=True)
    assert ratings.of(["q2"]).items == (Item("q2", "b"),)


def test_annotators_who_saw_different_texts_are_refused_by_document() -> None:
    item = Item("q", "a")
    anna = Labels("anna", {"q": {"a": 2}}, told={item: {"fingerprint": "sha256:11"}}, source="a.jsonl")
    ben = Labels("ben", {"q": {"a": 2}}, told={item: {"fingerprint": "sha256:22"}}, source="b.jsonl")
    refuse_other_documents([anna, anna])
    with pytest.raises(BadInput, match="document 'a' had another text for anna and ben"):
        refuse_other_documents([anna, ben])


def test_texts_and_groups_come_from_a_gold_set() -> None:
    anna = Labels("anna", {"q": {"a": 2}}, {"q": Query("q", notes="hm")})
    (found,) = with_queries([anna], GoldSet((Query("q", "what?", "hr"),), Qrels.from_dict({})))
    assert found.queries == {"q": Query("q", "what?", "hr", "hm")}


def test_judgments_alone_are_a_gold_set_without_texts(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q 0 a 1\n")
    gold = read_any_gold(tmp_path / "a.qrels")
    assert (gold.queries, gold.qrels.to_dict()) == ((Query("q"),), {"q": {"a": 1}})
