"""Every measure on one ranking that can be worked out on paper.

The ranking, best first: a(3) x(unjudged) b(0) c(1) y(unjudged) d(2); e(1) was judged and not retrieved.
Ideal grades: 3 2 1 1 0. Relevant: 4, three of them found at ranks 1, 4 and 6.
"""

from __future__ import annotations

import math

import pytest

import rankproof

QRELS = {"q": {"a": 3, "b": 0, "c": 1, "d": 2, "e": 1}}
RUN = {"q": {"a": 6.0, "x": 5.0, "b": 4.0, "c": 3.0, "y": 2.0, "d": 1.0}}

LOG3, LOG5, LOG7 = math.log2(3), math.log2(5), math.log2(7)
DCG = 3 + 1 / LOG5 + 2 / LOG7
IDEAL = 3 + 2 / LOG3 + 1 / 2 + 1 / LOG5
EXP_DCG = 7 + 1 / LOG5 + 3 / LOG7
EXP_IDEAL = 7 + 3 / LOG3 + 1 / 2 + 1 / LOG5

BY_HAND = {
    "DCG": DCG,
    "DCG@3": 3.0,
    "DCG(gain='exp')": EXP_DCG,
    "nDCG": DCG / IDEAL,
    "nDCG@4": (3 + 1 / LOG5) / IDEAL,
    "nDCG@1": 1.0,
    "nDCG(gain='exp')": EXP_DCG / EXP_IDEAL,
    "nDCG(gain='binary')": (1 + 1 / LOG5 + 1 / LOG7) / (1 + 1 / LOG3 + 1 / 2 + 1 / LOG5),
    "nDCG(gains={1:0,2:5,3:10})": (10 + 5 / LOG7) / (10 + 5 / LOG3),
    "nDCG(judged_only=True)": (3 + 1 / 2 + 2 / LOG5) / IDEAL,
    "P@5": 2 / 5,
    "P(rel=2)@6": 2 / 6,
    "P@10": 3 / 10,
    "P(denominator='returned')@10": 3 / 6,
    "P(denominator='attainable')@10": 3 / 4,
    "P(judged_only=True)@3": 2 / 3,
    "R@4": 2 / 4,
    "R@6": 3 / 4,
    "R(rel=2)@4": 1 / 2,
    "R(of='any')@4": 1.0,
    "Success@1": 1.0,
    "Success(rel=2)@1": 1.0,
    "RR": 1.0,
    "RR(rel=2)": 1.0,
    "AP": (1 / 1 + 2 / 4 + 3 / 6) / 4,
    "AP@4": (1 / 1 + 2 / 4) / 4,
    "AP(denominator='attainable')@3": (1 / 1) / 3,
    "AP(denominator='found')": (1 / 1 + 2 / 4 + 3 / 6) / 3,
    "AP(rel=2)": (1 / 1 + 2 / 6) / 2,
    "Rprec": 2 / 4,
    "Rprec(mult=0.5)": 1 / 2,
    "F@4": 2 * (2 / 4) * (2 / 4) / (2 / 4 + 2 / 4),
    "F(beta=2)@6": 5 * (3 / 6) * (3 / 4) / (4 * (3 / 6) + 3 / 4),
    # One judged non-relevant document, above two of the three found: min(1, 4) / min(1, 4) = 1 each.
    "Bpref": (1 + 0 + 0) / 4,
    "ERR": 7 / 8 + (1 / 8) * (1 / 8) / 4 + (1 / 8) * (7 / 8) * (3 / 8) / 6,
    "ERR@1": 7 / 8,
    "ERR(max_grade=4)@1": 7 / 16,
    "RBP(p=0.5)": 0.5 * (1 + 0.5**3 + 0.5**5),
    "RBP(p=0.5)@1": 0.5,
    "RBP(p=0.5,gain='linear')": 0.5 * (1 + (1 / 3) * 0.5**3 + (2 / 3) * 0.5**5),
    "RBPResidual(p=0.5)": 1 - 0.5 * (1 + 0.5**2 + 0.5**3 + 0.5**5),
    "Q": ((1 + 3) / (1 + 3) + (2 + 4) / (4 + 7) + (3 + 6) / (6 + 7)) / 4,
    "Q@1": 1.0,
    "Judged@5": 3 / 5,
    "Judged@10": 4 / 6,
    "Unjudged": 2.0,
    "Unjudged@2": 1.0,
    # Recall 0.5 stands for (0.5 · 4 + 0.9) = 2 relevant documents: the best precision from rank 4 on is 3/6.
    "IPrec@0.0": 1.0,
    "IPrec@0.5": 0.5,
    "IPrec@1.0": 0.0,
    # Levels 0 and 0.1 (one document): 1. 0.2 (1.7 → 1): 1. 0.3 to 0.7 (2.1 to 3.7): 0.5. 0.8 and up need 4.
    "IPrec11": (3 * 1.0 + 5 * 0.5) / 11,
    "NumQ": 1.0,
    "NumRet": 6.0,
    "NumRel": 4.0,
    "NumRelRet": 3.0,
    "NumRelRet@4": 2.0,
    "NumNonrelRet": 1.0,
    "Utility": 3.0 - 3.0,
    "SetP": 3 / 6,
    "SetP(denominator='attainable')": 3 / 4,
    "SetR": 3 / 4,
    "SetF": 2 * 0.5 * 0.75 / 1.25,
    "SetAP": 0.5 * 0.75,
    "GMAP": (1 / 1 + 2 / 4 + 3 / 6) / 4,
    "GMBpref": 1 / 4,
    "BinG": (1 / math.log2(2) + 1 / math.log2(4) + 1 / math.log2(5)) / 4,
    # Ideal gain by rank 1, 4, 6: 3, 7, 7 (and two ranks beyond the four relevant ones); own gain 3, 4, 6.
    "G": (3 / math.log2(2) + 1 / math.log2(2 + 3) + 2 / math.log2(2 + 7 + 2 - 6)) / 7,
    # Cuts at 1, 2 and 4 documents (grades 3, 2, 1), and the whole: 6 is two beyond 4.
    "Rndcg": (1 + 3 / (3 + 2 / LOG3) + (3 + 1 / LOG5) / IDEAL + DCG / IDEAL) / 4,
    "nDCGrel": (1 + (3 + 1 / LOG5) / IDEAL + DCG / IDEAL + DCG / IDEAL) / 4,
    # Sampling: at rank 4, 2 of 3 above are pooled, 1 relevant of 2 judged; at rank 6, 3 of 5, 2 of 3.
    "infAP": (
        1 + (1 / 4 + 3 / 4 * (2 / 3) * (1 + 1e-5) / (2 + 2e-5)) + (1 / 6 + 5 / 6 * (3 / 5) * (2 + 1e-5) / (3 + 2e-5))
    )
    / 4,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_value_is_the_one_worked_out_on_paper(name: str) -> None:
    scores = rankproof.evaluate(QRELS, RUN, name)
    assert list(scores.mean().values()) == [pytest.approx(BY_HAND[name], abs=1e-12)]


def test_nerr_divides_by_the_err_of_the_ideal_ranking() -> None:
    best = 7 / 8 + (1 / 8) * (3 / 8) / 2 + (1 / 8) * (5 / 8) * (1 / 8) / 3 + (1 / 8) * (5 / 8) * (7 / 8) * (1 / 8) / 4
    own = 7 / 8 + (1 / 8) * (1 / 8) / 4 + (1 / 8) * (7 / 8) * (3 / 8) / 6
    assert rankproof.evaluate(QRELS, RUN, "nERR").mean()["nERR"] == pytest.approx(own / best, abs=1e-12)


def test_compatibility_is_the_overlap_with_the_ideal_ranking() -> None:
    # Ideal a d c e (c before e, since the ranking has it); ranking a x b c y d. Overlap at depth 1 to 6: 1 1 1 2 2 3.
    p, depths = 0.5, range(1, 7)
    own = sum(p ** (i - 1) * overlap / i for i, overlap in zip(depths, (1, 1, 1, 2, 2, 3), strict=True))
    best = sum(p ** (i - 1) * min(i, 4) / i for i in depths)
    value = rankproof.evaluate(QRELS, RUN, "Compat(p=0.5)@6").mean()["Compat(p=0.5)@6"]
    assert value == pytest.approx(own / best, abs=1e-12)


def test_every_registered_measure_is_worked_out_by_hand_somewhere_here() -> None:
    from rankproof.measures.registry import families

    here = {rankproof.parse_measure(name).family for name in BY_HAND} | {"nERR", "Compat"}
    assert here == {name for name in families() if not name.startswith("Own")}
