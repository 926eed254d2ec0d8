"""The ground-truth file: from the journals, whole, never over what others put there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import rankproof
from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, UsageError
from rankproof.labeling.events import Spot
from rankproof.labeling.identity import Matcher, fingerprint_of
from rankproof.labeling.pool import Candidate, Pool, Task
from rankproof.labeling.truth import schema_path, with_corpus_ids
from tests.labeling.pools import opened, pool

POOL = pool(q1="ab", q2="cd")

SEED = {
    "version": 1,
    "labeledAt": "2026-02-27T10:00:00Z",
    "reviewer": "audri",
    "queries": [
        {
            "queryIndex": 0,
            "query": "text of q1",
            "persona": "HR",
            "noAnswerInCorpus": False,
            "reviewerNotes": "a note",
            "results": [
                {"contextualHeader": "Title a", "relevance": "relevant"},
                {"contextualHeader": "Title b", "relevance": "partial"},
            ],
        }
    ],
}
"""As the seed has it: no ids, no fingerprints."""


def content(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "truth.json").read_text())
    return found


def grades(tmp_path: Path) -> dict[str, dict[str, float]]:
    return GoldSet.read(tmp_path / "truth.json").qrels.to_dict()


def save(tmp_path: Path, data: Any) -> None:
    (tmp_path / "truth.json").write_text(json.dumps(data, indent=2))


def valid(data: Any) -> None:
    schema = json.loads(schema_path().read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(data, schema, cls=jsonschema.Draft202012Validator)


def test_it_is_written_after_each_query(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        assert not (tmp_path / "truth.json").exists()
        session.judge(0)
        assert grades(tmp_path) == {"q1": {"a": 2, "b": 0}}
        session.judge(1)
        assert grades(tmp_path) == {"q1": {"a": 2, "b": 0}}
    assert grades(tmp_path) == {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}


def test_it_holds_what_the_seed_asks_for_and_more(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.cant_tell()
        session.note("unclear")
        session.no_answer()
    assert content(tmp_path) == {
        "$schema": "./ground-truth.schema.json",
        "version": 1,
        "labeledAt": "2026-03-01T10:06:00Z",
        "reviewer": "anna",
        "journals": {"anna": 5},
        "queries": [
            {
                "queryIndex": 0,
                "id": "q1",
                "query": "text of q1",
                "persona": None,
                "noAnswerInCorpus": False,
                "reviewerNotes": "",
                "labeledAt": "2026-03-01T10:04:00Z",
                "results": [
                    {
                        "id": "a",
                        "contextualHeader": "Title a",
                        "fingerprint": fingerprint_of("The text of a."),
                        "relevance": "relevant",
                    },
                    {
                        "id": "b",
                        "contextualHeader": "Title b",
                        "fingerprint": fingerprint_of("The text of b."),
                        "cantTell": True,
                        "relevance": None,
                    },
                ],
            },
            {
                "queryIndex": 1,
                "id": "q2",
                "query": "text of q2",
                "persona": None,
                "noAnswerInCorpus": True,
                "reviewerNotes": "unclear",
                "labeledAt": "2026-03-01T10:06:00Z",
                "results": [],
            },
        ],
    }


def test_it_validates_and_so_does_the_seeds_example(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.cant_tell()
        session.note("n")
    valid(content(tmp_path))
    valid(json.loads((tmp_path / "truth.json").read_text()))
    valid(SEED)
    assert (tmp_path / "ground-truth.schema.json").read_bytes() == schema_path().read_bytes()
    with pytest.raises(jsonschema.ValidationError):
        valid({"queries": [{"query": "q", "results": [{"id": "d", "relevance": "relevent"}]}]})


def test_the_seeds_own_text_validates() -> None:
    seeds = sorted(Path(__file__).parents[2].parent.glob("shared/seeds/001*"))
    if not seeds:
        pytest.skip("the seed documents are not beside the project")
    block = seeds[0].read_text(encoding="utf-8").split("```json")[1].split("```")[0]
    valid(json.loads(block))


def test_every_reader_takes_it_without_conversion(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        for grade in (0, 2, 1, 0):
            session.judge(grade)
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"d": 2.0, "c": 1.0}}
    scores = rankproof.evaluate(tmp_path / "truth.json", run, ["MRR", "P@1"], preset="labels")
    assert scores.by_query() == {"q1": {"RR": 1.0, "P@1": 1.0}, "q2": {"RR": 0.0, "P@1": 0.0}}


def test_a_file_of_the_seed_is_continued_and_its_documents_are_found_by_their_headers(tmp_path: Path) -> None:
    save(tmp_path, SEED)
    with opened(tmp_path, POOL) as session:
        assert "Taken over from truth.json, because no journal has it: 2 judgments, 1 note." in session.notices
        assert session.current.query.id == "q2"
        session.judge(2)
    found = content(tmp_path)
    assert grades(tmp_path) == {"q1": {"a": 2, "b": 1}, "q2": {"c": 2}}
    assert found["reviewer"] == "anna, audri"
    assert found["queries"][0]["id"] == "q1"
    assert (found["queries"][0]["persona"], found["queries"][0]["reviewerNotes"]) == ("HR", "a note")
    assert found["queries"][0]["labeledAt"] == "2026-02-27T10:00:00Z"
    valid(found)
    with opened(tmp_path, POOL) as session:
        assert session.notices == []


def test_undoing_over_what_was_taken_over_brings_it_back(tmp_path: Path) -> None:
    save(tmp_path, SEED)
    with opened(tmp_path, POOL) as session:
        session.judge(0, at=Spot("q1", "a"))
        assert grades(tmp_path)["q1"] == {"a": 0, "b": 1}
        session.undo()
    assert grades(tmp_path)["q1"] == {"a": 2, "b": 1}


def test_two_documents_of_one_header_are_an_error_and_the_file_stays(tmp_path: Path) -> None:
    save(tmp_path, SEED)
    before = (tmp_path / "truth.json").read_bytes()
    twins = Corpus((Document("a", "x", "Title a"), Document("b", "y", "Title a")))
    with pytest.raises(BadInput, match="documents 'a', 'b' have the header 'Title a'"):
        opened(tmp_path, Pool((Task(Query("q1", "text of q1"), (Candidate(twins.by_id["a"]),)),), twins))
    assert (tmp_path / "truth.json").read_bytes() == before


def test_keys_and_queries_that_we_do_not_know_are_kept(tmp_path: Path) -> None:
    other = {"queryIndex": 9, "id": "q9", "query": "other", "mood": "odd", "results": [{"id": "z", "relevance": None}]}
    save(tmp_path, {"version": 1, "project": "law", "queries": [other]})
    with opened(tmp_path, POOL) as session:
        session.judge(2)
    found = content(tmp_path)
    assert found["project"] == "law"
    assert [entry["id"] for entry in found["queries"]] == ["q1", "q9"]
    assert found["queries"][1]["mood"] == "odd"
    assert found["queries"][1]["results"] == [{"id": "z", "relevance": None}]


def test_what_an_editor_changed_is_taken_over_and_told(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.judge(0)
    edited = content(tmp_path)
    edited["queries"][0]["results"][1]["relevance"] = "partial"
    edited["queries"][0]["reviewerNotes"] = "seen again"
    save(tmp_path, edited)
    with opened(tmp_path, POOL) as session:
        assert "Taken over from truth.json, because no journal has it: 1 judgment, 1 note." in session.notices
        session.judge(1)
    assert grades(tmp_path)["q1"] == {"a": 2, "b": 1}
    assert content(tmp_path)["queries"][0]["reviewerNotes"] == "seen again"


def test_a_file_that_is_behind_the_journal_is_brought_up_to_date(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.judge(0)
    early = (tmp_path / "truth.json").read_bytes()
    with opened(tmp_path, POOL) as session:
        session.undo()
        session.judge(1)
        session.judge(1)
    late = (tmp_path / "truth.json").read_bytes()
    (tmp_path / "truth.json").write_bytes(early)
    with opened(tmp_path, POOL) as session:
        assert session.notices == []
        assert (tmp_path / "truth.json").read_bytes() == late
    (tmp_path / "truth.json").unlink()
    opened(tmp_path, POOL).close()
    assert (tmp_path / "truth.json").read_bytes() == late


def test_what_a_damaged_journal_lost_comes_back_from_the_file(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.judge(1)
    journal = tmp_path / "labels" / "anna.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])
    with opened(tmp_path, POOL) as session:
        assert session.notices[0].startswith("The last line of")
        assert session.notices[1] == "Taken over from truth.json, because no journal has it: 1 judgment."
    assert grades(tmp_path) == {"q1": {"a": 2, "b": 1}}


def test_what_is_undone_leaves_the_file(tmp_path: Path) -> None:
    with opened(tmp_path, POOL) as session:
        session.judge(2)
        session.judge(0)
        session.undo()
    assert grades(tmp_path) == {"q1": {"a": 2}}
    with opened(tmp_path, POOL) as session:
        session.undo()
    assert content(tmp_path)["queries"][0]["results"] == []
    assert "labeledAt" not in content(tmp_path)["queries"][0]


def test_a_restart_keeps_a_numbered_backup_and_the_journal(tmp_path: Path) -> None:
    for number in range(2):
        with opened(tmp_path, POOL, restart=number > 0) as session:
            session.judge(2)
            session.judge(2)
    with opened(tmp_path, POOL, restart=True) as session:
        assert session.notices[-1].startswith("Labelling starts over; the file as it was is truth.json.bak.2.")
        assert session.current.n_judged == 0
        session.judge(0)
    assert grades(tmp_path) == {"q1": {"a": 0}}
    kept = GoldSet.read(tmp_path / "truth.json.bak", format="ground-truth").qrels.to_dict()
    assert kept == {"q1": {"a": 2, "b": 2}}
    assert (tmp_path / "labels" / "anna.jsonl").read_text().count('"kind":"judge"') == 5
    opened(tmp_path, POOL).close()
    assert grades(tmp_path) == {"q1": {"a": 0}}


def test_a_restart_over_a_file_of_other_origin_starts_from_nothing(tmp_path: Path) -> None:
    save(tmp_path, SEED)
    before = (tmp_path / "truth.json").read_bytes()
    with opened(tmp_path, POOL, restart=True) as session:
        assert session.current.n_judged == 0
    assert (tmp_path / "truth.json.bak").read_bytes() == before
    assert content(tmp_path)["queries"][0]["results"] == []
    with opened(tmp_path, POOL) as session:
        assert session.notices == []
        assert session.current.n_judged == 0


def test_a_file_of_another_kind_is_not_overwritten(tmp_path: Path) -> None:
    for text in ("{", '{"my": "data"}', "hello"):
        (tmp_path / "truth.json").write_text(text)
        with pytest.raises(BadInput, match=r"truth\.json"):
            opened(tmp_path, POOL)
        assert (tmp_path / "truth.json").read_text() == text


@pytest.mark.parametrize("text", ["", "\n", '{"version": 1, "queries": []}'])
def test_an_empty_scaffold_is_filled(tmp_path: Path, text: str) -> None:
    (tmp_path / "truth.json").write_text(text)
    with opened(tmp_path, POOL) as session:
        session.judge(2)
    assert grades(tmp_path) == {"q1": {"a": 2}}


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text("")
    (tmp_path / "truth.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(UsageError, match="is a link to"):
        opened(tmp_path, POOL)


def test_annotators_who_agree_decide_and_a_dispute_is_left_open(tmp_path: Path) -> None:
    said = {"anna": (2, 2, 0, 1), "bob": (2, 1, 0, 1), "eve": (2, 0, 1, 1)}
    for annotator, row in said.items():
        with opened(tmp_path, POOL, annotator) as session:
            for spot, grade in zip("abcd", row, strict=True):
                session.judge(grade, at=Spot("q1" if spot in "ab" else "q2", spot))
            session.note(f"note of {annotator}", at=Spot("q1"))
    found = content(tmp_path)
    assert grades(tmp_path) == {"q1": {"a": 2}, "q2": {"c": 0, "d": 1}}
    disputed = next(result for result in found["queries"][0]["results"] if result["id"] == "b")
    assert disputed["relevance"] is None
    assert disputed["judgments"] == {"anna": "relevant", "bob": "partial", "eve": "not-relevant"}
    assert found["queries"][0]["reviewerNotes"] == "anna: note of anna\nbob: note of bob\neve: note of eve"
    assert found["reviewer"] == "anna, bob, eve"
    valid(found)
    with opened(tmp_path, POOL) as session:
        assert session.notices == []


def test_a_gold_set_of_headers_gets_the_ids_of_the_corpus(tmp_path: Path) -> None:
    save(tmp_path, SEED)
    gold = with_corpus_ids(GoldSet.read(tmp_path / "truth.json"), Matcher(POOL.corpus))
    assert gold.qrels.to_dict() == {"text of q1": {"a": 2, "b": 1}}


def test_two_results_of_one_document_are_refused() -> None:
    gold = GoldSet((Query("q"),), Qrels.from_dict({"q": {"a": 1, "Title a": 2}}))
    with pytest.raises(BadInput, match="two results name the document 'a'"):
        with_corpus_ids(gold, Matcher(POOL.corpus))
