"""The text of queries and documents brought into one form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

from rankproof.retrieval.stage import Place, TextStage

_INNER_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010\u2011](?=[^\W\d_])")
_ACCENT = re.compile("[\u0300-\u036f]+")
_SPACES = re.compile(r"\s+")


class Normalizer(TextStage):
    """Rewrites text in this order: form, case, accents, hyphens, punctuation, white space."""

    reads_corpus = False

    form: Literal["NFC", "NFKC"] | None = "NFKC"
    """The Unicode form: NFKC also makes ﬁ, ² and full-width letters plain."""
    lower: bool = True
    """Lower case, as for comparison: ß becomes ss."""
    accents: Literal["keep", "strip"] = "keep"
    """`strip` takes é for e and å for a; letters of their own, such as ø and ł, stay."""
    hyphens: Literal["keep", "join", "space"] = "keep"
    """What becomes of a hyphen between letters: `e-mail` stays, or becomes `email` or `e mail`. RFC-9110 stays."""
    punctuation: Literal["keep", "space"] = "keep"
    """`space` puts a space for whatever is no letter, digit or mark; identifiers such as 2018:218 come apart."""
    spaces: Literal["keep", "single"] = "single"
    """`single` makes one space of any white space, and none at the ends."""

    def open(self, place: Place) -> Callable[[str], str]:
        """The function that rewrites a text."""
        steps = self._steps()

        def rewrite(text: str) -> str:
            for step in steps:
                text = step(text)
            return text

        return rewrite

    def _steps(self) -> list[Callable[[str], str]]:
        form, hyphen = self.form, {"join": "", "space": " "}.get(self.hyphens)
        steps: list[Callable[[str], str]] = []
        if form is not None:
            steps.append(lambda text: unicodedata.normalize(form, text))
        if self.lower:
            # Folding the case can take characters apart.
            steps.append(lambda text: unicodedata.normalize(form or "NFC", text.casefold()))
        if self.accents == "strip":
            steps.append(_without_accents)
        if hyphen is not None:
            steps.append(lambda text: _INNER_HYPHEN.sub(hyphen, text))
        if self.punctuation == "space":
            steps.append(_without_punctuation)
        if self.spaces == "single":
            steps.append(lambda text: _SPACES.sub(" ", text).strip())
        return steps


def _without_accents(text: str) -> str:
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))


def _without_punctuation(text: str) -> str:
    return "".join(sign if unicodedata.category(sign)[0] in "LNM" or sign.isspace() else " " for sign in text)
