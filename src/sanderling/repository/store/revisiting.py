"""For refreshing: which pages are due for another visit, and what is known about when they
change."""

from collections.abc import Collection, Iterable
from typing import Protocol

from sanderling.model import RevisitFacts, Subject, Task


class RevisitStore(Protocol):
    """The visited URLs that are to be visited again."""

    def revisit_all(self, now: float, sitemaps: bool) -> None:
        """Makes every visited page due, and the sitemaps that were read if they are wanted."""

    def bring_forward(self, now: float, later_than: float, visited: bool) -> None:
        """Makes URLs due now that are due later than a moment: those that wait for a retry, or
        `visited` ones."""

    def forget_due(self) -> None:
        """Makes no visited URL due, but for those that are due at once because somebody asked for
        them."""

    def make_due(self, ids: list[int]) -> None:
        """Makes those of some URLs due at once that were visited before."""

    def due(self, after: float, until: float) -> list[tuple[int, int]]:
        """(host, how many) of the visited URLs that are to be visited again, by when they are
        due."""

    def next_due(self, after: float) -> float | None: ...

    def take_due(self, host: int, count: int, leased: Collection[int], now: float) -> list[Task]:
        """The URLs of a host that are longest overdue for another visit, with what the last one
        brought."""

    def tasks(self, ids: list[int]) -> list[Task]:
        """These URLs as tasks for another visit, in this order, with what the last one brought."""

    def sitemaps(self) -> list[tuple[int, int, float, float]]:
        """(id, host, last read, days until the next time) of every sitemap that was read; looks at
        every URL."""


class TrustStore(Protocol):
    """How far hosts can be believed."""

    def trust(self) -> dict[int, bytes]:
        """What the update module has learned about each host."""


class ObserverStore(TrustStore, Protocol):
    """What is known of pages that are visited again."""

    def seen(self, ids: list[int]) -> dict[int, RevisitFacts]:
        """What the update module knows of these pages and sitemaps."""


class Subjects(Protocol):
    """Everything that may be visited again."""

    def subjects(self) -> Iterable[Subject]:
        """In whatever order is read fastest."""


class PlanningStore(Subjects, TrustStore, Protocol):
    """What visits are planned by."""
