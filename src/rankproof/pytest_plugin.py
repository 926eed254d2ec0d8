"""The gate as a test. Nothing happens, and nothing else of the package is loaded, until a test asks for it.

A test whose quality is worse fails. One that could not be measured is an error, so that a missing key or a server that
is down is never taken for bad quality, nor for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import pytest

if TYPE_CHECKING:
    from rankproof.gate import Outcome, Verdict
    from rankproof.project.project import Project

FILE = "rankproof.yaml"

_MARKER = (
    'rankproof(path="rankproof.yaml", *, mode=(), baseline=None): hold a project against the rules under `gate:` '
    "before the test begins."
)
_UNMEASURED = ("rankproof", "not measured")
_SHOWN_RULES = 3


class _Request(NamedTuple):
    """What is to be gated; the same is gated once in a process."""

    project: Path
    modes: tuple[str, ...]
    baseline: str | None


class _Finding(NamedTuple):
    outcome: Outcome
    text: str
    verdicts: Mapping[str, Sequence[Verdict]]


_FINDINGS = pytest.StashKey[dict[_Request, _Finding]]()


class Rankproof:
    """What a test may ask for. Paths start from the folder of the test file, then from the root of the test run."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def gate(
        self, path: str | Path = FILE, *, mode: str | Iterable[str] = (), baseline: str | Path | None = None
    ) -> Mapping[str, Sequence[Verdict]]:  # fmt: skip
        """Fail unless every rule of the project passes; returns the verdicts, by pipeline."""
        finding = _gated(self._item, path, mode, baseline)
        if finding.outcome == "not measured":
            self._unmeasured(finding.text)
        if finding.outcome == "worse":
            pytest.fail(finding.text, pytrace=False)
        return finding.verdicts

    def eval(
        self, path: str | Path = FILE, *, mode: str | Iterable[str] = (), measures: str | Iterable[str] = ()
    ) -> dict[str, dict[str, float]]:  # fmt: skip
        """Pipeline → measure → mean over all queries; an error if a query could not be measured."""
        from rankproof.errors import RankproofError

        try:
            return _means(_found(self._item, path), _words(mode), _words(measures))
        except RankproofError as exc:
            text = f"not measured: {exc}"
        self._unmeasured(text)

    def _unmeasured(self, text: str) -> NoReturn:
        # Inside a test pytest knows failures only; what is noted here becomes an error when it is counted.
        self._item.user_properties.append(_UNMEASURED)
        pytest.fail(text, pytrace=False)


@pytest.fixture
def rankproof(request: pytest.FixtureRequest) -> Rankproof:
    """Retrieval quality as a test: `rankproof.gate("rankproof.yaml")` fails if it is worse."""
    return Rankproof(request.node)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Gate what the marker names; what cannot be measured is an error of the set-up."""
    for finding in _marked(item):
        if finding.outcome == "not measured":
            pytest.fail(finding.text, pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Fail a marked test whose quality is worse, instead of running it."""
    for finding in _marked(item):
        if finding.outcome == "worse":
            pytest.fail(finding.text, pytrace=False)


def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    """Count a test that could not be measured as an error."""
    if report.when == "call" and report.failed and _UNMEASURED in map(tuple, report.user_properties):
        return "error", "E", "ERROR"
    return None


def _marked(item: pytest.Item) -> Iterable[_Finding]:
    marker = item.get_closest_marker("rankproof")
    return () if marker is None else (_gated(item, *_arguments(*marker.args, **marker.kwargs)),)


def _arguments(
    path: str | Path = FILE, *, mode: str | Iterable[str] = (), baseline: str | Path | None = None
) -> tuple[str | Path, str | Iterable[str], str | Path | None]:  # fmt: skip
    return path, mode, baseline


def _gated(
    item: pytest.Item, path: str | Path, mode: str | Iterable[str], baseline: str | Path | None
) -> _Finding:  # fmt: skip
    from rankproof.errors import RankproofError

    findings = item.config.stash.setdefault(_FINDINGS, {})
    try:
        project = _found(item, path)
        request = _Request(project, _words(mode), None if baseline is None else str(_found(item, baseline)))
        if request not in findings:
            findings[request] = _judged(request)
        return findings[request]
    except RankproofError as exc:
        return _Finding("not measured", f"not measured: {exc}", {})


def _found(item: pytest.Item, path: str | Path) -> Path:
    from rankproof.errors import UsageError

    bases = list(dict.fromkeys([item.path.parent, item.config.rootpath]))
    for base in bases:
        if (base / path).exists():
            return (base / path).resolve()
    raise UsageError(f"There is no {path} in {' or '.join(map(str, bases))}; `rankproof init` writes one.")


def _words(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _judged(request: _Request) -> _Finding:
    from rankproof.cli.gated import gate_project
    from rankproof.errors import RankproofError
    from rankproof.project.project import load_project
    from rankproof.reports.gate import gate_text

    try:
        gated = gate_project(load_project(request.project), request.modes, baseline_file=request.baseline, quiet=True)
    except RankproofError as exc:
        return _Finding("not measured", f"not measured: {exc}", {})
    bad = [f"{mode}: {one.rule}" for mode, all_of in gated.verdicts.items() for one in all_of if one.outcome != "pass"]
    more = f" and {len(bad) - _SHOWN_RULES:,} more" if len(bad) > _SHOWN_RULES else ""
    head = f"{gated.outcome}: {'; '.join(bad[:_SHOWN_RULES])}{more}"
    return _Finding(gated.outcome, f"{head}\n\n{gate_text(gated.verdicts)}", gated.verdicts)


def _means(path: Path, modes: tuple[str, ...], measures: tuple[str, ...]) -> dict[str, dict[str, float]]:
    from rankproof.cli.evaluated import evaluate_project
    from rankproof.errors import NotMeasured, count
    from rankproof.project.project import load_project

    project: Project = load_project(path)
    found = evaluate_project(project, modes, measures, quiet=True).found
    if found.unmeasured:
        reason = next(iter(next(iter(found.unmeasured.values())).values()))
        failed = count(len(found.unmeasured), "query", "queries")
        raise NotMeasured(f"{failed} failed, the first: {reason.removeprefix('not measured: ')}")
    return {mode.name: mode.scores.mean() for mode in found.modes}
