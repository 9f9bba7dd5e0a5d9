"""The hosts of a run: each is one object, shared by all parts of the server."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sanderling.model import Host, NewUrl, State
from sanderling.repository.store import HostLookup
from sanderling.urls import origin

if TYPE_CHECKING:
    from sanderling.server.frontier.transition import Move


class Hosts:
    """Remembers the hosts that have had work in this run; the store knows the others."""

    def __init__(self, store: HostLookup) -> None:
        self._store = store
        self._used: dict[int, Host] = {}

    def used(self, id: int) -> Host | None:
        """A host that has had work in this run."""
        return self._used.get(id)

    def find(self, id: int) -> Host | None:
        """A host, from the store if need be."""
        return self._used.get(id) or self._store.host(id)

    def use(self, host: Host) -> Host:
        """Remembers a host; returns the object that all parts share."""
        return self._used.setdefault(host.id, host)

    def first_used(self, urls: Iterable["NewUrl | Move"]) -> dict[int, Host]:
        """The hosts that get work for the first time in this run, by URLs that are about to be
        admitted."""
        first: dict[int, Host] = {}
        for row in urls:
            waits = row.state is State.QUEUED or row.state is State.KNOWN
            if waits and row.host not in first and row.host not in self._used:
                first[row.host] = self._store.host(row.host) or Host(row.host, origin(row.url))
        return first
