"""The files that build systems read: they parse, call commands that exist, and let no input be run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from rankproof.cli.main import cli
from tests.docs.markdown import ROOT, blocks, page_text

PAGE = "docs/how-to/gate-in-ci.md"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
INSTALL, GATE = ACTION["runs"]["steps"]
BLOCKS = [pytest.param(block.text, id=f"line-{block.line}") for block in blocks(page_text(PAGE), "yaml")]
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="There is no bash here")

N = 12
PROJECT = """\
gold: gold.csv
pipelines: {search: {retrieve: {run: {path: found.run}}}, other: {retrieve: {run: {path: found.run}}}}
measures: [RR]
gate: {floors: {RR: 0.9}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "the shop"
    folder.mkdir()
    (folder / "rankproof.yaml").write_text(PROJECT)
    (folder / "gold.csv").write_text("id,query,ideal_page\n" + "".join(f"q{i},word {i},d{i}\n" for i in range(N)))
    answer(folder, right=N)
    return folder


def answer(folder: Path, *, right: int) -> None:
    """A run that finds the right document for so many queries."""
    lines = [f"q{i} Q0 {f'd{i}' if i < right else 'wrong'} 1 1.0 run\n" for i in range(N)]
    (folder / "found.run").write_text("".join(lines))


def run_step(step: dict[str, Any], cwd: Path, path: str = "", **given: str) -> subprocess.CompletedProcess[str]:
    """The shell text of a step as GitHub runs it, with these variables of its own."""
    script = cwd / "step.sh"
    script.write_text(step["run"])
    # What the step sets is replaced; GitHub would fill in the inputs there.
    own = {name: given.pop(name, "") for name in step["env"]}
    folders = [path] if path else []
    search = os.pathsep.join([*folders, str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {
        **os.environ,
        **own,
        **given,
        "PATH": search,
        "GITHUB_OUTPUT": str(cwd / "output"),
        "PYTHONUTF8": "1",
    }
    command = [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False)


def options_of(words: list[str]) -> click.Context:
    """The command line, parsed by the verb that it names."""
    parent = click.Context(cli, info_name="rankproof")
    command: click.Command | None = cli
    while isinstance(command, click.Group):
        name, *words = words
        command = command.get_command(parent, name)
    assert command is not None
    return command.make_context(command.name, words, parent=parent)


def test_the_action_has_the_inputs_and_outputs_that_the_page_names() -> None:
    assert list(ACTION["inputs"]) == ["folder", "mode", "baseline", "extras", "version", "junit", "markdown"]
    assert list(ACTION["outputs"]) == ["outcome", "exit-code"]
    assert all(f"`{name}`" in page_text(PAGE) for name in (*ACTION["inputs"], *ACTION["outputs"]))
    assert all(one["default"] is not None and one["description"] for one in ACTION["inputs"].values())


def test_every_input_is_passed_by_the_environment_and_read_there() -> None:
    steps = ACTION["runs"]["steps"]
    passed = [value for step in steps for value in step["env"].values()]
    for name in ACTION["inputs"]:
        assert f"${{{{ inputs.{name} }}}}" in passed
    for step in steps:
        assert "${{" not in step["run"]
        assert all(re.search(rf"\${{?{name}\b", step["run"]) for name in step["env"])


def shell_texts(data: Any) -> Iterator[str]:
    """Everything that a workflow or a job hands to a shell."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from [value] if key in ("run", "script") and isinstance(value, str) else shell_texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from shell_texts(value)


@pytest.mark.parametrize("text", BLOCKS)
def test_no_workflow_on_the_page_has_an_expression_in_its_shell_text(text: str) -> None:
    data = yaml.safe_load(text)
    assert isinstance(data, dict)
    assert not [shell for shell in shell_texts(data) if "${{" in shell]


def test_an_expression_in_a_shell_text_would_be_noticed() -> None:
    assert list(shell_texts({"jobs": {"a": {"steps": [{"run": "echo ${{ inputs.x }}"}]}}})) == ["echo ${{ inputs.x }}"]


@needs_bash
@pytest.mark.parametrize("step", [INSTALL, GATE], ids=["install", "gate"])
def test_the_shell_text_is_valid(step: dict[str, Any], tmp_path: Path) -> None:
    assert step["shell"] == "bash"
    done = subprocess.run([str(BASH), "-n"], input=step["run"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_action_calls_a_command_that_exists_with_options_that_exist() -> None:
    (line,) = re.findall(r"^ *rankproof (.*) \|\| code=\$\?$", GATE["run"], re.MULTILINE)
    options = re.findall(r'options\+=\("(--\w+)=', GATE["run"])
    assert options == ["--mode", "--baseline", "--junit", "--markdown"]
    words = [word for word in shlex.split(line) if word != "${options[@]}"]
    context = options_of([words[0], *(f"{option}=x" for option in options), *words[1:]])
    assert context.params["modes"] == ("x",)
    assert context.params["github"] is True
    assert context.params["folder"] == "$INPUT_FOLDER"


@needs_bash
@pytest.mark.parametrize(
    ("right", "code", "outcome"), [(N, 0, "pass"), (6, 1, "worse")], ids=["green", "red"]
)  # fmt: skip
def test_the_action_keeps_the_exit_code_and_gives_the_outcome(
    project: Path, right: int, code: int, outcome: str
) -> None:
    answer(project, right=right)
    done = run_step(
        GATE, project.parent, INPUT_FOLDER="the shop", INPUT_MODE="search\n", INPUT_JUNIT="gate.xml",
        INPUT_MARKDOWN="gate.md", GITHUB_STEP_SUMMARY=str(project / "summary.md"), GITHUB_WORKSPACE=str(project.parent),
    )  # fmt: skip
    assert done.returncode == code
    assert (project.parent / "output").read_text() == f"outcome={outcome}\nexit-code={code}\n"
    assert 'name="search"' in (project.parent / "gate.xml").read_text(encoding="utf-8")
    assert 'name="other"' not in (project.parent / "gate.xml").read_text(encoding="utf-8")
    assert "| rule | why |" in (project.parent / "gate.md").read_text(encoding="utf-8")
    assert (project / "summary.md").exists()
    assert ("::error file=the shop/rankproof.yaml,title=Quality is worse::" in done.stderr) is (code == 1)


@needs_bash
def test_the_action_tells_not_measured_and_errors_apart_from_worse(project: Path) -> None:
    (project / "found.run").write_text("".join(f"q{i} Q0 d{i} 1 1.0 run\n" for i in range(N)))
    text = PROJECT.replace("floors: {RR: 0.9}", "floors: {RR: 0.9}, latency: 1")
    (project / "rankproof.yaml").write_text(text)
    assert run_step(GATE, project.parent, INPUT_FOLDER="the shop").returncode == 4
    assert (project.parent / "output").read_text() == "outcome=not measured\nexit-code=4\n"
    (project.parent / "output").unlink()
    assert run_step(GATE, project.parent, INPUT_FOLDER="gone").returncode == 2
    assert (project.parent / "output").read_text() == "outcome=error\nexit-code=2\n"


@needs_bash
def test_an_input_is_never_run_nor_taken_for_an_option(project: Path) -> None:
    evil = '"; touch planted; $(touch planted) `touch planted` #'
    for name in ("INPUT_FOLDER", "INPUT_MODE", "INPUT_BASELINE"):
        given = {"INPUT_FOLDER": "the shop", name: evil}
        assert run_step(GATE, project.parent, **given).returncode in (2, 3)
    assert run_step(GATE, project.parent, INPUT_FOLDER="--help").returncode == 2
    done = run_step(GATE, project.parent, INPUT_FOLDER="the shop", INPUT_MODE="--no-github\nsearch")
    assert "There is no pipeline called '--no-github'" in done.stderr
    assert not (project.parent / "planted").exists()


@needs_bash
@pytest.mark.parametrize(
    ("extras", "version", "expected"),
    [
        ("", "", "/action"),
        ("http, dense", "", "/action[http,dense]"),
        ("", "1.2.0", "rankproof==1.2.0"),
        ("http", "1.2.0", "rankproof[http]==1.2.0"),
        ("http] @ https://evil.test/x", "", None),
        ("", "1.0 --index-url https://evil.test", None),
        ("", "$(touch planted)", None),
    ],
)
def test_the_action_installs_what_is_asked_for_and_nothing_else(
    tmp_path: Path, extras: str, version: str, expected: str | None
) -> None:
    fake = tmp_path / "bin" / "python"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > asked\n')
    fake.chmod(0o755)
    done = run_step(
        INSTALL, tmp_path, str(fake.parent), INPUT_EXTRAS=extras, INPUT_VERSION=version, GITHUB_ACTION_PATH="/action"
    )  # fmt: skip
    if expected is None:
        assert done.returncode == 2
        assert not (tmp_path / "asked").exists()
        assert not (tmp_path / "planted").exists()
    else:
        assert done.returncode == 0
        assert (tmp_path / "asked").read_text().splitlines() == ["-m", "pip", "install", "--quiet", expected]


def test_the_hook_calls_a_command_that_exists() -> None:
    (hook,) = HOOKS
    assert hook["id"] == "rankproof-gold-lint"
    assert hook["language"] == "python"
    words = shlex.split(hook["entry"])
    assert words[0] == "rankproof"
    # It takes one gold set and its corpus, so files that changed must not be appended.
    assert hook["pass_filenames"] is False
    assert options_of([*words[1:], *hook["args"]]).params == {
        "gold_file": "gold.csv", "corpus": None, "form": "text", "output": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "expected"),
    [("gold.csv", True), ("search/gold-de.jsonl", True), ("golden/x.csv", False), ("gold.py", False)],
)
def test_the_hook_looks_at_gold_sets(path: str, expected: bool) -> None:
    assert bool(re.search(HOOKS[0]["files"], path)) is expected


def test_the_hook_lets_a_good_gold_set_through_and_stops_a_bad_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", *shlex.split(HOOKS[0]["entry"]), *HOOKS[0]["args"]]
    for rows, code in (("a,d1\nb,d2\n", 0), ("a,d1\nb,\n,d3\n", 3)):
        (tmp_path / "gold.csv").write_text(f"query,ideal_page\n{rows}")
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == code, done.stderr.decode()


def commands_on_the_page() -> list[str]:
    """Every call of the program in a block of YAML or in a shell."""
    made = [block.text for language in ("yaml", "console") for block in blocks(page_text(PAGE), language)]
    return [found for text in made for found in re.findall(r"\brankproof ((?:gate|gold|baseline|eval)\b[^\n]*)", text)]


def test_every_command_on_the_page_exists_with_its_options() -> None:
    found = commands_on_the_page()
    assert len(found) == 3
    for command in found:
        assert options_of(shlex.split(command)).command is not None


def test_the_page_shows_the_action_with_inputs_that_it_has() -> None:
    used = [
        step["with"]
        for block in blocks(page_text(PAGE), "yaml")
        for job in (yaml.safe_load(block.text).get("jobs") or {}).values()
        for step in job["steps"]
        if "rankproof" in step.get("uses", "")
    ]
    assert used
    assert all(set(given) <= set(ACTION["inputs"]) for given in used)


def test_the_text_of_the_page_on_annotations_is_what_the_program_writes() -> None:
    from rankproof.gate import Verdict
    from rankproof.reports import github

    data = json.loads(next(block.text for block in blocks(page_text(PAGE), "json")))
    verdicts = {
        mode: [
            Verdict(
                one["rule"], one["outcome"], one["why"], one["measure"] or "", one["group"], one["baseline"],
                one["value"], one["p_value"], tuple((q["query_id"], q["difference"]) for q in one["worst"]),
                noise=one["noise"],
            )
            for one in of_mode
        ]
        for mode, of_mode in data["pipelines"].items()
    }  # fmt: skip
    summary, annotated = (
        block.text for language in ("markdown", "text") for block in blocks(page_text(PAGE), language)
    )
    assert github.step_summary(verdicts) == summary
    assert github.annotations(verdicts, "search/rankproof.yaml") == annotated.splitlines()
