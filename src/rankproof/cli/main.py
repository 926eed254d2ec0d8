"""The command line: finds the verb, runs it, and turns errors into exit codes."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import Any, NoReturn

import click

from rankproof import __version__
from rankproof.cli.output import nobody_reads
from rankproof.errors import BadInput, RankproofError, UsageError

# The help of each verb stands here as well, so that `--help` imports none of them.
VERBS = {
    "baseline": "Keep what was measured, for later builds to be held against.",
    "compare": "Say whether one run is better than another, with proof.",
    "correlate": "Say whether measures or judgments order systems alike.",
    "demo": "Run the whole loop on an example.",
    "discriminate": "Say how many pairs of systems a measure tells apart.",
    "eval": "Run pipelines over a gold set and score them.",
    "explain": "Say which rule makes two presets give different numbers.",
    "fuse": "Make one run of several.",
    "gate": "Say whether the build may pass.",
    "gold": "Check, convert, merge and complete gold sets.",
    "init": "Write a project file after a look at the folder.",
    "label": "Judge results, one document after the other.",
    "log": "List the changes that were accepted or rejected.",
    "measures": "List the measures, or describe one.",
    "overlap": "Say how much runs have in common.",
    "power": "Say how many queries it takes to see a difference.",
    "presets": "List the presets and their rules.",
    "report": "Write one HTML page about a project.",
    "rq": "Measure the Retrieval Quality of a story.",
    "score": "Score runs against judgments.",
    "serve": "Label in the browser, and look at runs and scores.",
}

BUG = 70
INTERRUPTED = 130
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE)
"""What a system refuses, which is no bug of ours."""


class _NobodyReads(Exception):
    """Whoever read our output has gone. click would make exit code 1 of that, which here means something else."""


class _Verbs(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as exc:
            raise _NobodyReads from exc

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"rankproof.cli.{name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            from rankproof.errors import UnknownName

            raise UnknownName("command", name, VERBS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="rankproof")
def cli() -> None:
    """Proof, not vibes, that search got better.

    \b
    First steps:
      rankproof demo
      rankproof score QRELS RUN -m nDCG@10 -m RR

    Exit codes: 0 done · 1 a threshold was missed · 2 wrong use · 3 bad input data · 4 could not measure ·
    5 nothing to evaluate · 70 a bug of ours · 130 interrupted.
    """


def main() -> NoReturn:
    """Run the command line and exit with the code that the table promises."""
    for name in ("stdout", "stderr"):
        # Closed by whoever started us; what is written there then goes nowhere.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        code = cli.main(args=arguments, prog_name="rankproof", standalone_mode=False)
        sys.stdout.flush()
    except RankproofError as exc:
        return _fail(str(exc), exc.exit_code)
    except click.exceptions.NoArgsIsHelpError as exc:
        click.echo(exc.format_message(), err=True)
        return UsageError.exit_code
    except click.ClickException as exc:
        return _fail(exc.format_message(), UsageError.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    except (_NobodyReads, BrokenPipeError):
        nobody_reads()
        return 0
    except OSError as exc:
        if exc.errno not in _REFUSALS:
            return _bug(exc)
        place = f"{exc.filename}: " if exc.filename else ""
        return _fail(f"{place}{exc.strerror}", BadInput.exit_code)
    except Exception as exc:
        return _bug(exc)
    return code if isinstance(code, int) else 0


def _bug(exc: Exception) -> int:
    if os.environ.get("RANKPROOF_TRACEBACK"):
        raise exc
    hint = "this is a bug of ours; RANKPROOF_TRACEBACK=1 shows where"
    return _fail(f"{type(exc).__name__}: {exc} ({hint})", BUG)


def _fail(message: str, code: int) -> int:
    for line in message.splitlines() or [""]:
        click.echo(f"rankproof: {line}", err=True)
    return code
