"""What the pages of a crawl share: how a page is named in an address, and links to the next part of a list."""

from urllib.parse import urlencode

from fastapi import Request

from sanderling.errors import UsageError
from sanderling.model import VersionRow
from sanderling.repository import views
from sanderling.repository.store import Store
from sanderling.urls import SEEDABLE, canonical, identity, origin
from sanderling.web.problems import NotFound
from sanderling.web.security import Security, archive_origin

# Rows on one page of a list.
MOST = 50
# Hosts that a filter offers by name.
_OFFERED = 50


def page_of(store: Store, id: str) -> views.Shown:
    """The page that an address names."""
    found = views.url(store, identity_of(id)) if _is_identity(id) else None
    if found is None:
        raise NotFound("this crawl knows no page by that name")
    return found


def identity_of(id: str) -> int:
    return int.from_bytes(bytes.fromhex(id), "big", signed=True)


def _is_identity(id: str) -> bool:
    return len(id) == 16 and all(c in "0123456789abcdef" for c in id)


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


def offered_hosts(store: Store) -> list[str]:
    """Origins to choose from; none when there is no choice."""
    found = sorted(host.origin for host in views.hosts(store, _OFFERED).rows)
    return found if len(found) > 1 else []


def host_of(text: str) -> int | None:
    """The host that a filter names, by its origin or any address on it."""
    if not text.strip():
        return None
    url = canonical(text.strip() if "://" in text else f"https://{text.strip()}", SEEDABLE)
    if url is None:
        raise UsageError(f"{text!r} is not the address of a host, such as https://example.org")
    return identity(origin(url))
