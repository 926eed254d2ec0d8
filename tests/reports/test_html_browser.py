"""The page in a real browser, opened from disk: no request, the keyboard suffices, and everybody can read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.report import build
from rankproof.reports.html.page import report_html
from tests.reports.examples import analyses_of, evaluated, gold_of, run
from tests.reports.screenshots import FOLDER, PICTURES, SIZE, taken
from tests.reports.shop import shop_page
from tests.web.payloads import PAYLOADS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shop_page(tmp_path_factory.mktemp("shop"))


def opened(browser: Browser, path: Path, **options: Any) -> tuple[Page, list[str]]:
    """The page in a browser of its own, and what happened that must not: faults and requests beside the file."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    context.set_default_timeout(10_000)
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("request", lambda request: trouble.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    return page, trouble


@pytest.fixture
def page(browser: Browser, shop: Path) -> Iterator[Page]:
    made, trouble = opened(browser, shop)
    yield made
    made.context.close()
    assert trouble == []


def rows(page: Page) -> list[str]:
    return page.locator("#queries tr[data-o]:visible summary").all_inner_texts()


def focused(page: Page) -> str:
    text: str = page.evaluate("document.activeElement.textContent")
    return text


def faults(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {node['html'][:160]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical", "moderate")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, shop: Path, axe: str, scheme: Any, width: int) -> None:
    # The policy of the page keeps out scripts from elsewhere, those of the checker too.
    page, _ = opened(browser, shop, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details.fold').forEach((one) => { one.open = true; })")
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.locator(".more").wait_for()
    assert faults(page, axe) == []
    page.keyboard.press("?")
    assert faults(page, axe) == []
    page.context.close()


def test_axe_would_notice(browser: Browser, shop: Path, axe: str) -> None:
    page, _ = opened(browser, shop, bypass_csp=True)
    page.evaluate("document.querySelector('#filter').closest('label').replaceWith(document.querySelector('#filter'))")
    assert faults(page, axe) != []
    page.context.close()


def test_it_opens_from_disk_without_a_fault_or_a_request(page: Page) -> None:
    assert page.locator(".badge").inner_text() == "✗ worse"
    assert "nDCG@10 of keyword fell from 0.867 to 0.569 in the group billing" in page.locator(".words").inner_text()
    assert page.locator("figure svg").count() == 11
    assert len(rows(page)) == 40


def test_a_slash_leads_to_the_filter_and_escape_clears_it(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("vat INVOICE")
    assert rows(page) == ["add VAT number to an invoice"]
    assert page.locator("#shown").inner_text() == "1 of 40 queries"
    page.keyboard.press("Escape")
    assert len(rows(page)) == 40
    assert page.locator("#shown").inner_text() == "40 queries"


def test_j_and_k_and_the_arrows_move_and_enter_and_o_open(page: Page) -> None:
    order = rows(page)
    page.keyboard.press("j")
    assert focused(page) == order[0]
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    assert focused(page) == order[2]
    page.keyboard.press("k")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("k")
    assert focused(page) == order[0]
    page.keyboard.press("Enter")
    drill = page.locator(".more")
    drill.wait_for()
    assert page.locator("tr.open + .more").count() == 1
    page.keyboard.press("j")
    assert focused(page) == order[1]
    page.keyboard.press("o")
    assert drill.count() == 2
    page.keyboard.press("o")
    assert drill.count() == 1


def test_the_drill_down_shows_what_came_what_was_expected_and_why(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("pay by purchase order")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    drill = page.locator(".more")
    drill.wait_for()
    (hybrid,) = (one for one in drill.locator(".answers > div").all() if one.inner_text().startswith("hybrid"))
    results = hybrid.locator("li").all_inner_texts()
    assert results[0] == "unjudged archive-purchase-order Archive 2019: Purchase orders"
    assert results[3] == "2 purchase-order Purchase orders"
    said = hybrid.inner_text()
    assert "nDCG@10 0.431 −0.569" in " ".join(said.split())
    assert "ranking-gap: purchase-order was among the candidates; its rank after each stage: bm25 2, bow 2" in said
    assert "mmr moved it down from rank 2 to 4" in said
    expected = drill.locator("tbody tr").all_inner_texts()
    assert [" ".join(one.split()) for one in expected] == [
        "purchase-order Purchase orders 2 rank 2 rank 2 rank 4 bm25 2 → bow 2 → rrf 2 → mmr 4"
    ]


def test_a_header_sorts_both_ways_and_says_so(page: Page) -> None:
    header = page.locator("th[data-k=query]")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert rows(page)[:2] == ["a screw is missing", "add VAT number to an invoice"]
    header.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    assert rows(page)[-1] == "a screw is missing"
    ranks = page.locator("th[data-k=rank]").first
    ranks.get_by_role("button").click()
    assert header.get_attribute("aria-sort") is None
    column = page.locator("#queries tr[data-o] td:nth-child(5)")
    seen = column.all_inner_texts()
    found = [int(one) for one in seen if one != "–"]
    assert found == sorted(found)
    # Where nothing was found there is no rank, and that comes last.
    assert seen[-6:] == ["–"] * 6
    ranks.get_by_role("button").click()
    assert column.all_inner_texts()[-6:] == ["–"] * 6


def test_an_open_query_moves_with_its_row(page: Page) -> None:
    page.keyboard.press("j")
    page.keyboard.press("o")
    first = focused(page)
    page.locator("th[data-k=query]").get_by_role("button").click()
    assert page.locator("tr:has(+ .more) summary").all_inner_texts() == [first]


def test_filters_by_group_pipeline_and_outcome_go_together(page: Page) -> None:
    page.select_option("#by-group", "billing")
    assert page.locator("#shown").inner_text() == "10 of 40 queries"
    page.select_option("#by-outcome", "w")
    page.select_option("#by-pipeline", "0")
    # As the waterfall of this pipeline counts them, less those of other groups.
    assert page.locator("#shown").inner_text() == "8 of 40 queries"
    page.select_option("#by-group", "")
    assert page.locator("#shown").inner_text() == "15 of 40 queries"
    page.select_option("#by-outcome", "b")
    assert page.locator("#shown").inner_text() == "2 of 40 queries"
    page.select_option("#by-outcome", "n")
    assert rows(page) == []
    page.select_option("#by-outcome", "m")
    assert page.locator("#shown").inner_text() == "23 of 40 queries"


def test_another_measure_fills_the_columns_and_the_outcomes(page: Page) -> None:
    page.select_option("#by-measure", label="P@1")
    row = page.locator("#queries tr[data-o]", has_text="where can I download an invoice")
    assert row.locator("td").all_inner_texts()[1:4] == ["0.000", "−1.000", "3"]
    assert page.locator("th[data-k=value]").first.inner_text() == "P@1"
    page.select_option("#by-outcome", "w")
    page.select_option("#by-pipeline", "0")
    assert page.locator("#shown").inner_text() == "11 of 40 queries"


def test_a_question_mark_shows_the_keys(page: Page) -> None:
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()
    page.locator("#help").click()
    page.get_by_role("dialog").get_by_role("button").click()
    assert not page.locator("#keys").is_visible()


def test_without_a_script_the_figures_are_there(browser: Browser, shop: Path) -> None:
    page, trouble = opened(browser, shop, java_script_enabled=False)
    assert page.locator(".badge").inner_text() == "✗ worse"
    assert not page.locator("#filter").is_visible()
    assert page.locator("noscript p").is_visible()
    row = page.locator("#queries tr[data-o]", has_text="pay by purchase order within 30 days")
    assert row.locator("td").all_inner_texts()[1:4] == ["0.631", "−0.369", "2"]
    assert row.get_by_text("expected purchase-order").is_visible()
    assert trouble == []
    page.context.close()


def test_on_paper_what_got_worse_or_was_missed_is_open_and_the_rest_closed(page: Page) -> None:
    page.emulate_media(media="print")
    page.locator(".more").first.wait_for()
    deserving = page.locator("#queries tr[data-o*=w], #queries tr[data-o*=m]").count()
    assert 0 < deserving < 40
    assert page.locator(".more").count() == deserving
    assert page.locator("#queries tr:is([data-o*=w], [data-o*=m]) details:not([open])").count() == 0
    assert not page.locator("nav").is_visible()
    assert not page.locator("#filter").is_visible()
    assert page.locator("details.fold[open]").count() == page.locator("details.fold").count() > 0
    assert page.evaluate("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"
    page.emulate_media(media="screen")
    page.locator(".more").first.wait_for(state="detached")
    assert page.locator("details[open]").count() == 0
    assert page.pdf().startswith(b"%PDF")


def test_a_filter_holds_on_paper(browser: Browser, shop: Path) -> None:
    page, _ = opened(browser, shop)
    page.locator("#filter").fill("purchase order")
    kept = page.locator("#queries tbody tr[data-o]:visible").count()
    assert 0 < kept < 5
    page.emulate_media(media="print")
    page.locator(".more").first.wait_for(state="attached")
    assert page.locator(".more:visible").count() <= kept
    page.context.close()


def test_single_keys_can_be_switched_off(browser: Browser, shop: Path) -> None:
    page, _ = opened(browser, shop)
    page.keyboard.press("?")
    page.locator("#single").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "filter"
    page.locator("#help").click()
    page.locator("#single").check()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "filter"
    page.context.close()


@pytest.mark.parametrize("width", [320, 390, 640])
def test_nothing_runs_out_of_the_page_on_a_telephone(browser: Browser, shop: Path, width: int) -> None:
    page, _ = opened(browser, shop, viewport={"width": width, "height": 844})
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.locator(".more").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.context.close()


def size_of(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])


def test_the_pictures_in_the_documentation_can_be_taken(browser: Browser, shop: Path) -> None:
    pictures = taken(browser, shop)
    assert tuple(pictures) == PICTURES
    for name, picture in pictures.items():
        assert size_of(picture) == SIZE
        kept = (FOLDER / name).read_bytes()
        assert size_of(kept) == SIZE
        assert 20_000 < len(kept) < 200_000


def test_no_text_of_others_runs_or_asks_for_anything(browser: Browser, tmp_path: Path) -> None:
    queries = tuple(Query(f"{text} {i}", text, text, text) for i, text in enumerate(PAYLOADS))
    gold = gold_of({query.id: {query.text: 1.0} for query in queries}, queries)
    corpus = Corpus(tuple(Document(text, text, text) for text in dict.fromkeys(PAYLOADS)))
    runs = [run(name, queries, {q.id: ["x", q.text] for q in queries}) for name in (PAYLOADS[0], PAYLOADS[12])]
    found = evaluated(gold, runs, corpus=corpus)
    path = tmp_path / "hostile.html"
    report = build(found, gold, corpus=corpus, analyses=analyses_of(found, gold, corpus))
    path.write_text(report_html(report), encoding="utf-8", newline="\n")
    page, trouble = opened(browser, path)
    page.evaluate("document.querySelectorAll('#queries summary').forEach((one) => one.click())")
    page.locator(".more").nth(len(PAYLOADS) - 1).wait_for()
    assert page.evaluate("window.__hit") is None
    assert trouble == []
    page.context.close()


def test_a_thousand_queries_are_filtered_and_sorted(browser: Browser, tmp_path: Path) -> None:
    from tests.reports.examples import large_report

    path = tmp_path / "large.html"
    path.write_text(report_html(large_report(1_000, 500)), encoding="utf-8", newline="\n")
    page, trouble = opened(browser, path)
    page.locator("#filter").fill("q0077 WHEN")
    assert rows(page) == ["how do I do the thing number 77 when the other one fails"]
    page.locator("#filter").fill("")
    page.locator("th[data-k=query]").get_by_role("button").click()
    assert rows(page)[:2] == [f"how do I do the thing number {n} when the other one fails" for n in (0, 1)]
    assert trouble == []
    page.context.close()
