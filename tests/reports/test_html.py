"""The page as text: nothing from data is taken for markup, it asks for nothing, and it is the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.gate import Drop, Measured, Rules, judge
from rankproof.measures.parse import parse_measure
from rankproof.report import Report, Standard, build
from rankproof.reports.html.page import report_html
from rankproof.retrieval.answers import Answer
from tests.reports.examples import analyses_of, baseline_of, evaluated, gold_of, hits, large_report, run
from tests.web.payloads import PAYLOADS

VOID = {"meta", "br", "input", "link", "img"}
KNOWN = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "nav", "a", "p", "div", "span", "section",
    "h1", "h2", "h3", "table", "caption", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "b", "small", "br",
    "ul", "li", "details", "summary", "figure", "svg", "desc", "rect", "path", "text", "circle", "script", "noscript",
    "dialog", "kbd", "code", "label", "input", "select", "option", "button",
}  # fmt: skip


class Markup(HTMLParser):
    """The elements of a page, and whether each is closed where it must be."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"{tag} has an attribute twice")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def small(**changes: Any) -> Report:
    queries = (Query("q1", "apple", "fruit", "a note"), Query("q2", "pear", "fruit"), Query("q3", "bolt", "tool"))
    gold = gold_of({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 2}}, queries)
    corpus = Corpus(tuple(Document(name, "", f"title of {name}") for name in "abcx"))
    runs = [
        run("keyword", queries, {"q1": "ax", "q2": "xb", "q3": "c"}),
        run("vector", queries, {"q1": "xa", "q2": "b", "q3": "x"}),
    ]
    found = evaluated(gold, runs, ["RR", "P@1"], corpus)
    return replace(build(found, gold, corpus=corpus, analyses=analyses_of(found, gold, corpus)), **changes)


def hostile(text: str) -> Report:
    """A report in which every name and text is the same hostile one."""
    query, other = Query(text, text, text, text), Query(text + "2", text, text)
    failed = Query(text + "3", text)
    queries = (query, other, failed)
    gold = replace(gold_of({one.id: {text: 1, text + "0": 0} for one in queries}, queries), source=text)
    corpus = Corpus((Document(text, text, text), Document("x", text, text)))

    def named(nth: int) -> Any:
        found = Answer().after(text, hits(["x", text])).after(text + "b", hits([text, "x"] if nth else ["x", text]))
        answers = {query.id: found, other.id: found, failed.id: Answer.failed(text)}
        return run(text + "b" * nth, queries, answers)

    found = evaluated(gold, [named(0), named(1)], corpus=corpus)
    rules = Rules(max_drop={parse_measure("RR"): Drop(0.01)}, min_group=1)
    baseline = replace(baseline_of(found, gold), source=text)
    verdicts = {
        mode.name: judge(rules, Measured(mode.scores, {text: [text]}, gold.groups), baseline.of(mode.name))
        for mode in found.modes
    }
    standard = Standard(verdicts, baseline, (text,))
    return build(found, gold, corpus=corpus, analyses=analyses_of(found, gold, corpus), standard=standard)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_becomes_markup(payload: str) -> None:
    page = report_html(hostile(payload))
    markup = Markup(page)
    assert markup.faults == []
    assert {tag for tag, _ in markup.tags} <= KNOWN
    assert len(markup.all("script")) == 2
    assert len(markup.all("style")) == 1
    assert len(markup.all("meta")) == 5
    for tag, attributes in markup.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style", "action")], tag
        assert (attributes.get("href") or "#").startswith("#")
    assert len(data_of(page)["rows"]) == 3


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\u202e", "\u2028", "\ufeff", "\ufffe", "\ud800"])
def test_characters_that_act_are_shown_as_unknown_ones(character: str) -> None:
    page = report_html(small(title=f"a{character}b", notes=(f"a{character}b",)))
    assert character not in page
    assert "a�b" in page


def test_the_page_is_closed_where_it_must_be_and_every_id_stands_once() -> None:
    markup = Markup(report_html(small()))
    assert markup.faults == []
    assert markup.open == []
    ids = [attributes["id"] for _, attributes in markup.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link["href"] for link in markup.all("a")} <= {f"#{name}" for name in ids}


def test_the_page_asks_for_nothing() -> None:
    page = report_html(small())
    assert not re.search(r"https?:|src=|url\(|@import|<link|<iframe|<img", page)


def test_the_policy_lets_the_one_script_run_and_nothing_else() -> None:
    page = report_html(small())
    policy = next(one["content"] for one in Markup(page).all("meta") if one.get("http-equiv"))
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'"
    )


_DIGEST = """
import hashlib
from rankproof.reports.html.page import report_html
from tests.reports.examples import large_report
print(hashlib.sha256(report_html(large_report(60, 200)).encode()).hexdigest())
"""


def test_the_same_report_gives_the_same_bytes_whatever_the_hash_seed() -> None:
    digests = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", _DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout.strip())
    assert digests == {hashlib.sha256(report_html(large_report(60, 200)).encode()).hexdigest()}


def test_a_thousand_queries_of_three_pipelines_stay_below_a_megabyte() -> None:
    report = large_report()
    page = report_html(report)
    assert len(page.encode()) < 1_000_000
    assert page.count("<tr data-o=") == 1_000
    # What had to be cut is told.
    assert "<code>rankproof eval --format json</code> has everything." in page
    long = [
        replace(row, query=replace(row.query, text=row.query.text * 20, notes="note " * 99)) for row in report.queries
    ]
    assert len(report_html(replace(report, queries=tuple(long))).encode()) < 1_000_000


def test_a_small_report_keeps_texts_titles_and_results() -> None:
    page = report_html(small())
    assert "Texts are cut at 300 characters. Titles are cut at 80 characters." in page
    assert "has everything" not in page


def test_the_data_name_each_document_once_and_hold_what_the_drill_down_shows() -> None:
    data = data_of(report_html(small()))
    assert sorted(data["docs"]) == ["a", "b", "c", "x"]
    assert dict(zip(data["docs"], data["titles"], strict=True))["a"] == "title of a"
    # q3 lost most: its one relevant document is first in one pipeline and not found by the other.
    query_id, _, state, answers, expected, n_expected = data["rows"][0]
    assert (query_id, state, n_expected) == ("q3", "", 1)
    place = data["docs"].index("c")
    assert expected == [[place, 2, [1, 1], [0, 0]]]
    assert answers[0] == [[1000, 1000], [], [[place, 2]], 1]
    values, before, returned, total, stage, missed, kind, evidence = answers[1]
    assert (values, before, total, missed) == ([0, 0], [1000, 1000], 1, 1)
    assert returned == [data["docs"].index("x")]
    assert data["stages"][stage] == ["bm25"]
    assert data["classes"][kind - 1] == "semantic-gap"
    first, filled = evidence[0]
    assert data["sentences"][first] == "\ue001 was not among the candidates; keyword search finds nothing in common"
    assert filled == place


def test_the_table_says_everything_that_it_sorts_by_without_a_script() -> None:
    page = report_html(small())
    row = next(line for line in page.splitlines() if "<summary>bolt</summary>" in line)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells == ["tool", "1.000", "1", "0.000", "−1.000", "–", "semantic-gap"]
    assert (
        '<tr data-o=". wm"><th scope="row"><details open><summary>bolt</summary><p>expected c</p></details></th>' in row
    )
    fine = next(line for line in page.splitlines() if "<summary>pear</summary>" in line)
    assert '<tr data-o="m b">' in fine


def test_more_queries_than_the_page_lists_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankproof.reports.html.queries.MOST_QUERIES", 2)
    page = report_html(small())
    assert page.count("<tr data-o=") == 2
    assert "2 of 3 queries are listed, those that lost most first." in page


def test_what_could_not_be_measured_is_a_state_of_its_own() -> None:
    page = report_html(hostile("plain"))
    assert '<tr data-o="n n">' in page
    assert "Not measured: 1 query failed and left the means of all pipelines" in page
    assert "plain: not measured: plain" in page


def test_sections_without_data_are_left_out() -> None:
    gold = gold_of({"q1": {"a": 1}}, (Query("q1"),))
    page = report_html(build(evaluated(gold, [run("search", gold.queries, {"q1": "a"})]), gold))
    sections = re.findall(r'<section id="([^"]+)"', page)
    assert sections == ["rules", "measures", "differences", "ranks", "foundation", "list"]
    assert "There is nothing to hold this against" in page
    assert "The project has no rules to judge by" in page


def test_rules_that_hold_are_folded_where_they_are_many() -> None:
    page = report_html(hostile("plain"))
    assert "Rules that could not be decided" in page
    assert "Broken rules" not in page
    many = Rules(floors={parse_measure(f"P@{k}"): 0.0 for k in range(1, 14)})
    queries = (Query("q1"), Query("q2"))
    gold = gold_of({"q1": {"a": 1}, "q2": {"a": 1}}, queries)
    found = evaluated(gold, [run("search", queries, {"q1": "a", "q2": "a"})], [f"P@{k}" for k in range(1, 14)])
    verdicts = {"search": judge(many, Measured(found.modes[0].scores), None)}
    folded = report_html(build(found, gold, standard=Standard(verdicts)))
    assert '<details class="fold"><summary>14 rules hold</summary>' in folded
    assert "Rules that could not be decided" not in folded


@pytest.mark.parametrize(
    ("outcome", "badge"),
    [
        ("pass", '<p class="badge pass"><span aria-hidden="true">✓ </span>pass</p>'),
        ("worse", '<p class="badge worse"><span aria-hidden="true">✗ </span>worse</p>'),
        ("not measured", '<p class="badge not-measured"><span aria-hidden="true">? </span>not measured</p>'),
        (None, '<p class="badge measured"><span aria-hidden="true">● </span>measured</p>'),
    ],
)
def test_the_badge_says_the_outcome(outcome: str | None, badge: str) -> None:
    assert badge in report_html(small(outcome=outcome))
