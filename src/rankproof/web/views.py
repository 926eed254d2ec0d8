"""What each address shows. Everything is text: templates escape it, and what steers writing is written out."""

from __future__ import annotations

import json
import secrets
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from rankproof.errors import RankproofError, UnknownName, UsageError, count
from rankproof.labeling.agreement import AgreementFound, find_agreement
from rankproof.labeling.annotators import read_labels
from rankproof.labeling.events import Spot
from rankproof.labeling.journal import journal_paths
from rankproof.labeling.keys import ACTIONS, KEYS
from rankproof.labeling.truth import WORDS
from rankproof.labeling.visible import visible
from rankproof.stats.agreement import Bootstrap
from rankproof.web.desk import Action, Desk, Done, Place, without_paths, word_of
from rankproof.web.guard import BODY, FORM, Access, Refusal, told
from rankproof.web.highlight import Words
from rankproof.web.shelf import Shelf, measure_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from rankproof.web.desk import Sheet

_HERE = Path(__file__).parent
_STATIC = {"page.css": "text/css", "label.js": "text/javascript", "icon.svg": "image/svg+xml"}
_EXCERPT, _WHOLE, _FULL = 900, 1400, 20_000
_ROWS = 200
_RESULTS = 20
_RESAMPLES = 1000
KEY_NAMES = {key.action: "space" if key.keys[0] == " " else key.keys[0] for key in KEYS}
"""Action → the key that is printed on its button."""
_GRADES = (
    ("relevant", "Relevant"), ("partial", "Partial"), ("not-relevant", "Not relevant"), ("cant_tell", "Can't tell"),
    ("later", "Later"),
)  # fmt: skip


def _shown(value: Any) -> Any:
    return visible(value) if type(value) is str else value


def _figure(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def _change(value: float) -> str:
    return f"{value:+.4f}" if value else "0"


def _json(value: Any) -> str:
    # Half characters, which ids may hold, can be written in ASCII only.
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def _cut(text: str, length: int) -> str:
    """The beginning of a text, cut between words."""
    if len(text) <= length:
        return text
    head = text[:length]
    return (head.rpartition(" ")[0] or head) + " …"


class Views:
    """The pages over a desk and a shelf."""

    def __init__(self, desk: Desk | None, shelf: Shelf, access: Access) -> None:
        self.desk_or_none = desk
        self.shelf = shelf
        self.access = access
        self._agreement: tuple[object, AgreementFound] | None = None

    @cached_property
    def templates(self) -> Environment:
        """The templates; every text in them is escaped."""
        environment = Environment(
            loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined, finalize=_shown,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        environment.filters.update(figure=_figure, change=_change, json=_json, cut=_cut)
        environment.globals.update(
            keys=KEYS, key_names=KEY_NAMES, grades=_GRADES, words=WORDS, count=count, link=_link, once=_once,
            excerpt=_EXCERPT, whole=_WHOLE, full=_FULL,
        )  # fmt: skip
        return environment

    @property
    def desk(self) -> Desk:
        """The desk, where there is one."""
        if self.desk_or_none is None:
            raise HTTPException(404)
        return self.desk_or_none

    def page(self, template: str, *, status: int = 200, **told: Any) -> Response:
        """A page of a template."""
        desk = self.desk_or_none
        text = self.templates.get_template(template).render(
            desk=desk, desk_id=desk.id if desk else "", annotator=desk.annotator if desk else "",
            form_token=self.access.form_token, **told,
        )  # fmt: skip
        return Response(text.encode(errors="replace"), status, media_type="text/html; charset=utf-8")

    def refusal(self, request: Request, refusal: Refusal) -> Response:
        """Why something was not done, as a page or for the script."""
        if "text/html" not in request.headers.get("accept", ""):
            return _answer(told(refusal), refusal.status)
        return self.page("message.html", status=refusal.status, sentence=refusal.sentence, here="")

    def home(self, request: Request) -> Response:
        """How far everybody has come; without anything to label, the saved runs."""
        desk = self.desk_or_none
        if desk is None:
            return RedirectResponse("/runs", 303)
        return self.page(
            "home.html",
            here="/",
            progress=desk.progress(),
            total=len(desk.pool),
            n_queries=len(desk.pool.tasks),
            truth=desk.truth.name,
            notices=[without_paths(notice) for notice in desk.session.notices],
            finished=desk.session.finished,
        )

    def label(self, request: Request) -> Response:
        """On to where labelling goes on, or to the query that was asked for."""
        number = request.query_params.get("query")
        if number is None:
            return _to(self.desk.place(), request.query_params.get("view"))
        if not number.isdecimal() or self.desk.sheet(int(number[:9])) is None:
            n = len(self.desk.pool.tasks)
            raise UsageError(f"There is no query {number[:20]!r}; the queries are numbered 1 to {n}.")
        return _to(self.desk.first_left(int(number[:9])), request.query_params.get("view"))

    def sheet(self, request: Request) -> Response:
        """One query: one document at a time, or all of them in a list."""
        sheet = self._sheet(request)
        doc = request.query_params.get("doc", "1")
        number = int(doc[:9]) if doc.isdecimal() else 1
        return self.page(
            "label.html",
            here="/label",
            sheet=sheet,
            current=min(max(number, 1), max(len(sheet.documents), 1)),
            view=_view(request),
            words_of=Words(sheet.query.text),
            key_actions=ACTIONS,
            guideline=self.desk.guideline,
        )

    def state(self, request: Request) -> Response:
        """What the script keeps up to date of a query."""
        return _answer({"query": self._sheet(request).as_dict()})

    def text(self, request: Request) -> Response:
        """The full text of a document."""
        sheet = self._sheet(request)
        number = request.path_params["doc"]
        if not 1 <= number <= len(sheet.documents):
            raise HTTPException(404)
        shown = sheet.documents[number - 1]
        pieces = Words(sheet.query.text).pieces(visible(shown.candidate.document.text))
        return self.page("text.html", here="/label", sheet=sheet, shown=shown, pieces=pieces, view=_view(request))

    def about_desk(self, request: Request) -> Response:
        """Which desk this is, and what a POST must bring: so that an open page finds a server that was started anew."""
        return _answer({"desk": self.desk.id, "token": self.access.form_token})

    def act(self, request: Request) -> Response:
        """Do what a person did on the page: from its script, or from a form."""
        fields = request.scope[FORM]
        if fields:
            return self._act_form(fields)
        try:
            body = json.loads(request.scope[BODY])
        except (ValueError, RecursionError) as exc:
            raise UsageError("The request is no JSON.") from exc
        if not isinstance(body, dict) or body.get("desk") != self.desk.id:
            raise UsageError("The judgment was made for other labels than those that are served now.")
        return _answer(_done(self.desk.do(Action.of(body))))

    def _act_form(self, fields: dict[str, str]) -> Response:
        try:
            spot = json.loads(fields.get("spot", "null"))
        except (ValueError, RecursionError) as exc:
            raise UsageError("The form does not say what it is about.") from exc
        name = fields.get("action", "")
        action = Action.of(
            {
                "action": "no_answer" if name == "answer" else name,
                "once": fields.get("once"),
                "spot": spot,
                # A browser ends the lines of a form with two characters.
                "text": fields.get("text", "").replace("\r\n", "\n"),
                "flag": name != "answer",
            }
        )
        done = self.desk.do_form(action)
        if fields.get("back") == "/agreement":
            return RedirectResponse("/agreement", 303)
        stays = action.name in ("note", "no_answer") and done.sheet is not None
        place = Place(done.sheet.number, 1) if stays and done.sheet is not None else done.next
        return _to(place, fields.get("view"))

    def agreement(self, request: Request) -> Response:
        """How far annotators agree, where they do not, and the last word on it."""
        desk = self.desk
        try:
            found = self._found_agreement(desk)
        except RankproofError as exc:
            return self.page("agreement.html", here="/agreement", found=None, why=without_paths(exc))
        tasks = {task.query.id: task for task in desk.pool.tasks}
        rows = []
        n_unseen = 0
        for one in found.disagreements:
            own = desk.session.mark(*one.item)
            if not desk.adjudicates and (own is None or own.waits):
                n_unseen += 1
                continue
            task = tasks.get(one.item.query_id)
            place = None if task is None else task.places.get(one.item.doc_id)
            rows.append(
                {
                    "item": one.item,
                    "query": one.item.query_id if task is None else task.query.text or task.query.id,
                    "number": None if task is None else desk.pool.places[one.item.query_id] + 1,
                    "doc": None if place is None else place + 1,
                    "candidate": None if task is None or place is None else task.candidates[place],
                    "grades": {name: WORDS.get(int(grade), str(grade)) for name, grade in one.grades.items()},
                    "decided": word_of(own) if desk.adjudicates else "",
                    "spot": list(Spot(*one.item)),
                }
            )
        return self.page(
            "agreement.html", here="/agreement", found=found, rows=rows[:_ROWS], n_rows=len(rows), n_unseen=n_unseen
        )  # fmt: skip

    def _found_agreement(self, desk: Desk) -> AgreementFound:
        paths = journal_paths(desk.labels)
        if desk.adjudicates:
            paths = [path for path in paths if path.stem != desk.annotator]
        sign = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths)
        if self._agreement is None or self._agreement[0] != sign:
            if len(paths) < 2:
                raise UsageError("Agreement takes two annotators or more, each under a name of their own.")
            labels = [one for one in read_labels(paths) if len(one)]
            if len(labels) < 2:
                raise UsageError("Agreement takes two annotators who have judged something.")
            self._agreement = (sign, find_agreement(labels, bootstrap=Bootstrap(resamples=_RESAMPLES)))
        return self._agreement[1]

    def runs(self, request: Request) -> Response:
        """Every saved run with its means."""
        books = self.shelf.books()
        measures = list(dict.fromkeys(str(m) for book in books if book.scores for m in book.scores.measures))
        means = {book.name: book.scores.mean() for book in books if book.scores}
        return self.page("runs.html", here="/runs", books=books, measures=measures, means=means)

    def run_queries(self, request: Request) -> Response:
        """One run, query by query."""
        scores = self._scores(request, "run")
        measure = self._measure(request, scores)
        worst = sorted(zip(scores.of(measure).tolist(), scores.query_ids, strict=True))
        by_query = scores.by_query()
        rows = [(self.shelf.query(query_id), by_query[query_id]) for _, query_id in worst]
        page, pages = _page_of(request, len(rows))
        return self.page(
            "run.html",
            here="/runs",
            name=request.query_params["run"],
            scores=scores,
            measure=str(measure),
            measures=list(map(str, scores.measures)),
            means=scores.mean(),
            rows=rows[(page - 1) * _ROWS : page * _ROWS],
            number=page,
            pages=pages,
        )

    def compare(self, request: Request) -> Response:
        """Two runs, query by query, under one measure."""
        baseline, candidate = self._scores(request, "base"), self._scores(request, "run")
        measure = self._measure(request, baseline)
        deltas = self.shelf.deltas(baseline, candidate, measure)
        page, pages = _page_of(request, len(deltas.rows))
        return self.page(
            "compare.html",
            here="/runs",
            base=request.query_params["base"],
            name=request.query_params["run"],
            deltas=deltas,
            measure=str(measure),
            measures=list(map(str, baseline.measures)),
            means=(baseline.mean()[str(measure)], candidate.mean()[str(measure)]),
            rows=deltas.rows[(page - 1) * _ROWS : page * _ROWS],
            number=page,
            pages=pages,
        )

    def run_query(self, request: Request) -> Response:
        """One query: what one or two runs returned for it."""
        query_id = request.query_params.get("query", "")
        sides = []
        for key in ("base", "run"):
            if key not in request.query_params:
                continue
            scores = self._scores(request, key)
            values = scores.by_query().get(query_id)
            if values is None:
                raise HTTPException(404)
            name = request.query_params[key]
            sides.append({"name": name, "values": values, "results": self.shelf.results(name, query_id, _RESULTS)})
        if not sides:
            raise HTTPException(404)
        query = self.shelf.query(query_id)
        return self.page("query.html", here="/runs", query=query, sides=sides, words_of=Words(query.text))

    def static(self, request: Request) -> Response:
        """The style sheet, the script and the icon."""
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        return Response((_HERE / "static" / name).read_bytes(), media_type=_STATIC[name])

    def _sheet(self, request: Request) -> Sheet:
        sheet = self.desk.sheet(request.path_params["query"])
        if sheet is None:
            raise HTTPException(404)
        return sheet

    def _scores(self, request: Request, key: str) -> Any:
        scores = self.shelf.scores(request.query_params.get(key, ""))
        if scores is None:
            raise HTTPException(404)
        return scores

    def _measure(self, request: Request, scores: Any) -> Any:
        try:
            return measure_of(scores, request.query_params.get("measure"))
        except UnknownName as exc:
            raise HTTPException(404) from exc


def _answer(value: Any, status: int = 200) -> Response:
    return Response(_json(value).encode(), status, media_type="application/json")


def _done(done: Done) -> dict[str, Any]:
    saved = done.saved
    return {
        "saved": None if saved is None else {"what": saved.what, "warning": without_paths(saved.warning)},
        "spot": None if saved is None else list(saved.spot),
        "query": None if done.sheet is None else done.sheet.as_dict(),
        "next": done.next._asdict(),
        "finished": done.finished,
    }


def _view(request: Request) -> str:
    return "list" if request.query_params.get("view") == "list" else "focus"


def _to(place: Place, view: str | None) -> Response:
    listed = "&view=list" if view == "list" else ""
    return RedirectResponse(f"/label/{place.query}?doc={max(place.doc, 1)}{listed}", 303)


def _link(path: str, **parameters: str | int | None) -> Markup:
    """An address with parameters; whatever stands in them, it stays a parameter."""
    given = {key: value for key, value in parameters.items() if value is not None}
    query = urlencode(given, errors="replace")
    return Markup.escape(f"{path}?{query}" if query else path)


def _once() -> str:
    return secrets.token_hex(16)


def _page_of(request: Request, n_rows: int) -> tuple[int, int]:
    pages = max(1, -(-n_rows // _ROWS))
    asked = request.query_params.get("page", "1")
    return min(max(int(asked[:6]) if asked.isdecimal() else 1, 1), pages), pages
