"""What tuning the weights of a fusion found."""

from __future__ import annotations

from rankproof.errors import count
from rankproof.reports.comparison import comparison_data, how, interval_words, p_words, signed, verdict_sentences
from rankproof.reports.json import SCHEMA_VERSION, dump, rules_data
from rankproof.reports.text import foundation, number, printable, table
from rankproof.tuning import Tuned


def tuning_text(found: Tuned) -> str:
    """For eyes: the weights, what everything scores on the held-out queries, and what the difference means."""
    measure = str(found.measure)
    rows = [
        [scores.name, "" if weight is None else f"{weight:g}", number(scores.mean()[measure])]
        for scores, weight in zip(found.held_out, [*found.weights, None, None], strict=True)
    ]
    train, rest = (count(len(ids), "query", "queries") for ids in (found.split.train, found.split.held_out))
    tried = count(found.n_tried, "weighting", "weightings")
    parts = [
        f"{found.fusion.method.name}: the best of {tried} on {train}, where it scores {number(found.train_value)}.\n"
        f"The figures below are of the {rest} held out.",
        table(["run", "weight", measure], rows),
        "\n".join([_difference(found), *map(printable, verdict_sentences(found.comparison))]),
        _basis(found),
    ]
    return "\n\n".join(parts) + "\n"


def _difference(found: Tuned) -> str:
    one = found.comparison.comparisons[0]
    chosen_on = count(len(found.split.train), "query", "queries")
    return (
        f"{one.candidate} − {printable(one.baseline)} (the best single run on the other {chosen_on}): "
        f"{signed(one.difference)}, {one.interval.level:.0%} interval {interval_words(one.interval)}, "
        f"p = {p_words(one.p_value)}; {one.effect.wins:,} won, {one.effect.ties:,} tied, {one.effect.losses:,} lost"
    )


def _basis(found: Tuned) -> str:
    coverages = [(scores.name, scores.coverage) for scores in found.held_out]
    return "\n".join([
        f"queries: parted by a hash of their ids, seed {found.split.seed}",
        how(found.comparison),
        foundation(coverages, found.held_out[0].preset, [found.measure]),
    ])  # fmt: skip


def tuning_json(found: Tuned) -> str:
    """For programs."""
    measure = str(found.measure)
    singles = found.held_out[: len(found.weights)]
    parameters = {name: value for name, value in found.fusion.parameters.items() if name != "weights"}
    return dump({
        "schema_version": SCHEMA_VERSION,
        "measure": measure,
        "method": found.fusion.method.name,
        "parameters": {**found.fusion.method.parameters, **parameters, "weights": list(found.weights)},
        "weights": [
            {"run": scores.name, "weight": weight} for scores, weight in zip(singles, found.weights, strict=True)
        ],
        "n_tried": found.n_tried,
        "seed": found.split.seed,
        "train": {
            "query_ids": found.split.train,
            "value": found.train_value,
            "best_single": found.held_out[found.best_single].name,
        },
        "held_out": {
            "query_ids": found.split.held_out,
            "runs": [
                {"name": scores.name, "mean": scores.mean()[measure], "coverage": scores.coverage.as_dict()}
                for scores in found.held_out
            ],
            "comparison": comparison_data(found.comparison.comparisons[0], queries=True),
        },
        **rules_data(found.held_out[0].preset),
    })  # fmt: skip
