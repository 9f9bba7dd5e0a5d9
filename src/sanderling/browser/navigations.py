"""Where the buttons of a page lead within its application. Router links need no `href`: a row, a
card or a button may do what a link does.

When a page has been read, its elements that listen for clicks are clicked, and the page's address
is looked at. The page gets no more answers but scripts and styles, which lazy routes are made of.
So a click changes nothing on any server, and elements that look as if they bought or deleted
something are left alone even so. After each click the application is brought back.
"""

import time
from collections import Counter
from contextlib import suppress

from sanderling.browser.devtools import CallRefused
from sanderling.browser.loaded_page import LoadedPage
from sanderling.browser.tab import TimedOut
from sanderling.freshness.url_groups import url_pattern
from sanderling.urls import with_fragment

# Elements of one kind (tag and classes) that are clicked before the others are left, and the same
# when some have led somewhere: lists have entries without a target.
TRIED, TRIED_AGAIN = 2, 5
# Seconds for a page, and without anything new. It takes about 0.1 s for each element.
LONGEST, IN_VAIN = 120.0, 15.0
# After this many pages of a pattern whose clicks led nowhere new, no more are clicked on.
MOST_IN_VAIN = 3
MOST_KNOWN = 100_000

# In the key of a link to a place or a route.
_FRAGMENT = "|href=#"


class Navigations:
    """What clicks on the pages of this client have led to."""

    def __init__(self) -> None:
        self._in_vain: Counter[str] = Counter()  # pages in a row, by pattern
        self._known: set[str] = set()

    def are_worth_a_try(self, address: str) -> bool:
        return self._in_vain[_pattern(address)] < MOST_IN_VAIN

    async def of(self, page: LoadedPage) -> list[tuple[str, str]]:
        """The URLs that clicks lead to, with the texts of the elements."""
        pattern, found = _pattern(page.current.address), dict[str, str]()
        with suppress(TimedOut, CallRefused):  # what was found before is good
            await _click(page, found)
        new = found.keys() - self._known
        self._in_vain[pattern] = 0 if new else self._in_vain[pattern] + 1
        if len(self._known) < MOST_KNOWN:
            self._known |= new
        return [*found.items()]


async def _click(page: LoadedPage, found: dict[str, str]) -> None:
    """Clicks on one element after the other."""
    load, began = page.current, time.monotonic()
    until = began + IN_VAIN
    dull, led = Counter[str](), set[str]()
    load.silence()
    here = await page.moved()
    for candidate in await page.candidates():
        kind = _kind(candidate.key)
        if _FRAGMENT in candidate.key:  # a link, which is followed if it is a route
            continue
        if candidate.step.event != "click" or dull[kind] >= (TRIED_AGAIN if kind in led else TRIED):
            continue
        dull[kind] += 1
        pressed = await page.press(candidate.step, here)
        if pressed is None:
            continue
        for each in {pressed.address, *pressed.leads} - {here.address}:
            url = with_fragment(each)
            if url is not None and url not in (load.url, load.address):
                found.setdefault(url, candidate.text)
                until = min(began + LONGEST, time.monotonic() + IN_VAIN)
                led.add(kind)
                dull[kind] = 0
        if time.monotonic() > until or not await page.come_back(here, pressed):
            break


def _pattern(address: str) -> str:
    """Routes in fragments have patterns like paths."""
    return url_pattern(address.replace("#", "/", 1))


def _kind(key: str) -> str:
    """The event, its handlers, the tag and the classes of an element, without its text."""
    return "|".join(key.split("|")[:4])
