"""Write what the documentation takes from the program: the reference pages and the output in console blocks.

Run as `python -m tests.docs.generate`, or `make docs`. The tests fail while a page on disk is not what this makes.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click

import rankproof
from rankproof import errors
from rankproof.cli import demo
from rankproof.cli import main as cli_main
from rankproof.data.formats import Noun, readers, writers
from rankproof.measures.registry import REQUIRED, Family, families
from rankproof.project.project import ENVIRONMENT
from rankproof.project.schema import KINDS, project_schema, schema_path, schema_text, stages
from rankproof.reports.reference import default_words, departures, other_names, written
from rankproof.scoring.rules import PRESETS, Rules
from tests.docs.markdown import REFERENCE, ROOT, Block, blocks, page_text, written_pages

_WIDTH = 100
_NOTE = "<!-- Written by `make docs`; change the code or tests/docs/generate.py instead. -->\n\n"
_AGGREGATES = {
    "mean": "the mean",
    "sum": "the sum",
    "geometric": "the geometric mean, each query taken as at least 0.00001",
}


def reference_pages() -> dict[str, str]:
    """Every generated page: path from the root of the project → text."""
    made = {
        "measures": measures_page(),
        "presets": presets_page(),
        "commands": commands_page(),
        "formats": formats_page(),
        "exit-codes": exit_codes_page(),
        "python": python_page(),
        "project": project_page(),
    }
    return {f"{REFERENCE}/{name}.md": _NOTE + text for name, text in made.items()}


def own_measures() -> list[Family]:
    """The measures of the package; those that a test has registered are left out."""
    registry = "rankproof.measures.registry"
    modules = {own.name: own.function.__module__ for own in families().values()}
    return [
        own
        for own in families().values()
        if modules[own.name].startswith("rankproof.measures.") and modules[own.name] != registry
    ]


def measures_page() -> str:
    """One section for each measure."""
    intro = (
        "# Measures\n\n"
        "A measure is written with its parameters in parentheses and its cut-off behind `@`: `nDCG@10`,\n"
        '`P(rel=2)@5`, `nDCG(gain="exp")@10`. Names are read whatever their case, and the names of other tools are\n'
        "read as well; results always use the name in the heading. Every measure also takes `judged_only=True`, which\n"
        "takes the unjudged documents out of the ranking first.\n\n"
        "`rel` is the lowest grade that counts as relevant. See\n"
        "[gains and thresholds](../explanation/gains-and-thresholds.md), and\n"
        "[a measure of your own](../how-to/own-measure.md).\n\n"
    )
    own = own_measures()
    index = " · ".join(f"[{one.name}](#{one.name.lower()})" for one in own)
    return intro + index + "\n\n" + "\n".join(_measure_section(one) for one in own)


def _measure_section(own: Family) -> str:
    parts = [f"## {own.name}", f"`{written(own)}`", own.doc]
    rows = [_parameter_row(own, name, default) for name, default in own.parameters.items()]
    if rows:
        parts.append(_table(("parameter", "default", "takes"), rows))
    facts = [f"Over queries: {_AGGREGATES[own.aggregate]}.", f"Values: {_range(own.bounds)}."]
    if own.perfect is not None:
        facts.append(f"A perfect ranking scores {own.perfect:g}.")
    if own.expectation is not None:
        facts.append('Has an exact mean over ties (`ties="expected"`).')
    if other_names(own):
        facts.append(f"Also read as {', '.join(f'`{name}`' for name in other_names(own))}.")
    parts.append(" ".join(facts))
    return "\n\n".join(parts) + "\n"


def _parameter_row(own: Family, name: str, default: Any) -> tuple[str, str, str]:
    shown = "must be given" if default is REQUIRED else "none" if default is None else f"`{default!r}`"
    return f"`{name}`", shown, _takes(get_type_hints(inspect.unwrap(own.function))[name], name)


def _takes(hint: Any, name: str) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(f"`{word!r}`" for word in get_args(hint))
    kinds = {int: "a whole number", float: "a number"}
    found = [kinds.get(kind, "a map of grade to gain") for kind in get_args(hint) or (hint,) if kind is not type(None)]
    what = " or ".join(found)
    if name == "k":
        what = "a recall from 0 to 1" if hint is float else "a rank, 1 or more"
    return f"{what}, written behind `@`" if name == "k" else what


def _range(bounds: tuple[float, float]) -> str:
    low, high = ("any" if math.isinf(bound) else f"{bound:g}" for bound in bounds)
    if low == high == "any":
        return "any number"
    if high == "any":
        return f"{low} or more"
    return f"always {low}" if low == high else f"{low} to {high}"


def presets_page() -> str:
    """The rules, then one section for each preset."""
    hints = get_type_hints(Rules)
    plain = Rules().as_dict()
    rows = [
        (f"`{name}`", f"`{plain[name]}`" if plain[name] is not None else "none", _rule_words(hints[name]), text)
        for name, text in _attribute_docs(Rules).items()
    ]
    intro = (
        "# Presets and rules\n\n"
        "A preset is a set of rules and of parameter defaults under a name: `rankproof score … --preset NAME`,\n"
        '`rankproof.evaluate(…, preset="NAME")`. `rankproof explain` says which rule makes two presets differ.\n\n'
        "## Rules\n\n"
    )
    sections = [_preset_section(name) for name in PRESETS]
    return intro + _table(("rule", "default", "takes", "decides"), rows) + "\n\n" + "\n".join(sections)


def _rule_words(hint: Any) -> str:
    words = get_args(hint)
    return "a number of decimals" if int in words else ", ".join(f"`{word}`" for word in words)


def _attribute_docs(cls: type) -> dict[str, str]:
    """The string that stands below each annotated attribute of a class."""
    body = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for attribute, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name):
            assert isinstance(after, ast.Expr)
            assert isinstance(after.value, ast.Constant)
            found[attribute.target.id] = " ".join(str(after.value.value).split())
    return found


def _preset_section(name: str) -> str:
    preset = PRESETS[name]
    apart = [f"- rule `{rule}`: `{value}`" for rule, value in departures(preset).items()]
    apart += [f"- `{text}`" for text in default_words(preset.defaults)]
    body = "Departs from the default in:\n\n" + "\n".join(apart) if apart else "The default rules."
    return f"## {name}\n\n{preset.about}.\n\n{body}\n"


def commands_page() -> str:
    """The help of the program and of every verb."""
    group = cli_main.cli
    parent = click.Context(group, info_name="rankproof", terminal_width=_WIDTH, **group.context_settings)
    sections = [_command_section("rankproof", group.get_help(parent))]
    for verb in sorted(cli_main.VERBS):
        command = group.get_command(parent, verb)
        assert command is not None
        context = click.Context(command, parent=parent, info_name=verb, terminal_width=_WIDTH)
        sections.append(_command_section(f"rankproof {verb}", command.get_help(context)))
        for name, inner in sorted(command.commands.items()) if isinstance(command, click.Group) else ():
            below = click.Context(inner, parent=context, info_name=name, terminal_width=_WIDTH)
            sections.append(_command_section(f"rankproof {verb} {name}", inner.get_help(below)))
    intro = (
        "# Commands\n\n"
        "Results go to stdout, everything else to stderr. A file name of `-` is standard input; files packed with\n"
        "gzip or Zstandard are unpacked as they are read. [Exit codes](exit-codes.md) tell a script what happened.\n\n"
    )
    return intro + "\n".join(sections)


def _command_section(name: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {name}\n\n```text\n{lines}\n```\n"


def formats_page() -> str:
    """What can be read and written, noun by noun."""
    intro = (
        "# Formats\n\n"
        "A format is recognised by the content or the suffix of the file; if none or several fit, the file is refused\n"
        'with the list of what is known. `format="…"` in the Python API names one. Text is UTF-8; a byte order mark\n'
        "and CRLF mean nothing; blank lines and lines that begin with `#` are left out. See\n"
        "[reading and writing files](../how-to/read-and-write-files.md).\n\n"
    )
    return intro + "\n".join(_noun_section(noun) for noun in get_args(Noun))


def _noun_section(noun: Noun) -> str:
    endings = {writer.format: writer.suffixes for writer in writers(noun)}
    about = {reader.format: reader.about for reader in readers(noun)}
    rows = []
    for name in sorted({*about, *endings}):
        written_to = "no"
        if name in endings:
            written_to = ", ".join(f"`{suffix}`" for suffix in endings[name]) or f'with `format="{name}"`'
        rows.append((f"`{name}`", about.get(name, "not read"), written_to))
    titles = {"qrels": "Judgments (qrels)", "run": "Runs", "gold": "Gold sets", "corpus": "Corpora"}
    return f"## {titles[noun]}\n\n{_table(('format', 'looks like', 'written to'), rows)}\n"


def project_page() -> str:
    """Every key of rankproof.yaml, and the options of every stage."""
    schema = project_schema(own_only=True)
    parts = schema["$defs"]
    intro = (
        "# rankproof.yaml\n\n"
        "One file names the gold set, the corpus and the pipelines of a project. Verbs that work on a project look\n"
        "for it in the current folder and in those above it; `rankproof init` writes one. An unknown key is an error\n"
        "with the nearest name. Plain words mean what YAML 1.2 says: `no` and `on` are texts. See\n"
        "[setting up a project](../how-to/set-up-a-project.md).\n\n"
        "Paths start from the folder of the file. What is read may lie outside it; `cache`, the one folder that is\n"
        "written to, may not. Keys and passwords are refused: they come from `key_env` or `key_file`.\n\n"
    )
    sections = [_keys_section("Keys", schema, parts)]
    sections += [
        _keys_section(title, parts[name], parts)
        for title, name in {
            "gold": "Gold",
            "corpus": "CorpusSettings",
            "corpus.chunk": "Chunk",
            "corpus.columns": "Columns",
            "pipelines": "PipelineSettings",
            "pipelines.fuse": "FuseSettings",
            "gate": "Gate",
            "gate.max_drop": "Drop",
            "gate.groups": "GateGroups",
            "retrieval_metrics": "RetrievalMetrics",
            "retrieval_metrics.statistical_analysis": "StatisticalAnalysis",
            "retrieval_metrics.performance": "Performance",
        }.items()
    ]
    variables = [(f"`{variable}`", f"`{key}`") for variable, key in ENVIRONMENT.items()]
    sections.append(
        "## Environment\n\n"
        "These stand in for keys of the file; options of the command line count before them. Their paths start from\n"
        "the current folder, and `RANKPROOF_CACHE` may lie anywhere; `false` keeps nothing.\n\n"
        f"{_table(('variable', 'key'), variables)}\n"
    )
    sections += [_stages_section(key, parts) for key in KINDS]
    return intro + "\n".join(sections)


def _keys_section(title: str, schema: dict[str, Any], parts: dict[str, Any], level: str = "##") -> str:
    needed = schema.get("required", [])
    rows = [
        (
            f"`{name}`",
            "must be given" if name in needed else _plain_default(option.get("default")),
            _value_words(option, parts),
            " ".join(_description(option, parts).split()),
        )
        for name, option in schema.get("properties", {}).items()
    ]
    about = schema.get("description", "")
    table = _table(("key", "default", "takes", "meaning"), rows) if rows else "It has no options."
    return f"{level} {title}\n\n{about}\n\n{table}\n"


def _description(option: dict[str, Any], parts: dict[str, Any]) -> str:
    of_part = parts.get(option.get("$ref", "").rpartition("/")[2], {})
    return str(option.get("description") or of_part.get("description", ""))


def _plain_default(value: Any) -> str:
    return "none" if value in (None, [], {}, "") else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _value_words(option: dict[str, Any], parts: dict[str, Any]) -> str:
    """What a key takes, in words."""
    if "$ref" in option:
        name = option["$ref"].rpartition("/")[2]
        return "a stage" if name in KINDS else _value_words({**parts[name], "properties": {}}, parts)
    if "enum" in option or "const" in option:
        return ", ".join(f"`{word}`" for word in option.get("enum", [option.get("const")]))
    if "anyOf" in option:
        words = [_value_words(one, parts) for one in option["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(words))
    kinds = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    kind = option.get("type")
    if kind == "array":
        return f"list of {_value_words(option.get('items', {}), parts)}"
    if kind == "object":
        inner = option.get("additionalProperties")
        return f"name → {_value_words(inner, parts)}" if isinstance(inner, dict) else "keys, see below"
    return kinds.get(str(kind), "any value") + _bound_words(option)


def _bound_words(option: dict[str, Any]) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    found = [f"{sign} {f'{option[key]:,}'.removesuffix('.0')}" for key, sign in signs.items() if key in option]
    return f" {' and '.join(found)}" if found else ""


def _stages_section(key: str, parts: dict[str, Any]) -> str:
    titles = {"retrieve": "Retrievers", "rerank": "Rerankers", "prepare": "Text stages"}
    made = [
        _keys_section(f"{key}: {name}", parts[f"{key}.{name}"], parts, level="###")
        for name, found in stages(KINDS[key], own_only=True)
        if found is not None
    ]
    about = (
        f"What stands under `{key}` of a pipeline: a name alone, or a name with options. The one option that must be\n"
        "given may stand without its name.\n\n"
    )
    return f"## {titles[key]}\n\n{about}" + "\n".join(made)


def exit_codes_page() -> str:
    """Every way in which the program can end."""
    rows = [("0", "", "Done."), ("1", "", "Measured, and below the threshold.")]
    for error in _errors(errors.RankproofError):
        if error is not errors.RankproofError:
            rows.append((str(error.exit_code), f"`{error.__name__}`", inspect.getdoc(error) or ""))
    rows.append((str(cli_main.BUG), "", "A bug of ours; `RANKPROOF_TRACEBACK=1` shows where."))
    rows.append((str(cli_main.INTERRUPTED), "", "Interrupted from the keyboard."))
    intro = (
        "# Exit codes\n\n"
        "The error is what the Python API raises for the same cause; all of them derive from `RankproofError`.\n\n"
    )
    return intro + _table(("code", "error", "meaning"), sorted(rows, key=lambda row: int(row[0]))) + "\n"


def _errors(base: type[errors.RankproofError]) -> Iterator[type[errors.RankproofError]]:
    yield base
    for one in base.__subclasses__():
        if one.__module__ == errors.__name__:
            yield from _errors(one)


def python_page() -> str:
    """Every public name, with what its docstring says."""
    intro = (
        "# Python API\n\n"
        "Everything here is imported from `rankproof` itself. Importing the package loads nothing heavy: each name is\n"
        "fetched when it is first used.\n\n"
    )
    names = sorted((name for name in rankproof.__all__ if name != "__version__"), key=str.lower)
    return intro + "\n".join(_name_section(name, getattr(rankproof, name)) for name in names)


def _name_section(name: str, value: Any) -> str:
    if not callable(value):
        return f"## {name}\n\nEvery preset by its name; see [presets](presets.md).\n"
    if inspect.isclass(value) and issubclass(value, errors.RankproofError):
        return f"## {name}\n\n{inspect.getdoc(value)} [Exit code](exit-codes.md) {value.exit_code}.\n"
    parts = [f"## {name}", f"`{_call(name, value)}`", inspect.getdoc(value) or ""]
    if inspect.isclass(value):
        parts.append("\n".join(_members(value)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _members(cls: type) -> Iterator[str]:
    """The public methods and properties that a class itself declares, with the sentence that says what each is."""
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        plain = getattr(member, "__func__", None) or getattr(member, "fget", None) or getattr(member, "func", member)
        if inspect.isfunction(plain):
            text = (inspect.getdoc(plain) or "").split("\n\n")[0].replace("\n", " ")
            shown = name if plain is not member and not isinstance(member, classmethod) else _call(name, plain)
            yield f"- `{shown}`: {text}"


def _call(name: str, value: Any) -> str:
    words = []
    star = False
    for parameter in inspect.signature(value).parameters.values():
        if parameter.name in ("self", "cls") or parameter.name.startswith("_"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            star = True
            words.append("*")
        prefix = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = parameter.default
        if default is parameter.empty:
            words.append(f"{prefix}{parameter.name}")
        else:
            words.append(f"{parameter.name}={'…' if repr(default).startswith('<') else repr(default)}")
    return f"{name}({', '.join(words)})"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def with_outputs(text: str) -> str:
    """The page with the output of every console block as the program prints it now, in the folder of the demo."""
    with tempfile.TemporaryDirectory() as folder:
        made = text
        for block in reversed(list(_outputs(text, Path(folder)))):
            (begin, end), output = block
            made = made[:begin] + output + made[end:]
        return made


def _outputs(text: str, folder: Path) -> Iterator[tuple[tuple[int, int], str]]:
    runnable = [block for block in blocks(text, "console") if block.runs]
    if runnable:
        unpack_demo(folder)
    for block in runnable:
        yield block.span, "".join(_session(block, folder))


def _session(block: Block, folder: Path) -> Iterator[str]:
    for command in block.commands:
        yield f"$ {command}\n"
        yield shell(command, folder)


def unpack_demo(folder: Path) -> None:
    """The files of the demo, where `rankproof demo` would put them."""
    target = folder / "rankproof-demo"
    target.mkdir()
    for name in demo.FILES:
        target.joinpath(name).parent.mkdir(exist_ok=True)
        target.joinpath(name).write_bytes(resources.files("rankproof.demo").joinpath(name).read_bytes())


def shell(command: str, folder: Path) -> str:
    """What a terminal shows of the command, both streams together."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONUTF8": "1"}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


def main() -> None:
    """Write every page that is not current."""
    made = {**reference_pages(), **{page: with_outputs(page_text(page)) for page in written_pages()}}
    made[schema_path().relative_to(ROOT).as_posix()] = schema_text()
    for page, text in made.items():
        path = ROOT / page
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote {page}")


if __name__ == "__main__":
    main()
