"""`rankproof presets`: under which rules numbers can be had."""

from __future__ import annotations

import click

from rankproof.cli.output import write_result


@click.command("presets", short_help="List the presets and their rules.")
def command() -> None:
    """List the presets: what each stands for and where it departs from the default rules."""
    from rankproof.reports.reference import preset_list

    write_result(preset_list(), None)
