"""Robots rules by RFC 9309: 4xx allows all, 5xx and silence forbid all for now, else the text
decides."""

from msgspec.structs import replace

from sanderling.clock import DAY
from sanderling.documents.robots import group_for
from sanderling.model import Robots
from sanderling.model.reasons import reason
from sanderling.network import products
from sanderling.urls import document_of

# RFC 9309 wants at least this much of a robots.txt to be read; the rest is ignored.
LARGEST = 500 * 1024
KEPT = DAY
MAX_REDIRECTS = 5
# The longest Crawl-delay that is respected, in seconds. A year would keep a crawl from ever ending.
LONGEST_DELAY = 180.0


def judge(status: int, body: bytes, error: str, at: float, certificate_ends: float = 0.0) -> Robots:
    """What an attempt to read robots.txt means."""
    return replace(_judged(status, body, error, at), certificate_ends=certificate_ends)


def _judged(status: int, body: bytes, error: str, at: float) -> Robots:
    if 200 <= status < 300:
        # Drop the last line if it may be cut: half a rule means something else.
        text = body if len(body) < LARGEST else body[:LARGEST].rpartition(b"\n")[0]
        return Robots(at, None, text.decode("utf-8-sig", "replace"), reason("robots-read", status))
    if status == 429 or status >= 500:
        return Robots(at, False, "", reason("robots-failed", status))
    if 300 <= status < 500:
        return Robots(at, True, "", reason("robots-missing", status))
    return Robots(at, False, "", reason("robots-unreadable", error))


class RobotsRules:
    """A host's rules, ready to ask."""

    def __init__(self, robots: Robots, agent: str) -> None:
        self._robots = robots
        self._rules = group_for(robots.text, products(agent)) if robots.allowed is None else None
        self.crawl_delay = min(self._rules.crawl_delay, LONGEST_DELAY) if self._rules else 0.0

    @property
    def unreachable(self) -> bool:
        """Whether everything is forbidden only until robots.txt can be read."""
        return self._robots.allowed is False

    @property
    def reason(self) -> str:
        return self._robots.reason

    def allows(self, url: str) -> bool:
        if self._rules is None:
            return bool(self._robots.allowed)
        return self._rules.allows(document_of(url))
