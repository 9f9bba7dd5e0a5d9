"""The plan as the server holds it: when it is made, and whose turn is next.

The planning itself is a short-lived process (`planner` says what it does). Here nothing waits for
it, nothing is large, and nothing imports numpy: a planned visit is 36 bytes until its turn comes,
and pages without one are nothing.
"""

import math
import time
from collections.abc import Collection
from heapq import heappop, heappush
from pathlib import Path

import msgspec

from sanderling.files import write_whole
from sanderling.model import PLANNED_VISIT, PlannedVisit
from sanderling.processes.job import Job

# The shortest pause between two plans, in seconds, and the share of time that planning may take.
SHORTEST_PAUSE = 60.0
ONE_SECOND_IN = 20.0
# After a failure it is made again sooner, then later and later: a process may have been killed by
# accident.
FIRST_RETRY, RETRY_FACTOR = 1.0, 4.0


class VisitPlan(msgspec.Struct, frozen=True):
    """What to visit, and how fresh the collection is believed to be."""

    visits: bytes  # packed, in their order
    pages: int
    freshness: float
    age: float  # days
    size: float  # of a page, in the mean
    cpu: float


NO_VISITS = VisitPlan(b"", 0, 1.0, 0.0, 0.0, 0.0)

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(VisitPlan).decode


def write(path: Path, made: VisitPlan) -> None:
    write_whole(path, _encode(made), sync=False)


class VisitSchedule:
    """The planned visits, earliest first."""

    def __init__(self, command: list[str], result: Path, repeat: bool) -> None:
        """`command` is completed with the path of the result; without `repeat` one plan is
        enough."""
        self._job = Job(command, result)
        self._repeat = repeat
        self._renewal = False  # whether one more plan is wanted without `repeat`
        self._not_before = 0.0
        self._retry = FIRST_RETRY
        self._place = 0  # in the plan, of the first that has not had its turn
        self._later: list[tuple[float, int, PlannedVisit]] = []  # those that a visit has moved, a heap
        self._moved: dict[int, float] = {}  # id -> due, of those; they have no other turn in this plan
        self._visited: dict[int, float] = {}  # while a plan is made
        self.plan: VisitPlan | None = None

    @property
    def complaint(self) -> str:
        """Why the last plan failed."""
        return self._job.complaint

    def step(self) -> None:
        """To be called now and then: begins to plan when it is time, and takes a finished plan
        in."""
        if self._job.out:
            if self._job.back():
                self._take_in()
        elif self._renewal or (time.monotonic() >= self._not_before and (self._repeat or self.plan is None)):
            self._renewal = False
            self._visited.clear()
            self._job.begin()

    def renew(self) -> None:
        """Wants one more plan, which knows what was found since the last one."""
        self._renewal = True

    def next(self, now: float) -> PlannedVisit | None:
        """Whose turn it is, if anybody's; it stays until it is taken."""
        planned, moved = self._planned(), self._first_moved()
        turn = moved if planned is None or (moved is not None and moved.due < planned.due) else planned
        return turn if turn is not None and turn.due <= now else None

    def take(self, turn: PlannedVisit) -> None:
        """Removes what `next` named."""
        if turn.id in self._moved:
            heappop(self._later)
            self._moved[turn.id] = math.inf
        else:
            self._place += PLANNED_VISIT.size

    def again(self, turn: PlannedVisit, due: float) -> None:
        """Plans one more visit, until the next plan knows better."""
        self._moved[turn.id] = due
        heappush(self._later, (due, turn.id, turn._replace(due=due)))

    def skip(self, id: int) -> None:
        """A page has no further turn in this plan, unless it was moved to a later time."""
        self._moved.setdefault(id, math.inf)

    def visited(self, id: int, at: float) -> None:
        """A plan that is being made may not know of this visit."""
        if self._job.out:
            self._visited[id] = at

    def close(self) -> None:
        self._job.close()

    def _planned(self) -> PlannedVisit | None:
        while self.plan is not None and self._place < len(self.plan.visits):
            turn = PlannedVisit._make(PLANNED_VISIT.unpack_from(self.plan.visits, self._place))
            if turn.id not in self._moved:
                return turn
            self._place += PLANNED_VISIT.size
        return None

    def _first_moved(self) -> PlannedVisit | None:
        while self._later:
            due, id, turn = self._later[0]
            if self._moved[id] == due:
                return turn
            heappop(self._later)  # moved once more since
        return None

    def _take_in(self) -> None:
        if self.complaint:
            self._not_before = time.monotonic() + self._retry
            self._retry = min(SHORTEST_PAUSE, self._retry * RETRY_FACTOR)
            return
        self._retry = FIRST_RETRY
        self.plan = _decode(self._job.result.read_bytes())
        self._not_before = time.monotonic() + max(SHORTEST_PAUSE, self.plan.cpu * ONE_SECOND_IN)
        self._place = 0
        self._later.clear()
        self._moved.clear()
        # Visits made while it was planned are not in it: their turns wait as if they were.
        for fields in PLANNED_VISIT.iter_unpack(self.plan.visits) if self._visited else ():
            turn = PlannedVisit._make(fields)
            if turn.id in self._visited and (due := self._visited[turn.id] + turn.wait) > turn.due:
                self.again(turn, due)


class HostSchedule:
    """Those on one host whose turn it is, in their order, until they are settled. Most wait
    packed."""

    def __init__(self) -> None:
        self._open: dict[int, PlannedVisit] = {}
        self._packed = bytearray()
        self._place = 0
        self.doubled = 0.0  # what those would have cost that were in it already

    def __bool__(self) -> bool:
        return bool(self._open) or self._place < len(self._packed)

    def add(self, turn: PlannedVisit) -> None:
        self._packed += PLANNED_VISIT.pack(*turn)

    def ids(self, count: int, leased: Collection[int]) -> list[int]:
        """The first of them that are not leased."""
        found = [id for id in self._open if id not in leased][:count]
        while len(found) < count and self._place < len(self._packed):
            turn = PlannedVisit._make(PLANNED_VISIT.unpack_from(self._packed, self._place))
            self._place += PLANNED_VISIT.size
            if turn.id in self._open:  # a later plan named it, too
                self.doubled += turn.cost
                continue
            self._open[turn.id] = turn
            if turn.id not in leased:
                found.append(turn.id)
        return found

    def settle(self, id: int) -> PlannedVisit | None:
        """The turn that was had, if it was one."""
        return self._open.pop(id, None)
