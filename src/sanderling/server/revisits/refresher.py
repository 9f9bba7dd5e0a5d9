"""What a refresh hands out: whose turn it is, as the budget allows.

Nothing bursts. A budget that flows is saved up for a moment only, by a clock that neither jumps nor
runs while the machine sleeps; so after a pause, a restart or a wrong date visits come at the usual
pace, the most overdue first.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from sanderling.clock import DAY
from sanderling.errors import RunFailed
from sanderling.freshness.adaptive import SITEMAP_FIRST
from sanderling.model import Outcome, PlannedVisit, Visit
from sanderling.processes import entry_points
from sanderling.server.revisits.calls import Call, Calls, Heeded
from sanderling.server.revisits.schedule import NO_VISITS, HostSchedule, VisitPlan, VisitSchedule
from sanderling.server.revisits.terms import Terms

# Seconds of a flowing budget that may be saved up.
BURST = 10.0
# Of a budget, what pages that were never visited may take.
SHARE_OF_NEW = 0.5
# And what sitemaps may take: they are read first, because they may say who deserves the rest.
SHARE_OF_SITEMAPS = 0.1
# Visits that a flowing budget may be overdrawn by for pages that sources named. Otherwise such a
# page waits for its share of the budget: with 100 visits an hour, up to 36 seconds. Planned visits
# pay it back.
LOAN = 10
# A fixed budget is spent in this many parts. Each is planned when half of the part before is spent,
# by what visits have found: where pages change together, the first of them show which. On three
# histories, one page in five visited each fortnight: freshness .8711 -> .8731, .9840 -> .9867 and
# .7624 -> .7625.
PARTS = 4
# A budget of fewer visits is planned once: a plan takes half a second.
FEWEST_IN_PARTS = 200
# At most this many visits are taken in one step, so that a million at once block nothing.
AT_ONCE = 10_000
# What a visit is taken to cost, in bytes, before a plan says so.
_USUAL_BYTES = 20_000.0


class Refreshing(msgspec.Struct, frozen=True):
    """How far a refresh is."""

    planned: bool
    pages: int
    freshness: float  # as it is believed to be now
    before: float  # and was at the beginning
    age: float  # days
    spared: int  # bytes that did not have to be fetched again
    spent: float


def refreshing(
    folder: Path, run_folder: Path, terms: Terms, always: tuple[str, ...], beside: "Beside"
) -> "Refresher":  # fmt: skip
    """A refresh of a crawl, with a process that plans it. Pages that are `always` kept fresh come
    first."""
    terms = msgspec.structs.replace(terms, always=always)
    command = entry_points.command("plan", folder, msgspec.json.encode(terms).decode())
    schedule = VisitSchedule(command, run_folder / "plan", terms.forever and not terms.only_asked)
    if terms.only_asked:
        schedule.plan = NO_VISITS
    return Refresher(terms, schedule, beside)


class Beside(NamedTuple):
    """What a refresher asks of other parts."""

    heeded: Heeded = lambda host, source: True
    is_reading: Callable[[], bool] = lambda: False  # whether reports are being read that a plan should know
    say: Callable[[str], None] = lambda text: None


class Refresher:
    """Knows what may be spent, and on whom."""

    def __init__(self, terms: Terms, turns: VisitSchedule, beside: Beside | None = None) -> None:
        self._terms = terms
        self._beside = beside or Beside()
        self.schedule = turns
        budget = terms.budget
        self._flow = budget.amount / budget.period if terms.forever and budget.period else 0.0  # a second
        # Without --forever a rate only says what is due now: all of that is visited.
        self._purse = 0.0 if self._flow else math.inf if budget.period else budget.amount
        self._usual = 1.0 if budget.unit == "visits" else _USUAL_BYTES
        in_parts = not budget.period and budget.amount >= FEWEST_IN_PARTS * self._usual and terms.policy == "optimal"
        self._part = budget.amount / PARTS if in_parts else math.inf
        self._allowed = self._part  # what may be spent before the next plan
        self._renewing = False
        self._done: set[int] = set()  # visited by earlier plans of such a budget
        self._counts_bytes = budget.unit == "bytes"
        self._filled_at = time.monotonic()
        self._lines: dict[int, HostSchedule] = {}  # by host
        self._listed = 0.0  # what all in them will cost
        self.calls = Calls()
        self.taken: dict[int, float] = {}  # hosts where another crawler is at work, and until when
        self._sitemaps: set[int] = set()  # to be read before anything is planned
        self._new: set[int] = set()  # leased, and never visited before
        self._named: set[int] = set()  # some of the pages that sources named and that are not visited yet
        self.spent = 0.0
        self._answered = 0
        self._spent_on_new = 0.0
        self.gained = 0.0  # freshness
        self._complained = ""
        self._plan: VisitPlan | None = None
        self._first: VisitPlan | None = None

    def progress(self, spared: int) -> Refreshing:
        plan = self.schedule.plan
        if plan is None or plan is NO_VISITS:
            return Refreshing(False, 0, 0.0, 0.0, 0.0, spared, self.spent)
        first = self._first or plan
        return Refreshing(
            True, plan.pages, min(1.0, plan.freshness + self.gained), first.freshness, plan.age, spared, self.spent
        )  # fmt: skip

    # ---- what may be visited

    def read_first(self, sitemaps: Iterable[tuple[int, int, float, float]], now: float) -> list[int]:
        """Has the sitemaps that are due read before anything is planned; returns their hosts, once
        for each.
        """
        budget = self._terms.budget
        most = math.inf if budget.period else max(1.0, budget.amount * SHARE_OF_SITEMAPS / self._usual)
        if self._flow or not self._terms.sitemaps:
            return []
        due = sorted((at + (interval or SITEMAP_FIRST) * DAY, id, host) for id, host, at, interval in sitemaps)
        chosen = [(id, host) for n, (when, id, host) in enumerate(due) if when <= now and n < most]
        for id, host in chosen:
            self._line_up(PlannedVisit(id, host, now, math.inf, 0.0, self._usual))
        self._sitemaps = {id for id, _ in chosen}
        return [host for _, host in chosen]

    @property
    def is_reading(self) -> bool:
        """Whether something is being read that a plan should know."""
        return self._beside.is_reading()

    def say(self, text: str) -> None:
        """Tells the user."""
        self._beside.say(text)

    @property
    def forever(self) -> bool:
        return self._terms.forever

    @property
    def hosts(self) -> int:
        """How many are being asked."""
        return max(1, len(self._lines))

    def step(self, now: float, away: bool = False) -> list[int]:
        """To be called now and then: the hosts whose turn it is, once for each page. The network
        may be `away`.
        """
        if not self._sitemaps and not self.is_reading:
            self._renew()
            self.schedule.step()
        self._check_plan()
        self._fill(away)
        hosts = self._take_calls(now)
        # What flows is shared as it comes. A fixed budget is kept for pages that were named and
        # wait until others have shown that their source is right.
        free = self._purse - (0.0 if self._flow else self.calls.unsent * self._usual)
        free = min(free, self._allowed - self.spent)
        while (turn := self.schedule.next(now)) and len(hosts) < AT_ONCE:
            if turn.id in self._done:
                self.schedule.take(turn)
                continue
            if self._listed + turn.cost > free:
                break
            self.schedule.take(turn)
            if turn.host in self.taken:
                if self._terms.forever:
                    self.schedule.again(turn, self.taken[turn.host])
                continue
            self._line_up(turn)
            hosts.append(turn.host)
        return hosts

    def _take_calls(self, now: float) -> list[int]:
        """Lines up what sources named. A visit that has to be made without a plan costs what is
        usual.
        """
        hosts: list[int] = []
        most = self._purse + (LOAN * self._usual if self._flow else 0.0)
        while self._listed + self._usual <= most and len(hosts) < AT_ONCE and (call := self._next_call()):
            self.expect([call.id])
            self._line_up(PlannedVisit(call.id, call.host, now, math.inf, 0.0, self._usual))
            hosts.append(call.host)
        return hosts

    def _next_call(self) -> Call | None:
        return self.calls.next(self._beside.heeded, self.taken)

    def expect(self, named: Iterable[int]) -> None:
        """Pages that a source named are to be visited, ahead of the budget if need be."""
        self._named.update(islice(named, LOAN - len(self._named)))

    def room(self, leased: int) -> int:
        """How many more leases there may be."""
        if self.schedule.plan is None:
            return max(0, len(self._sitemaps) - leased)
        if math.isinf(self._purse):
            return 1 << 30
        left = math.floor(self._purse / self._usual - leased + 1e-9)
        lent = min(left + LOAN, len(self._named)) if self._flow else 0
        return max(0, left, lent)

    def room_for_new(self) -> int:
        """How many of them may be for pages that were never visited."""
        if self.schedule.plan is None:
            return 0
        budget = self._terms.budget.amount if not self._terms.budget.period else self.spent + 20 * self._usual
        left = SHARE_OF_NEW * budget - self._spent_on_new - len(self._new) * self._usual
        return max(0, math.ceil(left / self._usual))

    def began(self, new: Iterable[int]) -> None:
        self._new.update(new)

    def ids(self, host: int, count: int, leased: Collection[int]) -> list[int]:
        """Whose turn it is on a host."""
        line = self._lines.get(host)
        if line is None:
            return []
        found = line.ids(count, leased)
        self._listed, line.doubled = self._listed - line.doubled, 0.0
        return found

    def over(self, idle: bool, now: float) -> bool:
        """Whether a refresh that is to end has ended; `idle` when nothing is left to lease."""
        if self._flow or self._terms.forever or self.schedule.plan is None:
            return False
        nobody_is_next = self.schedule.next(now) is None and not self.calls.is_pending(self.taken)
        return self._purse < self._usual or (idle and nobody_is_next)

    # ---- what came of it

    def settle(self, visit: Visit, host: int, excused: bool) -> None:
        new = visit.id in self._new
        self._new.discard(visit.id)
        if excused:
            return
        self._named.discard(visit.id)
        if self._part < math.inf:
            self._done.add(visit.id)
        answered = visit.status != 0 or visit.outcome is Outcome.SOURCE
        cost = (float(visit.size) if self._counts_bytes else 1.0) if answered else 0.0
        self._purse -= cost
        self.spent += cost
        self._answered += answered
        self._spent_on_new += cost * new
        self._sitemaps.discard(visit.id)
        line = self._lines.get(host)
        turn = line.settle(visit.id) if line is not None else None
        if turn is None:
            return
        self._listed -= turn.cost
        if not line:
            del self._lines[host]
        self.schedule.visited(visit.id, visit.at)
        if self.calls.settle(visit.id, visit.at):
            self.schedule.skip(visit.id)
        self.gained += turn.gain if answered else 0.0
        if self._flow and turn.wait < math.inf:
            self.schedule.again(turn, visit.at + turn.wait)

    # ---- inside

    def _line_up(self, turn: PlannedVisit) -> None:
        self._lines.setdefault(turn.host, HostSchedule()).add(turn)
        self._listed += turn.cost

    def _renew(self) -> None:
        """Has the next part of a fixed budget planned, while the rest of this one is visited."""
        if not self._renewing and self.spent >= self._allowed - self._part / 2:
            self._renewing = True
            self.schedule.renew()

    def _fill(self, away: bool) -> None:
        now = time.monotonic()
        gained, self._filled_at = self._flow * (now - self._filled_at), now
        if self._flow:
            most = self._usual if away else max(self._usual, self._flow * BURST)
            self._purse = min(self._purse + gained, most)

    def _check_plan(self) -> None:
        if self.schedule.complaint and self.schedule.complaint != self._complained:
            if not self._terms.forever and self.schedule.plan is None:
                raise RunFailed(f"no plan could be made: {self.schedule.complaint}")
            self.say(f"no plan could be made: {self.schedule.complaint}")
            self._allowed = math.inf  # the one at hand is used to the end
        self._complained = self.schedule.complaint
        if self.schedule.plan is not self._plan:
            self._plan, self.gained = self.schedule.plan, 0.0  # it knows of what was gained
            if self._renewing:
                whole = self._allowed + 1.5 * self._part >= self._terms.budget.amount
                self._allowed, self._renewing = math.inf if whole else self._allowed + self._part, False
            self._first = self._first or self._plan
        if self.schedule.plan is not None and self._counts_bytes:
            # Until visits have shown otherwise a page is taken to be fetched whole.
            self._usual = (self.spent + self.schedule.plan.size) / (self._answered + 1)
