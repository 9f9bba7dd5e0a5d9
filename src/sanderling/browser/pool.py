"""The tabs of one client: started when the first page needs them, used again for pages of the same
origin.

A browser that ends or hangs, a tab that crashes: the page that was in it is rendered once more, in
a new browser. Nothing else is lost.
"""

import os
import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sanderling.browser.devtools import BrowserGone, CallRefused
from sanderling.browser.door import Door
from sanderling.browser.loaded_page import LoadedPage
from sanderling.browser.navigations import Navigations
from sanderling.browser.page_load import PageLoad
from sanderling.browser.page_rules import PageRules
from sanderling.browser.process import Browser, BrowserLimits, is_page, memory_of
from sanderling.browser.promises import Promise, Timers, run
from sanderling.browser.rendering import render
from sanderling.browser.starting import CannotStart, start
from sanderling.browser.states import Routes, links_to_fragments, look_behind
from sanderling.browser.tab import Tab, TabCrashed, TimedOut
from sanderling.client.fetcher import Rendered, Request, Response
from sanderling.client.loop import Loop
from sanderling.model.reasons import reason
from sanderling.network import agent
from sanderling.settings import Settings
from sanderling.urls import is_state

# A page is rendered at most so often.
ATTEMPTS = 2
# A tab is replaced after this many pages: what pages leave behind in a process adds up.
PAGES_A_TAB = 100
# A browser without work is ended after this many seconds.
IDLE = 5.0
# A crash so soon after a page was ended for its memory is that page's.
JUST_NOW = 2.0
_WHY = {TabCrashed: "its tab crashed", TimedOut: "it does not answer", BrowserGone: "the browser ended"}
# A browser that has not opened a tab after this many seconds hangs.
TO_OPEN = 30.0
# A browser that does not tell its version for this many seconds hangs. It takes milliseconds.
TO_ANSWER = 10.0
# A browser that could not be started is started again after this many seconds, then after twice as
# many, and so on. Pages that come meanwhile are not rendered.
START_AGAIN, LONGEST_PAUSE = 10.0, 600.0
# How often the memory of pages is looked at, in seconds.
WATCH_EVERY = 0.25
_FAILURES = (TabCrashed, TimedOut, BrowserGone, CallRefused)

_SANDBOX_OFF = "the browser runs without its sandbox, which this system forbids; user namespaces would permit it"
_NOT_ALONE = "the browser is not in a network namespace of its own, which this system forbids; its requests are still intercepted"

# Called with the page, or with the reason why it could not be rendered.
Done = Callable[[Rendered | None, str], None]


# Called with the URL of a state, what it shows, and the document that it was made from.
KeepState = Callable[[str, Rendered, Response], None]


class _Job:
    """One page to render."""

    __slots__ = ("attempts", "done", "failed_in", "request", "response")

    def __init__(self, request: Request, response: Response, done: Done) -> None:
        self.request = request
        self.response = response
        self.done = done
        self.attempts = 0
        self.failed_in: Browser | None = None


class RenderPool:
    """Renders pages, some at a time."""

    def __init__(
        self, program: Path, settings: Settings, rules: PageRules, loop: Loop, door: Door, keep_state: KeepState
    ) -> None:
        """`keep_state` is told about states that were found behind a page."""
        self._keep_state = keep_state
        self._routes = Routes()
        self.navigations = Navigations()
        self._clicks = settings.click_links and not settings.states and not settings.reported_only
        self._rules = rules
        self._program = program
        self._settings = settings
        self._loop = loop
        self._door = door
        self._timers = Timers(loop)
        self._browser: Browser | None = None
        self._starting = False
        self._not_started = ""  # why the browser could not be started
        self._start_at, self._pause = 0.0, START_AGAIN  # when it may be started again, and the pause after that
        self._waiting: deque[_Job] = deque()
        self._running: dict[Tab, _Job] = {}
        self._opening = 0
        self._idle: dict[str, list[Tab]] = {}  # by origin
        self._idle_since = 0.0
        self._too_large_at = 0.0  # when the last page was ended that used too much memory
        self._said: set[str] = set()
        self._unsaid: list[str] = []
        self.rendered = 0
        self.events = 0  # that were triggered
        self.combine = True  # events that do the same are triggered only twice

    @property
    def browser(self) -> Browser | None:
        """The browser, while there is one."""
        return self._browser

    def render(self, request: Request, response: Response, done: Done) -> None:
        """Renders a page from its document. `done` is called later."""
        self._waiting.append(_Job(request, response, done))
        self._next()

    def messages(self) -> list[str]:
        """What the user should know, each once."""
        unsaid, self._unsaid = self._unsaid, []
        return unsaid

    def _say(self, *lines: str) -> None:
        new = [line for line in lines if line and line not in self._said]
        self._said.update(new)
        self._unsaid += new

    def close(self) -> None:
        self._waiting.clear()
        self._running.clear()
        self._end_browser()

    # ---- jobs

    def _next(self) -> None:
        """Gives waiting pages to tabs."""
        if self._waiting and self._browser is None and not self._starting:
            run(self._start()).then(self._next)
            return
        while self._waiting and self._is_up() and self._tabs() < self._settings.render_tabs:
            if self._waiting[0].failed_in is self._browser:  # it gets a new one when the others are through
                if not self._tabs():
                    self._on_end()
                return
            run(self._work(self._waiting.popleft()))
        if not self._waiting and not self._running and not self._opening and self._browser is not None:
            self._idle_since = time.monotonic()
            self._timers.at(self._idle_since + IDLE, self._end_if_idle)

    def _is_up(self) -> bool:
        """Whether there is a browser. One that has ended is there until all its pages are told."""
        return self._browser is not None and not self._browser.tools.ended

    def _tabs(self) -> int:
        return len(self._running) + self._opening

    async def _work(self, job: _Job) -> None:
        tab, browser = None, self._browser
        load = PageLoad(job.request, job.response)
        job.attempts += 1
        try:
            tab = await self._tab(load.origin)
            self._running[tab] = job
            found = await self._render(tab, load, job)
        except _FAILURES as error:
            if tab is not None:
                self._running.pop(tab, None)
                tab.close()
            if isinstance(error, TimedOut) and browser is not None and not await self._answers(browser):
                error = BrowserGone()
            job.failed_in = browser
            self._failed(job, error)
        else:
            del self._running[tab]
            self._put_back(tab, load.origin)
            self.rendered += 1
            job.done(found, "")
        self._next()

    async def _render(self, tab: Tab, load: PageLoad, job: _Job) -> Rendered:
        page = await render(tab, load, self._settings, self._rules)
        shown = LoadedPage(tab, load, self._settings, self._rules)
        if self._settings.states or "#" in job.request.url or links_to_fragments(page.html):
            found = await look_behind(shown, page, self._routes, self.combine)
            self.events += found.events
            for url, state in found.states:
                self._keep_state(url, state, job.response)
            page = found.page
        if (
            self._clicks
            and not is_state(job.request.url)
            and not page.gone
            and self.navigations.are_worth_a_try(load.address)
        ):
            with suppress(TimedOut, CallRefused):  # what was found before is good
                if shown.current is not load:  # other fragments of the document were tried
                    await shown.load(load.address)
                led = await self._routes.among(shown, await self.navigations.of(shown))
                page = page._replace(found=(*page.found, *led))
        return page

    async def _answers(self, browser: Browser) -> bool:
        """Whether a browser is well although a page in it is not. One that is not is ended."""
        answer = browser.tools.call("Browser.getVersion")
        self._timers.at(time.monotonic() + TO_ANSWER, lambda: answer.break_(TimedOut()))
        try:
            await answer
        except _FAILURES:
            if self._browser is browser:
                self._on_end()
            return False
        return True

    async def _tab(self, home: str) -> Tab:
        """A tab for pages of an origin: one that had such pages before, or a new one."""
        if tabs := self._idle.get(home):
            tab = tabs.pop()
            if not tabs:
                del self._idle[home]
            return tab
        while self._idle and self._tabs() + sum(map(len, self._idle.values())) >= self._settings.render_tabs:
            other = next(iter(self._idle))
            for tab in self._idle.pop(other):
                tab.close()
        if self._browser is None:
            raise BrowserGone
        opening = run(Tab.open(self._browser.tools, self._timers, self._door, self._settings.screenshots))
        browser = self._browser
        self._timers.at(time.monotonic() + TO_OPEN, lambda: self._give_up(browser, opening))
        self._opening += 1
        try:
            return await opening
        finally:
            self._opening -= 1

    def _put_back(self, tab: Tab, home: str) -> None:
        tab.leave()
        if tab.healthy and tab.pages < PAGES_A_TAB:
            self._idle.setdefault(home, []).append(tab)
        else:
            tab.close()

    def _failed(self, job: _Job, error: Exception) -> None:
        """Tries a page once more, unless it would end in the same way."""
        why = _WHY.get(type(error), str(error) or "the browser refused")
        if isinstance(error, TabCrashed) and time.monotonic() - self._too_large_at < JUST_NOW:
            why = f"it needs more than {self._settings.render_memory >> 20} MiB"
            self._too_large_at = 0.0  # a tab that crashes after it did so for another reason
        elif job.attempts < ATTEMPTS and not isinstance(error, TimedOut):
            self._waiting.appendleft(job)
            return
        job.done(None, reason("not-rendered", why))

    # ---- the browser

    async def _start(self) -> None:
        if time.monotonic() < self._start_at:
            self._fail_all()
            return
        self._starting = True
        limits = BrowserLimits(processes=self._settings.render_tabs)
        try:
            browser = await start(
                self._program, self._loop, self._timers, agent(self._settings), self._on_end, limits,
                unprotected=not self._settings.browser_sandbox,
            )  # fmt: skip
        except CannotStart as error:
            self._say(f"pages are not rendered: {error}")
            self._not_started = str(error)
            self._start_at, self._pause = time.monotonic() + self._pause, min(2 * self._pause, LONGEST_PAUSE)
            self._fail_all()
            return
        finally:
            self._starting = False
        self._browser, self._pause = browser, START_AGAIN
        self._say("" if browser.protection.network else _NOT_ALONE, "" if browser.protection.sandbox else _SANDBOX_OFF)
        self._watch()

    def _fail_all(self) -> None:
        jobs, self._waiting = self._waiting, deque()
        for job in jobs:
            job.done(None, reason("not-rendered", self._not_started))

    def _on_end(self) -> None:
        """The browser ended by itself, or is of no more use."""
        if self._browser is None:
            return
        self._end_browser()
        self._next()

    def _give_up(self, browser: Browser, opening: Promise[Tab]) -> None:
        """Ends a browser that opens no tab."""
        if self._browser is browser and not opening.done:
            self._on_end()

    def _end_browser(self) -> None:
        browser, self._browser = self._browser, None
        self._idle.clear()
        if browser is not None:
            tabs = list(self._running)
            browser.close()
            for tab in tabs:
                tab.fail(BrowserGone())

    def _end_if_idle(self) -> None:
        busy = self._waiting or self._running or self._opening
        if not busy and time.monotonic() - self._idle_since >= IDLE:
            self._end_browser()

    def _watch(self) -> None:
        """Ends processes of pages that use too much memory."""
        if self._browser is None:
            return
        if not self._browser.is_whole():
            self._on_end()
            return
        for pid in self._browser.pages() if self._running else ():
            if memory_of(pid) > self._settings.render_memory and is_page(pid):
                os.kill(pid, signal.SIGKILL)
                self._too_large_at = time.monotonic()
        self._timers.at(time.monotonic() + WATCH_EVERY, self._watch)
