"""The private addresses at which seeds may be, as a crawl has written them down, for requests that
are not part of it.

A flag would not do: whoever owns a name can point it anywhere later.
"""

from typing import Protocol

import msgspec

from sanderling.network.reach import ANYWHERE, PUBLIC, NetworkReach
from sanderling.repository.store import Notes, Totals
from sanderling.settings import Settings
from sanderling.urls import hostname, origin

NOTE = "seed-addresses"


class NamingStore(Notes, Totals, Protocol):
    """The part of a store that knows what the user named."""


class NamedAddresses:
    """Where single requests of a crawl may lead."""

    def __init__(self, store: NamingStore, settings: Settings) -> None:
        self._anywhere = settings.allow_private
        self._seeds = {origin(seed) for seed in store.seeds()} if settings.private_seeds else set()
        self._recorded = recorded(store)

    def reach(self, url: str) -> NetworkReach:
        """Another origin than that of a seed is not trusted, although it may have the seed's
        name."""
        if self._anywhere:
            return ANYWHERE
        if origin(url) not in self._seeds:
            return PUBLIC
        return NetworkReach(addresses=tuple(self._recorded.get(hostname(url), ())))


def recorded(store: Notes) -> dict[str, list[str]]:
    """The private addresses of the seeds' names, by name."""
    return msgspec.json.decode(store.noted(NOTE) or "{}", type=dict[str, list[str]])
