"""The current work of a crawl: a fragment of a page that renews itself. Screen readers announce
only changes of state."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.errors import RunFailed
from sanderling.model import Counts, Live, State
from sanderling.repository import views
from sanderling.repository.folder import Folder, in_use
from sanderling.repository.store import Store, Totals
from sanderling.server.requests import remote
from sanderling.settings import load
from sanderling.telling.baseline import baseline
from sanderling.telling.edits import Edit
from sanderling.urls import identity
from sanderling.web.api.crawls import not_begun
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.edits import edits_of
from sanderling.web.pages.recent_rates import RecentRates
from sanderling.web.pages.rendering import show
from sanderling.web.shelf import Shelf

router = APIRouter()

# Seconds to wait. A crawl answers in a millisecond, unless its thread is busy with a large report.
_PATIENCE = 1.5
# The states of a crawl while a process works on it.
AT_WORK = ("running", "paused", "stopping", "busy")
_MISHAPS = 8
_HOSTS = 12
_NEWEST = 8


@contextmanager
def state_in(shelf: Shelf, folder: Folder) -> Iterator[Store | None]:
    """The store of a crawl. None before the crawl was started."""
    if not_begun(folder):
        yield None
    else:
        with shelf.opened(folder) as store:
            yield store


def vitals(request: Request, crawl: str, folder: Folder, store: Store | None) -> dict[str, Any]:
    """What the fragment shows, whether the crawl runs or not."""
    state, counts, live = standing(folder, store, _PATIENCE)
    failed = views.urls(store, 1, state=State.FAILED).rows if store and state == "finished" and not counts.pages else []
    recent_rates: RecentRates = request.app.state.recent_rates
    samples = recent_rates.note(crawl, live) if live else []
    limit = load(folder.settings)[0].max_pages if folder.settings.exists() else None
    return {
        "crawl": crawl, "state": state, "at_work": state in AT_WORK, "live": live, "counts": counts,
        "at_limit": limit is not None and counts.pages >= limit, "failed": failed, "samples": samples,
        "hosts": live.active[:_HOSTS] if live else [],
        "changes": _newest(crawl, store) if store else [],
        "mishaps": [(identity(each.url), each) for each in live.mishaps[:_MISHAPS]] if live else [],
    }  # fmt: skip


def _newest(crawl: str, store: Store) -> list[tuple[str, Edit]]:
    """News, not what the first crawl found."""
    return [(crawl, each) for each in edits_of(store, _NEWEST, newer_than=baseline(store).number).items]


def standing(folder: Folder, store: Totals | None, patience: float) -> tuple[str, Counts, Live | None]:
    """The state of a crawl in one word, its totals, and its live state if it runs."""
    live: Live | None = None
    with contextlib.suppress(remote.NotRunning, RunFailed):
        live = remote.look(folder.path, patience)
    counts = live.counts if live else store.counts() if store else Counts()
    state = _state_of(folder, counts, live)
    leased = live.leased if live else counts.leased if state == "busy" else 0  # leases end with the process
    return state, counts.with_leases(leased), live


def _state_of(folder: Folder, counts: Counts, live: Live | None) -> str:
    if live is not None:
        return "stopping" if live.stopping else "paused" if live.paused else "running"
    if in_use(folder):
        return "busy"  # it does not answer: it is starting, ending or busy
    return "unfinished" if counts.queued else "finished" if counts.known else "not started"


@router.get("/crawls/{crawl}/live")
def fragment(request: Request, crawl: str, shelf: ShelfDep, was: str = "") -> HTMLResponse:
    folder = shelf.folder(crawl)
    with state_in(shelf, folder) as store:
        shown = vitals(request, crawl, folder, store)
    return show(request, "_live.html", **shown, was=was, alone=True)
