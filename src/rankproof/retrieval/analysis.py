"""Words of a text: what keyword search and token counts look at."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from itertools import chain

from rankproof.errors import UnknownName, UsageError

JOINERS = "-_.:/"
"""Signs that hold an identifier together: RFC-9110, ERR_42, v1.2.3, 2018:218, 10/2020."""

_HYPHENS = "\u2010\u2011\u2012\u2013\u2212"
_ZERO_WIDTH_SPACE = "\u200b"
_EDGES = re.compile(f"^[{JOINERS}]+|[{JOINERS}]+$")
_PARTS = re.compile(f"[{JOINERS}]+")
_DOUBLED = re.compile(f"[{JOINERS}]{{2,}}")

# Words that say how a sentence is built and not what it is about; what is left of don't and wing's stands among them.
STOP_WORDS = {
    "english": """
        a about after again all also am an and any are as at be because been before being between both but by can could
        d did do does doing don during each few for from further had has have having he her here hers him his how i if
        in into is it its itself just ll m may me might more most must my no nor not now of off on once only or other
        our out over own re s same she should so some such t than that the their them then there these they this those
        through to too under until up upon us ve very was we were what when where which while who whom why will with
        would you your
    """,
    "swedish": """
        alla allt att av blev bli blir blivit de dem den denna deras dess dessa det detta dig din dina ditt du där då
        efter ej eller en er era ett från för ha hade han hans har henne hennes hon honom hur här i icke in inom inte
        jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma
        sedan sig sin sina sitt ska skall skulle som så sådan sådana sådant till under upp ut utan vad var vara varför
        varit varje vars vem vi vid vilka vilken vilket vår våra vårt än är över
    """,
    "german": """
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei bin bis bist da damit
        dann das dass dein deine dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du
        durch ein eine einem einen einer eines er es etwas euch euer für gegen hab habe haben hat hatte hatten hier ich
        ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes kann kein keine können
        man mein meine mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine sich sie sind so
        soll sondern über um und uns unser unter vom von vor war waren warum was weil welche welcher wenn wer werde
        werden wie wieder will wir wird wo wurde zu zum zur zwischen
    """,
}
"""Stop words by language."""


class _Cut(dict[int, str | None]):
    """What becomes of each character: part of a word, a sign that joins, nothing, or the space between words."""

    def __missing__(self, code: int) -> str | None:
        self[code] = found = _kept(chr(code))
        return found


def _kept(character: str) -> str | None:
    kind = unicodedata.category(character)
    if character in JOINERS:
        return character
    if character in _HYPHENS:
        return "-"
    if kind[0] in "LNM":
        return f" {character} " if _is_word_alone(character) else character
    # Soft hyphens and the like stand inside words and are not seen.
    return None if kind == "Cf" and character != _ZERO_WIDTH_SPACE else " "


def _is_word_alone(character: str) -> bool:
    """Chinese and Japanese put no spaces between words."""
    return unicodedata.name(character, "").startswith(("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA LETTER"))


_CUT = _Cut()


def folded(text: str) -> str:
    """The text without differences of case and of compatible forms (NFKC)."""
    if text.isascii():
        return text.lower()
    # Folding the case can take characters apart again.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


_ASCII_CUT = bytes(ord(chr(code).lower().translate(_CUT)) for code in range(128)) + bytes(range(128, 256))
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def cut(texts: Iterable[str]) -> tuple[bytes, list[int]]:
    """The texts folded, as UTF-8, with spaces and no other white space between the pieces that tokens are made of.

    They stand one behind the other with a space between them; the list says how many bytes each has.
    """
    parts, sizes = [], []
    for text in texts:
        if not text.isascii():
            # As characters that each stand for a byte, so that all of them can be joined.
            beyond = _BEYOND_ASCII.sub(lambda found: found[0].translate(_CUT), folded(text))
            text = beyond.encode().decode("latin-1")
        parts.append(text)
        sizes.append(len(text))
    # A full stop after a word is in no token, but would make another piece of the word.
    return " ".join(parts).encode("latin-1").translate(_ASCII_CUT).replace(b". ", b"  "), sizes


class Analyser:
    """Cuts text into tokens.

    A word is a run of letters, digits and marks, as Unicode has them, whatever its case or compatible form; everything
    else separates. A Chinese character and a Hiragana letter is a word alone; scripts such as Thai, which put no spaces
    either, are not cut. Signs such as `-`, `.` and `:` separate too; but what they hold together is an identifier if it
    has a digit or `_` in it, and a token besides its parts: `RFC-9110` gives `rfc-9110`, `rfc` and `9110`, and so is
    found by `RFC 9110`, and found best by `RFC-9110`. With `identifiers=False` there are the parts only.

    Words are stemmed if a language is named, as PyStemmer names it; identifiers are not. Stop words are left out before
    that; `stop_words` is the language of a list of ours, or words.
    """

    def __init__(
        self,
        *,
        language: str | None = None,
        stop_words: str | Iterable[str] | None = None,
        identifiers: bool = True,
    ) -> None:
        self._stem = _stemmer(language)
        self._identifiers = identifiers
        self._stop_words = _stop_words(stop_words)
        self._known = _Known(self.tokens_of)

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order; an identifier stands before its parts."""
        pieces = folded(text).translate(_CUT).split()
        return list(chain.from_iterable(map(self._known.__getitem__, pieces)))

    def tokens_of(self, piece: str) -> tuple[str, ...]:
        """The tokens of a piece of texts that were `cut`, in order."""
        if piece.isalnum():
            return () if piece in self._stop_words else (self._stem(piece),)
        words = [word for word in _PARTS.split(piece) if word]
        kept = [self._stem(word) for word in words if word not in self._stop_words]
        if self._identifiers and len(words) > 1 and ("_" in piece or any(map(str.isdigit, piece))):
            whole = _EDGES.sub("", piece)
            # Two signs in a row are a pause or a path, not one name.
            return tuple(kept) if _DOUBLED.search(whole) else (whole, *kept)
        return tuple(kept)


class _Known(dict[str, tuple[str, ...]]):
    """Tokens of the pieces met so far, so that each is taken apart and stemmed once."""

    def __init__(self, tokens_of: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._tokens_of = tokens_of

    def __missing__(self, piece: str) -> tuple[str, ...]:
        self[piece] = found = self._tokens_of(piece)
        return found


def stemmer_version(language: str | None) -> str | None:
    """Which stemmers are at work, for digests: they change from one release to the next."""
    if language is None:
        return None
    import Stemmer

    return str(Stemmer.version())


def _stemmer(language: str | None) -> Callable[[str], str]:
    if language is None:
        return str
    import Stemmer

    if language not in Stemmer.algorithms():
        raise UnknownName("stemmer", language, Stemmer.algorithms())
    stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
    return stem


def _stop_words(given: str | Iterable[str] | None) -> frozenset[str]:
    if given is None:
        return frozenset()
    if isinstance(given, str):
        if given not in STOP_WORDS:
            raise UnknownName("list of stop words", given, STOP_WORDS)
        return frozenset(STOP_WORDS[given].split())
    plain = Analyser(identifiers=False)
    found = set()
    for word in given:
        tokens = plain.tokens(word)
        if len(tokens) != 1:
            raise UsageError(f"The stop word {word!r} is not one word; give words one by one.")
        found.add(tokens[0])
    return frozenset(found)
