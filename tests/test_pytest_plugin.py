"""The pytest plugin, in test runs of its own: green, red, not measured, and asleep until it is asked for."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

N = 12
PROJECT = """\
gold: gold.csv
pipelines: {search: {retrieve: {python: {call: 'finder:search'}}}}
measures: [RR]
gate: {floors: {RR: 1.0}}
"""
# Finds the right document first, but fails on the word `gone`, and notes every query that it is asked.
FINDER = """\
from pathlib import Path

def search(text, k):
    with open(Path(__file__).with_name('asked'), 'a') as file:
        file.write(text + '\\n')
    if 'gone' in text:
        raise OSError('the server is down')
    return ['d' + text.split()[1]]
"""
GATE = "def test_search(rankproof):\n    rankproof.gate({})\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose pipeline is perfect, so that a floor of 1 passes."""
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\nfilterwarnings = error\n")
    (folder / "finder.py").write_text(FINDER)
    write(folder)
    return folder


def write(folder: Path, *, wrong: int = 0, gone: int = 0) -> None:
    """The project file and the gold set; some queries ask for another document than is found, or cannot be asked."""
    (folder / "rankproof.yaml").write_text(PROJECT)
    rows = [f"word {i}{' gone' if i < gone else ''},d{i + 100 if i < wrong else i}\n" for i in range(N)]
    (folder / "gold.csv").write_text("query,ideal_page\n" + "".join(rows))


def pytested(folder: Path, code: str, *options: str, at: str = "test_it.py") -> tuple[int, str]:
    """The exit code and the output of a test run over this code."""
    (folder / at).parent.mkdir(parents=True, exist_ok=True)
    (folder / at).write_text(code)
    # Other plugins, and ours by its entry point, stay out: the run sees what it is given.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUTF8": "1", "NO_COLOR": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-p", "rankproof.pytest_plugin", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, encoding="utf-8")
    assert done.stderr == ""
    return done.returncode, done.stdout


def counted(output: str) -> str:
    """What the last line counts, without the time."""
    return re.sub(r"^=+ | in [\d.]+s.*$", "", output.strip().splitlines()[-1])


def test_a_gate_that_passes_is_a_test_that_passes(project: Path) -> None:
    code, output = pytested(project, GATE.format('"rankproof.yaml"'))
    assert (code, counted(output)) == (0, "1 passed")


def test_worse_quality_fails_the_test_with_the_text_of_the_gate_and_no_traceback(project: Path) -> None:
    write(project, wrong=3)
    code, output = pytested(project, GATE.format(""))
    assert (code, counted(output)) == (1, "1 failed")
    assert "worse: search: floor RR\n" in output
    assert "✗ floor RR  worse    0.7500 is below the floor 1" in output
    assert "The gate does not pass: quality is worse." in output
    assert "FAILED test_it.py::test_search - Failed: worse: search: floor RR" in output
    assert "pytest_plugin.py" not in output


def test_what_could_not_be_measured_is_an_error_and_no_failure(project: Path) -> None:
    write(project, gone=2)
    code, output = pytested(project, GATE.format(""), "--junitxml=junit.xml")
    assert (code, counted(output)) == (1, "1 error")
    assert "ERROR at call of test_search" in output
    assert "not measured: search: coverage\n" in output
    assert (
        "2 failed (finder:search raised OSError: the server is down): word 0 gone, word 1 gone; 100.0% must be"
        in output
    )
    assert "pytest_plugin.py" not in output
    case = ElementTree.parse(project / "junit.xml").getroot()[0][0]
    assert case.find("properties/property[@name='rankproof']") is not None
    # JUnit as pytest writes it has no errors of the call; the text begins with what it is.
    failure = case.find("failure")
    assert failure is not None
    assert failure.attrib["message"].startswith("Failed: not measured: ")


def test_an_ordinary_failure_beside_it_stays_a_failure(project: Path) -> None:
    code, output = pytested(project, "def test_search(rankproof):\n    rankproof.gate()\n    assert 1 == 2\n")
    assert (code, counted(output)) == (1, "1 failed")


@pytest.mark.parametrize("marked", [False, True], ids=["fixture", "marker"])
def test_a_missing_project_is_an_error_that_names_where_it_was_looked_for(project: Path, marked: bool) -> None:
    code = GATE.format('"gone.yaml"')
    if marked:
        code = 'import pytest\n\n@pytest.mark.rankproof("gone.yaml")\ndef test_search():\n    pass\n'
    returned, output = pytested(project, code, at="tests/test_it.py")
    assert (returned, counted(output)) == (1, "1 error")
    assert f"not measured: There is no gone.yaml in {project / 'tests'} or {project}; `rankproof init`" in output


MARKED = """\
import pytest
from pathlib import Path

@pytest.mark.rankproof("rankproof.yaml", mode="search")
def test_marked():
    Path("ran").touch()
"""


@pytest.mark.parametrize(
    ("spoilt", "expected", "said"),
    [
        ({}, "1 passed", ""),
        ({"wrong": 3}, "1 failed", "✗ floor RR  worse    0.7500 is below the floor 1"),
        ({"gone": 2}, "1 error", "ERROR at setup of test_marked"),
    ],
)
def test_a_marked_test_runs_only_if_the_gate_passes(
    project: Path, spoilt: dict[str, int], expected: str, said: str
) -> None:
    write(project, **spoilt)
    _, output = pytested(project, MARKED)
    assert counted(output) == expected
    assert said in output
    assert "pytest_plugin.py" not in output
    assert (project / "ran").exists() is (not spoilt)


def test_paths_start_from_the_folder_of_the_test_and_then_from_the_root(project: Path) -> None:
    code = "def test_search(rankproof):\n    assert rankproof.eval('rankproof.yaml') == {'search': {'RR': %s}}\n"
    assert counted(pytested(project, code % "1.0", at="deep/tests/test_it.py")[1]) == "1 passed"
    (project / "deep" / "tests" / "finder.py").write_text(FINDER)
    write(project / "deep" / "tests", wrong=6)
    assert counted(pytested(project, code % "0.5", at="deep/tests/test_it.py")[1]) == "1 passed"


def test_the_same_project_is_gated_once(project: Path) -> None:
    code = GATE.format("") + MARKED + "def test_again(rankproof):\n    assert list(rankproof.gate()) == ['search']\n"
    assert counted(pytested(project, code)[1]) == "3 passed"
    # Once for all pipelines, once for the one that the marker names.
    assert len((project / "asked").read_text().splitlines()) == 2 * N
    (project / "asked").unlink()
    write(project, wrong=1)
    assert counted(pytested(project, GATE.format("") + GATE.format("").replace("_search", "_too"))[1]) == "2 failed"
    assert len((project / "asked").read_text().splitlines()) == N


def test_means_with_holes_are_not_given(project: Path) -> None:
    write(project, gone=1)
    _, output = pytested(project, "def test_search(rankproof):\n    rankproof.eval(measures=['RR', 'P@1'])\n")
    assert counted(output) == "1 error"
    assert "not measured: 1 query failed, the first: finder:search raised OSError: the server is down\n" in output
    assert "During handling" not in output


def test_a_baseline_may_be_named(project: Path) -> None:
    (project / "rankproof.yaml").write_text(PROJECT.replace("floors: {RR: 1.0}", "max_drop: {RR: 0.01}"))
    command = [sys.executable, "-m", "rankproof", "baseline", "record", "--quiet", "-o", "accepted.json"]
    subprocess.run(command, cwd=project, check=True)
    assert counted(pytested(project, GATE.format("baseline='accepted.json'"))[1]) == "1 passed"
    _, output = pytested(project, GATE.format(""))
    assert counted(output) == "1 error"
    assert "not measured: There is no rankproof-baseline.json to compare with" in output


def test_it_works_where_tests_are_spread_over_processes(project: Path) -> None:
    write(project, wrong=3, gone=0)
    other = project / "other"
    other.mkdir()
    (other / "finder.py").write_text(FINDER)
    write(other, gone=2)
    code = (
        MARKED
        + GATE.format("").replace("_search", "_red")
        + GATE.format("'other/rankproof.yaml'").replace("_search", "_holes")
        + "def test_plain():\n    pass\n"
    )
    returned, output = pytested(project, code, "-p", "xdist", "-n", "2")
    assert (returned, counted(output)) == (1, "2 failed, 1 passed, 1 error")


def test_it_adds_no_word_and_no_option_until_it_is_used(project: Path) -> None:
    plain = "def test_plain():\n    assert True\n"
    with_it = pytested(project, plain, "-v")[1]
    without = pytested(project, plain, "-v", "-p", "no:rankproof.pytest_plugin")[1]
    assert re.sub(r"in [\d.]+s", "", with_it) == re.sub(r"in [\d.]+s", "", without)
    helped = [pytested(project, plain, "--help", *more)[1] for more in ([], ["-p", "no:rankproof.pytest_plugin"])]
    assert helped[0] == helped[1]


def test_it_loads_nothing_but_pytest_until_it_is_used(project: Path) -> None:
    code = "import pathlib, sys\n\ndef test_it():\n    pathlib.Path('loaded').write_text(repr(sorted(sys.modules)))\n"
    assert counted(pytested(project, code)[1]) == "1 passed"
    loaded: list[str] = ast.literal_eval((project / "loaded").read_text())
    assert [name for name in loaded if name.startswith("rankproof")] == ["rankproof", "rankproof.pytest_plugin"]
    heavy = ("numpy", "scipy", "click", "pydantic", "yaml", "rich")
    assert [name for name in heavy if name in loaded] == []


def test_the_marker_and_the_fixture_are_described(project: Path) -> None:
    assert "@pytest.mark.rankproof(path=" in pytested(project, "", "--markers")[1]
    fixtures = pytested(project, GATE.format(""), "--fixtures")[1]
    assert 'Retrieval quality as a test: `rankproof.gate("rankproof.yaml")` fails if it is worse.' in fixtures


def test_verdicts_are_those_that_the_command_line_gives(project: Path) -> None:
    code = (
        "from pathlib import Path\nfrom rankproof.reports.gate import gate_json\n\n"
        "def test_search(rankproof):\n    Path('verdicts.json').write_text(gate_json(rankproof.gate()), 'utf-8')\n"
    )
    assert counted(pytested(project, code)[1]) == "1 passed"
    command = [sys.executable, "-m", "rankproof", "gate", "--quiet", "--no-github", "--format", "json"]
    done = subprocess.run(command, cwd=project, check=True, capture_output=True)
    assert json.loads(done.stdout) == json.loads((project / "verdicts.json").read_text("utf-8"))
