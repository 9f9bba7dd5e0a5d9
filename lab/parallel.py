"""Teams of crawlers on one web: how many pages they fetch twice, miss, and how many messages they
need.

All teams make the same number of visits and order their queues by the known back links. They differ
only in the way the crawlers work together:

    independent   each crawler has its own queue and follows every link; there are no messages
    firewall      each crawler has its own sites and follows no link to others; no messages
    seed-server   a server knows all URLs; it sends a crawler one URL at a time and receives the
                  links of the page
    ours          the same server leases pages in batches; a report covers a whole batch, and
                  contains the text of a URL only when that crawler reports it for the first time
"""

from heapq import heappop, heappush
from typing import NamedTuple

import msgspec
import numpy as np

from lab.webs import Web
from sanderling.graph import pagerank

BATCH = 100
EARLY = 0.3  # quality is also measured after this share of the downloads, when the order of visits still matters


class TeamOutcome(msgspec.Struct, frozen=True):
    """The results of one team."""

    team: str
    turns: int  # steps of the simulation; in each, every crawler visits at most one page
    downloads: int
    repeated: int
    distinct: int
    most_for_one_page: int
    early_quality: float  # share of the final PageRank in the fetched pages, early and at the end
    quality: float
    messages: int
    urls_sent: int


class Work(NamedTuple):
    visits: list[int]
    turns: int
    messages: int = 0
    urls_sent: int = 0


class Queue:
    """Pages ordered by known back links. Each page is handed out once."""

    def __init__(self) -> None:
        self._links: dict[int, int] = {}
        self._given: set[int] = set()
        self._heap: list[tuple[int, int, int]] = []

    def add(self, page: int) -> None:
        if page in self._given:
            return
        count = self._links[page] = self._links.get(page, 0) + 1
        # Older entries with lower counts stay in the heap; `next` skips them. Ties are ordered by a
        # hash.
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
    """Crawlers without messages. Each start page goes to one crawler; with `own_sites_only`, to the
    owner of its site."""
    queues = [Queue() for _ in range(crawlers)]
    owner = (np.unique(web.site, return_inverse=True)[1] * 2654435761 % 2**32 % crawlers).tolist()
    for number, start in enumerate(starts(web, crawlers)):
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
    """Crawlers that lease `batch` pages at a time from a server, and report when all are
    fetched."""
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


def starts(web: Web, wanted: int) -> list[int]:
    """The seeds, and pages they link to until there is a start page for each crawler."""
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
