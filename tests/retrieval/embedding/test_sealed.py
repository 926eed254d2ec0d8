"""A sealed file is used whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankproof.errors import BadInput
from rankproof.retrieval.embedding.sealed import read_sealed, write_sealed


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_sealed(tmp_path / "deep" / "file", b"content")
    found = read_sealed(tmp_path / "deep" / "file")
    assert found is not None
    assert bytes(found) == b"content"


def test_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_sealed(tmp_path / "file") is None


def test_a_file_cut_short_at_any_byte_is_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_sealed(path, b"content")
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        assert read_sealed(path) is None, end


def test_a_file_with_one_bit_turned_is_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_sealed(path, b"content")
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert read_sealed(path) is None, at


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(BadInput, match=r"taken.*: the folder cannot be made"):
        write_sealed(tmp_path / "taken" / "file", b"content")
