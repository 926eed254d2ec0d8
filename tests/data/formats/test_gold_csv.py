"""Gold sets in CSV."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save

HEADER = "query,ideal_page,category\n"
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('",#\r\n'), min_size=1, max_size=9)
cells = texts.map(str.strip).filter(lambda cell: cell and cell[0] != "\ufeff")


def faults_of(file: Path) -> list[tuple[int | None, str]]:
    with pytest.raises(BadInput) as caught:
        GoldSet.read(file)
    return [(fault.line, fault.message) for fault in caught.value.faults]


def test_a_query_is_called_by_its_text(save: Save) -> None:
    gold = GoldSet.read(save("gold.csv", f"# curate me\n{HEADER}how to deploy,Deploying,indirect\n"))
    assert gold.queries == (Query("how to deploy", "how to deploy", "indirect"),)
    assert gold.qrels.to_dict() == {"how to deploy": {"Deploying": 1}}


def test_several_rows_of_one_query_add_up(save: Save) -> None:
    file = save("gold.csv", HEADER + "q,A,\nr,A,\nq,B,easy\n")
    assert Qrels.read(file).to_dict() == {"q": {"A": 1, "B": 1}, "r": {"A": 1}}
    assert GoldSet.read(file).queries == (Query("q", "q", "easy"), Query("r", "r"))


def test_a_sole_column_of_notes_is_the_category(save: Save) -> None:
    assert GoldSet.read(save("gold.csv", "query,ideal_page,notes\nq,A,hard\n")).queries == (Query("q", "q", "hard"),)


def test_notes_beside_a_category_are_notes(save: Save) -> None:
    file = save("gold.csv", "query,ideal_page,category,notes\nq,A,hard,ask Bo\n")
    assert GoldSet.read(file).queries == (Query("q", "q", "hard", "ask Bo"),)


@pytest.mark.parametrize("name", ["id", "query_id"])
def test_ids_and_grades_may_have_columns(save: Save, name: str) -> None:
    gold = GoldSet.read(save("gold.csv", f"{name},query,ideal_page,grade\n7,what is it,A,2\n7,,B,0.5\n"))
    assert gold.queries == (Query("7", "what is it"),)
    assert gold.qrels.to_dict() == {"7": {"A": 2, "B": 0.5}}


def test_quoted_cells_hold_commas_quotes_and_line_ends(save: Save) -> None:
    file = save("gold.csv", HEADER + '"a, ""b""\n# c",A,x\n\n# comment\nd,B,y\n')
    assert [query.id for query in GoldSet.read(file).queries] == ['a, "b"\n# c', "d"]


def test_every_bad_row_is_told_with_its_line(save: Save) -> None:
    file = save("gold.csv", 'query,ideal_page,grade\n"a\nb",A\nq,A,high\n,A,1\nq,,1\nq,A,1\n"q"x,B,1\n"open,B,1\n')
    assert faults_of(file) == [
        (2, r"2 columns where the header has 3: 'a\nb,A'"),
        (4, "grade 'high' is not a number"),
        (5, "the query is empty: ',A,1'"),
        (6, "the ideal_page is empty: 'q,,1'"),
        (8, "the row cannot be taken apart (',' expected after '\"'); look at its quotes"),
        (9, "the row cannot be taken apart (unexpected end of data); look at its quotes"),
    ]


def test_a_page_that_stands_twice_for_one_query_is_refused_with_its_lines(save: Save) -> None:
    assert faults_of(save("gold.csv", f"# c\n{HEADER}q,A,x\nr,A,x\nq,A,x\n")) == [
        (5, "document 'A' stands twice for query 'q' (first on line 3), both times with 1; keep one of them")
    ]


def test_rows_of_one_query_must_not_contradict_each_other(save: Save) -> None:
    assert faults_of(save("gold.csv", "id,query,ideal_page,category\n1,a,A,x\n1,b,B,y\n")) == [
        (3, "query '1' has the text 'b' here and 'a' above; make them one"),
        (3, "query '1' has the group 'y' here and 'x' above; make them one"),
    ]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("question,page", "the header is 'question,page'; it needs query and ideal_page"),
        ("query,ideal_page,grades", "the header has 'grades'. Did you mean 'grade'?"),
        ("query,ideal_page,query", "the header has two columns 'query'; keep one of them"),
        ('"query', "the header cannot be taken apart (unexpected end of data)"),
    ],
)
def test_a_header_that_leaves_a_doubt_is_refused(save: Save, header: str, message: str) -> None:
    assert faults_of(save("gold.csv", f"{header}\nq,A,1\n")) == [(1, message)]


def test_other_columns_are_left_alone(save: Save) -> None:
    assert len(GoldSet.read(save("gold.csv", "query,ideal_page,author\nq,A,Bo\n"))) == 1


def test_a_header_alone_is_nothing_to_evaluate(save: Save) -> None:
    with pytest.raises(NothingToEvaluate):
        GoldSet.read(save("gold.csv", HEADER))


def test_a_line_that_is_no_text_is_told(save: Save) -> None:
    assert faults_of(save("gold.csv", HEADER.encode() + b"q,\xff,x\nq,A\0,x\n")) == [
        (2, "byte 0xff is not valid UTF-8; save the file as UTF-8"),
        (3, "the line has a NUL byte; is this a binary or a UTF-16 file?"),
    ]


def test_columns_are_written_where_they_say_something(tmp_path: Path) -> None:
    GoldSet((Query("q", "q", "x"),), Qrels.from_dict({"q": {"A": 1}})).write(tmp_path / "gold.csv")
    assert (tmp_path / "gold.csv").read_bytes() == b"query,ideal_page,category\nq,A,x\n"
    GoldSet((Query("1", "#a, b", None, "n"),), Qrels.from_dict({"1": {"A": 2}})).write(tmp_path / "gold.csv")
    assert (tmp_path / "gold.csv").read_text() == 'query_id,query,ideal_page,category,notes,grade\n1,"#a, b",A,,n,2\n'


@pytest.mark.parametrize(
    ("query", "grades", "message"),
    [
        (Query("q", "q"), {}, "query 'q' has no judgment"),
        (Query("q", "q", no_answer=True), {"q": {"A": 1}}, "marked as having no answer"),
        (Query("q", "q"), {"q": {" A": 1}}, "white space at its ends"),
        (Query("q", "q"), {"q": {"A": 1}, "r": {"A": 1}}, "query 'r' is judged, but it is not among the queries"),
    ],
)
def test_what_csv_cannot_say_is_not_written(
    tmp_path: Path, query: Query, grades: dict[str, dict[str, int]], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        GoldSet((query,), Qrels.from_dict(grades)).write(tmp_path / "gold.csv")


@given(
    st.lists(
        st.builds(Query, cells, cells, st.none() | cells, st.just("") | cells), min_size=1, unique_by=lambda q: q.id
    ),
    st.dictionaries(cells, st.integers(0, 3) | st.floats(0, 3), min_size=1),
)
def test_a_gold_set_comes_back(
    tmp_path_factory: pytest.TempPathFactory, queries: list[Query], grades: dict[str, float]
) -> None:
    file = tmp_path_factory.mktemp("csv") / "gold.csv"
    gold = GoldSet(tuple(queries), Qrels.from_dict({query.id: grades for query in queries}))
    gold.write(file)
    again = GoldSet.read(file)
    assert again.queries == gold.queries
    assert again.qrels.to_dict() == gold.qrels.to_dict()
