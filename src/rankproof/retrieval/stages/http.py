"""A live system that is asked over HTTP."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice, pairwise
from typing import Any, ClassVar, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import ConfigDict, Field, JsonValue, field_validator, model_validator

from rankproof.data.gold import Query
from rankproof.data.json_text import is_id, shown
from rankproof.errors import MissingExtra, NotMeasured, UnknownName, UsageError
from rankproof.retrieval.answers import Answer, Hit, checked, ordered
from rankproof.retrieval.stage import Place, Retriever, RetrieverStage, Stage, idle, secret
from rankproof.retrieval.web import Limits, Method, Request, Unreachable, Web, why_refused

Order = Literal["returned", "score"]
"""Whether the order of a list or the scores in it say which document is better."""

_AHEAD = 4
"""How many answers per connection may wait for an earlier one; all of them are lost if the run is killed."""
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_SECRET_HEADERS = {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"}


class Remote(Stage):
    """What all stages that ask a server have in common."""

    # A key that somebody wrote where none belongs must not be shown again.
    model_config = ConfigDict(hide_input_in_errors=True)

    volatile: ClassVar[bool] = True

    key_env: str | None = idle(None, description="The environment variable that holds the key.")
    key_file: str | None = idle(None, description="The file that holds the key and nothing else.")
    proxy_env: str | None = idle(None, description="The environment variable that names a proxy; none is used else.")
    deadline: float = idle(30.0, gt=0, le=3600, description="Seconds for one request, connecting and reading included.")
    retries: int = idle(3, ge=0, le=10, description="How often a request is asked again that failed for the moment.")
    longest_wait: float = idle(30.0, ge=0, le=3600, description="Seconds between two tries at most.")

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if {"key_env", "key_file"} <= self.model_fields_set and self.key_env is not None and self.key_file is not None:
            raise ValueError("the key is either in `key_env` or in `key_file`, not in both")
        return self

    def web(
        self,
        place: Place,
        *,
        what: str,
        key_header: str,
        headers: Mapping[str, str] | None = None,
        connections: int = 1,
    ) -> Callable[[], Web]:
        """What makes clients for the server. A key that is missing is told of now, not when the first is made."""
        key = secret(self.key_env if self.key_file is None else None, self.key_file, place, what=what)
        proxy = secret(self.proxy_env, None, place, what=f"The proxy of {what}")
        sent = dict(headers or {})
        if key is not None:
            if not _HEADER_VALUE.fullmatch(key):
                raise UsageError(f"The key of {what} holds characters that cannot stand in an HTTP header.")
            name, _, value = key_header.partition(":")
            sent[name.strip()] = value.strip().replace("{key}", key)
        limits = Limits(self.deadline, self.retries, self.longest_wait, connections=connections)
        secrets = () if key is None else (key,)
        return lambda: Web(limits, headers=sent, secrets=secrets, proxy=proxy)


class Endpoint(Remote):
    """A server whose requests the project file writes."""

    url: str = Field(description="Where to ask.")
    headers: dict[str, str] = Field(default={}, description="Headers to send; a key does not belong here.")
    key_header: str = idle("Authorization: Bearer {key}", description="The header that carries the key.")

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        if "@" in url.partition("?")[0]:
            raise ValueError("the address holds a name or password; leave it out and give `key_env` or `key_file`")
        reason = why_refused(url)
        if reason is not None:
            raise ValueError(f"{url!r} cannot be asked: {reason}")
        if _PLACEHOLDER.search(urlsplit(url).netloc):
            raise ValueError("a placeholder stands in the host of the address; it may stand behind it only")
        return url

    @field_validator("headers")
    @classmethod
    def _harmless(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if name.lower() in _SECRET_HEADERS:
                raise ValueError(f"the header {name!r} carries a key; give `key_env` or `key_file`, and `key_header`")
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise ValueError(f"{name!r} and its value make no HTTP header")
        return headers

    @field_validator("key_header")
    @classmethod
    def _with_key(cls, header: str) -> str:
        full = header if ":" in header else f"{header}: {{key}}"
        name, _, value = full.partition(":")
        if not _HEADER_NAME.fullmatch(name.strip()) or not _HEADER_VALUE.fullmatch(value) or "{key}" not in value:
            raise ValueError(f"{header!r} is no header with a key; write it like 'Authorization: Bearer {{key}}'")
        return full


class Http(Endpoint, RetrieverStage):
    """A live system that is asked over HTTP, one request per query."""

    reads_corpus: ClassVar[bool] = False

    url: str = Field(description="Where to ask; {query} and {k} stand for the query's text and the number of results.")
    method: Method | None = Field(default=None, description="GET, or POST if there is a body.")
    body: JsonValue = Field(default=None, description="JSON to send; {query} and {k} may stand in its strings.")
    hits: str = Field(default="@", description="JMESPath to the list of results, or of their ids, in the answer.")
    id: str | None = Field(
        default=None, description="JMESPath from a result to its id; the result itself if it is not given."
    )
    score: str | None = Field(
        default=None, description="JMESPath from a result to its score; the rank counts if not given."
    )
    order: Order = Field(
        default="returned", description="What says which is better: the order of the list, or the scores."
    )
    unknown: Literal["refuse", "keep"] = Field(
        default="refuse", description="What to do with a document that the corpus, if one is named, does not have."
    )
    concurrency: int = idle(4, ge=1, le=64, description="How many requests are under way at a time.")

    @model_validator(mode="after")
    def _asks_for_the_query(self) -> Self:
        used = placeholders(self.url) | placeholders(self.body)
        refuse_unknown_placeholders(used, ("query", "k"))
        if "query" not in used:
            raise ValueError("neither `url` nor `body` holds {query}, so every query would get the same answer")
        if self.body is not None and self.method == "GET":
            raise ValueError("a GET request has no body; write `method: POST`")
        if self.order == "score" and self.score is None:
            raise ValueError("`order: score` needs `score`, which says where the scores stand")
        refuse_unwritable(self.body)
        return self

    def open(self, place: Place) -> Retriever:
        """Ready to ask; nothing is sent yet."""
        web = self.web(
            place,
            what=f"The server at {urlsplit(self.url).netloc}",
            key_header=self.key_header,
            headers=self.headers,
            connections=self.concurrency,
        )
        return _HttpRetriever(self, place, web)


class _HttpRetriever:
    def __init__(self, stage: Http, place: Place, web: Callable[[], Web]) -> None:
        self._stage, self._place, self._web = stage, place, web
        self._hits = Listing(stage.hits)
        self._id = None if stage.id is None else Path(stage.id)
        self._score = None if stage.score is None else Path(stage.score)

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        """One request per query, several at a time; the answers come in the order of the queries."""
        if not queries:
            return
        web = self._web()
        workers = ThreadPoolExecutor(self._stage.concurrency)
        rest = iter(queries)
        waiting: deque[Future[Answer]] = deque()
        retries = 0
        try:
            while True:
                for query in islice(rest, _AHEAD * self._stage.concurrency - len(waiting)):
                    waiting.append(workers.submit(self._answer, web, query, k))
                if not waiting:
                    return
                yield waiting.popleft().result()
                if web.n_retries > retries:
                    retries = web.n_retries
                    self._place.progress("requests asked again", retries, None)
        finally:
            workers.shutdown(wait=False, cancel_futures=True)
            web.close()
            workers.shutdown()

    def _answer(self, web: Web, query: Query, k: int) -> Answer:
        try:
            fetched = web.fetch_json(self._request(query, k))
            hits = self._read(fetched.value)
        except Unreachable:
            raise
        except NotMeasured as exc:
            return Answer.failed(str(exc))
        return Answer(hits[:k], seconds=fetched.seconds)

    def _request(self, query: Query, k: int) -> Request:
        values = {"query": query.text, "k": k}
        stage = self._stage
        body = None if stage.body is None else json_body(filled(stage.body, values))
        return Request(stage.method or ("GET" if body is None else "POST"), filled_url(stage.url, values), body)

    def _read(self, answer: Any) -> tuple[Hit, ...]:
        results = self._hits.of(answer)
        ids = [result if self._id is None else self._id.of(result) for result in results]
        scores = None if self._score is None else [self._score.of(result) for result in results]
        hits = ranking(ids, scores, self._stage.order)
        library = self._place.library
        if library is not None and self._stage.unknown == "refuse":
            for hit in hits:
                if hit.doc_id not in library.pieces.by_id and hit.doc_id not in library.documents.by_id:
                    raise NotMeasured(
                        f"document {shown(hit.doc_id)} was returned, and the corpus does not have it; "
                        "write `unknown: keep` if the system holds more than the corpus"
                    )
        return hits


def ranking(ids: Sequence[object], scores: Sequence[object] | None, order: Order) -> tuple[Hit, ...]:
    """Hits, best first, of what a system returned; raises NotMeasured if no ranking can be made of it.

    Without scores each result scores 1/rank.
    """
    for rank, given in enumerate(ids, 1):
        if not is_id(given):
            hint = "; say with `id` where its id stands" if isinstance(given, dict | list) else ""
            raise NotMeasured(f"result {rank} has the id {shown(given)}, which is no name of a document{hint}")
        refuse_half_characters(str(given))
    for rank, score in enumerate(scores or (), 1):
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise NotMeasured(
                f"result {rank} ({shown(ids[rank - 1])}) has the score {shown(score)}, which is no number"
            )
    if scores is None:
        return checked([Hit(str(given), 1 / rank) for rank, given in enumerate(ids, 1)])
    hits = checked([Hit(str(given), _as_float(score)) for given, score in zip(ids, scores, strict=True)])
    if order == "score":
        return ordered(hits)
    for rank, (better, worse) in enumerate(pairwise(hits), 2):
        if worse.score > better.score:
            raise NotMeasured(
                f"result {rank} scores {worse.score:g}, more than the {better.score:g} of the one above it; "
                "write `order: score` if the scores decide, or leave `score` out if the order does"
            )
    return hits


def _as_float(score: Any) -> float:
    try:
        return float(score)
    except OverflowError:
        return float("inf")


def refuse_half_characters(text: str) -> None:
    """Raise NotMeasured if the text holds half a character, which no file could hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotMeasured(f"{shown(text)} holds half a character") from None


class Path:
    """A JMESPath expression."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._compiled = _compiled(expression)

    def of(self, value: Any) -> Any:
        """What the expression finds; raises NotMeasured where it cannot be worked out."""
        return _found(self._compiled, value, self.expression)


class Listing:
    """A JMESPath expression for a list. Other than JMESPath does, it keeps a place for what an item lacks: of two
    results, the first of them without a name, `results[*].name` must not make a list of one."""

    def __init__(self, expression: str) -> None:
        items, each = _unprojected(_compiled(expression).parsed)
        # Behind `_compiled`, which says how to install it where it is missing.
        from jmespath.parser import ParsedResult

        self.expression = expression
        self._items = ParsedResult(expression, items)
        self._each = None if each is None else ParsedResult(expression, each)

    def of(self, value: Any) -> list[Any]:
        """The list; raises NotMeasured if there is none."""
        items = _found(self._items, value, self.expression)
        if not isinstance(items, list):
            raise NotMeasured(f"there is no list at {self.expression!r} in the answer, but {shown(items)}")
        return items if self._each is None else [_found(self._each, item, self.expression) for item in items]


def _compiled(expression: str) -> Any:
    try:
        import jmespath
        from jmespath.exceptions import JMESPathError
    except ModuleNotFoundError as exc:
        raise MissingExtra("Reading the answers of a server", "http") from exc
    try:
        return jmespath.compile(expression)
    except JMESPathError as exc:
        first = str(exc).splitlines()[0]
        raise UsageError(f"{expression!r} is no JMESPath expression: {first}") from exc


def _found(compiled: Any, value: Any, expression: str) -> Any:
    from jmespath.exceptions import JMESPathError

    try:
        return compiled.search(value)
    except (JMESPathError, RecursionError) as exc:
        first = (str(exc).splitlines() or [""])[0]
        raise NotMeasured(f"{expression!r} cannot be worked out on the answer: {shown(first)}") from exc


def _unprojected(node: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    """A parsed expression as that of the items, and what is taken of each."""
    kind, children = node["type"], node["children"]
    if kind == "projection":
        return children[0], children[1]
    if kind in ("filter_projection", "value_projection"):
        return {**node, "children": [children[0], {"type": "identity", "children": []}, *children[2:]]}, children[1]
    if kind in ("subexpression", "pipe"):
        items, each = _unprojected(children[-1])
        return {**node, "children": [*children[:-1], items]}, each
    return node, None


def placeholders(template: JsonValue) -> set[str]:
    """The names in braces within a template, or within the strings of a template."""
    if isinstance(template, str):
        return set(_PLACEHOLDER.findall(template))
    if isinstance(template, dict):
        template = list(template.values())
    return set().union(*map(placeholders, template)) if isinstance(template, list) else set()


def refuse_unknown_placeholders(used: set[str], known: Sequence[str]) -> None:
    """Raise ValueError if a placeholder is none of those known."""
    for name in sorted(used - set(known)):
        raise ValueError(str(UnknownName("placeholder", f"{{{name}}}", [f"{{{one}}}" for one in known])))


def refuse_unwritable(body: JsonValue) -> None:
    """Raise ValueError if the template cannot be sent as JSON."""
    try:
        json.dumps(body, allow_nan=False)
    except ValueError:
        raise ValueError("the body holds a number that is not finite") from None


def filled_url(template: str, values: Mapping[str, object]) -> str:
    """The address with its placeholders filled; nothing in a value can end the part that it stands in."""
    try:
        return _PLACEHOLDER.sub(lambda found: quote(str(values[found[1]]), safe=""), template)
    except UnicodeEncodeError:
        raise NotMeasured("the query holds half a character") from None


def filled(template: JsonValue, values: Mapping[str, Any]) -> Any:
    """A JSON template with its placeholders filled; a string that is nothing but one becomes the value itself."""
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        return values[whole[1]] if whole else _PLACEHOLDER.sub(lambda found: str(values[found[1]]), template)
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    return [filled(value, values) for value in template] if isinstance(template, list) else template


def json_body(value: Any) -> bytes:
    """The value as the JSON of a request."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise NotMeasured("the query or a document holds half a character") from None
