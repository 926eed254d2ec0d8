"""The light model: the package's own vectors, without the package's habits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rankproof.errors import MissingExtra, UsageError
from rankproof.retrieval.embedding.model import ModelOptions
from rankproof.retrieval.embedding.wordllama import WordLlama

TEXTS = ["boundary layer flow", "Hur söker jag föräldrapenning?", "a", "cat " * 2000]


def test_the_vectors_are_those_of_the_package() -> None:
    # In a process of its own, because the package sets up logging for everybody when it is imported.
    script = (
        "import json, sys, wordllama; from pathlib import Path; from wordllama import WordLlama\n"
        "model = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)\n"
        "print(json.dumps(model.embed(json.loads(sys.argv[1]), norm=True).tolist()))"
    )
    done = subprocess.run([sys.executable, "-c", script, json.dumps(TEXTS)], capture_output=True, check=True)
    found = WordLlama(ModelOptions()).encode(TEXTS)
    assert found.shape == (4, 256)
    assert np.abs(found - np.array(json.loads(done.stdout))).max() < 1e-6


def test_a_text_without_tokens_is_the_zero_vector() -> None:
    found = WordLlama(ModelOptions()).encode(["", "cat"])
    assert not found[0].any()
    assert np.linalg.norm(found[1]) == pytest.approx(1)


def test_a_text_does_not_depend_on_those_beside_it() -> None:
    model = WordLlama(ModelOptions())
    alone = np.concatenate([model.encode([text]) for text in TEXTS])
    assert (model.encode(TEXTS) == alone).all()


def test_only_the_first_tokens_are_read_if_asked_for() -> None:
    model = WordLlama(ModelOptions(max_length=2))
    assert (model.encode(["cat dog fish"]) == model.encode(["cat dog"])).all()
    assert model.digest != WordLlama(ModelOptions()).digest


def test_nothing_is_loaded_that_could_ask_the_network() -> None:
    script = (
        "import sys\n"
        "from rankproof.retrieval.embedding.model import ModelOptions\n"
        "from rankproof.retrieval.embedding.wordllama import WordLlama\n"
        "WordLlama(ModelOptions()).encode(['cat'])\n"
        "print([name for name in ('wordllama', 'requests', 'urllib3', 'huggingface_hub') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
    assert done.stderr == ""


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankproof.retrieval.embedding.wordllama.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"The model wordllama needs: pip install \"rankproof\[dense\]\""):
        WordLlama(ModelOptions())


def test_a_package_without_weights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wordllama").mkdir()
    (tmp_path / "wordllama" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="has no weights in it"):
        WordLlama(ModelOptions())


def test_it_has_no_first_token_to_pool() -> None:
    with pytest.raises(UsageError, match="leave `pooling` out"):
        WordLlama(ModelOptions(pooling="cls"))
