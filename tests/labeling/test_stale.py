"""What has become of the documents that were judged."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput
from rankproof.labeling.identity import fingerprint_of
from rankproof.labeling.stale import Checked, find_staleness, fix_moved, shingles

WIKI = Path(__file__).parents[3] / "shared" / "data" / "wiki"

FIRST = "A refund takes five days and is paid to the card that was charged in the first place."
SECOND = "Cards that have run out get no refund, so write to us and we send you a bank transfer instead."
OTHER = "An invoice is sent on the first day of each month to the address that is given in the account."


def corpus(**texts: str) -> Corpus:
    return Corpus(tuple(Document(doc_id, text, f"Title of {doc_id}") for doc_id, text in texts.items()))


def gold(*, prints: dict[str, str] | None = None, header: str = "", **grades: float) -> GoldSet:
    """Judgments of one query; the texts that were judged are given by their digests."""
    extra: dict[str, Any] = {doc: {"fingerprint": fingerprint_of(text)} for doc, text in (prints or {}).items()}
    if header:
        extra = {doc: {**extra.get(doc, {}), "contextualHeader": header} for doc in grades}
    meta = {"queries": {"q": {"results": extra}}} if extra else {}
    return GoldSet((Query("q", "what?"),), Qrels.from_dict({"q": grades}), meta=meta)


def check(of: GoldSet, new: Corpus, was: Corpus | None = None) -> Checked:
    (one,) = find_staleness(of, new, was=was).checked
    return one


def test_the_same_id_and_text_are_valid() -> None:
    found = check(gold(a=2, prints={"a": FIRST}), corpus(a=FIRST))
    assert (found.kind, found.query_ids, found.evidence) == ("valid", ("q",), "same id, same text")


def test_without_a_digest_only_the_id_can_be_checked() -> None:
    found = find_staleness(gold(a=2, b=1), corpus(a=FIRST))
    assert [(one.doc_id, one.kind) for one in found.checked] == [("a", "present"), ("b", "gone")]
    assert found.n_fingerprints == 0
    assert "no digest" in found.checked[0].evidence


def test_the_same_text_under_another_id_has_moved() -> None:
    found = check(gold(a=2, prints={"a": FIRST}), corpus(b=FIRST, c=OTHER))
    assert (found.kind, found.new_ids, found.evidence) == ("moved", ("b",), "the same text under 'b'")


def test_a_text_whose_id_was_given_to_another_has_moved() -> None:
    found = check(gold(a=2, prints={"a": FIRST}), corpus(a=OTHER, b=FIRST))
    assert (found.kind, found.new_ids) == ("moved", ("b",))
    assert found.evidence == "the same text under 'b'; under 'a' stands another text now"


def test_the_same_id_with_another_text_has_changed() -> None:
    found = check(gold(a=2, prints={"a": FIRST}), corpus(a=FIRST + " Since May."))
    assert found.kind == "changed"
    assert "takes the corpus that was judged (--was)" in found.evidence


def test_with_the_old_corpus_it_is_said_how_much_changed() -> None:
    # Eighteen words make fourteen rows of five; three more words make three more.
    found = check(gold(a=2), corpus(a=FIRST + " Since last May."), corpus(a=FIRST))
    assert found.kind == "changed"
    assert found.evidence == "100% of the judged text is still there, 18% of the present text is new"


def test_a_text_that_was_cut_in_two_is_split() -> None:
    found = check(gold(a=2), corpus(a1=FIRST, a2=SECOND, x=OTHER), corpus(a=f"{FIRST}\n\n{SECOND}"))
    assert found.kind == "split"
    assert sorted(piece.doc_id for piece in found.pieces) == ["a1", "a2"]
    assert [piece.of_piece for piece in found.pieces] == [1.0, 1.0]
    assert sum(piece.share for piece in found.pieces) > 0.8


def test_texts_that_became_one_are_merged() -> None:
    old, new = corpus(a=FIRST, b=SECOND), corpus(ab=f"{FIRST}\n{SECOND}", x=OTHER)
    found = find_staleness(gold(a=2, b=1), new, was=old)
    assert [(one.doc_id, one.kind) for one in found.checked] == [("a", "merged"), ("b", "merged")]
    piece = found.checked[0].pieces[0]
    assert (piece.doc_id, piece.share) == ("ab", 1.0)
    assert 0.3 < piece.of_piece < 0.6


def test_nearly_the_same_text_under_another_id_has_changed_and_its_place_is_told() -> None:
    found = check(gold(a=2), corpus(b=FIRST + " Since May."), corpus(a=FIRST))
    assert (found.kind, found.new_ids) == ("changed", ())
    assert found.evidence.startswith("'b' has 100% of the text and little else")


def test_what_is_gone_is_told_with_the_nearest_ids_and_titles() -> None:
    found = check(gold(refunds=2, header="Title of refunding"), corpus(refund=OTHER, invoice=SECOND))
    assert (found.kind, found.evidence, found.nearest_ids) == ("gone", "no such id", ("refund",))
    assert found.nearest_titles[0] == ("refund", "Title of refund")


def test_a_text_that_is_nowhere_is_gone() -> None:
    found = check(gold(a=2), corpus(b=OTHER), corpus(a=FIRST))
    assert (found.kind, found.evidence) == ("gone", "no such id, and its text is nowhere")


@pytest.mark.parametrize(
    ("text", "docs", "kind", "evidence"),
    [
        (FIRST, {"a": FIRST}, "valid", "same header, same text: 'a'"),
        (None, {"a": FIRST}, "present", "'a' has this header; no digest is kept"),
        (SECOND, {"a": FIRST}, "changed", "'a' has this header, and another text"),
        (None, {"a": FIRST, "b": SECOND}, "gone", "2 documents have this header; give the label the id"),
        (SECOND, {"a": FIRST, "b": SECOND}, "valid", "same header, same text: 'b'"),
    ],
)
def test_a_label_without_an_id_is_known_by_its_header(
    text: str | None, docs: dict[str, str], kind: str, evidence: str
) -> None:
    told = {"contextualHeader": "Law", **({} if text is None else {"fingerprint": fingerprint_of(text)})}
    of = GoldSet((Query("q"),), Qrels.from_dict({"q": {"Law": 2}}), meta={"queries": {"q": {"results": {"Law": told}}}})
    found = check(of, Corpus(tuple(Document(doc_id, body, "Law") for doc_id, body in docs.items())))
    assert found.kind == kind
    assert found.evidence.startswith(evidence)


def test_one_document_judged_with_two_texts_is_refused() -> None:
    of = GoldSet(
        (Query("q1"), Query("q2")),
        Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}}),
        meta={
            "queries": {
                "q1": {"results": {"a": {"fingerprint": fingerprint_of(FIRST)}}},
                "q2": {"results": {"a": {"fingerprint": fingerprint_of(SECOND)}}},
            }
        },
    )
    with pytest.raises(BadInput, match="'a' was judged with 2 different texts"):
        find_staleness(of, corpus(a=FIRST))


def test_shingles_are_rows_of_five_words_whatever_their_case_and_spacing() -> None:
    assert len(shingles("one two three four five six")) == 2
    assert shingles("One,  two\nTHREE four five six!") == shingles("one two three four five six")
    assert shingles("two words") == frozenset()
    assert len(shingles("two words", 1)) == 2


def test_how_much_of_a_few_words_changed_is_told_as_well() -> None:
    # Three words are one row of three; the new text has four.
    found = check(gold(a=2), corpus(a="Cancel any time, says the contract."), corpus(a="Cancel any time"))
    assert found.evidence == "100% of the judged text is still there, 75% of the present text is new"


def test_a_few_words_are_not_looked_for_in_other_documents() -> None:
    found = check(gold(a=2), corpus(b="Cancel any time, says the contract."), corpus(a="Cancel any time"))
    assert (found.kind, found.pieces) == ("gone", ())


# Moving judgments to where their texts are.


def test_fixed_is_what_moved_and_nothing_else(tmp_path: Path) -> None:
    of = gold(a=2, b=1, c=0, prints={"a": FIRST, "b": SECOND, "c": OTHER})
    found = find_staleness(of, corpus(new=FIRST, b=SECOND))
    fixed = fix_moved(of, found)
    assert fixed.moved == (("a", "new"),)
    assert fixed.gold.qrels.to_dict() == {"q": {"new": 2, "b": 1, "c": 0}}
    fixed.gold.write(tmp_path / "fixed.json")
    again = find_staleness(GoldSet.read(tmp_path / "fixed.json"), corpus(new=FIRST, b=SECOND))
    assert {one.doc_id: one.kind for one in again.checked} == {"new": "valid", "b": "valid", "c": "gone"}
    assert of.qrels.to_dict() == {"q": {"a": 2, "b": 1, "c": 0}}


def test_copies_are_not_guessed() -> None:
    of = gold(a=2, prints={"a": FIRST})
    fixed = fix_moved(of, find_staleness(of, corpus(x=FIRST, y=FIRST)))
    assert fixed.moved == ()
    assert fixed.not_moved == (("a", "2 documents have its text ('x', 'y'); say which one is meant"),)
    assert fixed.gold.qrels.to_dict() == {"q": {"a": 2}}


def test_a_document_judged_under_both_ids_keeps_one_judgment_if_both_agree() -> None:
    prints = {"a": FIRST, "new": FIRST}
    same, other = gold(a=2, new=2, prints=prints), gold(a=2, new=0, prints=prints)
    assert fix_moved(same, find_staleness(same, corpus(new=FIRST))).gold.qrels.to_dict() == {"q": {"new": 2}}
    fixed = fix_moved(other, find_staleness(other, corpus(new=FIRST)))
    assert fixed.gold.qrels.to_dict() == {"q": {"a": 2, "new": 0}}
    assert "judged twice, 'a' with 2 and 'new' with 0" in fixed.not_moved[0][1]


def test_two_documents_that_became_one_keep_their_ids() -> None:
    of = gold(a=2, b=0, prints={"a": FIRST, "b": FIRST})
    fixed = fix_moved(of, find_staleness(of, corpus(new=FIRST)))
    assert (fixed.moved, [doc for doc, _ in fixed.not_moved]) == ((("a", "new"),), ["b"])
    assert fixed.gold.qrels.to_dict() == {"q": {"new": 2, "b": 0}}


# On a real wiki.


@pytest.mark.skipif(not WIKI.exists(), reason="needs ../shared/data/wiki")
def test_three_ideal_pages_of_the_published_gold_set_no_longer_exist() -> None:
    with open(WIKI / "published-ranks.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    queries = tuple(Query(row["query"], row["query"], row["category"]) for row in rows)
    of = GoldSet(queries, Qrels.from_dict({row["query"]: {row["ideal_page"]: 1} for row in rows}))
    found = find_staleness(of, Corpus.read(WIKI / "pages"))
    assert [one.doc_id for one in found.stale] == ["DockerSetup", "JspwikiDeployment", "TestDrivenDevelopmentGuide"]
    assert {one.kind for one in found.stale} == {"gone"}
    assert found.stale[2].nearest_ids[0] == "TestDrivenDevelopment"


@pytest.mark.skipif(not WIKI.exists(), reason="needs ../shared/data/wiki")
def test_pages_that_are_renamed_and_cut_up_are_found_again() -> None:
    pages = Corpus.read(WIKI / "pages")
    of = GoldSet.read(WIKI / "gold.csv")
    judged = sorted({doc for row in of.qrels.to_dict().values() for doc in row})
    renamed, cut, edited = judged[0], judged[1], judged[2]
    documents = []
    for page in pages:
        if page.id == renamed:
            documents.append(Document(f"{page.id}-2", page.text, page.title))
        elif page.id == cut:
            half = len(page.text) // 2
            documents += [
                Document(f"{page.id}-{i}", part) for i, part in enumerate((page.text[:half], page.text[half:]))
            ]
        elif page.id == edited:
            documents.append(Document(page.id, page.text + "\nOne more line at the end.", page.title))
        else:
            documents.append(page)
    found = {one.doc_id: one for one in find_staleness(of, Corpus(tuple(documents)), was=pages).checked}
    assert (found[renamed].kind, found[renamed].new_ids) == ("moved", (f"{renamed}-2",))
    assert found[cut].kind == "split"
    assert {piece.doc_id for piece in found[cut].pieces} == {f"{cut}-0", f"{cut}-1"}
    assert found[edited].kind == "changed"
    assert found[edited].evidence.startswith("100% of the judged text is still there")
    assert {found[doc].kind for doc in judged[3:]} == {"valid"}
