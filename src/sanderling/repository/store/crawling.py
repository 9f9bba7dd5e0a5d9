"""For the server while it crawls: the queue, the scope, what comes in, and the archives beside
it."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from sanderling.model import (
    Before,
    Change,
    Commit,
    Counts,
    FormChanges,
    HintCommit,
    Host,
    Lost,
    NewUrl,
    Reworked,
    Task,
)
from sanderling.repository.store.gate import GateStore
from sanderling.repository.store.lookup import HostLookup, Notes, Totals, UrlLookup
from sanderling.repository.store.people import ChangeStore, HistoryStore, LinkStore
from sanderling.repository.store.revisiting import ObserverStore, RevisitStore
from sanderling.repository.store.values import ScopedUrl, Waiting


class NewUrls(Protocol):
    """Tells new URLs from known ones."""

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        """Which of these URLs (text by id) are not known yet; an id that is known by another text
        is logged."""


class ArchiveStore(Notes, Protocol):
    """What is committed of the archives."""

    def warcs(self) -> dict[str, int]:
        """How many bytes of each WARC file are committed."""

    def distrust(self, lost: Iterable[Lost]) -> int:
        """Has pages whose newest copy lies in these bytes of archives fetched whole at their next
        visit.

        Returns how many pages that are."""

    def distrusted(self, lost: Lost) -> int:
        """How many pages with their newest copy in these bytes still wait for that visit."""


class UnleasedUrls(Protocol):
    """Changes URLs that wait for their first visit."""

    def rework(self, changes: list[Reworked], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        """Changes URLs that are not leased, admits others and keeps what was learned, in one
        transaction."""

    def rerank(self, ranks: Iterable[tuple[int, float]]) -> None:
        """Gives queued URLs (by id) another rank; what is no longer queued stays as it is."""


class ScopeStore(UnleasedUrls, HostLookup, Notes, Protocol):
    """For a change of scope: every URL that was not visited."""

    def last_number(self) -> int:
        """The highest number of a URL; they are numbered in the order they were found, with
        gaps."""

    def judged(self, first: int, end: int) -> list[ScopedUrl]:
        """The URLs numbered from `first` to before `end` that are queued, held back or excluded,
        other names aside."""


class HintStore(UrlLookup, Protocol):
    """Where the messages of sources go."""

    def take_hints(self, commit: HintCommit) -> None:
        """Writes a message whole. The same message twice changes nothing."""

    def named_pages(self, most: int) -> list[tuple[int, int, str]]:
        """(id, host, source) of visited pages that a source named after their last visit."""

    def reasons(self, ids: list[int]) -> dict[int, str]:
        """The reasons of the states of those URLs that are known."""


class QueueStore(UnleasedUrls, NewUrls, Protocol):
    """The URLs that wait for their first visit."""

    def seed(self, seeds: list[str], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        """Remembers seeds and admits their URLs."""

    def put_depth(self, ids: list[int], depth: int) -> None:
        """Gives URLs another distance from the seeds."""

    def homes(self) -> list[str]:
        """Where the seeds were redirected to: scope is measured from these too."""

    def waiting(self) -> list[Waiting]:
        """Every host with queued URLs."""

    def depths(self) -> dict[int, int]:
        """How many URLs are queued at each depth, those that wait for another try included."""

    def files_wait(self) -> bool:
        """Whether a file of a page is queued and need not wait for another try."""

    def next_wake(self) -> float | None:
        """When the next URL that waits for another try is due."""

    def wake(self, now: float) -> list[tuple[int, int]]:
        """Queues the URLs whose pause after a failed try is over; returns (host, how many)."""

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        """The best queued URLs of a host that are not leased already, of those with `above` <= rank
        < `below`."""

    def best_ranks(self, host: int, most: int, leased: Collection[int]) -> list[float]:
        """The ranks of the best queued URLs of a host that are not leased already, the best
        first."""

    def ranks(self, most: int) -> list[float]:
        """Ranks of queued URLs: all, or when there are more than `most`, about that many of them at
        random."""


class WeightStore(Protocol):
    """How important pages are."""

    def weigh(self, importances: Iterable[tuple[int, float]]) -> None:
        """Writes how important pages (by id) are; what was not visited is left out."""


class FrontierStore(
    QueueStore,
    RevisitStore,
    ObserverStore,
    ScopeStore,
    GateStore,
    WeightStore,
    LinkStore,
    HintStore,
    UrlLookup,
    Totals,
    Protocol,
):
    """Everything that may be visited next."""


class ComparingStore(Notes, HistoryStore, ChangeStore, Protocol):
    """What pages that are visited again are compared with, and their histories when the rules
    change."""

    def with_history(self) -> Iterator[tuple[int, int]]:
        """Pages with more than one version, each with how many visits found it unchanged."""

    def rejudge(self, page: int, changes: list[tuple[int, Change]], fingerprint: bytes, noise: bytes) -> None:
        """Writes again what versions (by number) of a page changed, and what its next version is
        compared with."""


class IntakeStore(NewUrls, ComparingStore, Protocol):
    """Where reports go."""

    def commit(self, commit: Commit) -> bool:
        """Writes a report whole; False when it was written before and nothing was changed."""

    def put_forms(self, changes: FormChanges) -> None:
        """Keeps what was learned about forms outside of a report."""

    def before(self, ids: list[int]) -> dict[int, Before]:
        """What is kept of each page's last version."""

    def showing(self, images: list[int]) -> dict[int, list[int]]:
        """The pages that show each of these images; of images on many pages only some
        (`repository/image_pages.py`)."""

    def retry_failed(self, counts: Counts) -> None:
        """Queues every page that failed, as if it had never been tried."""

    def set_aside(self, id: int, reason: str, counts: Counts) -> None:
        """Settles a URL that no client may touch again."""
