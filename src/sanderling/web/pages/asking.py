"""What the pages of a crawl share: how a page is named in an address, and links to the next part of a list."""

import re
from urllib.parse import urlencode

from fastapi import Request

from sanderling.model import VersionRow
from sanderling.repository import views
from sanderling.repository.store import ViewStore
from sanderling.web.api.given import page_named
from sanderling.web.problems import NotFound
from sanderling.web.security import Security, archive_origin

# Rows on one page of a list.
MOST = 50
# Hosts that a filter offers by name.
_OFFERED = 50


def page_of(store: ViewStore, id: str) -> views.Shown:
    """The page that an address names."""
    if not re.fullmatch("[0-9a-f]{16}", id):
        raise NotFound("this crawl knows no page by that name")
    return page_named(store, id)


def archived_at(request: Request, crawl: str, version: VersionRow) -> str:
    """Where an archived version can be looked at for a while."""
    security: Security = request.app.state.security
    return security.archive_link(archive_origin(request), crawl, version.number)


def further(request: Request, key: str, value: object | None) -> str:
    """The address of the next part of a list; empty when there is none."""
    if value is None:
        return ""
    asked = {name: given for name, given in request.query_params.items() if name != key and given}
    return f"{request.url.path}?{urlencode({**asked, key: value})}"


def start(request: Request, key: str) -> str:
    """The address of a list's first part, when this is another one."""
    if key not in request.query_params:
        return ""
    asked = {name: given for name, given in request.query_params.items() if name != key and given}
    return f"{request.url.path}?{urlencode(asked)}" if asked else request.url.path


def offered_hosts(store: ViewStore) -> list[str]:
    """Origins to choose from; none when there is no choice."""
    found = sorted(host.origin for host in views.hosts(store, _OFFERED).rows)
    return found if len(found) > 1 else []


async def sent(request: Request) -> dict[str, str]:
    """The fields of a form as text; a file in place of one counts as empty."""
    return {name: value if isinstance(value, str) else "" for name, value in (await request.form()).items()}
