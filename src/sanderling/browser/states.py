"""What lies behind the events and fragments of a rendered page: its states, and the routes of its
application."""

import time
from collections import OrderedDict
from contextlib import suppress
from typing import NamedTuple

from sanderling.browser.devtools import CallRefused
from sanderling.browser.event_path import Step, path_of, url_of
from sanderling.browser.exploring import Explorer, ExploringBudget, StateFound, follow
from sanderling.browser.loaded_page import LoadedPage
from sanderling.browser.page_load import PageLoad
from sanderling.browser.tab import TimedOut
from sanderling.client.fetcher import Rendered
from sanderling.urls import document_of, fragment_of, is_route, with_fragment

MOST_DOCUMENTS = 10_000
# One of so many links has to change the page. The first one may lead to what is shown already.
TRIED_ROUTES = 3


class Behind(NamedTuple):
    """A page with all that was found behind it."""

    page: Rendered
    states: list[tuple[str, Rendered]]  # by URL
    events: int = 0  # that were triggered


class Routes:
    """Which documents show other content for other fragments. Found out once a document."""

    def __init__(self) -> None:
        self._routed: OrderedDict[str, bool] = OrderedDict()

    async def of(self, page: LoadedPage) -> list[tuple[str, str]]:
        """The routes that a page links to, as URLs with the texts of the links."""
        document = page.current.url
        found = await page.routes()
        if not found:
            return []
        if document not in self._routed:
            self._routed[document] = is_route(fragment_of(page.current.address)) or await _is_routed(page, found)
            if len(self._routed) > MOST_DOCUMENTS:
                self._routed.popitem(last=False)
        return [(f"{document}#{fragment}", text) for fragment, text in found] if self._routed[document] else []


async def _is_routed(page: LoadedPage, found: list[tuple[str, str]]) -> bool:
    """Whether a fragment changes what the page says, and says the same when it is loaded
    directly."""
    before = await page.look()
    for fragment, _ in found[:TRIED_ROUTES]:
        await page.go(fragment)
        after = await page.look()
        if after.hash != before.hash:
            await page.load(f"{page.current.url}#{fragment}")
            return (await page.look()).hash == after.hash
    return False


async def look_behind(page: LoadedPage, rendered: Rendered, routes: Routes, combine: bool = True) -> Behind:
    """Goes on from a page that was rendered: to the state that its URL names, or to what can be
    found from here.

    With `combine` off, events that do the same are all triggered.
    """
    load, settings = page.current, page.settings
    path = path_of(load.named)
    if path is None:
        return Behind(Rendered(b"", gone=True), [])
    if path:
        await page.look()
        if not await follow(page, path):
            return Behind(Rendered(b"", gone=True), [])
        html, notes = await page.read(), _notes(rendered, load.named)
        picture = await page.picture() if settings.screenshots else b""
        return Behind(rendered._replace(html=html, notes=notes, made_from="", screenshot=picture), [])
    states: list[tuple[str, Rendered]] = []
    found: list[tuple[str, str]] = []
    events = 0
    if settings.states:
        until = time.monotonic() + settings.state_time
        route = fragment_of(load.address)
        start = (Step("route", route),) if route else ()
        budget = ExploringBudget(settings.states, settings.state_depth, until)
        explorer = Explorer(page, rendered.html, budget, combine, start, settings.screenshots)
        with suppress(TimedOut, CallRefused):  # what was found before is good
            await explorer.explore()
        # What events asked for is not among its sources, so the next visit has to try them again.
        picture = explorer.screenshot or rendered.screenshot
        rendered = rendered._replace(html=explorer.html, made_from="", screenshot=picture)
        events = explorer.triggered
        for state in explorer.states:
            url = url_of(document_of(load.address), state.path)
            states.append((url, _as_rendered(state, url, rendered)))
            found.append((url, state.label))
            if (own := _own_address(state, load)) is not None:
                found.append((own, state.label))
    with suppress(TimedOut, CallRefused):
        found += await routes.of(page)
    return Behind(rendered._replace(found=tuple(found)), states, events)


def _as_rendered(state: StateFound, url: str, page: Rendered) -> Rendered:
    moved = with_fragment(state.url)
    canonical = moved if moved is not None and moved != document_of(url) else ""
    return Rendered(state.html, _notes(page, url), canonical=canonical, screenshot=state.screenshot)


def _own_address(state: StateFound, load: PageLoad) -> str | None:
    """The address that a page gave itself in a state, if it is another one: it may be loaded
    directly."""
    url = with_fragment(state.url)
    return url if url is not None and url != load.url and url != load.address else None


def _notes(page: Rendered, url: str) -> tuple[tuple[str, str], ...]:
    return (*page.notes, ("events", fragment_of(url).removeprefix("~")))
