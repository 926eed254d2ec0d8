"""The summary of a step and annotations: what GitHub shows, and nothing that it would act on."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from rankproof.gate import Verdict
from rankproof.reports import github
from rankproof.reports.github import step_summary


def fell(rule: str, by: float, outcome: str = "worse", **more: object) -> Verdict:
    return Verdict(rule, outcome, f"fell by {by}", "RR", None, 0.9, 0.9 - by, 0.001, **more)  # type: ignore[arg-type]


HOLES = Verdict("coverage", "not measured", "9 of 10 queries measured")
NOISE = fell("max_drop RR, group odd", 0.02, "pass", noise=True)
KEPT = Verdict("max_drop RR", "pass", "0.9 → 0.9", "RR", None, 0.9, 0.9)


def test_a_summary_begins_with_the_verdict_in_words() -> None:
    text = step_summary({"search": [fell("max_drop RR", 0.2, worst=(("q1", -0.5),))]})
    assert text.startswith(
        "## rankproof gate\n\n**The gate does not pass: quality is worse.**\n\n**search**\n\n| | rule"
    )
    assert "<summary>search: max_drop RR, worst queries</summary>\n\n| query | change |" in text
    assert text.endswith("| q1 | -0.5000 |\n\n</details>\n")


@pytest.mark.parametrize(("n", "left_out"), [(5000, False), (50_000, True)])
def test_a_summary_is_cut_between_two_rows_and_says_how_many_are_missing(n: int, left_out: bool) -> None:
    text = step_summary({"search": [Verdict(f"floor RR, group č{i}", "worse", "0.1 is below") for i in range(n)]})
    size = len(text.encode())
    assert size <= 900 * 1024
    rows = re.findall(r"^\| ✗ \| floor RR, group č(\d+) \| 0\.1 is below \|$", text, re.MULTILINE)
    assert rows == [str(i) for i in range(len(rows))]
    if not left_out:
        assert len(rows) == n
        assert "left out" not in text
    else:
        assert size > 899 * 1024
        assert text.endswith(f"|\n\n{n - len(rows):,} rows do not fit and were left out.\n")


def test_worst_queries_that_do_not_fit_leave_no_open_element() -> None:
    worst = tuple((f"q{i}", -0.5) for i in range(3))
    verdicts = {f"p{i}": [fell("max_drop RR", 0.2, worst=worst)] for i in range(300)}
    for most in range(20_000, 60_000, 5_000):
        text = step_summary(verdicts, most=most)
        assert len(text.encode()) <= most
        assert text.count("<details>") == text.count("</details>") == text.count("</summary>")
        shown = text.count("| ✗ |") + text.count("| -0.5000 |")
        assert f"\n{1200 - shown:,} rows do not fit and were left out.\n" in text


EVIL = [
    "a|b",
    "a\\|b",
    "<script>alert(1)</script>",
    "</details><img src=x onerror=alert(1)>",
    "@octocat please look",
    "mail me@example.test",
    "https://evil.test/?q=1",
    "www.evil.test",
    "octo/repo#12 and #13 and GH-14",
    "[click](https://evil.test)",
    "![x](https://evil.test/x.png)",
    "`code` *bold* _it_ ~~gone~~",
    "line\n\n# heading\r\n::error::x",
    "&lt;b&gt; &#64;octocat",
]


class Seen(HTMLParser):
    """The elements of a page in their order, and its text."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.elements: list[object] = []
        self.text = ""
        self.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.elements.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("evil", EVIL)
def test_nothing_of_the_data_leaves_its_cell_or_becomes_markup_a_mention_or_a_link(evil: str) -> None:
    def page(text: str) -> Seen:
        rule = Verdict(f"max_drop RR, group {text}", "worse", text, worst=((text, -0.5),))
        return Seen(step_summary({text: [rule]}))

    seen = page(evil)
    assert seen.elements == page("harmless").elements
    # Pipeline, rule, reason; pipeline and rule of the folded table, and its query.
    assert seen.text.replace("\u200b", "").count(" ".join(evil.splitlines())) == 6
    assert not re.search(r"@\w|#\d|GH-\d|://|www\.", seen.text)


def test_a_name_that_is_very_long_is_cut() -> None:
    text = step_summary({"p": [Verdict("x" * 100_000, "worse", "y" * 100_000)]})
    assert len(text) < 1300
    assert "x…" in text


def test_annotations_go_from_what_was_not_measured_over_the_greatest_loss_to_noise() -> None:
    floor = Verdict("floor RR", "worse", "0.3 is below the floor 0.4", "RR", value=0.3)
    verdicts = {"a": [NOISE, fell("max_drop RR", 0.1), KEPT], "b": [fell("max_drop RR", 0.3), HOLES, floor]}
    assert github.annotations(verdicts) == [
        "::error file=rankproof.yaml,title=Not measured::b: coverage: 9 of 10 queries measured",
        "::error file=rankproof.yaml,title=Quality is worse::b: floor RR: 0.3 is below the floor 0.4",
        "::error file=rankproof.yaml,title=Quality is worse::b: max_drop RR: fell by 0.3",
        "::error file=rankproof.yaml,title=Quality is worse::a: max_drop RR: fell by 0.1",
        "::notice file=rankproof.yaml,title=A drop that may be noise::a: max_drop RR, group odd: fell by 0.02",
    ]


def test_a_gate_that_passes_makes_no_annotation() -> None:
    shown = Verdict("margin RR", "pass", "shown not to be worse", "RR", None, 0.9, 0.9, 0.01)
    assert github.annotations({"a": [KEPT, shown]}) == []


def test_there_are_ten_annotations_at_most_and_the_last_one_counts_the_rest() -> None:
    verdicts = {"a": [fell(f"max_drop RR, group g{i}", i / 100) for i in range(13)]}
    made = github.annotations(verdicts)
    assert len(made) == 10
    assert made[0].endswith("::a: max_drop RR, group g12: fell by 0.12")
    assert made[8].endswith("group g4: fell by 0.04")
    assert made[9].endswith("group g3: fell by 0.03%0A3 more rules to tell of: see the log.")
    assert github.annotations({"a": verdicts["a"][:10]})[9].endswith("group g0: fell by 0.0")


def test_the_worst_queries_stand_in_the_second_line() -> None:
    (made,) = github.annotations({"a": [fell("max_drop RR", 0.2, worst=(("q1", -0.5), ("q2", -0.25)))]})
    assert made.endswith("fell by 0.2%0AWorst queries: q1 -0.5000, q2 -0.2500")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("100%", "100%25"),
        ("a%0Ab", "a%250Ab"),
        ("a\nb\r\nc\rd", "a%0Ab%0Ac%0Ad"),
        ("::set-output name=x::y", ": :set-output name=x: :y"),
        (":::error::x", ": : :error: :x"),
        ("\n::stop-commands::x", "%0A: :stop-commands: :x"),
        ("##[error]x", "## [error]x"),
        ("a\x1b[31mb\u202ec", "a�[31mb�c"),
    ],
)
def test_data_stay_data_in_an_annotation(data: str, expected: str) -> None:
    (made,) = github.annotations({"a": [Verdict("floor RR", "worse", data)]})
    assert made == f"::error file=rankproof.yaml,title=Quality is worse::a: floor RR: {expected}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("::error::x\n  ::stop-commands::y\n", ": :error::x\n  : :stop-commands::y\n"),
        ("tests::a fell\n", "tests::a fell\n"),
        ("q ##[error]x", "q ## [error]x"),
    ],
)
def test_no_line_of_the_log_is_a_command(text: str, expected: str) -> None:
    assert github.for_log(text) == expected


def test_a_path_cannot_add_a_property() -> None:
    (made,) = github.annotations({"a": [HOLES]}, "x,line=1::y%\nz.yaml")
    assert made.startswith("::error file=x%2Cline=1%3A %3Ay%25%0Az.yaml,title=Not measured::")


def test_a_long_message_is_cut() -> None:
    (made,) = github.annotations({"a": [Verdict("floor RR", "worse", "x" * 100_000)]})
    assert len(made) < 2100
    assert made.endswith("x…")
