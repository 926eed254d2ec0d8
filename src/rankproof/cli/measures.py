"""`rankproof measures`: what can be measured."""

from __future__ import annotations

import click

from rankproof.cli.output import write_result


@click.command("measures", short_help="List the measures, or describe one.")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the measures with one line each, or describe the one called NAME by any of its names."""
    from rankproof.reports.reference import measure_list, measure_page

    write_result(measure_list() if name is None else measure_page(name), None)
