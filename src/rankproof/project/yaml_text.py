"""YAML that is read strictly: every key once, no value that only looks like another, and every place remembered.

Plain words mean what YAML 1.2 says: `no`, `on` and `12:30` are texts, `1e-3` is a number. Tags are not read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from rankproof.data.faults import Faults
from rankproof.data.files import BOM, PathLike, read_bytes, source_name
from rankproof.data.lines import decode_text
from rankproof.errors import BadInput, nearest
from rankproof.project.faults import BadProject, refuse_any

MAX_DEPTH = 32
MAX_VALUES = 20_000
"""How many values a file may hold, those that aliases repeat included."""
MAX_BYTES = 1 << 20

Place = tuple[str | int, ...]
"""Keys and positions that lead to a value, outermost first."""

_TAG = "tag:yaml.org,2002:"
_SCALARS = {
    f"{_TAG}null": re.compile(r"(?:null|Null|NULL|~|)\Z"),
    f"{_TAG}bool": re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
    f"{_TAG}int": re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"),
    f"{_TAG}float": re.compile(
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
    ),
    f"{_TAG}merge": re.compile(r"<<\Z"),
}


@dataclass(frozen=True)
class YamlText:
    """What a YAML file holds, and on which line each value stands."""

    source: str
    data: Any
    lines: Mapping[Place, int] = field(default_factory=dict)

    def line_of(self, place: Place) -> int | None:
        """The line of a value, or of the nearest thing around it that has a line."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place)


def read_yaml(path: PathLike) -> YamlText:
    """The content of a YAML file, `-` being standard input."""
    source = source_name(path)
    try:
        data = read_bytes(path)
        if len(data) > MAX_BYTES:
            raise BadProject.of(source, f"the file has {len(data):,} bytes; no project file is that big")
        text = decode_text(data, source)
    except BadInput as exc:
        raise BadProject(exc.faults, more=exc.more) from exc
    return parse_yaml(text, source)


def parse_yaml(text: str, source: str) -> YamlText:
    """The content of a YAML text; raises BadProject with everything that is wrong with it."""
    text = text.removeprefix(BOM.decode())
    root = _composed(text, source)
    if root is None:
        raise BadProject.of(source, "the file is empty")
    reader = _Reader(source)
    data = reader.value(root, (), root.start_mark.line + 1)
    refuse_any(reader.faults)
    return YamlText(source, data, reader.lines)


def _composed(text: str, source: str) -> Any:
    try:
        loader = yaml.SafeLoader(text)
        # Only these decide what a plain word is; the ones of YAML 1.1 would make a truth value of `no`.
        loader.yaml_implicit_resolvers = {None: list(_SCALARS.items())}
        try:
            return loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        raise BadProject.of(source, _problem(exc, text), mark.line + 1 if mark else None) from exc
    except yaml.reader.ReaderError as exc:
        line = text.count("\n", 0, exc.position) + 1
        raise BadProject.of(source, f"the character {chr(int(exc.character))!r} is not allowed in YAML", line) from exc
    except RecursionError as exc:
        raise BadProject.of(source, f"the YAML is nested more than {MAX_DEPTH} deep") from exc


def _problem(exc: yaml.MarkedYAMLError, text: str) -> str:
    problem, context = exc.problem or "", exc.context or ""
    if "'\\t'" in problem:
        return "a tab stands where only spaces may; indent with spaces"
    if "another document" in problem or "single document" in context:
        return "a second document begins here (`---`); one file holds one"
    if mark := exc.problem_mark:
        lines = text.splitlines()
        before = lines[mark.line][: mark.column] if mark.line < len(lines) else ""
        if before and not before.strip(" \t") and "\t" in before:
            return "a tab stands where only spaces may; indent with spaces"
    return f"invalid YAML: {', '.join(part for part in (context, problem) if part)}"


class _Reader:
    """Makes plain data of nodes and notes where each stands."""

    def __init__(self, source: str) -> None:
        self.faults = Faults(source)
        self.lines: dict[Place, int] = {}
        self._n = 0
        self._open: list[Any] = []

    def value(self, node: Any, place: Place, line: int) -> Any:
        """The plain value of a node; `line` is that of the key before it, or its own."""
        self._refuse_too_much(node, line)
        self.lines.setdefault(place, line)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        self._open.append(node)
        try:
            if isinstance(node, yaml.SequenceNode):
                self._plain_tag(node, "seq")
                return [self.value(item, (*place, i), item.start_mark.line + 1) for i, item in enumerate(node.value)]
            self._plain_tag(node, "map")
            return self._mapping(node, place)
        finally:
            self._open.pop()

    def _refuse_too_much(self, node: Any, line: int) -> None:
        self._n += 1
        source = self.faults.source
        if any(node is outer for outer in self._open):
            raise BadProject.of(source, "an alias (`*name`) stands inside what it repeats", line)
        if len(self._open) >= MAX_DEPTH:
            raise BadProject.of(source, f"the YAML is nested more than {MAX_DEPTH} deep", line)
        if self._n > MAX_VALUES:
            way_out = "use fewer aliases (`*name`)"
            raise BadProject.of(source, f"the file stands for more than {MAX_VALUES:,} values; {way_out}", line)

    def _mapping(self, node: Any, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: list[Any] = []
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == f"{_TAG}merge":
                merged.append((value_node, line))
                continue
            key = self._key(key_node, line)
            if key is None:
                continue
            if key in first:
                self.faults.add(f"the key {key!r} stands twice (first on line {first[key]}); keep one of them", line)
                continue
            first[key] = line
            found[key] = self.value(value_node, (*place, key), line)
        for value_node, line in merged:
            self._merge(found, value_node, place, line)
        return found

    def _merge(self, found: dict[str, Any], node: Any, place: Place, line: int) -> None:
        """`<<: *name` adds what is not there; what stands in the mapping itself counts."""
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for part in parts:
            if not isinstance(part, yaml.MappingNode):
                self.faults.add("`<<` takes a mapping, or a list of mappings", line)
                continue
            self._refuse_too_much(part, line)
            outer, self.lines = self.lines, {}
            self._open.append(part)
            added = self._mapping(part, place)
            self._open.pop()
            inner, self.lines = self.lines, outer
            new = added.keys() - found.keys()
            found |= {name: value for name, value in added.items() if name in new}
            # A fault in a value that counts must not be looked for in one that was laid below it.
            self.lines |= {key: at for key, at in inner.items() if key[len(place)] in new}

    def _key(self, node: Any, line: int) -> str | None:
        if not isinstance(node, yaml.ScalarNode) or node.tag == f"{_TAG}null":
            self.faults.add("a key is a word, and here is something else", line)
            return None
        # As in JSON, every key is a text: `2024:` is called "2024".
        return str(node.value)

    def _scalar(self, node: Any) -> Any:
        kind = node.tag.removeprefix(_TAG)
        text, line = node.value, node.start_mark.line + 1
        if kind in ("str", "merge"):
            return text
        if f"{_TAG}{kind}" not in _SCALARS or not _SCALARS[node.tag].match(text):
            self.faults.add(f"the tag {_shown_tag(node.tag)} is not read; write the value without it", line)
            return None
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        return self._number(kind, text, line)

    def _number(self, kind: str, text: str, line: int) -> int | float | None:
        try:
            if kind == "int":
                return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
            number = float(re.sub(r"\.(inf|nan)", r"\1", text.lower()))
        except ValueError:
            number = math.inf
        if math.isfinite(number):
            return number
        self.faults.add(f"{text[:40]} is not a finite number", line)
        return None

    def _plain_tag(self, node: Any, kind: str) -> None:
        if node.tag != f"{_TAG}{kind}":
            self.faults.add(
                f"the tag {_shown_tag(node.tag)} is not read; write the value without it", node.start_mark.line + 1
            )


def _shown_tag(tag: str) -> str:
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag


def did_you_mean(name: str, known: Any) -> str:
    """A question with the nearest known names, or nothing."""
    found = nearest(name, known)
    return f" Did you mean {' or '.join(map(repr, found))}?" if found else ""


def yaml_word(text: str) -> str:
    """A text as YAML writes it: plain where that cannot be read as anything else."""
    plain = re.fullmatch(r"[A-Za-z0-9_./][A-Za-z0-9_./@+-]*", text)
    if plain and not any(pattern.match(text) for pattern in _SCALARS.values()):
        return text
    return "".join(_escaped(sign) for sign in json.dumps(text, ensure_ascii=False))


def _escaped(sign: str) -> str:
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
