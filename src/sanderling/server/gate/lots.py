"""Samples of what is held back: some URLs evenly, and then the neighbours of those that were new.

URLs that were found one after the other are often alike: items that are for sale, the chapters of
one book. So a page that proves new is a reason to look beside it.
"""

from collections import deque
from math import isqrt

# How far beside a new page is looked, in the order in which URLs were found.
REACH = 1
GOLDEN = (5**0.5 - 1) / 2
# At most this many URLs are tried before one is new.
LARGEST_SAMPLE = 32

Held = tuple[int, int]  # id and depth


def sample_size(held: int) -> int:
    """How many of the held URLs are tried: 6 of 300, 28 of 2,000."""
    return min(LARGEST_SAMPLE, max(1, (isqrt(held) + held // 50) // 3))


class Lot:
    """URLs that are held for one reason, in the order in which they were found."""

    def __init__(self, rows: list[Held]) -> None:
        self._rows = rows
        self._places = {id: place for place, (id, _) in enumerate(rows)}
        # In this order, the first of any number lie evenly among all.
        self._order = deque(sorted(range(len(rows)), key=lambda place: place * GOLDEN % 1.0))
        self._near: deque[int] = deque()
        self._taken = bytearray(len(rows))

    def draw(self, most: int) -> list[Held]:
        """The next ones: beside what was new, else evenly."""
        drawn: list[Held] = []
        for waiting in (self._near, self._order):
            while waiting and len(drawn) < most:
                place = waiting.popleft()
                if not self._taken[place]:
                    self._taken[place] = 1
                    drawn.append(self._rows[place])
        return drawn

    @property
    def beside(self) -> int:
        """How many lie beside URLs that were new and are not drawn yet."""
        return sum(not self._taken[place] for place in set(self._near))

    def proved(self, id: int) -> None:
        """A URL of the lot was new."""
        place = self._places[id]
        beside = range(max(0, place - REACH), min(len(self._rows), place + REACH + 1))
        self._near.extend(sorted(beside, key=lambda other: abs(other - place)))
