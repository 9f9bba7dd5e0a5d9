"""Shows archived pages on an origin of their own, so that they cannot reach the dashboard.

Anyone who has a signed link may see that version for an hour, and may follow its links to the
archived pages of that time. There are no cookies and no other URLs. The content security policy
turns off scripts, forms, frames and all requests, so a page is shown without its images and style
sheets.
"""

from html import escape

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from sanderling.model import ChangeKind, VersionRow
from sanderling.repository import views, warc
from sanderling.repository.archive import document_in
from sanderling.repository.store import ViewStore
from sanderling.urls import SEEDABLE, identity, with_fragment
from sanderling.web import problems
from sanderling.web.archived_page import HTML, with_archived_links
from sanderling.web.pages.rendering import when
from sanderling.web.problems import NotFound
from sanderling.web.security import Security
from sanderling.web.shelf import Shelf

# Media types that a browser shows. All others are downloaded.
_SHOWN = ("text/", "application/xhtml+xml", "application/pdf", "application/json", "application/xml", "image/")

_EXPIRED = "this link has expired or is not valid: open the page from the dashboard again"

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

    @app.get("/{crawl}/{version:int}")
    def archived(crawl: str, version: int, until: int, key: str) -> Response:
        if not security.may_see(crawl, version, until, key):
            raise NotFound(_EXPIRED)
        with shelf.reading(crawl) as (folder, store):
            row = views.version(store, version)
            if row is None or row.kinds & ChangeKind.GONE:
                raise NotFound(f"version {version} has no content")
            found = warc.read(folder.warcs, row.stored)
        kind = next((value for name, value in found.headers if name.lower() == "content-type"), row.mime)
        kind = kind if kind.isascii() and kind.isprintable() and kind else "application/octet-stream"
        document = document_in(found) if kind.lower().startswith(HTML) else None
        if document is not None:
            shown = with_archived_links(
                document, row.url, when(row.at), lambda url: security.follow_link(crawl, version, url, until)
            )
            return Response(shown, media_type="text/html; charset=utf-8")
        answer = Response(found.body, media_type=None, headers={"Content-Type": kind})
        if not kind.lower().startswith(_SHOWN):
            answer.headers["Content-Disposition"] = f'attachment; filename="version-{version}"'
        return answer

    @app.get("/{crawl}/{version:int}/to")
    def follow(crawl: str, version: int, url: str, until: int, key: str) -> Response:
        """Leads to the copy of another page: the newest one at the time of this version, else the
        first one after it."""
        if not security.may_follow(crawl, version, url, until, key):
            raise NotFound(_EXPIRED)
        with shelf.reading(crawl) as (_, store):
            row = views.version(store, version)
            found = _copy_of(store, url, row.at) if row is not None else None
        if found is None:
            raise NotFound(f"there is no copy of {url} in this crawl")
        if found.kinds & ChangeKind.GONE:
            raise NotFound(f"{url} was gone on {when(found.at)}: {found.summary}")
        return RedirectResponse(security.archive_link("", crawl, found.number, until), 302)

    @app.get("/{path:path}")
    def nothing(path: str) -> Response:
        raise NotFound("there is no archived page at this address: open the page from the dashboard")

    return app


def _copy_of(store: ViewStore, url: str, at: float) -> VersionRow | None:
    """The version of a page at a time. If the URL is another name of a page, or redirects, that
    page counts."""
    page = with_fragment(url, SEEDABLE)
    if page is None:
        return None
    found = views.version_at(store, identity(page), at)
    known = views.url(store, identity(page)) if found is None else None
    if known is not None and (other := known.same_as or known.redirect):
        found = views.version_at(store, identity(other), at)
    return found


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
