"""The first page: what changed in all crawls, and the list of crawls."""

import time
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.clock import DAY
from sanderling.errors import SanderlingError
from sanderling.model import Counts
from sanderling.repository import views
from sanderling.repository.folder import Folder, last_written
from sanderling.settings import load
from sanderling.telling.baseline import baseline
from sanderling.telling.edits import Edit
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.edits import edits_of
from sanderling.web.keeper import Keeper
from sanderling.web.pages import plots
from sanderling.web.pages.live import AT_WORK, standing, state_in
from sanderling.web.pages.over_time import changes_over_time
from sanderling.web.pages.rendering import show
from sanderling.web.shelf import Shelf

router = APIRouter()

# Seconds to wait for a crawl that does not answer, so that the others are still shown.
_PATIENCE = 1.0
# Edits that are shown, and of one crawl at most, so that a busy one does not hide the others.
_MOST, _OF_ONE = 20, 10
_WEEK = 7 * DAY


class Row(NamedTuple):
    """A crawl in the list."""

    name: str
    state: str
    seeds: str
    counts: Counts
    last_run: float = 0.0
    lately: int = 0  # changes of the last week
    watches: int = 0
    next_run: float = 0.0  # 0 if none is planned
    trouble: str = ""


class News(NamedTuple):
    """What a crawl found."""

    row: Row
    edits: list[Edit]
    times: list[tuple[float, int]]


@router.get("/")
def overview(request: Request, shelf: ShelfDep) -> HTMLResponse:
    keeper: Keeper | None = request.app.state.keeper
    turns = sorted((each.next_at, each.folder.path) for each in keeper.kept()) if keeper else []
    due = {path: at for at, path in reversed(turns)}
    found = [_news(shelf, name, folder, due.get(folder.path, 0.0)) for name, folder in shelf.folders().items()]
    edits = sorted(((each.row.name, edit) for each in found for edit in each.edits), key=lambda pair: -pair[1].at)
    rows = sorted((each.row for each in found), key=lambda row: (row.state not in AT_WORK, -row.last_run, row.name))
    return show(
        request, "crawls.html", here="News", crawls=rows, place=shelf.place, may_create=shelf.may_create, edits=edits[:_MOST],
        more=len(edits) > _MOST, drawn=_chart([time for each in found for time in each.times]),
        at_work=any(row.state in AT_WORK for row in rows),
    )  # fmt: skip


def _chart(times: list[tuple[float, int]]) -> plots.Drawing | None:
    return changes_over_time(times, time.time())


def _news(shelf: Shelf, name: str, folder: Folder, next_run: float) -> News:
    edits: list[Edit] = []
    times: list[tuple[float, int]] = []
    try:
        settings, planted = load(folder.settings) if folder.settings.exists() else (None, ())
        with state_in(shelf, folder) as store:
            seeds = store.seeds() if store else list(planted)
            state, counts, _ = standing(folder, store, _PATIENCE)
            if store is not None:
                began = baseline(store).number
                edits = edits_of(store, _OF_ONE, newer_than=began).items
                times = views.news_times(store, time.time() - 30 * DAY, began)
    except SanderlingError as error:
        return News(Row(name, "", "", Counts(), trouble=str(error)), [], [])
    more = f" and {len(seeds) - 1} more" if len(seeds) > 1 else ""
    lately = sum(at > time.time() - _WEEK for at, _ in times)
    watches = len(settings.watch) if settings else 0
    row = Row(name, state, (seeds[0] if seeds else "") + more, counts, last_written(folder), lately, watches, next_run)
    return News(row, edits, times)
