"""A page in a tab on which events are triggered."""

import json
import time
from typing import NamedTuple

from sanderling.browser import events
from sanderling.browser.devtools import CallRefused
from sanderling.browser.event_path import Step
from sanderling.browser.events import EventCandidate
from sanderling.browser.exploring import Seen
from sanderling.browser.page_load import PageLoad
from sanderling.browser.page_rules import PageRules
from sanderling.browser.rendering import bring, read, settle
from sanderling.browser.screenshots import screenshot
from sanderling.browser.scripts import script
from sanderling.browser.tab import Tab, TimedOut
from sanderling.settings import Settings
from sanderling.urls.patterns import pattern

# After an event the page has settled when nothing has changed for so long. Shorter than for a load:
# what an event does, it does at once or after an answer, which is waited for.
QUIET_AFTER_EVENT = 0.12
# What changes while nothing is triggered for so long is a clock or the like, if it is short.
WATCHED, LONGEST_RESTLESS = 1.2, 300
# A router that is clicked on changes the address within this time, or asks for a script. A page
# that came back shows its elements again after so many times as long.
AT_ONCE, MOST_LOOKS = 0.06, 4
# Where an event brought more before and now brings nothing, it is waited for so long.
PATIENT = 1.0
_TO_LOOK = 10.0


class Pressed(NamedTuple):
    """Where a page is after a click."""

    address: str
    entries: int  # of its history
    leads: tuple[str, ...] = ()  # documents that it asked for and did not get


class LoadedPage:
    """A `StatefulPage` in a tab."""

    def __init__(self, tab: Tab, load: PageLoad, settings: Settings, rules: PageRules) -> None:
        self._tab = tab
        self.current = load
        self.settings = settings
        self._rules = rules
        ignored = [
            selector
            for rule in settings.rules
            if not rule.urls or pattern(rule.urls).search(load.url)
            for selector in rule.ignore
        ]
        self._look = f"({script('state')})({json.dumps(', '.join(ignored))})"
        self._restless: list[str] = []  # selectors of what changes without an event
        load.explore()

    async def look(self) -> Seen:
        try:
            found = await self._tab.evaluate(self._look, time.monotonic() + _TO_LOOK)
        except CallRefused:
            found = None
        if found is None:
            raise TimedOut
        return Seen(found["hash"], found["gained"], found["lost"], frozenset(found["fresh"]), found["url"])

    async def watch(self) -> None:
        await self._rest(begins=True)
        await self._tab.sleep(time.monotonic() + WATCHED)
        self._restless += await self._rest(begins=False)

    async def look_again(self) -> Seen:
        self.current.event()
        await self._settle(PATIENT)
        return await self.look()

    async def candidates(self) -> list[EventCandidate]:
        return await events.candidates(self._tab, self.current.hints, self.settings.reported_only)

    async def trigger(self, step: Step) -> bool:
        if step.event == "route":
            await self.go(step.selector)
            return True
        self.current.event()
        if not await events.trigger(self._tab, step):
            return False
        await self._settle(QUIET_AFTER_EVENT)
        return True

    async def read(self) -> bytes:
        return (await read(self._tab, self.current, self.settings)).html

    async def picture(self) -> bytes:
        return await screenshot(self._tab)

    async def load(self, address: str = "") -> None:
        """Loads the page again, or another fragment of its document."""
        self.current = self.current.again(address)
        self.current.explore()
        deadline = time.monotonic() + self.settings.render_timeout
        await bring(self._tab, self.current, self.settings, self._rules, deadline)
        if self._restless:
            await self._rest(begins=False)

    async def moved(self, before: str = "", patience: float = 0.0) -> Pressed:
        """Where the page is: at once when its address is not the one `before`."""
        asked = f"({script('moved')})({json.dumps(before)}, {patience * 1000})"
        found = await self._tab.evaluate(asked, time.monotonic() + _TO_LOOK)
        if found is None:
            raise TimedOut
        return Pressed(*found)

    async def press(self, step: Step, here: Pressed) -> Pressed | None:
        """Clicks on an element and says where that led. None if it is not there."""
        known, after = len(self.current.leads), here
        try:
            for _ in range(MOST_LOOKS):  # what stood there before may come back a moment later
                if await events.trigger(self._tab, step):
                    break
                await self._tab.sleep(time.monotonic() + AT_ONCE)
            else:
                return None
            after = await self.moved(here.address, AT_ONCE)
            if self.current.in_flight:  # a lazy route
                await self._settle(QUIET_AFTER_EVENT)
                after = await self.moved(here.address, AT_ONCE)
        except CallRefused:  # it wants another document, which it does not get
            pass
        return after._replace(leads=tuple(self.current.leads[known:]))

    async def come_back(self, here: Pressed, pressed: Pressed) -> bool:
        """Brings the application back to where it was. Whether it is there."""
        told = f"{json.dumps(here.address)}, {json.dumps(pressed.entries > here.entries)}, {PATIENT * 1000}"
        return bool(await self._tab.evaluate(f"({script('return')})({told})", time.monotonic() + _TO_LOOK))

    async def go(self, fragment: str) -> None:
        """Changes the fragment of the page without loading it."""
        self.current.event()
        await self._tab.evaluate(f"location.hash = {json.dumps(fragment)}", time.monotonic() + _TO_LOOK)
        await self._settle(QUIET_AFTER_EVENT)

    async def routes(self) -> list[tuple[str, str]]:
        """Fragments that links lead to and that look like routes, with the texts of the links."""
        found = await self._tab.evaluate(f"({script('routes')})()", time.monotonic() + _TO_LOOK)
        return [(fragment, text) for fragment, text in found or []]

    async def _rest(self, begins: bool) -> list[str]:
        told = f"{json.dumps(begins)}, {json.dumps(self._restless)}, {LONGEST_RESTLESS}"
        found = await self._tab.evaluate(f"({script('restless')})({told})", time.monotonic() + _TO_LOOK)
        return found or []

    async def _settle(self, quiet: float) -> None:
        await settle(self._tab, self.current, time.monotonic() + self.settings.render_timeout, quiet)
