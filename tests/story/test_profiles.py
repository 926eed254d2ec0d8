"""Profiles: rankings of all scenes, equal to those of the stages, the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.errors import UnknownName
from rankproof.retrieval.stage import RetrieverStage, stage_class
from rankproof.story.profiles import PROFILES, Ranker, profile_name
from tests.retrieval.texts import place_of

WORDS = ["storm", "sea", "bell", "Fog", "the", "the"]
TEXTS = ["storm at sea", "", "the bell rings", "fog over the sea", "… !", "a storm, a bell"]


def order(texts: Sequence[str], profile: str, query: str) -> list[int]:
    ((found, _),) = Ranker.of(texts, profile).rankings([query])
    return [int(place) for place in found]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_scene_is_ranked_once_the_most_alike_first(profile: str) -> None:
    found = order(TEXTS, profile, "storm at sea")
    assert found[0] == 0
    assert sorted(found) == list(range(len(TEXTS)))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("query", ["storm", "nothing like it", ""])
def test_scenes_without_a_word_come_last_in_story_order(profile: str, query: str) -> None:
    assert order(TEXTS, profile, query)[-2:] == [1, 4]


@pytest.mark.parametrize("profile", PROFILES)
def test_equal_similarities_stay_in_story_order(profile: str) -> None:
    assert order(["x bell", "bell x", "bell", "X, BELL"], profile, "bell")[1:] == [0, 1, 3]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_query_without_a_word_leaves_the_story_in_order(profile: str) -> None:
    assert order(TEXTS, profile, "?") == [0, 2, 3, 5, 1, 4]


def test_a_scene_that_points_away_from_the_query_comes_before_an_empty_one() -> None:
    # Of many scenes of one strange word each, about half point away from the query.
    words = [f"w{i}" for i in range(20)]
    ((_, similarities),) = Ranker.of(words, "vsa").rankings(["bell"])
    away = [word for word, similarity in zip(words, similarities, strict=True) if similarity < 0]
    assert away
    assert order(["", *away], "vsa", "bell")[-1] == 0


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from([*WORDS, ""]), max_size=4), min_size=1, max_size=6), st.data())
def test_an_empty_scene_is_never_before_one_with_words(scenes: list[list[str]], data: st.DataObject) -> None:
    texts = [" ".join(words).strip() for words in scenes]
    query = " ".join(data.draw(st.lists(st.sampled_from(WORDS), max_size=3)))
    for profile in PROFILES:
        worded = [bool(texts[place]) for place in order(texts, profile, query)]
        assert worded == sorted(worded, reverse=True)


@settings(deadline=None)
@given(st.permutations(WORDS))
def test_the_order_of_words_changes_nothing_and_a_word_that_stands_twice_counts_twice(words: list[str]) -> None:
    for profile in PROFILES:
        scenes = [" ".join(words), "the the the", "storm sea"]
        ((_, found),) = Ranker.of(scenes, profile).rankings(["the storm"])
        ((_, expected),) = Ranker.of([" ".join(WORDS), *scenes[1:]], profile).rankings(["the storm"])
        np.testing.assert_array_equal(found, expected)
        once = order(["the bell", "the the bell"], profile, "the")
        assert once == [1, 0]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_stage_of_that_name_returns_the_same_order(profile: str) -> None:
    place = place_of({f"Sc{i}": text for i, text in enumerate(TEXTS)})
    stage = stage_class(profile, RetrieverStage).model_validate({"ties": "corpus"})
    assert isinstance(stage, RetrieverStage)
    for query in ("storm at sea", "the bell", "fog"):
        (answer,) = stage.open(place).search([Query("q", query)], 100)
        ((found, similarities),) = Ranker.of(TEXTS, profile).rankings([query])
        ranked = [(f"Sc{i}", similarities[i]) for i in found.tolist()]
        assert [(hit.doc_id, hit.score) for hit in answer.hits] == ranked[: len(answer.hits)]
        assert all(similarity == 0 for _, similarity in ranked[len(answer.hits) :])


def test_vectors_take_1250_bytes_and_are_filled_up_to_whole_words() -> None:
    assert Ranker.of(TEXTS, "vsa").index.n_bytes == len(TEXTS) * 1256


def test_the_size_of_counts_is_that_of_their_arrays_and_words() -> None:
    # starts 3, places 3, counts 3, squares 2, each of 8 bytes; "a" and "bc".
    assert Ranker.of(["a bc", "a"], "bow").index.n_bytes == (3 + 3 + 3 + 2) * 8 + 3


def test_basic_is_bow_and_an_unknown_profile_is_answered_with_the_nearest() -> None:
    assert profile_name("basic") == "bow"
    with pytest.raises(UnknownName, match=r"There is no profile called 'vsaa'. Did you mean 'vsa'"):
        profile_name("vsaa")


SCRIPT = """
from rankproof.story.profiles import Ranker
texts = ["storm at sea", "", "the bell rings", "fog over the sea"]
for profile in ("vsa", "bow"):
    for order, similarities in Ranker.of(texts, profile).rankings(["the storm", "bell"]):
        print(profile, order.tolist(), similarities.tolist())
"""


def test_another_process_with_another_hash_seed_gives_the_same_bits() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1
    # Written out, so that another platform or release would be noticed as well.
    assert outputs.pop().decode().splitlines()[:2] == [
        "vsa [3, 2, 0, 1] [0.238, 0.0, 0.2586, 0.3542]",
        "vsa [2, 0, 3, 1] [0.0036, 0.0, 0.4954, -0.009]",
    ]


def test_documents_in_a_corpus_are_not_searched_by_their_name() -> None:
    corpus = Corpus((Document("bell", "storm"), Document("Sc2", "bell")))
    assert order([document.text for document in corpus], "bow", "bell")[0] == 1
