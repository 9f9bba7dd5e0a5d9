"""Which bytes of archives are known to be lost, so that the user is told only once.

A repair has the pages in such bytes fetched whole at their next visit. Older versions in them stay
lost. The place of a version is kept: if the file comes back from a backup, it can be read again.
"""

from collections.abc import Iterable

import msgspec

from sanderling.model import Lost
from sanderling.repository.store import ArchiveStore

_NOTE = "lost"


def known_lost(store: ArchiveStore) -> list[Lost]:
    return msgspec.json.decode(store.noted(_NOTE) or "[]", type=list[Lost])


def give_up(store: ArchiveStore, lost: Iterable[Lost]) -> int:
    """Remembers what is lost, and has its pages fetched again. Returns how many pages that are."""
    places = sorted(set(lost))
    store.note(_NOTE, msgspec.json.encode(_merged([*known_lost(store), *places])).decode())
    return store.distrust(places)


def covers(known: Iterable[Lost], place: Lost) -> bool:
    """Whether a place is known to be lost, in part at least."""
    return any(each.warc == place.warc and each.start < place.end and each.end > place.start for each in known)


def holds(known: Iterable[Lost], place: Lost) -> bool:
    """Whether all of a place is known to be lost."""
    return any(each.warc == place.warc and each.start <= place.start and each.end >= place.end for each in known)


def _merged(places: Iterable[Lost]) -> list[Lost]:
    """The same bytes, each in one place."""
    merged: list[Lost] = []
    for place in sorted(places):
        if merged and merged[-1].warc == place.warc and place.start <= merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, place.end))
        else:
            merged.append(place)
    return merged
