"""The pages as a browser without JavaScript gets them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from rankproof.data.corpus import Corpus
from rankproof.data.gold import GoldSet
from rankproof.data.qrels import Qrels
from rankproof.data.run import Run
from rankproof.labeling.session import Session
from rankproof.measures.parse import parse_measures
from rankproof.reports.json import scores_json
from rankproof.scoring.evaluate import evaluate
from rankproof.web.shelf import Shelf
from tests.web.serving import DOCUMENTS, QUERIES, RESULTS, Reply, Serving, pool_of

GRADES = {"q1": {"docs/a.md#1": 2, "docs/b.md#1": 0}, "q2": {"docs/b.md#1": 2}, "q3": {"docs/d.md#1": 1}}
WORSE = {
    "q1": {"docs/b.md#1": 3.0, "docs/a.md#1": 2.0},
    "q2": {"docs/b.md#1": 3.0},
    "q3": {"docs/c.md#1": 2.0, "docs/d.md#1": 1.0},
}


def save_runs(folder: Path, **runs: dict[str, dict[str, float]]) -> Shelf:
    folder.mkdir()
    gold = GoldSet(QUERIES, Qrels.from_dict(GRADES))
    for name, results in runs.items():
        run = Run.from_dict(results, name=name)
        run.write(folder / f"{name}.run")
        scores = evaluate(gold.qrels, run, parse_measures(["RR", "P@1"]))
        (folder / f"{name}.scores.json").write_text(scores_json([scores], per_query=True))
    return Shelf(folder, gold, Corpus(DOCUMENTS))


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("pages")
    for name, grades in (("ben", (2, 1, 0, 2)), ("cleo", (2, 0, 0, 1))):
        with Session.open(pool_of(), folder / "truth.json", name) as session:
            for grade in grades:
                session.judge(grade)
    shelf = save_runs(folder / "runs", keyword=RESULTS, vector=WORSE)
    (folder / "runs" / "broken.scores.json").write_text('{"runs": []}')
    with Serving(folder, shelf=shelf) as made:
        yield made


class Text(HTMLParser):
    """What a page says, and the fields of its forms."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.forms: list[dict[str, str]] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "form":
            self.forms.append({})
        if tag == "input" and told.get("type") == "hidden":
            self.forms[-1][str(told["name"])] = told.get("value") or ""


def read(reply: Reply) -> Text:
    page = Text()
    page.feed(reply.text)
    return page


def said(reply: Reply) -> str:
    return " ".join(" ".join(read(reply).parts).split())


def page(serving: Serving, path: str) -> str:
    reply = serving.ask(path=path, Accept="text/html")
    assert reply.status == 200
    return said(reply)


def post_form(serving: Serving, **fields: str) -> Reply:
    body = urlencode(fields).encode()
    return serving.ask(
        "POST", "/label/act", body, Content_Type="application/x-www-form-urlencoded", X_Rankproof_Token=None,
        Origin="null", Accept="text/html",
    )  # fmt: skip


def test_the_first_page_says_how_far_everybody_has_come(serving: Serving) -> None:
    shown = page(serving, "/")
    assert "8 documents to judge for 3 queries" in shown
    assert "ben 4 0 0 4 0" in re.sub(r"(\d) 20\d\d-\S+ \S+ UTC", r"\1", shown)


def test_labelling_goes_on_where_it_was(serving: Serving) -> None:
    assert serving.ask(path="/label").headers["location"] == "/label/1?doc=1"
    assert serving.ask(path="/label?view=list").headers["location"] == "/label/1?doc=1&view=list"
    assert serving.ask(path="/label?query=3").headers["location"] == "/label/3?doc=1"


def test_a_sheet_shows_the_query_its_group_and_the_documents(serving: Serving) -> None:
    shown = page(serving, "/label/2?view=list")
    assert "query 2/3" in shown
    assert "admin" in shown
    assert "create the database" in shown
    assert "All about databases" in shown
    assert "rank" not in shown.replace("rankproof", "")


def test_one_document_is_shown_at_a_time(serving: Serving) -> None:
    text = serving.ask(path="/label/1?doc=2").text
    articles = re.findall(r"<article[^>]*>", text)
    assert [" hidden" in article for article in articles] == [True, False, True]


def test_the_keys_are_printed_on_the_buttons(serving: Serving) -> None:
    shown = page(serving, "/label/1")
    for button in ("Relevant r", "Partial p", "Not relevant n", "Can't tell space", "Later s", "Undo u", "Help ?"):
        assert button in shown


def test_a_long_text_is_cut_and_can_be_had_whole(serving: Serving) -> None:
    number = [one.doc_id for one in serving.pool.tasks[1].candidates].index("docs/e.md#1") + 1
    assert "Paragraph 59" in page(serving, f"/label/2/{number}/text")
    assert "Full text o" in page(serving, "/label/2")


def test_forms_work_without_javascript(tmp_path: Path) -> None:
    with Serving(tmp_path) as own:
        form = next(one for one in read(own.ask(path="/label/1")).forms if one.get("spot", "").count(",") == 1)
        reply = post_form(own, **form, action="relevant")
        assert (reply.status, reply.headers["location"]) == (303, "/label/1?doc=2")
        assert post_form(own, **form, action="relevant").status == 303
        spot = json.loads(form["spot"])
        assert [(e["kind"], e["query_id"], e["doc_id"], e["grade"]) for e in own.events()] == [("judge", *spot, 2)]
        fields = {**form, "spot": '["q1"]', "once": "f" * 32}
        assert post_form(own, **fields, action="note", text="one\r\ntwo").headers["location"] == "/label/1?doc=1"
        assert own.events()[-1]["text"] == "one\ntwo"
        assert post_form(own, **{**fields, "once": "e" * 32}, action="no_answer").status == 303
        assert post_form(own, **{**fields, "once": "d" * 32}, action="answer").status == 303
        assert [event.get("flag") for event in own.events()[-2:]] == [True, False]
        assert post_form(own, **{**fields, "once": "c" * 32}, action="undo").status == 303
        assert own.events()[-1]["kind"] == "undo"


def test_what_could_not_be_saved_is_said_without_the_path(tmp_path: Path) -> None:
    with Serving(tmp_path) as own:
        shutil.move(own.labels / "anna.jsonl", own.labels / "gone")
        reply = own.act(action="relevant", once="once-0001", spot=["q1", "docs/a.md#1"])
        assert reply.status == 507
        assert "NOT saved" in reply.text
        assert str(tmp_path) not in reply.text
        shutil.move(own.labels / "gone", own.labels / "anna.jsonl")


def test_judgments_for_other_labels_are_refused(serving: Serving) -> None:
    body = json.dumps({"desk": "another", "action": "undo", "once": "once-0001"}).encode()
    reply = serving.ask("POST", "/label/act", body)
    assert reply.status == 400
    assert "other labels" in reply.text


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"[" * 60_000, b'{"a":1e999}', b"\xff\xfe", b'"x"'])
def test_a_body_that_is_no_action_is_refused(serving: Serving, body: bytes) -> None:
    assert serving.ask("POST", "/label/act", body).status == 400


def test_agreement_shows_coefficients_and_hides_what_one_has_not_judged(serving: Serving) -> None:
    shown = page(serving, "/agreement")
    assert "Krippendorff's α" in shown
    assert "ben and cleo: the same grade for 2 of 4" in shown
    assert "2 documents are not shown" in shown


def test_an_adjudicator_sees_all_disagreements_and_decides(serving: Serving, tmp_path: Path) -> None:
    shutil.copytree(serving.labels, tmp_path / "labels", ignore=shutil.ignore_patterns(".*", "anna*"))
    with Serving(tmp_path, annotator="judge", adjudicates=True) as own:
        reply = own.ask(path="/agreement", Accept="text/html")
        assert "ben partial cleo not-relevant" in said(reply)
        form = next(one for one in read(reply).forms if one.get("back"))
        decided = post_form(own, **form, action="not-relevant")
        assert decided.headers["location"] == "/agreement"
        assert [(event["kind"], event["grade"]) for event in own.events()] == [("judge", 0)]
        after = said(own.ask(path="/agreement", Accept="text/html"))
        assert "Running it not-relevant" in after
        assert "ben and cleo: the same" in after
        assert "and judge:" not in after


def test_one_annotator_alone_has_no_agreement(tmp_path: Path) -> None:
    with Serving(tmp_path) as own:
        assert "two annotators" in page(own, "/agreement")


def test_saved_runs_are_listed_with_their_means(serving: Serving) -> None:
    shown = page(serving, "/runs")
    # RR of keyword: 1, 1, 1; of vector: 1/2, 1, 1/2.
    assert "keyword 3 1.0000 1.0000" in shown
    assert "vector 3 0.6667 0.3333" in shown
    assert "broken is not a file of scores" in shown
    assert str(serving.folder) not in shown


def test_a_run_is_shown_query_by_query_the_worst_first(serving: Serving) -> None:
    shown = page(serving, "/runs/queries?run=vector")
    assert "run it in a container beginner 0.5000 0.0000 reset a forgotten password 0.5000 0.0000 create" in shown


def test_two_runs_are_compared_query_by_query(serving: Serving) -> None:
    shown = page(serving, "/runs/compare?base=keyword&run=vector&measure=RR")
    assert "0 better, 2 worse, 1 the same" in shown
    assert "run it in a container beginner 1.0000 0.5000 -0.5000" in shown


def test_a_query_is_shown_with_what_was_returned(serving: Serving) -> None:
    shown = page(serving, "/runs/query?base=keyword&run=vector&query=q1")
    first, second = shown.split("vector RR")
    assert first.index("Running it") < first.index("Database") < first.index("Search")
    assert second.index("Database") < second.index("Running it")
    assert "grade 2" in first
    assert "nobody judged it" in first


@pytest.mark.parametrize(
    "path",
    ["/runs/queries", "/runs/queries?run=nothing", "/runs/queries?run=broken", "/runs/compare?base=keyword",
     "/runs/queries?run=keyword&measure=nDCG@7", "/runs/query?run=keyword&query=q9", "/runs/query?query=q1",
     "/runs/query?run=keyword", "/static/nothing.css"],
)  # fmt: skip
def test_what_is_not_there_is_not_found(serving: Serving, path: str) -> None:
    assert serving.ask(path=path, Accept="text/html").status == 404


def test_runs_scored_on_other_judgments_are_not_compared(serving: Serving, tmp_path: Path) -> None:
    shelf = save_runs(tmp_path / "runs", keyword=RESULTS)
    run = Run.from_dict(RESULTS, name="other")
    scores = evaluate(Qrels.from_dict({"q1": {"docs/a.md#1": 1}}), run, parse_measures(["RR", "P@1"]))
    (tmp_path / "runs" / "other.scores.json").write_text(scores_json([scores], per_query=True))
    with Serving(tmp_path, shelf=shelf, with_desk=False) as own:
        reply = own.ask(path="/runs/compare?base=keyword&run=other", Accept="text/html")
        assert reply.status == 400
        assert "different judgments" in said(reply)
        assert own.ask(path="/").headers["location"] == "/runs"
        assert own.ask(path="/label").status == 404
        assert "Agreement" not in said(own.ask(path="/runs", Accept="text/html"))


def test_names_of_runs_stay_parameters(tmp_path: Path) -> None:
    name = "a&b=c#d %2f..\"<i>'"
    shelf = save_runs(tmp_path / "runs", plain=RESULTS)
    for ending in (".run", ".scores.json"):
        (tmp_path / "runs" / f"plain{ending}").rename(tmp_path / "runs" / f"{name}{ending}")
    with Serving(tmp_path, shelf=shelf, with_desk=False) as own:
        assert f"{name} 3" in page(own, "/runs")
        assert name in page(own, f"/runs/queries?run={quote(name)}")
        assert "Running it" in page(own, f"/runs/query?run={quote(name)}&query=q1")


def test_a_long_table_comes_in_parts(tmp_path: Path) -> None:
    results = {f"q{i:04}": {"d": 1.0} for i in range(450)}
    scores = evaluate(Qrels.from_dict({q: {"d": 1} for q in results}), Run.from_dict(results, name="x"), ["RR"])
    (tmp_path / "x.scores.json").write_text(scores_json([scores], per_query=True))
    with Serving(tmp_path, shelf=Shelf(tmp_path), with_desk=False) as own:
        assert "q0199" in page(own, "/runs/queries?run=x")
        assert "q0200" not in page(own, "/runs/queries?run=x")
        assert "q0449" in page(own, "/runs/queries?run=x&page=3")
        assert "q0449" in page(own, "/runs/queries?run=x&page=999")
        assert "The run itself was not saved" in page(own, "/runs/query?run=x&query=q0001")


def test_a_bug_of_ours_is_told_in_the_terminal_and_not_on_the_page(tmp_path: Path) -> None:
    shelf = save_runs(tmp_path / "runs", keyword=RESULTS)
    with Serving(tmp_path, shelf=shelf, with_desk=False) as own:
        shelf.corpus = object()  # type: ignore[assignment]
        reply = own.ask(path="/runs/query?run=keyword&query=q1", Accept="text/html")
        assert reply.status == 500
        assert "AttributeError" not in reply.text
        assert own.complaints == ["AttributeError on /runs/query (this is a bug of ours)"]


def test_ranks_are_shown_if_asked_for(tmp_path: Path) -> None:
    with Serving(tmp_path, show_rank=True) as own:
        assert "rank 1 of bm25, score 3" in page(own, "/label/1?view=list")
