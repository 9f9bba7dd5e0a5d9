"""Step 4 of a page's life: the queue as three lists, served so that nothing starves.

The best third by rank is list 1, the next list 2, the rest list 3, and for every four URLs of list
1 go two of list 2 and one of list 3. The lists are not kept anywhere: two ranks divide them, known
well enough from a sample of the queue that is taken again while it changes; each list is a range
of the index by host and rank.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

from sanderling.model import Task

# Whose turn it is, over and over: 4 of the first list, 2 of the second, 1 of the third, well mixed.
TURNS = (0, 1, 0, 2, 0, 1, 0)

# A focused crawl is best first, and one lease in 20 explores: what it finds shows whether the ranks
# are right.
EXPLORING = (*(0,) * 19, 1, *(0,) * 19, 2)

# Each cut is then off by less than 5 % of the queue, 3 times its standard error.
SAMPLE = 1000
LONGEST_TRUST = 2000


class Cuts(NamedTuple):
    """The least ranks of list 1 and of list 2."""

    first: float
    second: float

    def list_of(self, rank: float) -> int:
        """1, 2 or 3."""
        return 1 if rank >= self.first else 2 if rank >= self.second else 3


def cuts(ranks: Sequence[float]) -> Cuts:
    """Divides a queue into thirds. Equal ranks are never divided, so many of them make uneven
    lists."""
    if not ranks:
        return Cuts(-math.inf, -math.inf)
    best_first = sorted(ranks, reverse=True)
    count = len(best_first)
    return Cuts(best_first[max(1, round(count / 3)) - 1], best_first[max(1, round(2 * count / 3)) - 1])


class Take(Protocol):
    """The best queued URLs of a host that are not leased, with `above` <= rank < `below`."""

    def __call__(self, host: int, count: int, leased: Collection[int], above: float, below: float, /) -> list[Task]: ...


class Distributor:
    """Takes a host's URLs from the three lists in turn."""

    def __init__(self, take: Take, ranks: Callable[[int], list[float]], turns: Sequence[int] = TURNS) -> None:
        """`ranks(n)` gives the ranks of about n queued URLs, or of all when there are fewer.
        `turns` name lists."""
        self._take = take
        self._ranks = ranks
        self.turns = turns
        self._turn: dict[int, int] = {}
        self._hosts = 0
        self._drawn = 0
        self._trusted_until = 0
        self.cuts = Cuts(-math.inf, -math.inf)
        self.shares = [0.0, 0.0, 0.0]  # of the queue, in each list

    def take(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """Up to `count` URLs of a host; fewer only when it has no more. An empty list's turns go to
        the others."""
        if self._drawn >= self._trusted_until:
            self.refresh()
        turns = self._next_turns(host, count)
        lists = self._draw(host, [turns.count(each) for each in (0, 1, 2)], leased)
        taken = [lists[turn].pop() if lists[turn] else self._best(lists) for turn in turns if any(lists)]
        self._drawn += len(taken)
        return taken

    def refresh(self) -> None:
        """Divides the queue again. It decides itself when: often at first, while a queue changes
        quickly."""
        ranks = self._ranks(SAMPLE)
        self.cuts = cuts(ranks)
        lists = [self.cuts.list_of(rank) for rank in ranks]
        self.shares = [lists.count(each) / len(lists) if lists else 0.0 for each in (1, 2, 3)]
        self._trusted_until = self._drawn + min(max(1, self._drawn), LONGEST_TRUST)

    def _next_turns(self, host: int, count: int) -> list[int]:
        # Each host has its own turns, else one that is always asked at the same turn would starve a
        # list. Hosts begin at different turns, so that the ratio holds over many hosts with a
        # single URL, too.
        turn = self._turn.get(host)
        if turn is None:
            turn = self._hosts % len(self.turns)
            self._hosts += 1
        self._turn[host] = (turn + count) % len(self.turns)
        return [self.turns[(turn + n) % len(self.turns)] for n in range(count)]

    def _draw(self, host: int, wants: list[int], leased: Collection[int]) -> list[list[Task]]:
        """What each list gives, worst first. What one lacks is asked of the next, and of those
        before at last."""
        first, second = self.cuts
        ranges = [(first, math.inf), (second, first), (-math.inf, second)]
        lists: list[list[Task]] = [[], [], []]
        dry = [above >= below for above, below in ranges]
        lacking = 0
        for number in (0, 1, 2, 0, 1):
            lacking, wants[number] = lacking + wants[number], 0
            if not lacking or dry[number]:
                continue
            had = {task.id for task in lists[number]}
            given = self._take(host, lacking, {*leased, *had} if had else leased, *ranges[number])
            lists[number] += given
            dry[number] = len(given) < lacking
            lacking -= len(given)
        return [each[::-1] for each in lists]

    @staticmethod
    def _best(lists: list[list[Task]]) -> Task:
        return next(each for each in lists if each).pop()
