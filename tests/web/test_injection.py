"""Texts of others are shown as they are: no script of theirs runs, and no request leaves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import GoldSet, Query
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.labeling.session import Session
from rankproof.labeling.visible import visible
from rankproof.measures.parse import parse_measures
from rankproof.reports.json import scores_json
from rankproof.scoring.evaluate import evaluate
from rankproof.web.shelf import Shelf
from tests.web.payloads import PAYLOADS
from tests.web.serving import Serving, pool_of

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Dialog, Page

PER_QUERY = 10
QUERIES = tuple(Query(f"{payload} id {i}", payload, payload) for i, payload in enumerate(PAYLOADS))


def documents_of(number: int) -> tuple[Document, ...]:
    some = PAYLOADS[number : number + PER_QUERY]
    # One that is long enough for an excerpt and the full text, and one without a title.
    return tuple(
        Document(f"{payload} {number}", payload + (f" {payload}" * 60 if i == 0 else ""), payload if i % 2 else "")
        for i, payload in enumerate(some)
    )


SHEETS = range(0, len(PAYLOADS), PER_QUERY)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("injection")
    documents = [documents_of(number) for number in SHEETS]
    queries = [QUERIES[number] for number in SHEETS]
    results = {
        query.id: {one.id: float(i) for i, one in enumerate(some)}
        for query, some in zip(queries, documents, strict=True)
    }
    everything = [one for some in documents for one in some]
    pool = pool_of(queries, everything, results)
    for name, grade in (("ben", 2), ("cleo", 0)):
        with Session.open(pool, folder / "truth.json", name) as session:
            for task in pool.tasks:
                session.judge(grade)
                session.next_query()
                assert task
    gold = GoldSet(QUERIES, Qrels.from_dict({query.id: {next(iter(results[query.id])): 1} for query in queries}))
    runs = folder / "runs"
    runs.mkdir()
    run = Run.from_dict(results, name="x")
    scores = scores_json([evaluate(gold.qrels, run, parse_measures(["RR"]))], per_query=True)
    for name in [payload.replace("/", "∕").replace("\x00", "")[:60] for payload in PAYLOADS[:40]]:
        (runs / f"{name}.scores.json").write_text(scores)
    run.write(runs / "plain.run.json")
    (runs / "plain.scores.json").write_text(scores)
    with Serving(
        folder, pool=pool, shelf=Shelf(runs, gold, Corpus(tuple(everything))), guideline="\n".join(PAYLOADS)
    ) as made:
        for number, task in enumerate(pool.tasks):
            made.act(action="note", once=f"note-{number:04}", spot=[task.query.id], text="\n".join(PAYLOADS))
            made.act(action="relevant", once=f"mark-{number:04}", spot=[task.query.id, task.candidates[0].doc_id])
        yield made


class Watched:
    """A page with everything that it asked for, ran and complained of."""

    def __init__(self, context: BrowserContext, serving: Serving) -> None:
        self.serving = serving
        self.asked: list[str] = []
        self.said: list[str] = []
        context.on("request", lambda request: self.asked.append(request.url))
        self.page: Page = context.new_page()
        self.page.on("dialog", self._dismiss)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("console", lambda message: self.said.append(message.text))
        serving.let_in(context)

    def _dismiss(self, dialog: Dialog) -> None:
        self.said.append(dialog.message)
        dialog.dismiss()

    def look(self, path: str) -> str:
        response = self.page.goto(f"{self.serving.address}{path}")
        assert response is not None
        assert response.status == 200
        self.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        text: str = self.page.evaluate("document.body.textContent + document.title")
        return text

    def check(self) -> None:
        assert self.page.evaluate("window.__hit") is None
        assert [url for url in self.asked if not url.startswith(f"{self.serving.address}/")] == []
        assert self.said == []
        # No element but ours: the pages have one form of each kind, and nothing that loads or runs.
        strange = "iframe, object, embed, img, image, video, audio, base, style, svg, math, template, meta[http-equiv]"
        assert self.page.locator(strange).count() == 0
        assert self.page.locator("script").count() == 1
        attributes = self.page.evaluate("[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())")
        assert [name for name in attributes if name.startswith("on")] == []


@pytest.fixture
def watched(context: BrowserContext, serving: Serving) -> Iterator[Watched]:
    made = Watched(context, serving)
    yield made
    made.page.wait_for_timeout(100)
    made.check()


def test_there_are_enough_of_them() -> None:
    assert len(PAYLOADS) >= 100
    assert len(set(PAYLOADS)) == len(PAYLOADS)


def test_what_would_run_does_run_where_it_is_let(context: BrowserContext) -> None:
    page = context.new_page()
    page.set_content(PAYLOADS[12])
    page.wait_for_timeout(200)
    assert page.evaluate("window.__hit") == 1


def test_labelling_shows_them_literally(watched: Watched) -> None:
    for number, start in enumerate(SHEETS, 1):
        text = watched.look(f"/label/{number}?view={'list' if number % 2 else 'focus'}")
        assert visible(QUERIES[start].text) in text
        for document in documents_of(start):
            for part in (document.id, document.text, document.title):
                assert visible(part) in text
        assert all(visible(payload) in text for payload in PAYLOADS)
        watched.check()


def test_the_full_text_the_progress_and_the_agreement_show_them_literally(watched: Watched) -> None:
    text = watched.look("/label/1/1/text")
    assert visible(watched.serving.pool.tasks[0].candidates[0].document.text) in text
    watched.check()
    assert "ben" in watched.look("/")
    text = watched.look("/agreement")
    assert visible(PAYLOADS[0]) in text
    watched.check()


def test_the_runs_show_them_literally(watched: Watched) -> None:
    text = watched.look("/runs")
    names = [payload.replace("/", "∕").replace("\x00", "")[:60] for payload in PAYLOADS[:40]]
    assert all(visible(name) in text for name in names)
    watched.check()
    for name in names[:3]:
        assert visible(name) in watched.look(f"/runs/queries?run={quote(name)}")
    watched.check()
    text = watched.look(f"/runs/query?run=plain&query={quote(QUERIES[0].id)}")
    assert visible(QUERIES[0].id) in text
    assert visible(documents_of(0)[3].title) in text
    watched.check()


def test_a_document_with_any_of_them_can_be_judged_and_annotated(watched: Watched) -> None:
    serving, page = watched.serving, watched.page
    for number, task in list(enumerate(serving.pool.tasks, 1))[:3]:
        watched.look(f"/label/{number}?view=list")
        page.locator("#note-text").fill(PAYLOADS[number])
        page.get_by_role("button", name="Save the note").click()
        page.locator("article.document").nth(2).get_by_role("button", name="Partial").click()
        page.locator("article.document").nth(2).locator(".mark-shown", has_text=re.compile("^partial$")).wait_for()
        last = [event for event in serving.events() if event["query_id"] == task.query.id][-2:]
        assert [event["kind"] for event in last] == ["note", "judge"]
        assert last[0]["text"] == PAYLOADS[number]
        assert last[1]["doc_id"] == task.candidates[2].doc_id
        assert visible(PAYLOADS[number]).strip() in page.evaluate("document.querySelector('#note-shown').textContent")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_none_of_them_can_be_the_name_of_an_annotator(payload: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be an annotator's name"):
        Session.open(pool_of(), tmp_path / "truth.json", payload)


def test_names_of_journals_that_others_put_there_are_shown_literally(context: BrowserContext, tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    names = [payload.replace("/", "∕").replace("\x00", "")[:60] for payload in PAYLOADS]
    for name in names:
        (tmp_path / "labels" / f"{name}.jsonl").write_text("")
    with Serving(tmp_path) as own:
        watched = Watched(context, own)
        text = watched.look("/")
        assert "anna" in text
        (tmp_path / "labels" / f"{names[0]}.jsonl").write_text("damaged\n")
        assert visible(names[0]) in watched.look("/")
        watched.check()


def test_parameters_are_not_shown_as_anything_but_text(watched: Watched) -> None:
    for payload in PAYLOADS[12::40]:
        for path in (
            "/label?query={}",
            "/runs/queries?run={}",
            "/label/1?doc={0}&view={0}",
            "/?x={}",
            "/runs/query?run=plain&query={}",
        ):
            watched.page.goto(f"{watched.serving.address}{path.format(quote(payload))}")
            assert watched.page.evaluate("window.__hit") is None
    watched.said.clear()


def test_answers_for_the_script_are_never_taken_for_a_page(serving: Serving) -> None:
    reply = serving.ask(path=f"/label/{len(SHEETS)}/state")
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert json.loads(reply.body)["query"]["note"] == "\n".join(PAYLOADS)
    assert reply.body.isascii()
