"""The rank of the pages of a site: the published one (`published_rank.py`), from what the
announcer knows."""

from __future__ import annotations

from typing import NamedTuple

from sanderling_announce.published_rank import CLOSEST, level, normalized


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
