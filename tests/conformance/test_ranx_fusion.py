"""Fused scores are those that were recorded of ranx, except where we differ by design.

Where we differ, and why:

- Absent documents: ranx gives them 0 whatever the normalisation, so under z-scores or with negative scores one that a
  run did not return stands above many that it did. Ours take the lowest value of the list where that is below 0. So
  combsum by z-score is compared where all runs have the same documents, and combmnz, which counts from that value,
  not at all.
- Equal scores throughout a list, or a single document: ranx's min-max gives 0, the same as being absent; ours gives 1.
  Its sum gives 0, ours 1/n.
- Max over negative scores: ranx divides by 1e-9, ours by the greatest absolute score.
- Condorcet: ranx sorts by pairs, with ties going to whichever comes first, so that its order depends on that of a set
  and on circles among majorities. Ours counts wins, a tie one half. The orders are compared where votes have no tie and
  no circle.
- Queries: ranx refuses runs with different ones; ours fuses each query from the runs that have it.
- Ties: ranx leaves the order of equal scores open; ours goes by id, from high to low. The recorded runs have none.
"""

from __future__ import annotations

from typing import Any

import pytest

from rankproof import fuse
from rankproof.fusion.registry import methods
from tests.conformance.test_recorded import cases_of

CASES = cases_of("ranx-fusion")


def names(*, complete: bool) -> list[str]:
    """The recorded fusions that are the same by design; more of them where all runs have the same documents."""
    same = [name for case in CASES for name in case["fused"] if name not in ("condorcet", "combmnz z-score")]
    return [name for name in dict.fromkeys(same) if complete or name != "combsum z-score"]


def is_complete(case: dict[str, Any]) -> bool:
    return all(run["q"].keys() == case["runs"][0]["q"].keys() for run in case["runs"])


def fused(name: str, runs: list[Any]) -> dict[str, dict[str, float]]:
    by, _, how = name.partition(" ")
    if by == "weighted":
        return fuse(runs, by=by, weights=[0.25, 0.5, 0.75][: len(runs)]).to_dict()
    if how.startswith("k="):
        return fuse(runs, by=by, k=float(how[2:])).to_dict()
    return fuse(runs, by=by, normalize=how or None).to_dict()


@pytest.mark.parametrize("complete", [False, True])
def test_fused_scores_are_those_of_ranx(complete: bool) -> None:
    cases = [case for case in CASES if is_complete(case) is complete]
    assert cases
    for case in cases:
        for name in names(complete=complete):
            assert fused(name, case["runs"])["q"] == pytest.approx(case["fused"][name]["q"], abs=1e-12), name


def test_the_order_by_majorities_is_that_of_ranx() -> None:
    cases = [case for case in CASES if "condorcet" in case["fused"]]
    assert cases
    for case in cases:
        assert list(fused("condorcet", case["runs"])["q"]) == list(case["fused"]["condorcet"]["q"])


def test_every_method_was_recorded() -> None:
    assert {name.partition(" ")[0] for case in CASES for name in case["fused"]} == set(methods())


def test_where_a_document_is_absent_z_scores_differ_from_those_of_ranx() -> None:
    apart = [
        case
        for case in CASES
        if not is_complete(case)
        and fused("combsum z-score", case["runs"])["q"] != pytest.approx(case["fused"]["combsum z-score"]["q"])
    ]
    assert apart
