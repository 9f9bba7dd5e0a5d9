"""Pages that a source named and that are visited before all planned ones, as the budget allows.

They are also in the store, so that a plan knows them: what is dropped here, or lost with the
process, is only later.
"""

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

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
        self._waiting: deque[Call] = deque()
        self._open: dict[int, Call] = {}
        self._count: Counter[tuple[int, str]] = Counter()
        self.dropped = True  # some that are in the store are not here: at the beginning, all

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, host: int, source: str, ids: Iterable[int], at: float, most: int) -> None:
        """Lines up pages of a host, as long as no more than `most` of this source wait."""
        for id in ids:
            before = self._open.get(id)
            if before is not None:
                self._open[id] = before._replace(at=at)  # a visit that is on its way may have come too early
            elif self._count[host, source] < most:
                self._line_up(Call(id, host, source, at))
            else:
                self.dropped = True

    def next(self, heeded: Heeded, alone: Container[int] = ()) -> Call | None:
        """The first one whose source is still `heeded`. Hosts that are left `alone` wait."""
        for _ in range(len(self._waiting)):
            call = self._waiting.popleft()
            if call.host in alone:
                self._waiting.append(call)
            elif heeded(call.host, call.source):
                return call
            else:
                self._forget(call)
        return None

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
        return True

    def _line_up(self, call: Call) -> None:
        self._open[call.id] = call
        self._count[call.host, call.source] += 1
        self._waiting.append(call)

    def _forget(self, call: Call) -> None:
        del self._open[call.id]
        self._count[call.host, call.source] -= 1
