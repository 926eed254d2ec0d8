r"""Stories in controlled natural language (CNL): lines of `Subject verb objects…` in nested groups, scenes among them.

`//` starts a comment, and a line that begins with `#` is one. `NAME group begin` and `NAME group end` stand around what
belongs together. A name or a text of several words stands in quotes, with `\"` for a quote and `\\` for a backslash in
it. Keywords are read whatever their case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from rankproof.data.corpus import Corpus, Document
from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, read_bytes, source_name
from rankproof.data.formats import Sample, reads
from rankproof.data.lines import text_lines
from rankproof.errors import MAX_FAULTS, NothingToEvaluate, UnknownName, nearest

IMPLICIT_SCENE = "Document"
"""What a story without scenes is called as a whole."""

NO_EVENTS = frozenset(
    ["is", "has", "includes", "relates", "owns", "references", "requires", "forbids", "must", "describes"]
)
"""Verbs of declarations, relations and constraints; any other verb tells of an event."""

_TOKEN = re.compile(
    r'\s*(?:(?P<comment>//.*)|"(?P<string>[^"\\]*(?:\\.[^"\\]*)*)"|(?P<unclosed>")|(?P<word>(?:(?!//)[^\s"])+))'
)
_ESCAPED = re.compile(r'\\(["\\])')
_SCENE_NAME = re.compile(r"(?:^|[\s._:/-])(?:scene|sc)[ _.]?[0-9]+(?:\.[0-9]+)*$", re.IGNORECASE)
_BEGIN = re.compile(rb'^[^\S\n]*(?:"[^"\n]*"|[^\s"]+)[^\S\n]+group[^\S\n]+begin[^\S\n]*(?://.*)?\r?$', re.MULTILINE)
_LOOKED_AT = 50
"""Among how many open groups a misspelt name is looked for."""
_OTHERS = {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet"}


class Token(NamedTuple):
    """A word, or a text that stood in quotes."""

    text: str
    quoted: bool = False

    @property
    def keyword(self) -> str:
        """The word in lower case; what stands in quotes is no keyword."""
        return "" if self.quoted else self.text.lower()


class Statement(NamedTuple):
    """A line that says something."""

    line: int
    tokens: tuple[Token, ...]

    @property
    def verb(self) -> str:
        """The second word."""
        return self.tokens[1].keyword

    @property
    def is_event(self) -> bool:
        """Whether something happens."""
        return self.verb not in NO_EVENTS and not self.makes_scene

    @property
    def makes_scene(self) -> bool:
        """Whether it says that a group is a scene: `X has type scene`, or without a subject."""
        words = [token.text.lower() for token in self.tokens]
        return words[-3:] == ["has", "type", "scene"] and len(words) <= 4

    @property
    def sentence(self) -> str:
        """The line as a sentence, with a full stop at its end."""
        words = " ".join(token.text for token in self.tokens)
        return words if words.endswith((".", "!", "?", "…")) else f"{words}."

    @property
    def described(self) -> list[str]:
        """What a `describes` line describes: its texts in quotes, or else its words."""
        if self.verb != "describes":
            return []
        objects = self.tokens[2:]
        texts = [token.text for token in objects if token.quoted]
        return texts or ([" ".join(token.text for token in objects)] if objects else [])


@dataclass(frozen=True)
class Scene:
    """A scene: what can be found in a story."""

    id: str
    text: str
    line: int
    """Where it begins."""
    within: str = ""
    """The group that it stands in, if any."""


@dataclass(frozen=True)
class World:
    """What a story tells, scene by scene."""

    scenes: tuple[Scene, ...]
    """Depth first, in the order of the file."""
    source: str = "story"
    loose: tuple[int, ...] = ()
    """Lines that describe something outside every scene, which no scene has in its text."""

    @cached_property
    def _by_id(self) -> dict[str, Scene]:
        return {scene.id: scene for scene in self.scenes}

    @property
    def ordered_ids(self) -> list[str]:
        """The names of the scenes, in story order."""
        return [scene.id for scene in self.scenes]

    def scene_text(self, scene_id: str) -> str:
        """What a scene is searched by: its descriptions, or else its events as sentences."""
        if scene_id not in self._by_id:
            raise UnknownName("scene", scene_id, self._by_id)
        return self._by_id[scene_id].text

    def to_corpus(self) -> Corpus:
        """The scenes as documents, in story order."""
        # A title would be searched as well, and the name of a scene is no part of its text.
        documents = (Document(one.id, one.text, metadata=_metadata(one)) for one in self.scenes)
        return Corpus(tuple(documents), self.source)

    def __len__(self) -> int:
        return len(self.scenes)

    def __repr__(self) -> str:
        return f"<World: {len(self.scenes):,} scenes>"


def _metadata(scene: Scene) -> dict[str, object]:
    return {"line": scene.line, **({"within": scene.within} if scene.within else {})}


def _is_cnl(sample: Sample) -> bool:
    if sample.folder or sample.suffix in _OTHERS or sample.begins_with(b"{"):
        return False
    return sample.suffix == ".cnl" or _BEGIN.search(sample.head) is not None


@reads("corpus", "cnl", "a story: groups, scenes among them, and lines of `Subject verb objects…`", when=_is_cnl)
def read_cnl(path: PathLike) -> Corpus:
    """The scenes of a story as documents, in story order."""
    world = read_world(path)
    if not len(world):
        raise NothingToEvaluate(f"{world.source}: the story says nothing, so there is no scene in it")
    return world.to_corpus()


def read_world(path: PathLike) -> World:
    """The world of a story in a file; one that says nothing has no scene."""
    return parse_cnl(read_bytes(path), source_name(path))


def parse_cnl(data: bytes | str, source: str = "story") -> World:
    """The world of a story; raises BadInput with everything that is wrong with it."""
    faults = Faults(source)
    parser = _Parser(faults)
    for number, line in text_lines(data.encode() if isinstance(data, str) else data, faults):
        parser.take(number, line)
    parser.finish()
    world = _world(parser, faults)
    faults.raise_any()
    return world


@dataclass
class _Group:
    name: str
    line: int
    parent: int | None
    """The place of the group around it."""
    is_scene: bool = False


@dataclass
class _Parser:
    """Takes lines; keeps groups in the order in which they begin, and statements with the group around them."""

    faults: Faults
    groups: list[_Group] = field(default_factory=list)
    statements: list[tuple[int | None, Statement]] = field(default_factory=list)
    _open: list[int] = field(default_factory=list)
    _open_names: Counter[str] = field(default_factory=Counter)

    def take(self, number: int, line: str) -> None:
        """One line that is neither blank nor a `#` comment."""
        tokens = _tokens(line, number, self.faults)
        if not tokens:
            return
        last = [token.keyword for token in tokens[-2:]]
        if last in (["group", "begin"], ["group", "end"]):
            self._border(number, tokens[:-2], begins=last[1] == "begin")
        elif len(tokens) == 1:
            self.faults.add(f"{_shown(tokens)} alone says nothing; a line is `Subject verb objects…`", number)
        else:
            self.statements.append((self._inside, Statement(number, tuple(tokens))))

    def finish(self) -> None:
        """The end of the story, where no group is open any more."""
        while self._open:
            self._unclosed(self._closed())

    @property
    def _inside(self) -> int | None:
        return self._open[-1] if self._open else None

    def _border(self, number: int, named: Sequence[Token], *, begins: bool) -> None:
        word = "begin" if begins else "end"
        name = named[0].text.strip() if named else ""
        if len(named) > 1:
            whole = " ".join(token.text for token in named)
            self.faults.add(f'a name of several words stands in quotes: "{whole}" group {word}', number)
        elif not name:
            self.faults.add(f"the group has no name; write `NAME group {word}`", number)
        elif begins:
            self.groups.append(_Group(name, number, self._inside))
            self._open.append(len(self.groups) - 1)
            self._open_names[name] += 1
        else:
            self._end(name, number)

    def _end(self, name: str, number: int) -> None:
        if not self._open_names[name]:
            self.faults.add(f"{name!r} ends here and did not begin{self._hint(name)}", number)
            return
        while (group := self._closed()).name != name:
            self._unclosed(group)

    def _hint(self, name: str) -> str:
        if not self._open:
            return "; no group is open"
        if len(self.faults) >= MAX_FAULTS:
            # Nobody would read it.
            return ""
        around = [self.groups[place].name for place in self._open[-_LOOKED_AT:]]
        near = nearest(name, around)
        return f". Did you mean {near[0]!r}?" if near else f"; open is {around[-1]!r}"

    def _closed(self) -> _Group:
        """The innermost group, which is open no more."""
        group = self.groups[self._open.pop()]
        self._open_names[group.name] -= 1
        return group

    def _unclosed(self, group: _Group) -> None:
        self.faults.add(f"the group {group.name!r} begins here and does not end; write its end", group.line)


def _tokens(line: str, number: int, faults: Faults) -> list[Token]:
    found: list[Token] = []
    at = 0
    while match := _TOKEN.match(line, at):
        at = match.end()
        if match["comment"] is not None:
            break
        if match["unclosed"] is not None:
            column = match.start("unclosed") + 1
            way_out = r"end it on the same line, and write \" for a quote inside it"
            faults.add(f"the text that begins at column {column} has no end; {way_out}", number)
            return []
        if match["string"] is not None:
            found.append(Token(_ESCAPED.sub(r"\1", match["string"]), quoted=True))
        else:
            found.append(Token(match["word"]))
    return found


def _shown(tokens: Iterable[Token]) -> str:
    text = " ".join(token.text for token in tokens)
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


def _world(parser: _Parser, faults: Faults) -> World:
    groups = parser.groups
    _mark_scenes(parser)
    scenes = [place for place, group in enumerate(groups) if group.is_scene]
    _refuse_namesakes([groups[place] for place in scenes], faults)
    if not scenes:
        if not groups and not parser.statements:
            return World((), faults.source)
        everything = [statement for _, statement in parser.statements]
        return World((Scene(IMPLICIT_SCENE, _text(everything), 1),), faults.source)
    # A group comes after the one around it, whose scene is known by then.
    owners: list[int | None] = []
    for place, group in enumerate(groups):
        owners.append(place if group.is_scene else None if group.parent is None else owners[group.parent])
    lines: dict[int, list[Statement]] = {place: [] for place in scenes}
    loose = []
    for inside, statement in parser.statements:
        owner = None if inside is None else owners[inside]
        if owner is not None:
            lines[owner].append(statement)
        elif statement.described:
            loose.append(statement.line)
    found = (Scene(groups[p].name, _text(lines[p]), groups[p].line, _name_around(groups, p)) for p in scenes)
    return World(tuple(found), faults.source, tuple(loose))


def _mark_scenes(parser: _Parser) -> None:
    """A group is a scene by its name, or because `… has type scene` says so."""
    groups = parser.groups
    within: dict[tuple[int | None, str], int] = {}
    for place, group in enumerate(groups):
        group.is_scene = _SCENE_NAME.search(group.name) is not None
        within.setdefault((group.parent, group.name), place)
    for inside, statement in parser.statements:
        if not statement.makes_scene:
            continue
        # It may stand beside the group that it speaks of as well as in it.
        beside = within.get((inside, statement.tokens[0].text))
        meant = inside if beside is None else beside
        if meant is not None:
            groups[meant].is_scene = True


def _refuse_namesakes(scenes: Iterable[_Group], faults: Faults) -> None:
    first: dict[str, int] = {}
    for scene in scenes:
        if first.setdefault(scene.name, scene.line) != scene.line:
            way_out = "give each its own name, such as Ch2.Sc1"
            faults.add(
                f"two scenes are called {scene.name!r} (first on line {first[scene.name]}); {way_out}", scene.line
            )


def _name_around(groups: Sequence[_Group], place: int) -> str:
    parent = groups[place].parent
    return "" if parent is None else groups[parent].name


def _text(statements: Sequence[Statement]) -> str:
    described = [text for statement in statements for text in statement.described]
    if described:
        return "\n".join(described)
    return " ".join(statement.sentence for statement in statements if statement.is_event)
