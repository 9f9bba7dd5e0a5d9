"""What a focused crawl knows at the moment a link is found: what its parts are worth, and what its
host has brought.

The job that scores the queue knows more, and corrects the rank later. Nothing here imports numpy.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

from sanderling.model import Kind, Outcome, Task, Visit
from sanderling.urls import identity, origin

# Most pages are of a host that had others a moment ago.
_identity = lru_cache(1024)(identity)

# Of the words of a link, the mean and the sum of the pages that link to it, and its host
# (`orders/topic.py`).
FIRST_WEIGHTS = (0.5, 0.25, 0.2, 0.05)
# A host of which nothing is known is taken to be like all others, as if it had brought this many
# pages like them.
PRIOR = 10.0
# What a link is worth on a host that brings nothing, as a share.
LEAST_TRUST = 0.05


class Focus:
    """Ranks links as they are found."""

    def __init__(self, relatedness: float) -> None:
        from sanderling.topics.paths import PathModel  # only by crawls with a topic

        self.relatedness = relatedness
        self.paths = PathModel(relatedness)
        self._weights: Sequence[float] = FIRST_WEIGHTS
        self._hosts: dict[int, tuple[int, float]] = {}  # pages and the sum of their relevances
        self._pages, self._sum, self._squares = 0, 0.0, 0.0
        self._known: dict[
            int, tuple[float, float]
        ] = {}  # what hosts add to a rank, and how far each is trusted; until the next page

    def weigh(self, weights: Sequence[float]) -> None:
        """Takes the weights that the last job has fitted."""
        if weights:
            self._weights = weights
            self._known.clear()

    def learn(self, visits: Iterable[tuple[Visit, Task]]) -> None:
        for visit, task in visits:
            if visit.outcome is Outcome.PAGE and task.kind == Kind.PAGE:
                self.see(_identity(origin(task.url)), visit.relevance)

    def see(self, host: int, relevance: float) -> None:
        """A page of a host has turned out to be so relevant."""
        pages, total = self._hosts.get(host, (0, 0.0))
        self._hosts[host] = (pages + 1, total + relevance)
        self._squares += (total + relevance) ** 2 / (pages + 1) - (total**2 / pages if pages else 0.0)
        self._pages += 1
        self._sum += relevance
        self._known.clear()

    def rank(self, words: float, mean: float, total: float, host: int) -> float:
        """What a link with these words to a host is worth, by the relevances of the pages that it
        stands on: their mean, and their sum."""
        by_words, by_mean, by_sum, _ = self._weights
        odds = words / (1.0 - words) if words < 0.5 else 1.0
        worth = by_words * odds + by_mean * mean + by_sum * (1.0 - math.exp(-total))
        brings, trust = self._known.get(host) or self._host(host, mean)
        return (worth + brings) * trust

    def trust(self, host: int) -> float:
        """How far a host can be trusted, from what it has brought: fully while nothing is known."""
        return (self._known.get(host) or self._host(host, 0.0))[1] if self._pages else 1.0

    def harvest(self, host: int) -> float:
        """What a host has brought against all hosts: 1 for one of which nothing is known."""
        if not self._sum:
            return 1.0
        overall = self._sum / self._pages
        pages, total = self._hosts.get(host, (0, 0.0))
        return (total + PRIOR * overall) / (pages + PRIOR) / overall

    def _host(self, host: int, parent: float) -> tuple[float, float]:
        overall = self._sum / self._pages if self._pages else parent
        pages, total = self._hosts.get(host, (0, 0.0))
        brings = (total + PRIOR * overall) / (pages + PRIOR)
        # What a host brings on which relevant pages are found: one that brings less than half of it
        # is trusted less.
        usual = self._squares / self._sum if self._sum else overall
        found = self._weights[3] * brings, min(1.0, max(LEAST_TRUST, brings / max(usual / 2, 1e-9)))
        if self._pages:
            self._known[host] = found
        return found
