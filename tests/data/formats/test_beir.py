"""BEIR judgments and folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save
from tests.data.formats.test_tsv import docs, queries

HEADER = "query-id\tcorpus-id\tscore\n"
QUERIES = '{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two", "metadata": {"persona": "HR"}}\n'


def test_a_header_line_is_not_a_judgment(save: Save) -> None:
    assert Qrels.read(save("test.tsv", HEADER + "q1\td1\t1\nq1\td2\t0.5\n")).to_dict() == {"q1": {"d1": 1, "d2": 0.5}}


def test_lines_are_counted_from_the_top_of_the_file(save: Save) -> None:
    with pytest.raises(BadInput, match=r"test.tsv:4: grade 'x' is not a number"):
        Qrels.read(save("test.tsv", f"# made by hand\r\n{HEADER}q1\td1\t1\nq1\td2\tx\n"))
    with pytest.raises(BadInput, match=r"test.tsv:3: document 'd1' stands twice .*first on line 2"):
        Qrels.read(save("test.tsv", HEADER + "q1\td1\t1\nq1\td1\t1\n"))


def test_a_header_alone_is_nothing_to_evaluate(save: Save) -> None:
    with pytest.raises(NothingToEvaluate):
        Qrels.read(save("test.tsv", HEADER))


def test_a_missing_header_is_told(save: Save) -> None:
    with pytest.raises(BadInput, match=r"test.tsv:1: the first line is .*, not the header"):
        Qrels.read(save("test.tsv", "q1\td1\t1\n"), format="beir")


@pytest.mark.parametrize(
    ("splits", "chosen"),
    [(["test", "dev", "train"], "test"), (["dev", "train"], "dev"), (["train"], "train"), (["all"], "all")],
)
def test_the_test_split_comes_first_then_dev_then_train(
    save: Save, tmp_path: Path, splits: list[str], chosen: str
) -> None:
    for split in splits:
        save(f"set/qrels/{split}.tsv", f"{HEADER}q1\t{split}\t1\n")
    assert Qrels.read(tmp_path / "set").to_dict() == {"q1": {chosen: 1}}


def test_several_splits_of_other_names_are_not_chosen_from(save: Save, tmp_path: Path) -> None:
    for split in ("a", "b"):
        save(f"set/qrels/{split}.tsv", f"{HEADER}q1\td1\t1\n")
    with pytest.raises(BadInput, match=r"there is no test.tsv but a.tsv, b.tsv; name the file"):
        Qrels.read(tmp_path / "set")


def test_a_folder_holds_the_judged_queries_with_their_groups(save: Save, tmp_path: Path) -> None:
    save("set/queries.jsonl", QUERIES)
    save("set/qrels/test.tsv", HEADER + "q2\td1\t1\n")
    gold = GoldSet.read(tmp_path / "set")
    assert gold.queries == (Query("q2", "two", "HR"),)
    assert gold.qrels.to_dict() == {"q2": {"d1": 1}}


def test_a_folder_may_have_trec_judgments(save: Save, tmp_path: Path) -> None:
    save("set/queries.jsonl", QUERIES)
    save("set/qrels.txt", "q1 0 d1 1\n")
    assert GoldSet.read(tmp_path / "set").qrels.to_dict() == {"q1": {"d1": 1}}
    assert Qrels.read(tmp_path / "set").to_dict() == {"q1": {"d1": 1}}


def test_a_folder_without_judgments_has_all_its_queries(save: Save, tmp_path: Path) -> None:
    save("set/queries.jsonl", QUERIES)
    gold = GoldSet.read(tmp_path / "set")
    assert [query.id for query in gold.queries] == ["q1", "q2"]
    assert len(gold.qrels) == 0


def test_a_judged_query_must_have_a_text(save: Save, tmp_path: Path) -> None:
    save("set/queries.jsonl", QUERIES)
    save("set/qrels/test.tsv", HEADER + "q9\td1\t1\n")
    with pytest.raises(BadInput, match=r"query 'q9' is judged, but it is not in queries.jsonl"):
        GoldSet.read(tmp_path / "set")


def test_a_folder_has_the_corpus(save: Save, tmp_path: Path) -> None:
    save("set/corpus.jsonl", '{"_id": "d1", "title": "T", "text": "words", "metadata": {"year": 1999}}\n')
    assert Corpus.read(tmp_path / "set").documents == (Document("d1", "words", "T", {"year": 1999}),)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    for read in (Qrels.read, GoldSet.read):
        with pytest.raises(BadInput, match="no format fits the folder"):
            read(tmp_path)
        with pytest.raises(BadInput, match="there is no"):
            read(tmp_path, format="beir")
    with pytest.raises(BadInput, match=r"there is no corpus.jsonl in it"):
        Corpus.read(tmp_path, format="beir")


@given(st.dictionaries(queries, st.dictionaries(docs, st.floats(-9, 9), min_size=1), min_size=1))
def test_judgments_come_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[str, float]]) -> None:
    file = tmp_path_factory.mktemp("beir") / "test.tsv"
    Qrels.from_dict(data).write(file, format="beir")
    assert Qrels.read(file).to_dict() == data
