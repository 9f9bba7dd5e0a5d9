"""Answers every error as application/problem+json (RFC 9457), or as a page for people."""

import sqlite3
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sanderling.errors import BadFolder, BadIndex, Damaged, FolderInUse, RunFailed, SanderlingError, StoreAway
from sanderling.server.requests.remote import NotRunning
from sanderling.web.shelf import UnknownCrawl

# Makes a page about an error: (request, status, sentence).
ErrorPage = Callable[[Request, int, str], Response]
CallNext = Callable[[Request], Awaitable[Response]]


class NotFound(SanderlingError):
    """The requested thing does not exist."""


class Conflict(SanderlingError):
    """The current state does not allow it."""


_STATUS: dict[type[SanderlingError], int] = {
    UnknownCrawl: 404, NotFound: 404, Conflict: 409, NotRunning: 409, BadFolder: 409, FolderInUse: 409, Damaged: 409,
    BadIndex: 409, StoreAway: 503, RunFailed: 500,
}  # fmt: skip


class UnexpectedErrors:
    """Answers unexpected exceptions.

    It runs inside the middleware that adds headers. The framework's own handler would run outside
    of it, so its answers would lack them.
    """

    def __init__(self, app: ASGIApp, answer: ErrorPage) -> None:
        self._app = app
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            if scope["type"] == "http" and not begun:
                await self._response(Request(scope))(scope, receive, send)
            raise  # so that the server logs the traceback

    def _response(self, request: Request) -> Response:
        sentence = "this is a bug in Sanderling; the server's log has details"
        try:
            return self._answer(request, 500, sentence)
        except Exception:  # the page may use the part that failed
            return problem(500, sentence)


def problem(status: int, detail: str, headers: dict[str, str] | None = None, **more: object) -> Response:
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return Response(msgspec.json.encode(body), status, headers, media_type="application/problem+json")


def install(app: FastAPI, page: ErrorPage | None = None) -> None:
    """Makes an app answer every error in the same form. `page` makes pages for browsers, except in
    the API."""

    def answer(
        request: Request, status: int, detail: str, headers: dict[str, str] | None = None, **more: object
    ) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
        if page is not None and wants_page:
            return page(request, status, detail)
        return problem(status, detail, headers, **more)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers) if error.headers else None
        return answer(request, error.status_code, str(error.detail), headers)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        errors = [{"at": ".".join(map(str, each["loc"])), "detail": str(each["msg"])} for each in error.errors()]
        return answer(request, 422, "; ".join(f"{e['at']}: {e['detail']}" for e in errors), errors=errors)

    async def ours(request: Request, error: Exception) -> Response:
        status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 400)
        return answer(request, status, str(error))

    async def too_large(request: Request, error: Exception) -> Response:
        return answer(request, 422, "a number is too large")

    async def unreadable(request: Request, error: Exception) -> Response:
        assert isinstance(error, OSError)
        name = Path(error.filename).name if isinstance(error.filename, str) else "a file"
        return answer(request, 500, f"{name} cannot be used: {error.strerror or error}")

    async def damaged(request: Request, error: Exception) -> Response:
        return answer(request, 500, f"the database of this crawl cannot be read: {error}")

    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(SanderlingError, ours)
    app.add_exception_handler(OverflowError, too_large)
    app.add_exception_handler(OSError, unreadable)
    app.add_exception_handler(sqlite3.DatabaseError, damaged)
    app.add_middleware(UnexpectedErrors, answer=answer)
