"""A tab of the browser. All requests of its frames and workers go to the door."""

import time
from collections.abc import Callable
from typing import Any, Self, TypeVar

import msgspec

from sanderling.browser.devtools import BrowserGone, CallRefused, DevTools
from sanderling.browser.door import Door, Paused
from sanderling.browser.frames import frames_around
from sanderling.browser.page_load import PageLoad
from sanderling.browser.promises import Promise, Timers, run
from sanderling.browser.scripts import script

T = TypeVar("T")

# The world in which our own scripts run. The page does not see it.
WORLD = "sanderling"
_EVERYTHING = [{"urlPattern": "*", "requestStage": "Request"}]
_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
# The page has the size of the window, and its picture a hundredth of the pixels. Drawing all of
# them takes 15 % of the CPU time of a page.
_TINY = {"width": 1280, "height": 1024, "deviceScaleFactor": 1, "mobile": False, "scale": 0.1}
# What pages keep in the browser. They find it empty, so that the order of visits does not matter.
_KEPT = "local_storage,indexeddb,cache_storage,file_systems,websql,service_workers"

# The page's process answers in milliseconds, unless a script keeps it busy.
_TO_LOOK = 5.0
# What the browser says when a document is gone with its worlds.
_NO_SUCH_WORLD = "Cannot find context"

_paused = msgspec.json.Decoder(Paused).decode


class TabCrashed(Exception):
    """The process of the tab ended."""


class TimedOut(Exception):
    """The tab did not answer in time."""


class _Attached(msgspec.Struct, rename="camel"):
    session_id: str
    target_info: dict[str, Any]


class Tab:
    """Loads pages of one origin, one after the other, in a context that no other origin uses."""

    def __init__(self, tools: DevTools, timers: Timers, door: Door, context: str, target: str, session: str) -> None:
        self._tools = tools
        self._timers = timers
        self._door = door
        self.context = context
        self.target = target
        self._session = session
        self._load: PageLoad | None = None
        self._sleep: Promise[None] = Promise()
        self._children: list[str] = []
        self._near = {session}  # the sessions of the page's own process: of the page and its workers
        self._world = 0  # its number in the document that is loaded; 0 when it is not known
        self.pages = 0
        self.healthy = True

    @classmethod
    async def open(cls, tools: DevTools, timers: Timers, door: Door, drawn: bool = True) -> Self:
        """A new tab in a new context. A page that is not `drawn` is not painted."""
        context = msgspec.json.decode(await tools.call("Target.createBrowserContext"))["browserContextId"]
        tools.call("Browser.setDownloadBehavior", {"behavior": "deny", "browserContextId": context})
        made = await tools.call("Target.createTarget", {"url": "about:blank", "browserContextId": context})
        target = msgspec.json.decode(made)["targetId"]
        attached = await tools.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        tab = cls(tools, timers, door, context, target, msgspec.json.decode(attached)["sessionId"])
        tab._prepare(tab._session, "page")
        if not drawn:
            tab.call("Emulation.setDeviceMetricsOverride", _TINY)
        await tab.call("Page.enable")
        return tab

    def call(self, method: str, params: dict[str, Any] | None = None) -> Promise[msgspec.Raw]:
        return self._tools.call(method, params, self._session)

    def _prepare(self, session: str, kind: str) -> None:
        """Makes a session of the tab ours before anything runs in it."""

        def tell(method: str, params: dict[str, Any] | None = None) -> None:
            self._tools.call(method, params, session)

        self._tools.listen(session, lambda method, params: self._on_event(session, method, params))
        tell("Fetch.enable", {"patterns": _EVERYTHING})
        tell("Target.setAutoAttach", _ATTACH)
        if kind in ("page", "iframe"):
            tell("Inspector.enable")
            tell("Page.enable")
            tell("Page.addScriptToEvaluateOnNewDocument", {"source": script("tame"), "runImmediately": True})
            tell("Page.addScriptToEvaluateOnNewDocument", {"source": script("quiet"), "worldName": WORLD})
        tell("Runtime.runIfWaitingForDebugger")

    def _on_event(self, session: str, method: str, params: msgspec.Raw) -> None:
        if method == "Fetch.requestPaused":
            self._on_request(session, _paused(params))
        elif method == "Page.loadEventFired":
            if session == self._session and self._load is not None and self._load.loads:
                self._load.finish()
        elif method == "Target.attachedToTarget":
            attached = msgspec.json.decode(params, type=_Attached)
            self._children.append(attached.session_id)
            kind = attached.target_info.get("type", "")
            if session in self._near and kind == "worker":
                self._near.add(attached.session_id)
            self._prepare(attached.session_id, kind)
        elif method == "Page.javascriptDialogOpening":
            self._tools.call("Page.handleJavaScriptDialog", {"accept": False}, session)
        elif method == "Inspector.targetCrashed" and session == self._session:
            self.fail(TabCrashed())

    def _on_request(self, session: str, paused: Paused) -> None:
        def tell(method: str, params: dict[str, Any]) -> None:
            self._tools.call(method, params, session)

        if self._load is None:  # what was read already wants more
            tell("Fetch.failRequest", {"requestId": paused.request_id, "errorReason": "Aborted"})
        elif not self._door.needs_session(self._load, paused):
            self._door.answer(self._load, paused, tell)
        elif paused.frame_id == self._load.frame:
            self._door.answer(self._load, paused, tell, own=True)
        elif session not in self._near:  # the browser keeps frames of other sites in processes of their own
            self._door.answer(self._load, paused, tell)
        else:
            run(self._answer_frame(self._load, paused, tell))

    async def _answer_frame(self, load: PageLoad, paused: Paused, tell: Callable[[str, dict[str, Any]], None]) -> None:
        """Answers a frame of the page, or one of its workers."""
        try:
            own = await self._is_own(load, paused.frame_id)
        except (CallRefused, TimedOut):
            own = False
        except (TabCrashed, BrowserGone):
            return
        if load is self._load:
            self._door.answer(load, paused, tell, own)

    async def _is_own(self, load: PageLoad, frame: str) -> bool:
        """Whether a frame belongs to the page's site. The page's process knows all documents from
        which its frames ask.
        """
        deadline = time.monotonic() + _TO_LOOK
        tree: msgspec.Raw = await self.within(self.call("Page.getFrameTree"), deadline)
        around = frames_around(tree, frame)
        for each in around:
            if each not in load.origins:
                load.origins[each] = await self._origin(each[0], deadline)
            if load.origins[each] != load.origin:
                load.foreign.add(each[0])
        return bool(around) and not any(id in load.foreign for id, _ in around)

    async def _origin(self, frame: str, deadline: float) -> str:
        """The origin of what a frame shows. It is `null` in a sandbox, whatever the address."""
        made: msgspec.Raw = await self.within(
            self.call("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD}), deadline
        )
        world = msgspec.json.decode(made)["executionContextId"]
        asked = {"expression": "self.origin", "returnByValue": True, "contextId": world}
        said: msgspec.Raw = await self.within(self.call("Runtime.evaluate", asked), deadline)
        return str(msgspec.json.decode(said)["result"].get("value"))

    # ---- for whoever renders

    async def navigate(self, load: PageLoad, deadline: float, keep_cookies: bool) -> None:
        """Begins to load a page. What earlier pages kept in the browser is gone."""
        self.pages += 1
        self._load, load.frame, load.on_change = load, self.target, self._wake
        kept = _KEPT if keep_cookies else f"{_KEPT},cookies"
        session_storage = {"securityOrigin": load.origin, "isLocalStorage": False}
        self._world = 0
        with self._tools.together():
            self.call("Storage.clearDataForOrigin", {"origin": load.origin, "storageTypes": kept})
            self.call("DOMStorage.clear", {"storageId": session_storage})
            if "#" in load.address:  # else another fragment of the same document would not load it
                self.call("Page.navigate", {"url": "about:blank"})
            navigated = self.call("Page.navigate", {"url": load.address})
        await self.within(navigated, deadline)

    def leave(self) -> None:
        """The page was read: it gets nothing more."""
        self._load = None
        for session in self._children:
            self._tools.forget(session, TabCrashed())
        self._children.clear()
        self._near = {self._session}

    async def sleep(self, until: float) -> None:
        """Waits until a time or until the page gets an answer."""
        self._sleep = Promise()
        nap = self._sleep
        self._timers.at(until, lambda: nap.keep(None))
        await nap

    def _wake(self) -> None:
        self._sleep.keep(None)

    async def within(self, promise: Promise[T], deadline: float) -> T:
        """Waits for a promise until a time; raises TimedOut then."""
        self._timers.at(deadline, lambda: promise.break_(TimedOut()))
        return await promise

    async def world(self, deadline: float) -> int:
        """The number of our own world of the page."""
        if not self._world:
            made = self.call("Page.createIsolatedWorld", {"frameId": self.target, "worldName": WORLD})
            world: msgspec.Raw = await self.within(made, deadline)
            self._world = msgspec.json.decode(world)["executionContextId"]
        return self._world

    async def evaluate(self, expression: str, deadline: float, ours: bool = True) -> Any:
        """The value of an expression in our own world of the page, or in the page's. None if it
        raises an error.
        """
        asked: dict[str, Any] = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        known = self._world
        try:
            if ours:
                asked["contextId"] = await self.world(deadline)
            result: msgspec.Raw = await self.within(self.call("Runtime.evaluate", asked), deadline)
        except CallRefused as error:
            self._world = 0
            if not ours or not known or _NO_SUCH_WORLD not in str(error):
                raise
            return await self.evaluate(expression, deadline)  # the page has another document now, and nothing was run
        answer = msgspec.json.decode(result)
        return None if "exceptionDetails" in answer else answer["result"].get("value")

    async def is_busy(self, patience: float) -> bool:
        """Whether the page's scripts have been running without a break for `patience` seconds."""
        try:
            await self.evaluate("1", time.monotonic() + patience)
        except TimedOut:
            return True
        except CallRefused:  # it is between two documents
            pass
        return False

    def interrupt(self) -> None:
        """Ends the script that runs now. What it made of the page stays."""
        self.call("Runtime.terminateExecution")

    def freeze(self) -> None:
        """No script of the page runs from now on, so that it can be read."""
        self.healthy = False
        self.call("Emulation.setScriptExecutionDisabled", {"value": True})
        self.interrupt()

    def fail(self, error: Exception) -> None:
        """The tab is of no more use: whoever waits for it is told why."""
        self.healthy = False
        for session in (self._session, *self._children):
            self._tools.forget(session, error)
        self._sleep.break_(error)

    def close(self) -> None:
        self.fail(TabCrashed())
        self._tools.call("Target.disposeBrowserContext", {"browserContextId": self.context})


OnTab = Callable[[Tab], None]
