"""Finds out whether a host has the key file that an IndexNow message names, and remembers the
answer."""

import re
import threading
import time
from collections import OrderedDict
from typing import NamedTuple
from urllib.parse import urlsplit

from fastapi import HTTPException

from sanderling.network.one_request import request
from sanderling.urls import canonical, origin
from sanderling.web.receiving.rates import Buckets

_KEY = re.compile(r"[A-Za-z0-9-]{8,128}")
# Of a key file: the key, and perhaps a byte-order mark and the end of a line.
_MOST_BYTES = 512
_SECONDS = 10.0
# How long an answer is remembered: a key that was there, and one that was not.
_GOOD_FOR, _BAD_FOR = 24 * 3600.0, 60.0
_MOST_REMEMBERED = 10_000


class KeyFile(NamedTuple):
    """Where a key has to be, and whether that host may be at a private address."""

    key: str
    url: str
    private: bool


def place_of(key: str, location: str, home: str) -> str:
    """The URL of the key file of an origin; raises an HTTPException when it cannot be one."""
    if not _KEY.fullmatch(key):
        raise HTTPException(422, "a key has 8 to 128 letters, digits and dashes")
    if not location:
        return f"{home}/{key}.txt"
    url = canonical(location)
    if url is None or origin(url) != home:
        raise HTTPException(422, f"the key file has to be on {home}")
    return url


def covers(place: str, url: str) -> bool:
    """Whether a key file speaks for a URL: it does for its own folder and what is below."""
    return url.startswith(place[: place.rfind("/", 0, place.find("?") if "?" in place else len(place)) + 1])


class Keys:
    """The key files that were looked for. It is thread-safe."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._guard = threading.Lock()
        self._known: OrderedDict[KeyFile, tuple[float, str]] = OrderedDict()  # until when, and what is wrong
        # A message with a wrong key costs its host a request.
        self._looks = Buckets(10, 0.2)
        self._all_looks = Buckets(60, 2.0)

    def check(self, file: KeyFile) -> None:
        """Raises an HTTPException when the key is not there."""
        with self._guard:
            until, wrong = self._known.get(file, (0.0, ""))
        if until < time.monotonic():
            host = urlsplit(file.url).netloc
            if wait := max(self._looks.take(host), self._all_looks.take("")):
                raise HTTPException(429, "too many unknown keys", {"Retry-After": str(int(wait) + 1)})
            wrong = self._look(file)
            self._remember(file, wrong)
        if wrong:
            raise HTTPException(403, f"the key is not valid: {wrong}")

    def _look(self, file: KeyFile) -> str:
        answer = request(file.url, agent=self._agent, private=file.private, most=_MOST_BYTES, seconds=_SECONDS)
        if answer.error:
            return f"{file.url} cannot be read: {answer.error}"
        if 300 <= answer.status < 400:
            return f"{file.url} redirects, which is not followed"
        if answer.status != 200:
            return f"{file.url} answers {answer.status}"
        if answer.cut or answer.body.removeprefix(b"\xef\xbb\xbf").strip() != file.key.encode():
            return f"{file.url} has another content"
        return ""

    def _remember(self, file: KeyFile, wrong: str) -> None:
        with self._guard:
            self._known[file] = time.monotonic() + (_BAD_FOR if wrong else _GOOD_FOR), wrong
            while len(self._known) > _MOST_REMEMBERED:
                self._known.popitem(last=False)
