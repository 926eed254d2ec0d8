"""RQ: where the relevant scenes stand in the full ranking, and what becomes of queries that cannot be measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.errors import BadInput, UsageError
from rankproof.project.project import load_project
from rankproof.retrieval.pipeline import Runner
from rankproof.scoring.evaluate import evaluate
from rankproof.story import World, compare_profiles, parse_cnl, read_queries, read_story, retrieval_quality
from rankproof.story.profiles import PROFILES, Ranker
from rankproof.story.quality import Found, mean_reciprocal_rank

# The query `bell` finds Sc3, then Sc1; the others are like nothing and stay in story order.
SCENES = {"Sc1": "bell and rope", "Sc2": "storm", "Sc3": "bell", "Sc4": "fog", "Sc5": "", "Sc6": "snow", "Sc7": "ice"}


def corpus_of(scenes: Mapping[str, str] = SCENES) -> Corpus:
    return Corpus(tuple(Document(name, text) for name, text in scenes.items()))


def gold_of(*labels: tuple[str, Sequence[str]], top: Mapping[str, Any] | None = None, **groups: str) -> GoldSet:
    """Queries called q1, q2 and so on, with their relevant scenes."""
    queries = tuple(Query(f"q{i}", text, groups.get(f"q{i}")) for i, (text, _) in enumerate(labels, 1))
    grades = {query.id: dict.fromkeys(scenes, 1) for query, (_, scenes) in zip(queries, labels, strict=True) if scenes}
    told = {query.id: {"topK": top[query.id]} for query in queries if top and query.id in top}
    return GoldSet(queries, Qrels.from_dict(grades), "q.json", {"queries": told})


@pytest.mark.parametrize(
    ("relevant", "rank"), [(["Sc3"], 1), (["Sc1"], 2), (["Sc2"], 3), (["Sc7"], 6), (["Sc5"], 7), (["Sc5", "Sc1"], 2)]
)
def test_the_rank_is_that_of_the_first_relevant_scene_in_the_full_ranking(relevant: list[str], rank: int) -> None:
    found = retrieval_quality(corpus_of(), gold_of(("bell", relevant)), profile="bow")
    assert (found.found[0].rank, found.found[0].reciprocal_rank, found.value) == (rank, 1 / rank, 1 / rank)
    assert (found.found[0].first, found.found[0].similarity) == ("Sc3", 1.0)


def test_recall_looks_at_5_scenes_unless_the_query_says_otherwise() -> None:
    relevant = ["Sc1", "Sc2", "Sc5", "Sc7"]
    labels = [("bell", relevant)] * 4
    found = retrieval_quality(corpus_of(), gold_of(*labels, top={"q2": 2, "q3": 6, "q4": 99}), profile="bow")
    assert [one.k for one in found.found] == [5, 2, 6, 99]
    assert [one.recall_at_k for one in found.found] == [0.5, 0.25, 0.75, 1.0]
    assert {(one.recall_at_5, one.recall_at_10) for one in found.found} == {(0.5, 1.0)}
    assert found.means == {"mrr": 0.5, "recall_at_k": 0.625, "recall_at_5": 0.5, "recall_at_10": 1.0}


@pytest.mark.parametrize("top", [0, -3, 2.5, True, "5", None])
def test_a_top_k_that_is_no_rank_is_refused(top: Any) -> None:
    with pytest.raises(BadInput, match=r"query 'q1': 'topK' is .*, not a whole number from 1 on"):
        retrieval_quality(corpus_of(), gold_of(("bell", ["Sc1"]), top={"q1": top}))


def test_the_value_is_the_mean_reciprocal_rank_of_labelled_queries() -> None:
    found = retrieval_quality(corpus_of(), gold_of(("bell", ["Sc3"]), ("bell", ["Sc1"]), ("bell", [])), profile="bow")
    assert found.value == 0.75
    assert [query.id for query in found.skipped] == ["q3"]


def test_it_is_what_the_preset_rq_says_of_a_run_with_every_scene() -> None:
    gold = gold_of(("bell", ["Sc2", "Sc1"]), ("storm and bell", ["Sc1"]), ("snow", ["Sc6"]), top={"q1": 3})
    found = retrieval_quality(corpus_of(), gold)
    rankings = Ranker.of(list(SCENES.values()), "vsa").rankings([query.text for query in gold.queries])
    run = {
        query.id: {list(SCENES)[place]: float(-rank) for rank, place in enumerate(order.tolist())}
        for query, (order, _) in zip(gold.queries, rankings, strict=True)
    }
    scores = evaluate(gold.qrels, run, ["RR", "R@5", "R@10", "R@3"], preset="rq")
    assert found.value == pytest.approx(scores.mean()["RR"])
    assert [one.recall_at_5 for one in found.found] == scores.of("R@5").tolist()
    assert found.found[0].recall_at_k == scores.of("R@3")[0]


def ranks(*found: int) -> list[Found]:
    return [Found(Query(f"q{i}"), ("x",), 5, rank, 1 / rank, 0, 0, 0, "x", 0) for i, rank in enumerate(found)]


@pytest.mark.parametrize(
    ("relevant", "value", "passed"),
    [
        ([["Sc3"], ["Sc1"], ["Sc1"], ["Sc1"], ["Sc1"]], 0.6, False),
        ([["Sc3"], ["Sc3"], ["Sc2"], ["Sc2"], ["Sc2"]], 0.6, False),
        ([["Sc3"], ["Sc3"], ["Sc3"], ["Sc1"]], 0.875, True),
        ([["Sc1"]], 0.5, False),
    ],
)
def test_a_story_passes_only_above_the_threshold(relevant: list[list[str]], value: float, passed: bool) -> None:
    found = retrieval_quality(corpus_of(), gold_of(*(("bell", scenes) for scenes in relevant)), profile="bow")
    assert (found.value, found.passed) == (value, passed)


def test_the_mean_is_rounded_once() -> None:
    # Rounded at every step, this one would come out above 0.6.
    assert sum([1, 1, 1 / 3, 1 / 3, 1 / 3]) / 5 == 0.6000000000000001
    assert mean_reciprocal_rank(ranks(1, 1, 3, 3, 3)) == 0.6
    assert mean_reciprocal_rank(ranks(*[10] * 6)) == 0.1
    assert mean_reciprocal_rank([]) is None


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60))
def test_the_mean_does_not_depend_on_the_order_of_queries(found: list[int]) -> None:
    assert mean_reciprocal_rank(ranks(*found)) == mean_reciprocal_rank(ranks(*sorted(found)))
    assert mean_reciprocal_rank(ranks(*found)) == pytest.approx(sum(1 / rank for rank in found) / len(found))


@pytest.mark.parametrize("threshold", [-0.1, 1.0, 60, float("nan")])
def test_a_threshold_lies_between_0_and_1(threshold: float) -> None:
    with pytest.raises(UsageError, match="A threshold lies between 0 and 1"):
        retrieval_quality(corpus_of(), gold_of(("bell", ["Sc1"])), threshold=threshold)


@pytest.mark.parametrize(
    ("scenes", "gold", "reason"),
    [
        ({}, gold_of(("bell", ["Sc1"])), "no_scenes"),
        ({"Sc1": "", "Sc2": "…"}, gold_of(("bell", ["Sc1"])), "no_text"),
        (SCENES, gold_of(("bell", [])), "no_ground_truth"),
        (SCENES, gold_of(), "no_ground_truth"),
    ],
)
def test_without_scenes_or_labels_there_is_no_value_but_a_reason(
    scenes: dict[str, str], gold: GoldSet, reason: str
) -> None:
    found = retrieval_quality(corpus_of(scenes), gold)
    assert (found.value, found.passed, found.reason, found.found) == (None, None, reason, ())
    assert found.means == {"mrr": None, "recall_at_k": None, "recall_at_5": None, "recall_at_10": None}


def test_a_relevant_scene_that_the_story_does_not_have_is_an_error_with_the_nearest() -> None:
    with pytest.raises(BadInput) as raised:
        retrieval_quality(corpus_of(), gold_of(("bell", ["Sc33", "Sc1"]), ("fog", ["Opening"])))
    assert [fault.message for fault in raised.value.faults] == [
        "query 'q1': 'Sc33' is no scene of the story. Did you mean 'Sc3'?",
        "query 'q2': 'Opening' is no scene of the story. Its scenes are 'Sc1', 'Sc2', 'Sc3', 'Sc4', 'Sc5' and 2 more.",
    ]


def test_many_unknown_scenes_are_counted() -> None:
    with pytest.raises(BadInput) as raised:
        retrieval_quality(corpus_of(), gold_of(("bell", [f"Scene {i}" for i in range(50)])))
    assert (len(raised.value.faults), raised.value.more) == (20, 30)


@pytest.mark.parametrize("profile", PROFILES)
def test_an_empty_scene_is_never_first(profile: str) -> None:
    scenes = {"Sc1": "", "Sc2": "storm", "Sc3": "!"}
    for query in ("storm", "nothing", ""):
        (found,) = retrieval_quality(corpus_of(scenes), gold_of((query, ["Sc2"])), profile=profile).found
        assert (found.first, found.rank) == ("Sc2", 1)


def test_graded_labels_count_from_1_on() -> None:
    gold = GoldSet(
        (Query("q1", "bell"), Query("q2", "fog")), Qrels.from_dict({"q1": {"Sc1": 2, "Sc3": 0}, "q2": {"Sc4": 0}})
    )
    found = retrieval_quality(corpus_of(), gold, profile="bow")
    assert ([one.relevant for one in found.found], [q.id for q in found.skipped]) == ([("Sc1",)], ["q2"])


def test_misses_are_the_queries_whose_first_scene_is_not_relevant_the_worst_first() -> None:
    gold = gold_of(("bell", ["Sc3"]), ("bell", ["Sc1"]), ("bell", ["Sc7"]))
    found = retrieval_quality(corpus_of(), gold, profile="bow")
    assert [one.query.id for one in found.misses] == ["q3", "q2"]


def test_groups_are_the_kinds_of_queries() -> None:
    gold = gold_of(("bell", ["Sc3"]), ("bell", ["Sc1"]), ("bell", ["Sc1"]), q1="who", q2="mood")
    groups = retrieval_quality(corpus_of(), gold, profile="bow").by_group()
    assert {name: [one.query.id for one in rows] for name, rows in groups.items()} == {
        "mood": ["q2"],
        "who": ["q1"],
        "(no group)": ["q3"],
    }


def test_profiles_are_compared_query_by_query() -> None:
    story, queries = example()
    found = [retrieval_quality(story, queries, profile=profile) for profile in ("vsa", "bow")]
    findings = compare_profiles(found)
    assert findings is not None
    (one,) = findings.comparisons
    assert (one.baseline, one.candidate, str(one.measure), one.effect.n) == ("vsa", "bow", "RR", 43)
    assert one.mean_baseline == pytest.approx(found[0].value)
    assert one.mean_candidate == pytest.approx(found[1].value)
    assert compare_profiles(found[:1]) is None


def test_one_query_is_enough_for_a_value() -> None:
    found = retrieval_quality(corpus_of(), gold_of(("bell", ["Sc3"])))
    assert found.value == 1.0
    assert found.interval is not None
    assert found.interval.as_list() is None


# The example that the package brings.


def example() -> tuple[World, GoldSet]:
    with resources.as_file(resources.files("rankproof.demo").joinpath("story")) as folder:
        return cast(World, read_story(folder / "story.cnl")), read_queries(folder / "queries.json")


def test_the_example_is_a_story_of_49_scenes_with_43_labelled_queries_of_5_kinds() -> None:
    story, queries = example()
    assert (len(story), len(queries), len(queries.qrels.query_ids)) == (49, 44, 43)
    assert set(queries.groups.values()) == {"who", "where", "event", "mood", "paraphrase"}


@pytest.mark.parametrize(("profile", "value"), [("vsa", 0.6820), ("bow", 0.6924)])
def test_the_value_of_the_example(profile: str, value: float) -> None:
    story, queries = example()
    assert retrieval_quality(story, queries, profile=profile).value == pytest.approx(value, abs=5e-5)


def test_the_example_has_hard_queries() -> None:
    story, queries = example()
    groups = retrieval_quality(story, queries).by_group()
    assert min(one.rank for one in groups["paraphrase"]) > 1
    assert sum(one.rank == 1 for one in groups["event"]) >= 10


def test_a_story_and_its_queries_are_an_ordinary_project(tmp_path: Path) -> None:
    for name in ("story.cnl", "queries.json"):
        content = resources.files("rankproof.demo").joinpath("story", name).read_bytes()
        (tmp_path / name).write_bytes(content)
    (tmp_path / "rankproof.yaml").write_text(
        "gold: queries.json\ncorpus: story.cnl\npreset: rq\nmeasures: [RR, R@5]\ncache: false\n"
        "pipelines:\n  vsa: {retrieve: {vsa: {ties: corpus}}}\n  bow: {retrieve: {bow: {ties: corpus}}}\n"
    )
    project = load_project(tmp_path, environment={})
    story, queries = example()
    assert project.gold().queries == queries.queries
    runner = Runner(project.pipelines, project.place())
    run = runner.run("vsa", project.gold().queries).to_run()
    scores = evaluate(project.gold().qrels, run, ["RR", "R@5"], preset=project.preset)
    found = retrieval_quality(story, queries, profile="vsa")
    assert scores.mean()["RR"] == pytest.approx(found.value)
    assert scores.mean()["R@5"] == pytest.approx(found.means["recall_at_5"])
    # Token counts return nothing that shares no word with the query, so a relevant scene may be missing there.
    bow = runner.run("bow", project.gold().queries).to_run()
    value = retrieval_quality(story, queries, profile="bow").value
    assert value is not None
    assert value - 0.01 < evaluate(project.gold().qrels, bow, "RR", preset=project.preset).mean()["RR"] <= value


# Files.


def test_any_corpus_may_be_a_story(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "Sc1", "text": "bell"}\n')
    assert isinstance(read_story(tmp_path / "a.jsonl"), Corpus)
    (tmp_path / "story.txt").write_text("Anna meets Marcus\n")
    assert isinstance(read_story(tmp_path / "story.txt"), World)


@pytest.mark.parametrize("content", ["", "[]", '{"queries": []}', " \n"])
def test_a_file_that_asks_nothing_is_a_gold_set_without_queries(tmp_path: Path, content: str) -> None:
    (tmp_path / "q.json").write_text(content)
    assert len(read_queries(tmp_path / "q.json")) == 0


def test_a_world_is_measured_as_its_corpus_is() -> None:
    world = parse_cnl('Sc1 group begin\nSc1 describes "bell"\nSc1 group end')
    gold = gold_of(("bell", ["Sc1"]))
    assert retrieval_quality(world, gold).found == retrieval_quality(world.to_corpus(), gold).found
