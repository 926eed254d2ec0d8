"""`rankproof rq`: how well labelled queries find the scenes of a story."""

from __future__ import annotations

import click

from rankproof.cli.output import remark, write_result
from rankproof.errors import NothingToEvaluate, UsageError, count

FAILED = 1


@click.command("rq", short_help="Measure the Retrieval Quality of a story.")
@click.argument("story")
@click.argument("queries")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    type=click.Choice(["vsa", "bow", "basic"]),
    help="How texts are compared; a second one stands beside the first. `basic` is `bow`. Default: vsa.",
)
@click.option(
    "--threshold", type=click.FloatRange(0, 1, max_open=True), default=0.6, show_default=True,
    help="The story passes if its value is greater.",
)  # fmt: skip
@click.option("--misses", "shown", type=click.IntRange(0), default=10, show_default=True, help="How many to list.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the result to a file instead of stdout.")
@click.option("--quiet", is_flag=True, help="No remarks.")
def command(
    story: str, queries: str, profiles: tuple[str, ...], threshold: float, shown: int, form: str, output: str | None,
    quiet: bool,
) -> int:  # fmt: skip
    """Rank the scenes of STORY for each labelled query of QUERIES: the mean reciprocal rank, recall, and the misses.

    STORY is written in CNL, or any corpus. QUERIES is JSON, [{"id": …, "query": …, "relevant": [scenes], "topK": 5}],
    or any gold set. With two profiles, the first decides and a paired test says whether the other differs.

    Ends with exit code 0 if the value is above the threshold, 1 if it is not, and 5 if there is none.

    \b
    rankproof rq story.cnl queries.json
    rankproof rq story.cnl queries.json --profile vsa --profile bow
    """
    from rankproof.reports.story import quality_json, quality_text, reason_words
    from rankproof.story import World, compare_profiles, read_queries, read_story, retrieval_quality
    from rankproof.story.profiles import profile_name

    names = [profile_name(name) for name in profiles or ("vsa",)]
    if len(set(names)) < len(names):
        raise UsageError("A profile stands twice; `basic` is another name of `bow`.")
    scenes = read_story(story)
    gold = read_queries(queries)
    remark(f"{scenes.source}: {count(len(scenes), 'scene', 'scenes')}", quiet)
    remark(f"{gold.source}: {count(len(gold), 'query', 'queries')}", quiet)
    if isinstance(scenes, World) and scenes.loose:
        lines = count(len(scenes.loose), "`describes` line stands", "`describes` lines stand")
        remark(f"{scenes.source}:{scenes.loose[0]}: {lines} outside every scene and cannot be found", quiet)
    found = [retrieval_quality(scenes, gold, profile=name, threshold=threshold) for name in names]
    comparison = compare_profiles(found)
    text = quality_json(found, comparison) if form == "json" else quality_text(found, comparison, shown=shown)
    write_result(text, output)
    if found[0].value is None:
        raise NothingToEvaluate(f"RQ was not measured: {reason_words(found[0])}.")
    return 0 if found[0].passed else FAILED
