"""The manners towards one host: its queue, its rules and its pause. A pausing host holds no slot."""

from collections import deque

from sanderling.client.robots import Rules
from sanderling.model import Outcome, Robots, Task
from sanderling.settings import Settings

# How fast the estimate of a page's time follows; 0.2 forgets an outlier in about ten pages.
_SMOOTHING = 0.2


class Site:
    """One host that this client visits."""

    __slots__ = (
        "connections", "dead", "in_flight", "interval", "next_at", "origin", "queue", "robots",
        "rules", "scheduled", "seconds", "settings", "told", "trusted",
    )  # fmt: skip

    def __init__(self, origin: str, trusted: bool, settings: Settings) -> None:
        self.origin = origin
        self.trusted = trusted
        self.settings = settings
        self.queue: deque[Task] = deque()
        self.connections = 1
        self.in_flight = 0
        self.next_at = 0.0
        self.robots: Robots | None = None
        self.rules: Rules | None = None
        self.scheduled = False
        self.seconds = 0.0
        self.interval = 0.0
        self.told = True  # the server knows what we know
        # Until when every fetch would end the same way, and how.
        self.dead: tuple[float, Outcome, str] = (0.0, Outcome.RETRY, "")

    def learn(self, robots: Robots, agent: str) -> None:
        self.robots = robots
        self.rules = Rules(robots, agent)
        self.told = False

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
        self.next_at = now + pause
        spent = seconds + pause
        self.interval += (spent - self.interval) * (_SMOOTHING if self.interval else 1.0)
        self.told = False

    def ready(self, now: float) -> bool:
        return bool(self.queue) and self.in_flight < self.connections and self.next_at <= now
