"""What the update module keeps: beliefs about pages and sitemaps, and trust in hosts. The same
tables in both stores.

A page that was visited once has no row: what is known of it is in `pages`, so a first crawl costs
nothing here.
"""

from typing import Any

from sanderling.model import DUE_AT_ONCE, RevisitFacts

_COLUMNS = ("at", "since", "kinds", "evidence", "interval", "tried", "failures")
_UPDATE = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS)
_NAMES = ", ".join(_COLUMNS)

# For both dialects, from a store's join of `urls`.
SEEN = """SELECT u.id, u.host, u.modified, coalesce(b.at, p.fetched_at, 0.0), coalesce(p.size, 0), coalesce(p.etag, ''),
    coalesce(p.modified, ''), b.evidence, coalesce(b.interval, 0.0), coalesce(b.failures, 0),
    coalesce(n.indexnow, 0.0), coalesce(n.websub, 0.0), coalesce(n.report, 0.0), coalesce(p.relevance, 0.0)
    FROM {urls} LEFT JOIN beliefs b ON b.page = u.number LEFT JOIN notices n ON n.page = u.number WHERE u.number"""

SQLITE_WRITE = f"""INSERT INTO beliefs (page, {_NAMES}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (page) DO UPDATE SET {_UPDATE}"""
SQLITE_TRUST = "INSERT OR REPLACE INTO trust VALUES (?, ?)"

POSTGRES_WRITE = f"""INSERT INTO beliefs (page, {_NAMES}) SELECT u.number, {", ".join(f"v.{name}" for name in _COLUMNS)}
    FROM unnest(%b::int8[], %b::float8[], %b::float8[], %b::int4[], %b::bytea[], %b::float8[], %b::float8[], %b::int4[])
    AS v (id, {_NAMES}) JOIN urls u ON u.id = v.id ON CONFLICT (page) DO UPDATE SET {_UPDATE}"""
POSTGRES_TRUST = """INSERT INTO trust SELECT * FROM unnest(%b::int8[], %b::bytea[])
    ON CONFLICT (host) DO UPDATE SET learned = excluded.learned"""

# Visited pages that a source named after their last visit, each with when sources named it and when
# that visit was.
NAMED = """SELECT u.id, u.host, n.indexnow, n.websub, n.report, coalesce(b.at, p.fetched_at, 0.0) AS visited
    FROM {urls} LEFT JOIN beliefs b ON b.page = u.number JOIN notices n ON n.page = u.number
    WHERE u.number IN (SELECT page FROM notices) AND u.state IN (3, 5) AND u.alias = 0
    AND (n.indexnow > coalesce(b.at, p.fetched_at, 0.0) OR n.websub > coalesce(b.at, p.fetched_at, 0.0)
    OR n.report > coalesce(b.at, p.fetched_at, 0.0)) LIMIT ?"""

# When a source named pages last; `source` is a column, see `freshness.sources.SOURCES`.
SQLITE_TOLD = """INSERT INTO notices (page, {source}) VALUES (?, ?)
    ON CONFLICT (page) DO UPDATE SET {source} = max({source}, excluded.{source})"""
POSTGRES_TOLD = """INSERT INTO notices AS n (page, {source}) SELECT u.number, v.at
    FROM unnest(%b::int8[], %b::float8[]) AS v (id, at) JOIN urls u ON u.id = v.id
    ON CONFLICT (page) DO UPDATE SET {source} = greatest(n.{source}, excluded.{source})"""

BRING_FORWARD = {
    True: "UPDATE urls SET due = {value} WHERE state IN (3, 5) AND due > {value}",
    # A server that answered may have asked for a long pause.
    False: "UPDATE urls SET due = {value} WHERE state = 1 AND due > {value} AND substr(reason, 1, 7) <> 'status:'",
}
FORGET_DUE = f"UPDATE urls SET due = 0, attempts = 0 WHERE state IN (3, 5) AND due > {DUE_AT_ONCE}"

# Pages that are no other name of one, and the sitemaps that were read: as `Subject` names them.
SUBJECTS = """SELECT u.id, u.host, u.depth, u.state, u.kind, u.modified, u.url, coalesce(p.status, 200),
    coalesce(b.at, p.fetched_at, 0.0), coalesce(p.size, 0), coalesce(p.importance, 0.0), coalesce(p.not_modified, 0),
    coalesce(p.same, 0), coalesce(b.since, 0.0), coalesce(b.kinds, 0), b.evidence, coalesce(b.interval, 0.0), coalesce(b.tried, 0.0),
    coalesce(b.failures, 0), coalesce(n.indexnow, 0.0), coalesce(n.websub, 0.0), coalesce(n.report, 0.0),
    coalesce(p.relevance, 0.0)
    FROM {urls} LEFT JOIN beliefs b ON b.page = u.number LEFT JOIN notices n ON n.page = u.number
    WHERE u.state IN (3, 5) AND u.alias = 0 AND (p.status IS NOT NULL OR u.kind > 0)"""

# Sitemaps that were read: when last, and how long until the next time.
SITEMAPS = """SELECT u.id, u.host, coalesce(b.at, 0.0), coalesce(b.interval, 0.0)
    FROM urls u LEFT JOIN beliefs b ON b.page = u.number WHERE u.kind IN (1, 2) AND u.state = 3"""


def seen(row: tuple[Any, ...]) -> RevisitFacts:
    return RevisitFacts._make((*row[:7], bytes(row[7] or b""), *row[8:]))
