"""Parquet files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.errors import BadInput, MissingExtra, NothingToEvaluate
from tests.data.formats.conftest import Save

ids = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def parquet(folder: Path, **columns: list[Any]) -> Path:
    polars.DataFrame(columns).write_parquet(folder / "a.parquet")
    return folder / "a.parquet"


def test_columns_may_have_any_of_their_usual_names(tmp_path: Path) -> None:
    assert Qrels.read(parquet(tmp_path, qid=[1, 1], docno=["a", "b"], rel=[2, 0])).to_dict() == {"1": {"a": 2, "b": 0}}
    assert Run.read(parquet(tmp_path, query_id=["q"], doc_id=["d"], score=[0.5])).to_dict() == {"q": {"d": 0.5}}


def test_the_content_tells_the_format(tmp_path: Path) -> None:
    file = parquet(tmp_path, query_id=["q"], doc_id=["d"], grade=[1]).rename(tmp_path / "data")
    assert Qrels.read(file).to_dict() == {"q": {"d": 1}}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query_id": ["q"], "doc_id": ["d"]}, "no column for the grade"),
        (
            {"query_id": ["q"], "doc_id": ["d"], "grade": ["high"]},
            "query 'q', document 'd': grade 'high' is not a number",
        ),
        ({"query_id": ["q"], "doc_id": ["d"], "grade": [float("nan")]}, "is not a finite number"),
        ({"query_id": ["q"], "doc_id": [None], "grade": [1]}, "document id None is of type NoneType"),
        ({"query_id": ["q", "q"], "doc_id": ["d", "d"], "grade": [1, 1]}, "document 'd' stands twice for query 'q'"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, columns: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Qrels.read(parquet(tmp_path, **columns))


def test_no_rows_are_nothing_to_evaluate(tmp_path: Path) -> None:
    with pytest.raises(NothingToEvaluate):
        Qrels.read(parquet(tmp_path, query_id=[], doc_id=[], grade=[]))


def test_a_damaged_file_is_refused(save: Save, tmp_path: Path) -> None:
    whole = parquet(tmp_path, query_id=["q"], doc_id=["d"], grade=[1]).read_bytes()
    for content in (b"words", whole[:-9], whole[:20] + whole[-20:], b"PAR1PAR1"):
        with pytest.raises(BadInput, match="Parquet file"):
            Qrels.read(save("bad.parquet", content))


def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = parquet(tmp_path, query_id=["q"], doc_id=["d"], grade=[1])
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r'reading Parquet needs: pip install "rankproof\[columns\]"'):
        Qrels.read(file)
    with pytest.raises(MissingExtra, match="writing Parquet needs"):
        Qrels.from_dict({"q": {"d": 1}}).write(file)


@given(st.dictionaries(ids, st.dictionaries(ids, numbers, min_size=1), min_size=1))
def test_a_run_comes_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[str, float]]) -> None:
    file = tmp_path_factory.mktemp("parquet") / "a.parquet"
    Run.from_dict(data).write(file)
    assert Run.read(file).to_dict() == data


@given(st.dictionaries(ids, st.dictionaries(ids, st.integers(-9, 9) | st.floats(-9, 9), min_size=1), min_size=1))
def test_judgments_come_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[str, float]]) -> None:
    file = tmp_path_factory.mktemp("parquet") / "a.parquet"
    Qrels.from_dict(data).write(file)
    assert Qrels.read(file).to_dict() == data
