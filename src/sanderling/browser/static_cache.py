"""Static files that all pages of a crawl share: scripts and style sheets are fetched once, not once
a page."""

import re
import time
from collections import OrderedDict
from typing import NamedTuple

from sanderling.browser.sources import PageSource
from sanderling.client.fetcher import Response

# Together, in bytes. An application is a few megabytes.
ROOM = 64 << 20
# How long a file is used without a word of its server about that, and how long at most. In seconds.
UNSAID, LONGEST = 600.0, 86_400.0
MOST_VERIFIED = 10_000
_AGE = re.compile(r"(?:^|[\s,])max-age=(\d{1,18})\s*(?:,|$)", re.ASCII)
_STATIC = ("Script", "Stylesheet", "Font", "Image")


class BrowserAnswer(NamedTuple):
    """A response in the form in which the browser gets it."""

    status: int
    headers: list[dict[str, str]]
    body: str  # base64
    source: PageSource | None = None  # what it is to a page that is made from it


class StaticCache:
    """The files that were used last, up to a size."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._size = 0
        self._kept: OrderedDict[str, tuple[float, BrowserAnswer]] = OrderedDict()

    def find(self, url: str, sender: str = "") -> BrowserAnswer | None:
        """The answer that was kept. `sender` is the origin that the request says it comes from."""
        for name in (url, _for(sender, url)):
            found = self._kept.get(name)
            if found is not None and found[0] < time.monotonic():
                self._drop(name)
            elif found is not None:
                self._kept.move_to_end(name)
                return found[1]
        return None

    def add(self, url: str, sender: str, kind: str, response: Response, answer: BrowserAnswer) -> None:
        """Keeps an answer if it may be used again; `kind` is what the browser wants it for."""
        seconds = lifetime(kind, response)
        if seconds <= 0 or len(answer.body) > self._room // 4:
            return
        if "origin" in response.value_of(b"vary").lower():
            url = _for(sender, url)
        self._drop(url)
        self._kept[url] = time.monotonic() + seconds, answer
        self._size += len(answer.body)
        while self._size > self._room:
            self._drop(next(iter(self._kept)))

    def _drop(self, url: str) -> None:
        found = self._kept.pop(url, None)
        if found is not None:
            self._size -= len(found[1].body)


def _for(sender: str, url: str) -> str:
    """What an answer is kept under that is for one sender only."""
    return f"{url} for {sender}"


class Verified:
    """The digests of shared files that were asked for and found to be as they were."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def find(self, url: str) -> bytes | None:
        until, digest = self._known.get(url, (0.0, b""))
        return digest if until > time.monotonic() else None

    def add(self, url: str, digest: bytes) -> None:
        self._known[url] = time.monotonic() + UNSAID, digest
        while len(self._known) > MOST_VERIFIED:
            self._known.popitem(last=False)


def lifetime(kind: str, response: Response) -> float:
    """For how many seconds an answer may be used again."""
    if response.status != 200 or response.truncated or kind not in _STATIC:
        return 0.0
    vary = response.value_of(b"vary").lower()
    said = response.value_of(b"cache-control").lower()
    if "no-store" in said or "no-cache" in said or "private" in said or "*" in vary or "cookie" in vary:
        return 0.0
    age = _AGE.search(said)
    return min(float(age[1]), LONGEST) if age else UNSAID
