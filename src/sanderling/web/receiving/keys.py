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
from sanderling.network.reach import NetworkReach
from sanderling.urls import canonical, origin
from sanderling.web.receiving.rates import Buckets

_KEY = re.compile(r"[A-Za-z0-9-]{8,128}")
# Of a key file: the key, and perhaps a byte-order mark and the end of a line.
_MOST_BYTES = 512
# How long an answer is remembered: a key that was there, and one that was not.
_GOOD_FOR, _BAD_FOR = 24 * 3600.0, 60.0
_MOST_REMEMBERED = 10_000


class KeyFile(NamedTuple):
    """Where a key has to be, and where the request for it may lead."""

    key: str
    url: str
    reach: NetworkReach


def place_of(key: str, location: str, home: str) -> str:
    """The URL of the key file of an origin; raises an HTTPException when it cannot be one."""
    if not _KEY.fullmatch(key):
        raise HTTPException(422, "a key has 8 to 128 letters, digits and dashes")
    if not location:
        return f"{home}/{key}.txt"
    url = canonical(location)
    if url is None or origin(url) != home or "?" in url:
        raise HTTPException(422, f"the key file has to be on {home}, without a query")
    return url


def covers(place: str, url: str) -> bool:
    """Whether a key file speaks for a URL: it does for its own folder and what is below."""
    return url.startswith(place[: place.rfind("/") + 1])


class Keys:
    """The key files that were looked for. It is thread-safe."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._guard = threading.Lock()
        self._known: OrderedDict[KeyFile, tuple[float, bool]] = OrderedDict()  # until when
        # A message with a wrong key costs its host a request.
        self._looks = Buckets(10, 0.2)
        self._all_looks = Buckets(60, 2.0)

    def is_valid(self, file: KeyFile, deadline: float) -> bool:
        """Whether the key is there, as far as it may be looked for now, until a time of the
        monotonic clock."""
        with self._guard:
            until, found = self._known.get(file, (0.0, False))
        if until < time.monotonic():
            if max(self._looks.take(urlsplit(file.url).netloc), self._all_looks.take("")):
                return False
            found = self._look(file, deadline - time.monotonic())
            self._remember(file, found)
        return found

    def _look(self, file: KeyFile, seconds: float) -> bool:
        if seconds <= 0:
            return False
        answer = request(file.url, agent=self._agent, reach=file.reach, most=_MOST_BYTES, seconds=seconds)
        if answer.error or answer.status != 200 or answer.cut:  # redirects are not followed
            return False
        return answer.body.removeprefix(b"\xef\xbb\xbf").strip() == file.key.encode()

    def _remember(self, file: KeyFile, found: bool) -> None:
        with self._guard:
            self._known[file] = time.monotonic() + (_GOOD_FOR if found else _BAD_FOR), found
            while len(self._known) > _MOST_REMEMBERED:
                self._known.popitem(last=False)
