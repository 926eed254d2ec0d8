"""How text is cut into tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.errors import UnknownName, UsageError
from rankproof.retrieval.analysis import STOP_WORDS, Analyser, cut


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The WING, the lift!", ["the", "wing", "the", "lift"]),
        ("", []),
        ("… – !?", []),
        ("Don't touch the wing's edge", ["don", "t", "touch", "the", "wing", "s", "edge"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("e.g. this. And that", ["e", "g", "this", "and", "that"]),
    ],
)
def test_words_are_runs_of_letters_and_digits(text: str, expected: list[str]) -> None:
    assert Analyser().tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2018:218", ["2018:218", "2018", "218"]),
        ("AFS 2020:1", ["afs", "2020:1", "2020", "1"]),
        ("RFC-9110", ["rfc-9110", "rfc", "9110"]),
        ("RFC\u20119110", ["rfc-9110", "rfc", "9110"]),
        ("RFC 9110", ["rfc", "9110"]),
        ("v1.2.3.", ["v1.2.3", "v1", "2", "3"]),
        ("(ERR_42)", ["err_42", "err", "42"]),
        ("CVE-2024-1234", ["cve-2024-1234", "cve", "2024", "1234"]),
        ("6 kap. 3 §", ["6", "kap", "3"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("__init__", ["init"]),
        ("1914--1918", ["1914", "1918"]),
    ],
)
def test_an_identifier_is_a_token_besides_its_parts(text: str, expected: list[str]) -> None:
    assert Analyser().tokens(text) == expected


def test_without_identifiers_there_are_the_parts_only() -> None:
    assert Analyser(identifiers=False).tokens("RFC-9110 and ERR_42") == ["rfc", "9110", "and", "err", "42"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("STRASSE", "Straße"),
        ("\u00c5ngstr\u00f6m", "A\u030angstro\u0308m"),
        ("ﬁne", "FINE"),
        ("ｗｉｎｇ", "wing"),
        ("co\u00adoperate", "cooperate"),
        ("ΟΔΟΣ", "οδος"),
    ],
)
def test_what_is_written_alike_is_the_same_token(one: str, other: str) -> None:
    assert Analyser().tokens(one) == Analyser().tokens(other)
    assert len(Analyser().tokens(one)) == 1


def test_marks_belong_to_words() -> None:
    assert Analyser().tokens("हिन्दी में") == ["हिन्दी", "में"]


def test_a_chinese_character_is_a_word_alone_and_katakana_stay_together() -> None:
    assert Analyser().tokens("日本の カタカナ") == ["日", "本", "の", "カタカナ"]


def test_words_are_stemmed_in_the_language_that_is_named_and_identifiers_are_not() -> None:
    assert Analyser(language="english").tokens("flying wings") == ["fli", "wing"]
    assert Analyser(language="swedish").tokens("bilarna") == ["bil"]
    assert Analyser(language="english").tokens("wings_2") == ["wings_2", "wing", "2"]


def test_a_language_without_a_stemmer_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"There is no stemmer called 'englisch'\. Did you mean 'english'"):
        Analyser(language="englisch")


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("english", "the lift of the wing's edge", ["lift", "wing", "edge"]),
        ("swedish", "Vad är en bil och vem har den?", ["bil"]),
        ("german", "Für die Brücke über den Fluß", ["brücke", "fluss"]),
    ],
)
def test_stop_words_of_a_language_are_left_out(language: str, text: str, expected: list[str]) -> None:
    assert Analyser(stop_words=language).tokens(text) == expected


def test_own_stop_words_are_compared_as_tokens_are_and_before_stemming() -> None:
    analyser = Analyser(language="english", stop_words=["WINGS"])
    assert analyser.tokens("wings and wing") == ["and", "wing"]


def test_a_stop_word_that_is_not_one_word_is_refused() -> None:
    with pytest.raises(UsageError, match="The stop word 'in spite' is not one word; give words one by one"):
        Analyser(stop_words=["in spite"])


def test_a_list_of_stop_words_that_does_not_exist_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no list of stop words called 'swedisch'\. Did you mean 'swedish'"):
        Analyser(stop_words="swedisch")


@pytest.mark.parametrize("language", STOP_WORDS)
def test_every_stop_word_of_ours_is_one_token_and_stands_once(language: str) -> None:
    words = STOP_WORDS[language].split()
    assert Analyser().tokens(STOP_WORDS[language]) == words
    assert len(set(words)) == len(words)


@settings(deadline=None)
@given(st.text())
def test_tokens_cut_again_are_the_same_tokens(text: str) -> None:
    analyser = Analyser(identifiers=False)
    tokens = analyser.tokens(text)
    assert analyser.tokens(" ".join(tokens)) == tokens
    assert all(tokens)


@settings(deadline=None)
@given(st.text(), st.text())
def test_the_tokens_of_two_texts_are_those_of_each(one: str, other: str) -> None:
    analyser = Analyser()
    assert analyser.tokens(f"{one}\n{other}") == analyser.tokens(one) + analyser.tokens(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The WING, (ERR_42). End.", b"the wing   err_42   end."),
        ("Ｗing\u2011é\t\ud800", "wing-é  ".encode()),
        ("a\nb\x00c", b"a b c"),
        ("", b""),
    ],
)
def test_a_text_is_cut_into_pieces_by_spaces(text: str, expected: bytes) -> None:
    assert cut([text]) == (expected, [len(expected)])


def test_texts_that_are_cut_stand_one_behind_the_other_with_a_space_between() -> None:
    assert cut(["One.", "", "Zwölf, 東"]) == ("one   zwölf   東 ".encode(), [4, 0, 13])


@settings(deadline=None)
@given(st.one_of(st.text(), st.text("aB1-_.: é")))
def test_the_tokens_of_the_pieces_are_those_of_the_text(text: str) -> None:
    analyser = Analyser(language="english", stop_words=["a"])
    pieces = cut([text])[0].decode().split(" ")
    assert [token for piece in pieces if piece for token in analyser.tokens_of(piece)] == analyser.tokens(text)
