"""The time of a synthetic web."""

import time


class Clock:
    """A clock that runs `speed` times as fast as real time. With 0 it moves only when a test sets
    it."""

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self._at = 0.0
        self._since = time.monotonic()

    @property
    def now(self) -> float:
        return self._at + self.speed * (time.monotonic() - self._since) if self.speed else self._at

    @now.setter
    def now(self, t: float) -> None:
        self._since = time.monotonic()
        self._at = t

    def advance(self, seconds: float) -> None:
        self.now += seconds
