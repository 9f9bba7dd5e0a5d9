"""The plan as the server holds it: when it is made, and whose turn is next.

The planning itself is a short-lived process (`planner` says what it does). Here nothing waits for it, nothing is
large, and nothing imports numpy.
"""

import time
from heapq import heapify, heappop, heappush
from pathlib import Path

import msgspec

from sanderling.model import Turn
from sanderling.server.errand import Errand

# A plan is made again after so long, but planning may take no more than one in so many seconds.
SHORTEST_PAUSE = 60.0
ONE_SECOND_IN = 20.0


class Plan(msgspec.Struct, frozen=True):
    """What to visit, and how fresh the collection is believed to be."""

    turns: list[Turn]
    pages: int
    freshness: float
    age: float  # days
    changes: float  # expected a day
    size: float  # of a page, in the mean
    seconds: float
    cpu: float


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Plan).decode


def write(path: Path, made: Plan) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(_encode(made))
    part.replace(path)


class Turns:
    """The planned visits, earliest first."""

    def __init__(self, command: list[str], result: Path, repeat: bool) -> None:
        """`command` is completed with the path of the result; without `repeat` one plan is enough."""
        self._errand = Errand(command, result)
        self._repeat = repeat
        self._not_before = 0.0
        self._heap: list[tuple[float, int, Turn]] = []
        self._planned: dict[int, float] = {}  # id -> due, of what is in the heap
        self._visited: dict[int, float] = {}  # since the process that plans began to read
        self.plan: Plan | None = None

    @property
    def complaint(self) -> str:
        """Why the last plan failed."""
        return self._errand.complaint

    def step(self) -> None:
        """To be called now and then: begins to plan when it is time, and takes a finished plan in."""
        if self._errand.out:
            if self._errand.back():
                self._take_in()
        elif time.monotonic() >= self._not_before and (self._repeat or self.plan is None):
            self._visited.clear()
            self._errand.begin()

    def next(self, now: float) -> Turn | None:
        """Whose turn it is, if anybody's; it stays until it is taken."""
        while self._heap:
            due, _, turn = self._heap[0]
            if self._planned.get(turn.id) == due:
                return turn if due <= now else None
            heappop(self._heap)  # planned anew since
        return None

    def take(self) -> None:
        """Removes what `next` named."""
        del self._planned[heappop(self._heap)[2].id]

    def again(self, turn: Turn, due: float) -> None:
        """Plans one more visit, until the next plan knows better."""
        self._planned[turn.id] = due
        heappush(self._heap, (due, turn.id, turn))

    def visited(self, id: int, at: float) -> None:
        """A plan that is being made may not know of this visit."""
        self._visited[id] = at

    def __len__(self) -> int:
        return len(self._planned)

    def close(self) -> None:
        self._errand.close()

    def _take_in(self) -> None:
        self._not_before = time.monotonic() + SHORTEST_PAUSE
        if self.complaint:
            return
        self.plan = _decode(self._errand.result.read_bytes())
        self._not_before = time.monotonic() + max(SHORTEST_PAUSE, self.plan.cpu * ONE_SECOND_IN)
        # Visits made while it was planned are not in it: their turns wait as if they were.
        dues = {
            turn.id: max(turn.due, self._visited[turn.id] + turn.wait) if turn.id in self._visited else turn.due
            for turn in self.plan.turns
        }
        order = {turn.id: place for place, turn in enumerate(self.plan.turns)}
        self._heap = [(dues[turn.id], order[turn.id], turn) for turn in self.plan.turns]
        heapify(self._heap)
        self._planned = dues
