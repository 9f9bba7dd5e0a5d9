"""What the search index reads of a store, in the words that both dialects share."""

from typing import Any

from sanderling.model import ChangeKind, HitFacts, Kind, Searchable, Stored
from sanderling.model.reasons import reason
from sanderling.repository import rows
from sanderling.repository.store import ViewStore

# A version with the version after it and the page as it is now.
_VERSION = """SELECT v.number, u.number,
    (SELECT count(*) FROM versions o WHERE o.page = v.page AND o.number <= v.number), u.url, v.at, n.at, v.status,
    v.kinds, v.news, n.kinds, n.number = (SELECT max(o.number) FROM versions o WHERE o.page = v.page), p.changed_at,
    p.changes, v.text_digest, p.simhash, p.flags, v.mime, w.name, v."offset", v.length, v.extracted, p.relevance, u.kind"""
_NEXT = """LEFT JOIN versions n
    ON n.number = (SELECT min(o.number) FROM versions o WHERE o.page = v.page AND o.number > v.number)"""
_FACTS = "SELECT u.number, p.importance, p.fetched_at, p.flags, u.alias, p.relevance, u.reason"
_LEFT = reason("left-collection")
# Pages asked for at a time; the last one is asked for several times, so that the statement is
# prepared already.
_TOGETHER = 100


def after(store: ViewStore, number: int, most: int) -> list[Searchable]:
    """Versions from behind a number on, in order."""
    query = f"{_versions(store)} WHERE v.number > ? ORDER BY v.number LIMIT ?"
    return [*map(_searchable, store.select(query, number, most))]


def before(store: ViewStore, page: int, until: int, most: int) -> list[Searchable]:
    """The last versions of a page (by the number of its URL) up to a number."""
    query = f"{_versions(store)} WHERE u.number = ? AND v.number <= ? ORDER BY v.number DESC LIMIT ?"
    return [*map(_searchable, store.select(query, page, until, most))]


def facts(store: ViewStore, pages: list[int]) -> dict[int, HitFacts]:
    """Pages (by the number of their URL) as they are now."""
    places = ", ".join("?" * _TOGETHER)
    query = f"{_FACTS} FROM {store.joins.urls} WHERE u.number IN ({places}) AND p.status IS NOT NULL"
    found = {}
    for start in range(0, len(pages), _TOGETHER):
        part = pages[start : start + _TOGETHER]
        for row in store.select(query, *part, *part[-1:] * (_TOGETHER - len(part))):
            found[row[0]] = HitFacts(row[1], row[2], bool(row[3] & rows.NOINDEX), bool(row[4]), row[5], row[6] == _LEFT)
    return found


def _versions(store: ViewStore) -> str:
    return f"{_VERSION} FROM {store.joins.versions} {_NEXT}"


def _searchable(r: tuple[Any, ...]) -> Searchable:
    kinds, next_kinds = ChangeKind(r[7]), ChangeKind(r[9] or 0)
    gone = bool(r[10]) and bool(next_kinds & ChangeKind.GONE)
    latest = r[5] is None or gone  # of the versions with content: what the page's row says is said of this one
    told = r[4] if r[8] and not kinds & ChangeKind.NEW else r[11] if latest and r[12] else 0.0
    return Searchable(
        number=r[0], page=r[1], version=r[2], url=r[3], at=r[4], until=r[5], status=r[6], kinds=kinds, changed_at=told,
        gone=gone, text_digest=bytes(r[13]), simhash=r[14] if latest else 0,
        noindex=r[22] == Kind.REQUISITE or (bool(r[15] & rows.NOINDEX) if latest else None), mime=r[16], stored=Stored(r[17], r[18], r[19]),
        extracted=r[20], relevance=r[21],
    )  # fmt: skip
