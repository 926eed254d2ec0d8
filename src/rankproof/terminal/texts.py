"""Text of others, made fit for the screen, and the words of a query in it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from rankproof.labeling.visible import visible

# Signs without width of their own, on whose width terminals do not agree; joiners, which scripts need, stay.
_NO_WIDTH = re.compile("[\u00ad\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]"
)
_TAB = 4
_SAMPLE = 200
_ENOUGH = 10
_MOST_MATCHES = 2000


def readable(text: str) -> str:
    """The text with nothing in it that steers a terminal or that it cannot measure."""
    return visible(_NO_WIDTH.sub("", text)).expandtabs(_TAB)


def words_of(text: str) -> frozenset[str]:
    """The words of a text, with the differences of case and of composed characters taken away."""
    return frozenset(_folded(found.group()) for found in _word(text).finditer(text))


def common_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that more than half of the texts have: to set them off says nothing. None if there are few texts."""
    sample = [words_of(text) for text in islice(texts, _SAMPLE)]
    if len(sample) < _ENOUGH:
        return frozenset()
    found = Counter(word for words in sample for word in words)
    return frozenset(word for word, times in found.items() if 2 * times > len(sample))


def matches(text: str, words: frozenset[str]) -> list[tuple[int, int]]:
    """Where the words stand in the text, as (start, end), in order.

    A word counts where it stands as a whole; one in a script that is written without spaces counts anywhere.
    """
    found = {match.span() for match in _word(text).finditer(text) if _folded(match.group()) in words}
    for word in words:
        if _UNSPACED.search(word):
            found.update(match.span() for match in re.finditer(re.escape(word), text))
    return sorted(found)[:_MOST_MATCHES]


def _word(text: str) -> re.Pattern[str]:
    """What a word is in this text: letters and digits with the marks that sit on them, which `\\w` leaves out."""
    marks = "".join(sorted(sign for sign in set(text) if unicodedata.category(sign)[0] == "M"))
    return re.compile(rf"[\w{re.escape(marks)}]+")


def _folded(word: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).casefold())
