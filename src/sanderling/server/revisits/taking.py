"""Reserves a site while a refresh visits it, so that other crawlers wait. The other side is
`sanderling_announce/flag.py`.

A reservation lasts some minutes and is renewed. So a crawler that is killed keeps no other away for
long.
"""

import socket
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec

from sanderling.network.one_request import Answer
from sanderling.server.revisits.reports import Reading

# How long a reservation lasts. It is renewed after half of this time.
SECONDS = 600.0

# Sends a request to begin to the announcer's server.
Post = Callable[[bytes], Answer]


def crawler_name(folder: Path) -> str:
    """The name of a crawl for announcers. It stays the same when the crawl is started again."""
    return f"sanderling-{sha256(f'{socket.gethostname()}:{folder.resolve()}'.encode()).hexdigest()[:12]}"


class _Begun(msgspec.Struct, frozen=True):
    granted: bool
    taken_until: float


class SiteTaking:
    """The reservation of one site."""

    def __init__(self, crawler: str, post: Post, reset: str = "time") -> None:
        self._crawler = crawler
        self._reset = reset
        self._post = post
        self._again_at = 0.0
        self.complaint = ""

    def keep(self, found: Reading, now: float) -> Reading:
        """Reserves the site unless another crawler has. The answer of the announcer's server is
        newer than the report, so it counts."""
        if now < self._again_at:
            return found._replace(taken_until=0.0)
        answer = self._send(SECONDS)
        try:
            begun = msgspec.json.decode(answer.body, type=_Begun) if answer.status in (200, 409) else None
        except msgspec.MsgspecError:
            begun = None
        self.complaint = "" if begun else answer.error or f"its announcer answered {answer.status} to /begin"
        if begun is None:
            return found
        if not begun.granted:
            return found._replace(taken_until=min(begun.taken_until, now + SECONDS))
        self._again_at = now + SECONDS / 2
        return found._replace(taken_until=0.0)

    def give_back(self) -> None:
        if self._again_at:
            self._send(0.0)

    def _send(self, seconds: float) -> Answer:
        return self._post(msgspec.json.encode({"crawler": self._crawler, "seconds": seconds, "reset": self._reset}))
