"""`rankproof explain`: why two presets give different numbers."""

from __future__ import annotations

import click

from rankproof.cli.output import write_result
from rankproof.errors import UsageError


@click.command("explain", short_help="Say which rule makes two presets give different numbers.")
@click.argument("qrels")
@click.argument("run")
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME", help="A measure; may be repeated.")
@click.option("--preset", "presets", multiple=True, metavar="NAME", help="Give it twice; once compares with `default`.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the result to a file instead of stdout.")
def command(
    qrels: str, run: str, measures: tuple[str, ...], presets: tuple[str, ...], form: str, output: str | None
) -> None:  # fmt: skip
    """Score a RUN under two presets and name the rules and the queries that make the numbers differ.

    \b
    rankproof explain qrels.txt bm25.run -m nDCG@10 --preset trec_eval --preset sentence-transformers
    """
    if not 1 <= len(presets) <= 2:
        raise UsageError("Name one or two presets, as in --preset trec_eval --preset ranx.")
    from rankproof.reports.json import explanation_json
    from rankproof.reports.text import explanation_text
    from rankproof.scoring.explain import explain

    first, second = presets if len(presets) == 2 else ("default", presets[0])
    found = explain(qrels, run, measures or ("nDCG@10", "RR", "AP"), first, second)
    write_result(explanation_json(found) if form == "json" else explanation_text(found), output)
