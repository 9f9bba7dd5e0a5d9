"""The manners towards one host: its queue, its rules and its pause. A pausing host holds no slot.

Where hosts at one address shall be as one, they share a `Pause`: only one of them is asked at a time, and after each
fetch all of them wait. Which address a host has is known at the moment a connection is made; a host that finds its
address in use goes back to wait for its turn before anything is sent.
"""

import time
from collections import deque

from sanderling.client.robots import RobotsRules
from sanderling.model import Outcome, Robots, Task
from sanderling.settings import Settings

# How fast the estimate of a page's time follows; 0.2 forgets an outlier in about ten pages.
_SMOOTHING = 0.2
# Times that went to the server and back are off by much less than so many seconds.
CLOCK_ERROR = 1.0


class Pause:
    """When a host, or the hosts at one address, may be asked next."""

    __slots__ = ("next_at", "user", "waiting")

    def __init__(self) -> None:
        self.next_at = 0.0
        self.user: PoliteHost | None = None  # who has requests on their way
        self.waiting: deque[PoliteHost] = deque()


Pauses = dict[str, Pause]  # by address


class PoliteHost:
    """One host that this client visits."""

    __slots__ = (
        "address", "connections", "dead", "in_flight", "interval", "origin", "pause", "pauses", "queue", "robots",
        "robots_told", "rules", "scheduled", "settings", "told", "trusted",
    )  # fmt: skip

    def __init__(self, origin: str, trusted: bool, settings: Settings, pauses: Pauses | None = None) -> None:
        """`pauses` are those of all addresses, when hosts at one address share theirs."""
        self.origin = origin
        self.trusted = trusted
        self.settings = settings
        self.queue: deque[Task] = deque()
        self.connections = 1
        self.in_flight = 0
        self.pause = Pause()
        self.pauses = pauses
        self.address = ""
        self.robots: Robots | None = None
        self.rules: RobotsRules | None = None
        self.scheduled = False

        self.interval = 0.0
        self.told = True  # the server knows what we know
        self.robots_told = True
        # Until when every fetch would end the same way, and how.
        self.dead: tuple[float, Outcome, str] = (0.0, Outcome.RETRY, "")

    def learn(self, robots: Robots, agent: str) -> None:
        """Takes over what the host itself said; the server does not know it yet."""
        self._follow(robots, agent)
        self.told = self.robots_told = False

    def hear_of(self, robots: Robots, agent: str) -> None:
        """Takes over what the server knows, unless it is older than what we know."""
        if self.robots is None or robots.at > self.robots.at + CLOCK_ERROR:
            self._follow(robots, agent)
            self.robots_told = True

    def _follow(self, robots: Robots, agent: str) -> None:
        self.robots = robots
        self.rules = RobotsRules(robots, agent)

    def pause_after(self, seconds: float, now: float, asked: float = 0.0) -> None:
        """Sets when the host may be asked next, after a fetch that took the server `seconds`.

        `asked` is the pause that the server wants; it is granted as far as the longest pause of ours.
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
        """Whether a connection to an address may be made now; from now on it shares the pause of that address."""
        assert self.pauses is not None
        pause = self.pauses.setdefault(address, Pause())
        self.address = address
        if pause is self.pause:
            return True
        before, self.pause = self.pause, pause
        if before.user is self:
            before.user = None
            for other in before.waiting:  # they met there, and will meet here
                other.pause = pause
            pause.waiting.extend(before.waiting)
            before.waiting.clear()
        if not self.may_ask(time.monotonic()):
            return False
        pause.user = self
        return True
