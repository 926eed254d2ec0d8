"""Tab-separated judgments and queries."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save

cells = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=9)
docs = cells.filter(lambda cell: cell == cell.strip())
queries = docs.filter(lambda cell: cell[0] not in "#\ufeff")


def test_three_columns_are_judgments(save: Save) -> None:
    file = save("a.tsv", "# by hand\nq1\td1\t2\r\nq1\td2\t0\n\nq2\td1\t0.5\n")
    assert Qrels.read(file).to_dict() == {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 0.5}}


def test_an_id_may_have_spaces(save: Save) -> None:
    assert Qrels.read(save("a.tsv", "q 1\tScene 1.1\t1\n")).to_dict() == {"q 1": {"Scene 1.1": 1}}


def test_every_bad_line_is_told_with_its_number(save: Save) -> None:
    with pytest.raises(BadInput) as caught:
        Qrels.read(save("a.tsv", "q1\td1\t1\nq1\td2\tyes\nq1\td3\nq1\t\t1\nq2\td1\t1\nq2\td2\t1\n"))
    assert [(fault.line, fault.message) for fault in caught.value.faults] == [
        (2, "grade 'yes' is not a number"),
        (3, r"2 columns where 3 belong (query TAB document TAB grade): 'q1\td3'"),
        (4, r"an id is empty (query TAB document TAB grade): 'q1\t\t1'"),
    ]


def test_a_header_is_not_a_judgment(save: Save) -> None:
    with pytest.raises(BadInput, match=r"a.tsv:1: grade 'rel' is not a number"):
        Qrels.read(save("a.tsv", "qid\tdoc_id\trel\nq1\td1\t1\n"))


def test_a_judgment_that_stands_twice_is_refused_with_both_lines(save: Save) -> None:
    with pytest.raises(BadInput, match=r"a.tsv:3: document 'd1' stands twice for query 'q1' \(first on line 1\)"):
        Qrels.read(save("a.tsv", "q1\td1\t1\n#\nq1\td1\t1\n"))


def test_only_comments_are_nothing_to_evaluate(save: Save) -> None:
    with pytest.raises(NothingToEvaluate):
        Qrels.read(save("a.tsv", "# nothing\n"), format="tsv")
    with pytest.raises(NothingToEvaluate):
        GoldSet.read(save("a.tsv", "# nothing\n"), format="tsv-queries")


def test_two_columns_are_queries_without_judgments(save: Save) -> None:
    gold = GoldSet.read(save("queries.tsv", "q1\tapple tart\nq2\tbanana bread\n"))
    assert gold.queries == (Query("q1", "apple tart"), Query("q2", "banana bread"))
    assert len(gold.qrels) == 0


def test_every_bad_query_is_told_with_its_line(save: Save) -> None:
    file = save(
        "queries.tsv", b"qid\tquery\nq1\tapple\nq1\tpear\nq2\nq3\ta\tb\nq4\t\xff\nq5\tplum\nq6\tfig\nq7\tkiwi\n"
    )
    with pytest.raises(BadInput) as caught:
        GoldSet.read(file)
    assert [(fault.line, fault.message) for fault in caught.value.faults] == [
        (1, r"this is a header ('qid\tquery'), and these files have none; take the line out"),
        (3, "query 'q1' stands twice (first on line 2); keep one"),
        (4, "1 columns where an id and a text belong (query TAB text): 'q2'"),
        (5, r"3 columns where an id and a text belong (query TAB text): 'q3\ta\tb'"),
        (6, "byte 0xff is not valid UTF-8; save the file as UTF-8"),
    ]


@pytest.mark.parametrize("cell", ["", " q", "q ", "a\tb", "a\nb", "#1", "\ufeffq", "a\0"])
def test_a_query_that_would_be_read_as_something_else_is_not_written(tmp_path: Path, cell: str) -> None:
    with pytest.raises(BadInput, match="cannot be one column of a TSV file"):
        Qrels.from_dict({cell: {"d": 1}}).write(tmp_path / "a.tsv")


@given(st.dictionaries(queries, st.dictionaries(docs, st.floats(-9, 9), min_size=1), min_size=1))
def test_judgments_come_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[str, float]]) -> None:
    file = tmp_path_factory.mktemp("tsv") / "a.tsv"
    Qrels.from_dict(data).write(file)
    assert Qrels.read(file, format="tsv").to_dict() == data
