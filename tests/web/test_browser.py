"""Labelling in a real Chromium: nothing lost, nothing twice, nothing called saved that is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankproof.data.formats.ground_truth import read_ground_truth
from rankproof.web.views import KEY_NAMES
from tests.web.serving import Serving

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    with Serving(tmp_path, guideline="Relevant means that it answers.\n") as made:
        yield made


@pytest.fixture
def page(context: BrowserContext, serving: Serving) -> Iterator[Page]:
    made = context.new_page()
    faults: list[str] = []
    made.on("pageerror", lambda error: faults.append(str(error)))
    serving.let_in(context)
    made.goto(f"{serving.address}/label")
    yield made
    assert faults == []


def judged(serving: Serving) -> list[tuple[str, str, int]]:
    return [(e["query_id"], e["doc_id"], e["grade"]) for e in serving.events() if e["kind"] == "judge"]


def order(serving: Serving) -> list[tuple[str, str]]:
    return [(task.query.id, one.doc_id) for task in serving.pool.tasks for one in task.candidates]


def expect_saved(page: Page) -> None:
    until(page, "document.querySelector('#saved').dataset.state === 'saved'")


def until(page: Page, script: str) -> None:
    """Wait for something on the page; Playwright's own way takes an eval, which the page forbids."""
    for _ in range(400):
        # Another page may come in between.
        with suppress(sync_api.Error):
            if page.evaluate(script):
                return
        page.wait_for_timeout(25)
    pytest.fail(f"{script} did not come true: {page.inner_text('body')[:400]}")


def shown_title(page: Page) -> str:
    return page.locator("article.document:visible h2").inner_text()


def press(page: Page, keys: str) -> None:
    """Keys one after the other, each when the page has come to rest."""
    for key in keys:
        page.keyboard.press("Space" if key == " " else key)
        until(page, "document.readyState === 'complete' && document.querySelector('main').ariaBusy !== 'true'")
        expect_saved(page)


def test_eight_documents_take_eight_keys(page: Page, serving: Serving) -> None:
    press(page, "rpn210rr")
    until(page, "document.querySelector('#saved').textContent.includes('Everything is judged')")
    assert judged(serving) == [
        (*spot, grade) for spot, grade in zip(order(serving), [2, 1, 0, 2, 1, 0, 2, 2], strict=True)
    ]
    gold = read_ground_truth(serving.truth)
    assert len(gold.qrels) == 8
    page.keyboard.press("q")
    page.wait_for_url(f"{serving.address}/")
    assert "anna" in page.inner_text("main")


def test_every_action_has_its_key(page: Page, serving: Serving) -> None:
    first, second, third = (doc for query, doc in order(serving)[:3])
    press(page, " s")
    page.keyboard.press("x")
    until(page, "!document.querySelector('#no-answer-shown').hidden")
    page.keyboard.press("x")
    until(page, "document.querySelector('#no-answer-shown').hidden")
    page.keyboard.press("m")
    page.keyboard.type("rpn? a note with keys in it")
    page.keyboard.press("Control+Enter")
    until(page, "document.querySelector('#note-shown').textContent.startsWith('rpn?')")
    kinds = [(event["kind"], event.get("doc_id")) for event in serving.events()]
    assert kinds == [("cant_tell", first), ("later", second), ("no_answer", None), ("no_answer", None), ("note", None)]
    assert serving.events()[-1]["text"] == "rpn? a note with keys in it"
    page.keyboard.press("u")
    until(page, "document.querySelector('#note-shown').hidden")
    page.keyboard.press(KEY_NAMES["redo"])
    until(page, "!document.querySelector('#note-shown').hidden")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press(KEY_NAMES["guideline"])
    assert "Relevant means" in page.locator("#guideline").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Shift+J")
    page.wait_for_url("**/label/2**")
    page.keyboard.press("Shift+K")
    page.wait_for_url("**/label/1**")
    page.keyboard.press("#")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    page.wait_for_url("**/label/3**")
    assert third is not None


def test_undo_goes_back_to_the_document_even_of_another_query(page: Page, serving: Serving) -> None:
    press(page, "rrr")
    page.wait_for_url("**/label/2**")
    page.keyboard.press("u")
    page.wait_for_url("**/label/1?doc=3")
    assert page.locator("#judged").inner_text() == "2"
    assert serving.events()[-1]["kind"] == "undo"


def test_the_full_text_opens_on_a_key(page: Page, serving: Serving) -> None:
    number = [one.doc_id for one in serving.pool.tasks[1].candidates].index("docs/e.md#1") + 1
    page.goto(f"{serving.address}/label/2?doc={number}")
    assert "Paragraph 59" not in page.inner_text("main")
    page.keyboard.press("o")
    assert "Paragraph 59" in page.inner_text("main")
    assert page.locator("article:visible details mark").first.is_visible()


def test_in_the_list_keys_belong_to_the_current_document(page: Page, serving: Serving) -> None:
    page.goto(f"{serving.address}/label/1?view=list")
    assert page.locator("article.document:visible").count() == 3
    page.keyboard.press("j")
    press(page, "p")
    page.locator("article.document").nth(0).get_by_role("button", name="Not relevant").click()
    expect_saved(page)
    docs = [doc for _, doc in order(serving)]
    assert judged(serving) == [("q1", docs[1], 1), ("q1", docs[0], 0)]
    assert page.locator("article.document").nth(1).get_attribute("data-mark") == "partial"


def test_a_double_click_judges_one_document(page: Page, serving: Serving) -> None:
    page.get_by_role("button", name="Partial").first.dblclick()
    expect_saved(page)
    page.wait_for_timeout(500)
    assert judged(serving) == [(*order(serving)[0], 1)]


def test_a_key_held_down_judges_one_document(page: Page, serving: Serving) -> None:
    for _ in range(20):
        page.keyboard.down("r")
    page.keyboard.up("r")
    expect_saved(page)
    assert judged(serving) == [(*order(serving)[0], 2)]


def test_space_after_a_click_means_cant_tell_and_not_the_button_again(page: Page, serving: Serving) -> None:
    page.get_by_role("button", name="Relevant", exact=False).first.click()
    press(page, " ")
    assert [event["kind"] for event in serving.events()] == ["judge", "cant_tell"]


def test_what_is_typed_fast_is_all_kept_and_never_meant_for_another_document(page: Page, serving: Serving) -> None:
    page.keyboard.type("rpnrrr", delay=0)
    page.wait_for_url("**/label/2**")
    assert judged(serving) == [(*spot, grade) for spot, grade in zip(order(serving), [2, 1, 0], strict=False)]


def test_the_back_button_shows_what_was_judged_and_judges_nothing(page: Page, serving: Serving) -> None:
    press(page, "rpn")
    page.wait_for_url("**/label/2**")
    page.go_back()
    page.wait_for_url("**/label/1**")
    until(page, "document.querySelector('#judged').textContent === '3'")
    assert page.locator("article.document:visible .mark-shown").inner_text() == "not-relevant"
    page.go_back()
    page.wait_for_url("**/label/1?doc=2")
    assert shown_title(page) == serving.pool.tasks[0].candidates[1].document.title
    assert len(judged(serving)) == 3


class Network:
    """A network that can be cut."""

    def __init__(self, context: BrowserContext) -> None:
        self.is_gone = False
        self.loses_answers = False
        self.sent: list[str] = []
        context.route("**/label/act", self._route)

    def _route(self, route: Route) -> None:
        self.sent.append(json.loads(route.request.post_data or "{}")["once"])
        if self.is_gone:
            route.abort("connectionrefused")
        elif self.loses_answers:
            # The server has it on disk; the browser never learns.
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()


def unsent(page: Page) -> int:
    found: int = page.evaluate("Object.keys(localStorage).filter((name) => name.includes(':unsent:')).length")
    return found


def test_without_a_network_judgments_are_kept_counted_and_sent_later(
    context: BrowserContext, page: Page, serving: Serving
) -> None:
    network = Network(context)
    network.is_gone = True
    page.keyboard.type("rpn")
    until(page, "document.querySelector('#saved').textContent === '3 unsent'")
    assert "No connection" in page.locator("#trouble").inner_text()
    assert page.locator("article.document:visible .mark-shown").inner_text() == "not-relevant · unsent"
    assert judged(serving) == []
    network.is_gone = False
    page.wait_for_url("**/label/2**")
    assert judged(serving) == [(*spot, grade) for spot, grade in zip(order(serving), [2, 1, 0], strict=False)]
    assert unsent(page) == 0
    assert page.locator("#trouble").is_hidden()


def test_an_answer_that_was_lost_does_not_make_two_of_one(
    context: BrowserContext, page: Page, serving: Serving
) -> None:
    network = Network(context)
    network.loses_answers = True
    page.keyboard.press("r")
    until(page, "document.querySelector('#trouble').textContent.includes('No connection')")
    assert "saved" not in page.locator("#saved").inner_text()
    network.loses_answers = False
    expect_saved(page)
    assert len(network.sent) >= 2
    assert len(set(network.sent)) == 1
    assert judged(serving) == [(*order(serving)[0], 2)]


def test_a_page_closed_with_unsent_judgments_sends_them_when_one_is_opened(
    context: BrowserContext, page: Page, serving: Serving
) -> None:
    network = Network(context)
    network.is_gone = True
    page.keyboard.type("rp")
    until(page, "document.querySelector('#saved').textContent === '2 unsent'")
    page.close()
    network.is_gone = False
    another = context.new_page()
    another.goto(f"{serving.address}/")
    until(another, "Object.keys(localStorage).every((name) => !name.includes(':unsent:'))")
    assert judged(serving) == [(*spot, grade) for spot, grade in zip(order(serving), [2, 1], strict=False)]


def test_two_tabs_lose_nothing_and_send_nothing_twice(context: BrowserContext, page: Page, serving: Serving) -> None:
    network = Network(context)
    other = context.new_page()
    other.goto(f"{serving.address}/label/2?doc=1")
    network.is_gone = True
    page.keyboard.type("rp")
    other.keyboard.type("np")
    until(other, "document.querySelector('#saved').textContent === '4 unsent'")
    network.is_gone = False
    for one in (page, other):
        expect_saved(one)
    spots = order(serving)
    assert sorted(judged(serving)) == sorted([(*spots[0], 2), (*spots[1], 1), (*spots[3], 0), (*spots[4], 1)])
    page.bring_to_front()
    page.goto(f"{serving.address}/label/2")
    assert page.locator("article.document").nth(0).get_attribute("data-mark") == "not-relevant"


def test_the_other_tab_is_brought_up_to_date_when_it_is_looked_at(
    context: BrowserContext, page: Page, serving: Serving
) -> None:
    other = context.new_page()
    other.goto(f"{serving.address}/label/1?doc=1")
    press(other, "r")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    until(page, "document.querySelector('#judged').textContent === '1'")
    assert page.locator("article.document").nth(0).get_attribute("data-mark") == "relevant"


def test_a_server_started_anew_gets_what_was_unsent_and_the_page_says_how_to_go_on(
    context: BrowserContext, tmp_path: Path
) -> None:
    serving = Serving(tmp_path)
    with serving:
        page = context.new_page()
        page.goto(serving.opening)
        page.goto(f"{serving.address}/label")
        press(page, "r")
    page.keyboard.type("p")
    until(page, "document.querySelector('#saved').textContent === '1 unsent'")
    with serving:
        until(page, "document.querySelector('#trouble').textContent.includes('rankproof serve')")
        assert "1 unsent judgment is kept" in page.locator("#trouble").inner_text()
        assert len(judged(serving)) == 1
        fresh = context.new_page()
        fresh.goto(serving.opening)
        # The page that was open goes on by itself.
        expect_saved(page)
        assert judged(serving) == [(*spot, grade) for spot, grade in zip(order(serving), [2, 1], strict=False)]
        press(page, "n")
        assert len(judged(serving)) == 3


def test_unsent_judgments_are_not_sent_to_other_labels(context: BrowserContext, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with Serving(tmp_path / "one") as serving:
        page = context.new_page()
        page.goto(serving.opening)
        page.goto(f"{serving.address}/label")
    page.keyboard.type("r")
    until(page, "document.querySelector('#saved').textContent === '1 unsent'")
    with Serving(tmp_path / "two", port=serving.port) as other:
        fresh = context.new_page()
        fresh.goto(other.opening)
        fresh.goto(f"{other.address}/label")
        expect_saved(fresh)
        page.evaluate("window.dispatchEvent(new Event('online'))")
        until(page, "document.querySelector('#trouble').textContent.includes('earlier start')")
        assert judged(other) == []
    assert unsent(page) == 1


def test_what_is_refused_is_shown_and_does_not_hold_up_the_rest(
    context: BrowserContext, page: Page, serving: Serving
) -> None:
    item = {"action": "relevant", "spot": ["q1", "gone"], "once": "a" * 32}
    page.evaluate(
        "(item) => { const desk = document.body.dataset.desk; localStorage.setItem("
        "`rankproof:${desk}:unsent:0000000000000001:${item.once}`, JSON.stringify({ ...item, desk })); }",
        item,
    )
    press(page, "r")
    assert judged(serving) == [(*order(serving)[0], 2)]
    assert "Refused: relevant. There is no document 'gone'" in page.locator("#trouble").inner_text()
    page.get_by_role("button", name="Understood").click()
    assert page.locator("#trouble").is_hidden()


def test_a_disk_that_takes_nothing_is_said_and_tried_again(page: Page, serving: Serving) -> None:
    journal = serving.labels / "anna.jsonl"
    journal.rename(serving.labels / "away")
    page.keyboard.press("r")
    until(page, "document.querySelector('#trouble').textContent.includes('NOT saved')")
    assert page.locator("#saved").inner_text() == "1 unsent"
    (serving.labels / "away").rename(journal)
    expect_saved(page)
    assert judged(serving) == [(*order(serving)[0], 2)]


def test_a_note_that_was_not_saved_is_there_after_a_reload(page: Page, serving: Serving) -> None:
    page.keyboard.press("m")
    page.keyboard.type("half a thou")
    page.reload()
    assert page.locator("#note-text").input_value() == "half a thou"
    assert serving.events() == []
    page.get_by_role("button", name="Save the note").click()
    expect_saved(page)
    page.reload()
    assert page.locator("#note-shown").inner_text() == "half a thou"


def test_the_keys_can_be_switched_off(page: Page, serving: Serving) -> None:
    page.keyboard.press("?")
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.reload()
    page.keyboard.press("p")
    assert serving.events() == []


def test_everything_works_by_forms_without_javascript(browser: Browser, serving: Serving) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(serving.opening)
    page.goto(f"{serving.address}/label")
    page.get_by_role("button", name="Relevant r").click()
    page.wait_for_url("**/label/1?doc=2")
    page.go_back()
    page.get_by_role("button", name="Partial").click()
    page.wait_for_url("**/label/1?doc=2")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url("**/label/1?doc=1")
    page.get_by_text("Note on the query").first.click()
    page.locator("#note-text").fill("by a form")
    page.get_by_role("button", name="Save the note").click()
    page.wait_for_url("**/label/1**")
    told: list[Any] = [(event["kind"], event.get("grade")) for event in serving.events()]
    assert told == [("judge", 2), ("judge", 1), ("undo", None), ("note", None)]
    context.close()


def test_a_link_from_another_site_opens_nothing(context: BrowserContext, serving: Serving) -> None:
    page = context.new_page()
    page.goto(serving.opening)
    with page.expect_response(f"{serving.address}/label") as told:
        page.goto(f"data:text/html,<a href='{serving.address}/label'>label</a>")
        page.get_by_text("label").click()
    assert told.value.status == 403


def test_another_page_cannot_post_read_or_frame(context: BrowserContext, serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "evil").mkdir()
    with Serving(tmp_path / "evil", host="127.0.0.2") as evil:
        page = context.new_page()
        page.goto(serving.opening)
        page.route(f"{evil.address}/evil", lambda route: route.fulfill(body="<p>evil</p>", content_type="text/html"))
        page.goto(f"{evil.address}/evil")
        tried = page.evaluate(
            """async (address) => {
              const results = [];
              for (const mode of ["cors", "no-cors"]) {
                try {
                  const got = await fetch(address + "/label/1", { credentials: "include", mode });
                  results.push(got.type === "opaque" ? "opaque" : await got.text());
                } catch (error) { results.push("refused"); }
              }
              const frame = document.createElement("iframe");
              frame.src = address + "/label/1";
              const loaded = new Promise((resolve) => { frame.onload = resolve; });
              document.body.append(frame);
              await loaded;
              results.push(frame.contentDocument === null ? "closed" : "open");
              return results;
            }""",
            serving.address,
        )
        assert tried == ["refused", "refused", "closed"]
        with page.expect_response(f"{serving.address}/label/act") as told:
            page.evaluate(
                """(address) => {
                  const form = document.createElement("form");
                  form.method = "post"; form.action = address + "/label/act";
                  document.body.append(form); form.submit();
                }""",
                serving.address,
            )
        assert told.value.status == 403
    assert serving.events() == []
