"""Pages that a source named and that are visited before all planned ones, as the budget allows: by
the rank that the source gives them, and of those alike the first one first.

They are also in the store, so that a plan knows them: what is dropped here, or lost with the
process, is only later.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

# Ranks are remembered of this many pages that were named, about 100 bytes each.
MOST_RANKS = 100_000
_NONE: Mapping[int, float] = MappingProxyType({})

# Whether a source of a host is still believed: visits may have shown meanwhile that it is wrong.
Heeded = Callable[[int, str], bool]


class Call(NamedTuple):
    id: int
    host: int
    source: str
    at: float  # when the source named it


class Calls:
    """Who was named and is not visited yet."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Call]] = []  # a heap, by rank and turn
        self._turn = 0
        self._ranks: dict[int, float] = {}
        self._open: dict[int, Call] = {}
        self._count: Counter[tuple[int, str]] = Counter()
        self._visited: set[int] = set()
        self.dropped = 0  # how many were more than there was room for: they are in the store
        self._begins = True  # what is in the store from earlier runs was not looked for yet

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(
        self, host: int, source: str, ids: Iterable[int], at: float, most: float, ranks: Mapping[int, float] = _NONE
    ) -> None:
        """Lines up pages of a host, as long as no more than `most` of this source wait."""
        if len(self._ranks) < MOST_RANKS:
            self._ranks.update(ranks)
        for id in sorted(ids, key=lambda id: -self._ranks.get(id, 0.0)):
            self._visited.discard(id)
            before = self._open.get(id)
            if before is not None:
                self._open[id] = before._replace(at=at)  # a visit that is on its way may have come too early
            elif self._count[host, source] < most:
                self._line_up(Call(id, host, source, at))
            else:
                self.dropped += 1

    def add_again(self, host: int, source: str, ids: Iterable[int], at: float, most: float) -> None:
        """The same for pages that were named earlier: those that are lined up, or were visited
        since, are left out."""
        self.add(host, source, [id for id in ids if id not in self._visited and id not in self._open], at, most)

    @property
    def is_short(self) -> bool:
        """Whether nobody waits here, and some may in the store."""
        return bool(self._begins or self.dropped) and not self._waiting

    def refilled(self) -> None:
        """What waits in the store is about to be added again."""
        self.dropped, self._begins = 0, False

    @property
    def unsent(self) -> int:
        """How many have not been handed out."""
        return len(self._waiting) + self.dropped

    def is_pending(self, alone: Container[int]) -> bool:
        """Whether some may still be handed out, but for those of hosts that are left `alone`."""
        return any(call.host not in alone for _, _, call in self._waiting) or self.is_short

    def next(self, heeded: Heeded, alone: Container[int] = ()) -> Call | None:
        """The first one whose source is still `heeded`. Hosts that are left `alone` wait."""
        left: list[tuple[float, int, Call]] = []
        found = None
        while self._waiting and found is None:
            entry = heapq.heappop(self._waiting)
            if entry[2].host in alone:
                left.append(entry)
            elif heeded(entry[2].host, entry[2].source):
                found = entry[2]
            else:
                self._forget(entry[2])
        for entry in left:
            heapq.heappush(self._waiting, entry)
        return found

    def settle(self, id: int, at: float) -> bool:
        """Ends a call by a visit that began at a time; True when there was one. A visit that began
        before it does not.
        """
        call = self._open.get(id)
        if call is None:
            return False
        self._forget(call)
        if at < call.at:
            self._line_up(call)
            return False
        self._visited.add(id)
        self._ranks.pop(id, None)
        return True

    def _line_up(self, call: Call) -> None:
        self._open[call.id] = call
        self._count[call.host, call.source] += 1
        self._turn += 1
        heapq.heappush(self._waiting, (-self._ranks.get(call.id, 0.0), self._turn, call))

    def _forget(self, call: Call) -> None:
        del self._open[call.id]
        self._count[call.host, call.source] -= 1
