"""Pages as PDF. The browser that prints them has no network, and runs none of their scripts."""

import base64
import time
from contextlib import ExitStack, closing
from typing import Any

import msgspec

from sanderling.browser.devtools import BrowserGone, CallRefused
from sanderling.browser.finding import find
from sanderling.browser.process import Browser
from sanderling.browser.promises import Promise, Timers, run
from sanderling.browser.starting import CannotStart, start
from sanderling.browser.tab import TimedOut
from sanderling.client.loop import Loop
from sanderling.errors import RunFailed

# A page of a hundred sheets takes a second.
LONGEST = 120.0
# What the browser takes in one message.
LARGEST = 90 << 20
_SHEET = {
    "printBackground": True,
    "preferCSSPageSize": True,
    "generateDocumentOutline": True,
    "generateTaggedPDF": True,
}


class Printer:
    """One browser; it is started with the first page, and again when it has ended."""

    def __init__(self, sandbox: bool = True) -> None:
        """Without `sandbox`, it is also started where the system forbids its protection."""
        program = find(None)
        if program is None:
            raise RunFailed("there is no browser that prints: run `sanderling browser install`")
        self._program, self._unprotected = program, not sandbox
        self._stack = ExitStack()
        self._loop = self._stack.enter_context(closing(Loop()))
        self._timers = Timers(self._loop)
        self._browser: Browser | None = None

    def pdf(self, html: bytes) -> bytes | None:
        """A page as PDF; None if the browser cannot print it."""
        if len(html) > LARGEST:
            return None
        if self._browser is None or self._browser.tools.ended:
            self._start()
        try:
            printed: bytes = self._wait(run(self._printed(html.decode("utf-8", "replace"))))
        except (BrowserGone, CallRefused, TimedOut):
            self._end()
            return None
        return printed

    def close(self) -> None:
        self._end()
        self._stack.close()

    def _start(self) -> None:
        self._end()
        starting = run(
            start(self._program, self._loop, self._timers, "Sanderling", lambda: None, unprotected=self._unprotected)
        )
        try:
            self._browser = self._wait(starting)
        except CannotStart as error:
            raise RunFailed(str(error)) from None

    def _end(self) -> None:
        if self._browser is not None:
            self._browser.close()
            self._browser = None

    def _wait(self, promise: Promise[Any]) -> Any:
        self._timers.at(time.monotonic() + LONGEST, lambda: promise.break_(TimedOut()))
        while not promise.done:
            self._loop.wait(0.5)
        return promise.result()

    async def _printed(self, html: str) -> bytes:
        assert self._browser is not None
        tools = self._browser.tools
        made = await tools.call("Target.createTarget", {"url": "about:blank"})
        target = msgspec.json.decode(made)["targetId"]
        attached = await tools.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        session = msgspec.json.decode(attached)["sessionId"]
        loaded: Promise[None] = Promise()
        tools.listen(session, lambda method, _: loaded.keep(None) if method == "Page.loadEventFired" else None)
        try:
            await tools.call("Page.enable", {}, session)
            await tools.call("Emulation.setScriptExecutionDisabled", {"value": True}, session)
            await tools.call("Page.setDocumentContent", {"frameId": target, "html": html}, session)
            self._timers.at(time.monotonic() + LONGEST / 2, lambda: loaded.keep(None))
            await loaded
            printed = await tools.call("Page.printToPDF", _SHEET, session)
            return base64.b64decode(msgspec.json.decode(printed)["data"])
        finally:
            tools.forget(session, BrowserGone())
            tools.call("Target.closeTarget", {"targetId": target})
