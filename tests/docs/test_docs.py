"""The documentation is true: pages are current, examples run, commands exist, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from rankproof.cli.main import VERBS, cli
from rankproof.scoring.rules import PRESETS
from tests.docs.generate import own_measures, reference_pages, unpack_demo, with_outputs
from tests.docs.markdown import ROOT, anchors, blocks, links, page_text, written_pages

GENERATED = reference_pages()
WRITTEN = written_pages()
PAGES = [*WRITTEN, "CHANGELOG.md", *GENERATED]
WITH_PYTHON = [page for page in WRITTEN if any(block.runs for block in blocks(page_text(page), "python"))]
WITH_OUTPUT = [page for page in WRITTEN if any(block.runs for block in blocks(page_text(page), "console"))]
COMMANDS = [
    pytest.param(part, id=f"{page}:{block.line}-{number}")
    for page in WRITTEN
    for block in blocks(page_text(page), "console")
    for number, command in enumerate(block.commands, 1)
    for part in command.split(" | ")
    if part.startswith("rankproof ")
]


def names(page: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", page_text(page)) is not None


@pytest.mark.parametrize("page", GENERATED)
def test_a_generated_page_is_what_the_code_says(page: str) -> None:
    assert page_text(page) == GENERATED[page], "run `make docs`"


@pytest.mark.parametrize("page", WITH_OUTPUT)
def test_the_output_on_a_page_is_what_the_commands_print(page: str) -> None:
    assert with_outputs(page_text(page)) == page_text(page), "run `make docs`"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_on_a_page_that_somebody_wrote(verb: str) -> None:
    assert any(f"rankproof {verb}" in page_text(page) for page in WRITTEN)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_on_a_page_that_somebody_wrote(preset: str) -> None:
    assert any(names(page, f"`{preset}`") for page in WRITTEN)


@pytest.mark.parametrize("measure", [own.name for own in own_measures()])
def test_every_measure_has_a_section_in_the_reference(measure: str) -> None:
    assert f"\n## {measure}\n" in GENERATED["docs/reference/measures.md"]


def test_every_page_is_reached_from_the_index() -> None:
    index = {(ROOT / "docs" / target.partition("#")[0]).resolve() for target in links(page_text("docs/index.md"))}
    pages = {path.resolve() for path in (ROOT / "docs").rglob("*.md")}
    assert pages - index == {ROOT / "docs" / "index.md"}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_page_and_a_heading_of_it(page: str) -> None:
    broken = []
    for target in links(page_text(page)):
        name, _, heading = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        if not path.is_file() or (heading and heading not in anchors(path.read_text(encoding="utf-8"))):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_python_on_a_page_runs(page: str, tmp_path: Path) -> None:
    # In a process of its own: an example may register a measure, and all blocks of a page share their names.
    code = [block.text for block in blocks(page_text(page), "python") if block.runs]
    script = tmp_path / "page.py"
    # A block that is a whole module begins with a __future__ import, which must stand first in what is compiled.
    script.write_text(f"names = {{'__name__': 'page'}}\nfor code in {code!r}:\n    exec(code, names)\n", "utf-8")
    unpack_demo(tmp_path)
    done = subprocess.run([sys.executable, "-X", "utf8", script], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_on_a_page_has_a_verb_and_options_that_exist(command: str) -> None:
    words = shlex.split(command)
    arguments = words[1 : words.index(">")] if ">" in words else words[1:]
    parent = click.Context(cli, info_name="rankproof")
    verb = cli.get_command(parent, arguments[0])
    assert verb is not None
    verb.make_context(arguments[0], arguments[1:], parent=parent)


def test_a_command_with_an_unknown_option_would_be_noticed() -> None:
    parent = click.Context(cli, info_name="rankproof")
    verb = cli.get_command(parent, "score")
    assert verb is not None
    with pytest.raises(click.NoSuchOption):
        verb.make_context("score", ["qrels.txt", "a.run", "--metric", "nDCG@10"], parent=parent)
