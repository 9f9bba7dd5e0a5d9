"""The embedded store: one SQLite file in WAL mode, one writing process, any number of readers.

URLs are appended in the order they are found and named by an index of their identities; whether a URL is known is a
look into memory. The queue is a partial index by host and rank: its cost does not grow with what is done. Counts are
kept beside the rows they count, in the same transaction, so that no command ever scans a table to know how far a
crawl is. The tables are in `migrations/sqlite`.
"""

import contextlib
import json
import math
import random
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from sanderling.errors import BadFolder, DiskFull
from sanderling.model import (
    Before,
    Change,
    Commit,
    Counts,
    Host,
    NewUrl,
    Outcome,
    PageFacts,
    PageRow,
    Reworked,
    Seen,
    State,
    Subject,
    Task,
    VersionRow,
)
from sanderling.repository import beliefs, migrations, rows
from sanderling.repository.known import KnownUrls
from sanderling.repository.store import Judged, UrlFacts, Waiting

STEPS = migrations.steps("sqlite")
SCHEMA = len(STEPS)

# Pages a log may have before it is worked into the file, and the memory for pages, of a writer and of a reader. Every
# commit rewrites much of the index of identities. With 1 million URLs (on a busy machine, hence the ranges) the server
# admits 52,000 to 57,000 new ones in a CPU second with 16,000 pages and 64 MiB, no more with twice the one or the other,
# and 58,000 to 60,000 with twice both; with 4,000 pages it was a third less.
CHECKPOINT_PAGES = 32_000
CACHE_KIB = 131_072
READER_CACHE_KIB = 16_384


def _insert(table: str, columns: Iterable[str]) -> str:
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


_NEW_URL = """INSERT INTO urls (id, url, host, depth, state, rank, via, hops, anchor, reason, kind, modified, priority,
    alias, due, attempts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)"""
_SETTLE = "UPDATE urls SET state = ?, attempts = ?, due = ?, reason = ? WHERE id = ?"
_AGAIN = "ON CONFLICT (id) DO UPDATE SET visits = visits + 1"
_PAGE = f"""{_insert("pages", rows.PAGE_COLUMNS)} {_AGAIN}, changes = changes + excluded.changes,
    changed_at = iif(excluded.changes, excluded.changed_at, changed_at),
    {", ".join(f"{name} = excluded.{name}" for name in rows.RENEWED)}"""
_ANSWER = f"""{_insert("pages", rows.PAGE_COLUMNS)} {_AGAIN},
    {", ".join(f"{name} = excluded.{name}" for name in rows.TOUCHED)}"""
_UNCHANGED = """UPDATE pages SET visits = visits + 1, fetched_at = ?2, not_modified = not_modified + ?3, same = same + ?4,
    etag = iif(?5 = '', etag, ?5), modified = iif(?6 = '', modified, ?6), noise = iif(?7 = x'', noise, ?7)
    WHERE id = ?1"""
_VERSION = _insert("versions", rows.VERSION_COLUMNS)
_LINKS = "INSERT OR REPLACE INTO links VALUES (?, ?)"
_HOST = f"""{_insert("hosts", rows.HOST_COLUMNS)} ON CONFLICT (id) DO UPDATE SET robots = excluded.robots,
    not_before = excluded.not_before, interval = excluded.interval, learned = excluded.learned"""
_HOSTS = f"SELECT {', '.join(rows.HOST_COLUMNS)} FROM hosts"
# As the index of revisits has it.
_VISITED = "state IN (3, 5) AND due > 0"
_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class SqliteStore:
    """A `Store` in one file."""

    def __init__(self, path: Path, readonly: bool = False) -> None:
        self._path = path
        self._closed = False
        self._warc_numbers: dict[str, int] = {}
        self._known: KnownUrls | None = None
        self.notices: list[str] = []
        if readonly and not path.exists():
            raise BadFolder(f"{path} does not exist; nothing has been crawled into this folder yet")
        with contextlib.ExitStack() as undo:
            try:
                self._open(path, readonly)
                undo.callback(self._db.close)
                self._check_schema(readonly)
            except sqlite3.DatabaseError as error:
                raise BadFolder(f"{path} cannot be read: {error}") from None
            undo.pop_all()

    def _open(self, path: Path, readonly: bool) -> None:
        uri = path.absolute().as_uri() + ("?mode=ro" if readonly else "")
        self._db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        if not readonly:
            self._db.execute("PRAGMA journal_mode = WAL")
        # NORMAL: a power cut may lose the last commits, never the file; the pages in them are fetched again, and
        # their WARC bytes, which were synced first, are cut off on resume. A killed process loses nothing.
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB if readonly else CACHE_KIB}")
        self._db.execute("PRAGMA temp_store = MEMORY")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        self._db.execute("PRAGMA busy_timeout = 10000")

    def _check_schema(self, readonly: bool) -> None:
        """Makes a new store, and brings an old one up to date when it may be written."""
        if not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            if readonly:
                raise BadFolder(f"{self._path} is empty; nothing has been crawled into this folder yet")
            with _Transaction(self._db):
                self._climb(0)
                for key, value in (
                    ("counts", msgspec.json.encode(Counts()).decode()),
                    ("seeds", "[]"),
                    ("homes", "[]"),
                ):
                    self._set(key, value)
            return
        found = int(self._get("schema"))
        if found > SCHEMA:
            raise BadFolder(f"{self._path} was written by a newer Sanderling (schema {found}, this one knows {SCHEMA})")
        if found < SCHEMA:
            if readonly:
                raise BadFolder(
                    f"{self._path} was written by an older Sanderling (schema {found}, this one reads {SCHEMA}): "
                    f"`sanderling crawl -d {self._path.parent}` brings it up to date, after a backup"
                )
            self._upgrade(found)

    def _upgrade(self, found: int) -> None:
        backup = self._path.with_name(f"{self._path.name}.schema-{found}.backup")
        part = backup.with_name(backup.name + ".part")
        part.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(part)) as copy:
            self._db.backup(copy)
        part.replace(backup)
        with _Transaction(self._db):
            self._climb(found)
        self.notices.append(f"brought {self._path} from schema {found} to {SCHEMA}; as it was, it is in {backup}")

    def _climb(self, found: int) -> None:
        """Takes the steps that are missing, inside a transaction."""
        for step in STEPS[found:]:
            for statement in _statements(step):
                self._db.execute(statement)
        self._set("schema", str(SCHEMA))

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
            db.executemany(_NEW_URL, map(_plain, commit.urls))
            db.executemany(_SETTLE, [(int(s.state), s.attempts, s.due, s.reason, s.id) for s in commit.settled])
            numbers = self._warc_numbers | {name: self._put_warc(name, size) for name, size in commit.warcs.items()}
            answered = rows.answered(commit)
            for outcome_is_page, statement in ((True, _PAGE), (False, _ANSWER)):
                some = [v for v in answered if (v.outcome is Outcome.PAGE) is outcome_is_page]
                db.executemany(statement, [rows.page_row(visit, numbers, commit) for visit in some])
            db.executemany(_UNCHANGED, rows.unchanged(commit))
            db.executemany(_VERSION, rows.version_rows(answered, numbers, commit))
            db.executemany(_LINKS, [(v.id, v.links) for v in answered if v.links])
            db.executemany("UPDATE urls SET alias = ?2 WHERE id = ?1", commit.aliases)
            db.executemany("UPDATE urls SET modified = ?2, priority = ?3 WHERE id = ?1", commit.dated)
            db.executemany(beliefs.SQLITE_WRITE, commit.beliefs)
            db.executemany(beliefs.SQLITE_TRUST, commit.trust)
            self._put_counts(commit.counts)
            if commit.homes is not None:
                self._set("homes", json.dumps(commit.homes))
        self._warc_numbers = numbers
        self._learn(commit.urls)
        return True

    def seed(self, seeds: list[str], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        with _Transaction(self._db):
            self._set("seeds", json.dumps(seeds))
            self._put_hosts(hosts)
            self._db.executemany(_NEW_URL, map(_plain, urls))
            self._put_counts(counts)
        self._learn(urls)

    def set_aside(self, id: int, reason: str, counts: Counts) -> None:
        with _Transaction(self._db):
            self._db.execute(_SETTLE, (State.FAILED, 0, 0, reason, id))
            self._put_counts(counts)

    def wake(self, now: float) -> list[tuple[int, int]]:
        due = "state = 1 AND due > 0 AND due <= ?"
        with _Transaction(self._db):
            woken = self._db.execute(f"SELECT host, count(*) FROM urls WHERE {due} GROUP BY host", (now,)).fetchall()
            self._db.execute(f"UPDATE urls SET due = 0 WHERE {due}", (now,))
        return woken

    def revisit_all(self, now: float) -> None:
        with _Transaction(self._db):
            self._db.execute("UPDATE urls SET due = ?, attempts = 0 WHERE state IN (3, 5) AND kind = 0", (now,))

    def forget_due(self) -> None:
        with _Transaction(self._db):
            self._db.execute(beliefs.FORGET_DUE)

    def note(self, key: str, value: str) -> None:
        with _Transaction(self._db):
            self._set(key, value)

    def noted(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def rejudge(self, page: int, changes: list[tuple[int, Change]], parameters: bytes, noise: bytes) -> None:
        with _Transaction(self._db):
            self._db.executemany(
                "UPDATE versions SET kinds = ?, significance = ?, degree = ?, summary = ?, news = ? WHERE number = ?",
                [(*rows.judged(change), number) for number, change in changes],
            )
            self._db.execute("UPDATE pages SET parameters = ?, noise = ? WHERE id = ?", (parameters, noise, page))

    def rerank(self, ranks: Iterable[tuple[int, float]]) -> None:
        with _Transaction(self._db):
            self._db.executemany("UPDATE urls SET rank = ?2 WHERE id = ?1 AND state = 1 AND kind = 0", ranks)

    def _learn(self, urls: list[NewUrl]) -> None:
        if self._known is not None:
            self._known.add((row.id, row.url) for row in urls)

    def _put_hosts(self, hosts: list[Host]) -> None:
        self._db.executemany(_HOST, map(rows.host_row, hosts))

    def _put_warc(self, name: str, size: int) -> int:
        row = self._db.execute(
            """INSERT INTO warcs (name, bytes) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET bytes = max(bytes, excluded.bytes) RETURNING number""",
            (name, size),
        ).fetchone()
        return int(row[0])

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
        queued = dict(self._db.execute("SELECT host, count(*) FROM urls WHERE state = 1 AND due = 0 GROUP BY host"))
        hosts = map(rows.host, self._db.execute(_HOSTS))
        return [Waiting(host, queued[host.id]) for host in hosts if host.id in queued]

    def next_wake(self) -> float | None:
        row = self._db.execute("SELECT min(due) FROM urls WHERE state = 1 AND due > 0").fetchone()
        return None if row[0] is None else float(row[0])

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        # Leased URLs are still marked queued (a lease is not worth a write), so they come up again: skip them.
        best = self._db.execute(
            """SELECT id, url, depth, attempts, hops, kind FROM urls WHERE state = 1 AND due = 0 AND host = ?
            AND rank >= ? AND rank < ? ORDER BY rank DESC LIMIT ?""",
            (host, above, below, count + len(leased)),
        )
        return list(islice((Task(*row) for row in best if row[0] not in leased), count))

    def due(self, after: float, until: float) -> list[tuple[int, int]]:
        query = f"SELECT host, count(*) FROM urls WHERE {_VISITED} AND due > ? AND due <= ? GROUP BY host"
        return self._db.execute(query, (after, until)).fetchall()

    def next_due(self, after: float) -> float | None:
        row = self._db.execute(f"SELECT min(due) FROM urls WHERE {_VISITED} AND due > ?", (after,)).fetchone()
        return None if row[0] is None else float(row[0])

    def take_due(self, host: int, count: int, leased: Collection[int], now: float) -> list[Task]:
        first = self._db.execute(
            f"""SELECT id, url, depth, attempts, hops, kind FROM urls WHERE {_VISITED} AND host = ? AND due <= ?
            ORDER BY due LIMIT ?""",
            (host, now, count + len(leased)),
        )
        return self._with_validators(list(islice((Task(*row) for row in first if row[0] not in leased), count)))

    def tasks(self, ids: list[int]) -> list[Task]:
        query = "SELECT id, url, depth, attempts, hops, kind FROM urls WHERE id IN"
        found = {row[0]: Task(*row) for row in self._by_ids(query, ids)}
        return self._with_validators([found[id] for id in ids if id in found])

    def _with_validators(self, tasks: list[Task]) -> list[Task]:
        query = "SELECT id, status, etag, modified, digest FROM pages WHERE id IN"
        kept = {row[0]: rows.validators(*row[1:]) for row in self._by_ids(query, [task.id for task in tasks])}
        return [rows.again(task, kept) for task in tasks]

    def seen(self, ids: list[int]) -> dict[int, Seen]:
        return {row[0]: beliefs.seen(row) for row in self._by_ids(f"{beliefs.SEEN} IN", ids)}

    def trust(self) -> dict[int, bytes]:
        return dict(self._db.execute("SELECT host, learned FROM trust"))

    def before(self, ids: list[int]) -> dict[int, Before]:
        query = """SELECT p.id, p.parameters, p.noise, u.state, p.status, w.name, p.offset, p.length FROM pages p
            JOIN urls u ON u.id = p.id LEFT JOIN warcs w ON w.number = p.warc WHERE p.id IN"""
        return {row[0]: rows.before(row[1:]) for row in self._by_ids(query, ids)}

    def ranks(self, most: int) -> list[float]:
        query = "SELECT rank FROM urls WHERE state = 1 AND due = 0 LIMIT ?"
        found = self._db.execute(query, (most + 1,)).fetchall()
        if len(found) > most:
            # Ids are hashes, so neighbours by id have nothing else in common. Rows that are not queued are read too:
            # their number is bounded, and a queue that is such a small part of a crawl gets a smaller sample.
            sample = """SELECT rank FROM
                (SELECT rank, state, due FROM urls INDEXED BY identities WHERE id >= ? ORDER BY id LIMIT ?)
                WHERE state = 1 AND due = 0 LIMIT ?"""
            start = random.getrandbits(63) - (1 << 63)  # the lower half, so that there are as many above it
            found = self._db.execute(sample, (start, most * 20, most)).fetchall() or found
        return [row[0] for row in found]

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        if self._known is None:
            self._known = KnownUrls(self._db.execute("SELECT id, url FROM urls"))
        return self._known.unknown(urls)

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        rows_ = self._by_ids("SELECT id, url, state FROM urls WHERE id IN", ids)
        return {id: (url, state) for id, url, state in rows_}

    def _by_ids(self, query: str, ids: list[int]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(ids), 512):
            part = ids[start : start + 512]
            # Few lengths, so that the statement is prepared already: the last id is asked for several times.
            part += part[-1:] * ((8 if len(part) <= 8 else 64 if len(part) <= 64 else 512) - len(part))
            yield from self._db.execute(f"{query} ({','.join('?' * len(part))})", part)

    def host(self, id: int) -> Host | None:
        row = self._db.execute(f"{_HOSTS} WHERE id = ?", (id,)).fetchone()
        return rows.host(row) if row else None

    def last_number(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(number), 0) FROM urls").fetchone()[0])

    def judged(self, first: int, end: int) -> list[Judged]:
        return [*map(Judged._make, self._db.execute(f"{rows.JUDGED} AND number >= ? AND number < ?", (first, end)))]

    def warcs(self) -> dict[str, int]:
        return dict(self._db.execute("SELECT name, bytes FROM warcs"))

    # ---- reading the whole

    def url_facts(self) -> Iterator[UrlFacts]:
        facts = self._db.execute("SELECT id, host, depth, state, rank, alias FROM urls")
        yield from map(UrlFacts._make, facts)

    def url_texts(self) -> Iterator[tuple[int, str]]:
        yield from self._db.execute("SELECT id, url FROM urls")

    def visit_times(self) -> Iterator[tuple[int, float]]:
        yield from self._db.execute("SELECT id, fetched_at FROM pages ORDER BY id")

    def packed_links(self) -> Iterator[tuple[int, bytes]]:
        yield from self._db.execute("SELECT page, targets FROM links ORDER BY page")

    def subjects(self) -> Iterator[Subject]:
        yield from map(Subject._make, self._db.execute(beliefs.SUBJECTS))

    # ---- reading for people

    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._db.execute(query, values).fetchall()

    def pages(self) -> Iterator[PageRow]:
        yield from map(rows.page, self._db.execute(rows.PAGES))

    def unanswered(self, state: State) -> Iterator[PageRow]:
        query = (
            "SELECT url, depth, reason FROM urls u WHERE state = ? AND kind = 0 "
            "AND NOT EXISTS (SELECT 1 FROM pages WHERE id = u.id)"
        )
        for url, depth, reason in self._db.execute(query, (state,)):
            yield PageRow(url=url, state=state.name.lower(), depth=depth, reason=reason)

    def versions(self, page: int) -> list[VersionRow]:
        found = self._db.execute(f"{rows.VERSIONS} WHERE v.page = ? ORDER BY v.number", (page,))
        return [*map(rows.version, found)]

    def with_history(self) -> Iterator[int]:
        found = self._db.execute("SELECT page FROM versions GROUP BY page HAVING count(*) > 1")
        yield from [row[0] for row in found]

    def changes(self, before: int | None = None) -> Iterator[VersionRow]:
        newest_first = f"{rows.VERSIONS} WHERE v.number < ? ORDER BY v.number DESC"
        yield from map(rows.version, self._db.execute(newest_first, ((1 << 62) if before is None else before,)))

    def changes_after(self, number: int, most: int) -> list[VersionRow]:
        found = self._db.execute(f"{rows.VERSIONS} WHERE v.number > ? ORDER BY v.number LIMIT ?", (number, most))
        return [*map(rows.version, found)]

    def newest_version(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(number), 0) FROM versions").fetchone()[0])

    def edges(self) -> Iterator[tuple[str, list[str]]]:
        for url, targets in self._db.execute("SELECT u.url, l.targets FROM links l JOIN urls u ON u.id = l.page"):
            ids = list(memoryview(targets).cast("q"))
            texts = self.known(ids)
            yield url, [texts[target][0] for target in ids if target in texts]

    def links_of(self, id: int) -> bytes:
        row = self._db.execute("SELECT targets FROM links WHERE page = ?", (id,)).fetchone()
        return bytes(row[0]) if row else b""

    def linking(self, id: int) -> list[int]:
        names = [id, *(row[0] for row in self._db.execute("SELECT id FROM urls WHERE alias = ? AND alias != 0", (id,)))]
        found: set[int] = set()
        for name in names:
            # One look through all packed links, in C. It also finds the eight bytes across two ids: look again.
            packed = name.to_bytes(8, "little", signed=True)
            near = self._db.execute("SELECT page, targets FROM links WHERE instr(targets, ?)", (packed,))
            found.update(page for page, targets in near if name in memoryview(targets).cast("q"))
        return sorted(found)

    # ---- one page, several names; and what is held back

    def rework(self, changes: list[Reworked], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        with _Transaction(self._db):
            self._put_hosts(hosts)
            self._db.executemany(_NEW_URL, map(_plain, urls))
            update = "UPDATE urls SET state = ?2, due = 0, reason = ?3, alias = ?4 WHERE id = ?1"
            self._db.executemany(update, changes)
            self._put_counts(counts)
        self._learn(urls)

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        query = """SELECT u.id, u.state, u.alias, coalesce(p.status, 0), coalesce(p.text_digest, x''),
            coalesce(p.simhash, 0) FROM urls u LEFT JOIN pages p ON p.id = u.id WHERE u.id IN"""
        return {row[0]: PageFacts(*row[1:]) for row in self._by_ids(query, ids)}

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        query = "SELECT id, canonical FROM pages WHERE canonical != 0 AND canonical IN"
        return list(dict.fromkeys((row[0], row[1]) for row in self._by_ids(query, ids)))

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE state = 0 AND host = ? AND reason = ? ORDER BY number LIMIT ?"
        return self._db.execute(query, (host, reason, most)).fetchall()

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        return self._db.execute("SELECT id, host, depth, reason FROM urls WHERE state = 0 LIMIT ?", (most,)).fetchall()

    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE alias != 0 AND state = 6 AND host = ? AND reason = ? LIMIT ?"
        return self._db.execute(query, (host, reason, most)).fetchall()

    def hosts(self) -> Iterator[Host]:
        yield from map(rows.host, self._db.execute(f"{_HOSTS} ORDER BY origin"))

    def host_states(self) -> dict[int, dict[int, int]]:
        found: dict[int, dict[int, int]] = {}
        for host, state, count in self._db.execute(
            "SELECT host, state, count(*) FROM urls WHERE kind = 0 GROUP BY host, state"
        ):
            found.setdefault(host, {})[state] = count
        return found

    def simhashes(self) -> Iterator[tuple[int, int, float]]:
        yield from self._db.execute("SELECT id, simhash, fetched_at FROM pages WHERE simhash != 0")


def _plain(row: NewUrl) -> tuple[Any, ...]:
    """The driver looks for a way to adapt whatever is not exactly a tuple of numbers and texts: 4 us a row."""
    return (*row[:4], int(row[4]), *row[5:10], int(row[10]), *row[11:])


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


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: the driver's own way to run a script ends our transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
