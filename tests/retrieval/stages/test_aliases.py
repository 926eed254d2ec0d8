"""Aliases: several names of one thing made into one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rankproof.errors import BadInput, UsageError
from rankproof.retrieval.stage import Place, TextStage, stage_class
from rankproof.retrieval.stages.aliases import Aliases

HERE = Place(Path("."))


def rewritten(text: str, **aliases: str) -> str:
    return Aliases(map={alias.replace("_", " "): name for alias, name in aliases.items()}).open(HERE)(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k8s", "kubernetes"),
        ("Run K8S, then k8s.", "Run kubernetes, then kubernetes."),
        ("k8sx xk8s k8s_1", "k8sx xk8s k8s_1"),
        ("nothing", "nothing"),
        ("", ""),
    ],
)
def test_whole_words_are_replaced_whatever_their_case(text: str, expected: str) -> None:
    assert rewritten(text, k8s="kubernetes") == expected


def test_the_longest_alias_is_taken() -> None:
    aliases = {"new": "N", "new_york": "NY", "new_york_city": "NYC"}
    assert rewritten("New York City, new york, new", **aliases) == "NYC, NY, N"
    assert rewritten("new york cityscape", **aliases) == "NY cityscape"


def test_any_white_space_may_stand_between_the_words_of_an_alias() -> None:
    assert rewritten("new\n  york", new_york="NY") == "NY"


def test_signs_may_be_part_of_an_alias() -> None:
    rewrite = Aliases(map={"c++": "cpp", ".net": "dotnet", "§": "paragraph"}).open(HERE)
    assert rewrite("C++ and .NET, asp.net, c++11, 3 §.") == "cpp and dotnet, asp.net, c++11, 3 paragraph."


def test_what_was_put_in_is_not_looked_at_again() -> None:
    assert rewritten("sql", sql="sql database") == "sql database"
    assert rewritten("ny york", ny="new york", york="jorvik") == "new york jorvik"


def test_the_same_letters_in_another_form_are_the_same_name() -> None:
    assert rewritten("cafe\u0301 CAF\u00c9", café="coffee") == "coffee coffee"
    assert rewritten("cafe\u0301", cafe="x") == "caf\u00e9"


def test_marks_belong_to_words() -> None:
    assert rewritten("हिन्दी", हिन="x") == "हिन्दी"
    assert rewritten("हिन्दी!", हिन्दी="hindi") == "hindi!"


def test_chains_are_followed_to_their_end() -> None:
    assert rewritten("a b c d", a="b", b="C", c="d") == "d d d d"


@pytest.mark.parametrize(
    ("aliases", "cycle"),
    [
        ({"a": "B", "b": "c", "c": "A"}, "a → b → c → a"),
        ({"x": "a", "a": "b", "b": "a"}, "a → b → a"),
        ({"a": "a"}, "a → a"),
    ],
)
def test_a_cycle_is_printed(aliases: dict[str, str], cycle: str) -> None:
    with pytest.raises(UsageError) as caught:
        Aliases(map=aliases).open(HERE)
    assert str(caught.value) == f"aliases: map: the aliases lead in a circle: {cycle}"


def test_every_cycle_of_a_file_is_told_once_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "names.yaml").write_text("one: two\ntwo: one\nx: one\na: b\nb: a\n", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        Aliases(path="names.yaml").open(Place(tmp_path))
    assert str(caught.value).splitlines() == [
        "names.yaml:1: the aliases lead in a circle: one → two → one",
        "names.yaml:4: the aliases lead in a circle: a → b → a",
    ]


def test_an_alias_may_say_how_a_name_is_written() -> None:
    assert rewritten("nyc big_apple", nyc="NYC") == "NYC big_apple"
    assert rewritten("the apple", apple="nyc", nyc="NYC") == "the NYC"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.yaml", "# names\nk8s: kubernetes\nno: norway\n2018: last year\n"),
        ("names.yml", "{k8s: kubernetes, no: norway, 2018: last year}"),
        ("names.json", '{"k8s": "kubernetes", "no": "norway", "2018": "last year"}'),
        ("names.tsv", "# names\nk8s\tkubernetes\r\nno\tnorway\n\n2018\tlast year"),
    ],
)
def test_aliases_are_read_from_files(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    stage = Aliases(path=name)
    assert stage.open(Place(tmp_path))("no K8s in 2018") == "norway kubernetes in last year"
    inline = Aliases(map={"2018": "last year", "no": "norway", "k8s": "kubernetes"})
    assert stage.behaviour(Place(tmp_path)) == inline.behaviour(HERE)


def test_another_content_of_the_file_is_another_behaviour_and_a_comment_is_not(tmp_path: Path) -> None:
    file = tmp_path / "names.yaml"
    digests = []
    for content in ("a: b\n", "# new\na: b\n", "a: c\n"):
        file.write_text(content, encoding="utf-8")
        digests.append(Aliases(path="names.yaml").behaviour(Place(tmp_path)))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("n.yaml", "a: b\nA: c\n", "n.yaml:2: the alias 'A' stands twice, for 'b' and 'c'"),
        ("n.yaml", "a: b\na: b\n", "n.yaml:2: the alias 'a' stands twice, for 'b' and 'b'"),
        ("n.yaml", "a:\n", "n.yaml:1: 'a' → '': an alias and its canonical name are texts"),
        ("n.yaml", "a: [b]\n", "n.yaml:1: 'a' → None: an alias and its canonical name are texts"),
        ("n.yaml", "- a\n", "n.yaml:1: aliases are written `alias: canonical name`, one to a line"),
        ("n.yaml", "a: 'b\n", "n.yaml:2: invalid YAML: found unexpected end of stream"),
        ("n.json", '{"a": 1}', "n.json: 'a' → 1: an alias and its canonical name are texts"),
        ("n.json", '{"a": {"b": "c"}}', "n.json: 'a' → [('b', 'c')]: an alias and its canonical name are texts"),
        ("n.json", '{"a": "b", "a": "c"}', "n.json: the alias 'a' stands twice, for 'b' and 'c'"),
        ("n.json", '["a"]', 'n.json: aliases are written {"alias": "canonical name", …}'),
        ("n.json", "{", "n.json:1: invalid JSON at column 2: Expecting property name enclosed in double quotes"),
        ("n.tsv", "a b\n", "n.tsv:1: 1 columns where 2 belong (alias TAB canonical name): 'a b'"),
        ("n.tsv", "a\t\n", "n.tsv:1: 'a' → '': an alias and its canonical name are texts"),
    ],
)
def test_a_bad_file_is_refused_with_file_and_line(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        Aliases(path=name).open(Place(tmp_path))
    assert str(caught.value) == message


def test_a_file_that_is_not_there_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        Aliases(path="none.yaml").open(Place(tmp_path))
    (tmp_path / "names.xml").write_text("<a/>", encoding="utf-8")
    with pytest.raises(UsageError, match=r"aliases are read from \.yaml"):
        Aliases(path="names.xml").open(Place(tmp_path))


@pytest.mark.parametrize("options", [{}, {"map": {"a": "b"}, "path": "x.yaml"}, {"map": {"a": 1}}])
def test_either_map_or_path_is_given(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Aliases.model_validate(options)


def test_an_empty_map_changes_nothing() -> None:
    assert rewritten("as it was") == "as it was"


def test_it_is_found_by_its_name() -> None:
    assert stage_class("aliases", TextStage) is Aliases


@settings(deadline=None)
@given(st.text())
def test_text_without_an_alias_stays_but_for_its_unicode_form(text: str) -> None:
    import unicodedata

    rewrite = Aliases(map={"\U0001f600 no such \U0001f600": "x"}).open(HERE)
    assert rewrite(text) == unicodedata.normalize("NFC", text)


@settings(deadline=None)
@given(st.text(alphabet="abAB .-_é"))
def test_applied_to_its_own_result_nothing_changes_if_no_name_is_an_alias(text: str) -> None:
    rewrite = Aliases(map={"a": "zz", "a b": "yy", "é": "xx"}).open(HERE)
    assert rewrite(rewrite(text)) == rewrite(text)
