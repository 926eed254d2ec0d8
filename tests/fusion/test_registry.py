"""What is registered is what people read about."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from rankproof import fuse
from rankproof.cli.fuse import command
from rankproof.fusion.normalization import Normalization
from rankproof.fusion.registry import choose, methods

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "fuse-runs.md"


@pytest.mark.parametrize("name", [*methods(), *get_args(Normalization)])
def test_every_method_and_normalisation_is_on_the_page_in_the_docstring_and_in_the_help(name: str) -> None:
    help_text = " ".join(option.help or "" for option in command.params if hasattr(option, "help"))
    for text in (inspect.getdoc(fuse) or "", help_text):
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8")


def test_parameters_come_from_the_signature() -> None:
    assert methods()["rrf"].parameters == {"weights": None, "k": 60.0}
    assert methods()["combsum"].parameters == {"normalize": "min-max"}
    assert [own.name for own in methods().values() if own.takes_weights] == ["rrf", "weighted"]
    assert [own.name for own in methods().values() if not own.looks_at_scores] == ["borda", "condorcet", "isr", "rrf"]


def test_other_weights_leave_the_rest_of_a_choice_as_it_is() -> None:
    chosen = choose("rrf", 2, k=10)
    assert chosen.weighted([1, 2]).parameters == {"k": 10.0, "weights": (1.0, 2.0)}
    assert chosen.parameters == {"k": 10.0}
    assert chosen.name == "rankproof-rrf"
