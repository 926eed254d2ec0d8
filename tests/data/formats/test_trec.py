"""TREC files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save

docs = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=9)
queries = docs.filter(lambda word: word[0] not in "#\ufeff")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_marks_comments_and_blank_lines_mean_nothing(save: Save, end: str, mark: str) -> None:
    lines = ["# a comment", "", "q1 0 d1 1", "q1\t0\td#2\t0", "  q2  0 d1 -1"]
    assert Qrels.read(save("a.qrels", mark + end.join(lines))).to_dict() == {
        "q1": {"d1": 1, "d#2": 0},
        "q2": {"d1": -1},
    }


def test_every_bad_line_is_told_with_its_number(save: Save) -> None:
    file = save("a.qrels", "q1 0 d1 1\nq1 0 d2 relevent\nq1 0 d3\nq1 0 d4 nan\nq1 0 d5 1 x\nq1 0 d6 2\nq1 0 d7 1\n")
    with pytest.raises(BadInput) as caught:
        Qrels.read(file)
    assert [(fault.line, fault.message) for fault in caught.value.faults] == [
        (2, "grade 'relevent' is not a number"),
        (3, "3 columns where 4 belong (query iteration document grade): 'q1 0 d3'"),
        (4, "grade 'nan' is not a finite number"),
        (5, "5 columns where 4 belong (query iteration document grade): 'q1 0 d5 1 x'"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"q1 0 d\0 1", "NUL byte"),
        (b"q1 0 d\xff 1", "byte 0xff is not valid UTF-8"),
        (b"q1 0 d 1e999", "grade '1e999' is not a finite number"),
    ],
)
def test_a_line_that_is_no_text_is_told(save: Save, line: bytes, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        Qrels.read(save("a.qrels", b"q1 0 d1 1\n" + line + b"\n"))
    assert caught.value.faults[0].line == 2
    assert message in caught.value.faults[0].message


def test_a_run_is_ranked_by_score_and_not_by_the_rank_column(save: Save) -> None:
    run = Run.read(save("a.run", "q1 Q0 d1 9 0.5 x\nq1 Q0 d2 1 0.25 x\n"))
    assert run.to_dict() == {"q1": {"d1": 0.5, "d2": 0.25}}


def test_only_comments_are_nothing_to_evaluate(save: Save) -> None:
    with pytest.raises(NothingToEvaluate):
        Qrels.read(save("a.qrels", "# nothing\n"), format="trec")


@pytest.mark.parametrize("word", ["", "two words", "a\tb", "#1", "\ufeffq"])
def test_a_query_that_would_be_read_as_something_else_is_not_written(tmp_path: Path, word: str) -> None:
    with pytest.raises(BadInput, match="cannot be one column of a TREC file"):
        Qrels.from_dict({word: {"d": 1}}).write(tmp_path / "a.qrels")


@given(st.dictionaries(queries, st.dictionaries(docs, st.floats(-9, 9), min_size=1), min_size=1))
def test_judgments_come_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[str, float]]) -> None:
    file = tmp_path_factory.mktemp("trec") / "a.qrels"
    Qrels.from_dict(data).write(file)
    assert Qrels.read(file, format="trec").to_dict() == data


@given(st.dictionaries(queries, st.dictionaries(docs, st.floats(-9, 9), min_size=1), min_size=1))
def test_a_run_comes_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[str, float]]) -> None:
    file = tmp_path_factory.mktemp("trec") / "a.run"
    Run.from_dict(data).write(file)
    assert Run.read(file, format="trec").to_dict() == data
