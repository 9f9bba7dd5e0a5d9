"""Where a host lists its URLs itself: the sitemaps that its robots.txt names, or else
`/sitemap.xml`."""

from itertools import islice

from sanderling.model import Found, Host, Kind, NewUrl, State, Task, reasons
from sanderling.server.ranking.reranker import FRONT
from sanderling.urls import WEB, canonical, identity, origin

# sitemaps.org knows one level of indexes; a site that needs more has lost its way, or wants us to.
MOST_NESTED = 3
MOST_A_HOST = 500
# They come before any page: what they list is worth knowing early.
RANK = FRONT
# Addresses that no page named: where a sitemap would be, and one that no host has.
GUESS = "/sitemap.xml"
NONSENSE = "-does-not-exist"


class Sources:
    """Which sitemaps are read; a host is asked for them once it has answered with a page."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self._asked: set[int] = set()
        self._count: dict[int, int] = {}

    def of(self, host: Host) -> list[Found]:
        """The sitemaps of a host, the first time it is asked about."""
        if not self.wanted or host.id in self._asked or not host.origin.startswith(WEB):
            return []
        self._asked.add(host.id)
        from sanderling.documents import robots  # late: a crawl starts sooner without it

        named = robots.sitemaps(host.robots.text) if host.robots else iter(())
        urls = [url for text in islice(named, MOST_A_HOST) if (url := canonical(text))]
        return [source(url) for url in dict.fromkeys(urls or [host.origin + GUESS])]

    def row(self, found: Found, via: int, task: Task | None, in_scope: bool) -> NewUrl:
        """A sitemap's row; `task` is the sitemap that it is listed in, if any."""
        host = identity(origin(found.url))
        hops = task.hops + 1 if task else 0
        self._count[host] = self._count.get(host, 0) + 1
        reason = ""
        if hops > MOST_NESTED:
            reason = reasons.reason("sitemap-nested", MOST_NESTED)
        elif self._count[host] > MOST_A_HOST:
            reason = reasons.reason("sitemap-many", MOST_A_HOST)
        elif task and not in_scope and origin(task.url) != origin(found.url):
            reason = reasons.reason("sitemap-elsewhere")
        state = State.EXCLUDED if reason else State.QUEUED
        return NewUrl(found.id, found.url, host, 0, state, RANK, via, hops, "", reason, Kind.SOURCE, found.modified)


def nonsense(host: Host) -> Found:
    """Brings to light what a host says of addresses that do not exist."""
    return source(f"{host.origin}/sanderling-{host.id & 0xFFFF_FFFF:08x}{NONSENSE}")


def guessed(url: str) -> bool:
    return url.endswith((GUESS, NONSENSE))


def source(url: str) -> Found:
    return Found(identity(url), url, "", Kind.SOURCE)
