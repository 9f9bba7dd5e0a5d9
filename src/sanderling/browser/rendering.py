"""One page from its document to its DOM: load it, wait until it has settled, read it."""

import json
import re
import time
from html import escape
from typing import Any, NamedTuple

from sanderling.browser.devtools import CallRefused
from sanderling.browser.page_load import PageLoad
from sanderling.browser.page_rules import PageRules
from sanderling.browser.screenshots import screenshot
from sanderling.browser.scripts import script
from sanderling.browser.sources import MadeFrom, digest_of, encode
from sanderling.browser.tab import Tab, TimedOut
from sanderling.client.fetcher import Rendered
from sanderling.settings import Settings
from sanderling.urls import is_state

# A page has settled when its DOM has not changed for so long. In seconds.
QUIET = 0.3
# A page that changes all the time, such as one with a clock, is read after so long.
RESTLESS = 3.0
# A page that waits for an answer and does nothing else is read after so long: some answers never
# come.
PATIENCE = 10.0
# An answer that comes within this time is one that came at once.
AT_ONCE = 1.0
# A script that runs for so long without a break is ended, and so often.
LONGEST_TASK, MOST_INTERRUPTIONS = 5.0, 3
# Reading takes milliseconds, and seconds for a million elements.
LARGE = 50_000
_TO_READ = 15.0
# The memory of a page that is this long is not free when the next page needs it, so that one gets
# another tab.
_HEAVY = 500_000
# What is drawn on a canvas has come to rest when two looks, so far apart, are the same. Charts grow
# for a second; what still moves then is an animation. In seconds, and characters of pictures.
_LOOKS_APART, _MOST_LOOKS = 0.4, 6
_LARGEST_DRAWING, _LARGEST_DRAWINGS = 400_000, 2_000_000


class AtRest(NamedTuple):
    """How the wait for a page ended, and what was found then."""

    how: str
    found: Any = None


async def render(tab: Tab, load: PageLoad, settings: Settings, rules: PageRules) -> Rendered:
    """Renders a page. Raises an exception if the tab crashed or does not answer."""
    started = time.monotonic()
    deadline = started + settings.render_timeout
    try:
        how, found = await bring(tab, load, settings, rules, deadline, reading(settings))
    except TimedOut:
        how, found = "deadline", None
    if how in ("deadline", "interrupted"):
        tab.freeze()
    if how not in ("deadline", "interrupted") and not found:
        await draw(tab, deadline)
    rendered = as_rendered(found, load) if found else await read(tab, load, settings)
    # After it was read: a page may notice that all of it is shown. A state gets its own, after its
    # events.
    if settings.screenshots and tab.healthy and not is_state(load.named):
        rendered = rendered._replace(screenshot=await screenshot(tab))
    if len(rendered.html) >= _HEAVY:
        tab.healthy = False
    notes = {
        "rendered": how,
        "renderTimeMs": str(round((time.monotonic() - started) * 1000)),
        "requests": f"{load.requests}",
        "requestsSent": f"{load.fetched}",
    }
    made_from = ""
    if load.repeatable and how == "quiet" and load.loads == 1:
        made_from = encode(MadeFrom(digest_of(load.document), tuple(sorted(load.sources.values()))))
    return rendered._replace(notes=tuple(notes.items()), made_from=made_from)


async def bring(
    tab: Tab, load: PageLoad, settings: Settings, rules: PageRules, deadline: float, wanted: str = "({})"
) -> AtRest:
    """Loads a page and waits until it has settled and is as the user wants it.

    `wanted` is an expression for an object. Its value comes with the answer that the page has
    settled: a call of its own costs the browser about as much as a request of the page.
    """
    await tab.navigate(load, deadline, settings.cookies)
    consent = script("consent") if settings.close_banners else "0"
    if_ready = "null" if rules.selectors(load.url) or rules.scripts(load.url) else f"({consent}) || {wanted}"
    first = await settle(tab, load, deadline, then=if_ready)
    if isinstance(first.found, dict):
        return first
    changed = bool(first.found or await tab.evaluate(consent, deadline))
    if await prepare(tab, load, deadline, rules) or changed:
        load.changed()
        return await settle(tab, load, deadline, then=wanted)
    return first


async def prepare(tab: Tab, load: PageLoad, deadline: float, rules: PageRules) -> bool:
    """Does what the user wants on a page that has settled. Whether that may have changed it."""
    changed = False
    for selector in rules.selectors(load.url):
        wanted = f"document.querySelector({json.dumps(selector)}) !== null"
        while time.monotonic() < deadline and not await tab.evaluate(wanted, deadline):
            changed = True
            await tab.sleep(min(deadline, time.monotonic() + QUIET))
    for text in rules.scripts(load.url):
        changed = True
        await tab.evaluate(f"(async () => {{{text}\n}})()", deadline, ours=False)
    return changed


async def settle(tab: Tab, load: PageLoad, deadline: float, quiet_for: float = QUIET, then: str = "null") -> AtRest:
    """Waits until a page has loaded, gets no more answers and does not change; `then` is evaluated
    at once."""
    ask = f"((quiet) => [quiet, quiet >= {quiet_for * 1000} ? {then} : null])(sanderlingQuiet())"
    interruptions, quiet_since = 0, 0.0
    while (now := time.monotonic()) < deadline:
        polls = _polls(load, now)
        if not polls and (not load.loaded_at or load.in_flight):
            quiet_since = 0.0
            # Without a request it is the browser that is slow, on a busy machine.
            if load.in_flight and now - load.active_at > PATIENCE:
                return AtRest("waiting")
            await tab.sleep(min(deadline, now + LONGEST_TASK))
            if time.monotonic() - load.active_at < LONGEST_TASK or not await tab.is_busy(LONGEST_TASK):
                continue
        elif not polls and (until := load.active_at + quiet_for) > now:
            await tab.sleep(min(deadline, until))
            continue
        else:
            quiet_since = quiet_since or now
            if now - quiet_since > RESTLESS:
                return AtRest("restless")
            answer = await _quiet(tab, ask, min(deadline, now + LONGEST_TASK))
            if answer is not None:
                quiet, found = answer[0] / 1000, answer[1]
                if quiet >= quiet_for:
                    return AtRest("polling" if polls else "quiet", found)
                await tab.sleep(min(deadline, time.monotonic() + quiet_for - quiet))
                continue
        interruptions += 1
        tab.interrupt()
        if interruptions >= MOST_INTERRUPTIONS:
            return AtRest("interrupted")
        load.changed()
    return AtRest("deadline")


def _polls(load: PageLoad, now: float) -> bool:
    """Whether a page that has loaded goes on asking, and gets its answers at once."""
    return bool(load.loaded_at) and now - load.loaded_at > RESTLESS and now - load.free_at < AT_ONCE


async def _quiet(tab: Tab, ask: str, deadline: float) -> tuple[float, Any] | None:
    """For how many milliseconds the DOM has not changed, and what else was asked; None if the page
    does not answer."""
    try:
        found = await tab.evaluate(ask, deadline)
    except CallRefused:  # it is between two documents
        return 0.0, None
    except TimedOut:
        return None
    return (found[0], found[1]) if found else (0.0, None)


def reading(settings: Settings) -> str:
    """An expression for the DOM of a page that is not too large to be read in passing, and on which
    nothing is drawn."""
    waits = f"document.querySelector('canvas') || document.getElementsByTagName('*').length > {LARGE}"
    return f"({waits} ? null : {_the_dom(settings)})"


async def draw(tab: Tab, deadline: float) -> None:
    """Takes pictures of what scripts drew, when that has come to rest, for who reads the DOM."""
    look = f"({script('canvases')})({_LARGEST_DRAWING}, {_LARGEST_DRAWINGS})"
    for _ in range(_MOST_LOOKS):
        try:
            if await tab.evaluate(look, deadline):
                return
        except (CallRefused, TimedOut):
            return
        await tab.sleep(min(deadline, time.monotonic() + _LOOKS_APART))


def _the_dom(settings: Settings) -> str:
    """An expression for the DOM. With forms, fields carry the labels that only people see."""
    dom = f"({script('read')})({json.dumps(settings.max_body)})"
    return dom if settings.forms == "none" else f"({script('labels')})(() => {dom})"


async def read(tab: Tab, load: PageLoad, settings: Settings) -> Rendered:
    """The DOM of a page as it is now."""
    expression = _the_dom(settings)
    for _ in range(2):
        try:
            found = await tab.evaluate(expression, time.monotonic() + _TO_READ)
        except TimedOut:
            tab.freeze()
            continue
        if found is not None:
            return as_rendered(found, load)
    raise TimedOut


def as_rendered(found: dict[str, Any], load: PageLoad) -> Rendered:
    """What was read of a page."""
    moved = found["base"] if found["base"] != load.url else ""
    html = with_links(found["html"], moved, load.leads)
    return Rendered(html.encode("utf-8", "replace"), truncated=found["cut"])


def with_links(html: str, base: str, leads: list[str]) -> str:
    """The HTML with what only the browser knows: what its links are relative to, and where its
    scripts wanted to go."""
    if base:
        html = re.sub(r"<head\b[^>]*>", lambda head: f'{head[0]}<base href="{escape(base)}">', html, count=1)
    anchors = "".join(f'<a href="{escape(url)}"></a>' for url in leads)
    return html.replace("</body></html>", f"{anchors}</body></html>") if anchors else html
