"""Finds archived copies by URL and time, for replay."""

from typing import NamedTuple

from sanderling.model import ChangeKind, VersionRow
from sanderling.repository import rows, views
from sanderling.repository.store import ViewStore
from sanderling.urls import SEEDABLE, identity, with_fragment

# The files of a page are fetched after it. Those of up to this many seconds later belong to it,
# unless the page has a newer version by then.
SLACK = 3600.0
# Other names and redirects that lead from a URL to its page.
MOST_STEPS = 5
_WITH_CONTENT = f"(v.kinds & {int(ChangeKind.GONE)}) = 0"


class Neighbours(NamedTuple):
    """The versions with content beside one of the same page."""

    earlier: VersionRow | None
    later: VersionRow | None
    page: int  # the identity of its URL
    place: int  # of the version in the history of the page, from 1


def copy_of(store: ViewStore, url: str, at: float) -> VersionRow | None:
    """The version of a page at a time, else its first one. If the URL is another name of a page, or
    redirects, that page counts."""
    page = with_fragment(url, SEEDABLE)
    for _ in range(MOST_STEPS):
        if page is None:
            return None
        found = views.version_at(store, identity(page), at)
        if found is not None:
            return found
        known = views.url(store, identity(page))
        page = (known.same_as or known.redirect) if known is not None else None
    return None


def file_of(store: ViewStore, url: str, version: VersionRow) -> VersionRow | None:
    """A file as it was when a version of a page was fetched with its files."""
    later = _beside(store, version, later=True)
    found = copy_of(store, url, min(version.at + SLACK, later.at - 1e-6 if later is not None else version.at + SLACK))
    return found if found is not None and not found.kinds & ChangeKind.GONE else None


def neighbours(store: ViewStore, version: VersionRow) -> Neighbours:
    """The versions before and after one."""
    page = identity(version.url)
    number = store.number(page)
    query = f"SELECT count(*) FROM {store.joins.versions} WHERE u.number = ? AND v.number <= ?"
    place = int(store.select(query, number, version.number)[0][0])
    return Neighbours(_beside(store, version, later=False), _beside(store, version, later=True), page, place)


def _beside(store: ViewStore, version: VersionRow, later: bool) -> VersionRow | None:
    compare, order = (">", "ASC") if later else ("<", "DESC")
    query = f"""SELECT {rows.VERSION_FIELDS} FROM {store.joins.versions} WHERE u.number = ? AND v.number {compare} ?
        AND {_WITH_CONTENT} ORDER BY v.number {order} LIMIT 1"""
    found = store.select(query, store.number(identity(version.url)), version.number)
    return rows.version(found[0]) if found else None


def captures(store: ViewStore, url: str, most: int = 10_000) -> list[VersionRow]:
    """The versions of a page that have content, the oldest first."""
    found = copy_of(store, url, 0.0)
    if found is None:
        return []
    every = views.versions(store, identity(found.url), 1, most)
    return [each for each in every if not each.kinds & ChangeKind.GONE]
