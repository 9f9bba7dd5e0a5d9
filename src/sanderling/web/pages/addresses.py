"""What the pages of a crawl share: ids of pages in URLs, links to other parts of a list, and form
fields."""

import re
from urllib.parse import urlencode

from fastapi import Request

from sanderling.model import VersionRow
from sanderling.repository import views
from sanderling.repository.store import ViewStore
from sanderling.web.api.inputs import page_named
from sanderling.web.problems import NotFound
from sanderling.web.security import Security, archive_origin

# Rows on one page of a list.
MOST = 50
# Hosts that a filter offers by name.
_OFFERED = 50


def page_of(store: ViewStore, id: str) -> views.Shown:
    """The page with this id in the URL."""
    if not re.fullmatch("[0-9a-f]{16}", id):
        raise NotFound("this crawl has no page with that id")
    return page_named(store, id)


def archived_at(request: Request, crawl: str, version: VersionRow) -> str:
    """A link to an archived version, which works for an hour."""
    security: Security = request.app.state.security
    return security.archive_link(archive_origin(request), crawl, version.number)


def next_part(request: Request, key: str, value: object | None) -> str:
    """The URL of the next part of a list. Empty if there is none."""
    if value is None:
        return ""
    asked = {name: given for name, given in request.query_params.items() if name != key and given}
    return f"{request.url.path}?{urlencode({**asked, key: value})}"


def first_part(request: Request, key: str) -> str:
    """The URL of the first part of a list. Empty if this is the first part."""
    if key not in request.query_params:
        return ""
    asked = {name: given for name, given in request.query_params.items() if name != key and given}
    return f"{request.url.path}?{urlencode(asked)}" if asked else request.url.path


def offered_hosts(store: ViewStore) -> list[str]:
    """Origins for a filter. Empty if there is only one host."""
    found = sorted(host.origin for host in views.hosts(store, _OFFERED).rows)
    return found if len(found) > 1 else []


async def form_fields(request: Request) -> dict[str, str]:
    """The fields of a form as text. A file counts as empty."""
    return {name: value if isinstance(value, str) else "" for name, value in (await request.form()).items()}
