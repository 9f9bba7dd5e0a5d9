"""Reads changes from the store: new versions as they are committed, and the feed of a crawl."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Protocol

from sanderling.model import VersionRow
from sanderling.repository.store import ChangeStore, Totals
from sanderling.telling import atom
from sanderling.telling.selection import ChangeFilter
from sanderling.urls import hostname

# Seconds between two looks for new versions. One look costs 30 us.
PAUSE = 0.5
BATCH = 500


class FeedStore(ChangeStore, Totals, Protocol):
    """What a feed is made of."""


def following(store: ChangeStore, number: int) -> Iterator[VersionRow]:
    """Yields the versions after a number as any process commits them. It never ends."""
    while True:
        found = store.changes_after(number, BATCH)
        yield from found
        if found:
            number = found[-1].number
        else:
            time.sleep(PAUSE)


def feed(store: FeedStore, wanted: ChangeFilter, most: int = atom.MOST_ENTRIES, address: str | None = None) -> bytes:
    """The newest changes of a crawl, or of some of its hosts, as an Atom feed."""
    seeds = store.seeds()
    names = wanted.hosts or tuple(dict.fromkeys(hostname(seed) for seed in seeds))
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    about = " ".join(["sanderling:feed", *sorted(seeds), *sorted(wanted.hosts)])
    found = islice(wanted.of(store.changes()), max(most, atom.MOST_CHANGES))
    return atom.feed(found, f"Changes on {shown}", about, address, most)
