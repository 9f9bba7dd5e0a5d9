"""How important a page of a site is: how often it changes, and how close it is to the main page. Each counts one half.

    rank = Fn + L,   Fn = 1/2 (F - Fmin) / (Fmax - Fmin)

F is how often the page changed. L is 0.5 for the main page and the pages it links to. All others get 0.4 to 0.1, by the
depth at which they lie: the depths are cut into sqrt((length - 1) / 2) bands of equal width, where the length is the
greatest depth. There are at least one and at most four bands.
"""

import math
from typing import NamedTuple

CLOSEST = 0.5


class Ranking(NamedTuple):
    """What the rank of a page depends on, beside the page itself."""

    least: int = 0  # how often the page changed that changed least
    most: int = 0
    length: int = 0  # the greatest depth
    linked: frozenset[str] = frozenset()  # the main page and those it links to

    def level(self, url: str, depth: int) -> float:
        return CLOSEST if url in self.linked else level(depth, self.length)

    def rank(self, url: str, depth: int, frequency: int) -> float:
        return round(normalized(frequency, self.least, self.most) + self.level(url, depth), 4)


def normalized(frequency: int, least: int, most: int) -> float:
    """0 to 0.5; 0 when all pages changed equally often."""
    if most <= least:
        return 0.0
    return 0.5 * min(max((frequency - least) / (most - least), 0.0), 1.0)


def bands(length: int) -> int:
    return min(4, max(1, round(math.sqrt(max(length - 1, 0) / 2))))


def level(depth: int, length: int) -> float:
    """The level of a page that the main page does not link to. It lies at depth 2 at least."""
    count = bands(length)
    width = max(length - 1, 1) / count
    band = min(int((max(depth, 2) - 2) / width), count - 1)
    return round(0.4 - 0.1 * band, 1)
