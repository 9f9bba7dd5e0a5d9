"""Asks whether URLs that a crawl does not fetch are still there, each once and with all manners:
robots.txt decides, one request at a time to a host, with a pause between two."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import NamedTuple

from sanderling import clock
from sanderling.client.robots import LARGEST, MAX_REDIRECTS, RobotsRules, judge
from sanderling.model import Robots
from sanderling.network import agent
from sanderling.network.one_request import Answer, request
from sanderling.network.reach import NetworkReach
from sanderling.settings import Settings
from sanderling.urls import origin, redirected

MOST_REDIRECTS = 10
_HOSTS_AT_ONCE = 16
_PAUSE = 1.0  # seconds between two requests to a host, if the user chose nothing
# A server that answers one of these may only dislike the question.
_NOT_FOR_HEAD = {0, 400, 403, 404, 405, 406, 410, 500, 501, 502, 503}
_MOVED, _FOR_EVER = {301, 302, 303, 307, 308}, {301, 308}
_TOO_OFTEN = {429, 999}


class Outside(NamedTuple):
    """How a URL answered. Without a status and a problem, it was not asked."""

    status: int = 0
    problem: str = ""
    target: str = ""  # where it has moved for good


class _Asker:
    """Asks the URLs of one host, one after the other."""

    def __init__(self, settings: Settings, reach: Callable[[str], NetworkReach]) -> None:
        self._settings, self._reach = settings, reach
        self._rules: dict[str, RobotsRules] = {}
        self._asked_at = 0.0

    def ask(self, url: str) -> Outside:
        target, for_ever, seen = url, True, {url}
        for _ in range(MOST_REDIRECTS):
            if not self._allowed(target):
                return Outside()
            answer = self._answer(target)
            if answer.status not in _MOVED:
                return _judged(answer, target if for_ever and target != url else "")
            for_ever = for_ever and answer.status in _FOR_EVER
            following = redirected(target, answer.headers.get("location", ""))
            if following is None:
                return Outside(answer.status, "redirects to no address")
            if following in seen:
                return Outside(answer.status, "redirects in a circle")
            seen.add(following)
            target = following
        return Outside(0, f"more than {MOST_REDIRECTS} redirects")

    def _allowed(self, url: str) -> bool:
        home = origin(url)
        if home not in self._rules:
            self._rules[home] = RobotsRules(self._robots(home), agent(self._settings))
        rules = self._rules[home]
        # A host whose robots.txt cannot be read is asked: whether it answers is the question.
        return rules.unreachable or rules.allows(url)

    def _robots(self, home: str) -> Robots:
        url = f"{home}/robots.txt"
        for _ in range(MAX_REDIRECTS):
            answer = self._request(url, most=LARGEST)
            following = redirected(url, answer.headers.get("location", "")) if answer.status in _MOVED else None
            if following is None:
                break
            url = following
        return judge(answer.status, answer.body, answer.error, clock.now())

    def _answer(self, url: str) -> Answer:
        answer = self._request(url, head=True)
        return self._request(url) if answer.status in _NOT_FOR_HEAD else answer

    def _request(self, url: str, head: bool = False, most: int = 1024) -> Answer:
        home = self._rules.get(origin(url))
        delay = _PAUSE if self._settings.delay is None else self._settings.delay
        pause = max(delay, home.crawl_delay if home else 0.0)
        time.sleep(max(0.0, self._asked_at + pause - time.monotonic()))
        self._asked_at = time.monotonic()
        return request(
            url, agent=agent(self._settings), reach=self._reach(url), most=most, head=head, proxy=self._settings.proxy,
        )  # fmt: skip


def _judged(answer: Answer, target: str) -> Outside:
    if answer.status in _TOO_OFTEN:
        return Outside()
    if not answer.status:
        return Outside(0, answer.error or "no answer")
    return Outside(answer.status, "" if answer.status < 400 else f"answered {answer.status}", target)


def ask_all(
    urls: Iterable[str], settings: Settings, reach: Callable[[str], NetworkReach], progress: Callable[[int], None]
) -> dict[str, Outside]:
    """The answer of each URL. `reach` says where the request for one may lead."""
    by_host: dict[str, list[str]] = {}
    for url in dict.fromkeys(urls):
        by_host.setdefault(origin(url), []).append(url)

    def ask_host(of_host: list[str]) -> dict[str, Outside]:
        asker = _Asker(settings, reach)
        return {url: asker.ask(url) for url in of_host}

    found: dict[str, Outside] = {}
    with ThreadPoolExecutor(_HOSTS_AT_ONCE) as pool:
        for done in as_completed([pool.submit(ask_host, of_host) for of_host in by_host.values()]):
            found |= done.result()
            progress(len(found))
    return found
