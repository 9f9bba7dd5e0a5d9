"""Keeps the most important pages of a crawl, and no more than a number of them.

Once the collection is full, a process beside the crawl ranks what is inside and what is known
outside by PageRank, or by authority if that is the order of visits. It pairs the least important
inside with the most important outside (`refine`). The leaver is not visited again; its versions
stay in the archive and in its history. The newcomer takes its place. Updating pages and refining
the collection have nothing to do with each other, so a visit never waits for a rank.
"""

import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from sanderling.files import write_whole
from sanderling.model import Counts
from sanderling.model.reasons import reason
from sanderling.processes.job import Job

LEFT = reason("left-collection")

# Pages change places when the newcomer is worth this much more, a few at a time: ranks move with
# every page.
WORTH = 1.1
SHARE, FEWEST = 0.1, 10
# So many rounds one after the other, then one each minute; so a run with nothing else to do ends.
# The seconds are those between two rounds.
MOST_ROUNDS, REFILL, PAUSE = 20, 60.0, 5.0
# When no page changed places, the job runs again once the crawl has grown by this share.
GROWTH = 0.02


class Swap(NamedTuple):
    """One page for another; either may be missing."""

    leaver: int  # 0 for none
    newcomer: int  # 0 for none
    host: int  # of the newcomer
    returns: bool  # it was inside before


def write(path: Path, swaps: Iterable[Swap]) -> None:
    write_whole(path, msgspec.msgpack.encode(list(swaps)), sync=False)


class Rounds:
    """Says whether there may be another round of refining."""

    def __init__(self) -> None:
        self._spent, self._at, self._known = 0.0, 0.0, 0

    def begin(self, now: float) -> None:
        self._refill(now)
        self._spent += 1.0

    def left(self, now: float, known: int) -> bool:
        """`known` is how many URLs there are: a crawl that grows goes on refining."""
        if known > self._known * (1 + GROWTH):
            self._known, self._spent = known, 0.0
        self._refill(now)
        return self._spent <= MOST_ROUNDS - 1

    def _refill(self, now: float) -> None:
        self._spent = max(0.0, self._spent - (now - self._at) / REFILL)
        self._at = now


class PageCollection:
    """The server's side: when to refine, and who is to come."""

    def __init__(self, most: int, command: list[str], result: Path) -> None:
        """`command` is completed with the size of the collection and the path of the result."""
        self._most = most
        self._job = Job([*command, str(most)], result)
        self._not_before = 0.0
        self._asked_at = -1  # how many pages had been stored
        self._rounds = Rounds()
        self._coming: dict[int, dict[int, None]] = {}  # by host

    def room(self, counts: Counts) -> int:
        """How many more pages it takes; negative when there are too many."""
        return self._most - (counts.fetched - counts.redirects)

    @property
    def expected(self) -> int:
        """Newcomers that are not here yet."""
        return sum(map(len, self._coming.values()))

    def busy(self, counts: Counts) -> bool:
        """Whether somebody may still change places."""
        return self._job.out or bool(self._coming) or self._wants_to_ask(counts)

    def step(self, counts: Counts) -> list[Swap]:
        """To be called now and then: which pages change places, mostly none."""
        if self._job.out:
            return self._take_in() if self._job.back() else []
        if time.monotonic() >= self._not_before and not self._coming and self._wants_to_ask(counts):
            self._asked_at = counts.pages
            self._rounds.begin(time.monotonic())
            self._job.begin()
        return []

    def expect(self, swaps: list[Swap]) -> None:
        """Lets them change places."""
        for swap in swaps:
            if swap.newcomer:
                self._coming.setdefault(swap.host, {})[swap.newcomer] = None
        if swaps:
            self._asked_at = -1  # who is next is asked when they are here
            self._not_before = 0.0

    def ids(self, host: int, count: int, leased: Collection[int]) -> list[int]:
        """Newcomers of a host."""
        coming = (id for id in self._coming.get(host, ()) if id not in leased)
        return [id for id, _ in zip(coming, range(count), strict=False)]

    def settle(self, host: int, id: int) -> None:
        """Expects a newcomer no longer: it was visited, or may not be."""
        if id in self._coming.get(host, ()):
            del self._coming[host][id]
            if not self._coming[host]:
                del self._coming[host]

    def close(self) -> None:
        self._job.close()

    def _wants_to_ask(self, counts: Counts) -> bool:
        full = self.room(counts) <= 0
        grown = self._asked_at < 0 or counts.pages > self._asked_at * (1 + GROWTH)
        return full and grown and self._rounds.left(time.monotonic(), counts.known)

    def _take_in(self) -> list[Swap]:
        self._not_before = time.monotonic() + PAUSE
        if self._job.complaint:
            return []
        return msgspec.msgpack.decode(self._job.result.read_bytes(), type=list[Swap])
