"""Tells others at once: search engines and Sanderling by IndexNow, hubs of feeds by WebSub.

Each address has its own cursor in the memory. What was not taken is sent again, after a longer and
longer pause, also when the announcer was restarted meanwhile.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from sanderling_announce.change import ReportedChange
from sanderling_announce.pages import origin
from sanderling_announce.tools import Post, PostAnswer

INDEXNOW = "https://api.indexnow.org/indexnow"
# URLs of one request, by the protocol.
MOST_URLS = 10_000

FIRST_PAUSE, LONGEST_PAUSE = 2.0, 3600.0


class PushAddress(NamedTuple):
    kind: Literal["indexnow", "websub"]
    url: str


class PushRequest(NamedTuple):
    headers: dict[str, str]
    body: bytes


def indexnow(site: str, key: str, key_url: str, urls: Iterable[str]) -> list[PushRequest]:
    """The requests that tell of URLs, each of at most 10,000."""
    host = origin(site).partition("://")[2]
    listed = list(dict.fromkeys(urls))
    return [
        PushRequest(
            {"Content-Type": "application/json; charset=utf-8"},
            json.dumps(
                {"host": host, "key": key, "keyLocation": key_url, "urlList": listed[at : at + MOST_URLS]}
            ).encode(),
        )
        for at in range(0, len(listed), MOST_URLS)
    ]


def websub(feeds: Iterable[str]) -> list[PushRequest]:
    """A ping for each feed that changed."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return [PushRequest(headers, urlencode({"hub.mode": "publish", "hub.url": feed}).encode()) for feed in feeds]


class Push:
    """What is sent to one address. One request is under way at a time, in a thread that ends with
    the process."""

    def __init__(self, address: PushAddress, post: Post, say: Callable[[str], None], wake: Callable[[], None]) -> None:
        self.address = address
        self._post = post
        self._say = say
        self._wake = wake
        self._not_before = 0.0
        self._failures = 0
        self._thread: threading.Thread | None = None
        self._outcome: tuple[int, PostAnswer] | None = None

    @property
    def busy(self) -> bool:
        return self._thread is not None

    def wants(self, now: float) -> bool:
        return self._thread is None and now >= self._not_before

    @property
    def next_at(self) -> float:
        return float("inf") if self._thread else self._not_before

    def send(self, cursor: int, requests: list[PushRequest]) -> None:
        self._thread = threading.Thread(target=self._send, args=(cursor, requests), daemon=True)
        self._thread.start()

    def _send(self, cursor: int, requests: list[PushRequest]) -> None:
        answer = PostAnswer(status=200)
        for request in requests:
            answer = self._post(self.address.url, request.headers, request.body)
            if not answer.taken:
                break
        self._outcome = (cursor, answer)
        self._wake()

    def outcome(self, now: float) -> int | None:
        """The cursor up to which the address knows all, when a request has ended well."""
        if self._outcome is None or self._thread is None:
            return None
        self._thread.join()
        (cursor, answer), self._outcome, self._thread = self._outcome, None, None
        if answer.taken or answer.status in (400, 422):
            if not answer.taken:
                self._say(f"{self.address.url} refuses what it was told: {answer.complaint}; it is not sent again")
            elif self._failures:
                self._say(f"{self.address.url} takes what it is told again")
            self._failures, self._not_before = 0, 0.0
            return cursor
        pause = max(answer.retry_after, min(FIRST_PAUSE * 2**self._failures, LONGEST_PAUSE))
        if not self._failures:
            self._say(f"{self.address.url} was not told: {answer.complaint}; it is tried again")
        self._failures += 1
        self._not_before = now + min(pause, LONGEST_PAUSE)
        return None


def feeds_among(changes: Iterable[ReportedChange], feeds: frozenset[str]) -> list[str]:
    return [change.url for change in changes if change.url in feeds and change.what != "gone"]
