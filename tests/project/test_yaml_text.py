"""YAML, read strictly and with places."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.project.faults import BadProject
from rankproof.project.yaml_text import MAX_BYTES, parse_yaml, read_yaml, yaml_word


def fault(text: str) -> str:
    with pytest.raises(BadProject) as caught:
        parse_yaml(text, "f")
    return str(caught.value)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("true", True),
        ("~", None),
        ("", None),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("-3", -3),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("!!int 12", 12),
    ],
)
def test_a_plain_word_means_what_yaml_1_2_says(word: str, value: object) -> None:
    assert parse_yaml(f"a: {word}", "f").data == {"a": value}


def test_every_value_keeps_the_line_of_its_key() -> None:
    text = parse_yaml("\n# x\na: 1\nb:\n  c:\n    [1,\n     2]\n  d: {e: 5}\n", "f")
    assert text.data == {"a": 1, "b": {"c": [1, 2], "d": {"e": 5}}}
    assert {at: text.lines[at] for at in (("a",), ("b",), ("b", "c"), ("b", "c", 1), ("b", "d", "e"))} == {
        ("a",): 3,
        ("b",): 4,
        ("b", "c"): 5,
        ("b", "c", 1): 7,
        ("b", "d", "e"): 8,
    }
    assert text.line_of(("b", "c", 1, "deeper")) == 7


def test_a_key_is_a_text_whatever_it_looks_like() -> None:
    assert parse_yaml("1: a\nno: b\ntrue: c\n", "f").data == {"1": "a", "no": "b", "true": "c"}


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_mark_at_the_start_and_the_ends_of_lines_mean_nothing(start: str, end: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(f"{start}a: 1{end}b: 2{end}".encode())
    text = read_yaml(file)
    assert (text.data, text.lines["b",]) == ({"a": 1, "b": 2}, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: the file is empty"),
        ("# only a comment\n", "f: the file is empty"),
        ("a: 1\nb: 2\na: 3\n", "f:3: the key 'a' stands twice (first on line 1); keep one of them"),
        ("a: 1\n\tb: 3\n", "f:2: a tab stands where only spaces may; indent with spaces"),
        ("a:\n\t- 1\n", "f:2: a tab stands where only spaces may; indent with spaces"),
        ("a: 1\n---\nb: 2\n", "f:2: a second document begins here (`---`); one file holds one"),
        (
            "a: [1\nb: 2\n",
            "f:2: invalid YAML: while parsing a flow sequence, expected ',' or ']', but got ':'",
        ),
        ("a: *b\n", "f:1: invalid YAML: found undefined alias 'b'"),
        ("a: !!python/object:os.system x\n", "f:1: the tag !!python/object:os.system is not read; "
         "write the value without it"),
        ("a: 1\nb: !mine [1]\n", "f:2: the tag !mine is not read; write the value without it"),
        ("a: !!int yes\n", "f:1: the tag !!int is not read; write the value without it"),
        ("a: .inf\nb: .NaN\n", "f:1: .inf is not a finite number\nf:2: .NaN is not a finite number"),
        ("a: 1e999\n", "f:1: 1e999 is not a finite number"),
        ("[1]: a\n", "f:1: a key is a word, and here is something else"),
        ("a: &a [*a]\n", "f:1: an alias (`*name`) stands inside what it repeats"),
        ("a: \x07\n", "f:1: the character '\\x07' is not allowed in YAML"),
        ("<<: 3\n", "f:1: `<<` takes a mapping, or a list of mappings"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text: str, message: str) -> None:
    assert fault(text) == message


def test_all_faults_are_told_up_to_twenty() -> None:
    lines = fault("a: 1\n" + "a: 1\n" * 25).splitlines()
    assert lines[0] == "f:2: the key 'a' stands twice (first on line 1); keep one of them"
    assert (len(lines), lines[-1]) == (21, "… and 5 more")


@pytest.mark.parametrize("depth", [33, 5_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    assert "nested more than 32 deep" in fault("a: " + "[" * depth + "]" * depth)


def test_a_bomb_of_aliases_is_refused() -> None:
    rows = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    rows += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert "the file stands for more than 20,000 values; use fewer aliases" in fault("\n".join(rows))
    merged = ["a0: &a0 {x: 1}"] + [f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 10)}]}}" for i in range(1, 9)]
    assert "the file stands for more than 20,000 values" in fault("\n".join(merged))


def test_an_alias_and_a_merge_repeat_what_they_name() -> None:
    text = parse_yaml("base: &base {k1: 1, b: {c: 3}}\nown:\n  <<: *base\n  b: {d: 4}\nsame: *base\n", "f")
    assert text.data["own"] == {"b": {"d": 4}, "k1": 1}
    assert text.data["same"] == {"k1": 1, "b": {"c": 3}}
    assert ("own", "b", "c") not in text.lines
    assert text.lines["own", "b", "d"] == 4


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(BadProject, match=r"f.yaml:2: byte 0xff is not valid UTF-8; save the file as UTF-8"):
        read_yaml(file)


def test_a_huge_file_is_not_parsed(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(BadProject, match="no project file is that big"):
        read_yaml(file)


def test_a_file_that_is_not_there_is_the_fault_of_the_call(tmp_path: Path) -> None:
    with pytest.raises(BadProject, match="there is no such file") as caught:
        read_yaml(tmp_path / "none.yaml")
    assert caught.value.exit_code == 2


PIECES = ["a: ", "- ", "[", "]", "{", "}", "&a ", "*a", "\n", "  ", "<<: ", "!!x ", "'", '"', "|", ">", "\t", "#", "? "]


@given(st.text() | st.lists(st.sampled_from([*PIECES, "1", ",", "---\n", "%"])).map("".join))
def test_a_text_is_read_or_refused(text: str) -> None:
    with suppress(BadProject):
        parse_yaml(text, "f")


@given(st.text())
def test_a_text_written_as_a_word_is_read_as_the_same_text(text: str) -> None:
    found = parse_yaml(f"a: {yaml_word(text)}\nb: [{yaml_word(text)}]\n", "f").data
    assert found == {"a": text, "b": [text]}
