"""What the index has to forget: versions that are not kept any more (`repository/pruning.py`).

The other versions of their pages are written again: they have other numbers in the history of the
page, and hold until the next one that was kept.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from sanderling.model import Forgotten, Searchable
from sanderling.repository.pruning import forgotten
from sanderling.repository.store import IndexStore
from sanderling.search import searchable
from sanderling.search.writing import IndexProgress

# With this many more documents that are gone than there are, a new index is made: tantivy gives
# their space back only when it merges their segments.
_FEW = 1000
_ALL = 1 << 31


def pending(store: IndexStore, progress: IndexProgress) -> Forgotten | None:
    """What the index has not forgotten yet."""
    found = forgotten(store)
    return found if found.number > progress.forgotten else None


def neighbours(store: IndexStore, left: Forgotten, indexed: int) -> Iterator[Searchable]:
    """The indexed versions of the same pages."""
    for page in left.pages:
        yield from searchable.before(store, page, indexed, _ALL)


def last_before(store: IndexStore, number: int) -> Searchable | None:
    """The last version up to a number."""
    found = store.select("SELECT max(number) FROM versions WHERE number <= ?", number)[0][0]
    return searchable.after(store, found - 1, 1)[0] if found else None


def mostly_gone(where: Path) -> bool:
    """Whether most documents of an index are gone, and take space all the same."""
    segments = json.loads((where / "meta.json").read_text("utf-8"))["segments"]
    gone = sum((each.get("deletes") or {}).get("num_deleted_docs", 0) for each in segments)
    return bool(gone > sum(each["max_doc"] for each in segments) - gone + _FEW)
