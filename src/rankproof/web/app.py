"""The application: which address shows what."""

from __future__ import annotations

import os
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from rankproof.errors import RankproofError
from rankproof.labeling.disk import NotSaved
from rankproof.web.desk import Conflict, without_paths
from rankproof.web.guard import Access, App, Guard, Limits, Receive, Refusal, Scope, Send
from rankproof.web.views import Views

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from rankproof.web.desk import Desk
    from rankproof.web.shelf import Shelf


@dataclass(frozen=True)
class Site:
    """What the page shows."""

    desk: Desk | None
    """None if there is nothing to label."""
    shelf: Shelf


def make_app(
    site: Site, access: Access, *, complain: Callable[[str], None], limits: Limits | None = None
) -> Guard:  # fmt: skip
    """The page behind its guard; `complain` is told of what goes wrong inside."""
    views = Views(site.desk, site.shelf, access)
    routes = [
        Route("/", views.home),
        Route("/label", views.label),
        Route("/label/act", views.act, methods=["POST"]),
        Route("/label/{query:int}", views.sheet),
        Route("/label/{query:int}/state", views.state),
        Route("/label/{query:int}/{doc:int}/text", views.text),
        Route("/desk", views.about_desk),
        Route("/agreement", views.agreement),
        Route("/runs", views.runs),
        Route("/runs/queries", views.run_queries),
        Route("/runs/compare", views.compare),
        Route("/runs/query", views.run_query),
        Route("/static/{name}", views.static),
    ]

    async def on_http(request: Request, exc: Exception) -> Response:
        status = exc.status_code if isinstance(exc, HTTPException) else 404
        sentence = "There is no such page." if status == 404 else "That cannot be asked of this page."
        return views.refusal(request, Refusal(status, "not found", sentence))

    async def on_error(request: Request, exc: Exception) -> Response:
        if isinstance(exc, NotSaved):
            refusal = Refusal(507, "not saved", f"NOT saved: {without_paths(exc)}. Nothing has changed.")
        elif isinstance(exc, Conflict):
            refusal = Refusal(409, "conflict", str(exc))
        else:
            refusal = Refusal(400, "refused", without_paths(exc) if isinstance(exc, RankproofError) else "")
        return views.refusal(request, refusal)

    async def on_bug(request: Request, exc: Exception) -> Response:
        shown = "".join(traceback.format_exception(exc)) if os.environ.get("RANKPROOF_TRACEBACK") else ""
        complain(f"{type(exc).__name__} on {request.url.path} (this is a bug of ours)\n{shown}".rstrip())
        return views.refusal(request, Refusal(500, "bug", "Something went wrong here; the terminal says what."))

    handlers = {HTTPException: on_http, RankproofError: on_error, Exception: on_bug}
    inner = Starlette(routes=routes, exception_handlers=handlers)
    inner.router.redirect_slashes = False
    return Guard(_caught(inner), access, limits)


def _caught(app: Starlette) -> App:
    """Starlette raises what it has answered with a 500 once more, for its own test client; nobody else wants it."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(Exception):
            await app(scope, receive, send)

    return called
