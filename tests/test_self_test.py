"""The oracle scores 1 and nothing scores 0 under every preset, and a broken measure is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from rankproof.data.qrels import Qrels
from rankproof.measures.judged import Floats, Judged
from rankproof.measures.parse import parse_measures
from rankproof.measures.registry import _by_alias, _families, families, measure
from rankproof.scoring.rules import PRESETS
from rankproof.self_test import SelfTestFailed, self_test

QRELS = Qrels.from_dict({
    "q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}, "q3": {"b": 2, "d": 2, "e": 1}, "q4": {"x": 0},
})  # fmt: skip


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_loader_and_measures_hold_under_every_preset(preset: str) -> None:
    names = [f"{name}@5" if own.cutoff == "required" else name for name, own in families().items()]
    usual = [name for name in names if not name.startswith("IPrec") and family_is_plain(name)]
    self_test(QRELS, parse_measures(usual), PRESETS[preset])


def family_is_plain(name: str) -> bool:
    """Whether a perfect ranking scores the same for every query, whatever the preset's gains are."""
    own = families()[name.split("@")[0]]
    return own.perfect is not None and own.aggregate == "mean"


def test_a_broken_measure_is_noticed_with_the_query_and_the_value() -> None:
    try:

        @measure("Broken")
        def broken(judged: Judged) -> Floats:
            """Half of what it should be."""
            return np.full(judged.n_queries, 0.5)

        with pytest.raises(SelfTestFailed, match=r"scores 0\.5000 in Broken on query 'q1', and 1 is right") as caught:
            self_test(QRELS, parse_measures("Broken"), PRESETS["default"])
        assert caught.value.exit_code == 70
    finally:
        _families.pop("Broken", None)
        _by_alias.pop("broken", None)


def test_a_measure_whose_perfect_value_depends_on_the_query_is_not_held_to_one() -> None:
    self_test(QRELS, parse_measures(["P@5", "RR", "nDCG@10"]), PRESETS["default"])


def test_a_gold_set_without_relevant_documents_proves_nothing_and_fails_nothing() -> None:
    self_test(Qrels.from_dict({"q": {"a": 0}}), parse_measures("RR"), PRESETS["default"])
