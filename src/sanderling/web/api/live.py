"""The state of a running crawl."""

from fastapi import APIRouter, Response
from msgspec import Struct

from sanderling.model import ClientState, Live
from sanderling.server.requests import remote
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import ShelfDep

router = APIRouter(tags=["live"])


class ClientList(Struct, frozen=True):
    """The client processes of a running crawl."""

    items: list[ClientState]


@router.get("/crawls/{crawl}/live", **gives(Live))
def live(crawl: str, shelf: ShelfDep) -> Response:
    """The state of a running crawl. The answer is 409 if it is not running."""
    return json_answer(remote.look(shelf.folder(crawl).path))


@router.get("/crawls/{crawl}/clients", **gives(ClientList))
def clients(crawl: str, shelf: ShelfDep) -> Response:
    """The client processes of a running crawl. Empty if it is not running."""
    try:
        return json_answer(ClientList(remote.look(shelf.folder(crawl).path).clients))
    except remote.NotRunning:
        return json_answer(ClientList([]))
