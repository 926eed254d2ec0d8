"""`rankproof demo`: the bundled example, scored and explained."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from rankproof.cli.output import write_result

FILES = (
    "queries.tsv", "groups.tsv", "qrels.txt", "keyword.run", "vector.run", "story/story.cnl", "story/queries.json",
)  # fmt: skip


@click.command("demo", short_help="Score and explain the bundled example.")
@click.argument("folder", default="rankproof-demo")
def command(folder: str) -> None:
    """Put small examples into FOLDER, score two runs, explain a difference, measure a story, and say what to try next.

    The first is a help centre: twelve questions in three groups, 33 judgments, a keyword and a vector run. The second
    is a story of 49 scenes with 43 labelled queries. Files that are already in the folder are left as they are. Nothing
    is fetched from anywhere.
    """
    from rankproof.reports.story import quality_text
    from rankproof.reports.text import explanation_text, scores_text
    from rankproof.scoring.evaluate import Evaluator
    from rankproof.scoring.explain import explain
    from rankproof.story import compare_profiles, read_queries, read_story, retrieval_quality

    target = Path(folder)
    _unpack(target)
    qrels, runs = target / "qrels.txt", [target / "keyword.run", target / "vector.run"]
    evaluator = Evaluator(qrels)
    scores = [evaluator.evaluate(run, ("nDCG@3", "RR", "P@1", "Judged@3")) for run in runs]
    found = explain(qrels, runs[1], ("nDCG@3",), "default", "trec_eval")
    story, queries = read_story(target / "story" / "story.cnl"), read_queries(target / "story" / "queries.json")
    quality = [retrieval_quality(story, queries, profile=profile) for profile in ("vsa", "bow")]
    write_result(
        f"The example is in {folder}/: {', '.join(FILES)}.\n\n"
        f"Two runs against the same judgments:\n\n{scores_text(scores)}\n"
        f"Why trec_eval would print another number for vector.run:\n\n{explanation_text(found)}\n"
        f"How well queries find the scenes of a story, with two profiles:\n\n"
        f"{quality_text(quality, compare_profiles(quality), shown=3)}\n"
        f"Now try:\n{_next_steps(folder)}",
        None,
    )


def _unpack(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    bundled = resources.files("rankproof.demo")
    for name in FILES:
        path = target / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bundled.joinpath(name).read_bytes())


def _next_steps(folder: str) -> str:
    q = f"{folder}/qrels.txt"
    return (
        f"  rankproof compare {q} {folder}/keyword.run {folder}/vector.run -m nDCG@3\n"
        f"  rankproof score {q} {folder}/keyword.run {folder}/vector.run -m nDCG@3 --group-by {folder}/groups.tsv\n"
        f"  rankproof rq {folder}/story/story.cnl {folder}/story/queries.json --misses 20\n"
    )
