"""A crawl while it runs."""

from fastapi import APIRouter, Response
from msgspec import Struct

from sanderling.crawling import remote
from sanderling.model import ClientState, Live
from sanderling.web.api.answers import gives, said
from sanderling.web.api.given import GivenShelf

router = APIRouter(tags=["live"])


class Clients(Struct, frozen=True):
    """The client processes of a running crawl."""

    items: list[ClientState]


@router.get("/crawls/{crawl}/live", **gives(Live))
def live(crawl: str, shelf: GivenShelf) -> Response:
    """How a running crawl is doing; 409 when it does not run."""
    return said(remote.look(shelf.folder(crawl).path))


@router.get("/crawls/{crawl}/clients", **gives(Clients))
def clients(crawl: str, shelf: GivenShelf) -> Response:
    """Its client processes; none when it does not run."""
    try:
        return said(Clients(remote.look(shelf.folder(crawl).path).clients))
    except remote.NotRunning:
        return said(Clients([]))
