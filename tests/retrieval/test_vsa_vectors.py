"""Long vectors of ±1: what they are, and that they are the same everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import shake_256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankproof.retrieval.vsa_vectors import DIMENSIONS, Vectors, encode


def signs(vectors: Vectors) -> NDArray[np.float64]:
    """The vectors as ±1, empty ones as 0."""
    bits = np.unpackbits(vectors.words.view(np.uint8), axis=1)[:, : vectors.dimensions].astype(np.float64)
    return np.where(vectors.empty[:, None], 0.0, 2 * bits - 1)


def token_signs(token: str, kind: str = "token\0", n: int = DIMENSIONS) -> NDArray[np.float64]:
    """The vector of a token, by its definition."""
    digest = shake_256(f"42\0{kind}{token}".encode()).digest(n // 8)
    return 2 * np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.float64) - 1


def test_the_vector_of_a_token_is_the_shake_256_of_seed_and_token() -> None:
    assert signs(encode([["wing"]]))[0].tolist() == token_signs("wing").tolist()
    # Written out, so that another release that changes them is noticed.
    assert encode([["wing"]]).words.view(np.uint8)[0, :8].tobytes().hex() == "9f40789da5be16c9"


def test_a_text_is_the_majority_of_its_tokens_and_ties_go_by_a_fixed_vector() -> None:
    total = token_signs("wing") * 2 + token_signs("lift") + token_signs("drag")
    ties = token_signs("", kind="ties")
    assert (total == 0).mean() == pytest.approx(0.25, abs=0.02)
    expected = np.where(total == 0, ties, np.sign(total))
    assert signs(encode([["wing", "lift", "wing", "drag"]]))[0].tolist() == expected.tolist()


def test_ties_are_not_sent_to_one_side() -> None:
    total = token_signs("wing") + token_signs("lift")
    tied = signs(encode([["wing", "lift"]]))[0][total == 0]
    assert tied.mean() == pytest.approx(0, abs=0.05)


def test_similarity_is_the_cosine_of_the_vectors() -> None:
    texts = [["wing", "lift"], ["wing"], ["heat", "flow", "wing"], []]
    vectors = encode(texts)
    floats = signs(vectors)
    for row in range(len(texts)):
        expected = floats @ floats[row] / DIMENSIONS
        assert vectors.similarities(vectors, row).tolist() == expected.tolist()


def test_a_text_is_as_like_itself_as_can_be_and_strangers_are_hardly_alike() -> None:
    vectors = encode([["wing", "lift", "drag"], ["heat", "flow", "slab"], ["heat", "flow"]])
    found = vectors.similarities(vectors, 0)
    assert found[0] == 1.0
    assert abs(found[1]) < 0.05
    assert abs(found[2]) < 0.05


def test_strangers_agree_where_both_are_undecided() -> None:
    vectors = encode([["wing", "lift"], ["heat", "flow"]])
    # Two tokens cancel each other in half of the dimensions, and two texts of them in a quarter.
    assert vectors.similarities(vectors, 0)[1] == pytest.approx(0.25, abs=0.05)


def test_empty_text_is_like_nothing_itself_included() -> None:
    vectors = encode([[], ["wing"], []])
    assert vectors.similarities(vectors, 0).tolist() == [0.0, 0.0, 0.0]
    assert vectors.similarities(vectors, 1).tolist() == [0.0, 1.0, 0.0]


def test_a_vector_takes_a_bit_for_each_dimension() -> None:
    assert encode([["wing"]]).words.nbytes == 1256


def test_seed_and_number_of_dimensions_are_parameters() -> None:
    one, other = encode([["wing"]], seed=1), encode([["wing"]], seed=2)
    assert abs(one.similarities(other)[0]) < 0.05
    assert encode([["wing"]], dimensions=72).words.shape == (1, 2)
    assert encode([], dimensions=72).words.shape == (0, 2)


def test_a_very_long_text_is_summed_without_overflow() -> None:
    vectors = encode([["wing"] * 40_000 + ["lift"] * 39_999, ["wing"]])
    assert vectors.similarities(vectors, 1)[0] == 1.0


tokens = st.lists(st.sampled_from(["wing", "lift", "drag", "heat", "é"]), max_size=7)


@settings(deadline=None)
@given(tokens, st.randoms(use_true_random=False))
def test_the_order_of_tokens_changes_nothing(text: list[str], random: object) -> None:
    shuffled = list(text)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    vectors = encode([text, shuffled])
    assert vectors.words[0].tolist() == vectors.words[1].tolist()


@settings(deadline=None)
@given(st.lists(tokens, max_size=4), tokens)
def test_the_vector_of_a_text_does_not_depend_on_the_texts_beside_it(others: list[list[str]], text: list[str]) -> None:
    assert encode([*others, text]).words[-1].tolist() == encode([text]).words[0].tolist()


def test_tokens_that_stand_twice_count_twice() -> None:
    vectors = encode([["wing", "lift", "drag"], ["wing", "lift", "drag", "wing", "wing"], ["wing"]])
    once, thrice, _ = vectors.similarities(vectors, 2)
    assert (once, thrice) == (pytest.approx(0.5, abs=0.05), 1.0)


@pytest.mark.parametrize("hash_seed", ["0", "1234"])
def test_vectors_are_the_same_in_another_process_and_hash_seed(hash_seed: str) -> None:
    script = (
        "from hashlib import sha256\n"
        "from rankproof.retrieval.vsa_vectors import encode\n"
        "print(sha256(encode([['wing', 'lift'], ['ö', 'wing', 'wing']]).words.tobytes()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "40d41c14d01cefc3070ca7731565f093278685648a41ff6b87b85a733d51fd38"
