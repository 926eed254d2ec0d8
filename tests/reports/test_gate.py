"""Verdicts as JUnit, JSON and Markdown: what build systems and programs read."""

from __future__ import annotations

import copy
import json
from importlib import resources
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from rankproof.gate import Verdict
from rankproof.reports.gate import Verdicts, gate_json, gate_junit, gate_markdown, gate_text, undecided

PASS = Verdict("floor RR", "pass", "0.9000, at or above the floor 0.5", "RR", value=0.9)
WORSE = Verdict(
    "max_drop RR, group hr", "worse", "0.9000 → 0.7000 fell by 0.2000, more than 0.01 (p = 0.001)", "RR", "hr",
    0.9, 0.7, 0.001, (("q1", -0.5), ("q2", -0.25)),
)  # fmt: skip
HOLES = Verdict("coverage", "not measured", "9 of 10 queries measured (90.0%); 1 failed; 100.0% must be", value=0.9)
OUTCOMES: dict[str, Verdicts] = {
    "pass": {"search": [PASS]},
    "worse": {"search": [PASS, WORSE]},
    "not measured": {"search": [WORSE], "other": [HOLES, PASS]},
}


def schema() -> dict[str, Any]:
    text = resources.files("rankproof.reports").joinpath("gate.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def is_valid(data: object) -> bool:
    valid: bool = jsonschema.Draft202012Validator(schema()).is_valid(data)
    return valid


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_is_written_as_the_schema_says(outcome: str) -> None:
    data = json.loads(gate_json(OUTCOMES[outcome]))
    assert data["outcome"] == outcome
    assert is_valid(data)
    assert is_valid(json.loads(gate_json(undecided("no key"))))


@pytest.mark.parametrize(
    "place", [(), ("pipelines", "search", 1), ("pipelines", "search", 1, "worst", 0)], ids=["top", "verdict", "query"]
)
def test_a_key_that_the_schema_does_not_know_or_misses_is_refused(place: tuple[str | int, ...]) -> None:
    data = json.loads(gate_json(OUTCOMES["worse"]))
    for change in ("add", "remove"):
        changed = copy.deepcopy(data)
        inner = changed
        for part in place:
            inner = inner[part]
        if change == "add":
            inner["new"] = 1
        else:
            inner.popitem()
        assert not is_valid(changed)


def test_a_case_in_junit_has_the_attributes_that_readers_of_it_know_and_no_time_of_day() -> None:
    root = ElementTree.fromstring(gate_junit(OUTCOMES["not measured"]))
    counts = {"tests": "3", "failures": "1", "errors": "1", "skipped": "0", "time": "0"}
    assert root.attrib == {"name": "rankproof gate", **counts}
    assert root[1].attrib == {
        "name": "other", "tests": "2", "failures": "0", "errors": "1", "skipped": "0", "time": "0",
    }  # fmt: skip
    assert root[1][1].attrib == {"classname": "other", "name": "floor RR", "time": "0"}
    assert {element.tag for element in root.iter()} == {
        "testsuites", "testsuite", "testcase", "failure", "error", "system-out",
    }  # fmt: skip


def test_a_failure_in_junit_lists_the_worst_queries() -> None:
    root = ElementTree.fromstring(gate_junit(OUTCOMES["worse"]))
    failure = root[0][1][0]
    assert failure.attrib == {"message": WORSE.why, "type": "worse"}
    assert failure.text == f"{WORSE.why}\nq1 -0.5000\nq2 -0.2500"


def test_junit_can_be_read_whatever_stands_in_names() -> None:
    odd = "a\x00\x1b[31m<b>&]]>\ufffe\uffff\n\u2028"
    verdicts = {odd: [Verdict(odd, "worse", odd, worst=((odd, -1.0),))]}
    root = ElementTree.fromstring(gate_junit(verdicts))
    assert root[0].attrib["name"] == "a��[31m<b>&]]>����"


def test_an_error_of_several_lines_stands_whole_in_junit() -> None:
    error = ElementTree.fromstring(gate_junit(undecided("gold.csv:1: bad\ngold.csv:2: worse")))[0][0][0]
    assert (error.tag, error.attrib["message"]) == ("error", "gold.csv:1: bad")
    assert error.text == "gold.csv:1: bad\ngold.csv:2: worse"


def test_a_comment_shows_what_failed_first_and_the_worst_queries_folded() -> None:
    assert gate_markdown(OUTCOMES["worse"]) == (
        "**The gate does not pass: quality is worse.**\n"
        "\n"
        "**search**\n"
        "\n"
        "| | rule | why |\n"
        "| :-- | :-- | :-- |\n"
        "| ✗ | max\\_drop RR, group hr | 0.9000 → 0.7000 fell by 0.2000, more than 0.01 (p = 0.001) |\n"
        "| ✓ | floor RR | 0.9000, at or above the floor 0.5 |\n"
        "\n"
        "<details>\n"
        "<summary>search: max_drop RR, group hr, worst queries</summary>\n"
        "\n"
        "| query | change |\n"
        "| :-- | --: |\n"
        "| q1 | -0.5000 |\n"
        "| q2 | -0.2500 |\n"
        "\n"
        "</details>\n"
    )


def test_a_comment_is_no_longer_than_a_comment_may_be() -> None:
    rules = [Verdict(f"floor RR, group {i}", "worse", "x" * 300) for i in range(1000)]
    text = gate_markdown({"search": rules})
    assert 60_000 < len(text.encode()) <= 61_440
    kept = text.count("| ✗ |")
    assert text.endswith(f"|\n\n{1000 - kept} rows do not fit and were left out.\n")


def test_the_text_for_eyes_ends_with_the_verdict() -> None:
    assert gate_text(OUTCOMES["worse"]).endswith("\nThe gate does not pass: quality is worse.\n")
