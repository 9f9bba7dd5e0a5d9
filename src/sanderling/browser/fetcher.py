"""A fetcher that renders: a page is fetched as always, and then a browser makes of it what its
readers see."""

import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.browser.candidates import may_need_a_browser
from sanderling.browser.deciding import Decisions, Next, extent
from sanderling.browser.missing import MISSING, MissingPages, is_html
from sanderling.browser.page_load import PageLoad
from sanderling.browser.sources import decode, digest_of
from sanderling.browser.state_cache import StateCache
from sanderling.client.archive import Archive
from sanderling.client.fetcher import Fetcher, MayConnect, Rendered, Request, Response
from sanderling.client.loop import Loop
from sanderling.documents.reading import media_type
from sanderling.model.reasons import reason
from sanderling.settings import Settings
from sanderling.urls.patterns import pattern

if TYPE_CHECKING:
    from sanderling.browser.door import Door
    from sanderling.browser.pool import KeepState, RenderPool

_CONDITIONS = ("if-none-match", "if-modified-since")


class RenderingFetcher:
    """A `Fetcher` around another one. A response is finished when its page is rendered, if it is to
    be."""

    def __init__(
        self, program: Path, settings: Settings, folder: Path, loop: Loop, fetcher: Fetcher, archive: Archive
    ) -> None:
        """Files that the settings name are looked for in `folder`."""
        self._always = settings.render == "always"
        self._asked = {watch.url for watch in settings.watch if watch.needs_browser}
        self._fetcher = fetcher
        self._include = [pattern(text) for text in settings.render_include]
        self._decisions = Decisions()
        self._missing = MissingPages()
        self._engine: tuple[Door, RenderPool] | None = None  # from the first page on that is rendered
        self._states = StateCache()
        self._at_once = loop.timer(lambda: None)
        self._parts = program, settings, folder, loop, fetcher, archive, self._states.add
        self._requests: dict[Response, Request] = {}
        self._undecided: deque[tuple[Request, Response]] = deque()  # they wait for samples of their patterns
        self._over: list[Response] = []

    # ---- as a fetcher

    def start(self, request: Request, may_connect: MayConnect | None = None) -> Response:
        if (known := self._states.take(request.url)) is not None:
            self._over.append(known)
            self._at_once.at = time.monotonic()
            return known
        asked = request
        if request.headers and request.renderable and self._renders(request.url):
            # That the document is the same says nothing about what is made of it.
            kept = tuple(each for each in request.headers if each[0].lower() not in _CONDITIONS)
            asked = request._replace(headers=kept)
        response = self._fetcher.start(asked, may_connect)
        self._requests[response] = request
        return response

    def expect(self, origin: str) -> None:
        self._fetcher.expect(origin)

    def finished(self) -> list[Response]:
        responses = self._fetcher.finished()
        for response in responses if self._engine is None else self._engine[0].take(responses):
            self._route(self._requests.pop(response), response)
        over, self._over = self._over, []
        return over

    def close(self) -> None:
        if self._engine is not None:
            self._engine[1].close()
        self._fetcher.close()

    @property
    def pool(self) -> "RenderPool":
        """What renders. Loading it takes as long as fetching a hundred pages, so most crawls never
        do."""
        return self._loaded()[1]

    @property
    def _door(self) -> "Door":
        return self._loaded()[0]

    def _loaded(self) -> "tuple[Door, RenderPool]":
        if self._engine is None:
            self._engine = _engine(*self._parts)
        return self._engine

    # ---- what is learned about hosts

    def hear_of(self, origin: str, known: bytes) -> None:
        self._decisions.hear_of(origin, known)

    def learned(self) -> dict[str, bytes]:
        return self._decisions.changed()

    def messages(self) -> list[str]:
        return self._engine[1].messages() if self._engine is not None else []

    # ---- pages

    def _renders(self, url: str) -> bool:
        return self._is_included(url) and (self._must(url) or self._decisions.is_rendered(url))

    def _must(self, url: str) -> bool:
        """Whether the user wants this page as a browser shows it."""
        return self._always or url in self._asked

    def _is_included(self, url: str) -> bool:
        return not self._include or any(each.search(url) for each in self._include)

    def _route(self, request: Request, response: Response) -> None:
        what = self._decision(request, response)
        if what is Next.PLAIN:
            self._over.append(response)
        elif what is Next.WAIT:
            self._undecided.append((request, response))
        elif what is Next.RENDER and request.made_from:
            self._render_if_changed(request, response)
        else:
            self._render(request, response, what)

    def _decision(self, request: Request, response: Response) -> Next:
        if not request.renderable or not self._is_included(request.url):
            return Next.PLAIN
        if response.status == MISSING:
            return Next.RENDER if self._missing.may_show_more(request, response) else Next.PLAIN
        if self._must(request.url) or "#" in request.url:
            return Next.RENDER if is_page(request, response) else Next.PLAIN
        if request.made_from and not self._decisions.is_plain(request.url):
            return Next.RENDER if is_page(request, response) else Next.PLAIN  # as at its last visit
        if not self._decisions.is_rendered(request.url) and not may_need_a_browser(response.body):
            return Next.PLAIN  # most pages, in a few microseconds
        if self._decisions.keeps_failing(request.url):
            response.not_rendered = reason("not-rendered", "other pages like it could not be rendered")
            return Next.PLAIN
        return self._decisions.decide(request.url) if is_page(request, response) else Next.PLAIN

    def _render_if_changed(self, request: Request, response: Response) -> None:
        """Renders a page again only if something that it was made from is not the same."""
        made = decode(request.made_from)
        if made is None or digest_of(response) != made.document:
            self._render(request, response, Next.RENDER)
            return

        def done(same: bool) -> None:
            if not same:
                self._render(request, response, Next.RENDER)
                return
            response.rendered = Rendered(b"", made_from=request.made_from, as_before=True)
            self._decisions.spare(request.url)
            self._over.append(response)

        self._door.check(PageLoad(request, response), made.sources, done)

    def _render(self, request: Request, response: Response, how: Next) -> None:
        if response.status == MISSING:
            self._missing.render(self.pool, request, response, lambda: self._over.append(response))
            return

        def done(rendered: Rendered | None, why: str) -> None:
            if self._must(request.url) or "#" in request.url:
                response.rendered, response.not_rendered = rendered, why
            else:
                self._compare(request, response, rendered, why, how)
            self._over.append(response)

        self.pool.render(request, response, done)

    def _compare(self, request: Request, response: Response, rendered: Rendered | None, why: str, how: Next) -> None:
        """Learns from a page what its pattern is worth. A sample that brings nothing is kept as it
        was sent."""
        url = request.url
        if rendered is None:
            self._decisions.give_up(url, how)
            response.not_rendered = why
        else:
            _, charset = media_type(response.value_of(b"content-type"))
            sent, made = extent(response.body, charset, url), extent(rendered.html, "utf-8", url)
            if self._decisions.learn(url, how, sent, made):
                response.rendered = rendered
        waiting, self._undecided = self._undecided, deque()
        for each in waiting:
            self._route(*each)


def _engine(
    program: Path, settings: Settings, folder: Path, loop: Loop, fetcher: Fetcher, archive: Archive, keep: "KeepState"
) -> "tuple[Door, RenderPool]":
    from sanderling.browser.door import Door
    from sanderling.browser.page_rules import PageRules
    from sanderling.browser.pool import RenderPool

    door = Door(settings, fetcher, archive)
    return door, RenderPool(program, settings, PageRules(settings, folder), loop, door, keep)


def is_page(request: Request, response: Response) -> bool:
    """Whether a response is HTML that a browser could render."""
    return 200 <= response.status < 300 and is_html(request, response)
