"""What is held back at the gate, why, and when it is let go."""

from collections import Counter
from typing import NamedTuple

import msgspec

from sanderling.model import Found, State
from sanderling.model.reasons import argument_of, code_of, reason
from sanderling.repository.store import HeldRows
from sanderling.server.frontier.sources import nonsense
from sanderling.server.gate import traps
from sanderling.server.gate.host_memory import HostMemory, RememberedHost
from sanderling.server.gate.lots import Lot, sample_size
from sanderling.server.gate.traps import HostBudget, Pattern

# At most this many URLs are released with one report, so that no report takes much longer.
MOST_AT_ONCE = 2000

# Samples are drawn from at most this many of the URLs that are held for one reason.
MOST_DRAWN = 20_000
# Few at a time, so that those beside a new page come next.
MOST_SAMPLED_AT_ONCE = 8

# Of what pages with new content list. Few enough that copies are noticed before all are fetched.
MOST_LISTED_AT_ONCE = 100

FAR = reason("held-far", traps.LONGEST_WAY)
FARTHEST = reason("held-far", traps.GIVE_UP_AFTER)
SPENT = reason("held-spent")
REASONS = ("held-far", "held-spent", "held-pattern", "held-listed", "held-view", "held-domain")


class Released(NamedTuple):
    """A URL that is held back no longer."""

    id: int
    host: int
    depth: int
    was: State


class Lessons(msgspec.Struct):
    """What a report teaches, for the commit that it becomes."""

    aliases: list[tuple[int, int]] = []
    reasons: dict[int, str] = {}
    answered: set[int] = set()  # hosts that answered with a page
    changed: set[int] = set()  # hosts that taught something to be kept
    domains: set[str] = set()  # likewise
    sources: list[Found] = []
    released: list[Released] = []
    off_topic: dict[int, tuple[int, float | None]] = {}  # as in the commit


class Holding:
    """The URLs that wait for something new."""

    def __init__(self, store: HeldRows, memory: HostMemory) -> None:
        self._store = store
        self._memory = memory
        self.ways = memory.ways
        self.held: dict[int, tuple[int, int]] = {}  # with host and depth: what a link from a new page lets go
        self.probing: set[int] = set()
        self._waiting: dict[int, dict[str, int]] = {}  # for each host and reason how many URLs of a pattern
        self._views: dict[int, dict[str, int]] = {}  # for each host and reason how many views
        self._lots: dict[tuple[int, str], Lot] = {}  # what samples are drawn from, by host and reason
        self._drawn: dict[int, Lot] = {}  # URLs that were
        for id, host, depth, why in store.all_held(traps.MOST_HELD):
            self.hold(id, host, depth, why)

    def hold(self, id: int, host: int, depth: int, why: str) -> None:
        watched = self._memory.of(host)
        if watched is not None:
            watched.budget.held += 1
        if code_of(why) in ("held-far", "held-spent"):
            if len(self.held) < traps.MOST_HELD:
                self.held[id] = (host, depth)
        elif code_of(why) in ("held-pattern", "held-listed"):
            waiting = self._waiting.setdefault(host, {})
            waiting[why] = waiting.get(why, 0) + 1
        elif code_of(why) == "held-view":
            views = self._views.setdefault(host, {})
            views[why] = views.get(why, 0) + 1
        elif code_of(why) == "held-domain":
            self._memory.crowd_of(argument_of(why)).waiting.setdefault(host)

    def release_some(self, host: int, watched: RememberedHost, lessons: Lessons) -> None:
        budget = watched.budget
        if budget.suspect and not watched.probed:
            watched.probed = True
            at = self._memory.host_of(host)
            if at is not None:
                lessons.sources.append(nonsense(at))
        if not budget.held:
            return
        if host in self._views:
            self._release_views(host, watched, lessons)
        if host in self._waiting:
            self._release_patterns(host, budget, lessons)
        if budget.allowance:
            freed = self.release(host, SPENT, budget.allowance, lessons)
            budget.spent += len(freed)
            self.ways.note(host, freed, 1.0)

    def _release_patterns(self, host: int, budget: HostBudget, lessons: Lessons, lists: bool = False) -> None:
        """Lets go of as many URLs as their patterns may have queued by now, and of `lists` if there
        is any hope for them.
        """
        for why in list(self._waiting[host]):
            found = budget.find(argument_of(why))
            listed = lists and code_of(why) == "held-listed" and not found.hopeless
            probe = found.closed and found.probe_at <= budget.new and not listed
            most = MOST_SAMPLED_AT_ONCE if (host, why) in self._lots else MOST_AT_ONCE
            room = MOST_LISTED_AT_ONCE if listed else int(probe) if found.closed else min(found.room, most)
            if not room:
                continue
            freed = self._release_pattern(host, why, room, found, lessons)
            if probe:
                found.probed(budget.new)
            if probe or listed:
                self.probing.update(freed)

    def _release_pattern(self, host: int, why: str, most: int, found: Pattern, lessons: Lessons) -> list[int]:
        waiting = self._waiting[host]
        freed = self.release(host, why, most, lessons)
        found.pending += len(freed)
        waiting[why] -= len(freed)
        if waiting[why] <= 0 or len(freed) < most:
            del waiting[why]
            if not waiting:
                del self._waiting[host]
        return freed

    def _release_views(self, host: int, watched: RememberedHost, lessons: Lessons, last: bool = False) -> None:
        """Lets go of views as far as their kind was worth its visits, and of samples at `last`."""
        for why, count in list(self._views[host].items()):
            kind = argument_of(why)
            most = watched.views.sample(kind, count) if last else min(watched.views.room(kind), MOST_AT_ONCE)
            freed = self.release(host, why, most, lessons) if most else []
            for id in freed:
                watched.views.released(id, kind)
            self._views[host][why] -= len(freed)
            if self._views[host][why] <= 0 or len(freed) < most:
                del self._views[host][why]

    def idle(self) -> Lessons:
        """Nothing is queued any more: what was only put off is let go, then what is held back as
        long as there is any hope for it, and at last samples of the rest.
        """
        lessons = Lessons()
        for host, waiting in list(self._waiting.items()):
            watched = self._memory.of(host)
            if watched is not None:
                for why in waiting:
                    watched.budget.find(argument_of(why)).pending = 0
                self._release_patterns(host, watched.budget, lessons)
        for name, domain in self._memory.domains.items():
            for host in domain.released():
                self.release(host, crowd(name), MOST_AT_ONCE, lessons)
        for last in (False, True):
            for host in () if lessons.released else list(self._views):
                if (watched := self._memory.of(host)) is not None:
                    watched.views.forget_lost()
                    self._release_views(host, watched, lessons, last)
        if not lessons.released:
            self._be_patient(lessons)
        if not lessons.released:
            self._sample(lessons)
        return lessons

    def _be_patient(self, lessons: Lessons) -> None:
        """Goes on with patterns until hundreds of visits to each brought nothing."""
        for host, waiting in list(self._waiting.items()):
            watched = self._memory.of(host)
            if watched is None:
                continue
            watched.unkept += 1
            watched.budget.patient = True
            watched.budget.be_patient({argument_of(why) for why in waiting})
            self._release_patterns(host, watched.budget, lessons, lists=True)
        for host in {host for host, _ in self.held.values()}:
            watched = self._memory.of(host)
            if watched is None:
                continue
            watched.unkept += not watched.budget.patient
            watched.budget.patient = True
            for why, steps in ((SPENT, 1.0), (FAR, traps.LONGEST_WAY + 1.0)):
                freed = self.release(host, why, watched.budget.allowance, lessons)
                watched.budget.spent += len(freed)
                self.ways.note(host, freed, steps)

    def release_all(self) -> Lessons:
        """Lets go of everything that was held for what its like brought, some at a time."""
        held = self._store.all_held(traps.MOST_HELD)
        rows = [Released(id, host, depth, State.KNOWN) for id, host, depth, why in held if code_of(why) in REASONS]
        return Lessons(released=rows[:MOST_AT_ONCE])

    def _sample(self, lessons: Lessons) -> None:
        """Tries some of what is held back, if it is twice as much as when that was done last, and
        what was found beside those that proved new. If many do, their pattern opens again.
        """
        for host, waiting in list(self._waiting.items()):
            watched = self._memory.of(host)
            if watched is None:
                continue
            for why, count in list(waiting.items()):
                found, size = watched.budget.find(argument_of(why)), 0
                if count >= 2 * found.sampled:
                    found.sampled, size = count, sample_size(count)
                    watched.unkept += 1
                freed = self._draw_from(host, why, size, lessons)
                self.probing.update(freed)
                found.pending += len(freed)
                waiting[why] = max(0, count - len(freed))
        counts = Counter(host for host, _ in self.held.values())
        for host, count in counts.items():
            for why in (SPENT, FAR, FARTHEST):
                self.ways.note(host, self._draw_from(host, why, sample_size(count), lessons), 1.0)

    def _draw_from(self, host: int, why: str, first: int, lessons: Lessons) -> list[int]:
        """The `first` URLs of a lot, and later what lies beside those that were new."""
        lot = self._lots.get((host, why))
        if lot is None and first:
            self._lots[host, why] = Lot(self._store.held(host, why, MOST_DRAWN))
        most = lot.beside if lot is not None else first
        return self.release(host, why, most, lessons) if most else []

    def free(self, ids: set[int], lessons: Lessons) -> None:
        """A page with something new links to URLs that are held back."""
        for id in ids:
            host, depth = self.held.pop(id)
            lessons.released.append(Released(id, host, depth, State.KNOWN))
            if (watched := self._memory.get(host)) is not None:
                watched.budget.held -= 1

    def release(self, host: int, why: str, most: int, lessons: Lessons) -> list[int]:
        found = self._draw(host, why, most) or self._store.held(host, why, most)
        lessons.released += [Released(id, host, depth, State.KNOWN) for id, depth in found]
        watched = self._memory.get(host)
        if watched is not None:
            watched.budget.held -= len(found)
        for id, _ in found:
            self.held.pop(id, None)
        return [id for id, _ in found]

    def _draw(self, host: int, why: str, most: int) -> list[tuple[int, int]]:
        """URLs by lot, if a sample has been taken of those that are held for a reason."""
        lot = self._lots.get((host, why))
        drawn = lot.draw(most) if lot is not None else []
        if lot is None or not drawn:
            return []
        self._drawn |= dict.fromkeys((id for id, _ in drawn), lot)
        known = self._store.known([id for id, _ in drawn])
        return [(id, depth) for id, depth in drawn if known[id][1] == State.KNOWN]

    def judged(self, id: int, new: bool) -> None:
        """Takes note of what became of a URL that may have been drawn."""
        lot = self._drawn.pop(id, None)
        if lot is not None and new:
            lot.proved(id)


def dull(text: str, listed: bool = False) -> str:
    return reason("held-listed" if listed else "held-pattern", text)


def view(kind: str) -> str:
    return reason("held-view", kind)


def crowd(domain: str) -> str:
    return reason("held-domain", domain)
