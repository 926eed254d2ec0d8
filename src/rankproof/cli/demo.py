"""`rankproof demo`: the whole loop on a project that comes with the package."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import click

from rankproof.cli.output import remark, write_result
from rankproof.errors import NothingToEvaluate, UsageError

FILES = (
    "queries.tsv", "groups.tsv", "qrels.txt", "keyword.run", "vector.run", "story/story.cnl", "story/queries.json",
)  # fmt: skip
"""The small examples, which the documentation works with."""

# The first of them says that a folder is ours, so it must be there before the others.
PROJECT = ("changed.yaml", "rankproof.yaml", "gold.json", "kinds.tsv")
"""The project over the documentation, besides its pages."""

_MODEL = """\
  # Search by meaning: a small embedding model that runs on this machine.
  vector: {retrieve: {dense: {model: wordllama}}}
"""
_STAND_IN = """\
  # The extra `dense` is not installed, so a cosine of word counts stands in for search by meaning.
  vector: {retrieve: {bow: {language: english, stop_words: english}}}
"""

_WIDTH, _WIDEST = 100, 120
_ROOM_FOR_WORDS = 28

NOTHING = "(?!)"
"""The regular expression that nothing begins with."""


class Step(NamedTuple):
    """One command of the loop, and what is shown of its output, by regular expressions."""

    says: str
    command: str
    shows: str
    """How the paragraphs of the output begin that are shown."""
    hides: str = NOTHING
    """How the lines in them begin that are not."""
    exit_code: int = 0


STEPS = (
    Step(
        "Score three ways to search. Each figure has the range that chance leaves open, overall and for each kind of "
        "question: asked in the words of a page (direct), from a situation (indirect), in other words (synonym-drift).",
        "eval -m nDCG@10 --misses 0",
        r"\d+ queries scored|group ",
    ),
    Step(
        "Is hybrid better than keyword? Each question is compared with itself, and the verdict says what so many "
        "questions can show at all.",
        "compare .rankproof/runs/keyword.scores.json .rankproof/runs/hybrid.scores.json --show 2",
        r"hybrid [−a]",
    ),
    Step(
        "Why do questions fail? Every miss goes into the first class that there is evidence for, and the largest class "
        "says what to work on.",
        "eval --mode hybrid -m nDCG@10 --analyze --misses 1",
        r"hybrid: |recommendation",
    ),
    Step("Keep what was measured, for later builds to be held against.", "baseline record", NOTHING),
    Step("Nothing has changed since, so the gate passes.", "gate", "The gate"),
    Step(
        "Now a mistake that sounds right: changed.yaml adds up the scores of a page's sections instead of taking the "
        "best one. The gate turns red and names the rule, the group and the questions that fell furthest.",
        "gate changed.yaml --mode hybrid",
        r"hybrid\n|max_drop nDCG@10(, group direct)?, worst|The gate",
        r"hybrid$|. (coverage|floor|max_drop RR,)",
        exit_code=1,
    ),
    Step(
        "The change on one page, for those who were not there: open report.html in a browser.",
        "report changed.yaml --mode hybrid -o report.html",
        NOTHING,
    ),
)


@click.command("demo", short_help="Run the whole loop on an example.")
@click.argument("folder", default="rankproof-demo")
def command(folder: str) -> int:
    """Put a project into FOLDER and run the whole loop on it: eval, compare, analyze, baseline, gate, report.

    It searches the documentation of rankproof for questions that its users have, with keywords, vectors and both, and
    ends with a change that makes search worse, which the gate must find. Beside it are small examples: a help centre
    with two runs, and a story with labelled queries. Files that are already in the folder are left as they are;
    baseline and report are made anew. Nothing is fetched from anywhere.
    """
    target = Path(folder)
    _unpack(target)
    write_result(_opening(folder, (target / "rankproof.yaml").read_text(encoding="utf-8")), None)
    for number, step in enumerate(STEPS, 1):
        with contextlib.chdir(target):
            done = _run(step.command)
        write_result(_told(number, step, done), None)
        if done.exit_code != step.exit_code:
            remark(done.remarks.rstrip("\n"), quiet=False)
            remark(
                f"rankproof: `rankproof {step.command}` ended with exit code {done.exit_code}, not {step.exit_code}: "
                f"were files in {folder} edited? `rankproof demo NEW-FOLDER` starts afresh.",
                quiet=False,
            )
            return done.exit_code or UsageError.exit_code
    write_result(_next_steps(folder), None)
    return 0


def _unpack(target: Path) -> None:
    from rankproof.data.files import write_whole

    _refuse_a_foreign(target)
    for name, content in _contents():
        path = target / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)


def _refuse_a_foreign(target: Path) -> None:
    """The baseline is recorded anew, so a project of somebody's own must not be taken for ours."""
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is a file; name a folder for the demo.")
    if (target / PROJECT[0]).exists():
        return
    for name in (*PROJECT, "docs", "rankproof-baseline.json"):
        if (target / name).exists():
            raise UsageError(f"{target} has a {name} of its own; name a new folder for the demo: `rankproof demo NEW`.")


def _contents() -> Iterator[tuple[str, bytes]]:
    """Every file of the demo, and what is in it."""
    from rankproof.project.starter import can_embed

    pages = _documentation()
    bundled = resources.files("rankproof.demo")
    has_model = can_embed()
    for name in PROJECT:
        content = bundled.joinpath("search", name).read_bytes()
        yield name, content if has_model else content.replace(_MODEL.encode(), _STAND_IN.encode())
    for page in sorted(pages.rglob("*.md")):
        yield f"docs/{page.relative_to(pages).as_posix()}", page.read_bytes()
    for name in FILES:
        yield name, bundled.joinpath(name).read_bytes()


def _documentation() -> Path:
    """The pages: a wheel has them beside the other files of the demo, a checkout at its root."""
    package = Path(__file__).parents[1]
    for folder in (package / "demo" / "docs", package.parents[1] / "docs"):
        if (folder / "index.md").is_file():
            return folder
    raise NothingToEvaluate(
        "The documentation that the demo searches is not part of this installation; install rankproof from its wheel."
    )


class _Done(NamedTuple):
    exit_code: int
    output: str
    remarks: str


def _run(command: str) -> _Done:
    """Run a command of ours as it would run by itself, and keep what it prints."""
    from rankproof.cli.main import run

    output, remarks = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(remarks):
        exit_code = run(command.split())
    for stream in (output, remarks):
        stream.seek(0)
    return _Done(exit_code, output.read(), remarks.read())


def _opening(folder: str, project: str) -> str:
    says = (
        f"{folder}/ now has the pages of rankproof's own documentation, questions that its users have with the pages "
        "that answer them, and three ways to search: keyword, vector and hybrid. Of what each command prints, the "
        "part that matters is shown."
    )
    if _STAND_IN in project:
        says += (
            " The extra `dense` was not installed, so `vector` is a cosine of word counts; with "
            '`pip install "rankproof[dense]"` a new folder gets an embedding model.'
        )
    return f"{_folded(says)}\n\n$ cd {shlex.quote(folder)}\n"


def _told(number: int, step: Step, done: _Done) -> str:
    paragraphs = done.output.rstrip("\n").split("\n\n")
    shown = [_fitted(paragraph, step.hides) for paragraph in paragraphs if re.match(step.shows, paragraph)]
    if not shown and done.exit_code == step.exit_code:
        shown = done.remarks.splitlines()[-1:]
    if done.exit_code:
        shown.append(f"exit code {done.exit_code}")
    body = "\n\n".join(shown)
    return f"\n{_folded(f'{number}. {step.says}')}\n$ rankproof {step.command}\n{body}\n"


def _fitted(paragraph: str, hides: str) -> str:
    """The lines no longer than there is room: words go on in the next line, what else a table holds is cut off."""
    width = _width()
    lines: list[str] = []
    for line in paragraph.splitlines():
        last = max(line.rfind("  ") + 2, 2)
        if re.match(hides, line):
            continue
        if len(line) <= width:
            lines.append(line)
        elif width - last >= _ROOM_FOR_WORDS and re.search("[a-z]", line[last:]):
            lines += textwrap.wrap(
                line, width, subsequent_indent=" " * last, break_long_words=False, break_on_hyphens=False
            )
        else:
            lines.append(f"{line[: width - 1]}…")
    return "\n".join(lines)


def _folded(text: str) -> str:
    return textwrap.fill(text, _width(), break_long_words=False, break_on_hyphens=False)


def _width() -> int:
    """The same always, unless a person watches."""
    return min(_WIDEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else _WIDTH


def _next_steps(folder: str) -> str:
    folder = shlex.quote(folder)
    says = f"Everything stays in {folder}/ to play with. The same by persona, then two smaller examples:"
    return (
        f"\n{_folded(says)}\n"
        f"  rankproof eval {folder} --group-by {folder}/gold.json --misses 3\n"
        f"  rankproof explain {folder}/qrels.txt {folder}/vector.run -m nDCG@3 --preset default --preset trec_eval\n"
        f"  rankproof rq {folder}/story/story.cnl {folder}/story/queries.json --misses 3\n"
    )
