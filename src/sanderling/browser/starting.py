"""Starts a browser with its sandbox and without a network. Where the system forbids one of these,
nothing is started unless the user said so by name."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sanderling.browser.devtools import BrowserGone, CallRefused
from sanderling.browser.process import Browser, BrowserLimits
from sanderling.browser.promises import Promise, Timers
from sanderling.browser.tab import TimedOut
from sanderling.client.loop import Loop

SECONDS_TO_START = 60.0
# A browser that ends before it answers may have been killed, as by a system short of memory.
STARTS = 3
_SANDBOX_IS_FORBIDDEN = ("No usable sandbox", "Failed to move to new namespace", "setuid sandbox", "credentials.cc")
_ADVICE = " (docs/javascript.md tells how to permit it; --no-browser-sandbox renders without it)"


class CannotStart(Exception):
    """The browser does not start; the text says why."""


async def start(
    program: Path,
    loop: Loop,
    timers: Timers,
    user_agent: str,
    on_end: Callable[[], None],
    limits: BrowserLimits | None = None,
    unprotected: bool = False,
) -> Browser:
    """A browser that answers. It may be `unprotected` where the system forbids its protection."""
    sandbox, left = True, STARTS
    while True:
        left -= 1
        try:
            browser = Browser(program, loop, user_agent, limits or BrowserLimits(), on_end, sandbox)
        except OSError as error:
            raise CannotStart(f"{program.name} cannot be started: {error.strerror}") from None
        answer = browser.tools.call("Browser.getVersion")
        timers.at(time.monotonic() + SECONDS_TO_START, _give_up(answer))
        try:
            await answer
        except (BrowserGone, CallRefused, TimedOut) as error:
            said = browser.said()
            browser.close()
            if sandbox and any(words in said for words in _SANDBOX_IS_FORBIDDEN):
                if unprotected:
                    sandbox = False
                    continue
                raise CannotStart(f"this system forbids the browser's sandbox{_ADVICE}") from None
            if left > 0 and isinstance(error, BrowserGone):
                continue
            why = "it does not answer" if isinstance(error, TimedOut) else said.strip().rpartition("\n")[2][-200:]
            raise CannotStart(f"{program.name} cannot be started: {why or 'it ended at once'}") from None
        if not (unprotected or browser.protection.network):
            browser.close()
            raise CannotStart(f"this system forbids the browser a network namespace of its own{_ADVICE}")
        browser.know_itself()
        return browser


def _give_up(answer: Promise[Any]) -> Callable[[], None]:
    return lambda: answer.break_(TimedOut())
