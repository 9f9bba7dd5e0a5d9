"""What people page through: each look costs what it shows, however large the crawl is."""

from sanderling.model import VersionRow
from sanderling.repository.store import Store


def version(store: Store, number: int) -> VersionRow | None:
    """One version by its number in the crawl."""
    found = next(store.changes(before=number + 1), None)
    return found if found is not None and found.number == number else None
