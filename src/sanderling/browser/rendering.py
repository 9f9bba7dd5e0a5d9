"""One page from its document to its DOM: load it, wait until it has settled, read it."""

import json
import re
import time
from html import escape

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
# A page that waits for an answer and does nothing else is read after so long: some answers never come.
PATIENCE = 10.0
# An answer that comes within this time is one that came at once.
AT_ONCE = 1.0
# A script that runs for so long without a break is ended, and so often.
LONGEST_TASK, MOST_INTERRUPTIONS = 5.0, 3
# Reading takes milliseconds, and seconds for a million elements.
_TO_READ = 15.0


async def render(tab: Tab, load: PageLoad, settings: Settings, rules: PageRules) -> Rendered:
    """Renders a page. Raises an exception if the tab crashed or does not answer."""
    started = time.monotonic()
    deadline = started + settings.render_timeout
    try:
        how = await bring(tab, load, settings, rules, deadline)
    except TimedOut:
        how = "deadline"
    if how in ("deadline", "interrupted"):
        tab.freeze()
    rendered = await read(tab, load, settings.max_body)
    # After it was read: a page may notice that all of it is shown. A state gets its own, after its events.
    if settings.screenshots and tab.healthy and not is_state(load.named):
        rendered = rendered._replace(screenshot=await screenshot(tab))
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


async def bring(tab: Tab, load: PageLoad, settings: Settings, rules: PageRules, deadline: float) -> str:
    """Loads a page and waits until it has settled and is as the user wants it. Returns how it ended."""
    await tab.navigate(load, deadline, settings.cookies)
    how = await settle(tab, load, deadline)
    if await prepare(tab, load, deadline, settings.close_banners, rules):
        load.changed()
        how = await settle(tab, load, deadline)
    return how


async def prepare(tab: Tab, load: PageLoad, deadline: float, banners: bool, rules: PageRules) -> bool:
    """Does what the user wants on a page that has settled. Whether that may have changed it."""
    changed = banners and bool(await tab.evaluate(script("consent"), deadline))
    for selector in rules.selectors(load.url):
        wanted = f"document.querySelector({json.dumps(selector)}) !== null"
        while time.monotonic() < deadline and not await tab.evaluate(wanted, deadline):
            changed = True
            await tab.sleep(min(deadline, time.monotonic() + QUIET))
    for text in rules.scripts(load.url):
        changed = True
        await tab.evaluate(f"(async () => {{{text}\n}})()", deadline, ours=False)
    return changed


async def settle(tab: Tab, load: PageLoad, deadline: float, quiet_for: float = QUIET) -> str:
    """Waits until a page has loaded, gets no more answers and does not change. Returns how it ended."""
    interruptions, quiet_since = 0, 0.0
    while (now := time.monotonic()) < deadline:
        polls = _polls(load, now)
        if not polls and (not load.loaded_at or load.in_flight):
            quiet_since = 0.0
            if now - load.active_at > PATIENCE:
                return "waiting"
            await tab.sleep(min(deadline, now + LONGEST_TASK))
            if time.monotonic() - load.active_at < LONGEST_TASK or not await tab.is_busy(LONGEST_TASK):
                continue
        elif not polls and (until := load.active_at + quiet_for) > now:
            await tab.sleep(min(deadline, until))
            continue
        else:
            quiet_since = quiet_since or now
            if now - quiet_since > RESTLESS:
                return "restless"
            quiet = await _quiet(tab, min(deadline, now + LONGEST_TASK))
            if quiet is not None:
                if quiet >= quiet_for:
                    return "polling" if polls else "quiet"
                await tab.sleep(min(deadline, time.monotonic() + quiet_for - quiet))
                continue
        interruptions += 1
        tab.interrupt()
        if interruptions >= MOST_INTERRUPTIONS:
            return "interrupted"
        load.changed()
    return "deadline"


def _polls(load: PageLoad, now: float) -> bool:
    """Whether a page that has loaded goes on asking, and gets its answers at once."""
    return bool(load.loaded_at) and now - load.loaded_at > RESTLESS and now - load.free_at < AT_ONCE


async def _quiet(tab: Tab, deadline: float) -> float | None:
    """For how long the DOM has not changed; None if the page does not answer."""
    try:
        found = await tab.evaluate("sanderlingQuiet()", deadline)
    except CallRefused:  # it is between two documents
        return 0.0
    except TimedOut:
        return None
    return float(found or 0.0) / 1000


async def read(tab: Tab, load: PageLoad, limit: int) -> Rendered:
    """The DOM of a page as it is now."""
    expression = f"({script('read')})({json.dumps(limit)})"
    for _ in range(2):
        try:
            found = await tab.evaluate(expression, time.monotonic() + _TO_READ)
        except TimedOut:
            tab.freeze()
            continue
        if found is not None:
            moved = found["base"] if found["base"] != load.url else ""
            html = with_links(found["html"], moved, load.leads)
            return Rendered(html.encode("utf-8", "replace"), truncated=found["cut"])
    raise TimedOut


def with_links(html: str, base: str, leads: list[str]) -> str:
    """The HTML with what only the browser knows: what its links are relative to, and where its scripts wanted to go."""
    if base:
        html = re.sub(r"<head\b[^>]*>", lambda head: f'{head[0]}<base href="{escape(base)}">', html, count=1)
    anchors = "".join(f'<a href="{escape(url)}"></a>' for url in leads)
    return html.replace("</body></html>", f"{anchors}</body></html>") if anchors else html
