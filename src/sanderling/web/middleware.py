"""Checks every request: the host name and who sent it. Adds the security headers to every
answer."""

from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response

from sanderling.header_values import whole_number
from sanderling.web.problems import problem
from sanderling.web.security import RECEIVING, SESSION_SECONDS, Security, host_name

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Larger than any sensible form or list of seeds.
MOST_BODY = 4 * 1024 * 1024

# Paths that can be seen without signing in. Messages of sites have keys of their own.
_OPEN = ("/login", "/static/", "/health", *RECEIVING)


class Gate:
    """Middleware around the whole app."""

    def __init__(self, app: App, security: Security) -> None:
        self._app = app
        self._security = security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}  # the server drops the body of the answer
        state = scope.setdefault("state", {})
        state["session"] = self._session(headers)
        state["by_token"] = self._security.knows_token(headers.get("authorization", ""))
        state["give_cookie"] = ""

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._finish(MutableHeaders(scope=message), scope, headers)
            await send(message)

        refusal = self._refusal(scope, headers)
        await (refusal or self._app)(scope, receive, sending)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if not self._security.answers_to(host):
            return problem(421, "this server does not accept that host name; see `sanderling serve --name`")
        safe = scope["method"] in ("GET", "HEAD", "OPTIONS")
        if not safe and not _same_origin(headers, host):
            return problem(403, "this request came from a page of another site")
        if not safe and "transfer-encoding" in headers:
            return problem(411, "send the Content-Length header")
        if _length(headers) > MOST_BODY:
            return problem(413, f"the body is larger than {MOST_BODY >> 20} MiB")
        path: str = scope["path"]
        if path.startswith(_OPEN) or scope["state"]["by_token"] or self._security.may_enter(scope["state"]["session"]):
            return None
        if safe and "text/html" in headers.get("accept", "") and not path.startswith("/api/"):
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(f"/login?next={quote(path + ('?' + query if query else ''))}", 303)
        return problem(401, "sign in, or send `Authorization: Bearer TOKEN`", {"WWW-Authenticate": "Bearer"})

    def _session(self, headers: Headers) -> str:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self._security.cookie)
        except CookieError:
            return ""
        return morsel.value if morsel is not None and self._security.is_session(morsel.value) else ""

    def _finish(self, answer: MutableHeaders, scope: Scope, asked: Headers) -> None:
        archive = f"{scope['scheme']}://{host_name(asked.get('host', ''))}:{self._security.archive_port}"
        answer.setdefault(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
            "frame-src " + (archive if _plain(archive) else "'none'"),
        )
        answer["X-Frame-Options"] = "DENY"
        answer["X-Content-Type-Options"] = "nosniff"
        answer["Referrer-Policy"] = "same-origin"
        answer["Cross-Origin-Opener-Policy"] = "same-origin"
        answer["Cross-Origin-Resource-Policy"] = "same-origin"
        answer["Permissions-Policy"] = "camera=(), microphone=(), geolocation=()"
        if not scope["path"].startswith("/static/"):
            answer["Cache-Control"] = "no-store"
        if cookie := scope["state"]["give_cookie"]:
            secure = "; Secure" if scope["scheme"] == "https" else ""
            age = int(SESSION_SECONDS)
            answer.append(
                "Set-Cookie",
                f"{self._security.cookie}={cookie}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}",
            )


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether a request comes from our own pages. Programs other than browsers send no origin, and
    are accepted."""
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    return site in (None, "same-origin", "none") and (
        origin is None or origin.partition("://")[2].lower() == host.lower()
    )


def _length(headers: Headers) -> int:
    said = whole_number(headers.get("content-length", "0"))
    return MOST_BODY + 1 if said is None else said


def _plain(text: str) -> bool:
    return all(c.isalnum() or c in ":/.-[]" for c in text)
