"""The list of all crawls on this server."""

from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.errors import SanderlingError
from sanderling.model import Counts
from sanderling.repository.folder import Folder
from sanderling.settings import load
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.pages.live import AT_WORK, standing, state_in
from sanderling.web.pages.rendering import show
from sanderling.web.shelf import Shelf

router = APIRouter()

# Seconds to wait for a crawl that does not answer, so that the others are still shown.
_PATIENCE = 1.0


class Row(NamedTuple):
    """A crawl in the list."""

    name: str
    state: str
    seeds: str
    counts: Counts
    trouble: str = ""


@router.get("/")
def overview(request: Request, shelf: ShelfDep) -> HTMLResponse:
    rows = [_row(shelf, name, folder) for name, folder in shelf.folders().items()]
    return show(
        request, "crawls.html", crawls=rows, place=shelf.place, may_create=shelf.may_create,
        at_work=any(row.state in AT_WORK for row in rows),
    )  # fmt: skip


def _row(shelf: Shelf, name: str, folder: Folder) -> Row:
    try:
        with state_in(shelf, folder) as store:
            seeds = store.seeds() if store else list(load(folder.settings)[1])
            state, counts, _ = standing(folder, store, _PATIENCE)
    except SanderlingError as error:
        return Row(name, "", "", Counts(), str(error))
    more = f" and {len(seeds) - 1} more" if len(seeds) > 1 else ""
    return Row(name, state, (seeds[0] if seeds else "") + more, counts)
