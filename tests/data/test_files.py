"""Bytes come out of whatever wraps them, and go into files whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import pytest

from rankproof.data.files import append_line, head, read_bytes, source_name, write_whole
from rankproof.errors import BadInput

TEXT = b"q1 0 d1 1\n" * 100


def zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as library
    else:
        from backports import zstd as library
    return bytes(library.compress(data))


GZIP = gzip.compress(TEXT)


@pytest.mark.parametrize("packed", [TEXT, GZIP, zstd(TEXT), GZIP * 2], ids=["plain", "gzip", "zstd", "gzip twice"])
def test_the_content_tells_how_a_file_is_packed(tmp_path: Path, packed: bytes) -> None:
    file = tmp_path / "file.any"
    file.write_bytes(packed)
    assert read_bytes(file).startswith(TEXT)
    assert head(file, 4) == b"q1 0"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_a_byte_order_mark_means_nothing(tmp_path: Path, pack: type[bytes]) -> None:
    (tmp_path / "file").write_bytes(pack(b"\xef\xbb\xbfq1"))
    assert read_bytes(tmp_path / "file") == b"q1"
    assert head(tmp_path / "file") == b"q1"


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_packed_file_that_is_cut_short_is_refused(tmp_path: Path, pack: type[bytes]) -> None:
    file = tmp_path / "cut"
    file.write_bytes(pack(os.urandom(5000))[:-20])
    with pytest.raises(BadInput, match="damaged or cut short") as caught:
        read_bytes(file)
    assert caught.value.faults[0].source == str(file)


def test_a_damaged_packed_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\x1f\x8b" + b"\xff" * 40)
    with pytest.raises(BadInput):
        read_bytes(tmp_path / "bad")
    (tmp_path / "bad").write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 40)
    with pytest.raises(BadInput, match="damaged"):
        read_bytes(tmp_path / "bad")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        read_bytes(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: there is no such file"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="this is a folder, not a file"):
        read_bytes(tmp_path)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankproof.data.files._BOMB_BYTES", 1 << 20)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(1 << 24)))
    with pytest.raises(BadInput, match="unpack it yourself"):
        read_bytes(tmp_path / "bomb.gz")


@pytest.mark.parametrize("packed", [TEXT, GZIP, zstd(TEXT)], ids=["plain", "gzip", "zstd"])
def test_looking_at_standard_input_takes_nothing_away(monkeypatch: pytest.MonkeyPatch, packed: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(packed))))
    assert head("-").startswith(b"q1 0 d1 1\n")
    assert read_bytes("-") == TEXT
    assert source_name("-") == "<stdin>"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_looking_at_a_pipe_takes_nothing_away(tmp_path: Path, pack: type[bytes]) -> None:
    os.mkfifo(tmp_path / "pipe")
    text = b"q1 0 d1 1\n" * 50_000
    for _ in range(2):
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(pack(text),))
        writer.start()
        assert head(tmp_path / "pipe").startswith(b"q1 0 d1 1\n")
        assert read_bytes(tmp_path / "pipe") == text
        writer.join()


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"old and longer")
    write_whole(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out"]


def test_a_failed_write_leaves_the_old_file_and_no_half_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="cannot be written: No space left on device"):
        write_whole(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_that_is_not_there_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        write_whole(tmp_path / "none" / "out", b"new")


def test_standard_output_is_a_dash(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_whole("-", b"bytes\n")
    assert capfdbinary.readouterr().out == b"bytes\n"


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_line_goes_to_the_end_and_begins_a_new_one(tmp_path: Path) -> None:
    append_line(tmp_path / "log", "one\n")
    append_line(tmp_path / "log", "two\n")
    (tmp_path / "log").write_bytes((tmp_path / "log").read_bytes()[:-1])
    append_line(tmp_path / "log", "three\n")
    assert (tmp_path / "log").read_text() == "one\ntwo\nthree\n"


def test_a_line_that_cannot_be_written_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="log: cannot be written: No such file or directory"):
        append_line(tmp_path / "none" / "log", "one\n")
