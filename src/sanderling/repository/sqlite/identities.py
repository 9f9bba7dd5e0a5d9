"""From a URL's identity to the number of its row.

The writer has all of them in memory. On disk they are a table by identity, and as these are hashes,
each new URL would dirty a page of its own. So the table is written late: new identities wait in
memory until there are many for each page, and are then written one slice (a 256th of all hashes)
after the other. Nothing depends on it: whoever does not find an identity in the table looks at the
rows of `urls` that came after its slice was written.
"""

import sqlite3
from array import array
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, Protocol

from sanderling.model import NewUrl
from sanderling.repository.known_file import MARK, KnownFile
from sanderling.repository.known_urls import KnownUrls

SLICES = 256
# As many may wait, or this share of all: about ten for each page when its slice is written, and in
# a crawl of ten million URLs 5 MB.
FEWEST_WAITING = 20_000
WAITING_SHARE = 32
# A reader that has met this many more since it read the table reads it again, and forgets those
# that are in it.
MOST_LATE = 100_000

_NEW_URL = """INSERT INTO urls (number, id, url, host, depth, state, rank, via, hops, anchor, reason, kind, modified,
    alias, relevance, off_topic, due, attempts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)"""


class Numbers(Protocol):
    def numbers(self, ids: Iterable[int]) -> dict[int, int]:
        """The numbers of those that are known."""


class Finder:
    """For readers: looks into the table, and remembers what is not in it yet."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._late: dict[int, int] = {}
        self._most = 0
        self._seen: int | None = None

    def numbers(self, ids: Iterable[int]) -> dict[int, int]:
        self._catch_up()
        found: dict[int, int] = {}
        for id in ids:
            number = self._late.get(id)
            if number is None:
                row = self._db.execute("SELECT number FROM identities WHERE id = ?", (id,)).fetchone()
                if row is None:
                    continue
                number = row[0]
            found[id] = number
        return found

    def _catch_up(self) -> None:
        begins = self._seen is None or len(self._late) > self._most
        if begins:
            self._late.clear()
            self._seen = self._db.execute("SELECT min(number) FROM swept").fetchone()[0]
        for number, id in self._db.execute("SELECT number, id FROM urls WHERE number > ?", (self._seen,)):
            self._late[id] = self._seen = number
        if begins:
            self._most = 2 * len(self._late) + MOST_LATE


class Identities:
    """For the writer: knows every URL, and appends new ones."""

    def __init__(self, db: sqlite3.Connection, file: KnownFile) -> None:
        self._db = db
        self._file = file
        self._known: KnownUrls | None = None

    def forget(self) -> None:
        """What was added is undone: everything is read again when it is wanted."""
        self._known = None

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        return self._load().unknown(urls)

    def numbers(self, ids: Iterable[int]) -> dict[int, int]:
        return self._load().numbers(list(ids))

    def append(self, urls: list[NewUrl]) -> None:
        """Adds rows for URLs that are not known, inside a transaction."""
        if not urls:
            return
        known = self._load()
        if len({row.id for row in urls}) != len(urls):
            raise ValueError("two new URLs have a duplicate identity")
        # As they will be leased, so that what is visited together lies together; among equals the
        # first stays first.
        urls = sorted(sorted(urls, key=itemgetter(5), reverse=True), key=itemgetter(2))
        first = self._last + 1
        self._db.executemany(_NEW_URL, map(_plain, range(first, first + len(urls)), urls))
        self._file.add(
            known.add(
                zip(range(first, first + len(urls)), [row.id for row in urls], [row.url for row in urls], strict=True)
            )
        )
        waiting = self._waiting
        for number, row in enumerate(urls, first):
            waiting[(row[0] >> 56) + 128].extend((row[0], number))
        self._last += len(urls)
        self._count += len(urls)
        if mark := self._file.write(self._last):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (MARK, mark))
        while self._count > max(FEWEST_WAITING, self._last // WAITING_SHARE):
            self._sweep()

    def _load(self) -> KnownUrls:
        if self._known is None:
            swept = [row[0] for row in self._db.execute("SELECT number FROM swept ORDER BY slice")]
            self._waiting = [array("q") for _ in range(SLICES)]
            late = self._db.execute("SELECT number, id FROM urls WHERE number > ?", (min(swept),))
            for number, id in late:
                if number > swept[(id >> 56) + 128]:
                    self._waiting[(id >> 56) + 128].extend((id, number))
            self._count = sum(map(len, self._waiting)) // 2
            self._slice = swept.index(min(swept))
            self._last = self._db.execute("SELECT coalesce(max(number), 0) FROM urls").fetchone()[0]
            self._known = self._load_known()
        return self._known

    def _load_known(self) -> KnownUrls:
        query = "SELECT number, id, url FROM urls"
        mark = self._db.execute("SELECT value FROM meta WHERE key = ?", (MARK,)).fetchone()
        if saved := self._file.load(mark[0] if mark else ""):
            known = KnownUrls(saved=saved[0])
            self._file.add(known.add(self._db.execute(f"{query} WHERE number > ?", saved[1:])))
        else:
            known = KnownUrls(self._db.execute(query))
            self._file.add(known.entries())
        return known

    def _sweep(self) -> None:
        """Writes the slice whose turn it is."""
        waiting = self._waiting[self._slice]
        pairs = sorted(zip(waiting[::2], waiting[1::2], strict=True))
        self._db.executemany("INSERT OR IGNORE INTO identities VALUES (?, ?)", pairs)
        self._db.execute("UPDATE swept SET number = ? WHERE slice = ?", (self._last, self._slice))
        self._count -= len(pairs)
        self._waiting[self._slice] = array("q")
        self._slice = (self._slice + 1) % SLICES


def _plain(number: int, row: NewUrl) -> tuple[Any, ...]:
    """The driver looks for a way to adapt whatever is not exactly a tuple of numbers and texts: 4
    us a row. Taking the row apart by name costs 0.2 us, with a starred rest 1.2 us."""
    id, url, host, depth, state, rank, via, hops, anchor, reason, kind, modified, alias, relevance, off_topic = row
    return (
        number, id, url, host, depth, +state, rank, via, hops, anchor, reason, +kind, modified, alias, relevance,
        off_topic,
    )  # fmt: skip
