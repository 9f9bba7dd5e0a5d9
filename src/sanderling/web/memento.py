"""Memento (RFC 7089): clients that know nothing of this program find the copy of a page at a time.

The TimeGate leads to the copy, by the header `Accept-Datetime`; the TimeMap lists all of them.
"""

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from sanderling.header_values import moment
from sanderling.model import VersionRow
from sanderling.repository import replay
from sanderling.urls import canonical
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.pages.addresses import archived_at
from sanderling.web.problems import NotFound, problem

router = APIRouter(include_in_schema=False)


@router.get("/memento/{crawl}/timegate/{url:path}")
def timegate(request: Request, crawl: str, url: str, shelf: ShelfDep) -> Response:
    """Leads to the copy that is nearest to the time that the client names, or to the newest."""
    original = _original(request, "timegate")
    found = _captures(shelf, crawl, original)
    said = request.headers.get("accept-datetime", "")
    at = moment(said) if said else found[-1].at
    if at is None:
        return problem(400, f"Accept-Datetime: {said[:100]} is not a date such as {_date(found[-1].at)}")
    nearest = min(found, key=lambda each: abs(each.at - at))
    answer = RedirectResponse(archived_at(request, crawl, nearest), 302)
    answer.headers["Vary"] = "accept-datetime"
    answer.headers["Link"] = ", ".join(
        [
            f'<{original}>; rel="original"',
            f'<{_at(request, crawl, "timemap/link", original)}>; rel="timemap"; type="application/link-format"',
            _listed(request, crawl, nearest, "memento"),
        ]
    )
    return answer


@router.get("/memento/{crawl}/timemap/{form}/{url:path}")
def timemap(request: Request, crawl: str, form: Literal["link", "json"], url: str, shelf: ShelfDep) -> Response:
    """All copies of a page, the oldest first."""
    original = _original(request, f"timemap/{form}")
    found = _captures(shelf, crawl, original)
    gate, own = (_at(request, crawl, path, original) for path in ("timegate", f"timemap/{form}"))
    if form == "json":
        listed = [{"datetime": _iso(each.at), "uri": archived_at(request, crawl, each)} for each in found]
        ends = {"first": listed[0], "last": listed[-1]}
        return JSONResponse(
            {"original_uri": original, "timegate_uri": gate, "mementos": {**ends, "list": listed}, "timemap_uri": own}
        )
    names = ["memento"] * len(found)
    names[0] = f"first {names[0]}"
    names[-1] = names[-1].replace("first memento", "first last memento") if len(found) == 1 else "last memento"
    lines = [
        f'<{original}>; rel="original"',
        f'<{gate}>; rel="timegate"',
        f'<{own}>; rel="self"; type="application/link-format"; from="{_date(found[0].at)}"; until="{_date(found[-1].at)}"',
        *(_listed(request, crawl, each, name) for each, name in zip(found, names, strict=True)),
    ]
    return Response(",\n".join(lines) + "\n", media_type="application/link-format")


def _original(request: Request, kind: str) -> str:
    """The URL behind the path as it was sent, with its query."""
    path: str = request.scope.get("raw_path", b"").decode("latin-1") or request.url.path
    text = path.partition(f"/{kind}/")[2]
    query = request.scope.get("query_string", b"").decode("latin-1")
    url = canonical(text + ("?" + query if query else ""))
    if url is None:
        raise NotFound(f"{text[:200]!r} is not the URL of a page")
    return url


def _captures(shelf: ShelfDep, crawl: str, url: str) -> list[VersionRow]:
    with shelf.reading(crawl) as (_, store):
        found = replay.captures(store, url)
    if not found:
        raise NotFound(f"there is no copy of {url} in this crawl")
    return found


def _at(request: Request, crawl: str, kind: str, url: str) -> str:
    return f"{request.url.scheme}://{request.headers.get('host', '')}/memento/{crawl}/{kind}/{url}"


def _listed(request: Request, crawl: str, version: VersionRow, name: str) -> str:
    return f'<{archived_at(request, crawl, version)}>; rel="{name}"; datetime="{_date(version.at)}"'


def _date(at: float) -> str:
    return format_datetime(datetime.fromtimestamp(int(at), UTC), usegmt=True)


def _iso(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
