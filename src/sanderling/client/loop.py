"""The event loop of a client. It waits for the sockets and timers of all fetchers and for the
server's line."""

import contextlib
import select
import time
from collections.abc import Callable

READ, WRITE = select.EPOLLIN, select.EPOLLOUT
# Reading does not block: there is data, or the end or an error.
READABLE = select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR

Ready = Callable[[int, int], None]  # a descriptor, and what it is ready for


class Timer:
    """Rings once when `at` has come, by the monotonic clock; None for not at all."""

    __slots__ = ("at", "ring")

    def __init__(self, ring: Callable[[], None]) -> None:
        self.at: float | None = None
        self.ring = ring


class Loop:
    """Watches descriptors and timers; whoever registered one is called when it is ready."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._watched: dict[int, Ready] = {}
        self._timers: list[Timer] = []

    def watch(self, fd: int, events: int, ready: Ready) -> None:
        """Calls `ready` whenever one of these events happens. Replaces an earlier watch of the
        descriptor."""
        try:
            (self._epoll.modify if fd in self._watched else self._epoll.register)(fd, events)
        except FileNotFoundError:  # it was closed without a word, and another socket has its number
            self._epoll.register(fd, events)
        self._watched[fd] = ready

    def unwatch(self, fd: int) -> None:
        if self._watched.pop(fd, None) is not None:
            with contextlib.suppress(OSError, ValueError):  # it may have been closed already
                self._epoll.unregister(fd)

    def timer(self, ring: Callable[[], None]) -> Timer:
        made = Timer(ring)
        self._timers.append(made)
        return made

    def wait(self, timeout: float) -> None:
        """Waits until something has happened, for at most `timeout` seconds."""
        now = time.monotonic()
        for timer in self._timers:
            if timer.at is not None:
                timeout = min(timeout, max(0.0, timer.at - now))
        for fd, events in self._epoll.poll(timeout, 256):
            if (ready := self._watched.get(fd)) is not None:
                ready(fd, events)
        now = time.monotonic()
        for timer in self._timers:
            if timer.at is not None and timer.at <= now:
                timer.at = None
                timer.ring()

    def close(self) -> None:
        self._epoll.close()
