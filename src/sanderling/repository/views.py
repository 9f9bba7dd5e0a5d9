"""What people page through: each look costs what it shows, however large the crawl is.

Lists are read in the order of a key, from behind the last row that was shown. Where a filter has no
index, a look goes through a bounded stretch of the list and says where the next one begins, so that
a rare thing costs several looks and not a long one. The queries are in the words that both dialects
share.
"""

import math
from typing import Any, NamedTuple

from sanderling.model import ChangeKind, State, VersionRow
from sanderling.model.reasons import sentence
from sanderling.repository import rows
from sanderling.repository.store import ViewStore

# Rows one look goes through at most: 20,000 take 10 ms in SQLite.
STRETCH = 20_000
# Versions between two that are compared.
LONGEST_WAY = 100
_FIRST, _LAST = 0, 1 << 62

_LISTED = """SELECT u.number, u.id, u.url, u.state, u.depth, u.reason, p.status, p.title, p.mime, p.size, p.visits,
    p.changes, p.fetched_at, p.changed_at"""
_SHOWN = f"""SELECT u.id, u.url, u.host, u.state, u.kind, u.depth, u.due, u.via, u.anchor, u.reason, p.status, p.title,
    p.mime, p.charset, p.language, p.size, p.visits, p.changes, p.importance, p.fetched_at, p.changed_at,
    p.not_modified, p.same, p.flags, p.redirect, u.alias, p.fingerprint, p.noise,
    {rows.RELEVANCE}"""
_VERSIONS = f"SELECT {rows.VERSION_FIELDS}"
_WITH_CONTENT = f"(v.kinds & {int(ChangeKind.GONE)}) = 0"


class ListedUrl(NamedTuple):
    """A URL in a list."""

    number: int
    id: int
    url: str
    state: str
    depth: int
    reason: str
    reason_code: str
    status: int
    title: str
    mime: str
    size: int
    visits: int
    changes: int
    fetched_at: float
    changed_at: float


class Shown(NamedTuple):
    """Everything that is known about one URL; nothing from `status` on for one that never
    answered."""

    id: int
    url: str
    host: int
    state: str
    kind: int
    depth: int
    due: float
    via: int
    anchor: str
    reason: str
    reason_code: str
    status: int
    title: str
    mime: str
    charset: str
    language: str
    size: int
    visits: int
    changes: int
    importance: float
    fetched_at: float
    changed_at: float
    not_modified: int
    same: int
    truncated: bool
    noindex: bool
    login: bool
    redirect: str
    same_as: str
    fingerprint: bytes
    noise: bytes
    relevance: float


class PageVersion(NamedTuple):
    """A version, with what else is known of its page as it is now."""

    version: VersionRow
    charset: str
    language: str
    truncated: bool
    noindex: bool


class ListPart(NamedTuple):
    """Some rows of a list, and where the next look begins: None at the end."""

    rows: list[Any]
    next: int | None


def urls(
    store: ViewStore,
    most: int,
    after: int = _FIRST,
    state: State | None = None,
    host: int | None = None,
    prefix: str = "",
) -> ListPart:
    """URLs in the order they were found."""
    indexed = state in (State.FAILED, State.GONE)
    end = _LAST if indexed else after + STRETCH
    wanted: list[tuple[str, list[object]]] = [("u.number > ? AND u.number <= ? AND u.kind = 0", [after, end])]
    if state is not None:
        wanted.append(("u.state = ?" + " AND u.state IN (4, 5)" * indexed, [int(state)]))
    if host is not None:
        wanted.append(("u.host = ?", [host]))
    if prefix:
        wanted.append(("substr(u.url, 1, ?) = ?", [len(prefix), prefix]))
    found = [*map(_listed, _select(store, f"{_LISTED} FROM {store.joins.urls}", wanted, "u.number", most))]
    if len(found) == most:
        return ListPart(found, found[-1].number)
    newest = store.select("SELECT max(number) FROM urls")[0][0] or 0
    return ListPart(found, end if end < newest else None)


# By what pages can be sorted. Only crawls of up to a stretch of URLs are: no index helps.
ORDERS = {
    "changed": "coalesce(p.changed_at, 0) DESC", "changes": "coalesce(p.changes, 0) DESC",
    "visited": "coalesce(p.fetched_at, 0) DESC", "size": "coalesce(p.size, 0) DESC", "address": "u.url",
}  # fmt: skip


def sorted_urls(
    store: ViewStore, most: int, skipped: int, order: str, state: State | None = None, host: int | None = None,
    prefix: str = "",
) -> ListPart:  # fmt: skip
    """URLs of a small crawl in another order. `next` is how many rows were listed."""
    wanted: list[tuple[str, list[object]]] = [("u.kind = 0 AND u.number <= ?", [STRETCH])]
    if state is not None:
        wanted.append(("u.state = ?", [int(state)]))
    if host is not None:
        wanted.append(("u.host = ?", [host]))
    if prefix:
        wanted.append(("substr(u.url, 1, ?) = ?", [len(prefix), prefix]))
    terms = " AND ".join(term for term, _ in wanted)
    values = [value for _, each in wanted for value in each]
    query = f"{_LISTED} FROM {store.joins.urls} WHERE {terms} ORDER BY {ORDERS[order]}, u.number LIMIT ? OFFSET ?"
    found = [*map(_listed, store.select(query, *values, most, skipped))]
    return ListPart(found, skipped + most if len(found) == most else None)


def url(store: ViewStore, id: int) -> Shown | None:
    """One URL by its identity."""
    number = store.number(id)
    if number is None:
        return None
    row = store.select(f"{_SHOWN} FROM {store.joins.urls} WHERE u.number = ?", number)[0]
    page = _filled(row[10:23], (0, "", "", "", "", 0, 0, 0, 0.0, 0.0, 0.0, 0, 0))
    flags = row[23] or 0
    known = [*row[:3], _named(row[3]), *row[4:9], sentence(row[9]), row[9], *page]
    others = store.known([other for other in row[24:26] if other])
    names = [others[other][0] if other in others else "" for other in row[24:26]]
    marks = [bool(flags & rows.TRUNCATED), bool(flags & rows.NOINDEX), bool(flags & rows.LOGIN), *names]
    return Shown._make([*known, *marks, bytes(row[26] or b""), bytes(row[27] or b""), row[28]])


class Harvested(NamedTuple):
    """A page of a focused crawl."""

    number: int
    depth: int
    fetched_at: float
    relevance: float


def harvested(store: ViewStore, most: int = 20_000) -> list[Harvested]:
    """The pages among the first URLs that were found."""
    query = f"""SELECT u.number, u.depth, p.fetched_at, p.relevance FROM {store.joins.urls}
        WHERE u.number <= ? AND u.kind = 0 AND p.status BETWEEN 200 AND 299"""
    return [*map(Harvested._make, store.select(query, most))]


class TopicParts(NamedTuple):
    """What the rank of a URL in a focused crawl was made of."""

    words: float
    off_topic: int
    rank: float
    parent: float  # the relevance of the page it was found on
    found_on: str
    found_on_id: int
    linking: list[float]  # the relevances of some pages that link to it
    host: float  # the mean relevance of some pages of its host
    hosts_pages: int


def topic_parts(store: ViewStore, id: int, most: int = 2000, most_linking: int = 50) -> TopicParts:
    """Why a URL has its rank."""
    words, off_topic, rank, via, host = store.select(
        "SELECT relevance, off_topic, rank, via, host FROM urls WHERE number = ?", store.number(id)
    )[0]
    parent = url(store, via) if via else None
    query = f"""SELECT count(*), coalesce(sum(relevance), 0) FROM (SELECT p.relevance FROM {store.joins.urls}
        WHERE u.host = ? AND u.number <= ? AND p.status BETWEEN 200 AND 299 LIMIT ?) some"""
    pages, total = store.select(query, host, 20_000, most)[0]
    there = (url(store, each) for each in linking(store, id, most=most_linking).rows)
    return TopicParts(
        words, off_topic, rank, parent.relevance if parent else 0.0, parent.url if parent else "", via or 0,
        [each.relevance for each in there if each is not None],
        total / pages if pages else 0.0, pages,
    )  # fmt: skip


def pages_with_login(store: ViewStore) -> int:
    """How many pages were read with the user's login."""
    return int(
        store.select(f"SELECT count(*) FROM pages WHERE flags & {rows.LOGIN} <> 0 AND status BETWEEN 200 AND 299")[0][0]
    )


def evidence(store: ViewStore, id: int) -> bytes:
    """What visits have said about when a URL changes, in the encoding of the update module; empty
    when nothing."""
    found = store.select("SELECT evidence FROM beliefs WHERE page = ?", store.number(id))
    return bytes(found[0][0] or b"") if found else b""


def evidence_around(store: ViewStore, id: int, most: int = 1000) -> list[tuple[bytes, float]]:
    """The evidence of a URL and when it was visited last, then those of pages of its host that were
    found at about the same time."""
    number = store.number(id)
    query = """SELECT b.evidence, b.at FROM urls u JOIN beliefs b ON b.page = u.number
        WHERE u.number BETWEEN ? AND ? AND u.number <> ? AND u.kind = 0
        AND u.host = (SELECT host FROM urls WHERE number = ?)"""
    own = store.select("SELECT evidence, at FROM beliefs WHERE page = ?", number)
    if number is None:
        return [(b"", 0.0)]
    others = store.select(query, number - most // 2, number + most // 2, number, number)
    return [(bytes(said or b""), float(at)) for said, at in [*(own or [(b"", 0.0)]), *others]]


def version(store: ViewStore, number: int) -> VersionRow | None:
    """One version by its number in the crawl."""
    found = store.select(f"{_VERSIONS} FROM {store.joins.versions} WHERE v.number = ?", number)
    return rows.version(found[0]) if found else None


def version_at(store: ViewStore, page: int, at: float) -> VersionRow | None:
    """The newest version of a page at a time, else its first one."""
    number = store.number(page)
    for condition, order in (("v.at <= ?", "DESC"), ("v.at > ?", "ASC")):
        query = f"{_VERSIONS} FROM {store.joins.versions} WHERE u.number = ? AND {condition} ORDER BY v.number {order} LIMIT 1"
        if number is not None and (found := store.select(query, number, at)):
            return rows.version(found[0])
    return None


def version_count(store: ViewStore, page: int) -> int:
    query = f"SELECT count(*) FROM {store.joins.versions} WHERE u.number = ?"
    return int(store.select(query, store.number(page))[0][0])


def versions(store: ViewStore, page: int, first: int, last: int) -> list[VersionRow]:
    """Versions of a page by their place in its history, which begins with 1; the oldest first."""
    query = f"{_VERSIONS} FROM {store.joins.versions} WHERE u.number = ? ORDER BY v.number LIMIT ? OFFSET ?"
    return [*map(rows.version, store.select(query, store.number(page), max(0, last - first + 1), first - 1))]


def place_of(store: ViewStore, page: int, number: int) -> int:
    """The place of a version in the history of its page: how many versions are not newer."""
    query = f"SELECT count(*) FROM {store.joins.versions} WHERE u.number = ? AND v.number <= ?"
    return int(store.select(query, store.number(page), number)[0][0])


def way(store: ViewStore, page: int, first: int, last: int) -> list[VersionRow]:
    """The versions of a page from one place in its history to a later one; of many only the
    newest."""
    return versions(store, page, max(first, last - LONGEST_WAY + 1), last)


def page_versions(store: ViewStore, after: int, most: int) -> list[PageVersion]:
    """The versions after a number that have content, the oldest first."""
    query = f"""{_VERSIONS}, p.charset, p.language, p.flags FROM {store.joins.versions}
        WHERE v.number > ? AND u.kind <> 3 AND {_WITH_CONTENT} ORDER BY v.number LIMIT ?"""
    return [*map(_page_version, store.select(query, after, most))]


def versions_after(store: ViewStore, after: int, most: int) -> list[PageVersion]:
    """All versions behind a number, the oldest first; also those that say that a page is gone."""
    query = f"""{_VERSIONS}, p.charset, p.language, p.flags FROM {store.joins.versions}
        WHERE v.number > ? AND u.alias = 0 AND u.kind <> 3 ORDER BY v.number LIMIT ?"""
    return [*map(_page_version, store.select(query, after, most))]


def gone_at(store: ViewStore, page: int, at: float) -> bool:
    """Whether the last version of a page up to a time says that it is gone."""
    query = (
        f"SELECT v.kinds FROM {store.joins.versions} WHERE u.number = ? AND v.at <= ? ORDER BY v.number DESC LIMIT 1"
    )
    found = store.select(query, store.number(page), at)
    return bool(found and found[0][0] & ChangeKind.GONE)


def current_versions(
    store: ViewStore, after: int, most: int, login: bool, files: bool = False
) -> list[PageVersion]:  # fmt: skip
    """The newest version of each page that is there, by number, from after a number on, and of
    `files` that pages need. Other names of pages are left out."""
    query = f"""{_VERSIONS}, p.charset, p.language, p.flags FROM {store.joins.versions}
        WHERE v.number > ? AND v.number = (SELECT max(o.number) FROM versions o WHERE o.page = v.page)
        AND {_WITH_CONTENT} AND u.state NOT IN (5, 6) AND u.alias = 0
        AND (u.kind <> 3 OR {int(files)} = 1) AND (p.flags & {rows.LOGIN} = 0 OR {int(login)} = 1)
        ORDER BY v.number LIMIT ?"""
    return [*map(_page_version, store.select(query, after, most))]


def versions_with_content(store: ViewStore, page: int, until: float = math.inf) -> list[PageVersion]:
    """The versions of a page that have content, the oldest first, up to a time."""
    query = f"""{_VERSIONS}, p.charset, p.language, p.flags FROM {store.joins.versions}
        WHERE u.number = ? AND v.at <= ? AND {_WITH_CONTENT} ORDER BY v.number"""
    return [*map(_page_version, store.select(query, store.number(page), until))]


class Failure(NamedTuple):
    """A page that could not be fetched."""

    number: int  # grows in the order of commits
    url: str
    at: float
    reason: str
    reason_code: str


def failures(store: ViewStore, after: int, most: int) -> list[Failure]:
    """What could not be fetched, from after a number on, the oldest first."""
    query = f"""SELECT f.number, u.url, f.at, f.reason FROM {store.joins.failures}
        WHERE f.number > ? AND u.kind <> 3 ORDER BY f.number LIMIT ?"""
    return [
        Failure(number, url, at, sentence(code), code) for number, url, at, code in store.select(query, after, most)
    ]


class Linked(NamedTuple):
    """A page with the URLs that it links to, in their order."""

    page: int  # its key in the store
    url: str
    targets: list[str]


def links_after(store: ViewStore, after: int | None, most: int) -> list[Linked]:
    """Pages with links by their key, from after one on."""
    query = f"SELECT l.page, u.url, l.targets FROM {store.joins.links} WHERE l.page > ? ORDER BY l.page LIMIT ?"
    found = [
        (page, url, memoryview(targets).cast("q"))
        for page, url, targets in store.select(query, -(1 << 63) if after is None else after, most)
    ]
    texts = store.known([*{id for _, _, targets in found for id in targets}])
    return [Linked(page, url, [texts[id][0] for id in ids if id in texts]) for page, url, ids in found]


def newest_versions(store: ViewStore, after: int, most: int) -> list[VersionRow]:
    """The newest version of each page, by number, from after a number on."""
    newest = "v.number = (SELECT max(o.number) FROM versions o WHERE o.page = v.page)"
    query = f"{_VERSIONS} FROM {store.joins.versions} WHERE v.number > ? AND u.kind <> 3 AND {newest} ORDER BY v.number LIMIT ?"
    return [*map(rows.version, store.select(query, after, most))]


def changes(
    store: ViewStore, most: int, before: int | None = None, kinds: ChangeKind | None = None, since: float = 0.0,
    significance: float = 0.0, host: int | None = None, everything: bool = False,
    newer_than: int = 0, login: bool = True,
) -> ListPart:  # fmt: skip
    """Versions of all pages behind a number, the newest first; without `everything` only those that
    are news.

    Without `login`, pages that were read in a session of the user's are left out.
    """
    if before is None:
        before = (store.select("SELECT max(number) FROM versions")[0][0] or 0) + 1
    end = max(
        newer_than + 1, before - (STRETCH if host is None else max(1, STRETCH // 4))
    )  # whose host it is takes two more looks for each
    wanted: list[tuple[str, list[object]]] = [("v.number < ? AND v.number >= ?", [before, end])]
    if kinds:
        wanted.append(("v.kinds & ? <> 0", [int(kinds)]))
    if since:
        wanted.append(("v.at >= ?", [since]))
    if significance:
        wanted.append(("v.significance >= ?", [significance]))
    if host is not None:
        wanted.append(("u.host = ?", [host]))
    if not everything:
        asked_for = (kinds or ChangeKind(0)) & ChangeKind.BEHAVIOUR  # told only to those who ask for it
        wanted.append(("(v.news <> 0 AND v.kinds <> 0 OR v.kinds & ? <> 0)", [int(asked_for)]))
    if not login:
        wanted.append((f"p.flags & {rows.LOGIN} = 0", []))
    # First which ones, then all about these: no planner may join a whole stretch to show the first
    # few.
    source = "versions v" if host is None and login else store.joins.versions
    numbers = [row[0] for row in _select(store, f"SELECT v.number FROM {source}", wanted, "v.number DESC", most)]
    chosen = [(f"v.number IN ({', '.join('?' * len(numbers))})", list[object](numbers))]
    query = f"{_VERSIONS} FROM {store.joins.versions}"
    found = [*map(rows.version, _select(store, query, chosen, "v.number DESC", most))] if numbers else []
    if len(found) == most:
        return ListPart(found, found[-1].number)
    # Versions come in the order of time, give or take the length of a report.
    last = store.select("SELECT at FROM versions WHERE number >= ? ORDER BY number LIMIT 1", end) if since else []
    over = end <= newer_than + 1 or bool(last and last[0][0] < since - 600)
    return ListPart(found, None if over else end)


def news_times(store: ViewStore, since: float = 0.0, newer_than: int = 0) -> list[tuple[float, int]]:
    """When the newest changes that are news were found, and their kinds; the newest first."""
    query = """SELECT at, kinds FROM versions
        WHERE number > ? AND at >= ? AND news <> 0 AND kinds <> 0 ORDER BY number DESC LIMIT ?"""
    newest = store.select("SELECT max(number) FROM versions")[0][0] or 0
    return [(at, kinds) for at, kinds in store.select(query, max(newer_than, newest - STRETCH), since, STRETCH)]


def hosts(store: ViewStore, most: int, after: int | None = None) -> ListPart:
    """Hosts, in no order that means anything but always the same."""
    query = f"{rows.HOSTS} WHERE id > ? ORDER BY id LIMIT ?"
    found = [*map(rows.host, store.select(query, -(1 << 63) if after is None else after, most))]
    return ListPart(found, found[-1].id if len(found) == most else None)


def linking(store: ViewStore, id: int, after: int | None = None, most: int = 500) -> ListPart:
    """Pages (by id) that link to a URL, from among the next few thousand pages."""
    stretch = max(1, STRETCH // 8)  # about 700 bytes of links a page
    query = "SELECT page, targets FROM links WHERE page > ? ORDER BY page LIMIT ?"
    looked = store.select(query, -(1 << 63) if after is None else after, stretch)
    packed = id.to_bytes(8, "little", signed=True)
    found = [page for page, targets in looked if packed in bytes(targets) and id in memoryview(targets).cast("q")]
    end = looked[-1][0] if len(looked) == stretch else None
    if len(found) > most:
        found, end = found[:most], found[most - 1]
    places = ", ".join("?" * len(found))
    named = (
        store.select(f"SELECT l.page, u.id FROM {store.joins.links} WHERE l.page IN ({places})", *found)
        if found
        else []
    )
    ids = dict(named)
    return ListPart([ids[page] for page in found if page in ids], end)


def _page_version(row: tuple[Any, ...]) -> PageVersion:
    flags = row[-1]
    return PageVersion(rows.version(row), row[-3], row[-2], bool(flags & rows.TRUNCATED), bool(flags & rows.NOINDEX))


def _listed(row: tuple[Any, ...]) -> ListedUrl:
    page = _filled(row[6:], (0, "", "", 0, 0, 0, 0.0, 0.0))
    return ListedUrl._make([*row[:3], _named(row[3]), row[4], sentence(row[5]), row[5], *page])


def _named(state: int) -> str:
    return State(state).name.lower()


def _filled(values: tuple[Any, ...], instead: tuple[Any, ...]) -> list[Any]:
    return [other if value is None else value for value, other in zip(values, instead, strict=True)]


def _select(
    store: ViewStore, query: str, wanted: list[tuple[str, list[object]]], order: str, most: int
) -> list[tuple[Any, ...]]:
    terms = " AND ".join(term for term, _ in wanted)
    values = [value for _, each in wanted for value in each]
    return store.select(f"{query} WHERE {terms} ORDER BY {order} LIMIT ?", *values, most)
