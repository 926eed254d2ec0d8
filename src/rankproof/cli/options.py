"""Options that several verbs have in common, so that they read the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])

DEFAULT_MEASURES = ("nDCG@10", "RR@10", "R@100", "AP")


def measures_option(default: str = ", ".join(DEFAULT_MEASURES), *, more: str = "") -> Callable[[_F], _F]:
    """`-m NAME`, as often as one likes; `default` says what is measured without it."""
    about = f"A measure, such as nDCG@10; may be repeated. {more}Default: {default}."
    return click.option("-m", "--measure", "--measures", "measures", multiple=True, metavar="NAME", help=about)


def preset_option(function: _F) -> _F:
    """`--preset NAME`."""
    about = "The rules for ties, missing queries and the like; `rankproof presets` lists them."
    return click.option("--preset", default="default", show_default=True, metavar="NAME", help=about)(function)


def groups_option(function: _F) -> _F:
    """`--group-by FILE`."""
    about = "Also per group: a TSV of query and group, or a gold set whose queries have groups."
    return click.option("--group-by", "groups_file", metavar="FILE", help=about)(function)


def format_option(*forms: str) -> Callable[[_F], _F]:
    """`--format`, the first being the default."""
    return click.option("--format", "form", type=click.Choice(forms), default=forms[0], show_default=True)


def output_options(function: _F) -> _F:
    """`-o FILE` and `--quiet`."""
    quiet = click.option("--quiet", is_flag=True, help="No progress and no remarks.")
    output = click.option("-o", "--output", metavar="FILE", help="Write the result to a file instead of stdout.")
    return output(quiet(function))
