"""Where host names lead. They are looked up in threads, ahead of the first request to their host.

An answer is kept for its time to live. libcurl gets it with the next request, and looks up itself
what is not known.

Where a proxy opens the connections, a discovered name must not lead to a private network, so
requests wait for the answer, and are not sent without one. With `socks5://` the answer is also what
the proxy is told. An HTTP proxy asks a resolver of its own, which may answer otherwise. With
`socks5h://` nothing is looked up: whoever chooses it does not want this machine to ask for names.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

from sanderling.client.loop import READ, Loop
from sanderling.network import addresses_of, dns
from sanderling.settings import Settings

# A name without an answer takes a thread for ten seconds or so: with a hundred new names a second
# and one in fifty of that kind, twenty threads wait for nothing. Behind a slow resolver 300 hosts
# took 72 s instead of 93 with 8 threads.
THREADS = 32
# How long an answer is kept that does not say how long it is valid, and a missing answer, in
# seconds.
KEPT, UNKNOWN_KEPT = 600.0, 60.0
# No answer is kept for less or for more.
SHORTEST, LONGEST = 5.0, 86_400.0
MOST = 20_000
# Nobody waits longer for an answer, in seconds. A resolver gives up by then, too.
PATIENCE = 30.0

Then = Callable[[list[str] | None], None]


def looks_up(settings: Settings) -> bool:
    """Whether requests wait for the addresses of their names."""
    proxy = settings.proxy or "socks5h:"
    return not settings.allow_private and not proxy.startswith("socks5h:")


class Names:
    """Looks up names without making the loop wait."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._answers: dict[str, tuple[float, list[str]]] = {}  # with when they are to be forgotten
        self._asking: dict[str, list[Then]] = {}
        self._since: dict[str, float] = {}
        self._questions: SimpleQueue[str] = SimpleQueue()
        self._found: SimpleQueue[tuple[str, list[str], float]] = SimpleQueue()
        self._threads = 0
        self._guard = threading.Lock()  # of the descriptor below, which another file may get when it is closed
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._timer = loop.timer(self._give_up)
        loop.watch(self._wake, READ, self._on_answer)

    def ask(self, name: str, then: Then) -> None:
        """Calls `then` with the addresses of a name, now or soon; without any if it has none, and
        with None if there is no answer."""
        if (addresses := self.known(name)) is not None:
            then(addresses)
            return
        self._begin(name).append(then)

    def expect(self, name: str) -> None:
        """Looks a name up that will be needed soon."""
        if name not in self._asking and self.known(name) is None:
            self._begin(name)

    def known(self, name: str) -> list[str] | None:
        """The addresses of a name, while they may be used; None if it has to be looked up."""
        until, addresses = self._answers.get(name, (0.0, []))
        return addresses if until > time.monotonic() else None

    def close(self) -> None:
        self._loop.unwatch(self._wake)
        with self._guard:
            os.close(self._wake)
            self._wake = -1

    def _begin(self, name: str) -> list[Then]:
        if name not in self._asking:
            now = time.monotonic()
            self._since[name] = now
            self._questions.put(name)
            self._timer.at = self._timer.at or now + PATIENCE
            if self._threads < min(THREADS, len(self._since)):
                self._threads += 1
                threading.Thread(target=self._look_up, daemon=True).start()
        return self._asking.setdefault(name, [])

    def _look_up(self) -> None:
        server = ""
        with suppress(OSError, ValueError):
            server = dns.name_server(dns.RESOLVER.read_text())
        while True:
            name = self._questions.get()
            addresses = addresses_of(name)
            kept = KEPT if addresses else UNKNOWN_KEPT
            if addresses and server and not name.endswith("localhost"):
                kept = dns.time_to_live(name, server) or kept
            self._found.put((name, addresses, max(SHORTEST, min(kept, LONGEST))))
            with self._guard:
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
            self._since.pop(name)
            for then in self._asking.pop(name, ()):
                then(None)
        self._timer.at = min(self._since.values()) + PATIENCE if self._since else None

    def _answer(self, name: str, addresses: list[str], kept: float) -> None:
        if len(self._answers) >= MOST:
            self._answers.clear()
        self._answers[name] = (time.monotonic() + kept, addresses)
        self._since.pop(name, None)
        for then in self._asking.pop(name, ()):
            then(addresses)
