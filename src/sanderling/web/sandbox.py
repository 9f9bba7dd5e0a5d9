"""Shows archived pages on an origin of their own, so that they cannot reach the dashboard.

Anyone who has a signed link may see that version for an hour, with the archived files of its time,
and may follow its links to the archived pages of that time. There are no cookies and no other URLs.
The content security policy turns off scripts and forms, and lets a page ask for archived files
only, so nothing is requested from the network.
"""

import secrets
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from sanderling.documents.charsets import decode
from sanderling.documents.reading import media_type
from sanderling.documents.rewriting import Targets, rewritten_stylesheet
from sanderling.errors import Damaged
from sanderling.header_values import whole_number
from sanderling.model import ChangeKind, VersionRow
from sanderling.repository import replay, views, warc
from sanderling.repository.archive import html_in, type_of
from sanderling.repository.folder import Folder
from sanderling.repository.store import ViewStore
from sanderling.web import problems
from sanderling.web.api.inputs import named
from sanderling.web.archived_page import HTML, Bar, replayed
from sanderling.web.pages.rendering import when
from sanderling.web.previews import Previews, pickable
from sanderling.web.problems import NotFound
from sanderling.web.security import Security, host_name
from sanderling.web.shelf import Shelf

# Media types that a browser shows. All others are downloaded.
_SHOWN = ("text/", "application/xhtml+xml", "application/pdf", "application/json", "application/xml", "image/")

_EXPIRED = "this link has expired or is not valid: open the page from the dashboard again"

# What an archived page may load from this server: {0} is its origin.
_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline' {0}; img-src data: {0}; font-src data: {0}; "
    "media-src data: {0}; frame-src {0}; object-src {0}; form-action 'none'; base-uri 'none'"
)
# In a copy in which an element is picked, only our script runs, and nothing is loaded.
_PICKING = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "form-action 'none'; base-uri 'none'; script-src 'nonce-{0}'"
)
_PICKER = (Path(__file__).parent / "static" / "picker_frame.js").read_text("utf-8")


def create_sandbox(shelf: Shelf, security: Security, previews: Previews | None = None) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    problems.install(app, _sentence)

    @app.middleware("http")
    async def confine(request: Request, call_next: problems.CallNext) -> Response:
        if security.answers_to(request.headers.get("host", "")):
            answer = await call_next(request)
        else:
            answer = problems.problem(421, "this server does not accept that host name")
        policy = answer.headers.get("Content-Security-Policy") or _POLICY.format(_own_origin(request, security))
        # A sandboxed page has an origin that no list can name, so its frames have no list.
        if not request.url.path.endswith("/file"):
            policy += f"; frame-ancestors {_dashboard(request, security)}"
        answer.headers["Content-Security-Policy"] = policy
        answer.headers["X-Content-Type-Options"] = "nosniff"
        answer.headers["Referrer-Policy"] = "no-referrer"
        answer.headers.setdefault("Cross-Origin-Resource-Policy", "same-site")
        answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        answer.headers["Cache-Control"] = "no-store"
        return answer

    @app.get("/{crawl}/{version:int}")
    def archived(request: Request, crawl: str, version: int, until: int, key: str, bar: bool = True) -> Response:
        if not security.may_see(crawl, version, until, key):
            raise NotFound(_EXPIRED)
        with shelf.reading(crawl) as (folder, store):
            row = views.version(store, version)
            if row is None or row.kinds & ChangeKind.GONE:
                raise NotFound(f"version {version} has no content")
            above = _bar(request, security, store, crawl, row, until) if bar else None
            answer = _answer(security, folder, store, crawl, (row, row), until, above)
        answer.headers["Memento-Datetime"] = format_datetime(datetime.fromtimestamp(row.at, UTC), usegmt=True)
        answer.headers["Link"] = f'<{row.url}>; rel="original"' if row.url.isascii() else ""
        return answer

    @app.get("/{crawl}/{version:int}/file")
    def file(request: Request, crawl: str, version: int, url: str, until: int, key: str) -> Response:
        """A file that an archived page shows, as it was at the time of the page."""
        if not security.may_show(crawl, version, url, until, key):
            raise NotFound(_EXPIRED)
        with shelf.reading(crawl) as (folder, store):
            row = views.version(store, version)
            found = replay.file_of(store, url, row) if row is not None else None
            if row is None or found is None:
                raise NotFound(f"there is no copy of {url} in this crawl")
            answer = _answer(security, folder, store, crawl, (row, found), until, None)
        # Style sheets ask for fonts by rules that their page, which has no origin, meets like this.
        answer.headers["Access-Control-Allow-Origin"] = "*"
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return _part(request, answer)

    @app.get("/{crawl}/{version:int}/to")
    def follow(crawl: str, version: int, url: str, until: int, key: str) -> Response:
        """Leads to the copy of another page: the newest one at the time of this version, else the
        first one after it."""
        if not security.may_follow(crawl, version, url, until, key):
            raise NotFound(_EXPIRED)
        with shelf.reading(crawl) as (_, store):
            row = views.version(store, version)
            found = replay.copy_of(store, url, row.at) if row is not None else None
        if found is None:
            raise NotFound(f"there is no copy of {url} in this crawl")
        if found.kinds & ChangeKind.GONE:
            raise NotFound(f"{url} was gone on {when(found.at)}: {found.summary}")
        return RedirectResponse(security.archive_link("", crawl, found.number, until), 302)

    @app.get("/preview/{token}")
    def preview(token: str) -> Response:
        """A page in which an element is picked by a click. Only our script runs, on an origin that
        is nobody's."""
        found = previews.named(token) if previews else None
        if found is None:
            raise NotFound(_EXPIRED)
        nonce = secrets.token_urlsafe(18)
        headers = {"Content-Security-Policy": _PICKING.format(nonce)}
        return HTMLResponse(pickable(found, _PICKER, nonce), headers=headers)

    @app.get("/{path:path}")
    def nothing(path: str) -> Response:
        raise NotFound("there is no archived page at this address: open the page from the dashboard")

    return app


def _answer(
    security: Security, folder: Folder, store: ViewStore, crawl: str, versions: tuple[VersionRow, VersionRow],
    until: int, bar: Bar | None,
) -> Response:  # fmt: skip
    """The copy of a page or of one of its files. `versions` are that of the page, whose time
    counts, and that of what is shown."""
    page, row = versions
    to = Targets(
        lambda url: security.follow_link(crawl, page.number, url, until),
        lambda url: security.file_link(crawl, page.number, url, until),
    )
    found = warc.read(folder.warcs, row.stored)
    kind = type_of(found) or row.mime
    kind = kind if kind.isascii() and kind.isprintable() and kind else "application/octet-stream"
    mime, charset = media_type(kind)
    if mime in HTML:
        document = html_in(found)
        if document is None:  # what our parser cannot read is not given to another one
            return Response(found.body, headers={"Content-Type": "text/plain"})

        def read(url: str) -> bytes | None:
            there = replay.file_of(store, url, page)
            try:
                return warc.read(folder.warcs, there.stored).body if there is not None else None
            except (Damaged, OSError):
                return None

        shown = replayed(document, row.url, to, read, bar, rendered=found.converted)
        return Response(shown, media_type="text/html; charset=utf-8")
    if mime == "text/css" and bar is None:
        sheet = rewritten_stylesheet(decode(found.body, charset), row.url, to)
        return Response(sheet.encode("utf-8", "replace"), media_type="text/css; charset=utf-8")
    answer = Response(found.body, media_type=None, headers={"Content-Type": kind})
    if not mime.startswith(_SHOWN):
        answer.headers["Content-Disposition"] = f'attachment; filename="version-{row.number}"'
    return answer


def _bar(
    request: Request, security: Security, store: ViewStore, crawl: str, row: VersionRow, until: int
) -> Bar:  # fmt: skip
    beside = replay.neighbours(store, row)
    links = [
        (f"{words}: {when(other.at)}", security.archive_link("", crawl, other.number, until))
        for words, other in (("Earlier", beside.earlier), ("Later", beside.later))
        if other is not None
    ]
    dashboard = _dashboard(request, security)
    if dashboard != "'none'" and beside.earlier is not None:
        query = urlencode({"a": beside.place - 1, "b": beside.place})
        links.append(("What changed", f"{dashboard}/crawls/{crawl}/pages/{named(beside.page)}/diff?{query}"))
    links.append(("Live page", row.url))
    return Bar(row.url, when(row.at), links)


def _part(request: Request, answer: Response) -> Response:
    """A range of a file, if that is what a player asks for."""
    asked = request.headers.get("range", "")
    first, dash, last = asked.removeprefix("bytes=").partition("-")
    size = len(answer.body)
    start, end = whole_number(first), whole_number(last) if last else size - 1
    if not asked.startswith("bytes=") or not dash or start is None or end is None or not start <= end or start >= size:
        answer.headers["Accept-Ranges"] = "bytes"
        return answer
    end = min(end, size - 1)
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    headers["Content-Range"] = f"bytes {start}-{end}/{size}"
    return Response(bytes(answer.body)[start : end + 1], 206, headers)


def _sentence(_: Request, status: int, detail: str) -> Response:
    """A short page about an error, for example an expired link."""
    return HTMLResponse(f"<!doctype html><meta charset=utf-8><title>{status}</title><p>{escape(detail)}", status)


def _dashboard(request: Request, security: Security) -> str:
    """The only origin whose pages may show these in a frame."""
    return _origin(request, security.port)


def _own_origin(request: Request, security: Security) -> str:
    """A sandboxed page is of no origin, so `'self'` says nothing in its policy."""
    return _origin(request, security.archive_port)


def _origin(request: Request, port: int) -> str:
    name = host_name(request.headers.get("host", ""))
    plain = name.strip("[]").replace(".", "").replace("-", "").replace(":", "").isalnum()
    return f"{request.url.scheme}://{name}:{port}" if plain else "'none'"
