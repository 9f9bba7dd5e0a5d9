"""The time of a synthetic web."""

import time


class Clock:
    """Stands still unless told to move, or runs `speed` times as fast as the real one."""

    def __init__(self, now: float = 0.0, speed: float = 0.0) -> None:
        self.speed = speed
        self._at = now
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
