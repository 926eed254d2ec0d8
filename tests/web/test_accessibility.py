"""The pages are for everybody: axe finds nothing serious, the keyboard suffices, and they fit a phone and a zoom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankproof.labeling.session import Session
from tests.web.serving import RESULTS, Serving, pool_of
from tests.web.test_pages import WORSE, save_runs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATHS = {
    "progress": "/",
    "focus": "/label/1?doc=2",
    "list": "/label/2?view=list",
    "text": "/label/2/1/text",
    "agreement": "/agreement",
    "runs": "/runs",
    "run": "/runs/queries?run=keyword",
    "compare": "/runs/compare?base=keyword&run=vector",
    "query": "/runs/query?base=keyword&run=vector&query=q1",
    "refusal": "/nothing",
}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("accessibility")
    for name, grade in (("ben", 2), ("cleo", 0)):
        with Session.open(pool_of(), folder / "truth.json", name) as session:
            for _ in range(6):
                session.judge(grade)
            session.judge(1)
    shelf = save_runs(folder / "runs", keyword=RESULTS, vector=WORSE)
    with Serving(folder, annotator="judge", adjudicates=True, shelf=shelf, guideline="Judge fairly.") as made:
        made.act(action="note", once="note-0001", spot=["q1"], text="a note")
        made.act(action="no_answer", once="note-0002", spot=["q1"], flag=True)
        made.act(action="partial", once="note-0003", spot=["q1", "docs/a.md#1"])
        yield made


def opened(browser: Browser, serving: Serving, **options: Any) -> Page:
    context = browser.new_context(**options)
    context.set_default_timeout(10_000)
    serving.let_in(context)
    return context.new_page()


@pytest.fixture(scope="module", params=["light", "dark"])
def page(browser: Browser, serving: Serving, request: pytest.FixtureRequest) -> Iterator[Page]:
    made = opened(browser, serving, color_scheme=request.param, viewport={"width": 1100, "height": 800})
    yield made
    made.context.close()


def faults(page: Page, axe: str) -> list[str]:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical", "moderate")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("name", PATHS)
def test_axe_finds_nothing_serious(page: Page, serving: Serving, axe: str, name: str) -> None:
    page.goto(f"{serving.address}{PATHS[name]}")
    assert faults(page, axe) == []


def test_axe_finds_nothing_serious_in_help_and_trouble(page: Page, serving: Serving, axe: str) -> None:
    page.goto(f"{serving.address}/label/1")
    page.evaluate("document.querySelector('#trouble').hidden = false")
    page.evaluate("document.querySelector('#trouble').textContent = 'No connection to the server.'")
    assert faults(page, axe) == []
    page.keyboard.press("?")
    assert faults(page, axe) == []


def test_axe_would_notice(page: Page, serving: Serving, axe: str) -> None:
    page.goto(f"{serving.address}/label/1")
    page.evaluate("document.querySelector('#note-text').removeAttribute('id')")
    assert faults(page, axe) != []


PHONE = {"width": 390, "height": 844}
WIDTHS = {
    "the narrowest phone": {"width": 320, "height": 640},
    # 200 % of a window of 1,280 leaves half as many points.
    "a zoom of 200 %": {"width": 640, "height": 400},
}


@pytest.mark.parametrize("size", WIDTHS)
def test_nothing_runs_out_of_the_page_on(browser: Browser, serving: Serving, size: str) -> None:
    page = opened(browser, serving, viewport=WIDTHS[size])
    for path in PATHS.values():
        page.goto(f"{serving.address}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[size]["width"], path
    page.context.close()


def test_the_buttons_of_a_phone_are_big_enough_and_within_reach(browser: Browser, serving: Serving) -> None:
    page = opened(browser, serving, viewport=PHONE, has_touch=True)
    page.goto(f"{serving.address}/label/2?doc=2")
    for button in page.locator("article:visible .grades button").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
        assert box["y"] + box["height"] <= 844
    page.context.close()


def test_tab_and_enter_alone_reach_everything(browser: Browser, serving: Serving, tmp_path: Path) -> None:
    with Serving(tmp_path) as own:
        page = opened(browser, own, viewport={"width": 1100, "height": 800})
        page.goto(f"{own.address}/label")
        seen = []
        for _ in range(60):
            page.keyboard.press("Tab")
            seen.append(page.evaluate("(document.activeElement.value || document.activeElement.textContent).trim()"))
        for wanted in (
            "relevant",
            "not-relevant",
            "cant_tell",
            "later",
            "undo",
            "no_answer",
            "Help ?",
            "Go",
            "List view",
        ):
            assert any(wanted in one for one in seen), wanted
        page.goto(f"{own.address}/label")
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.value") == "partial":
                break
        page.keyboard.press("Enter")
        page.locator("#saved", has_text="saved ✓ partial").wait_for()
        page.context.close()
    assert [event["grade"] for event in own.events()] == [1]


def test_a_screen_reader_is_told_what_was_saved(browser: Browser, serving: Serving) -> None:
    page = opened(browser, serving)
    page.goto(f"{serving.address}/label/1")
    assert page.locator("#saved").get_attribute("role") == "status"
    assert page.locator("#trouble").get_attribute("role") == "alert"
    assert page.locator("html").get_attribute("lang") == "en"
    page.context.close()
