"""The embedded store: one SQLite file in WAL mode, one writing process, any number of readers.

URL identities are the row ids, so that admitting a known URL is one look-up. The queue is a partial index by host
and rank: its cost does not grow with what is done. Counts are kept beside the rows they count, in the same
transaction, so that no command ever scans a table to know how far a crawl is.
"""

import json
import math
import random
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from sanderling.errors import BadFolder, DiskFull
from sanderling.model import Commit, Counts, Host, NewUrl, Outcome, PageRow, Robots, State, Task
from sanderling.repository.store import UrlFacts, Waiting

SCHEMA = 1

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY, origin TEXT NOT NULL, robots BLOB, not_before REAL NOT NULL, interval REAL NOT NULL,
    learned BLOB NOT NULL);
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, depth INTEGER NOT NULL, state INTEGER NOT NULL,
    rank REAL NOT NULL, due REAL NOT NULL, attempts INTEGER NOT NULL, hops INTEGER NOT NULL,
    via INTEGER NOT NULL, kind INTEGER NOT NULL, modified REAL NOT NULL, priority REAL NOT NULL, alias INTEGER NOT NULL,
    url TEXT NOT NULL, anchor TEXT NOT NULL, reason TEXT NOT NULL);
CREATE INDEX queue ON urls (host, rank DESC) WHERE state = 1 AND due = 0;
CREATE INDEX retries ON urls (due) WHERE state = 1 AND due > 0;
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, status INTEGER NOT NULL, fetched_at REAL NOT NULL, changed_at REAL NOT NULL,
    visits INTEGER NOT NULL, changes INTEGER NOT NULL, importance REAL NOT NULL, size INTEGER NOT NULL,
    digest BLOB NOT NULL, text_digest BLOB NOT NULL, mime TEXT NOT NULL, charset TEXT NOT NULL,
    language TEXT NOT NULL, title TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL,
    flags INTEGER NOT NULL, redirect INTEGER, canonical INTEGER NOT NULL, simhash INTEGER NOT NULL, warc INTEGER, offset INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TABLE versions (
    number INTEGER PRIMARY KEY, page INTEGER NOT NULL, at REAL NOT NULL, status INTEGER NOT NULL,
    digest BLOB NOT NULL, text_digest BLOB NOT NULL, size INTEGER NOT NULL, mime TEXT NOT NULL,
    warc INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE UNIQUE INDEX version_place ON versions (warc, offset);
CREATE INDEX version_page ON versions (page);
CREATE TABLE links (page INTEGER PRIMARY KEY, targets BLOB NOT NULL);
CREATE TABLE warcs (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL);
CREATE TABLE reports (client TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
"""

_TRUNCATED, _NOINDEX, _PERMANENT = 1, 2, 4

_NEW_URL = """INSERT INTO urls (id, url, host, depth, state, rank, via, hops, anchor, reason, kind, modified, priority,
    alias, due, attempts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)"""
_SETTLE = "UPDATE urls SET state = ?, attempts = ?, due = ?, reason = ? WHERE id = ?"
_PAGE = """INSERT INTO pages VALUES (?, ?, ?, ?, 1, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, fetched_at = excluded.fetched_at,
    visits = visits + 1, changes = changes + (digest != excluded.digest),
    changed_at = iif(digest != excluded.digest, excluded.changed_at, changed_at), size = excluded.size,
    digest = excluded.digest, text_digest = excluded.text_digest, mime = excluded.mime, charset = excluded.charset,
    language = excluded.language, title = excluded.title, etag = excluded.etag, modified = excluded.modified,
    flags = excluded.flags, redirect = excluded.redirect, canonical = excluded.canonical, simhash = excluded.simhash, warc = excluded.warc, offset = excluded.offset,
    length = excluded.length"""
_VERSION = """INSERT INTO versions (page, at, status, digest, text_digest, size, mime, warc, offset, length)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_LINKS = "INSERT OR REPLACE INTO links VALUES (?, ?)"
_HOST = """INSERT INTO hosts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET robots = excluded.robots,
    not_before = excluded.not_before, interval = excluded.interval, learned = excluded.learned"""
_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class SqliteStore:
    """A `Store` in one file."""

    def __init__(self, path: Path, readonly: bool = False) -> None:
        self._path = path
        self._closed = False
        self._warc_numbers: dict[str, int] = {}
        fresh = not path.exists()
        if readonly and fresh:
            raise BadFolder(f"{path} does not exist; nothing has been crawled into this folder yet")
        try:
            self._open(path, readonly)
            if fresh:
                self._create()
            self._check_version()
        except sqlite3.DatabaseError as error:
            raise BadFolder(f"{path} cannot be read: {error}") from None

    def _open(self, path: Path, readonly: bool) -> None:
        uri = path.absolute().as_uri() + ("?mode=ro" if readonly else "")
        self._db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        if not readonly:
            self._db.execute("PRAGMA journal_mode = WAL")
        # NORMAL: a power cut may lose the last commits, never the file; the pages in them are fetched again, and
        # their WARC bytes, which were synced first, are cut off on resume. A killed process loses nothing.
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA cache_size = -65536")
        self._db.execute("PRAGMA temp_store = MEMORY")
        self._db.execute("PRAGMA wal_autocheckpoint = 4000")
        self._db.execute("PRAGMA busy_timeout = 10000")

    def _create(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                self._db.execute(statement)
        self._set("schema", str(SCHEMA))
        self._set("counts", msgspec.json.encode(Counts()).decode())
        self._set("seeds", "[]")
        self._set("homes", "[]")
        self._db.execute("COMMIT")

    def _check_version(self) -> None:
        found = int(self._get("schema"))
        if found > SCHEMA:
            raise BadFolder(f"{self._path} was written by a newer Sanderling (schema {found}, this one knows {SCHEMA})")

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._db.close()

    # ---- writing

    def commit(self, commit: Commit) -> bool:
        db = self._db
        with _Transaction(db):
            row = db.execute("SELECT number FROM reports WHERE client = ?", (commit.client,)).fetchone()
            if row and row[0] >= commit.number:
                return False
            db.execute("INSERT OR REPLACE INTO reports VALUES (?, ?)", (commit.client, commit.number))
            self._put_hosts(commit.hosts)
            db.executemany(_NEW_URL, commit.urls)
            db.executemany(_SETTLE, [(s.state, s.attempts, s.due, s.reason, s.id) for s in commit.settled])
            for name, size in commit.warcs.items():
                self._put_warc(name, size)
            numbers = self._warc_numbers
            answered = [v for v in commit.visits if v.status]
            db.executemany(
                _PAGE,
                [
                    (
                        v.id, v.status, v.at, v.at, v.size, v.digest, v.text_digest, v.mime, v.charset, v.language,
                        v.title, v.etag, v.modified,
                        v.truncated * _TRUNCATED | v.noindex * _NOINDEX | v.permanent * _PERMANENT,
                        int.from_bytes(v.links[:8], "little", signed=True) if v.outcome is Outcome.REDIRECT and v.links else None,
                        v.canonical, v.simhash,
                        *((numbers[v.stored.warc], v.stored.offset, v.stored.length) if v.stored else (None, 0, 0)),
                    )
                    for v in answered
                ],
            )  # fmt: skip
            db.executemany(
                _VERSION,
                [
                    (v.id, v.at, v.status, v.digest, v.text_digest, v.size, v.mime, numbers[v.stored.warc], v.stored.offset, v.stored.length)
                    for v in answered
                    if v.outcome is Outcome.PAGE and v.stored
                ],
            )  # fmt: skip
            db.executemany(_LINKS, [(v.id, v.links) for v in answered if v.links])
            self._put_counts(commit.counts)
            if commit.homes is not None:
                self._set("homes", json.dumps(commit.homes))
        return True

    def seed(self, seeds: list[str], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        with _Transaction(self._db):
            self._set("seeds", json.dumps(seeds))
            self._put_hosts(hosts)
            self._db.executemany(_NEW_URL, urls)
            self._put_counts(counts)

    def set_aside(self, id: int, reason: str, counts: Counts) -> None:
        with _Transaction(self._db):
            self._db.execute(_SETTLE, (State.FAILED, 0, 0, reason, id))
            self._put_counts(counts)

    def wake(self, now: float) -> list[tuple[int, int]]:
        due = "state = 1 AND due > 0 AND due <= ?"
        with _Transaction(self._db):
            rows = self._db.execute(f"SELECT host, count(*) FROM urls WHERE {due} GROUP BY host", (now,)).fetchall()
            self._db.execute(f"UPDATE urls SET due = 0 WHERE {due}", (now,))
        return rows

    def rerank(self, ranks: Iterable[tuple[int, float]]) -> None:
        with _Transaction(self._db):
            self._db.executemany("UPDATE urls SET rank = ?2 WHERE id = ?1 AND state = 1", ranks)

    def _put_hosts(self, hosts: list[Host]) -> None:
        encode = msgspec.msgpack.encode
        self._db.executemany(
            _HOST,
            [
                (h.id, h.origin, encode(h.robots) if h.robots else None, h.not_before, h.interval, h.learned)
                for h in hosts
            ],
        )

    def _put_warc(self, name: str, size: int) -> None:
        self._db.execute(
            "INSERT INTO warcs (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET bytes = max(bytes, excluded.bytes)",
            (name, size),
        )
        if name not in self._warc_numbers:
            query = "SELECT number FROM warcs WHERE name = ?"
            self._warc_numbers[name] = self._db.execute(query, (name,)).fetchone()[0]

    def _put_counts(self, counts: Counts) -> None:
        self._set("counts", msgspec.json.encode(counts).decode())

    def _set(self, key: str, value: str) -> None:
        self._db.execute(_META, (key, value))

    def _get(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise BadFolder(f"{self._path} is incomplete: it has no {key!r}")
        return str(row[0])

    # ---- reading for the server

    def counts(self) -> Counts:
        return msgspec.json.decode(self._get("counts"), type=Counts)

    def seeds(self) -> list[str]:
        return msgspec.json.decode(self._get("seeds"), type=list[str])

    def homes(self) -> list[str]:
        return msgspec.json.decode(self._get("homes"), type=list[str])

    def depths(self) -> dict[int, int]:
        return dict(self._db.execute("SELECT depth, count(*) FROM urls WHERE state = 1 GROUP BY depth"))

    def waiting(self) -> list[Waiting]:
        rows = self._db.execute(
            """SELECT hosts.*, queued FROM hosts JOIN
            (SELECT host, count(*) AS queued FROM urls WHERE state = 1 AND due = 0 GROUP BY host) ON host = id"""
        )
        return [Waiting(_host(row[:6]), row[6]) for row in rows]

    def next_wake(self) -> float | None:
        row = self._db.execute("SELECT min(due) FROM urls WHERE state = 1 AND due > 0").fetchone()
        return None if row[0] is None else float(row[0])

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        # Leased URLs are still marked queued (a lease is not worth a write), so they come up again: skip them.
        rows = self._db.execute(
            """SELECT id, url, depth, attempts, hops, kind FROM urls WHERE state = 1 AND due = 0 AND host = ?
            AND rank >= ? AND rank < ? ORDER BY rank DESC LIMIT ?""",
            (host, above, below, count + len(leased)),
        )
        return list(islice((Task(*row) for row in rows if row[0] not in leased), count))

    def ranks(self, most: int) -> list[float]:
        query = "SELECT rank FROM urls WHERE state = 1 AND due = 0 LIMIT ?"
        rows = self._db.execute(query, (most + 1,)).fetchall()
        if len(rows) > most:
            # Ids are hashes, so neighbours by id have nothing else in common. Rows that are not queued are read too:
            # their number is bounded, and a queue that is such a small part of a crawl gets a smaller sample.
            sample = """SELECT rank FROM
                (SELECT rank, state, due FROM urls NOT INDEXED WHERE id >= ? ORDER BY id LIMIT ?)
                WHERE state = 1 AND due = 0 LIMIT ?"""
            start = random.getrandbits(63) - (1 << 63)  # the lower half, so that there are as many above it
            rows = self._db.execute(sample, (start, most * 20, most)).fetchall() or rows
        return [row[0] for row in rows]

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        return {row[0]: (row[1], row[2]) for row in self._by_id("SELECT id, url, state FROM urls WHERE id IN", ids)}

    def host(self, id: int) -> Host | None:
        row = self._db.execute("SELECT * FROM hosts WHERE id = ?", (id,)).fetchone()
        return _host(row) if row else None

    def _by_id(self, query: str, ids: list[int]) -> Iterator[tuple[int, str, int]]:
        for start in range(0, len(ids), 500):
            part = ids[start : start + 500]
            yield from self._db.execute(f"{query} ({','.join('?' * len(part))})", part)

    def warcs(self) -> dict[str, int]:
        return dict(self._db.execute("SELECT name, bytes FROM warcs"))

    # ---- reading the whole

    def url_facts(self) -> Iterator[UrlFacts]:
        rows = self._db.execute("SELECT id, host, depth, state, rank, alias FROM urls ORDER BY id")
        yield from map(UrlFacts._make, rows)

    def url_texts(self) -> Iterator[tuple[int, str]]:
        yield from self._db.execute("SELECT id, url FROM urls ORDER BY id")

    def visit_times(self) -> Iterator[tuple[int, float]]:
        yield from self._db.execute("SELECT id, fetched_at FROM pages ORDER BY id")

    def packed_links(self) -> Iterator[tuple[int, bytes]]:
        yield from self._db.execute("SELECT page, targets FROM links ORDER BY page")

    # ---- reading for people

    def pages(self) -> Iterator[PageRow]:
        rows = self._db.execute(
            """SELECT u.url, p.status, u.state, u.depth, p.fetched_at, p.changed_at, p.visits, p.changes, p.importance,
            p.digest, p.title, p.mime, p.charset, p.language, p.size, p.flags, t.url, u.reason, w.name, p.offset, p.length, a.url
            FROM pages p JOIN urls u ON u.id = p.id LEFT JOIN urls t ON t.id = p.redirect LEFT JOIN urls a ON a.id = u.alias AND u.alias != 0
            LEFT JOIN warcs w ON w.number = p.warc"""
        )
        for r in rows:
            yield PageRow(
                url=r[0], status=r[1], state=State(r[2]).name.lower(), depth=r[3], fetched_at=r[4], changed_at=r[5],
                visits=r[6], changes=r[7], importance=r[8], digest=r[9].hex(), title=r[10], mime=r[11], charset=r[12],
                language=r[13], size=r[14], truncated=bool(r[15] & _TRUNCATED), noindex=bool(r[15] & _NOINDEX),
                redirect=r[16], permanent=bool(r[15] & _PERMANENT), same_as=r[21], reason=r[17], warc=r[18],
                offset=r[19], length=r[20],
            )  # fmt: skip

    def unanswered(self, state: State) -> Iterator[PageRow]:
        query = (
            "SELECT url, depth, reason FROM urls u WHERE state = ? AND NOT EXISTS (SELECT 1 FROM pages WHERE id = u.id)"
        )
        for url, depth, reason in self._db.execute(query, (state,)):
            yield PageRow(url=url, state=state.name.lower(), depth=depth, reason=reason)

    def edges(self) -> Iterator[tuple[str, list[str]]]:
        for url, targets in self._db.execute("SELECT u.url, l.targets FROM links l JOIN urls u ON u.id = l.page"):
            ids = list(memoryview(targets).cast("q"))
            texts = self.known(ids)
            yield url, [texts[target][0] for target in ids if target in texts]

    def links_of(self, id: int) -> bytes:
        row = self._db.execute("SELECT targets FROM links WHERE page = ?", (id,)).fetchone()
        return bytes(row[0]) if row else b""

    def linking(self, id: int) -> list[int]:
        names = [id, *(row[0] for row in self._db.execute("SELECT id FROM urls WHERE alias = ?", (id,)))]
        found: set[int] = set()
        for name in names:
            # One look through all packed links, in C. It also finds the eight bytes across two ids: look again.
            packed = name.to_bytes(8, "little", signed=True)
            rows = self._db.execute("SELECT page, targets FROM links WHERE instr(targets, ?)", (packed,))
            found.update(page for page, targets in rows if name in memoryview(targets).cast("q"))
        return sorted(found)


class _Transaction:
    """BEGIN IMMEDIATE ... COMMIT, rolled back on any error; a full disk becomes a sentence."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._db.execute("ROLLBACK" if error else "COMMIT")
        except sqlite3.OperationalError as failure:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            error = error or failure
        if isinstance(error, sqlite3.OperationalError):
            if "full" in str(error) or "disk I/O" in str(error):
                raise DiskFull(
                    "the disk is full: nothing committed is lost; free some space and run it again"
                ) from error
            raise error


def _host(row: tuple[int, str, bytes | None, float, float, bytes]) -> Host:
    robots = msgspec.msgpack.decode(row[2], type=Robots) if row[2] else None
    return Host(row[0], row[1], robots, row[3], row[4], row[5])
