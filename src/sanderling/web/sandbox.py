"""Shows archived pages on an origin of their own, so that they cannot reach the dashboard.

Anyone who has a signed link may see that version for an hour. There are no cookies and no other URLs. The content
security policy turns off scripts, forms, frames and all requests, so a page is shown without its images and style
sheets.
"""

from html import escape

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse

from sanderling.model import ChangeKind
from sanderling.repository import views, warc
from sanderling.web import problems
from sanderling.web.problems import NotFound
from sanderling.web.security import Security
from sanderling.web.shelf import Shelf

# Media types that a browser shows. All others are downloaded.
_SHOWN = ("text/", "application/xhtml+xml", "application/pdf", "application/json", "application/xml", "image/")

_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'"


def create_sandbox(shelf: Shelf, security: Security) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    problems.install(app, _sentence)

    @app.middleware("http")
    async def confine(request: Request, call_next: problems.CallNext) -> Response:
        if security.answers_to(request.headers.get("host", "")):
            answer = await call_next(request)
        else:
            answer = problems.problem(421, "this server does not accept that host name")
        answer.headers["Content-Security-Policy"] = f"{_POLICY}; frame-ancestors {_dashboard(request, security)}"
        answer.headers["X-Content-Type-Options"] = "nosniff"
        answer.headers["Referrer-Policy"] = "no-referrer"
        answer.headers["Cross-Origin-Resource-Policy"] = "same-site"
        answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        answer.headers["Cache-Control"] = "no-store"
        return answer

    @app.get("/{crawl}/{version}")
    def archived(crawl: str, version: int, until: int, key: str) -> Response:
        if not security.may_see(crawl, version, until, key):
            raise NotFound("this link has expired or is not valid: open the page from the dashboard again")
        with shelf.reading(crawl) as (folder, store):
            row = views.version(store, version)
            if row is None or row.kinds & ChangeKind.GONE:
                raise NotFound(f"version {version} has no content")
            found = warc.read(folder.warcs, row.stored)
        kind = next((value for name, value in found.headers if name.lower() == "content-type"), row.mime)
        kind = kind if kind.isascii() and kind.isprintable() and kind else "application/octet-stream"
        answer = Response(found.body, media_type=None, headers={"Content-Type": kind})
        if not kind.lower().startswith(_SHOWN):
            answer.headers["Content-Disposition"] = f'attachment; filename="version-{version}"'
        return answer

    return app


def _sentence(_: Request, status: int, detail: str) -> Response:
    """A short page about an error, for example an expired link."""
    return HTMLResponse(f"<!doctype html><meta charset=utf-8><title>{status}</title><p>{escape(detail)}", status)


def _dashboard(request: Request, security: Security) -> str:
    """The only origin whose pages may show these in a frame."""
    name = request.url.hostname or ""
    return (
        f"{request.url.scheme}://{name}:{security.port}"
        if name.replace(".", "").replace("-", "").isalnum()
        else "'none'"
    )
