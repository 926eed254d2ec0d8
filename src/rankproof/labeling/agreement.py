"""How far annotators agree: each two of them, all people together, group by group, and where they do not."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.labeling.annotators import Item, Labels, Ratings, people_of, ratings_of, refuse_too_few
from rankproof.stats.agreement import Bootstrap, Coefficient, Table, all_annotators, confusion, two_annotators

NO_GROUP = "(no group)"


@dataclass(frozen=True)
class Pair:
    """Two annotators."""

    first: str
    second: str
    table: Table
    coefficients: tuple[Coefficient, ...]
    """Cohen's κ, plain and with linear and quadratic weights."""


@dataclass(frozen=True)
class Disagreement:
    """A document that did not get the same grade from everybody."""

    item: Item
    grades: Mapping[str, float]
    """Annotator → grade, of those who gave one."""

    @property
    def spread(self) -> float:
        """From the lowest grade to the highest."""
        return max(self.grades.values()) - min(self.grades.values())


@dataclass(frozen=True)
class Findings:
    """How far annotators agree on some items."""

    pairs: tuple[Pair, ...]
    together: tuple[Coefficient, ...]
    """Fleiss' κ and Krippendorff's α of all people; of fewer than two nothing. Models are left out."""
    n_items: int


@dataclass(frozen=True)
class AgreementFound:
    """What was found about several annotators."""

    n_labels: Mapping[str, int]
    """Annotator → how many documents got a grade."""
    people: tuple[str, ...]
    overall: Findings
    by_group: Mapping[str, Findings]
    disagreements: tuple[Disagreement, ...]
    """The furthest apart first."""
    bootstrap: Bootstrap
    n_taken_over: Mapping[str, int]
    """Annotator → judgments in the journal that somebody else made, and that count for nobody here."""


def find_agreement(
    labels: Sequence[Labels], *, groups: Mapping[str, str] | None = None, bootstrap: Bootstrap | None = None
) -> AgreementFound:
    """How far these annotators agree; `groups` is query → group."""
    refuse_too_few(labels, "Agreement")
    chance = bootstrap or Bootstrap()
    ratings = ratings_of(labels)
    people = tuple(one.annotator for one in people_of(labels))
    by_group = {}
    for name, queries in _members(ratings, groups).items():
        by_group[name] = _findings(ratings.of(queries), people, chance)
    return AgreementFound(
        {one.annotator: len(one) for one in labels},
        people,
        _findings(ratings, people, chance),
        by_group,
        tuple(_disagreements(ratings)),
        chance,
        {one.annotator: one.n_taken_over for one in labels if one.n_taken_over},
    )


def _members(ratings: Ratings, groups: Mapping[str, str] | None) -> dict[str, list[str]]:
    if groups is None:
        return {}
    members: dict[str, list[str]] = {}
    for query_id in dict.fromkeys(item.query_id for item in ratings.items):
        members.setdefault(groups.get(query_id, NO_GROUP), []).append(query_id)
    return {name: members[name] for name in sorted(members, key=lambda name: (name == NO_GROUP, name))}


def _findings(ratings: Ratings, people: Sequence[str], bootstrap: Bootstrap) -> Findings:
    columns = {name: ratings.grades[:, i] for i, name in enumerate(ratings.annotators)}
    pairs = [
        Pair(
            one, other, confusion(columns[one], columns[other]),
            tuple(two_annotators(columns[one], columns[other], bootstrap=bootstrap)),
        )
        for one, other in itertools.combinations(ratings.annotators, 2)
    ]  # fmt: skip
    together: Sequence[Coefficient] = ()
    if len(people) > 1:
        together = all_annotators(np.stack([columns[name] for name in people], axis=1), bootstrap=bootstrap)
    n_items = int(((~np.isnan(ratings.grades)).sum(axis=1) >= 2).sum())
    return Findings(tuple(pairs), tuple(together), n_items)


def _disagreements(ratings: Ratings) -> list[Disagreement]:
    found = []
    for item, row in zip(ratings.items, ratings.grades.tolist(), strict=True):
        grades = {name: grade for name, grade in zip(ratings.annotators, row, strict=True) if grade == grade}
        if len(set(grades.values())) > 1:
            found.append(Disagreement(item, grades))
    return sorted(found, key=lambda one: (-one.spread, one.item))
