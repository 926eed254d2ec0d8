"""Vectors are kept by content: nothing is embedded twice, nothing stale or torn is served."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from rankproof.retrieval.embedding.model import Rows
from rankproof.retrieval.embedding.store import VectorStore, text_vectors
from rankproof.retrieval.stage import Place

ROOT = Path(__file__).parents[3]
TEXTS = ["a", "bb", "ccc", "dddd", "eeeee"]


@dataclass
class Lengths:
    """A model that measures how long a text is, and remembers what it was asked."""

    digest: str = "lengths"
    dimensions: int = 2
    batch_size: int = 2
    asked: list[str] = field(default_factory=list)
    stops_at: str | None = None

    def encode(self, texts: Sequence[str]) -> Rows:
        if self.stops_at in texts:
            raise KeyboardInterrupt
        self.asked += texts
        return np.array([[len(text), len(text) / 3] for text in texts], np.float32)


def place_in(folder: Path) -> Place:
    return Place(folder, store=folder / "store")


def test_each_text_has_its_vector_in_half_precision(tmp_path: Path) -> None:
    found = text_vectors(Lengths(), ["bb", "a"], place_in(tmp_path))
    assert found.dtype == np.float16
    assert found.tolist() == [[2.0, float(np.float16(2 / 3))], [1.0, float(np.float16(1 / 3))]]


def test_the_second_time_nothing_is_embedded_and_the_vectors_are_the_same_bits(tmp_path: Path) -> None:
    first = text_vectors(Lengths(), TEXTS, place_in(tmp_path))
    again = Lengths()
    assert text_vectors(again, TEXTS[::-1], place_in(tmp_path))[::-1].tobytes() == first.tobytes()
    assert again.asked == []


def test_only_new_texts_are_embedded_and_each_once(tmp_path: Path) -> None:
    text_vectors(Lengths(), ["a", "bb"], place_in(tmp_path))
    model = Lengths()
    found = text_vectors(model, ["a", "new", "bb", "new"], place_in(tmp_path))
    assert model.asked == ["new"]
    assert found[:, 0].tolist() == [1, 3, 2, 3]


def test_another_model_does_not_get_these_vectors(tmp_path: Path) -> None:
    text_vectors(Lengths(), TEXTS, place_in(tmp_path))
    other = Lengths(digest="other")
    text_vectors(other, TEXTS, place_in(tmp_path))
    assert other.asked == TEXTS


def test_a_text_without_anything_in_it_is_the_zero_vector_and_no_model_is_asked(tmp_path: Path) -> None:
    model = Lengths()
    assert text_vectors(model, ["", " \n", "a"], place_in(tmp_path))[:, 0].tolist() == [0, 0, 1]
    assert model.asked == ["a"]
    assert text_vectors(model, [], place_in(tmp_path)).shape == (0, 2)


def test_an_interrupted_embedding_goes_on_after_its_last_batch(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        text_vectors(Lengths(stops_at="eeeee"), TEXTS, place_in(tmp_path))
    model = Lengths()
    found = text_vectors(model, TEXTS, place_in(tmp_path))
    assert model.asked == ["eeeee"]
    assert found[:, 0].tolist() == [1, 2, 3, 4, 5]


def test_what_a_killed_process_had_saved_is_used(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from tests.retrieval.embedding.test_store import TEXTS, Lengths, place_in, text_vectors\n"
        "class Dies(Lengths):\n"
        "    def encode(self, texts):\n"
        "        return os.kill(os.getpid(), 9) if 'ccc' in texts else super().encode(texts)\n"
        "text_vectors(Dies(), TEXTS, place_in(Path(sys.argv[1])))\n"
    )
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, check=False).returncode != 0
    model = Lengths()
    assert text_vectors(model, TEXTS, place_in(tmp_path))[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert model.asked == ["ccc", "dddd", "eeeee"]


def test_a_torn_segment_is_embedded_again_and_mended(tmp_path: Path) -> None:
    whole = text_vectors(Lengths(), TEXTS, place_in(tmp_path))
    segments = sorted((tmp_path / "store").rglob("*.vectors"))
    assert len(segments) == 3
    before = [path.read_bytes() for path in segments]
    segments[1].write_bytes(before[1][:-1])
    model = Lengths()
    assert text_vectors(model, TEXTS, place_in(tmp_path)).tobytes() == whole.tobytes()
    assert 1 <= len(model.asked) <= 2
    assert [path.read_bytes() for path in segments] == before


def test_what_was_not_moved_into_place_is_not_looked_at(tmp_path: Path) -> None:
    text_vectors(Lengths(), ["a"], place_in(tmp_path))
    (segment,) = (tmp_path / "store").rglob("*.vectors")
    segment.rename(segment.with_name(f".{segment.name}.123.tmp"))
    model = Lengths()
    text_vectors(model, ["a"], place_in(tmp_path))
    assert model.asked == ["a"]


def test_a_sealed_file_that_is_no_segment_is_passed_over(tmp_path: Path) -> None:
    from rankproof.retrieval.embedding.sealed import write_sealed

    store = VectorStore(tmp_path, "model")
    assert store.folder is not None
    write_sealed(store.folder / "other.vectors", b"of another version")
    assert VectorStore(tmp_path, "model").fetch([], lambda texts: [], batch_size=1) == []


def test_without_a_store_nothing_is_written(tmp_path: Path) -> None:
    model = Lengths()
    assert text_vectors(model, TEXTS, Place(tmp_path))[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told_before_each_batch_and_at_the_end(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    place = replace(place_in(tmp_path), progress=lambda *args: told.append(args))
    text_vectors(Lengths(), ["a"], place)
    told.clear()
    text_vectors(Lengths(), [*TEXTS, "a"], place)
    assert told == [("embedding", done, 5) for done in (1, 3, 5)]
    told.clear()
    text_vectors(Lengths(), TEXTS, place)
    assert told == []


def test_rows_may_be_many_or_none(tmp_path: Path) -> None:
    def letters(texts: Sequence[str]) -> list[Rows]:
        return [np.array([[ord(letter)] for letter in text], np.float32).reshape(-1, 1) for text in texts]

    for _ in range(2):
        found = VectorStore(tmp_path, "letters").fetch(["ab", "", "c"], letters, batch_size=10)
        assert [rows[:, 0].tolist() for rows in found] == [[97, 98], [], [99]]


def test_processes_that_embed_at_the_same_time_do_not_harm_each_other(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.retrieval.embedding.test_store import Lengths, place_in, text_vectors\n"
        "texts = [str(i) * (i % 50 + 1) for i in range(int(sys.argv[2]), int(sys.argv[2]) + 200)]\n"
        "text_vectors(Lengths(), texts, place_in(Path(sys.argv[1])))\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(first)], cwd=ROOT) for first in (0, 0, 100)
    ]
    assert [process.wait() for process in started] == [0, 0, 0]
    model = Lengths()
    texts = [str(i) * (i % 50 + 1) for i in range(300)]
    found = text_vectors(model, texts, place_in(tmp_path))
    assert model.asked == []
    assert found[:, 0].tolist() == [len(text) for text in texts]
