"""Coroutines over the client's loop. What takes several answers of the browser is written as one
function.

A coroutine awaits a `Promise`; whoever keeps or breaks the promise continues the coroutine, at once
and in its own call.
"""

import heapq
import time
from collections.abc import Callable, Coroutine, Generator
from itertools import count
from typing import Any, Generic, TypeVar

from sanderling.client.loop import Loop

T = TypeVar("T")


class Promise(Generic[T]):
    """A value that comes later, or the reason why it does not. The first word counts; later ones
    are ignored."""

    __slots__ = ("_error", "_then", "_value", "done")

    def __init__(self) -> None:
        self.done = False
        self._value: T | None = None
        self._error: Exception | None = None
        self._then: Callable[[], None] | None = None

    def keep(self, value: T) -> None:
        if not self.done:
            self.done, self._value = True, value
            self._tell()

    def break_(self, error: Exception) -> None:
        if not self.done:
            self.done, self._error = True, error
            self._tell()

    def then(self, call: Callable[[], None]) -> None:
        self._then = call
        if self.done:
            self._tell()

    def _tell(self) -> None:
        call, self._then = self._then, None
        if call is not None:
            call()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def __await__(self) -> Generator["Promise[Any]", None, T]:
        if not self.done:
            yield self
        return self.result()


def run(coroutine: Coroutine["Promise[Any]", None, T]) -> Promise[T]:
    """Runs a coroutine until its first promise, and on from there whenever one is kept. Returns a
    promise of its result."""
    ended: Promise[T] = Promise()

    def step() -> None:
        try:
            coroutine.send(None).then(step)
        except StopIteration as stop:
            ended.keep(stop.value)
        except Exception as error:
            ended.break_(error)

    step()
    return ended


class Timers:
    """Any number of times at which something is called, behind one timer of the loop."""

    def __init__(self, loop: Loop) -> None:
        self._timer = loop.timer(self._ring)
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Calls once at a time of the monotonic clock. There is no way back: the call has to check
        what is still true."""
        heapq.heappush(self._waiting, (when, next(self._number), call))
        self._timer.at = self._waiting[0][0]

    def _ring(self) -> None:
        now = time.monotonic()
        while self._waiting and self._waiting[0][0] <= now:
            heapq.heappop(self._waiting)[2]()
        self._timer.at = self._waiting[0][0] if self._waiting else None
