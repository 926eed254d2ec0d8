"""Files for the readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Save = Callable[[str, str | bytes], Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Writes a file of this name and content and gives its path."""

    def write(name: str, content: str | bytes) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return write
