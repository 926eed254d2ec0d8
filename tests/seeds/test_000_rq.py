"""Seed 000: every sentence of its normative section, on stories that can be checked by eye."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rankproof.errors import BadInput
from rankproof.story import World, parse_cnl, read_queries, retrieval_quality
from rankproof.story.profiles import Ranker
from rankproof.story.quality import Quality

# Scene after scene, from the most to the least like the query `anna danger`; the last two are like nothing.
ANNA = [
    ("Scene 4", "anna danger"),
    ("Scene 8", "anna danger fire"),
    ("Scene 3", "anna danger fire night"),
    ("Scene 1", "anna danger fire night road"),
    ("Scene 2", "anna danger fire night road inn"),
    ("Scene 5", "harvest"),
    ("Scene 7", "winter"),
]


def story(scenes: Sequence[tuple[str, str]]) -> World:
    lines = [f'"{name}" group begin\n"{name}" describes "{text}"\n"{name}" group end\n' for name, text in scenes]
    return parse_cnl("".join(lines))


def quality(world: World, tmp_path: Path, *queries: Mapping[str, Any], profile: str = "bow") -> Quality:
    """The RQ of queries that stand in a file."""
    file = tmp_path / "queries.json"
    file.write_text(json.dumps(queries))
    return retrieval_quality(world, read_queries(file), profile=profile)


def labelled(query_id: str, *relevant: str, **more: Any) -> dict[str, Any]:
    return {"id": query_id, "query": "anna danger", "relevant": list(relevant), **more}


def test_index_items_are_scenes_in_canonical_story_order() -> None:
    world = story(list(reversed(ANNA)))
    assert world.ordered_ids == ["Scene 7", "Scene 5", "Scene 2", "Scene 1", "Scene 3", "Scene 8", "Scene 4"]
    assert [document.id for document in world.to_corpus()] == world.ordered_ids


def test_each_scene_is_represented_by_its_canonical_text(tmp_path: Path) -> None:
    world = parse_cnl('Sc1 group begin\nSc1 includes character Anna\nSc1 describes "storm"\nSc1 group end\n')
    assert [document.text for document in world.to_corpus()] == ["storm"]
    # Neither the name of the scene nor who is in it is searched.
    (found,) = quality(world, tmp_path, {"id": "q", "query": "Sc1 Anna", "relevant": ["Sc1"]}).found
    assert found.similarity == 0


@pytest.mark.parametrize("profile", ["vsa", "bow", "basic"])
def test_embeddings_use_the_profile(profile: str, tmp_path: Path) -> None:
    found = quality(story(ANNA), tmp_path, labelled("q", "Scene 4"), profile=profile)
    assert found.profile == ("vsa" if profile == "vsa" else "bow")
    assert found.found[0].first == "Scene 4"
    assert found.found[0].similarity == pytest.approx(1.0)


def test_scenes_are_sorted_by_descending_similarity(tmp_path: Path) -> None:
    rows = [labelled(name, name) for name, _ in ANNA[:5]]
    assert [one.rank for one in quality(story(ANNA[::-1]), tmp_path, *rows).found] == [1, 2, 3, 4, 5]
    for profile in ("vsa", "bow"):
        ((order, similarities),) = Ranker.of([text for _, text in ANNA], profile).rankings(["anna fire"])
        along = similarities[order].tolist()
        assert along == sorted(along, reverse=True)


def test_ties_are_in_story_order(tmp_path: Path) -> None:
    rows = [labelled("q1", "Scene 5"), labelled("q2", "Scene 7")]
    assert [one.rank for one in quality(story(ANNA), tmp_path, *rows).found] == [6, 7]
    assert [one.rank for one in quality(story(ANNA[::-1]), tmp_path, *rows).found] == [7, 6]


def test_k_is_5_unless_the_query_says_otherwise(tmp_path: Path) -> None:
    rows = [labelled("q1", "Scene 2", "Scene 7"), labelled("q2", "Scene 2", "Scene 7", topK=4)]
    found = quality(story(ANNA), tmp_path, *rows).found
    assert [(one.k, one.recall_at_k) for one in found] == [(5, 0.5), (4, 0.0)]


def test_recall_at_5_of_the_example_is_two_thirds(tmp_path: Path) -> None:
    (found,) = quality(story(ANNA), tmp_path, labelled("danger", "Scene 3", "Scene 4", "Scene 7")).found
    assert found.recall_at_k == pytest.approx(2 / 3)
    assert round(found.recall_at_5, 2) == 0.67


def test_mrr_of_the_example_is_061(tmp_path: Path) -> None:
    rows = [labelled("1", "Scene 4"), labelled("2", "Scene 3"), labelled("3", "Scene 8")]
    found = quality(story(ANNA), tmp_path, *rows)
    assert [one.rank for one in found.found] == [1, 3, 2]
    assert found.value == pytest.approx((1 + 1 / 3 + 1 / 2) / 3)
    assert round(found.value or 0, 2) == 0.61
    assert found.passed is True


def test_reciprocal_rank_is_taken_over_the_full_ranking(tmp_path: Path) -> None:
    (found,) = quality(story(ANNA), tmp_path, labelled("q", "Scene 7")).found
    assert (found.rank, found.reciprocal_rank, found.recall_at_5) == (7, 1 / 7, 0.0)


def test_the_value_is_the_mean_over_labelled_queries(tmp_path: Path) -> None:
    rows = [labelled("q1", "Scene 4"), labelled("q2", "Scene 8"), labelled("q3"), {"id": "q4", "query": "anna"}]
    found = quality(story(ANNA), tmp_path, *rows)
    assert found.value == 0.75
    assert [query.id for query in found.skipped] == ["q3", "q4"]


def test_without_labelled_queries_the_metric_is_skipped(tmp_path: Path) -> None:
    for rows in ([], [labelled("q")]):
        found = quality(story(ANNA), tmp_path, *rows)
        assert (found.value, found.passed, found.reason) == (None, None, "no_ground_truth")


def test_without_a_scene_the_metric_is_skipped(tmp_path: Path) -> None:
    found = quality(parse_cnl("// nothing yet\n"), tmp_path, labelled("q", "Scene 1"))
    assert (found.value, found.passed, found.reason) == (None, None, "no_scenes")


def test_the_threshold_is_strict(tmp_path: Path) -> None:
    rows = [labelled("q0", "Scene 4"), *(labelled(f"q{i}", "Scene 8") for i in range(1, 5))]
    found = quality(story(ANNA), tmp_path, *rows)
    assert (found.value, found.passed) == (0.6, False)
    better = quality(story(ANNA), tmp_path, *rows, labelled("q5", "Scene 4"))
    assert better.passed is True


def test_a_renamed_scene_does_not_look_like_a_miss(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"query 'q': 'Scene 44' is no scene of the story\. Did you mean 'Scene 4'"):
        quality(story(ANNA), tmp_path, labelled("q", "Scene 44"))


def test_the_index_has_a_size(tmp_path: Path) -> None:
    found = quality(story(ANNA), tmp_path, labelled("q", "Scene 4"), profile="vsa")
    assert (found.index.scenes, found.index.empty_scenes, found.index.bytes) == (7, 0, 7 * 1256)


def test_the_claim_about_the_top_two_is_repeated_nowhere() -> None:
    root = Path(__file__).parents[2]
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "src").rglob("*.py")]
    assert not [page for page in pages if "top 2 positions" in page.read_text(encoding="utf-8")]
