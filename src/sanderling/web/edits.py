"""Reads the edits of a crawl for lists: the same change on many pages is one of them."""

from typing import Any, NamedTuple

from sanderling.repository import views
from sanderling.repository.store import ViewStore
from sanderling.telling.edits import Edit, Grouping

# Changes that are read at once, and at most for one part of a list. An edit of more pages is shown
# in several parts.
_READ, _MOST_READ = 100, 2000


class EditList(NamedTuple):
    """Some edits, the newest first, and where the next part begins: None at the end."""

    items: list[Edit]
    next: int | None


def edits_of(store: ViewStore, most: int, before: int | None = None, **filters: Any) -> EditList:
    """At most this many edits, by the filters of `views.changes`. The last change that is read is
    the last that belongs to them."""
    grouping = Grouping()
    for _ in range(_MOST_READ // _READ):
        part = views.changes(store, _READ, before, **filters)
        for version in part.rows:
            if len(grouping.found) == most and grouping.edit_of(version) is None:
                return EditList(grouping.found, version.number + 1)
            grouping.add(version)
        before = part.next
        if before is None or not part.rows:
            break
    return EditList(grouping.found, before)
