"""Many crawlers on one web: what they fetch twice, what they miss and what they have to tell each other.

All visit as many pages in turn and order their queue by the back links they know of, so that only the way they work
together differs.

independent   each has its own queue and follows every link; nobody says anything
firewall      each has its own sites and follows no link to others; nobody says anything
seed-server   a server knows all: it sends a crawler one URL, and gets back a page's links
ours          the same server leases pages in batches; a report brings a whole batch, with the text of a URL only
              when that crawler meets it for the first time
"""

from heapq import heappop, heappush
from typing import NamedTuple

import msgspec
import numpy as np

from sanderling.graph import pagerank
from sanderling.lab.webs import Web

BATCH = 100
EARLY = 0.3  # quality is also measured after this share of the downloads, when it still matters what came first


class TeamOutcome(msgspec.Struct, frozen=True):
    """What a team of crawlers achieved."""

    team: str
    turns: int  # in each of which a crawler visits one page at most
    downloads: int
    repeated: int
    distinct: int
    most_for_one_page: int
    early_quality: float  # share of the final PageRank in hand, early and at the end
    quality: float
    messages: int
    urls_sent: int


class Work(NamedTuple):
    visits: list[int]
    turns: int
    messages: int = 0
    urls_sent: int = 0


class Queue:
    """Pages by the back links that its owner knows of. Each is given out once."""

    def __init__(self) -> None:
        self._links: dict[int, int] = {}
        self._given: set[int] = set()
        self._heap: list[tuple[int, int, int]] = []

    def add(self, page: int) -> None:
        if page in self._given:
            return
        count = self._links[page] = self._links.get(page, 0) + 1
        # What stands lower in the heap for an earlier count is skipped when it comes up. Ties as hashes fall.
        heappush(self._heap, (-count, page * 2654435761 % 2**32, page))

    def next(self) -> int | None:
        while self._heap:
            page = heappop(self._heap)[2]
            if page not in self._given:
                self._given.add(page)
                return page
        return None


def compare(web: Web, crawlers: int) -> list[TeamOutcome]:
    return [
        _judge("independent", web, _apart(web, crawlers, own_sites_only=False)),
        _judge("firewall", web, _apart(web, crawlers, own_sites_only=True)),
        _judge("seed-server", web, _served(web, crawlers, 1)),
        _judge("ours", web, _served(web, crawlers, BATCH)),
    ]


def _apart(web: Web, crawlers: int, own_sites_only: bool) -> Work:
    """Crawlers that never speak. Start pages are dealt out; with own sites, each goes to its owner."""
    queues = [Queue() for _ in range(crawlers)]
    owner = (np.unique(web.site, return_inverse=True)[1] * 2654435761 % 2**32 % crawlers).tolist()
    for number, start in enumerate(_starts(web, crawlers)):
        queues[owner[start] if own_sites_only else number % crawlers].add(start)
    visits: list[int] = []
    turns = resting = 0
    while len(visits) < len(web.graph.ids) and resting < crawlers:
        turns += 1
        resting = 0
        for number, queue in enumerate(queues):
            if (page := queue.next()) is None:
                resting += 1
                continue
            visits.append(page)
            for target in web.graph.links_of(page).tolist():
                if not own_sites_only or owner[target] == number:
                    queue.add(target)
    return Work(visits[: len(web.graph.ids)], turns)


def _served(web: Web, crawlers: int, batch: int) -> Work:
    """Crawlers that get their pages from a server: `batch` at a time, reported when all are fetched."""
    queue = Queue()
    for page in web.seeds:
        queue.add(page)
    met: list[set[int]] = [set() for _ in range(crawlers)]
    visits: list[int] = []
    turns = messages = urls = 0
    while True:
        leases = [_lease(queue, batch) for _ in range(crawlers)]
        if not any(leases):
            return Work(visits, turns, messages, urls)
        turns += max(map(len, leases))
        for turn in range(batch):
            visits += [lease[turn] for lease in leases if turn < len(lease)]
        for number, lease in enumerate(leases):
            messages += 2 * bool(lease)
            urls += len(lease)
            for page in lease:
                links = web.graph.links_of(page).tolist()
                urls += len(links) if batch == 1 else len(set(links) - met[number])
                met[number].update(links)
                for target in links:
                    queue.add(target)


def _lease(queue: Queue, size: int) -> list[int]:
    lease: list[int] = []
    while len(lease) < size and (page := queue.next()) is not None:
        lease.append(page)
    return lease


def _starts(web: Web, wanted: int) -> list[int]:
    """The seeds, and pages near them until there is one for each crawler."""
    found = dict.fromkeys(web.seeds)
    for page in list(found):
        if len(found) < wanted:
            found.update(dict.fromkeys(web.graph.links_of(page).tolist()))
    return list(found)


def _judge(team: str, web: Web, work: Work) -> TeamOutcome:
    visits = work.visits
    worth = pagerank(web.graph)
    times = np.bincount(visits, minlength=len(worth))
    early = np.unique(visits[: round(len(worth) * EARLY)])
    distinct = int((times > 0).sum())
    return TeamOutcome(
        team=team,
        turns=work.turns,
        downloads=len(visits),
        repeated=len(visits) - distinct,
        distinct=distinct,
        most_for_one_page=int(times.max()),
        early_quality=float(worth[early].sum()),
        quality=float(worth[times > 0].sum()),
        messages=work.messages,
        urls_sent=work.urls_sent,
    )
