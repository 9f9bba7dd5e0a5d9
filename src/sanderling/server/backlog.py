"""Tells the allocator which hosts have work: how many of their URLs are queued, and at which
depths."""

from collections import Counter
from collections.abc import Iterable, Mapping

from sanderling.model import Host, NewUrl, State
from sanderling.server.allocator import Allocator
from sanderling.server.gate.holding import Released
from sanderling.server.hosts import Hosts
from sanderling.server.seeds import Seeds

_NO_HOSTS: Mapping[int, Host] = {}


class Backlog:
    """Where queued URLs are announced. The URLs themselves are in the store."""

    def __init__(self, allocator: Allocator, hosts: Hosts, seeds: Seeds) -> None:
        self._allocator = allocator
        self._hosts = hosts
        self._seeds = seeds

    def add(self, host: Host, count: int) -> None:
        """So many more URLs of a host are queued, or due again."""
        self._allocator.add(self._hosts.use(host), count, self._seeds.is_trusted(host.origin))

    def add_all(self, counts: Iterable[tuple[int, int]]) -> None:
        """The same for hosts by id, each with how many."""
        for id, count in counts:
            if (host := self._hosts.find(id)) is not None:
                self.add(host, count)

    def add_urls(self, urls: Iterable[NewUrl], hosts: Mapping[int, Host] = _NO_HOSTS) -> None:
        """Rows that were admitted; `hosts` are those of them that get work for the first time."""
        queued = [row for row in urls if row.state is State.QUEUED]
        self._allocator.add_depths(Counter(row.depth for row in queued))
        for id, count in Counter(row.host for row in queued).items():
            if (host := hosts.get(id) or self._hosts.find(id)) is not None:
                self.add(host, count)

    def add_released(self, released: Iterable[Released]) -> None:
        """URLs that were held back and are queued now."""
        chosen = list(released)
        self._allocator.add_depths(Counter(each.depth for each in chosen))
        self.add_all(Counter(each.host for each in chosen).items())
