"""Aliases: several names of one thing made into one name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple

from pydantic import model_validator

from rankproof.data.faults import Faults
from rankproof.data.files import read_bytes
from rankproof.data.json_text import Pairs, parse_json, shown
from rankproof.data.lines import decode_text, text_lines
from rankproof.errors import BadInput, UsageError
from rankproof.retrieval.digest import digest_of
from rankproof.retrieval.stage import Place, TextStage

_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")
_INLINE = "aliases: map"


class Aliases(TextStage):
    """Puts the canonical name for every alias, in queries and documents alike.

    An alias is replaced where it stands as a whole word or as several, whatever its case; of two that fit in one place,
    the longer. An alias of an alias leads to the end of the chain; what was put in is not looked at again.
    """

    reads_corpus = False

    map: dict[str, str] | None = None
    """Alias → canonical name."""
    path: str | None = None
    """A file of them instead: YAML or JSON (`alias: canonical name`), or TSV (alias TAB canonical name)."""

    @model_validator(mode="after")
    def _one_source(self) -> Aliases:
        if (self.map is None) == (self.path is None):
            raise ValueError("aliases need either `map` or `path`")
        return self

    def behaviour(self, place: Place) -> dict[str, Any]:
        """Where each alias leads, be that written here or in a file."""
        return {"aliases": digest_of(self._resolved(place))}

    def open(self, place: Place) -> Callable[[str], str]:
        """The function that puts canonical names for aliases."""
        return _Rewriter(self._resolved(place)).rewrite

    def _resolved(self, place: Place) -> dict[str, str]:
        if self.path is not None:
            return _resolve(_read(place, self.path), self.path)
        try:
            return _resolve((_Row(alias, name) for alias, name in (self.map or {}).items()), _INLINE)
        except BadInput as exc:
            # It stands in the project file, so that not the data are wrong but the call.
            raise UsageError(str(exc)) from exc


class _Row(NamedTuple):
    alias: Any
    name: Any
    line: int | None = None


def _read(place: Place, path: str) -> Iterator[_Row]:
    data = read_bytes(place.path(path))
    suffix = PurePath(path).suffix.lower()
    if suffix in {".yaml", ".yml"}:
        return _yaml_rows(decode_text(data, path), path)
    if suffix == ".json":
        return _json_rows(data, path)
    if suffix in {".tsv", ".txt"}:
        return _tabbed_rows(data, path)
    raise UsageError(f"{path}: aliases are read from .yaml, .yml, .json, .tsv or .txt files.")


def _yaml_rows(text: str, source: str) -> Iterator[_Row]:
    import yaml

    try:
        # The plain loader takes every word for a text, so that `no` and `2018` need no quotes.
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        raise BadInput.of(source, f"invalid YAML: {exc.problem}", mark.line + 1 if mark else None) from exc
    except yaml.YAMLError as exc:
        raise BadInput.of(source, f"invalid YAML: {exc}") from exc
    except RecursionError as exc:
        raise BadInput.of(source, "the YAML is nested too deeply") from exc
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise BadInput.of(
            source, "aliases are written `alias: canonical name`, one to a line", root.start_mark.line + 1
        )
    for key, value in root.value if root is not None else ():
        plain = [node.value if isinstance(node, yaml.ScalarNode) else None for node in (key, value)]
        yield _Row(plain[0], plain[1], key.start_mark.line + 1)


def _json_rows(data: bytes, source: str) -> Iterator[_Row]:
    class Object(list[tuple[str, Any]]):
        """The pairs of a JSON object, repeated keys included."""

    def pairs(found: Pairs) -> Any:
        return Object(found)

    root = parse_json(data, source, pairs=pairs)
    if not isinstance(root, Object):
        raise BadInput.of(source, 'aliases are written {"alias": "canonical name", …}')
    return (_Row(alias, name) for alias, name in root)


def _tabbed_rows(data: bytes, source: str) -> Iterator[_Row]:
    faults = Faults(source)
    rows = []
    for number, line in text_lines(data, faults):
        cells = line.split("\t")
        if len(cells) == 2:
            rows.append(_Row(cells[0], cells[1], number))
        else:
            faults.add(f"{len(cells)} columns where 2 belong (alias TAB canonical name): {shown(line)}", number)
    faults.raise_any()
    return iter(rows)


def _resolve(rows: Iterator[_Row], source: str) -> dict[str, str]:
    """Alias, as it is compared → the end of its chain."""
    faults = Faults(source)
    given: dict[str, _Row] = {}
    for row in rows:
        if not (isinstance(row.alias, str) and isinstance(row.name, str) and row.alias.strip() and row.name.strip()):
            faults.add(f"{shown(row.alias)} → {shown(row.name)}: an alias and its canonical name are texts", row.line)
            continue
        clean = _Row(" ".join(row.alias.split()), " ".join(row.name.split()), row.line)
        before = given.setdefault(_compared(clean.alias), clean)
        if before is not clean:
            faults.add(f"the alias {clean.alias!r} stands twice, for {before.name!r} and {clean.name!r}", row.line)
    faults.raise_any()
    resolved: dict[str, str] = {}
    in_cycles: set[str] = set()
    for alias in given:
        chain = _chain(alias, given)
        if chain[-1] in chain[:-1]:
            cycle = chain[chain.index(chain[-1]) :]
            if not in_cycles & set(cycle):
                faults.add(f"the aliases lead in a circle: {_written(cycle, given)}", given[cycle[0]].line)
            in_cycles |= set(cycle)
        else:
            resolved[alias] = given[chain[-1]].name
    faults.raise_any()
    return resolved


def _chain(alias: str, given: Mapping[str, _Row]) -> list[str]:
    """The aliases from one to the next; the last one stands twice if they lead in a circle."""
    chain = [alias]
    while (following := _compared(given[chain[-1]].name)) in given:
        row = given[following]
        if following == chain[-1] and row.alias != row.name:
            # `nyc: NYC` says how the name is written.
            return chain
        chain.append(following)
        if following in chain[:-1]:
            return chain
    return chain


def _written(cycle: list[str], given: Mapping[str, _Row]) -> str:
    return " → ".join(given[alias].alias for alias in cycle)


class _Folded(dict[int, str]):
    """Each character as it is compared: its case folded, if that leaves it one character, so that places stay."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = character.casefold()
        self[code] = found = folded if len(folded) == 1 else character
        return found


_FOLDED = _Folded()


def _compared(text: str) -> str:
    return unicodedata.normalize("NFC", text).translate(_FOLDED)


class _Alias:
    """One alias, ready to be looked for."""

    def __init__(self, alias: str, name: str) -> None:
        self.alias = alias
        self.name = name

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The alias with whatever white space between its words."""
        return re.compile(r"\s+".join(map(re.escape, self.alias.split(" "))))


class _Rewriter:
    def __init__(self, resolved: Mapping[str, str]) -> None:
        self._by_start: dict[str, list[_Alias]] = {}
        for alias in sorted(resolved, key=len, reverse=True):
            start = _WORD_OR_SIGN.match(alias)
            if start is not None:
                self._by_start.setdefault(start[0], []).append(_Alias(alias, resolved[alias]))

    def rewrite(self, text: str) -> str:
        text = unicodedata.normalize("NFC", text)
        compared = text.translate(_FOLDED)
        parts: list[str] = []
        done = 0
        for start in _WORD_OR_SIGN.finditer(compared):
            place = start.start()
            if place < done or start[0] not in self._by_start or _is_word(compared[place - 1 : place]):
                continue
            for alias in self._by_start[start[0]]:
                found = alias.pattern.match(compared, place)
                if found and not _is_word(compared[found.end() : found.end() + 1]):
                    parts += (text[done:place], alias.name)
                    done = found.end()
                    break
        return "".join(parts) + text[done:]


def _is_word(character: str) -> bool:
    """Whether this one character, or none, belongs to a word."""
    return character == "_" or (character != "" and unicodedata.category(character)[0] in "LNM")
