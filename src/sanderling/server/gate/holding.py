"""What is held back at the gate, why, and when it is let go."""

from typing import NamedTuple

import msgspec

from sanderling.model import Found, Host, State
from sanderling.model.reasons import argument_of, code_of, reason
from sanderling.repository.store import HeldRows
from sanderling.server.gate import traps
from sanderling.server.gate.host_memory import HostMemory, RememberedHost
from sanderling.server.gate.traps import HostBudget, Ways
from sanderling.server.sources import nonsense

# So many URLs are let go with one report, so that none takes much longer than others.
MOST_AT_ONCE = 2000

FAR = reason("held-far", traps.LONGEST_WAY)
SPENT = reason("held-spent")


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
    hosts: list[Host] = []
    sources: list[Found] = []
    released: list[Released] = []
    off_topic: dict[int, tuple[int, float]] = {}  # URLs that are nearer to the topic now, and what they are worth


class Holding:
    """The URLs that wait for something new."""

    def __init__(self, store: HeldRows, memory: HostMemory) -> None:
        self._store = store
        self._memory = memory
        self.ways = Ways()
        self.held: dict[int, tuple[int, int]] = {}  # with host and depth: what a link from a new page lets go
        self.probing: set[int] = set()
        self._waiting: dict[int, dict[str, int]] = {}  # for each host how many URLs of which pattern are held back
        for id, host, depth, why in store.all_held(traps.MOST_HELD):
            self.hold(id, host, depth, why)

    def hold(self, id: int, host: int, depth: int, why: str) -> None:
        watched = self._memory.of(host)
        if watched is not None:
            watched.budget.held += 1
        if code_of(why) in ("held-far", "held-spent"):
            if len(self.held) < traps.MOST_HELD:
                self.held[id] = (host, depth)
        elif code_of(why) == "held-pattern":
            waiting, text = self._waiting.setdefault(host, {}), argument_of(why)
            waiting[text] = waiting.get(text, 0) + 1
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
        if host in self._waiting:
            self._release_patterns(host, budget, lessons)
        if budget.allowance:
            freed = self.release(host, SPENT, budget.allowance, lessons)
            budget.spent += len(freed)
            self.ways.note(freed, 1.0)

    def _release_patterns(self, host: int, budget: HostBudget, lessons: Lessons) -> None:
        """Lets go of as many URLs as their patterns may have queued by now."""
        waiting = self._waiting[host]
        for text, count in list(waiting.items()):
            found = budget.find(text)
            probe = found.closed and found.probe_at <= budget.new
            room = int(probe) if found.closed else min(found.room, MOST_AT_ONCE)
            if not room:
                continue
            freed = self.release(host, dull(text), room, lessons)
            if probe:
                found.probed(budget.new)
                self.probing.update(freed)
            found.pending += len(freed)
            waiting[text] = count - len(freed)
            if waiting[text] <= 0 or len(freed) < room:
                del waiting[text]
        if not waiting:
            del self._waiting[host]

    def idle(self) -> Lessons:
        """Nothing is queued any more: what was only put off is let go."""
        lessons = Lessons()
        for host, waiting in list(self._waiting.items()):
            watched = self._memory.of(host)
            if watched is not None:
                for text in waiting:
                    watched.budget.find(text).pending = 0
                self._release_patterns(host, watched.budget, lessons)
        for name, domain in self._memory.domains.items():
            for host in domain.released():
                self.release(host, crowd(name), MOST_AT_ONCE, lessons)
        return lessons

    def free(self, ids: set[int], lessons: Lessons) -> None:
        """A page with something new links to URLs that are held back."""
        for id in ids:
            host, depth = self.held.pop(id)
            lessons.released.append(Released(id, host, depth, State.KNOWN))
            if (watched := self._memory.get(host)) is not None:
                watched.budget.held -= 1

    def release(self, host: int, why: str, most: int, lessons: Lessons) -> list[int]:
        found = self._store.held(host, why, most)
        lessons.released += [Released(id, host, depth, State.KNOWN) for id, depth in found]
        watched = self._memory.get(host)
        if watched is not None:
            watched.budget.held -= len(found)
        for id, _ in found:
            self.held.pop(id, None)
        return [id for id, _ in found]


def dull(text: str) -> str:
    return reason("held-pattern", text)


def crowd(domain: str) -> str:
    return reason("held-domain", domain)
