"""Starts a browser with its sandbox, and without it only where the system forbids it."""

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
_SANDBOX_IS_FORBIDDEN = ("No usable sandbox", "Failed to move to new namespace", "setuid sandbox", "credentials.cc")


class CannotStart(Exception):
    """The browser does not start; the text says why."""


async def start(
    program: Path,
    loop: Loop,
    timers: Timers,
    user_agent: str,
    on_end: Callable[[], None],
    limits: BrowserLimits | None = None,
) -> Browser:
    """A browser that answers."""
    for sandbox in (True, False):
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
                continue
            why = "it does not answer" if isinstance(error, TimedOut) else said.strip().rpartition("\n")[2][-200:]
            raise CannotStart(f"{program.name} cannot be started: {why or 'it ended at once'}") from None
        return browser
    raise CannotStart(f"{program.name} cannot be started")


def _give_up(answer: Promise[Any]) -> Callable[[], None]:
    return lambda: answer.break_(TimedOut())
