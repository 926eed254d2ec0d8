"""Any Python function as a retriever."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from rankproof.data.gold import Query
from rankproof.errors import UnknownName, UsageError
from rankproof.retrieval.answers import Answer
from rankproof.retrieval.stage import Place, RetrieverStage, stage_class
from rankproof.retrieval.stages.python import Python
from rankproof.testing import check_retriever
from tests.retrieval.texts import ask

_number = itertools.count()


def module(folder: Path, code: str) -> str:
    """A module of its own name in the folder."""
    name = f"search_{next(_number)}_{folder.name.replace('-', '_')}"
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return name


def answer(folder: Path, body: str, k: int = 3) -> Answer:
    name = module(folder, f"def search(text, k):\n    {body}\n")
    return ask(Python(call=f"{name}:search").open(Place(folder)), "wing", k)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return ['b', 'a']", [("b", 1.0), ("a", 0.5)]),
        ("return [7, 12]", [("7", 1.0), ("12", 0.5)]),
        ("return [('b', 3), ('a', 2.5)]", [("b", 3.0), ("a", 2.5)]),
        ("return [('b', 1.0), ('a', 1.0)]", [("b", 1.0), ("a", 1.0)]),
        ("return [['b', 3], ['a', -1]]", [("b", 3.0), ("a", -1.0)]),
        ("return [{'id': 'b', 'score': 3, 'title': 'B'}]", [("b", 3.0)]),
        ("return [{'doc_id': 'b'}, {'_id': 4}]", [("b", 1.0), ("4", 0.5)]),
        ("return ('b',)", [("b", 1.0)]),
        ("yield 'b'", [("b", 1.0)]),
        ("return []", []),
        ("return list('abcdef')", [("a", 1.0), ("b", 0.5), ("c", 1 / 3)]),
        ("return [text, str(k)]", [("wing", 1.0), ("3", 0.5)]),
        ("import numpy; return [(numpy.int64(5), numpy.float32(0.5))]", [("5", 0.5)]),
    ],
)
def test_what_a_function_may_return(tmp_path: Path, body: str, expected: list[tuple[str, float]]) -> None:
    found = answer(tmp_path, body)
    assert found.state == "measured"
    assert [tuple(hit) for hit in found.hits] == expected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return None", "it returned None (NoneType), not a list of results"),
        ("return 'a'", "it returned 'a' (str), not a list of results"),
        ("return {'a': 1.0}", "it returned {'a': 1.0} (dict), not a list of results"),
        ("return [None]", "result 1 is None (NoneType), not an id, a pair of id and score, or a dict with both"),
        ("return ['a', 1.5]", "result 2 is 1.5 (float), not an id, a pair of id and score, or a dict with both"),
        ("return [True]", "result 1 is True (bool), not an id, a pair of id and score, or a dict with both"),
        ("return [('a', 'high')]", "result 1 ('a') has the score 'high', which is no number"),
        ("return [('a', None)]", "result 1 is ('a', None) (tuple), a pair without a score"),
        ("return [('a', float('nan'))]", "result 1 ('a') has the score nan, which is no number"),
        ("return [{'name': 'a'}]", "result 1 is {'name': 'a'} (dict), and has none of the keys id, doc_id, _id"),
        ("return ['a', ('b', 1.0)]", "result 2 differs from the first: all have scores or none has"),
        ("return ['a', 'a']", "document 'a' was returned twice"),
        ("return ['']", "result 1 has the id '', which is no name of a document"),
        (
            "return [('a', 0.1), ('b', 0.2)]",
            "result 2 ('b') scores 0.2, more than the one before it with 0.1; return the best first, and distances "
            "with a minus sign",
        ),
    ],
)
def test_what_it_may_not_return_fails_the_query_with_what_came(tmp_path: Path, body: str, reason: str) -> None:
    found = answer(tmp_path, body)
    assert found.state == "not measured"
    assert found.reason.endswith(f":search: {reason}")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('no\\n  index')", "raised ValueError: no index"),
        ("raise KeyError", "raised KeyError"),
        ("yield 'a'; raise TimeoutError('too slow')", "raised TimeoutError: too slow"),
        ("return missing", "raised NameError: name 'missing' is not defined"),
    ],
)
def test_an_exception_fails_the_query_with_its_type_and_message(tmp_path: Path, body: str, reason: str) -> None:
    found = answer(tmp_path, body)
    assert (found.state, found.hits) == ("not measured", ())
    assert found.reason.endswith(f":search {reason}")


def test_one_query_that_fails_leaves_the_others_alone(tmp_path: Path) -> None:
    name = module(tmp_path, "def search(text, k):\n    return [{'good': 'a'}[text]]\n")
    retriever = Python(call=f"{name}:search").open(Place(tmp_path))
    bad, good = retriever.search([Query("1", "bad"), Query("2", "good")], 3)
    assert (bad.state, good.state) == ("not measured", "measured")


def test_modules_beside_it_are_found_when_it_is_imported_and_when_it_is_called(tmp_path: Path) -> None:
    near, late = module(tmp_path, "ID = 'near'\n"), module(tmp_path, "ID = 'late'\n")
    code = f"import {near}\ndef search(text, k):\n    import {late}\n    return [{near}.ID, {late}.ID]\n"
    before = list(sys.path)
    retriever = Python(call=f"{module(tmp_path, code)}:search").open(Place(tmp_path))
    assert [hit.doc_id for hit in ask(retriever, "x").hits] == ["near", "late"]
    assert sys.path == before


def test_a_method_of_an_object_can_be_called(tmp_path: Path) -> None:
    code = "class Engine:\n    def search(self, text, k):\n        return ['a']\nengine = Engine()\n"
    retriever = Python(call=f"{module(tmp_path, code)}:engine.search").open(Place(tmp_path))
    assert [hit.doc_id for hit in ask(retriever, "x").hits] == ["a"]


def test_the_time_of_each_call_is_noted(tmp_path: Path) -> None:
    seconds = answer(tmp_path, "return ['a']").seconds
    assert seconds is not None
    assert seconds >= 0


def test_what_cannot_be_called_is_told_before_any_query(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with pytest.raises(UsageError, match="cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"):
        Python(call="no_such_module:search").open(place)
    broken = module(tmp_path, "raise RuntimeError('no licence')\n")
    with pytest.raises(UsageError, match="cannot be imported: RuntimeError: no licence"):
        Python(call=f"{broken}:search").open(place)
    name = module(tmp_path, "def search(text, k): return []\nlimit = 3\n")
    with pytest.raises(UnknownName, match=r"no function in the module .* called 'serach'\. Did you mean 'search'"):
        Python(call=f"{name}:serach").open(place)
    with pytest.raises(UsageError, match=r"limit' is 3 \(int\), not a function"):
        Python(call=f"{name}:limit").open(place)


@pytest.mark.parametrize("call", ["search", "module:", ":search", "a b:c", "module.search()"])
def test_a_call_is_module_and_function(call: str) -> None:
    with pytest.raises(ValidationError):
        Python(call=call)


def test_other_code_is_another_behaviour(tmp_path: Path) -> None:
    name = module(tmp_path, "def search(text, k): return []\n")
    stage = Python(call=f"{name}:search")
    first = stage.behaviour(Place(tmp_path))
    assert stage.behaviour(Place(tmp_path)) == first
    (tmp_path / f"{name}.py").write_text("def search(text, k): return ['a']\n", encoding="utf-8")
    assert stage.behaviour(Place(tmp_path)) != first
    assert Python(call="sys:exit").behaviour(Place(tmp_path))["module"] is None


def test_it_is_volatile_and_leaves_the_corpus_to_the_function() -> None:
    assert Python.volatile
    assert not Python.reads_corpus


def test_it_is_found_by_its_name_and_keeps_the_promises_of_a_retriever(tmp_path: Path) -> None:
    assert stage_class("python", RetrieverStage) is Python
    name = module(tmp_path, "def search(text, k):\n    return sorted(set(text))[:k]\n")
    retriever = Python(call=f"{name}:search").open(Place(tmp_path))
    check_retriever(retriever, [Query(text, text) for text in ("wing", "a", "")], k=3)


def test_two_projects_may_have_modules_of_one_name(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two", "one"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "namesake.py").write_text(f"def search(text, k):\n    return [{name!r}]\n")
        retriever = Python(call="namesake:search").open(Place(folder))
        found.append(retriever)
    hits = [next(iter(one.search([Query("q", "x")], 1))).hits[0].doc_id for one in found]
    assert hits == ["one", "two", "one"]
