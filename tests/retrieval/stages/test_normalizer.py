"""Text brought into one form."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rankproof.retrieval.stage import Place, TextStage, stage_class
from rankproof.retrieval.stages.normalizer import Normalizer

HERE = Place(Path("."))
NOTHING = {"form": None, "lower": False, "spaces": "keep"}


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({}, "  The ﬁne\n\tＷＩＮＧ ", "the fine wing"),
        (NOTHING, "  The ﬁne\n E-mail é", "  The ﬁne\n E-mail é"),
        ({**NOTHING, "form": "NFC"}, "e\u0301 ﬁ", "\u00e9 ﬁ"),
        ({**NOTHING, "form": "NFKC"}, "e\u0301 ﬁ²", "\u00e9 fi2"),
        ({**NOTHING, "lower": True}, "Straße WING", "strasse wing"),
        ({**NOTHING, "hyphens": "join"}, "e-mail re\u2010use", "email reuse"),
        ({**NOTHING, "hyphens": "join"}, "RFC-9110 - x -y 2018-218", "RFC-9110 - x -y 2018-218"),
        ({**NOTHING, "hyphens": "space"}, "state-of-the-art", "state of the art"),
        ({**NOTHING, "accents": "strip"}, "Ångström café œuvre Øresund", "Angstrom cafe œuvre Øresund"),
        ({**NOTHING, "accents": "strip"}, "हिन्दी", "हिन्दी"),
        ({**NOTHING, "punctuation": "space"}, "what, 2018:218?", "what  2018 218 "),
        ({**NOTHING, "spaces": "single"}, " a\u00a0\n b ", "a b"),
    ],
)
def test_by_option(options: dict[str, Any], text: str, expected: str) -> None:
    assert Normalizer.model_validate(options).open(HERE)(text) == expected


def test_an_unknown_option_or_form_is_refused() -> None:
    for options in ({"form": "NFX"}, {"case": "lower"}):
        with pytest.raises(ValidationError):
            Normalizer.model_validate(options)


def test_it_is_found_by_its_name() -> None:
    assert stage_class("normalizer", TextStage) is Normalizer


CHOICES = [
    {"lower": lower, "hyphens": hyphens, "accents": accents, "punctuation": punctuation}
    for lower, hyphens, accents, punctuation in itertools.product(
        (False, True), ("keep", "join", "space"), ("keep", "strip"), ("keep", "space")
    )
]


@settings(deadline=None)
@given(st.text(), st.sampled_from(CHOICES))
def test_what_is_normal_stays_as_it_is(text: str, options: dict[str, Any]) -> None:
    rewrite = Normalizer.model_validate(options).open(HERE)
    assert rewrite(rewrite(text)) == rewrite(text)
