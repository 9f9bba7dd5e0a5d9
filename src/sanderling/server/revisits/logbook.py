"""How fresh a collection was believed to be, over time: some hundred points, noted as refreshes
go."""

import math

import msgspec

from sanderling.repository.store import Notes
from sanderling.server.revisits.refresher import Refreshing

# Seconds between two points of a refresh that goes on for ever, and points that are kept: of older
# ones every other.
EVERY = 600.0
MOST = 400

_KEY = "freshness over time"
Points = list[tuple[float, float]]


def past(store: Notes) -> Points:
    """(seconds since 1970, freshness), the oldest first."""
    return msgspec.json.decode(store.noted(_KEY) or "[]", type=Points)


class RefreshLog:
    """Notes how fresh the collection was when a refresh began, now and then, and when it ended."""

    def __init__(self, store: Notes) -> None:
        self._store = store
        self._noted_at = -math.inf

    def see(self, refresh: Refreshing | None, now: float, ends: bool = False) -> None:
        if refresh is None or not refresh.planned:
            return
        begins = math.isinf(self._noted_at)
        if begins or ends or now - self._noted_at >= EVERY:
            self._noted_at = now
            self._add((now, round(refresh.before if begins else refresh.freshness, 4)))

    def _add(self, point: tuple[float, float]) -> None:
        points = [*past(self._store), point]
        if len(points) > MOST:
            points = [*points[: MOST // 2 : 2], *points[MOST // 2 :]]
        self._store.note(_KEY, msgspec.json.encode(points).decode())
