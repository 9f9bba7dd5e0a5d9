"""Numbers on calls: an engine may repeat a call or deliver two in another order, and it must change
nothing."""

import time
from collections import deque
from typing import NamedTuple


class InOrder:
    """Gives each numbered batch once, in the order of the numbers, which begin with 1."""

    def __init__(self) -> None:
        self.last = 0  # the batch that was given last
        self._early: dict[int, bytes] = {}

    def take(self, number: int, batch: bytes) -> list[bytes]:
        """The batches whose turn it is now."""
        if number > self.last:
            self._early.setdefault(number, batch)
        ready = []
        while (following := self._early.pop(self.last + 1, None)) is not None:
            self.last += 1
            ready.append(following)
        return ready


class Sent(NamedTuple):
    number: int
    at: float  # the monotonic clock when it was sent first
    content: bytes


class Unacknowledged:
    """Replies that the other side has not confirmed. One that is asked for again is the same
    again."""

    def __init__(self) -> None:
        self._replies: deque[Sent] = deque()
        self._last = 0
        self.confirmed_at = time.monotonic()  # the other side was there after this

    @property
    def next_number(self) -> int:
        return self._last + 1

    @property
    def size(self) -> int:
        return sum(len(each.content) for each in self._replies)

    def acknowledge(self, seen: int) -> None:
        """The other side has all replies up to a number.

        What counts for the confirmation is when a reply was sent, not when its acknowledgement
        came: the other side knows that moment to be before the one at which it received the reply.
        """
        while self._replies and self._replies[0].number <= seen:
            self.confirmed_at = max(self.confirmed_at, self._replies.popleft().at)

    def after(self, seen: int) -> bytes | None:
        """The reply that follows a number, if it was made before."""
        return next((each.content for each in self._replies if each.number == seen + 1), None)

    def add(self, content: bytes) -> bytes:
        self._last += 1
        self._replies.append(Sent(self._last, time.monotonic(), content))
        return content
