"""What lies behind the events and fragments of a rendered page: its states, and the routes of its
application."""

import re
import time
from collections import Counter, OrderedDict
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
# This many fragments are compared. The first ones may lead to the same.
TRIED_ROUTES = 3
# Two loads of one fragment differ by a clock, say. Others have to differ this much more.
MORE_THAN_NOISE = 1.5
# After this many documents of an origin whose links such as `#more` are no routes, none is tried.
MOST_IN_VAIN = 3

_FRAGMENT = re.compile(rb"""\bhref=["']?[^"'\s>]*#[^"'\s>]""", re.IGNORECASE)


def links_to_fragments(html: bytes) -> bool:
    return _FRAGMENT.search(html) is not None


class Behind(NamedTuple):
    """A page with all that was found behind it."""

    page: Rendered
    states: list[tuple[str, Rendered]]  # by URL
    events: int = 0  # that were triggered


class Routes:
    """Which documents show other content for other fragments. Found out once a document, and for
    each shape of fragments."""

    def __init__(self) -> None:
        self._routed: OrderedDict[tuple[str, bool], bool] = OrderedDict()
        self._in_vain: Counter[str] = Counter()  # documents of an origin with odd links that are no routes

    async def of(self, page: LoadedPage) -> list[tuple[str, str]]:
        """The routes that a page links to, as URLs with the texts of the links."""
        document = page.current.url
        return await self._checked(page, document, await page.routes())

    async def among(self, page: LoadedPage, found: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """URLs that clicks have led to, without places on the page. One document may show all."""
        document = page.current.url
        here = [(fragment_of(url), text) for url, text in found if document_of(url) == document]
        return [each for each in found if document_of(each[0]) != document] + await self._checked(page, document, here)

    async def _checked(
        self, page: LoadedPage, document: str, every: list[tuple[str, str]]
    ) -> list[tuple[str, str]]:  # fmt: skip
        """The fragments that are routes, as URLs."""
        routes: list[tuple[str, str]] = []
        for usual in (True, False):
            found = [each for each in every if is_route(each[0]) is usual]
            if found and await self._are_routes(page, document, usual, found):
                routes += found
        return [(f"{document}#{fragment}", text) for fragment, text in routes]

    async def _are_routes(self, page: LoadedPage, document: str, usual: bool, found: list[tuple[str, str]]) -> bool:
        key = document, usual
        if key not in self._routed:
            here = fragment_of(page.current.address)
            if here and is_route(here) is usual:  # it was found on another page of this document
                self._routed[key] = True
            elif not usual and self._in_vain[page.current.origin] >= MOST_IN_VAIN:
                return False
            else:
                self._routed[key] = await _is_routed(page, [fragment for fragment, _ in found])
                self._in_vain[page.current.origin] += not usual and not self._routed[key]
            if len(self._routed) > MOST_DOCUMENTS:
                self._routed.popitem(last=False)
        return self._routed[key]


async def _is_routed(page: LoadedPage, fragments: list[str]) -> bool:
    """Whether direct loads of fragments differ more from each other than two loads of one."""
    document = page.current.url
    first = await _loaded(page, f"{document}#{fragments[0]}")
    noise = len(first ^ await _loaded(page, f"{document}#{fragments[0]}"))
    others = [document, *(f"{document}#{fragment}" for fragment in fragments[1:TRIED_ROUTES])]
    for address in reversed(others):
        if len(first ^ await _loaded(page, address)) > MORE_THAN_NOISE * noise:
            return True
    return False


async def _loaded(page: LoadedPage, address: str) -> frozenset[int]:
    """What a page says after it was loaded again."""
    await page.load(address)
    return (await page.look()).fresh


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
