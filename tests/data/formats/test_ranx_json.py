"""ranx's JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.errors import BadInput, NothingToEvaluate
from tests.data.formats.conftest import Save

ids = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def test_a_query_is_an_object_of_documents(save: Save) -> None:
    file = save("a.json", '{"q1": {"d1": 1, "d 2": 0.5}, "q2": {"d1": 3}}')
    assert Run.read(file).to_dict() == {"q1": {"d1": 1.0, "d 2": 0.5}, "q2": {"d1": 3.0}}
    assert Qrels.read(file).to_dict() == {"q1": {"d1": 1.0, "d 2": 0.5}, "q2": {"d1": 3.0}}


def test_a_grade_of_null_is_no_judgment(save: Save) -> None:
    file = save("a.json", '{"q": {"a": null, "b": 1}}')
    assert Qrels.read(file).to_dict() == {"q": {"b": 1}}
    with pytest.raises(BadInput, match="query 'q', document 'a': score None is not a number"):
        Run.read(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q": {"d": 1}, "q": {"d": 2}}', "query 'q' stands twice; keep one of them"),
        ('{"q": {"d": 1, "d": 1}}', "document 'd' stands twice for query 'q'; keep one of them"),
        ('{"q": {"d": "1"}}', "query 'q', document 'd': score '1' is not a number"),
        ('{"q": {"d": true}}', "query 'q', document 'd': score true is not a number"),
        ('{"q": {"d": [1]}}', "query 'q', document 'd': score [1] is not a number"),
        ('{"q": {"d": {"x": 1}}}', "query 'q', document 'd': score {'x': 1} is not a number"),
        ('{"q": ["d"]}', "query 'q' holds list, not a dict of document to score"),
        ('{"q": {"d": NaN}}', "NaN is not a finite number"),
        ('{"q": {"d": -Infinity}}', "-Infinity is not a finite number"),
        ('{"q": {"d": 1e999}}', "1e999 is not a finite number"),
        ('["q"]', 'it holds [\'q\'], not {"query": {"document": score}}'),
        ('{"q": {"d": 1},\n}', ":2: invalid JSON at column 1"),
        ('{"q": {"\\ud800": 1}}', "\\ud800 is half a character"),
        ('{"q":' * 100_000, "nested too deeply"),
    ],
)
def test_what_has_no_one_meaning_is_refused(save: Save, content: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        Run.read(save("a.json", content))
    assert message in str(caught.value)


@pytest.mark.parametrize("content", ["{}", '{"q": {}}'])
def test_no_document_is_nothing_to_evaluate(save: Save, content: str) -> None:
    for read in (Qrels.read, Run.read):
        with pytest.raises(NothingToEvaluate):
            read(save("a.json", content))


def test_the_order_is_kept(tmp_path: Path) -> None:
    Run.from_dict({"z": {"b": 1.0, "a": 1.0}, "a": {"é": 0.5}}).write(tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text() == '{"z": {"b": 1.0, "a": 1.0}, "a": {"é": 0.5}}\n'


@given(st.dictionaries(ids, st.dictionaries(ids, numbers, min_size=1), min_size=1))
def test_a_run_comes_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[str, float]]) -> None:
    file = tmp_path_factory.mktemp("ranx") / "a.json"
    Run.from_dict(data).write(file)
    assert Run.read(file).to_dict() == data


@given(st.dictionaries(ids, st.dictionaries(ids, st.integers(-9, 9), min_size=1), min_size=1))
def test_judgments_come_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[str, int]]) -> None:
    file = tmp_path_factory.mktemp("ranx") / "a.json"
    Qrels.from_dict(data).write(file)
    assert Qrels.read(file).to_dict() == data
