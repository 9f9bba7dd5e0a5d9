"""Robots rules for what pages ask for: each origin's robots.txt is read before anything else is
fetched from it."""

import time
from collections import OrderedDict
from collections.abc import Callable

from sanderling.client import robots
from sanderling.client.arrival import REDIRECTS
from sanderling.client.fetcher import Request, Response
from sanderling.client.robots import RobotsRules
from sanderling.urls import join, origin

MOST_ORIGINS = 5_000

# Called with whether a URL may be fetched.
Decided = Callable[[bool], None]
# Sends a request; the function is called with its response.
Send = Callable[[Request, Callable[[Response], None]], None]


class RobotsBook:
    """The rules of the origins that were asked last."""

    def __init__(self, agent: str, send: Send) -> None:
        self._agent = agent
        self._send = send
        self._rules: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()
        self._waiting: dict[str, list[tuple[str, Decided]]] = {}

    def ask(self, request: Request, decided: Decided) -> None:
        """Says whether a request may be sent, at once if the rules are known."""
        url, home = request.url, origin(request.url)
        known = self._rules.get(home)
        if known is not None and time.monotonic() - known[0] < (1.0 if known[1].unreachable else robots.KEPT):
            self._rules.move_to_end(home)
            decided(known[1].allows(url))
            return
        waiting = self._waiting.setdefault(home, [])
        waiting.append((url, decided))
        if len(waiting) == 1:
            self._fetch(request, f"{home}/robots.txt", 0)

    def _fetch(self, asking: Request, url: str, hops: int) -> None:
        own = origin(url) == origin(asking.url)
        request = Request(url, asking.trusted and own, robots.LARGEST, private=asking.private if own else ())
        self._send(request, lambda response: self._read(asking, url, hops, response))

    def _read(self, asking: Request, url: str, hops: int, response: Response) -> None:
        home = origin(asking.url)
        if response.status in REDIRECTS and hops < robots.MAX_REDIRECTS:
            target = join(url, response.location())
            if target is not None:
                self._fetch(asking, target, hops + 1)
                return
        found = robots.judge(response.status, response.body, response.error, time.monotonic())
        rules = RobotsRules(found, self._agent)
        self._rules[home] = found.at, rules
        while len(self._rules) > MOST_ORIGINS:
            self._rules.popitem(last=False)
        for asked, decided in self._waiting.pop(home, []):
            decided(rules.allows(asked))
