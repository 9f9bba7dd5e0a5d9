"""Inputs that many endpoints share: the shelf, the parts of long lists, and the names of pages and
hosts."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from sanderling.errors import UsageError
from sanderling.repository import views
from sanderling.repository.store import HostLookup, ViewStore
from sanderling.urls import SEEDABLE, identity, origin, with_fragment
from sanderling.web.problems import NotFound
from sanderling.web.running import Runner
from sanderling.web.shelf import Shelf

MOST = 500


def _shelf(request: Request) -> Shelf:
    shelf: Shelf = request.app.state.shelf
    return shelf


def _runner(request: Request) -> Runner:
    runner: Runner = request.app.state.runner
    return runner


ShelfDep = Annotated[Shelf, Depends(_shelf)]
RunnerDep = Annotated[Runner, Depends(_runner)]
Limit = Annotated[int, Query(ge=1, le=MOST, description="the greatest number of items")]
After = Annotated[int | None, Query(ge=0, le=1 << 62, description="`next` of the part before this one")]
Number = Annotated[int, Path(ge=0, le=1 << 62)]
PageId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="the page's `id`")]


def named(id: int) -> str:
    """The id of a page in URLs."""
    return f"{id & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def identity_named(name: str) -> int:
    return int.from_bytes(bytes.fromhex(name), "big", signed=True)


def page_named(store: ViewStore, name: str) -> views.Shown:
    found = views.url(store, identity_named(name))
    if found is None:
        raise NotFound("this crawl has no page with that id")
    return found


def host_named(store: HostLookup, text: str) -> int | None:
    """The host that a filter names: by its origin, any URL on it or its name alone."""
    text = text.strip()
    if not text:
        return None
    urls = [
        with_fragment(each, SEEDABLE) for each in ([text] if "://" in text else [f"https://{text}", f"http://{text}"])
    ]
    found = [identity(origin(url)) for url in urls if url is not None]
    if not found:
        raise UsageError(f"{text!r} is not the address of a host, such as https://example.org")
    return next((id for id in found if store.host(id) is not None), found[0])
