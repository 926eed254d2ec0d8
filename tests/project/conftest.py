"""A folder for a project, and stages that need nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from rankproof.project import BadProject, Project, load_project
from rankproof.retrieval.stage import GROUPS, Stage
from tests.project import stages

Load = Callable[..., Project]
Faults = Callable[..., list[str]]


@pytest.fixture
def fake_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    def entries(kind: type[Stage]) -> dict[str, EntryPoint]:
        home = f"{stages.__name__}:"
        return {name: EntryPoint(name, home + cls, GROUPS[kind]) for name, cls in stages.NAMES[kind].items()}

    monkeypatch.setattr("rankproof.retrieval.stage._entries", entries)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def load(folder: Path, fake_stages: None) -> Load:
    """Writes a project file and loads it, in an environment that says nothing."""

    def loaded(text: str, environment: Mapping[str, str] | None = None, **given: Any) -> Project:
        (folder / "rankproof.yaml").write_text(text, encoding="utf-8")
        return load_project(environment=environment or {}, **given)

    return loaded


@pytest.fixture
def faults(load: Load) -> Faults:
    """What is wrong with a project file, a line for each fault."""

    def told(text: str, **given: Any) -> list[str]:
        with pytest.raises(BadProject) as caught:
            load(text, **given)
        assert caught.value.exit_code == 2
        return str(caught.value).splitlines()

    return told
