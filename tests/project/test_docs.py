"""The YAML on the page about projects is read by the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankproof.project.project import project_of
from rankproof.project.yaml_text import parse_yaml
from tests.docs.markdown import blocks, page_text

PAGE = "docs/how-to/set-up-a-project.md"
BLOCKS = [pytest.param(block.text, id=f"line-{block.line}") for block in blocks(page_text(PAGE), "yaml")]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_block_of_yaml_is_part_of_a_project(text: str) -> None:
    assert project_of(Path("rankproof.yaml"), parse_yaml(text, PAGE), environment={}).file.name == "rankproof.yaml"
