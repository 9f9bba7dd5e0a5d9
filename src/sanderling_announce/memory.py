"""What the announcer knows: every page with the hash of its content, and what is to be published.
One SQLite file.

A million pages take about 120 MB of disk and a few MB of memory.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from sanderling_announce import hashing
from sanderling_announce.change import EventHint, encoded, hints_as_json, hints_from_json
from sanderling_announce.deltas import Delta
from sanderling_announce.errors import CannotAnnounce

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
    key BLOB PRIMARY KEY, size INTEGER, mtime INTEGER, inode INTEGER, hash BLOB, changed REAL, frequency INTEGER,
    depth INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY, key BLOB, url TEXT, what TEXT, at REAL, frequency INTEGER, depth INTEGER, hints BLOB,
    cursor INTEGER
);
CREATE TABLE IF NOT EXISTS missing (key BLOB PRIMARY KEY, since REAL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS missing_since ON missing (since);
CREATE TABLE IF NOT EXISTS deltas (after INTEGER, upto INTEGER, lines INTEGER, bytes INTEGER, name TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS pushes (address TEXT PRIMARY KEY, cursor INTEGER);
CREATE TABLE IF NOT EXISTS days (day INTEGER PRIMARY KEY, pages INTEGER);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value);
"""
Fact = TypeVar("Fact", int, float, str)

# Rows that are read at a time when all pages are walked through.
_CHUNK = 500


class AnnouncedPage(NamedTuple):
    key: bytes  # the path in the folder, or the URL
    size: int
    mtime: int  # nanoseconds
    inode: int
    hash: bytes
    changed: float
    frequency: int
    depth: int


class PendingChange(NamedTuple):
    key: bytes
    url: str
    what: Literal["new", "changed", "gone"]
    at: float
    frequency: int
    depth: int
    hints: tuple[EventHint, ...] = ()


class SiteMemory:
    """The memory of one site. One process at a time has it open."""

    def __init__(self, path: Path, site: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.2)
        try:
            self._open(path)
        except sqlite3.OperationalError as error:
            self._db.close()
            if "locked" in str(error):
                raise CannotAnnounce(f"another announcer is at work with {path}") from None
            raise CannotAnnounce(f"{path} cannot be used: {error}") from None
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise CannotAnnounce(f"{path} is damaged ({error}); remove it, and all pages are scanned again") from None
        if self.fact("site", site) != site:
            self.close()
            raise CannotAnnounce(f"{path} is the memory of {self.fact('site', '')}, not of {site}")
        self.frequencies: Counter[int] = Counter()
        self.depths: Counter[int] = Counter()
        for depth, frequency, count in self._db.execute("SELECT depth, frequency, count(*) FROM pages GROUP BY 1, 2"):
            self.depths[depth] += count
            self.frequencies[frequency] += count
        self.hash_name = self.fact("hash", hashing.EARLIER if len(self) else hashing.USUAL)
        self.log = self.fact("log", os.urandom(8).hex())
        self.cursor: int = self.fact("cursor", 0)
        self.pending = self._count_pending()

    def _open(self, path: Path) -> None:
        # The lock is kept until the process ends.
        for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=NORMAL", "cache_size=-2000"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.executescript(_SCHEMA)
        self._db.execute("INSERT OR REPLACE INTO facts VALUES ('version', 1)")
        path.chmod(0o600)

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """All changes inside are made, or none."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def start_anew(self) -> None:
        """Forgets all pages and begins a new log, as if nothing had ever been read."""
        with self.together():
            for table in ("pages", "changes", "missing", "deltas", "pushes", "days"):
                self._db.execute(f"DELETE FROM {table}")
            self._db.execute("DELETE FROM facts WHERE name NOT IN ('version', 'site')")
        self.depths.clear()
        self.frequencies.clear()
        self.hash_name = self.fact("hash", hashing.USUAL)
        self.log, self.cursor = self.fact("log", os.urandom(8).hex()), 0
        self.pending = 0

    @property
    def hasher(self) -> Callable[[], Any]:
        """Makes the hash by which the content of pages is known here."""
        found = hashing.hasher(self.hash_name)
        assert found is not None, "checked when the memory was opened"
        return found

    # Facts

    def fact(self, name: str, otherwise: Fact) -> Fact:
        """A remembered value; when there is none, `otherwise` is remembered."""
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        if row is None:
            self.remember(name, otherwise)
            return otherwise
        return type(otherwise)(row[0])

    def remember(self, name: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    # Pages

    def __len__(self) -> int:
        return sum(self.depths.values())

    def page(self, key: bytes) -> AnnouncedPage | None:
        row = self._db.execute("SELECT * FROM pages WHERE key = ?", (key,)).fetchone()
        return AnnouncedPage(*row) if row else None

    def pages(self, first: bytes = b"", before: bytes | None = None) -> Iterator[AnnouncedPage]:
        """All pages in the order of their keys, from one key on and before another. They may change
        meanwhile."""
        query = f"SELECT * FROM pages WHERE key >= ? AND key < ? ORDER BY key LIMIT {_CHUNK}"
        end = before if before is not None else b"\xff" * 8
        while rows := self._db.execute(query, (first, end)).fetchall():
            yield from map(AnnouncedPage._make, rows)
            first = rows[-1][0] + b"\x00"

    def put(self, row: AnnouncedPage, old: AnnouncedPage | None) -> None:
        if old is not None:
            self._count(old, -1)
        self._count(row, 1)
        self._db.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        if old is not None:
            self.found_again(row.key)

    def forget(self, old: AnnouncedPage) -> None:
        self._count(old, -1)
        self._db.execute("DELETE FROM pages WHERE key = ?", (old.key,))
        self.found_again(old.key)

    def _count(self, row: AnnouncedPage, by: int) -> None:
        for counter, value in ((self.depths, row.depth), (self.frequencies, row.frequency)):
            counter[value] += by
            if counter[value] <= 0:
                del counter[value]

    # Pages that are not there, until it is sure that they are gone

    def miss(self, key: bytes, since: float) -> None:
        self._db.execute("INSERT OR IGNORE INTO missing VALUES (?, ?)", (key, since))

    def found_again(self, key: bytes) -> None:
        self._db.execute("DELETE FROM missing WHERE key = ?", (key,))

    def first_missing(self) -> float:
        """Since when the first one is missing; 0 when none is."""
        return self._db.execute("SELECT min(since) FROM missing").fetchone()[0] or 0.0

    def missing(self, before: float, most: int) -> list[bytes]:
        rows = self._db.execute("SELECT key FROM missing WHERE since <= ? LIMIT ?", (before, most))
        return [key for (key,) in rows]

    # Changes

    def add_change(self, change: PendingChange) -> None:
        self.pending += 1
        hints = encoded(hints_as_json(change.hints)) if change.hints else None
        self._db.execute(
            "INSERT INTO changes (key, url, what, at, frequency, depth, hints) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*change[:6], hints),
        )

    def count_updated(self, day: int) -> None:
        """Counts a page that is new or changed for the first time on a day, in days since 1970."""
        self._db.execute("INSERT INTO days VALUES (?, 1) ON CONFLICT DO UPDATE SET pages = pages + 1", (day,))

    def updated(self, since: int) -> list[tuple[int, int]]:
        """The days from one on, with how many pages were updated on each."""
        return self._db.execute("SELECT day, pages FROM days WHERE day >= ? ORDER BY day", (since,)).fetchall()

    def number_next(self, most: int) -> int:
        """Gives the next cursor to the oldest pending changes. From then on its delta is fixed.

        Crawlers may read it in the next moment. So it is the one thing that has to survive a power
        cut.
        """
        self._db.execute("PRAGMA synchronous=FULL")
        with self.together():
            self.cursor += 1
            self.remember("cursor", self.cursor)
            self._db.execute("DELETE FROM changes WHERE cursor < ?", (self.cursor - 1,))
            self._db.execute(
                "UPDATE changes SET cursor = ? WHERE number IN "
                "(SELECT number FROM changes WHERE cursor IS NULL ORDER BY number LIMIT ?)",
                (self.cursor, most),
            )
        self._db.execute("PRAGMA synchronous=NORMAL")
        self.pending = self._count_pending()
        return self.cursor

    def _count_pending(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM changes WHERE cursor IS NULL").fetchone()[0])

    def changes_of(self, cursor: int) -> list[PendingChange]:
        rows = self._db.execute(
            "SELECT key, url, what, at, frequency, depth, hints FROM changes WHERE cursor = ? ORDER BY number",
            (cursor,),
        )
        return [
            PendingChange._make((*row, hints_from_json(json.loads(hints)) if hints else ())) for *row, hints in rows
        ]

    # What is published, and who was told

    def deltas(self) -> list[Delta]:
        return sorted(Delta(*row) for row in self._db.execute("SELECT * FROM deltas"))

    def replace_deltas(self, gone: Iterable[Delta], added: Iterable[Delta]) -> None:
        with self.together():
            self._db.executemany("DELETE FROM deltas WHERE name = ?", [(each.name,) for each in gone])
            rows = [(each.after, each.to, each.lines, each.bytes, each.name) for each in added]
            self._db.executemany("INSERT OR REPLACE INTO deltas VALUES (?, ?, ?, ?, ?)", rows)

    def pushed(self, address: str) -> int:
        """The last cursor that was pushed to an address. A new one is told of what changes from now
        on."""
        with closing(self._db.execute("SELECT cursor FROM pushes WHERE address = ?", (address,))) as rows:
            row = rows.fetchone()
        if row is None:
            self.note_push(address, self.cursor)
            return self.cursor
        return int(row[0])

    def note_push(self, address: str, cursor: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO pushes VALUES (?, ?)", (address, cursor))
