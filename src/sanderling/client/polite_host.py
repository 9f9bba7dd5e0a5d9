"""Politeness towards one host: its queue, its rules and its pause. A host that pauses uses no
connection slot.

With `by_address`, the hosts at one address share a `Pause`: only one of them is asked at a time,
and after each fetch all of them wait. The address of a host is known when a connection is made. If
the address is in use then, nothing is sent and the host waits for its turn.
"""

import time
from collections import deque

from sanderling.client.robots import RobotsRules
from sanderling.model import Outcome, Robots, Task
from sanderling.settings import Settings

# How fast the estimate of the time for a page follows. With 0.2, an outlier is forgotten after
# about ten pages.
_SMOOTHING = 0.2
# In seconds. A time that went to the server and back is off by much less.
CLOCK_ERROR = 1.0


class Pause:
    """When a host, or the hosts at one address, may be asked next."""

    __slots__ = ("next_at", "user", "waiting")

    def __init__(self) -> None:
        self.next_at = 0.0
        self.user: PoliteHost | None = None  # the host with requests in flight
        self.waiting: deque[PoliteHost] = deque()


Pauses = dict[str, Pause]  # by address


class PoliteHost:
    """One host that this client visits."""

    __slots__ = (
        "address", "connected", "connections", "dead", "in_flight", "interval", "origin", "pause", "pauses", "private", "queue",
        "robots", "robots_told", "rules", "scheduled", "settings", "told", "trusted",
    )  # fmt: skip

    def __init__(self, origin: str, trusted: bool, settings: Settings, pauses: Pauses | None = None) -> None:
        """`pauses` are those of all addresses, if hosts at one address share one."""
        self.origin = origin
        self.trusted = trusted
        self.private: tuple[str, ...] = ()  # the private addresses at which it may be
        self.settings = settings
        self.queue: deque[Task] = deque()
        self.connections = 1
        self.connected = 0.0  # the seconds of the quickest connection; 0 for none yet
        self.in_flight = 0
        self.pause = Pause()
        self.pauses = pauses
        self.address = ""
        self.robots: Robots | None = None
        self.rules: RobotsRules | None = None
        self.scheduled = False
        self.interval = 0.0
        self.told = True  # the server knows all of this
        self.robots_told = True
        # Until when every fetch would fail, with which outcome and reason.
        self.dead: tuple[float, Outcome, str] = (0.0, Outcome.RETRY, "")

    def learn(self, robots: Robots, agent: str) -> None:
        """Follows what the host answered. The server does not know it yet."""
        self._follow(robots, agent)
        self.told = self.robots_told = False

    def hear_of(self, robots: Robots, agent: str) -> None:
        """Follows what the server knows, if it is newer."""
        if self.robots is None or robots.at > self.robots.at + CLOCK_ERROR:
            self._follow(robots, agent)
            self.robots_told = True

    def _follow(self, robots: Robots, agent: str) -> None:
        self.robots = robots
        self.rules = RobotsRules(robots, agent)

    def pause_after(self, seconds: float, now: float, asked: float = 0.0) -> None:
        """Sets when the host may be asked next, after a fetch that took `seconds`.

        `asked` is the pause that the host wants. It gets at most `max_delay`.
        """
        settings = self.settings
        if settings.delay is not None:
            pause = settings.delay
        else:
            pause = min(seconds * settings.delay_factor, settings.max_delay)
        if self.rules is not None and not settings.ignore_robots:
            pause = max(pause, self.rules.crawl_delay)
        if asked:
            pause = max(pause, min(asked, settings.max_delay))
        self.pause.next_at = now + pause
        spent = seconds + pause
        self.interval += (spent - self.interval) * (_SMOOTHING if self.interval else 1.0)
        self.told = False

    def ready(self, now: float) -> bool:
        return bool(self.queue) and self.in_flight < self.connections and self.may_ask(now)

    def may_ask(self, now: float) -> bool:
        return self.pause.next_at <= now and self.alone()

    def alone(self) -> bool:
        """Whether no other host at its address is being asked."""
        return self.pause.user is None or self.pause.user is self

    def meet(self, address: str) -> bool:
        """Whether a connection to an address may be made now. From now on the host shares the pause
        of the address."""
        assert self.pauses is not None
        pause = self.pauses.setdefault(address, Pause())
        self.address = address
        if pause is self.pause:
            return True
        before, self.pause = self.pause, pause
        if before.user is self:
            before.user = None
            for other in before.waiting:  # they wait for the same address
                other.pause = pause
            pause.waiting.extend(before.waiting)
            before.waiting.clear()
        if not self.may_ask(time.monotonic()):
            return False
        pause.user = self
        return True
