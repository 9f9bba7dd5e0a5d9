"""Where host names lead, if a proxy opens the connections.

A proxy connects to whatever a name means to it. So that a discovered name does not lead to a private network, names are
looked up here as well, in threads. With `socks5://` the answer is also what the proxy is told. An HTTP proxy asks a
resolver of its own, which may answer otherwise. With `socks5h://` nothing is looked up: whoever chooses it does not
want this machine to ask for names.
"""

import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from sanderling.client.loop import READ, Loop
from sanderling.network import addresses_of
from sanderling.settings import Settings

THREADS = 8
# An answer is used as long as libcurl uses one, in seconds.
KEPT = 600.0
MOST = 20_000
# Without an answer by then, a name counts as unknown.
PATIENCE = 3.0

Then = Callable[[list[str]], None]


def looks_up(settings: Settings) -> bool:
    proxy = settings.proxy or "socks5h:"
    return not settings.allow_private and not proxy.startswith("socks5h:")


class ProxiedNames:
    """Looks up names without making the loop wait."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._answers: dict[str, tuple[float, list[str]]] = {}  # with when they are to be forgotten
        self._asking: dict[str, list[Then]] = {}
        self._since: dict[str, float] = {}
        self._questions: SimpleQueue[str] = SimpleQueue()
        self._found: SimpleQueue[tuple[str, list[str]]] = SimpleQueue()
        self._threads = 0
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._timer = loop.timer(self._give_up)
        loop.watch(self._wake, READ, self._on_answer)

    def ask(self, name: str, then: Then) -> None:
        """Calls `then` with the addresses of a name, now or soon; with none if they are not known."""
        now = time.monotonic()
        until, addresses = self._answers.get(name, (0.0, []))
        if until > now:
            then(addresses)
            return
        if name not in self._asking:
            self._since[name] = now
            self._questions.put(name)
            self._timer.at = self._timer.at or now + PATIENCE
            if self._threads < THREADS:
                self._threads += 1
                threading.Thread(target=self._look_up, daemon=True).start()
        self._asking.setdefault(name, []).append(then)

    def close(self) -> None:
        self._loop.unwatch(self._wake)
        os.close(self._wake)
        self._wake = -1

    def _look_up(self) -> None:
        while True:
            name = self._questions.get()
            self._found.put((name, addresses_of(name)))
            if self._wake < 0:
                return
            os.eventfd_write(self._wake, 1)

    def _on_answer(self, fd: int, events: int) -> None:
        os.eventfd_read(fd)
        while not self._found.empty():
            self._answer(*self._found.get())

    def _give_up(self) -> None:
        """Goes on without the answers that take too long."""
        overdue = time.monotonic() - PATIENCE
        for name in [name for name, since in self._since.items() if since <= overdue]:
            self._answer(name, [])
        self._timer.at = min(self._since.values()) + PATIENCE if self._since else None

    def _answer(self, name: str, addresses: list[str]) -> None:
        if len(self._answers) >= MOST:
            self._answers.clear()
        self._answers[name] = (time.monotonic() + KEPT, addresses)
        self._since.pop(name, None)
        for then in self._asking.pop(name, ()):
            then(addresses)
