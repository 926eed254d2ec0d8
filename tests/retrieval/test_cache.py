"""Answers on disk: what was cut short is never served, and nothing else is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankproof.data.gold import Query
from rankproof.errors import BadInput
from rankproof.retrieval.answers import Answer, Hit, Step
from rankproof.retrieval.cache import AnswerFile

ONE, TWO = Query("q1", "apple"), Query("q2", "pear")
ANSWER = Answer((Hit("d1", 0.1), Hit("ö", -2.5)), seconds=0.25, trail=(Step("bm25", ("d1", "ö")),))


def test_an_answer_comes_back_to_the_bit(tmp_path: Path) -> None:
    AnswerFile(tmp_path, "k").put(ONE, ANSWER)
    again = AnswerFile(tmp_path, "k")
    assert again.get(ONE) == ANSWER
    assert again.get(TWO) is None
    assert AnswerFile(tmp_path, "other").get(ONE) is None


def test_an_answer_that_failed_or_is_degraded_is_not_kept(tmp_path: Path) -> None:
    kept = AnswerFile(tmp_path, "k")
    kept.put(ONE, Answer.failed("refused"))
    kept.put(TWO, ANSWER.degraded("no key"))
    assert AnswerFile(tmp_path, "k").get(ONE) is None
    assert AnswerFile(tmp_path, "k").get(TWO) is None


def test_a_file_torn_at_any_byte_serves_whole_answers_only_and_takes_new_ones(tmp_path: Path) -> None:
    kept = AnswerFile(tmp_path, "k")
    kept.put(ONE, ANSWER)
    first = len(kept.path.read_bytes())
    kept.put(TWO, Answer((Hit("d2", 1.0),)))
    whole = kept.path.read_bytes()
    for end in range(len(whole) + 1):
        kept.path.write_bytes(whole[:end])
        torn = AnswerFile(tmp_path, "k")
        # A line is whole once all but its newline is there.
        assert torn.get(ONE) == (ANSWER if end >= first - 1 else None)
        assert (torn.get(TWO) is not None) == (end >= len(whole) - 1)
        torn.put(TWO, ANSWER)
        assert AnswerFile(tmp_path, "k").get(TWO) == ANSWER, end
        assert AnswerFile(tmp_path, "k").get(ONE) == (ANSWER if end >= first - 1 else None)


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    kept = AnswerFile(tmp_path, "k")
    kept.put(ONE, ANSWER)
    data = bytearray(kept.path.read_bytes())
    for place in range(len(data) - 1):
        data[place] ^= 1
        kept.path.write_bytes(bytes(data))
        assert AnswerFile(tmp_path, "k").get(ONE) is None, place
        data[place] ^= 1


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be"):
        AnswerFile(tmp_path / "file" / "below", "k").put(ONE, ANSWER)
